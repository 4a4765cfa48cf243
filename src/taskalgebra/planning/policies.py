"""What one policy of a finite world is worth, exactly, and how a policy is made to end.

A policy is one action per state, `[S]`.  Its values solve V(s) = r(s, π(s)) + Σ p V(s'), with the
terminal rewards in goals, and −∞ where π may never end.  A goal that pays −∞ must not be entered:
to end there is not to end.  In a deterministic world rewards are added up along paths.  Otherwise a
small system is solved directly, and a large one by sweeps over the states, those nearest to goals
first (Gauss and Seidel): an action that works leads there, so that few sweeps are enough where
accidents are rare.  Very large ones are swept in waves (`planning.waves`).
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IndexArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.planning.policy_iteration import (
    EPSILON,
    LARGEST_SYSTEM,
    ConvergenceError,
    chain_values,
)
from taskalgebra.planning.waves import LARGE, TOO_LONG, evaluate
from taskalgebra.worlds import graph
from taskalgebra.worlds.finite import FiniteMDP

MOST_SWEEPS = 100_000
"""Sweeps after which a policy of a large world is given up."""
AT_ONCE = 2**25
"""Outcomes that a compiled loop looks at before it returns, so that Ctrl-C is heard."""


def transitions(mdp: FiniteMDP, actions: LongArray) -> tuple[LongArray, IntArray, LongArray]:
    """The possible transitions of a policy: from, to, and the number of the outcome."""
    pair = np.arange(mdp.n_states) * mdp.n_actions + actions
    counts = mdp.offset[pair + 1] - mdp.offset[pair]
    row = np.repeat(np.arange(mdp.n_states), counts)
    first = np.repeat(mdp.offset[pair] - np.cumsum(counts) + counts, counts)
    outcome = first + np.arange(counts.sum())
    return row, mdp.successor[outcome], outcome


def may_miss(row: LongArray, column: IntArray, goals: IntArray, n_states: int) -> BoolArray:
    """[S], whether a policy, given by its possible transitions, may never reach a goal."""
    order = np.argsort(column, kind="stable")
    offset = np.searchsorted(column[order], np.arange(n_states + 1)).astype(np.uint32)
    state = row[order].astype(np.uint32)
    lost = ~graph.can_reach(offset, state, goals)
    return graph.can_reach(offset, state, np.flatnonzero(lost).astype(np.int32))


def policy_values(mdp: FiniteMDP, steps: Array, terminal: Array, actions: LongArray) -> Array:
    """[S], V^π; −∞ where π may never end.

    Args:
        mdp: the world.
        steps: `[S, A]`, what steps pay.
        terminal: `[G]`, what goals pay.
        actions: `[S]`, π.

    Raises:
        ConvergenceError: in a stochastic world, episodes are too long for float64.
    """
    row, column, outcome = transitions(mdp, actions)
    proper = ~may_miss(row, column, mdp.goals[terminal > -np.inf], mdp.n_states)
    live = np.flatnonzero(proper & ~mdp.is_goal)
    values = np.full(mdp.n_states, -np.inf)
    values[mdp.goals] = terminal
    if mdp.deterministic:
        values[live] = _follow(column, steps, actions, values, live)
        return values
    if live.size > LARGEST_SYSTEM:
        swept(mdp, steps, actions, live, values)
        return values
    place = np.full(mdp.n_states, -1)
    place[live], place[mdp.goals] = np.arange(live.size), live.size + np.arange(mdp.n_goals)
    taken = (proper & ~mdp.is_goal)[row]
    start, end, p = place[row[taken]], place[column[taken]], mdp.probability[outcome[taken]]
    ends = np.where(terminal > -np.inf, terminal, 0.0)  # no live state leads to the others
    values[live] = chain_values(start, end, p, steps[live, actions[live]], ends)
    if np.isnan(values).any():
        raise ConvergenceError(TOO_LONG)
    return values


def swept(
    mdp: FiniteMDP,
    steps: Array,
    actions: LongArray,
    live: LongArray,
    values: Array,
    most_sweeps: int = MOST_SWEEPS,
) -> int:
    """Fill in V^π of the live states by sweeps, from what stands there if that is finite.

    Returns the number of sweeps.

    Raises:
        ConvergenceError: it takes more than `most_sweeps`.
    """
    if live.size >= LARGE:
        return evaluate(mdp, steps, actions, live, values, most_sweeps)
    values[live] = np.where(np.isfinite(values[live]), values[live], 0.0)
    order = live[np.argsort(_depth(mdp, actions)[live], kind="stable")]
    at_once = max(1, AT_ONCE // max(1, live.size))
    of = (mdp.offset, mdp.successor, mdp.probability, steps, actions, order, values)
    for first in range(0, most_sweeps, at_once):
        n, still = _sweep(*of, 8 * EPSILON, min(at_once, most_sweeps - first))
        if still:
            return first + n
    raise ConvergenceError(TOO_LONG)


def _depth(mdp: FiniteMDP, actions: LongArray) -> IntArray:
    """[S], the fewest steps in which a policy may reach a goal; −1 if never."""
    row, column, _ = transitions(mdp, actions)
    order = np.argsort(column, kind="stable")
    offset = np.searchsorted(column[order], np.arange(mdp.n_states + 1)).astype(np.uint32)
    return _layers(offset, row[order].astype(np.uint32), mdp.goals)


@kernel
def _layers(offset: IndexArray, state: IndexArray, goals: IntArray) -> IntArray:
    """Breadth first from all goals at once, backwards."""
    n_states = offset.size - 1
    depth = np.full(n_states, -1, np.int32)
    queue = np.empty(n_states, np.int64)
    head, tail = 0, 0
    for i in range(goals.size):
        depth[goals[i]] = 0
        queue[tail] = goals[i]
        tail += 1
    while head < tail:
        t = queue[head]
        head += 1
        for k in range(offset[t], offset[t + 1]):
            s = state[k]
            if depth[s] < 0:
                depth[s] = depth[t] + 1
                queue[tail] = s
                tail += 1
    return depth


@kernel
def _sweep(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    steps: Array,
    actions: LongArray,
    order: LongArray,
    values: Array,
    enough: float,
    most_sweeps: int,
) -> tuple[int, bool]:
    """V(s) ← (r + Σ_{s' ≠ s} p V(s')) / Σ_{s' ≠ s} p, in this order, until it stands still.

    That is, until no value changes by more than `enough` of the largest.  Returns the sweeps, and
    whether it does.
    """
    n_actions = steps.shape[1]
    n = 0
    still = False
    while n < most_sweeps and not still:
        n += 1
        change = largest = 0.0
        for i in range(order.size):
            s = order[i]
            pair = s * n_actions + actions[s]
            ahead, away = steps[s, actions[s]], 0.0
            for k in range(offset[pair], offset[pair + 1]):
                if successor[k] != s:
                    ahead += probability[k] * values[successor[k]]
                    away += probability[k]
            new = ahead / away
            change = max(change, abs(new - values[s]))
            largest = max(largest, abs(new))
            values[s] = new
        still = change <= enough * largest
    return n, still


@kernel
def _follow(
    next_of: IntArray, step_reward: Array, actions: LongArray, known: Array, live: LongArray
) -> Array:
    """Add up the rewards along the path of each state, up to a known value."""
    values = known.copy()
    path = np.empty(values.size, np.int64)
    for i in range(live.size):
        n = 0
        s = live[i]
        while values[s] == -np.inf:
            path[n] = s
            n += 1
            s = next_of[s]
        for k in range(n - 1, -1, -1):
            values[path[k]] = step_reward[path[k], actions[path[k]]] + values[s]
            s = path[k]
    return values[live]


def able(mdp: FiniteMDP, terminal: Array) -> BoolArray:
    """[S], whether some policy surely ends in a goal that does not pay −∞."""
    allowed = terminal > -np.inf
    if allowed.all():
        return mdp.ending
    if mdp.deterministic:
        offset, state, _ = mdp.predecessors
        return graph.can_reach(offset, state, mdp.goals[allowed])
    ends = np.zeros(mdp.n_states, np.bool_)
    ends[mdp.goals[allowed]] = True
    return graph.almost_surely(mdp.offset, mdp.successor, mdp.n_actions, ends)


def made_proper(mdp: FiniteMDP, terminal: Array, actions: LongArray) -> LongArray:
    """[S], a policy that ends wherever some policy does, and is π where π ends.

    Elsewhere each action may lead one step closer to where π ends, and never to where nothing does.
    """
    row, column, _ = transitions(mdp, actions)
    near = ~may_miss(row, column, mdp.goals[terminal > -np.inf], mdp.n_states)
    return actions if near.all() else _attracted(mdp, terminal, near, actions)


def some_proper(mdp: FiniteMDP, terminal: Array) -> LongArray:
    """[S], a policy that ends wherever one does: each action may lead one step closer to a goal."""
    near = np.isin(np.arange(mdp.n_states), mdp.goals[terminal > -np.inf])
    return _attracted(mdp, terminal, near, np.zeros(mdp.n_states, np.int64))


def _attracted(mdp: FiniteMDP, terminal: Array, near: BoolArray, actions: LongArray) -> LongArray:
    """A policy that leads from everywhere to where it is near already."""
    chosen = actions.copy()
    _attract(mdp.offset, mdp.successor, mdp.n_actions, able(mdp, terminal), near, chosen)
    return chosen


@kernel
def _attract(
    offset: LongArray,
    successor: IntArray,
    n_actions: int,
    ending: BoolArray,
    near: BoolArray,
    chosen: LongArray,
) -> None:
    """Choose actions that never leave `ending`, for states one step from `near`, then two, ….

    Of several that may lead one step closer, the first is chosen.
    """
    n_states = ending.size
    into, pair_of = graph.pairs_into(offset, successor, n_states)
    joined = near.copy()
    queue = np.empty(n_states, np.int64)
    first_action = np.full(n_states, n_actions, np.int64)
    head, tail = 0, 0
    for s in range(n_states):
        if near[s]:
            queue[tail] = s
            tail += 1
    while head < tail:
        layer = tail
        for i in range(head, layer):
            t = queue[i]
            for k in range(into[t], into[t + 1]):
                pair = np.int64(pair_of[k])
                source, a = pair // n_actions, pair % n_actions
                if near[source] or not ending[source] or a >= first_action[source]:
                    continue
                safe = True
                for j in range(offset[pair], offset[pair + 1]):
                    safe = safe and ending[successor[j]]
                if safe:
                    first_action[source] = a
                    if not joined[source]:
                        joined[source] = True
                        queue[tail] = source
                        tail += 1
        for i in range(layer, tail):
            near[queue[i]] = True
            chosen[queue[i]] = first_action[queue[i]]
        head = layer
