"""Boxman, the video game of Section 5, as a Gymnasium environment: `TaskAlgebra/Boxman-v0`.

The rules are in `board`, what networks see in `art`, what people see in `picture`, and the vector
environment in `vector`.  Observations are RGB images, 84 × 84 on the board of the paper.  The goals
are the six objects; an agent knows a goal by its *goal frame*, the image that it sees after it has
collected the object.

    world = Boxman("blue & square")                     # the paper's layout, by pick-up
    world = Boxman("blue ^ square", layout="random")    # objects anywhere, at every reset
    world = Boxman("purple", layout="random", collect="touch")   # the supplement's experiment
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, BoolArray, Image
from taskalgebra.envs.boxman.art import Frames, draw, read
from taskalgebra.envs.boxman.board import (
    COLOURS,
    MOVES,
    PAPER_MAP,
    PAPER_OBJECTS,
    PICK_UP,
    SHAPES,
    STEP_REWARD,
    Board,
    Cell,
    Codes,
    optimal_returns,
)
from taskalgebra.envs.boxman.finite import finite_world
from taskalgebra.envs.boxman.games import Games, all_cells
from taskalgebra.envs.boxman.picture import CELL, Picture
from taskalgebra.envs.boxman.vector import RENDER_FPS, ContinuingBoxman, VectorBoxman
from taskalgebra.envs.boxman.window import Window
from taskalgebra.envs.registry import spec_of
from taskalgebra.envs.rendering import warn_of_no_render_mode
from taskalgebra.logic.expression import TRUE, Expression
from taskalgebra.theory.goal_env import GoalEnv, Layout
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import checked_action, checked_options, listed, one_of
from taskalgebra.worlds.finite import NO_GOAL
from taskalgebra.worlds.open_world import OpenWorld

if TYPE_CHECKING:
    from taskalgebra.learning.deep.learner import DeepQ

Observation = Image  # [H, W, 3]

FIXED, RANDOM = "fixed", "random"
BY_PICK_UP, BY_TOUCH = "pick-up", "touch"
RENDER_MODES = ("rgb_array", "human")
MAX_STEPS = 20  # on the board of the paper, where the longest optimal episode has 16
SPARE_STEPS = 6


class Boxman(GoalEnv, gym.Env[Observation, Any]):
    """One game of Boxman.

    Observation space: `Box(0, 255, (84, 84, 3), uint8)` on the board of the paper.  Action space:
    `Discrete(5)`: up, right, down, left, pick up; by touch there is no pick-up.  Rewards: −0.1 per
    step; the action after an object was collected ends the episode and pays 2 if the task desires
    that object, else −0.1.  `info["goal"]` is the number of the object when `terminated`, −1
    before; `info["task_rewards"]` is then what each of the named tasks would have paid.  At a reset
    `info["optimal_return"]` is the best return that the task has from this state.  There is no step
    limit.

    Args:
        task: the task to play: a `Task`, a name, or an expression over colours and shapes; by
            default every object is desired.
        layout: "fixed" for the layout of the paper, "random" for new positions at every reset.
        collect: "pick-up" or "touch".
        objects: objects of your own, as {name: (row, column)}, counted from 0 at the top left; a
            name is a colour and a shape, `"blue square"`.  A random layout needs the names alone.
        board: the map, `#` for walls and `.` for free cells: square, surrounded by walls, with more
            free cells than objects.  A map of n × n cells is shown with 8n + 4 pixels per side.
        render_mode: None, "rgb_array" for a large image, or "human" for a window, which needs
            pygame: `pip install 'taskalgebra[window]'`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
    }
    max_episode_steps: int

    def __init__(
        self,
        task: Task | Expression | str | None = None,
        *,
        layout: str = FIXED,
        collect: str = BY_PICK_UP,
        objects: Mapping[str, Cell] | Sequence[str] | None = None,
        board: str = PAPER_MAP,
        render_mode: str | None = None,
    ) -> None:
        """Lay out the board, and name its tasks."""
        self.layout = one_of(layout, (FIXED, RANDOM), "layout")
        self.collect = one_of(collect, (BY_PICK_UP, BY_TOUCH), "collect")
        self.render_mode = one_of(render_mode, (None, *RENDER_MODES), "render_mode")
        self.by_touch = collect == BY_TOUCH
        given = PAPER_OBJECTS if objects is None else objects
        if isinstance(given, str):
            raise ValueError(f"objects is the text {given!r}, expected a list of names")
        self.board = Board.of(board, list(given))
        self.places = self._fixed_places(given) if layout == FIXED else None
        names: Any = list(self.board.objects)
        if self.places is not None:
            names = dict(zip(names, self.board.cells[self.places].tolist(), strict=True))
        self.spec = spec_of(self, layout=layout, collect=collect, objects=names, board=board)
        self.shared_absorbing = not self.by_touch
        self.max_episode_steps = max(MAX_STEPS, int(self.board.distance.max()) + SPARE_STEPS)
        self.sprites = draw(self.board)
        actions = tuple(MOVES) if self.by_touch else (*MOVES, PICK_UP)
        self.space = TaskSpace(OpenWorld(self.board.objects, actions))
        self.tasks = self._named_tasks()
        self.task_rewards: Array = np.stack([task.goal_reward for task in self.tasks.values()])
        """[tasks, G], what every named task pays for every goal."""
        self.observation_space = gym.spaces.Box(0, 255, self.sprites.ground.shape, np.uint8)
        self.action_space = gym.spaces.Discrete(len(actions))
        self._games = self.games(1)
        self._started = False
        self.task = TRUE if task is None else task
        self._window: Window | None = None
        if render_mode == "human":
            self._window = Window("Boxman", self.metadata["render_fps"])

    def _fixed_places(self, objects: Mapping[str, Cell] | Sequence[str]) -> Codes:
        """[objects], the cell of every object of a fixed layout."""
        if not isinstance(objects, Mapping):
            raise ValueError(
                f"a fixed layout needs a cell for each of {listed(self.board.objects)}; give "
                f'objects={{name: (row, column)}}, or choose layout="random"'
            )
        places: dict[int, str] = {}
        for name, place in objects.items():
            try:
                cell = self.board.cell(place)
            except ValueError as error:
                raise ValueError(f"{name!r} has no place: {error}") from None
            if cell in places:
                raise ValueError(
                    f"{places[cell]!r} and {name!r} both lie on {place}; give each object a cell "
                    f"of its own"
                )
            places[cell] = name
        return np.array(list(places), np.uint8)

    def _named_tasks(self) -> dict[str, Task]:
        """A task for each colour and each shape that some object has."""
        board = self.board
        features = {word for name in board.objects for word in name.split()}
        return {
            word: self.space.task(lambda goal, word=word: word in goal.name.split())  # type: ignore[misc]
            for word in (*COLOURS, *SHAPES)
            if word in features
        }

    def games(self, n_games: int) -> Games:
        """N games with the rules, the layout and the look of this one."""
        return Games(self.board, self.sprites, n_games, places=self.places, by_touch=self.by_touch)

    @property
    def task(self) -> Task:
        """The task that `step` pays for; after a change the environment must be reset."""
        return self._task

    @task.setter
    def task(self, task: Task | Expression | str) -> None:
        self._task = self.find_task(task)
        self.desired = self.desired_goals(self._task)
        self._playing = False

    def desired_goals(self, task: Task) -> BoolArray:
        """[G], the objects that a task collects by touch: those that pay most."""
        desired: BoolArray = task.goal_reward == task.goal_reward.max()
        return desired

    def find_task(self, task: Task | Expression | str) -> Task:
        """A task by name or expression, or one of a world with the same goals and actions."""
        if isinstance(task, Task) and task.space.world == self.space.world:
            return task
        return super().find_task(task)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start in a random state; `options["code"]` gives a state by its code instead."""
        super().reset(seed=seed)
        code = checked_options(options, "code")
        if code is None:
            self._games.start(np.zeros(1, np.int64), self.np_random)
        else:
            self._games.codes[:] = self.check_codes([code])
        self._playing = self._started = True
        self._show()
        optimum = float(self.optimal_returns(self._games.codes)[0])
        return self._games.frames()[0], {"goal": NO_GOAL, "optimal_return": optimum}

    def check_codes(self, codes: ArrayLike) -> Codes:
        """[N, 2 + objects], checked states to start in.

        The agent may stand anywhere, and even hold an object; even in a fixed layout, objects may
        lie elsewhere.
        """
        checked = self.board.checked_codes(codes)
        lie = np.sort(checked[:, 2:], axis=1)
        twice = (lie[:, 1:] == lie[:, :-1]).any(axis=1)
        if twice.any():
            places = checked[np.argmax(twice), 2:].tolist()
            raise ValueError(f"two objects lie on one cell: {places}; give each one of its own")
        return checked

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Move or pick up; holding an object, pay its reward and end, whatever the action."""
        if not self._playing:
            raise gym.error.ResetNeeded("call reset() before step()")
        a = checked_action(action, self.space.action_names)
        goal = int(self._games.step(np.array([a]), self.desired)[0])
        self._show()
        frame = self._games.frames()[0]
        if goal == NO_GOAL:
            return frame, STEP_REWARD, False, False, {"goal": NO_GOAL}
        self._playing = False
        info = {"goal": goal, "task_rewards": self.task_rewards[:, goal]}
        return frame, float(self._task.goal_reward[goal]), True, False, info

    @property
    def code(self) -> Codes:
        """[2 + objects], the state as its code; `reset(options={"code": ...})` returns to it."""
        code: Codes = self._games.codes[0].copy()
        return code

    def optimal_returns(self, codes: Codes, task: Task | None = None) -> Array:
        """[N], the best return from each code; by default for the current task."""
        return optimal_returns(
            self.board,
            codes,
            (self._task if task is None else task).goal_reward,
            by_touch=self.by_touch,
            step_reward=STEP_REWARD,
        )

    @property
    def learner(self) -> DeepQ:
        """Our own settings for this game."""
        from taskalgebra.envs.boxman.recipes import fast_for

        longest, random = int(self.board.distance.max()), self.layout == RANDOM
        return fast_for(longest, random=random, by_touch=self.by_touch)

    def one_layout(self, seed: int, task: Task | None = None) -> Layout:
        """The layout of the game with this seed; by touch, as a task leaves it."""
        games = self.games(1)
        games.start(np.zeros(1, np.int64), np.random.default_rng(seed))
        code = games.codes[0].copy()
        codes = all_cells(code[None], self.board.n_cells)
        desired = None if task is None else self.desired_goals(task)
        return Layout(
            finite_world(self.board, code[2:], by_touch=self.by_touch, desired=desired),
            games.frames(codes),
            fixed=self.places is not None,
            image=self.picture(code[None], agent=False)[0],
            pixels=CELL,
            code=code,
        )

    def film_frame(self, layout: Layout, place: tuple[float, float], goal: int = NO_GOAL) -> Image:
        """The large picture with the agent on its way, or the goal frame."""
        code = [*layout.code]
        if goal == NO_GOAL:
            return self._large.between(code, place)
        frame: Image = self.picture([[code[0], goal + 1, *code[2:]]])[0]
        return frame

    def vector(
        self,
        num_envs: int,
        *,
        task: Task | Expression | str | None = None,
        max_episode_steps: int | None = None,
    ) -> VectorBoxman:
        """N games like this one, for a task; by default the current one."""
        return VectorBoxman(self, num_envs, task=task, max_episode_steps=max_episode_steps)

    def continuing(
        self, num_envs: int, *, max_episode_steps: int | None = None
    ) -> ContinuingBoxman:
        """N games that go on after a pick-up, with the object elsewhere: moving targets."""
        return ContinuingBoxman(self, num_envs, max_episode_steps=max_episode_steps)

    def standing(self) -> Frames | None:
        """[G, ...], the screens with the agent on each object of a fixed layout."""
        if self.places is None:
            return None
        codes = np.tile(np.array([0, 0, *self.places], np.uint8), (self.places.size, 1))
        codes[:, 0] = self.places
        return self._games.frames(codes)

    def standing_in(self, observations: ArrayLike) -> Frames:
        """[B, G, ...], the screens with the agent on each object, in the layouts of some screens.

        In a random layout an object that was collected is then elsewhere, nobody knows where; here
        it is below the agent.
        """
        codes = read(np.asarray(observations), self.sprites)
        n = self.board.n_objects
        each = np.repeat(codes, n, axis=0)
        each[:, 0] = codes[:, 2:].ravel()
        frames = self._games.frames(each)
        return frames.reshape(len(codes), n, *frames.shape[1:])

    def render(self) -> Any:
        """The large picture; with a window, which updates by itself, None."""
        if self.render_mode is None:
            warn_of_no_render_mode(RENDER_MODES)
            return None
        if not self._started:
            raise gym.error.ResetNeeded("call reset() before render()")
        if self.render_mode == "human":
            self._show()
            return None
        return self.picture(self._games.codes)[0]

    def picture(self, codes: ArrayLike, *, agent: bool = True) -> Frames:
        """[N, H, W, 3], the large pictures of some codes, with or without the agent."""
        return self._large.frames(self.board.checked_codes(codes), agent=agent)

    @cached_property
    def _large(self) -> Picture:
        """Draws for people; cached, since drawing the ground takes a moment."""
        return Picture(self.board)

    def _show(self) -> None:
        """Bring the window up to date, if there is one."""
        if self._window is not None:
            self._window.show(self.picture(self._games.codes)[0])

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()


def boxman(
    num_envs: int = 1, *, max_episode_steps: int | None = None, **arguments: Any
) -> VectorBoxman:
    """N games, for `gym.make_vec`; other arguments are those of `Boxman`."""
    if arguments.get("render_mode") == "human":
        raise ValueError(
            'render_mode is "human", but a window shows one game; use gym.make for one game, or '
            'render_mode="rgb_array" for a picture of each'
        )
    return VectorBoxman(Boxman(**arguments), num_envs, max_episode_steps=max_episode_steps)
