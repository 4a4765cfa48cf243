"""Copies of LetterWorld, each with a layout of its own."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.envs.copies import Copies
from taskalgebra.envs.letters import (
    ACTION_NAMES,
    ANYWHERE,
    CORNER,
    N_CELLS,
    N_LETTERED,
    NEIGHBOUR,
    Bytes,
    deal,
    drawn,
    goals_entered,
    observations_of,
)
from taskalgebra.envs.rendering import warn_of_no_render_mode
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import checked_actions, checked_options
from taskalgebra.worlds.finite import NO_GOAL

Step = tuple[Bytes, Array, BoolArray, BoolArray, dict[str, Any]]


class Letters(Protocol):
    """What the copies need of the world that they copy."""

    start: str
    step_reward: float
    observation_space: Any
    action_space: Any
    render_mode: str | None
    metadata: dict[str, Any]

    @property
    def task(self) -> Task:
        """The task to play by default."""

    def check_codes(self, codes: ArrayLike) -> Bytes:
        """States to start in, checked."""


class VectorLetters(Copies[Bytes]):
    """N boards, each in an episode of its own.

    `infos["goal"]` is `[N]`: the goal that the step entered, −1 for none.

    Args:
        world: whose rules are played.
        num_envs: N.
        task: the task to pay for; by default the current one of the world.
        ends: whether an episode ends in its first goal.  If not, it goes on from there, and goals
            pay nothing.
        max_episode_steps: the number of steps after which an episode is truncated; by default
            never.
    """

    def __init__(
        self,
        world: Letters,
        num_envs: int = 1,
        *,
        task: Task | None = None,
        ends: bool = True,
        max_episode_steps: int | None = None,
    ) -> None:
        """Make room for the boards; nothing is dealt yet."""
        super().__init__(world, num_envs, max_episode_steps)
        self.metadata = {**world.metadata, **Copies.metadata}
        self.render_mode = world.render_mode
        self.world = world
        self._anywhere = world.start == ANYWHERE
        self._ends = ends
        paid = (world.task if task is None else task).goal_reward if ends else np.zeros(0)
        self._pays = np.full(N_LETTERED + 1, world.step_reward)  # last, where NO_GOAL points
        self._pays[: paid.size] = paid
        self._codes: Bytes = np.zeros((self.num_envs, 1 + N_CELLS), np.uint8)

    @property
    def codes(self) -> Bytes:
        """[N, 50], the states as codes: the agent's cell, then the letter of every cell."""
        return self._codes.copy()

    def frames_of(self, codes: ArrayLike) -> Bytes:
        """The observations of some codes."""
        return observations_of(codes)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Bytes, dict[str, Any]]:
        """Deal new layouts, or start in `options["code"]`: one state for all, or `[N, 50]`."""
        super().reset(seed=seed)
        given = checked_options(options, "code")
        if given is None:
            self._deal(np.ones(self.num_envs, np.bool_))
        else:
            self._codes[:] = self._given(given)
        self._begin()
        return observations_of(self._codes), self._infos(np.full(self.num_envs, NO_GOAL))

    def step(self, actions: ArrayLike) -> Step:
        """Move every agent; boards whose episode has ended are dealt anew."""
        self._require_reset("step")
        chosen = checked_actions(actions, self.num_envs, ACTION_NAMES)
        begun = self._episodes.ended.copy()
        self._codes[:, 0] = NEIGHBOUR[self._codes[:, 0], chosen]
        goals = goals_entered(self._codes)
        if begun.any():
            self._deal(begun)
        rewards = self._pays[goals]
        goals[begun], rewards[begun] = NO_GOAL, 0.0
        terminated = (goals != NO_GOAL) & self._ends
        truncated = self._episodes.advance(terminated)
        return observations_of(self._codes), rewards, terminated, truncated, self._infos(goals)

    def render(self) -> tuple[Any, ...] | None:
        """Every board as text."""
        if self.render_mode is None:
            warn_of_no_render_mode(self.metadata["render_modes"])
            return None
        self._require_reset("render")
        return tuple(drawn(code) for code in self._codes)

    def _deal(self, rows: BoolArray) -> None:
        """New layouts for some boards, with the agent where episodes start."""
        layouts = np.zeros((int(rows.sum()), N_CELLS), np.uint8)
        deal(self.np_random, layouts)
        self._codes[rows, 1:] = layouts
        anywhere = self.np_random.integers(0, N_CELLS, len(layouts)) if self._anywhere else CORNER
        self._codes[rows, 0] = anywhere

    def _given(self, codes: ArrayLike) -> Bytes:
        """Checked starts from outside, one for all boards or one each."""
        one: Any = [codes]
        checked = self.world.check_codes(one if np.ndim(codes) == 1 else codes)
        if len(checked) not in (1, self.num_envs):
            raise ValueError(
                f"options['code'] has {len(checked)} codes, expected one, or one for each of the "
                f"{self.num_envs} copies"
            )
        return checked

    def _infos(self, goals: LongArray) -> dict[str, Any]:
        """Gymnasium's form for a batch: the values, and which copies have one."""
        return {"goal": goals, "_goal": np.ones(self.num_envs, np.bool_)}
