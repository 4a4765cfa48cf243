"""How far states are from goals in a stochastic world, to put them in order.

An edge leads from s to every s' that may follow it.  Its weight is cost(s, a) / p(s' | s, a), what
it costs to try a until that outcome comes, for the best such a.
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel


@kernel
def backwards(
    offset: LongArray, successor: IntArray, probability: Array, cost: Array, allowed: BoolArray
) -> tuple[LongArray, IntArray, Array]:
    """The edges from s to s' ≠ s, by s', with the least cost(s, a) / p(s' | s, a) as their weight.

    Only pairs that are allowed count.
    """
    n_states, n_actions = cost.shape
    into = np.zeros(n_states + 1, np.int64)
    last = np.full(n_states, -1, np.int64)
    for s in range(n_states):
        for pair in range(s * n_actions, (s + 1) * n_actions):
            if allowed[pair]:
                for k in range(offset[pair], offset[pair + 1]):
                    t = successor[k]
                    if t != s and last[t] != s:
                        last[t] = s
                        into[t + 1] += 1
    for s in range(n_states):
        into[s + 1] += into[s]
    source = np.empty(into[n_states], np.int32)
    weight = np.empty(into[n_states])
    cursor = into[:-1].copy()
    last[:] = -1
    for s in range(n_states):
        for a in range(n_actions):
            pair = s * n_actions + a
            if allowed[pair]:
                for k in range(offset[pair], offset[pair + 1]):
                    t = successor[k]
                    if t != s:
                        tried = cost[s, a] / probability[k]
                        if last[t] != s:
                            last[t] = s
                            source[cursor[t]], weight[cursor[t]] = s, tried
                            cursor[t] += 1
                        elif tried < weight[cursor[t] - 1]:
                            weight[cursor[t] - 1] = tried
    return into, source, weight


def by_distance(
    into: LongArray, source: IntArray, weight: Array, goals: IntArray, begin: Array
) -> tuple[IntArray, Array, float]:
    """The states that are no goals from near to far; all distances `[S]`; a typical step."""
    order, far, step = _dijkstra(into, source, weight, goals, begin)
    return order, far, float(np.median(step[order])) if order.size else 0.0


@kernel
def _dijkstra(
    into: LongArray, source: IntArray, weight: Array, goals: IntArray, begin: Array
) -> tuple[IntArray, Array, Array]:
    """From all goals at once, each with its own distance to begin with, in an indexed heap."""
    n_states = into.size - 1
    far = np.full(n_states, np.inf)
    step = np.zeros(n_states)
    place = np.full(n_states, -1, np.int32)
    heap = np.empty(n_states, np.int32)
    order = np.empty(n_states, np.int32)
    is_goal = np.zeros(n_states, np.bool_)
    size = n_order = 0
    for i in range(goals.size):
        far[goals[i]] = begin[i]
        is_goal[goals[i]] = True
        size = _rise(heap, place, far, goals[i], size)
    while size > 0:
        t = heap[0]
        size -= 1
        if size > 0:
            _sink(heap, place, far, heap[size], size)
        if not is_goal[t]:
            order[n_order] = t
            n_order += 1
        for k in range(into[t], into[t + 1]):
            s = source[k]
            through = far[t] + weight[k]
            if through < far[s] and not is_goal[s]:
                far[s], step[s] = through, weight[k]
                size = _rise(heap, place, far, s, size)
    return order[:n_order].copy(), far, step


@kernel
def _rise(heap: IntArray, place: IntArray, key: Array, s: int, size: int) -> int:
    """Put a state into the heap, or move it up; the new size."""
    hole = place[s]
    if hole < 0:
        hole = size
        size += 1
    while hole > 0:
        parent = (hole - 1) // 4
        if key[heap[parent]] <= key[s]:
            break
        heap[hole] = heap[parent]
        place[heap[hole]] = hole
        hole = parent
    heap[hole] = s
    place[s] = hole
    return size


@kernel
def _sink(heap: IntArray, place: IntArray, key: Array, s: int, size: int) -> None:
    """Let a state sink from the root."""
    hole = 0
    while True:
        child = 4 * hole + 1
        if child >= size:
            break
        best = child
        for other in range(child + 1, min(child + 4, size)):
            if key[heap[other]] < key[heap[best]]:
                best = other
        if key[heap[best]] >= key[s]:
            break
        heap[hole] = heap[best]
        place[heap[hole]] = hole
        hole = best
    heap[hole] = s
    place[s] = hole
