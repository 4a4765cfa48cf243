"""Tasks with time where every episode has a layout of its own.

How far one goal is from another then differs between episodes.  It is read off the values when an
episode begins, on what would be seen on each goal in this layout (`GoalEnv.standing_in`), and what
is still to come follows from it as in a fixed layout (`planning.temporal`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.planning.temporal import FormulaPolicy, Labelled, goal_rewards, values_to_come
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.reach import DirectedReach, OfferedReach, Reach

BLOCK = 1_024
"""Observations that a reach is asked about at a time."""

Standing = Callable[[NDArray[Any]], NDArray[Any] | None]
"""From observations `[B, ...]` to what is seen on every goal of their layouts, `[B, G, ...]`."""


@final
class LayoutPolicy(FormulaPolicy):
    """Plans the small graph of an episode when it begins, then acts as in a fixed layout."""

    def __init__(
        self,
        labelled: Labelled,
        reach: Reach,
        standing: Standing,
        success: float,
        scale: float,
        entry: Array | None = None,
    ) -> None:
        """Take the returns to goals, and what is seen on goals.

        Raises:
            TypeError: the reach has no values of numbered actions.
        """
        if isinstance(reach, DirectedReach | OfferedReach):
            raise TypeError(
                "tasks with time in changing layouts need values of numbered actions; this agent "
                f"is a {type(reach).__name__}"
            )
        super().__init__(labelled)
        self.observation_ndim = reach.observation_ndim
        self._reach, self._standing, self._success, self._scale = reach, standing, success, scale
        self._entry = entry
        self._begins: BoolArray = np.ones(1, np.bool_)
        self._rewards: Array = np.empty((1, 0, 0))  # [B, U, G]

    def reset(self, begins: BoolArray) -> None:
        """Where an episode begins, its layout is looked at with the next observation."""
        super().reset(begins)
        if begins.size != self._begins.size:
            begins = np.ones(self.states.size, np.bool_)
            self._rewards = np.empty((begins.size, 0, 0))
        self._begins = self._begins | begins if begins.size == self._begins.size else begins.copy()

    def actions(self, observations: Any) -> LongArray:
        """Greedy actions for Q̄(s, g, a) = G(s:g, a) + r_u(g), with the r_u of each episode."""
        given = np.asarray(observations)
        if len(given) != self.states.size:
            return super().actions(given)  # which says what is wrong
        if self._begins.any():
            new = np.flatnonzero(self._begins)
            rewards = self.planned(given[new])
            if self._rewards.shape[1:] != rewards.shape[1:]:
                self._rewards = np.empty((len(given), *rewards.shape[1:]))
            self._rewards[new] = rewards
            self._begins = np.zeros(len(given), np.bool_)
        pays = self._rewards[np.arange(len(given)), self.states]
        return greedy(self._returns(given) + pays[:, :, None], self._scale)

    def first_actions(self, observations: Any) -> LongArray:
        """The actions where every episode just begins."""
        return greedy(self._first(np.asarray(observations)), self._scale)

    def value(self, observations: NDArray[Any], u: int | None = None) -> Array:
        """[B], V in the layouts of these observations."""
        q_bar = self._first(observations, u)
        best: Array = q_bar.reshape(len(q_bar), -1).max(axis=1)
        return best

    def _first(self, observations: NDArray[Any], u: int | None = None) -> Array:
        pays = self.planned(observations)[:, self.labelled.automaton.start if u is None else u]
        return self._returns(observations) + pays[:, :, None]

    def planned(self, observations: NDArray[Any]) -> Array:
        """[B, U, G], what goals pay in the layouts of some observations."""
        seen = self._standing(observations)
        if seen is None:
            raise ValueError("this environment does not say what is seen on the goals of a layout")
        n, n_goals = seen.shape[:2]
        between = self._returns(seen.reshape(n * n_goals, *seen.shape[2:])).max(axis=2)
        between = np.minimum(between, 0.0).reshape(n, n_goals, n_goals)
        return np.stack(
            [
                goal_rewards(
                    values_to_come(each, self.labelled, self._success, self._entry),
                    self.labelled,
                    self._entry,
                )
                for each in between
            ]
        )

    def _returns(self, observations: NDArray[Any]) -> Array:
        parts = [
            np.asarray(self._reach.returns(observations[i : i + BLOCK]), np.float64)
            for i in range(0, len(observations), BLOCK)
        ]
        return np.concatenate(parts)

    def in_state(self, u: int, observations: NDArray[Any]) -> NDArray[Any]:
        """Not without the layouts of the episodes."""
        raise NotImplementedError("the actions of a layout depend on how its episode began")
