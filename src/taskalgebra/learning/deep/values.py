"""Networks as extended value functions; torch stops here.

`GoalReturns` turns a network into numpy: observations in, the return to every goal out.  A value
function adds what its task pays, Q̄_M(s, g, a) = G(s:g, a) + r_M(g)  (Corollary 1).  Several tasks
may read one network; it then looks at a batch of observations once (`Sight`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array
from taskalgebra.learning.deep.heads import Head
from taskalgebra.learning.deep.uvfa import UVFA
from taskalgebra.logic.algebra import Bounds
from taskalgebra.theory.extended import ExtendedQ, Sight, ValueBounds
from taskalgebra.theory.tasks import TaskSpace

PAIRS = 384
"""Pairs of an observation and a goal in one pass of a network; more only take more memory."""


@final
class GoalReturns:
    """G(s:g, a), the return from every state to every goal before the goal itself pays.

    Args:
        network: the network.
        head: what its outputs mean.
        goals: the goals that the network knows, as observations.
        numbers: which goals of the task space these are.
        n_goals: how many goals the task space has.
        included: what the network itself counts for each of its goals; it is taken off.
    """

    def __init__(
        self,
        network: UVFA,
        head: Head,
        goals: NDArray[Any],
        numbers: NDArray[np.int64],
        n_goals: int,
        included: Array,
    ) -> None:
        """Put the network to use; it is not trained any more."""
        self.network = network.eval()
        self.head = head
        self.goals = goals
        self.numbers = np.asarray(numbers, np.int64)
        self.n_goals = n_goals
        self.included = np.asarray(included, np.float64)
        self._device = next(network.parameters()).device
        self._goals = torch.from_numpy(np.require(goals, None, ["C", "W"])).to(self._device)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one observation."""
        return self.goals.shape[1:]

    def look(self, observations: ArrayLike) -> Array:
        """[B, G, A]; goals that the network has never met are worth the lowest return."""
        batch = self._checked(observations)
        parts = []
        at_once = max(1, PAIRS // len(self.goals))
        with torch.no_grad():
            for first in range(0, len(batch), at_once):
                states = torch.from_numpy(batch[first : first + at_once]).to(self._device)
                parts.append(self.head.values(self.network(states, self._goals)).cpu().numpy())
        values = np.concatenate(parts).astype(np.float64) - self.included[:, None]
        if np.array_equal(self.numbers, np.arange(self.n_goals)):
            return values
        result = np.full((len(batch), self.n_goals, values.shape[2]), self.head.low)
        result[:, self.numbers] = values
        return result

    def _checked(self, observations: ArrayLike) -> NDArray[Any]:
        batch = np.asarray(observations)
        if batch.shape[1:] != self.shape or batch.dtype != self.goals.dtype:
            raise ValueError(
                f"observations must be a batch of {self.goals.dtype} of shape [B, "
                f"{', '.join(map(str, self.shape))}], got {batch.dtype} of shape {batch.shape}"
            )
        if len(batch) == 0:
            raise ValueError("the batch of observations is empty")
        return np.require(batch, None, ["C", "W"])


@final
@dataclass(frozen=True, eq=False, repr=False)
class NetworkQ(ExtendedQ):
    """Q̄_M(s, g, a) = G(s:g, a) + r_M(g), with G from a network."""

    returns: GoalReturns
    goal_reward: Array  # [G]
    bounds: ValueBounds

    def q_bar(self, observations: ArrayLike) -> Array:
        """One pass of the network."""
        return self._q_bar(Sight(observations))

    def _q_bar(self, sight: Sight) -> Array:
        return sight.through(self.returns) + self.goal_reward[:, None]


@final
@dataclass(frozen=True, eq=False, repr=False)
class ShiftedBounds(ValueBounds):
    """Q̄_U = G + r_U and Q̄_∅ = G + r_∅, where all tasks share their absorbing states.

    Several networks are estimates of one G; their mean is taken.
    """

    space: TaskSpace
    networks: tuple[GoalReturns, ...]

    def at(self, observations: ArrayLike) -> Bounds:
        """One pass of each network."""
        return self._at(Sight(observations))

    def _at(self, sight: Sight) -> Bounds:
        returns = sight.through(self.networks[0])
        for network in self.networks[1:]:
            returns = returns + sight.through(network)
        if len(self.networks) > 1:
            returns = returns / len(self.networks)
        space = self.space
        return Bounds(returns + space.r_universal[:, None], returns + space.r_empty[:, None])


@final
@dataclass(frozen=True, eq=False, repr=False)
class ExtremeBounds(ValueBounds):
    """The pointwise extremes of the base tasks, where tasks end in different states.

    Assumption 1 does not hold then, and no task is known to be the best at every goal.  The largest
    and the smallest value that some base task has are bounds of all that they compose to.
    """

    space: TaskSpace
    networks: tuple[GoalReturns, ...]  # one a base task
    goal_rewards: Array  # [K, G]

    def at(self, observations: ArrayLike) -> Bounds:
        """One pass of each network."""
        return self._at(Sight(observations))

    def _at(self, sight: Sight) -> Bounds:
        pairs = zip(self.networks, self.goal_rewards, strict=True)
        values = [sight.through(network) + reward[:, None] for network, reward in pairs]
        return extremes(values)


def extremes(values: list[Array]) -> Bounds:
    """The largest and the smallest of some arrays, entry by entry."""
    return Bounds(np.maximum.reduce(values), np.minimum.reduce(values))
