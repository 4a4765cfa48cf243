"""What all vectors of worlds share: N copies, each in an episode of its own.

All copies share one generator of random numbers, so that equal seeds give equal runs, though not
those of as many single worlds.  After an episode the next call of `step` starts a new one: it
ignores the action and pays 0 (`AutoresetMode.NEXT_STEP`, as in Gymnasium's own vector worlds).
"""

from __future__ import annotations

from typing import Any, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.compiled import kernel
from taskalgebra.validation import count
from taskalgebra.worlds.finite import NO_GOAL

NO_LIMIT = 2**62
Observations = TypeVar("Observations")


class Copies(VectorEnv[Observations, Any, Any]):
    """N copies of a world: their spaces, and where each stands in its episode.

    Args:
        world: the world that is copied.
        num_envs: N.
        max_episode_steps: the number of steps after which an episode is truncated; by default
            never.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        "autoreset_mode": AutoresetMode.NEXT_STEP
    }

    def __init__(
        self, world: gym.Env[Any, Any], num_envs: int, max_episode_steps: int | None
    ) -> None:
        """Take over the spaces of the world; nothing is started yet."""
        self.num_envs = count(num_envs, "num_envs")
        self.max_episode_steps = (
            None if max_episode_steps is None else count(max_episode_steps, "max_episode_steps")
        )
        self.single_observation_space = world.observation_space
        self.single_action_space = world.action_space
        self.observation_space = batch_space(world.observation_space, self.num_envs)
        self.action_space = batch_space(world.action_space, self.num_envs)
        self._ended = np.zeros(self.num_envs, np.bool_)  # these start anew at the next step
        self._elapsed = np.zeros(self.num_envs, np.int64)
        self._started = False

    def _begin(self) -> None:
        """All copies begin an episode."""
        self._ended[:] = False
        self._elapsed[:] = 0
        self._started = True

    def _require_reset(self, before: str) -> None:
        if not self._started:
            raise gym.error.ResetNeeded(f"call reset() before {before}()")

    def _settle(self, goals: NDArray[np.int64], rewards: Array) -> tuple[BoolArray, BoolArray]:
        """Which episodes a step has terminated, and which are truncated.

        A copy whose episode had ended has just begun a new one: it has no goal and is paid 0, in
        place.
        """
        terminated, truncated = np.empty((2, self.num_envs), np.bool_)
        limit = self.max_episode_steps or NO_LIMIT
        _settle(goals, rewards, self._ended, self._elapsed, limit, terminated, truncated)
        return terminated, truncated


@kernel
def _settle(
    goals: NDArray[np.int64],
    rewards: Array,
    ended: BoolArray,
    elapsed: NDArray[np.int64],
    limit: int,
    terminated: BoolArray,
    truncated: BoolArray,
) -> None:
    """Change the first four in place, and fill the last two."""
    for i in range(goals.size):
        elapsed[i] += 1
        if ended[i]:
            goals[i], elapsed[i], rewards[i] = NO_GOAL, 0, 0.0
        terminated[i] = goals[i] != NO_GOAL
        truncated[i] = elapsed[i] >= limit
        ended[i] = terminated[i] or truncated[i]
