"""LetterWorld (LTL2Action, DeepLTL): letters on a torus, to be visited in order or never.

    world = ta.LetterWorld(seed=3)          # one layout, a finite world: goals "a 1", "a 2", …
    world = ta.RandomLetterWorld()          # a new layout in every episode, to be learned

The rules are in `taskalgebra.envs.letters`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.envs.finite_env import FiniteEnv, FiniteVectorEnv
from taskalgebra.envs.letter_recipes import learner_for
from taskalgebra.envs.letters import (
    ACTION_NAMES,
    ANYWHERE,
    AT_CORNER,
    CORNER,
    EACH,
    GOAL_NAMES,
    LETTERS,
    N_CELLS,
    SHAPE,
    SIDE,
    Bytes,
    check_layouts,
    codes_of,
    drawn,
    goal_cells,
    layout_of,
    observations_of,
    read_layout,
    standing,
)
from taskalgebra.envs.registry import spec_of
from taskalgebra.envs.rendering import warn_of_no_render_mode
from taskalgebra.envs.vector_letters import VectorLetters
from taskalgebra.logic.expression import TRUE, Expression
from taskalgebra.theory.goal_env import GoalEnv, Layout
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import checked_action, checked_options, number, one_of
from taskalgebra.worlds.finite import NO_GOAL, FiniteMDP
from taskalgebra.worlds.grid import Cell, from_text
from taskalgebra.worlds.open_world import OpenWorld

FORMULAS = {
    "1": "F(a & (!b U c)) & F d",
    "2": "F d & (!f U (d & F b))",
    "3": "F((a | c | j) & F b) & F(c & F d) & F k",
    "4": "!a U (b & (!c U (d & (!e U f))))",
    "5": "((a | b | c | d) => F(e & F(f & F g))) U (h & F i)",
}
"""The five tasks with published figures (DeepLTL)."""
LIMIT = 75
PAYS = 8.0  # more than the longest way costs, 75 steps of 0.1
RENDER_MODES = ("ansi",)


class LetterWorld(FiniteEnv):
    """One layout of LetterWorld; registered with Gymnasium as `TaskAlgebra/LetterWorld-v0`.

    A 7 × 7 torus with each of the letters a to l on two cells.  Actions are up, right, down and
    left.  Every step that ends on a letter enters a goal: `"a 1"` and `"a 2"`, numbered row by
    row, and so on up to `"l 2"`.  The base tasks are the letters.  The limit is 75 steps.

    Args:
        seed: the number of the layout.
        layout: the layout itself, as seven rows of text; `.` is a free cell.  Then `seed` is not
            read.
        start: "corner" for (0, 0), as published; "anywhere" for any cell, letters included.
        step_reward: r_{s,a} of every step.
        r_universal: r_U, the reward of a desired goal; or "auto" (see `TaskSpace`).
        task: the task that `step` pays for: a `Task`, a name or an expression; by default every
            goal is desired.
        render_mode: None, "ansi" or "rgb_array".
    """

    max_episode_steps = LIMIT

    def __init__(
        self,
        seed: int = 0,
        *,
        layout: str | Sequence[str] | None = None,
        start: str = AT_CORNER,
        step_reward: float = -0.1,
        r_universal: float | Literal["auto"] = PAYS,
        task: Task | Expression | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Lay the letters out."""
        one_of(start, (AT_CORNER, ANYWHERE), "start")
        self.letters = layout_of(seed) if layout is None else read_layout(layout)
        mdp = _torus(self.letters, step_reward, anywhere=start == ANYWHERE)
        space = TaskSpace(mdp, r_universal=r_universal)
        tasks = letter_tasks(space)
        super().__init__(space, tasks, task, render_mode=render_mode)
        self.spec = spec_of(
            self,
            seed=int(seed),
            layout=None if layout is None else drawn([CORNER, *self.letters]).replace("@", "."),
            start=start,
            step_reward=float(step_reward),
            r_universal=r_universal if isinstance(r_universal, str) else float(r_universal),
        )

    @property
    def formulas(self) -> dict[str, str]:
        """The five tasks with published figures."""
        return dict(FORMULAS)


class RandomLetterWorld(GoalEnv, gym.Env[Bytes, Any]):
    """LetterWorld with a new layout in every episode: `TaskAlgebra/RandomLetterWorld-v0`.

    Observations are grids, `Box(0, 1, (7, 7, 13), uint8)`: a plane of ones and zeros for each
    letter and one for the agent.  They hold the whole state.

    Goals and base tasks are those of `LetterWorld`: `"a 1"` to `"l 2"`, numbered row by row in each
    layout, and the letters.  So formulas mean the same here.

    An episode ends with the step that enters a goal, and that step pays what the task pays for it.
    So from d moves away the return is r_step·(d − 1) + r(g), one step less than in `LetterWorld`.
    Copies made with `continuing` do not end in goals, and every step pays r_step.

    Args:
        task: the task that `step` pays for; by default every goal is desired.
        start: "corner" for (0, 0), as published; "anywhere" for any cell, letters included, to
            learn from: values are needed wherever an episode goes on.
        step_reward: of every step.
        r_universal: r_U, the reward of a desired goal.
        render_mode: None, or "ansi" for text.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        "render_modes": list(RENDER_MODES),
        "render_fps": 8,
    }
    max_episode_steps: int = LIMIT

    def __init__(
        self,
        task: Task | Expression | str | None = None,
        *,
        start: str = AT_CORNER,
        step_reward: float = -0.1,
        r_universal: float = PAYS,
        render_mode: str | None = None,
    ) -> None:
        """Name the goals."""
        self.start = one_of(start, (AT_CORNER, ANYWHERE), "start")
        self.render_mode = one_of(render_mode, (None, *RENDER_MODES), "render_mode")
        self.step_reward = number(step_reward, "step_reward")
        high = number(r_universal, "r_universal")
        self.spec = spec_of(self, start=start, step_reward=self.step_reward, r_universal=high)
        self.space = TaskSpace(OpenWorld(GOAL_NAMES, ACTION_NAMES), r_universal=high)
        self.tasks = letter_tasks(self.space)
        self.entry_reward = self.step_reward
        if self.step_reward < 0.0:
            self.learner = learner_for(-self.step_reward)
        which = np.tile(np.eye(EACH, dtype=np.uint8), (len(LETTERS), 1))
        letter = np.repeat(np.eye(len(LETTERS), dtype=np.uint8), EACH, axis=0)
        self.goal_features = np.concatenate((letter, which), axis=1)
        """[G, 14], the letter of every goal, and which of the two it is, as ones and zeros."""
        self.observation_space = gym.spaces.Box(0, 1, SHAPE, np.uint8)
        self.action_space = gym.spaces.Discrete(len(ACTION_NAMES))
        self.task = TRUE if task is None else task

    @property
    def formulas(self) -> dict[str, str]:
        """The five tasks with published figures."""
        return dict(FORMULAS)

    @property
    def task(self) -> Task:
        """The task that `step` pays for; after a change the environment must be reset."""
        return self._task

    @task.setter
    def task(self, task: Task | Expression | str) -> None:
        self._task = self.find_task(task)
        self._board = VectorLetters(self, 1, task=self._task)
        self._playing = False

    def standing_in(self, observations: ArrayLike) -> Bytes:
        """[B, G, 7, 7, 13], what is seen on every goal in the layouts of some observations."""
        return standing(observations, goal_cells(codes_of(observations)))

    def check_codes(self, codes: ArrayLike) -> Bytes:
        """[N, 50], checked states to start in: the agent's cell, then the layout."""
        given = np.asarray(codes)
        if given.ndim != 2 or given.shape[1] != 1 + N_CELLS or given.dtype.kind not in "iu":
            raise ValueError(
                f"a state is {1 + N_CELLS} whole numbers, the agent's cell and the letter of every "
                f"cell; got {given.dtype} of shape {given.shape}"
            )
        if given.size and (given.min() < 0 or given[:, 0].max() >= N_CELLS or given.max() > 255):
            raise ValueError(f"the agent's cell is a number from 0 to {N_CELLS - 1}")
        checked = given.astype(np.uint8)
        check_layouts(checked[:, 1:])
        return checked

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Bytes, dict[str, Any]]:
        """Start in a random layout, or in the state with the code `options["code"]`."""
        super().reset(seed=seed)
        code = checked_options(options, "code")
        self._board.np_random = self.np_random
        seen, _ = self._board.reset(options=None if code is None else {"code": code})
        self._playing = True
        return seen[0], {"goal": NO_GOAL}

    def step(self, action: Any) -> tuple[Bytes, float, bool, bool, dict[str, Any]]:
        """Move; on a letter, pay for its goal and end."""
        if not self._playing:
            raise gym.error.ResetNeeded("call reset() before step()")
        a = checked_action(action, ACTION_NAMES)
        seen, rewards, terminated, _, infos = self._board.step([a])
        self._playing = not terminated[0]
        goal = int(infos["goal"][0])
        return seen[0], float(rewards[0]), bool(terminated[0]), False, {"goal": goal}

    @property
    def code(self) -> Bytes:
        """[50], the state as its code; `reset(options={"code": ...})` returns to it."""
        code: Bytes = self._board.codes[0]
        return code

    def vector(
        self, num_envs: int, *, task: Task | None = None, max_episode_steps: int | None = None
    ) -> VectorLetters:
        """N copies that pay for a task, by default the current one, and end in goals."""
        return VectorLetters(self, num_envs, task=task, max_episode_steps=max_episode_steps)

    def continuing(self, num_envs: int, *, max_episode_steps: int | None = None) -> VectorLetters:
        """N copies whose episodes outlive goals: `infos["goal"]` is the one just entered, or −1."""
        return VectorLetters(self, num_envs, ends=False, max_episode_steps=max_episode_steps)

    def one_layout(self, seed: int, task: Task | None = None) -> Layout:
        """The layout of `LetterWorld(seed)` as a finite world."""
        mdp = _torus(letters := layout_of(seed), self.step_reward, anywhere=self.start == ANYWHERE)
        assert mdp.cells is not None
        cells = mdp.cells[~mdp.is_goal] @ np.array([SIDE, 1])
        codes = np.column_stack((cells, np.tile(letters, (N_CELLS, 1)))).astype(np.uint8)
        code = np.concatenate(([CORNER], letters)).astype(np.uint8)
        return Layout(mdp, observations_of(codes), fixed=False, code=code)

    def render(self) -> Any:
        """The board as text."""
        if self.render_mode is None:
            warn_of_no_render_mode(RENDER_MODES)
            return None
        return drawn(self.code)


def letter_tasks(space: TaskSpace) -> dict[str, Task]:
    """The base tasks: one for each letter, which wants both of its goals."""
    return {letter: space.task([f"{letter} {i}" for i in range(1, EACH + 1)]) for letter in LETTERS}


def _place(cell: int) -> Cell:
    row, column = divmod(int(cell), SIDE)
    return row, column


def _torus(letters: Bytes, step_reward: float, *, anywhere: bool) -> FiniteMDP:
    places: dict[str, Cell | list[Cell]] = {
        letter: [_place(cell) for cell in np.flatnonzero(letters == i).tolist()]
        for i, letter in enumerate(LETTERS, 1)
    }
    return from_text(
        [SIDE * "."] * SIDE,
        places,
        step_reward=step_reward,
        touch=True,
        torus=True,
        starts=[_place(cell) for cell in (range(N_CELLS) if anywhere else (CORNER,))],
    )


def letter_world(
    num_envs: int = 1, *, max_episode_steps: int | None = None, **arguments: Any
) -> FiniteVectorEnv:
    """N copies of one layout, for `gym.make_vec`; other arguments are those of `LetterWorld`."""
    return FiniteVectorEnv(LetterWorld(**arguments), num_envs, max_episode_steps=max_episode_steps)


def random_letter_world(
    num_envs: int = 1, *, max_episode_steps: int | None = None, **arguments: Any
) -> VectorLetters:
    """N boards, for `gym.make_vec`; other arguments are those of `RandomLetterWorld`."""
    return VectorLetters(
        RandomLetterWorld(**arguments), num_envs, max_episode_steps=max_episode_steps
    )
