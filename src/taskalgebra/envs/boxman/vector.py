"""Copies of Boxman, moved and painted by compiled loops."""

from __future__ import annotations

from typing import Any, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.envs.boxman.art import Frames
from taskalgebra.envs.boxman.board import STEP_REWARD, Board, Codes
from taskalgebra.envs.boxman.games import Games
from taskalgebra.envs.copies import Copies
from taskalgebra.envs.rendering import warn_of_no_render_mode
from taskalgebra.logic.expression import Expression
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import checked_actions, checked_options
from taskalgebra.worlds.finite import NO_GOAL

RENDER_MODES, RENDER_FPS = ("rgb_array",), 6
Step = tuple[Frames, Array, BoolArray, BoolArray, dict[str, Any]]


class Game(Protocol):
    """What the copies need of the game that they copy: its rules, its tasks and its pictures."""

    board: Board
    by_touch: bool
    space: TaskSpace
    task_rewards: Array  # [tasks, G]
    observation_space: Any
    action_space: Any
    render_mode: str | None

    @property
    def task(self) -> Task:
        """The task to play by default."""

    def games(self, n_games: int) -> Games:
        """N games with these rules."""

    def find_task(self, task: Task | Expression | str) -> Task:
        """A task by name or expression."""

    def desired_goals(self, task: Task) -> BoolArray:
        """[G], the objects that a task collects."""

    def check_codes(self, codes: ArrayLike) -> Codes:
        """States to start in, checked."""

    def optimal_returns(self, codes: Codes, task: Task) -> Array:
        """[N], the best return from each state."""

    def picture(self, codes: ArrayLike) -> Frames:
        """Large pictures of some states."""


class VectorBoxman(Copies[Frames]):
    """N games, each in an episode of its own.

    `infos["goal"]` is `[N]`: the object with which each episode ended, −1 before.
    `infos["task_rewards"]` is `[N, tasks]`: what each named task pays for it, 0 before.
    `infos["optimal_return"]` is `[N]` at a reset.

    A replay buffer of frames would be large: `codes` and `frames_of` let it store eight bytes per
    state, and paint a state again when it is sampled.

    Args:
        world: the game to play.
        num_envs: N.
        task: the task to play; by default the current one of the game.  A later change of the
            game's task has no effect.
        max_episode_steps: the number of steps after which an episode is truncated; by default
            never.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        **Copies.metadata,
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        world: Game,
        num_envs: int = 1,
        *,
        task: Task | Expression | str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        """Set up the games; nothing is started yet."""
        super().__init__(world, num_envs, max_episode_steps)
        self.world = world
        self.render_mode = "rgb_array" if world.render_mode == "rgb_array" else None
        self._games = world.games(self.num_envs)
        self.task = world.task if task is None else world.find_task(task)
        self._desired = world.desired_goals(self.task)
        self._pays = np.append(self.task.goal_reward, STEP_REWARD)  # last, where NO_GOAL points

    @property
    def codes(self) -> Codes:
        """[N, 2 + objects], the states as codes."""
        return self._games.codes.copy()

    def frames_of(self, codes: ArrayLike) -> Frames:
        """The observations of some codes."""
        return self._games.frames(codes)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frames, dict[str, Any]]:
        """Start all games in random states, or in `options["code"]`: one for all, or `[N, …]`."""
        super().reset(seed=seed)
        given = checked_options(options, "code")
        if given is None:
            self._games.start(np.arange(self.num_envs), self.np_random)
        else:
            self._games.codes[:] = self._given(given)
        self._begin()
        infos = self._infos(np.full(self.num_envs, NO_GOAL), self._episodes.ended)
        infos["optimal_return"] = self.world.optimal_returns(self._games.codes, self.task)
        infos["_optimal_return"] = np.ones(self.num_envs, np.bool_)
        return self._games.frames(), infos

    def step(self, actions: ArrayLike) -> Step:
        """Move every game by its action; those whose episode has ended start a new one."""
        self._require_reset("step")
        names = self.world.space.action_names
        goals = self._games.step(checked_actions(actions, self.num_envs, names), self._desired)
        begun = np.flatnonzero(self._episodes.ended)
        if begun.size:
            self._games.start(begun, self.np_random)
        rewards = self._pays[goals]
        terminated, truncated = self._settle(goals, rewards)
        return self._games.frames(), rewards, terminated, truncated, self._infos(goals, terminated)

    def render(self) -> tuple[Any, ...] | None:
        """A large picture of every game."""
        if self.render_mode is None:
            warn_of_no_render_mode(RENDER_MODES)
            return None
        self._require_reset("render")
        return tuple(self.world.picture(self._games.codes))

    def _given(self, codes: ArrayLike) -> Codes:
        """Checked starts from outside, one for all games or one each."""
        one: Any = [codes]
        checked = self.world.check_codes(one if np.ndim(codes) == 1 else codes)
        if len(checked) not in (1, self.num_envs):
            raise ValueError(
                f"options['code'] has {len(checked)} codes, expected one, or one for each of the "
                f"{self.num_envs} games"
            )
        return checked

    def _infos(self, goals: NDArray[np.int64], ended: BoolArray) -> dict[str, Any]:
        """Gymnasium's form for a batch: the values, and which games have one."""
        rewards = np.zeros((self.num_envs, len(self.world.task_rewards)))
        if ended.any():
            rewards[ended] = self.world.task_rewards.T[goals[ended]]
        return {
            "goal": goals,
            "_goal": np.ones(self.num_envs, np.bool_),
            "task_rewards": rewards,
            "_task_rewards": ended.copy(),
        }


@final
class ContinuingBoxman(VectorBoxman):
    """N games whose episodes outlive goals: *moving targets*.

    The step that collects an object also lets go of it.  In a random layout it reappears on a
    random free cell, on which there is no object and no agent; in a fixed one it stays where it is.
    By touch every object is collected that the agent steps on, since there is no task.

    `infos["goal"]` is `[N]`: the object that each step collected, −1 for none.  Every step pays
    −0.1, and objects pay nothing: what they are worth is a matter of tasks.  Only a limit ends an
    episode.
    """

    def __init__(
        self, world: Game, num_envs: int = 1, *, max_episode_steps: int | None = None
    ) -> None:
        """Set up the games; nothing is started yet."""
        every = world.space.universal
        super().__init__(world, num_envs, task=every, max_episode_steps=max_episode_steps)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frames, dict[str, Any]]:
        """Start all games in random states, or in `options["code"]`: one for all, or `[N, …]`."""
        frames, _ = super().reset(seed=seed, options=options)
        return frames, self._collected(np.full(self.num_envs, NO_GOAL))

    def step(self, actions: ArrayLike) -> Step:
        """Move every game by its action; those whose episode was cut off start a new one."""
        self._require_reset("step")
        names = self.world.space.action_names
        self._games.step(checked_actions(actions, self.num_envs, names), self._desired)
        goals = self._games.go_on(self.np_random)
        begun = self._episodes.ended.copy()
        if begun.any():
            self._games.start(np.flatnonzero(begun), self.np_random)
            goals[begun] = NO_GOAL
        never = np.zeros(self.num_envs, np.bool_)
        truncated = self._episodes.advance(never)
        rewards = np.where(begun, 0.0, STEP_REWARD)
        return self._games.frames(), rewards, never, truncated, self._collected(goals)

    def _collected(self, goals: NDArray[np.int64]) -> dict[str, Any]:
        """Gymnasium's form for a batch: the values, and which games have one."""
        return {"goal": goals, "_goal": np.ones(self.num_envs, np.bool_)}
