"""Copies of a finite world: every step is a few look-ups in its tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.envs.copies import Copies
from taskalgebra.envs.finite_env import RENDER_MODES, FiniteEnv
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.envs.rendering import warn_of_no_render_mode
from taskalgebra.validation import checked_actions
from taskalgebra.worlds.chance import outcomes
from taskalgebra.worlds.finite import NO_GOAL

States = NDArray[np.int64]
Step = tuple[States, Array, BoolArray, BoolArray, dict[str, Any]]


class FiniteVectorEnv(Copies[States]):
    """N copies of a finite world, each in an episode of its own.

    `infos["goal"]` is `[N]`: the goal in which each episode ended, −1 before.

    Args:
        world: the environment with the task to play; a later change of its task has no effect.
        num_envs: N.
        max_episode_steps: the number of steps after which an episode is truncated; by default
            never.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        **FiniteEnv.metadata,
        **Copies.metadata,
    }

    def __init__(
        self, world: FiniteEnv, num_envs: int = 1, *, max_episode_steps: int | None = None
    ) -> None:
        """Lay the world out as tables."""
        super().__init__(world, num_envs, max_episode_steps)
        self.world = world
        self.render_mode = world.render_mode
        self.metadata = {**self.metadata, **world.metadata}
        mdp, task = world.mdp, world.task
        self._mdp = mdp
        self._reward = task.steps.ravel().copy()  # [S·A]
        rows = mdp.goals[:, None] * mdp.n_actions + np.arange(mdp.n_actions)
        self._reward[rows] = task.goal_reward[:, None]
        self._goal = mdp.goal_of_state.astype(np.int64)
        self._states: States = np.zeros(self.num_envs, np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[States, dict[str, Any]]:
        """Start all copies in random states, or in `options["state"]`: one for all, or `[N]`."""
        super().reset(seed=seed)
        given = (options or {}).get("state")
        self._states = self._random_starts(self.num_envs) if given is None else self._starts(given)
        self._begin()
        return self._states.copy(), self._infos(np.full(self.num_envs, NO_GOAL))

    def step(self, actions: ArrayLike) -> Step:
        """Move every copy by its action; those whose episode has ended start a new one."""
        self._require_reset("step")
        chosen = checked_actions(actions, self.num_envs, self._mdp.action_names)
        pair = self._states * self._mdp.n_actions + chosen
        rewards = self._reward[pair]
        goals = self._goal[self._states]
        self._states = self._successors(pair)
        begun = self._episodes.ended
        if begun.any():
            self._states[begun] = self._random_starts(int(begun.sum()))
        terminated, truncated = self._settle(goals, rewards)
        return self._states.copy(), rewards, terminated, truncated, self._infos(goals)

    def render(self) -> tuple[Any, ...] | None:
        """The map of every copy, in the render mode."""
        if self.render_mode is None:
            warn_of_no_render_mode(RENDER_MODES)
            return None
        shown = self._states.tolist() if self._started else [None] * self.num_envs
        return tuple(self.world.frame(state) for state in shown)

    def _successors(self, pair: States) -> States:
        """The next states of some rows of the table; goals stay where they are."""
        mdp, k = self._mdp, pair
        if not mdp.deterministic:
            k = outcomes(mdp.offset, mdp.probability, pair, self.np_random.random(pair.size))
        return mdp.successor[k].astype(np.int64)

    def _random_starts(self, count: int) -> States:
        starts = self._mdp.starts
        chosen = (self.np_random.random(count) * starts.size).astype(np.int64)
        return starts[chosen].astype(np.int64)

    def _starts(self, given: ArrayLike) -> States:
        states = np.asarray(given)
        if states.shape not in ((), (self.num_envs,)):
            raise ValueError(
                f"options['state'] has shape {states.shape}, expected one state or one for each "
                f"of the {self.num_envs} copies"
            )
        for state in np.unique(states):
            self.world.check_start(state)
        return np.broadcast_to(states, (self.num_envs,)).astype(np.int64)

    def _infos(self, goals: States) -> dict[str, Any]:
        """Gymnasium's form for a batch: the values, and which copies have one."""
        return {"goal": goals, "_goal": np.ones(self.num_envs, np.bool_)}


def four_rooms(
    num_envs: int = 1, *, max_episode_steps: int | None = None, **arguments: Any
) -> FiniteVectorEnv:
    """N copies of Four Rooms, for `gym.make_vec`; other arguments are those of `FourRooms`."""
    return FiniteVectorEnv(FourRooms(**arguments), num_envs, max_episode_steps=max_episode_steps)
