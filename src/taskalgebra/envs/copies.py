"""What all vector environments share: N copies, each in an episode of its own.

After an episode the next call of `step` starts a new one: it ignores the action and pays 0
(`AutoresetMode.NEXT_STEP`, as in Gymnasium's own vector environments).
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, final

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.compiled import kernel
from taskalgebra.limits import MOST_COPIES
from taskalgebra.validation import count
from taskalgebra.worlds.finite import NO_GOAL, NO_LIMIT

Observations = TypeVar("Observations")


@final
class Episodes:
    """Where N copies stand in their episodes."""

    def __init__(self, num_envs: int, max_steps: int | None) -> None:
        """Begin N episodes; with a limit, they are too long after `max_steps` steps."""
        self.ended = np.zeros(num_envs, np.bool_)  # these begin again with the next step
        self._elapsed = np.zeros(num_envs, np.int64)
        self._limit = max_steps or NO_LIMIT

    def begin(self) -> None:
        """Begin all episodes."""
        self.ended[:] = False
        self._elapsed[:] = 0

    def begin_at_once(self, begun: BoolArray) -> None:
        """Begin these episodes: their next step counts."""
        self.ended[begun] = False
        self._elapsed[begun] = 0

    def advance(self, over: BoolArray) -> BoolArray:
        """Count a step after which these episodes are over; [N], which are too long."""
        late = np.empty_like(over)
        _advance(over, self.ended, self._elapsed, self._limit, late)
        return late


class HasSpaces(Protocol):
    """What is copied: an environment with its two spaces."""

    observation_space: Any
    action_space: Any


class Copies(VectorEnv[Observations, Any, Any]):
    """N copies of an environment.

    All copies share one random generator, so that equal seeds give equal runs, though not those of
    N single environments.

    Args:
        world: the environment that is copied.
        num_envs: N.
        max_episode_steps: the number of steps after which an episode is truncated; by default
            never.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        "autoreset_mode": AutoresetMode.NEXT_STEP
    }

    def __init__(self, world: HasSpaces, num_envs: int, max_episode_steps: int | None) -> None:
        """Take over the spaces; nothing is started yet."""
        self.num_envs = count(num_envs, "num_envs", most=MOST_COPIES)
        self.max_episode_steps = (
            None if max_episode_steps is None else count(max_episode_steps, "max_episode_steps")
        )
        self.single_observation_space = world.observation_space
        self.single_action_space = world.action_space
        self.observation_space = batch_space(world.observation_space, self.num_envs)
        self.action_space = batch_space(world.action_space, self.num_envs)
        self._episodes = Episodes(self.num_envs, self.max_episode_steps)
        self._started = False

    def _begin(self) -> None:
        """Begin an episode in all copies."""
        self._episodes.begin()
        self._started = True

    def _require_reset(self, before: str) -> None:
        if not self._started:
            raise gym.error.ResetNeeded(f"call reset() before {before}()")

    def _settle(self, goals: NDArray[np.int64], rewards: Array) -> tuple[BoolArray, BoolArray]:
        """Which episodes a step has terminated, and which are truncated.

        A copy whose episode had ended has just begun a new one: it has no goal and is paid 0, in
        place.
        """
        begun = self._episodes.ended
        goals[begun], rewards[begun] = NO_GOAL, 0.0
        terminated = goals != NO_GOAL
        return terminated, self._episodes.advance(terminated)


@kernel
def _advance(
    over: BoolArray, ended: BoolArray, elapsed: NDArray[np.int64], limit: int, late: BoolArray
) -> None:
    """Update `ended` and `elapsed`, and fill `late`."""
    for i in range(over.size):
        elapsed[i] = 0 if ended[i] else elapsed[i] + 1
        late[i] = elapsed[i] >= limit
        ended[i] = over[i] or late[i]
