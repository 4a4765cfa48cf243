"""Networks as a reach: observations in, the return to every goal out; torch stops here."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array
from taskalgebra.learning.deep.heads import Head
from taskalgebra.learning.deep.uvfa import UVFA
from taskalgebra.theory.reach import Reach

PAIRS = 384
"""Pairs of an observation and a goal in one pass of a network; more only take more memory."""


@final
class NetworkReach(Reach):
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
        self.observation_ndim = goals.ndim - 1
        self.numbers = np.asarray(numbers, np.int64)
        self.n_goals = n_goals
        self.included = np.asarray(included, np.float64)
        self._device = next(network.parameters()).device
        self._goals = torch.from_numpy(np.require(goals, None, ["C", "W"])).to(self._device)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one observation."""
        return self.goals.shape[1:]

    def returns(self, observations: Any) -> Array:
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
        result = np.full((len(batch), self.n_goals, values.shape[2]), self.head.v_min)
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
