"""Many copies of a world at once: every step is a few look-ups in its tables.

All copies share one generator of random numbers, so that equal seeds give equal runs, though not
those of as many single worlds.  After an episode the next call of `step` starts a new one: it
ignores the action and pays 0 (`AutoresetMode.NEXT_STEP`, as in Gymnasium's own vector worlds).
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.envs.world import World
from taskalgebra.validation import checked_actions, count
from taskalgebra.worlds.finite import NO_GOAL

States = NDArray[np.int64]
Step = tuple[States, Array, BoolArray, BoolArray, dict[str, Any]]


class VectorWorld(VectorEnv[States, Any, Any]):
    """A batch of N worlds that move together, each in an episode of its own.

    `infos["goal"]` is `[N]`: the goal in which each episode ended, −1 while it goes on.

    Args:
        world: the world with the task to play, as it is now; a later change of task does not count.
        num_envs: N.
        max_episode_steps: after so many steps an episode is truncated; by default never.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        **World.metadata,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self, world: World, num_envs: int = 1, *, max_episode_steps: int | None = None
    ) -> None:
        """Lay the world out as tables."""
        self.world = world
        self.num_envs = count(num_envs, "num_envs")
        self.max_episode_steps = (
            None if max_episode_steps is None else count(max_episode_steps, "max_episode_steps")
        )
        self.render_mode = world.render_mode
        self.metadata = {**self.metadata, **world.metadata}
        self.single_observation_space = world.observation_space
        self.single_action_space = world.action_space
        self.observation_space = batch_space(world.observation_space, self.num_envs)
        self.action_space = batch_space(world.action_space, self.num_envs)

        mdp, task = world.mdp, world.task
        self._mdp = mdp
        self._reward = task.steps.ravel().copy()  # [S·A]
        rows = mdp.goals[:, None] * mdp.n_actions + np.arange(mdp.n_actions)
        self._reward[rows] = task.goal_reward[:, None]
        self._goal = mdp.goal_of_state.astype(np.int64)
        self._below = _cumulated(mdp.offset, mdp.probability)

        self._states: States | None = None
        self._ended = np.zeros(self.num_envs, np.bool_)
        self._elapsed = np.zeros(self.num_envs, np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[States, dict[str, Any]]:
        """Start all worlds in random states, or in `options["state"]`: one for all, or `[N]`."""
        super().reset(seed=seed)
        given = (options or {}).get("state")
        self._states = self._random_starts(self.num_envs) if given is None else self._starts(given)
        self._ended[:] = False
        self._elapsed[:] = 0
        return self._states.copy(), self._infos(np.full(self.num_envs, NO_GOAL))

    def step(self, actions: ArrayLike) -> Step:
        """Move every world by its action; those whose episode has ended start a new one."""
        if self._states is None:
            raise gym.error.ResetNeeded("call reset() before step()")
        chosen = checked_actions(actions, self.num_envs, self._mdp.action_names)
        pair = self._states * self._mdp.n_actions + chosen
        rewards = self._reward[pair]
        goals = self._goal[self._states]
        self._states = self._successors(pair)
        self._elapsed += 1
        if self._ended.any():
            self._states[self._ended] = self._random_starts(int(self._ended.sum()))
            self._elapsed[self._ended] = 0
            rewards[self._ended] = 0.0
            goals[self._ended] = NO_GOAL
        terminated = goals != NO_GOAL
        if self.max_episode_steps is None:
            truncated = np.zeros(self.num_envs, np.bool_)
        else:
            truncated = self._elapsed >= self.max_episode_steps
        self._ended = terminated | truncated
        return self._states.copy(), rewards, terminated, truncated, self._infos(goals)

    def render(self) -> tuple[Any, ...] | None:
        """The map of every world, as the render mode asks."""
        if self.render_mode is None:
            gym.logger.warn(
                "render() was called without a render mode; choose one when the environment is "
                'made: render_mode="ansi" or render_mode="rgb_array"'
            )
            return None
        shown = [None] * self.num_envs if self._states is None else self._states.tolist()
        return tuple(self.world.frame(state) for state in shown)

    def _successors(self, pair: States) -> States:
        """The next states of some rows of the table; goals stay where they are."""
        k = self._mdp.offset[pair]
        if not self._mdp.deterministic:
            chance = self.np_random.random(pair.size)
            k = k + (chance[:, None] >= self._below[pair]).sum(axis=1)
        return self._mdp.successor[k].astype(np.int64)

    def _random_starts(self, count: int) -> States:
        starts = self._mdp.starts
        chosen = (self.np_random.random(count) * starts.size).astype(np.int64)
        return starts[chosen].astype(np.int64)

    def _starts(self, given: ArrayLike) -> States:
        states = np.asarray(given)
        if states.shape not in ((), (self.num_envs,)):
            raise ValueError(
                f"options['state'] has shape {states.shape}, expected one state or one for each "
                f"of the {self.num_envs} worlds"
            )
        for state in np.unique(states):
            self.world.check_start(state)
        return np.broadcast_to(states, (self.num_envs,)).astype(np.int64)

    def _infos(self, goals: States) -> dict[str, Any]:
        """Gymnasium's form for a batch: the values, and which worlds have one."""
        return {"goal": goals, "_goal": np.ones(self.num_envs, np.bool_)}


def four_rooms(
    num_envs: int = 1, *, max_episode_steps: int | None = None, **arguments: Any
) -> VectorWorld:
    """Many Four Rooms at once, for `gym.make_vec`; other arguments are those of `FourRooms`."""
    return VectorWorld(FourRooms(**arguments), num_envs, max_episode_steps=max_episode_steps)


def _cumulated(offset: NDArray[np.int64], probability: Array) -> Array:
    """[S·A, W − 1], the chance of an outcome up to each but the last; beyond a row's end, 1."""
    counts = np.diff(offset)
    pair = np.repeat(np.arange(counts.size), counts)
    chance = np.zeros((counts.size, int(counts.max())))
    chance[pair, np.arange(probability.size) - offset[pair]] = probability
    below: Array = np.cumsum(chance, axis=1)
    below[np.arange(below.shape[1]) >= counts[:, None] - 1] = 1.0
    return below[:, :-1]
