"""What networks know of the ways to goals: G(s:g, a), and where there is no way."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, final

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.content import ByContent
from taskalgebra.learning.deep.planning_network import PlanningNetwork
from taskalgebra.learning.deep.settings import DeepSettings
from taskalgebra.learning.deep.uvfa import UVFA, Head
from taskalgebra.theory.reach import Reach

PAIRS = 384
"""Pairs of an observation and a goal per forward pass; more only take more memory."""


@final
class NetworkReach(ByContent, Reach):
    """G(s:g, a), the return from every state to every goal before the goal itself pays.

    Args:
        network: the network; it is not trained any more.
        head: what its outputs mean.
        goals: the goals that the network knows, as it is shown them.
        numbers: which goals of the task space these are.
        n_goals: the number of goals of the task space.
        included: the terminal reward that the network has learned for each goal; it is subtracted.
        like: a batch of no observations, `[0, ...]`; None if goals are observations.
    """

    def __init__(
        self,
        network: UVFA,
        head: Head,
        goals: NDArray[Any],
        numbers: NDArray[np.int64],
        n_goals: int,
        included: Array,
        like: NDArray[Any] | None = None,
    ) -> None:
        """Switch the network to evaluation."""
        self.network = network.eval()
        self.head = head
        self.goals = goals
        self.like = goals[:0] if like is None else like
        self.observation_ndim = self.like.ndim - 1
        self.numbers = np.asarray(numbers, np.int64)
        self.n_goals = n_goals
        self.included = np.asarray(included, np.float64)
        self.others: Sequence[PlanningNetwork] = ()
        self.met: BoolArray = np.isin(np.arange(n_goals), self.numbers)
        self._device = next(network.parameters()).device
        self._goals = torch.from_numpy(np.require(goals, None, ["C", "W"])).to(self._device)

    def _content(self) -> dict[str, Any]:
        """Weights, and what inputs and outputs mean."""
        network = self.network
        weights = {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}
        head = {
            name: value.cpu().numpy() if isinstance(value, torch.Tensor) else value
            for name, value in vars(self.head).items()
        }
        own = ("goals", "like", "numbers", "n_goals", "included")
        return {
            "network": type(network),
            "weights": weights,
            "head": (type(self.head), head),
            **{name: getattr(self, name) for name in own},
            "others": len(self.others),
        }

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one observation."""
        return self.like.shape[1:]

    def returns(self, observations: Any) -> Array:
        """[B, G, A]; goals that the network has never met have the lowest return."""
        batch = self._checked(observations)
        parts = []
        at_once = max(1, PAIRS // len(self.goals))
        with torch.no_grad():
            for first in range(0, len(batch), at_once):
                states = torch.from_numpy(batch[first : first + at_once]).to(self._device)
                outputs = self._outputs(states)
                parts.append(self.head.values(outputs).cpu().numpy())
        values = np.concatenate(parts).astype(np.float64) - self.included[:, None]
        if np.array_equal(self.numbers, np.arange(self.n_goals)):
            return values
        result = np.full((len(batch), self.n_goals, values.shape[2]), self.head.v_min)
        result[:, self.numbers] = values
        return result

    def _outputs(self, states: torch.Tensor) -> torch.Tensor:
        more = {"others": self.others} if self.others else {}
        found: torch.Tensor = self.network(states, self._goals, **more)
        return found

    def beside(self, others: Sequence[PlanningNetwork]) -> NetworkReach:
        """The same planning network, which avoids what ends the episodes of others, too."""
        found = copy(self)
        found.others = others
        return found

    def _checked(self, observations: ArrayLike) -> NDArray[Any]:
        batch = np.asarray(observations)
        if batch.shape[1:] != self.shape or batch.dtype != self.like.dtype:
            raise ValueError(
                f"observations must be a batch of {self.like.dtype} of shape [B, "
                f"{', '.join(map(str, self.shape))}], got {batch.dtype} of shape {batch.shape}"
            )
        if len(batch) == 0:
            raise ValueError("the batch of observations is empty")
        return np.require(batch, None, ["C", "W"])


@final
class KnownWays(ByContent, Reach):
    """The returns of networks, −∞ where they say "never": within half a spacing of `v_min`."""

    def __init__(self, reach: Reach, settings: DeepSettings) -> None:
        """Take the networks, and what their returns mean."""
        self.reach, self.observation_ndim, self.met = reach, reach.observation_ndim, reach.met
        v_min, _, spacing = settings.returns
        self._lowest = v_min + spacing / 2

    def returns(self, observations: Any) -> Array:
        """[B, G, A]."""
        returns = np.array(self.reach.returns(observations), np.float64)
        returns[returns < self._lowest] = -np.inf
        return returns


@final
class JoinedWays(ByContent, Reach):
    """What several networks know of the ways to goals, if each ends in goals of its own.

    Tasks with time ask for ways to a goal that touch no other.  A network avoids the goals in which
    its own task ends.  So of several ways to one goal the longest is taken, which avoids most, and:

    - planning networks tell each other where their episodes end, and search around all of that;
    - an action that enters one goal now is none towards another.

    Goals that no network knows have no way, and are not avoided either.
    """

    def __init__(self, reaches: Sequence[NetworkReach], settings: DeepSettings) -> None:
        """Take the networks, and what their returns mean."""
        self._each = tuple(KnownWays(reach, settings) for reach in _told(reaches))
        self.observation_ndim = reaches[0].observation_ndim
        self._knows: BoolArray = np.stack([reach.met for reach in reaches])
        self._known: BoolArray = np.logical_or.reduce(self._knows)
        self.met = self._known
        _, v_max, spacing = settings.returns
        self._at_once = v_max - 1.5 * spacing  # between the returns of one step and of two

    def returns(self, observations: Any) -> Array:
        """[B, G, A]."""
        found = np.stack([each.returns(observations) for each in self._each])
        found[~self._knows[:, None].repeat(found.shape[1], axis=1)] = np.inf
        returns: Array = found.min(axis=0)
        returns[:, ~self._known] = -np.inf
        enters = returns > self._at_once
        elsewhere = enters.sum(axis=1, keepdims=True) > enters
        returns[elsewhere] = -np.inf
        return returns


def _told(reaches: Sequence[NetworkReach]) -> list[NetworkReach]:
    """The same, with planning networks told of each other."""
    planning = {
        i: reach.network
        for i, reach in enumerate(reaches)
        if isinstance(reach.network, PlanningNetwork)
    }
    return [
        reach.beside([each for j, each in planning.items() if j != i]) if i in planning else reach
        for i, reach in enumerate(reaches)
    ]
