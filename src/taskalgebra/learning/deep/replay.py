"""The replay buffer.

A transition is (s, a, r, s', the goal in which the episode ended or −1).  States are stored as
observations, or as short codes if the environment offers them (`Compact`); samples are observations
either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, Observations
from taskalgebra.worlds.finite import NO_GOAL


@runtime_checkable
class Compact(Protocol):
    """An environment whose states have short codes."""

    @property
    def codes(self) -> NDArray[np.uint8]:
        """[N, length], the current states."""

    def frames_of(self, codes: NDArray[np.uint8]) -> Observations:
        """The observations of some codes."""


@final
@dataclass(frozen=True)
class Transitions:
    """A batch to learn from."""

    observations: Observations  # [B, ...]
    actions: NDArray[np.int64]  # [B]
    rewards: NDArray[np.float32]  # [B]
    next_observations: Observations  # [B, ...], s'
    goals: NDArray[np.int64]  # [B], the goal in which the episode ended, or −1


@final
class Replay:
    """The last `capacity` transitions.

    A few of them are *telling*: those that end in a goal, and those just before.  `sample` can draw
    a share of a batch from these.
    """

    def __init__(self, capacity: int, shape: tuple[int, ...], dtype: Any) -> None:
        """Make room for states of this shape and type."""
        self.capacity = capacity
        self.states = np.zeros((capacity, *shape), dtype)
        self.next_states = np.zeros((capacity, *shape), dtype)
        self.actions = np.zeros(capacity, np.int16)
        self.rewards = np.zeros(capacity, np.float32)
        self.goals = np.full(capacity, NO_GOAL, np.int16)
        self.telling = np.zeros(capacity, np.bool_)  # ends in a goal, or is the step before
        self.n_added = 0
        self._last: NDArray[np.int64] = np.zeros(0, np.int64)

    @property
    def size(self) -> int:
        """The number of stored transitions."""
        return min(self.n_added, self.capacity)

    def add(
        self,
        states: Observations,
        actions: NDArray[np.int64],
        rewards: Array,
        next_states: Observations,
        goals: NDArray[np.int64],
        valid: BoolArray,
    ) -> None:
        """Store one step of every copy for which it is `valid`, part of an episode."""
        ended = valid & (goals != NO_GOAL)
        if self._last.size == valid.size:
            before = self._last[ended]
            self.telling[before[before >= 0]] = True
        rows = np.full(valid.size, -1)
        n_new = int(valid.sum())
        rows[valid] = (self.n_added + np.arange(n_new)) % self.capacity
        new = rows[valid]
        self.states[new], self.next_states[new] = states[valid], next_states[valid]
        self.actions[new], self.rewards[new] = actions[valid], rewards[valid]
        self.goals[new] = goals[valid]
        self.telling[new] = ended[valid]
        self._last = rows
        self.n_added += n_new

    def forget_last(self) -> None:
        """After a reset: the next step does not follow the last one."""
        self._last = np.zeros(0, np.int64)

    def draw(self, n: int, share: float, rng: np.random.Generator) -> NDArray[np.int64]:
        """Row numbers of a batch; about this share of them from the telling ones."""
        rows = rng.integers(0, self.size, n)
        telling = np.flatnonzero(self.telling[: self.size])
        n_telling = round(share * n)
        if telling.size and n_telling:
            rows[:n_telling] = telling[rng.integers(0, telling.size, n_telling)]
        return rows

    def sample(
        self, n: int, share: float, rng: np.random.Generator, show: Compact | None
    ) -> Transitions:
        """A batch of observations; `show` turns codes into observations."""
        rows = self.draw(n, share, rng)
        states, next_states = self.states[rows], self.next_states[rows]
        if show is not None:
            states, next_states = show.frames_of(states), show.frames_of(next_states)
        return Transitions(
            states,
            self.actions[rows].astype(np.int64),
            self.rewards[rows],
            next_states,
            self.goals[rows].astype(np.int64),
        )
