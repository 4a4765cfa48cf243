"""Exact values from a memory: every stored transition is replayed for every goal, backwards.

A plain form of prioritised sweeping (Moore and Atkeson 1993), for deterministic worlds and α = 1: a
state is replayed when the value of a successor has risen, first come first served.  Values start at
−∞ and only rise.  So they are right even if steps cost nothing, and stay −∞ if no goal was reached.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, IndexArray, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.learning.few_steps.kernels import NOWHERE, Memory

ROUNDING = 1e-12
"""A rise by less, relative to the largest reward or the value, does not count."""


@kernel
def replayed(
    memory: Memory,
    lane_goal: IntArray,
    r_bar_min: float,
    offset: IndexArray,
    source: IndexArray,
    edge: IndexArray,
    q: Array,
) -> int:
    """Replay the memory backwards from its goals, for every lane, until no value changes.

    V(s) starts at −∞ and rises to the best return over the stored transitions:

        V(s) ← max{V(s), r(s, a) + V(s')}    for each stored (s, a, r, s'), if V(s') has just risen

    A transition that ended an episode counts r(g) in the lanes of that goal and r̄_MIN in others.
    The goal of the lane itself comes first, since few values rise again after that.  Then
    q[s, a, lane] is r(s, a) + V(s'); pairs never tried are left unchanged.  `offset`, `source` and
    `edge` are the stored transitions by their successors.

    Returns:
        A state whose value rises forever, because a cycle of positive sum leads there; or NOWHERE.
    """
    v = np.empty(memory.met.size)
    rewards = memory.reward_of.ravel()
    scale = max(np.abs(rewards).max(), np.abs(memory.paid).max())
    for lane in range(lane_goal.size):
        v[:] = -np.inf
        for own in (True, False):
            rose = _rise_at_ends(memory, lane_goal[lane], own, memory.paid[lane], r_bar_min, v)
            rising = _spread_back(rose, offset, source, edge, rewards, scale, v)
            if rising != NOWHERE:
                return rising
        rising = _fill(
            memory, lane_goal[lane], memory.paid[lane], r_bar_min, scale, v, q[:, :, lane]
        )
        if rising != NOWHERE:
            return rising
    return NOWHERE


@kernel
def _rise_at_ends(
    memory: Memory, goal: int, own: bool, paid: Array, r_bar_min: float, v: Array
) -> NDArray[np.int64]:
    """Raise V where episodes ended in this goal or, if not `own`, in another; where it rose."""
    rose = np.empty(v.size, np.int64)
    n_rose = 0
    for s in range(v.size):
        held = v[s]
        for a in range(paid.size):
            end = memory.end_of[s, a]
            if memory.tried[s, a] > 0 and end >= 0 and (end == goal) == own:
                v[s] = max(v[s], paid[a] if own else r_bar_min)
        if v[s] > held:
            rose[n_rose] = s
            n_rose += 1
    return rose[:n_rose]


@kernel
def _fill(
    memory: Memory, goal: int, paid: Array, r_bar_min: float, scale: float, v: Array, q: Array
) -> int:
    """Q(s, a) = r(s, a) + V(s') for every pair that was tried; NOWHERE, or where V is too low.

    V is too low only where a step that stays in place pays: the backward search leaves those out.
    """
    for s in range(v.size):
        for a in range(paid.size):
            if memory.tried[s, a] > 0:
                end = memory.end_of[s, a]
                if end < 0:
                    q[s, a] = memory.reward_of[s, a] + v[memory.next_of[s, a]]
                else:
                    q[s, a] = paid[a] if end == goal else r_bar_min
                if q[s, a] > v[s] + ROUNDING * max(scale, abs(q[s, a])):
                    return s
    return NOWHERE


@kernel
def _spread_back(
    rose: NDArray[np.int64],
    offset: IndexArray,
    source: IndexArray,
    edge: IndexArray,
    rewards: Array,
    scale: float,
    v: Array,
) -> int:
    """Raise the predecessors of states that rose, and theirs, first come first served.

    Without a positive cycle no state has more turns than there are states; if one has, return it.
    """
    queue = np.empty(v.size + 1, np.int64)  # a ring
    waiting = np.zeros(v.size, np.bool_)
    head, tail = 0, rose.size
    for i in range(rose.size):
        queue[i] = rose[i]
        waiting[rose[i]] = True
    turns = np.zeros(v.size, np.int64)
    while head != tail:
        t = queue[head]
        head = head + 1 if head < v.size else 0
        waiting[t] = False
        for k in range(offset[t], offset[t + 1]):
            s, through = source[k], rewards[edge[k]] + v[t]
            if through > v[s] + ROUNDING * max(scale, abs(through)):
                v[s] = through
                if not waiting[s]:
                    waiting[s] = True
                    turns[s] += 1
                    if turns[s] > v.size:
                        return int(s)
                    queue[tail] = s
                    tail = tail + 1 if tail < v.size else 0
    return NOWHERE
