"""From extended values to actions: π(s) ∈ argmax_a max_g Q̄(s, g, a)  (Lemmas 1 and 2).

Ties are broken the same way everywhere: among the actions whose value is within a rounding error of
the best, the one with the lowest number.  So an agent for an expression, for a task and for values
built with operators take the same actions, although their values were rounded differently.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array
from taskalgebra.compiled import kernel
from taskalgebra.theory.extended import ExtendedQ

TIE = 1e-14
"""Values closer than TIE · max(1, |best|), some 50 rounding errors, are equal."""


def greedy(q_bar: Array) -> NDArray[np.int64]:
    """argmax_a max_g Q̄(s, g, a) for a batch `[B, G, A]`; of tied actions the first.

    >>> greedy(np.array([[[0.0, 1.0], [2.0, 2.0]]]))
    array([0])
    """
    if q_bar.ndim != 3:
        raise ValueError(
            f"Q̄ has shape {q_bar.shape}, expected [B, G, A]; "
            f"act takes one observation, actions takes a batch"
        )
    return _greedy(np.ascontiguousarray(q_bar, np.float64))


def greedy_towards(q_bar: Array, goal: int) -> NDArray[np.int64]:
    """argmax_a Q̄(s, g, a) for one goal g: the policy π*_g of Lemma 2."""
    return greedy(q_bar[:, goal : goal + 1, :])


@kernel
def first_best(q: Array, best: float) -> int:
    """The first of the actions whose value is the best, up to rounding errors."""
    enough = best - TIE * max(1.0, abs(best))
    for a in range(q.size):
        if q[a] >= enough:
            return a
    return 0


@kernel
def _greedy(q_bar: Array) -> NDArray[np.int64]:
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
        chosen[i] = first_best(q, best)
    return chosen


@final
class GreedyPolicy:
    """The greedy policy of an extended value function."""

    def __init__(self, values: ExtendedQ) -> None:
        """Act greedily on these values."""
        self.values = values

    def act(self, observation: ArrayLike) -> int:
        """The action for one observation: a state, an image, whatever the values are of."""
        return int(self.actions(np.asarray(observation)[None])[0])

    def actions(self, observations: ArrayLike) -> NDArray[np.int64]:
        """The actions for a batch of observations, `[B]`."""
        return greedy(self.values.q_bar(observations))
