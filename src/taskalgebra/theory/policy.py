"""From extended values to actions: π(s) ∈ argmax_a max_g Q̄(s, g, a)  (Lemmas 1 and 2).

Ties are broken the same way everywhere: among the actions whose value is within a rounding error of
the best, the one with the lowest number.  So agents for an expression, for a task and for values
built with operators take the same actions, although their values were rounded differently.

A value G + r_M(g) is rounded in proportion to the rewards that it is made of, not to itself: twenty
steps of −0.1 and a goal of 2 add up to 0 ± 4e-16.  So what counts as a rounding error is measured
by the larger of |best| and the largest reward of the task space, and a change of the unit in which
rewards are counted changes no action.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.content import Travels
from taskalgebra.theory.reach import DirectedReach, OfferedReach
from taskalgebra.theory.rounding import TIE
from taskalgebra.theory.tables import as_states
from taskalgebra.theory.values import ExtendedQ
from taskalgebra.validation import checked_actions


def greedy(q_bar: Array, scale: float = 1.0) -> LongArray:
    """argmax_a max_g Q̄(s, g, a) for a batch `[B, G, A]`; of tied actions the first.

    `scale` is the size of the largest reward, `space.reward_scale`; about 1 in the paper.

    >>> greedy(np.array([[[0.0, 1.0], [2.0, 2.0]]]))
    array([0])
    """
    if q_bar.ndim != 3:
        raise ValueError(
            f"Q̄ has shape {q_bar.shape}, expected [B, G, A]: one row per observation of a batch"
        )
    return _greedy(np.ascontiguousarray(q_bar, np.float64), float(scale))


def greedy_towards(q_bar: Array, goal: int, scale: float = 1.0) -> LongArray:
    """argmax_a Q̄(s, g, a) for one goal g: the policy π*_g of Lemma 2."""
    return greedy(q_bar[:, goal : goal + 1, :], scale)


@kernel
def first_best(q: Array, best: float, scale: float) -> int:
    """The first action whose value is the best, up to rounding errors."""
    enough = best - TIE * max(scale, abs(best))
    for a in range(q.size):
        if q[a] >= enough:
            return a
    return 0


@kernel
def _greedy(q_bar: Array, scale: float) -> LongArray:
    n_batch, n_goals, n_actions = q_bar.shape
    chosen = np.empty(n_batch, np.int64)
    q = np.empty(n_actions)
    for i in range(n_batch):
        best = -np.inf
        for a in range(n_actions):
            q[a] = -np.inf
            for g in range(n_goals):
                q[a] = max(q[a], q_bar[i, g, a])
            best = max(best, q[a])
        chosen[i] = first_best(q, best, scale)
    return chosen


def _of_axes(n: int) -> str:
    """What one observation of this many axes is, for a message."""
    one = f"an array of {n} axes" if n else "one number"
    return f"here one observation is {one}, and a batch has one axis more"


def _of_nan(observations: NDArray[Any], n_batch_axes: int) -> str:
    """What is said of observations that are no numbers."""
    if not n_batch_axes:
        return f"the observation {observations!r} has NaN in it; expected numbers"
    wrong = np.isnan(observations).reshape(len(observations), -1).any(axis=1)
    return (
        f"{wrong.sum()} of the {wrong.size} observations have NaN in them, the first at position "
        f"{wrong.argmax()}; expected numbers"
    )


class Policy(Travels, ABC):
    """From observations to actions, for one episode or for a batch of them.

    A policy may have a memory.  `reset` says where new episodes begin; the next `actions` is for
    the same batch.
    """

    observation_ndim = 0
    """Axes of one observation; a batch has one more."""

    @abstractmethod
    def actions(self, observations: Any) -> NDArray[Any]:
        """The actions for a batch of observations, one each."""

    def reset(self, begins: BoolArray) -> None:
        """Episodes begin at these positions of the batch, `[B]`; by default there is no memory."""
        return

    def observe(self, goals: LongArray) -> None:
        """The last step entered these goals, `[B]`, −1 for none; by default there is no memory."""
        return

    def first_actions(self, observations: Any) -> NDArray[Any]:
        """The actions where every episode of the batch just begins; no memory is touched."""
        return self.actions(observations)

    @final
    def act(self, observations: Any) -> Any:
        """The action for one observation, or the actions for a batch of them."""
        n = self.observation_ndim
        try:
            given = np.asarray(observations)
        except ValueError:  # lists of different lengths
            raise ValueError(f"observations have no common shape; {_of_axes(n)}") from None
        if given.ndim != n and given.ndim != n + 1:
            raise ValueError(f"observations have shape {given.shape}; {_of_axes(n)}")
        if given.dtype.kind == "f" and np.isnan(given).any():
            raise ValueError(_of_nan(given, given.ndim - n))
        if given.ndim == n + 1:
            return self.actions(given)
        action = self.actions(given[None])[0]
        return int(action) if np.ndim(action) == 0 and action.dtype.kind in "iu" else action


@final
class GreedyPolicy(Policy):
    """The greedy policy of an extended value function."""

    def __init__(
        self, values: ExtendedQ, shortcut: Callable[[Any], LongArray] | None = None
    ) -> None:
        """Act greedily on these values; a shortcut finds the same actions without Q̄."""
        self.values = values
        self.observation_ndim = values.bounds.observation_ndim
        self._shortcut = shortcut

    def actions(self, observations: Any) -> LongArray:
        """argmax_a max_g Q̄(s, g, a) for a batch of observations, `[B]`."""
        if self._shortcut is not None:
            return self._shortcut(observations)
        return greedy(self.values.q_bar(observations), self.values.space.reward_scale)


@final
class TablePolicy(Policy):
    """One action for every state of a finite world."""

    def __init__(self, table: LongArray) -> None:
        """Take the actions, `[S]`."""
        self.table = table

    def actions(self, observations: Any) -> LongArray:
        """Those of these states, `[B]`."""
        chosen: LongArray = self.table[as_states(observations, self.table.size)]
        return chosen


@final
class DirectedPolicy(Policy):
    """Chooses the goal by the values of the task, and leaves the way there to a reach.

    By Lemma 2 all tasks share the way to a goal: g* = argmax_g V̄(s, g), then `act` towards g*.
    """

    def __init__(self, values: ExtendedQ, reach: DirectedReach) -> None:
        """Take the values `[B, G, 1]` of a task, and the reach that knows the ways."""
        self.values, self.reach = values, reach
        self.observation_ndim = reach.observation_ndim

    def actions(self, observations: Any) -> NDArray[Any]:
        """The reach's own actions towards the best goal of each observation."""
        scale = self.values.space.reward_scale
        goals = greedy(self.values.q_bar(observations).swapaxes(1, 2), scale)
        given = np.asarray(observations)
        parts = []
        for goal in np.unique(goals):
            where = np.flatnonzero(goals == goal)
            actions = np.asarray(self.reach.act(given[where], int(goal)))
            if not actions.ndim or len(actions) != len(where):
                raise ValueError(
                    f"{type(self.reach).__name__}.act gave {actions!r} for {len(where)} "
                    f"observations; expected an array with one action each"
                )
            if actions.ndim == 1 and actions.dtype.kind in "iu":
                checked_actions(actions, len(where), self.values.space.action_names)
            parts.append((where, actions))
        if not parts:
            return np.empty(0, np.int64)
        order = np.concatenate([where for where, _ in parts])
        found: NDArray[Any] = np.concatenate([actions for _, actions in parts])
        return found[np.argsort(order)]


@final
class OfferedPolicy(Policy):
    """Greedy over the actions that a reach offers: argmax_a max_g Q̄(s, g, a), the action itself."""

    def __init__(self, values: ExtendedQ, reach: OfferedReach) -> None:
        """Take the values `[B, G, A]` of a task, and the reach that offers the actions."""
        self.values, self.reach = values, reach
        self.observation_ndim = reach.observation_ndim

    def actions(self, observations: Any) -> NDArray[Any]:
        """The best action on offer in each observation."""
        q_bar = self.values.q_bar(observations)
        offers = np.asarray(self.reach.offers(observations))
        if offers.ndim < 2 or offers.shape[:2] != (len(q_bar), q_bar.shape[-1]):
            raise ValueError(
                f"{type(self.reach).__name__}.offers gave an array of shape {offers.shape}, "
                f"expected {[len(q_bar), q_bar.shape[-1], '...']}: for each observation the "
                f"actions whose values `returns` gives"
            )
        best = greedy(q_bar, self.values.space.reward_scale)
        chosen: NDArray[Any] = offers[np.arange(len(best)), best]
        if chosen.ndim == 1 and chosen.dtype.kind in "iu":
            checked_actions(chosen, len(best), self.values.space.action_names)
        return chosen
