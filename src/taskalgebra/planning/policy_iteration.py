"""Stochastic shortest paths by policy iteration (Howard 1960), with bounds that are verified.

Repeated backups need as many sweeps as episodes have steps.  Policy iteration needs a few linear
systems, however long episodes are.  What it finds is not trusted but tested.  Over proper policies,

- U is at least the optimum if it does not rise:  r(s, a) + Σ p (U(s') − U(s)) ≤ 0 for all a;
- L is at most the value of a proper policy π, and so of the optimum, if it does not fall under π:
  r(s, π(s)) + Σ p (L(s') − L(s)) ≥ 0.

L and U come from the same world with every step paid η(s) less, or more: that leaves room for the
errors of the linear systems and of these sums.  Their distance is about 2η added up over an
episode, an honest bound also where a system is nearly singular.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.worlds.finite import FiniteMDP

LARGEST_SYSTEM = 2_000
"""States up to which linear systems are solved: some 30 MB each, and a fraction of a second."""
MOST_POLICIES = 200
"""Policies to try; a dozen are usual."""
MOST_ROOMS = 20
"""How often η is made four times as large where that is not enough."""
EPSILON = float(np.finfo(np.float64).eps)
Best = tuple[LongArray, Array]
"""The policy that policy iteration found, and its value, per node."""


class ConvergenceError(ValueError):
    """The bounds on the optimum did not meet."""


def chain_values(row: LongArray, column: LongArray, p: Array, reward: Array, end: Array) -> Array:
    """[N], the sum of rewards from each of N states of a chain up to its end; NaN if singular.

    Outcomes lead from `row` to `column` with probability p; states N, N + 1, … end it and pay
    `end`.
    """
    n = reward.size
    # 1 − p(stay) as the sum of what leaves: nothing is lost where almost nothing leaves.
    away = column != row
    row, column, p = row[away], column[away], p[away]
    matrix = np.zeros((n, n + end.size))
    np.subtract.at(matrix, (row, column), p)
    matrix[np.arange(n), np.arange(n)] += np.bincount(row, p, minlength=n)
    right: Array = reward - matrix[:, n:] @ end
    found = np.full(n, np.nan)
    with suppress(np.linalg.LinAlgError):
        found[:] = np.linalg.solve(matrix[:, :n], right)
    return found


@dataclass(frozen=True)
class Choices:
    """The actions that a policy may take; states joined by moves at no cost are one node."""

    node: IntArray  # [S], the node of a state; −1 where no policy is proper
    n_live: int  # nodes that are not goals; goals come after them, in their order
    owner: LongArray  # [C], the node of each choice
    reward: Array  # [C]
    row: LongArray  # the choice of each outcome
    successor: LongArray  # the node of each outcome
    probability: Array  # of each outcome

    @classmethod
    def of(cls, mdp: FiniteMDP, reward: Array, allowed: BoolArray, component: IntArray) -> Choices:
        """From rewards `[S, A]`, the pairs `[S·A]` that may be chosen, and who belongs together."""
        live = mdp.ending & ~mdp.is_goal
        key = np.where(component >= 0, mdp.n_states + component, np.arange(mdp.n_states))
        node = np.full(mdp.n_states, -1, np.int32)
        first, inverse = np.unique(key[live], return_inverse=True)
        node[live] = inverse
        node[mdp.goals] = first.size + np.arange(mdp.n_goals)
        pairs = np.flatnonzero(allowed & np.repeat(live, mdp.n_actions))
        counts = mdp.offset[pairs + 1] - mdp.offset[pairs]
        row = np.repeat(np.arange(pairs.size), counts)
        start = np.repeat(mdp.offset[pairs] - np.cumsum(counts) + counts, counts)
        outcome = start + np.arange(counts.sum())
        return cls(
            node,
            first.size,
            node[pairs // mdp.n_actions].astype(np.int64),
            reward.ravel()[pairs],
            row,
            node[mdp.successor[outcome]].astype(np.int64),
            mdp.probability[outcome],
        )

    def advantage(self, values: Array) -> tuple[Array, Array]:
        """R + Σ p (V(s') − V(s)) of each choice, and a bound on the rounding error of the sum.

        The bound also covers probabilities that add up to one only nearly.
        """
        moved = self.probability * (values[self.successor] - values[self.owner[self.row]])
        n = self.owner.size
        summed = self.reward + np.bincount(self.row, moved, n)
        size = np.abs(self.reward) + np.bincount(self.row, np.abs(moved), n)
        terms = np.bincount(self.row, minlength=n) + 4.0
        error: Array = (terms * EPSILON * size).astype(np.float64)
        return summed, error

    def value(self, chosen: LongArray, extra: Array, terminal: Array) -> Array:
        """[N], the value of a policy with `extra[N]` for every step, by a linear system."""
        place = np.full(self.owner.size, -1)
        place[chosen] = np.arange(self.n_live)
        taken = place[self.row] >= 0
        row, column, p = place[self.row[taken]], self.successor[taken], self.probability[taken]
        right = self.reward[chosen] + extra
        return np.concatenate([chain_values(row, column, p, right, terminal), terminal])

    def room(self, chosen: LongArray, values: Array) -> Array:
        """[N], what the errors of a policy's values may change at a step: theirs, and rounding."""
        here, there = self.owner[self.row], self.successor
        size = np.abs(values[here]) + np.abs(values[there])
        held = np.bincount(self.row, np.where(here != there, self.probability * size, 0.0))
        gain, error = self.advantage(values)
        found: Array = (4 * (np.abs(gain) + error) + 2 * EPSILON * held)[chosen]
        return found

    def of_states(self, values: Array) -> Array:
        """[S], the values of nodes for their states; −∞ where no policy is proper."""
        return np.where(self.node >= 0, values[self.node], -np.inf)

    def proper(self) -> LongArray:
        """[N], a policy that ends: each step may lead one step closer to a goal."""
        chosen = np.full(self.n_live, -1)
        near = np.arange(self.node.max() + 1) >= self.n_live
        while (chosen < 0).any():
            useful = np.bincount(self.row, near[self.successor], self.owner.size) > 0
            useful &= chosen[self.owner] < 0
            choice = np.flatnonzero(useful)[::-1]
            chosen[self.owner[choice]] = choice  # of several the first
            near[: self.n_live] = chosen >= 0
        return chosen

    def ends(self, chosen: LongArray) -> bool:
        """Whether a policy ends from everywhere."""
        taken = np.isin(self.row, chosen)
        row, column = self.owner[self.row[taken]], self.successor[taken]
        near = np.arange(self.node.max() + 1) >= self.n_live
        while True:
            grown = near.copy()
            grown[row[near[column]]] = True
            if np.array_equal(grown, near):
                return bool(near.all())
            near = grown

    def best(self, terminal: Array) -> Best:
        """Policy iteration from a policy that ends."""
        return self.improved(self.proper(), np.zeros(self.n_live), terminal)

    def improved(self, chosen: LongArray, extra: Array, terminal: Array) -> Best:
        """Policy iteration: the last policy and its value; gains below `extra` / 4 do not count."""
        values = self.value(chosen, extra, terminal)
        for _ in range(MOST_POLICIES):
            gain, error = self.advantage(values)
            order = np.lexsort((-gain, self.owner))
            best = order[np.searchsorted(self.owner[order], np.arange(self.n_live))]
            least = extra / 4 + error[best] + error[chosen]
            better = gain[best] > np.maximum(gain[chosen], -extra) + least
            if not better.any():
                break
            chosen = np.where(better, best, chosen)
            values = self.value(chosen, extra, terminal)
        return chosen, values


def verified_lower(choices: Choices, best: Best, terminal: Array) -> Array:
    """[S], a verified bound L ≤ V* on the optimum over proper policies.

    Raises:
        ConvergenceError: episodes are so long that float64 cannot hold the bound.
    """
    policy, values = best
    room = choices.room(policy, values)
    if choices.ends(policy):
        for _ in range(MOST_ROOMS):
            lower = choices.value(policy, -room, terminal)
            gain, error = choices.advantage(lower)
            if (gain[policy] >= error[policy]).all():
                return choices.of_states(lower)
            room = 4 * room
    raise ConvergenceError(
        "episodes of this world are too long: rounding errors hide their number of steps; let its "
        "rarest outcomes be likelier"
    )


def verified_upper(choices: Choices, best: Best, terminal: Array) -> Array | None:
    """[S], a verified bound U ≥ V* on the optimum over proper policies; None if none was found.

    With η more for every step, a cycle that costs less than η would earn; then there is none.
    """
    policy, values = best
    room = choices.room(policy, values)
    for _ in range(MOST_ROOMS):
        _, upper = choices.improved(policy, room, terminal)
        gain, error = choices.advantage(upper)
        if (gain <= -error).all():
            return choices.of_states(upper)
        room = 4 * room
    return None
