"""How far a policy is from the optimum at most, without planning the optimum.

Let R be what a policy earns, R = V^π.  An action gains over it, by one step, its advantage

    A(s, a) = r(s, a) + Σ p R(s') − R(s),      δ(s) = max_a A(s, a) ≥ 0.

One sweep over states and actions finds δ.  If δ = 0 everywhere, π is optimal everywhere.  Along
the optimal policy, V*(s) − R(s) = E[Σ_t A(s_t, a_t)].  Where every step costs at least c > 0, an
episode that starts in s has at most (r_U − R(s)) / c steps in expectation, so that

    V*(s) ≤ R(s) + max δ · (r_U − R(s)) / c,

with r_U the most that a goal pays, and V* ≤ r_U if no step gains.  That is wide, because it counts
every step as if it were the worst.  A few sweeps of U ← min{U, T U} make it narrow: T is monotone,
so that U stays a bound.  States are taken in the order of R, the best first, since good actions
lead to better states: then a sweep carries what it found at the goals all the way back, and only
slips have to wait for the next one.  In the limit U − R is the optimal value of the task that pays
the residual A, the correction C of Adamczyk et al. (2023), R ≤ V* ≤ R + C.

Where some step costs nothing, nothing bounds the length of an episode, and gains too small to be
told from rounding errors might add up: U then stays above R even where π is optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from taskalgebra.arrays import Array, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.planning.policies import able, made_proper, policy_values
from taskalgebra.worlds.finite import FiniteMDP

MOST_SWEEPS = 100
"""Sweeps of the upper bound."""
ENOUGH = 0.98
"""A sweep that leaves more than this share of the largest distance is the last."""
WORTH_COMPILING = 2**20
"""Outcomes from which advantages are computed by a compiled loop, in little memory."""
NOTHING = 1e-12
"""An advantage below this share of the largest reward or value is a rounding error."""


@final
@dataclass(frozen=True, eq=False)
class UpperBound:
    """An upper bound on V*, from a policy."""

    values: Array  # [S], U
    residual: float  # max δ, what one step could gain
    sweeps: int  # over states and actions, that of the residual included


def advantages(mdp: FiniteMDP, steps: Array, values: Array) -> Array:
    """[S, A], A(s, a) = r(s, a) + Σ p (V(s') − V(s)); 0 in goals, −∞ if a step may lead to −∞.

    Differences are added up, not values, so that little is lost where almost nothing leaves.
    """
    if mdp.successor.size >= WORTH_COMPILING:
        gain = np.empty(steps.shape)
        _advantages(mdp.offset, mdp.successor, mdp.probability, steps, values, gain)
        gain[mdp.goals] = 0.0
        return gain
    here = np.repeat(np.repeat(values, mdp.n_actions), np.diff(mdp.offset))
    with np.errstate(invalid="ignore"):  # −∞ − −∞
        moved = mdp.probability * np.where(
            mdp.successor == np.repeat(np.arange(steps.size) // mdp.n_actions, np.diff(mdp.offset)),
            0.0,
            values[mdp.successor] - here,
        )
    summed = np.add.reduceat(moved, mdp.offset[:-1]).reshape(steps.shape)
    gain = np.where(np.isnan(summed), -np.inf, steps + summed)
    gain[mdp.goals] = 0.0
    return gain


@kernel
def _advantages(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    steps: Array,
    values: Array,
    gain: Array,
) -> None:
    """Fill in A(s, a), without arrays of all outcomes."""
    n_states, n_actions = steps.shape
    for s in range(n_states):
        for a in range(n_actions):
            moved = 0.0
            for k in range(offset[s * n_actions + a], offset[s * n_actions + a + 1]):
                if successor[k] != s:
                    moved += probability[k] * (values[successor[k]] - values[s])
            gain[s, a] = -np.inf if np.isnan(moved) else steps[s, a] + moved


def upper_bound(
    mdp: FiniteMDP, steps: Array, terminal: Array, actions: LongArray, returns: Array | None = None
) -> UpperBound:
    """An upper bound on V*, from a policy, without planning.

    Args:
        mdp: the world.
        steps: `[S, A]`, what steps pay.
        terminal: `[G]`, what goals pay.
        actions: `[S]`, the policy.
        returns: `[S]`, its values, if they are known.
    """
    if returns is None:
        returns = policy_values(mdp, steps, terminal, actions)
    if (returns[able(mdp, terminal)] == -np.inf).any():
        returns = policy_values(mdp, steps, terminal, made_proper(mdp, terminal, actions))
    return upper_from(mdp, steps, terminal, returns, returns)


def upper_from(
    mdp: FiniteMDP, steps: Array, terminal: Array, guess: Array, lower: Array
) -> UpperBound:
    """An upper bound on V*, from a guess of it.

    Args:
        mdp: the world.
        steps: `[S, A]`, what steps pay.
        terminal: `[G]`, what goals pay.
        guess: `[S]`, what goals pay in goals, and anything finite where some policy ends.
        lower: `[S]`, a lower bound on V*, such as what a policy earns.

    Raises:
        ValueError: in a stochastic world, some step pays more than 0.
    """
    live = able(mdp, terminal) & ~mdp.is_goal
    if not live.any():
        return UpperBound(guess, 0.0, 1)
    residual = max(float(advantages(mdp, steps, guess)[live].max()), 0.0)
    most, cost = float(terminal.max()), float(-steps[live].max())
    if cost < 0 and not mdp.deterministic:
        raise ValueError(
            "some step pays more than 0; in a stochastic world there is then no bound: lower all "
            "step rewards"
        )
    if residual <= nothing(steps, terminal, guess[live]):
        if mdp.deterministic:
            return UpperBound(guess, 0.0, 1)
        if cost > 0:  # also a rounding error adds up over an episode
            upper = guess.copy()
            upper[live] += residual * np.maximum(most - lower[live], 0.0) / cost
            return UpperBound(upper, residual, 1)
    highest = most + max(-cost, 0.0) * mdp.n_states  # a path without a cycle, if steps may gain
    upper = np.where(live, highest, guess)
    if cost > 0:
        closer = guess[live] + residual * (most - lower[live]) / cost
        upper[live] = np.minimum(upper[live], np.maximum(closer, lower[live]))
    order = np.flatnonzero(live)
    order = order[np.argsort(-guess[order], kind="stable")]
    widest, sweeps = np.inf, 1
    of = (mdp.offset, mdp.successor, mdp.probability, steps)
    while sweeps < MOST_SWEEPS:
        _lower(*of, order, upper)
        sweeps += 1
        distance = float((upper[live] - lower[live]).max())
        if distance > ENOUGH * widest:
            break
        widest = distance
    upper[live] = np.maximum(upper[live], lower[live])  # whatever the rounding
    return UpperBound(upper, residual, sweeps)


def nothing(steps: Array, terminal: Array, values: Array) -> float:
    """The largest advantage that is but a rounding error."""
    sizes = (np.abs(each[np.isfinite(each)]).max(initial=0.0) for each in (steps, terminal, values))
    return NOTHING * float(max(sizes))


@kernel
def _lower(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    steps: Array,
    order: LongArray,
    upper: Array,
) -> None:
    """U(s) ← min{U(s), max_a r(s, a) + Σ p U(s')}, in place and in this order."""
    n_actions = steps.shape[1]
    for i in range(order.size):
        s = order[i]
        best = -np.inf
        for a in range(n_actions):
            pair = s * n_actions + a
            ahead = steps[s, a]
            for k in range(offset[pair], offset[pair + 1]):
                ahead += probability[k] * upper[successor[k]]
            best = max(best, ahead)
        upper[s] = min(upper[s], best)
