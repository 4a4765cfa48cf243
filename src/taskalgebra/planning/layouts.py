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
from taskalgebra.planning.temporal import (
    FormulaPolicy,
    Labelled,
    dearest,
    goal_rewards,
    values_to_come,
    violations_in,
)
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.reach import DirectedReach, OfferedReach, Reach
from taskalgebra.worlds.finite import NO_GOAL

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
        avoided: BoolArray | None = None,
    ) -> None:
        """Take the returns to goals, and what is seen on goals.

        Args:
            labelled: the automaton.
            reach: the returns to goals.
            standing: what is seen on goals.
            success: what is paid when the automaton accepts.
            scale: the size of the largest reward.
            entry: `[G]`, what entering goals pays, if the returns leave that out.
            avoided: `[G]`, goals that are entered as seldom as possible.

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
        self._entry = np.zeros(labelled.letter.size) if entry is None else entry
        self._avoided = np.zeros(labelled.letter.size, np.bool_) if avoided is None else avoided
        self._begins: BoolArray = np.ones(1, np.bool_)
        self._moved: BoolArray = np.zeros(1, np.bool_)  # where the last step entered a goal
        self._rewards: Array = np.empty((1, 0, 0))  # [B, U, G]
        self._seen: NDArray[Any] = np.empty(0)  # [B, G, ...], on which the rewards were planned

    def reset(self, begins: BoolArray) -> None:
        """Where an episode begins, its layout is looked at with the next observation."""
        super().reset(begins)
        n = self.states.size
        if n != self._begins.size:
            self._begins, self._moved = np.ones(n, np.bool_), np.zeros(n, np.bool_)
        self._begins = self._begins | begins

    def observe(self, goals: LongArray) -> None:
        """Where a goal was entered, objects may have moved, and the layout is looked at again."""
        super().observe(goals)
        self._moved = self._moved | (goals != NO_GOAL)

    def actions(self, observations: Any) -> LongArray:
        """Greedy actions for Q̄(s, g, a) = G(s:g, a) + r_u(g), with the r_u of each episode."""
        given = np.asarray(observations)
        if len(given) != self.states.size:
            return super().actions(given)  # which says what is wrong
        looked = np.flatnonzero(self._begins | self._moved)
        if looked.size:
            self._look(given, looked)
            self._begins, self._moved = np.zeros((2, len(given)), np.bool_)
        pays = self._rewards[np.arange(len(given)), self.states]
        return greedy(self._returns(given) + pays[:, :, None], self._scale)

    def _look(self, given: NDArray[Any], looked: LongArray) -> None:
        """Plan where an episode begins, or goals are seen to lie elsewhere."""
        seen = self._on_goals(given[looked])
        if len(self._rewards) != len(given) or not self._rewards.size:
            n_states = self.labelled.automaton.n_states
            self._rewards = np.empty((len(given), n_states, seen.shape[1]))
            self._seen = np.empty((len(given), *seen.shape[1:]), seen.dtype)
        same = (seen == self._seen[looked]).reshape(len(looked), -1).all(axis=1)
        new = self._begins[looked] | ~same
        if new.any():
            where = looked[new]
            self._seen[where] = seen[new]
            self._rewards[where], _ = self._planned(given[where], seen[new])

    def first_actions(self, observations: Any) -> LongArray:
        """The actions where every episode just begins."""
        return greedy(self._first(np.asarray(observations)), self._scale)

    def value(self, observations: NDArray[Any], u: int | None = None) -> Array:
        """[B], V in the layouts of these observations."""
        q_bar = self._first(observations, u)
        best: Array = q_bar.reshape(len(q_bar), -1).max(axis=1)
        return best

    def violations(self, observations: NDArray[Any]) -> LongArray:
        """[B], the fewest avoided goals on a way from there; −1 for no way."""
        rewards, toll = self._planned(observations, self._on_goals(observations))
        q_bar = self._returns(observations) + rewards[:, self.labelled.automaton.start][..., None]
        best = q_bar.reshape(len(q_bar), -1).max(axis=1)
        return violations_in(self._success - best, toll, self._avoided.size)

    def _first(self, observations: NDArray[Any], u: int | None = None) -> Array:
        rewards, _ = self._planned(observations, self._on_goals(observations))
        pays = rewards[:, self.labelled.automaton.start if u is None else u]
        return self._returns(observations) + pays[:, :, None]

    def _on_goals(self, observations: NDArray[Any]) -> NDArray[Any]:
        """[B, G, ...], what is seen on the goals of the layouts of some observations."""
        seen = self._standing(observations)
        if seen is None:
            raise ValueError("this environment does not say what is seen on the goals of a layout")
        return seen

    def between(self, observations: NDArray[Any]) -> Array:
        """[B, G, G], the returns between goals in the layouts of some observations."""
        return self._between(self._on_goals(observations))

    def _between(self, seen: NDArray[Any]) -> Array:
        n, n_goals = seen.shape[:2]
        returns = self._returns(seen.reshape(n * n_goals, *seen.shape[2:])).max(axis=2)
        between: Array = np.minimum(returns, 0.0).reshape(n, n_goals, n_goals)
        return between

    def _planned(self, observations: NDArray[Any], seen: NDArray[Any]) -> tuple[Array, Array]:
        """[B, U, G], what goals pay in some layouts, and [B], what a violation costs there."""
        between = self._between(seen)
        rewards, tolls = [], np.zeros(len(between))
        if self._avoided.any():
            ahead = self._returns(observations)
            ahead = np.where(ahead > -np.inf, ahead, 0.0).min(axis=(1, 2))
            pairs = zip(between, ahead.tolist(), strict=True)
            tolls = np.array([dearest(*pair) for pair in pairs])
        for each, toll in zip(between, tolls, strict=True):
            paid = self._entry - toll * self._avoided
            to_come = values_to_come(each, self.labelled, self._success, paid)
            rewards.append(goal_rewards(to_come, self.labelled, paid))
        return np.stack(rewards), tolls

    def _returns(self, observations: NDArray[Any]) -> Array:
        parts = [
            np.asarray(self._reach.returns(observations[i : i + BLOCK]), np.float64)
            for i in range(0, len(observations), BLOCK)
        ]
        return np.concatenate(parts)

    def in_state(self, u: int, observations: NDArray[Any]) -> NDArray[Any]:
        """Not without the layouts of the episodes."""
        raise NotImplementedError("the actions of a layout depend on how its episode began")
