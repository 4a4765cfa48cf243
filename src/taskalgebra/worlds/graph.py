"""Graph kernels for planning and for the checks of assumptions.

A world is seen here as a directed graph.  `support[S, W]` lists the possible successors of each
state, over all actions; shorter rows are padded with the state itself.  Absorbing states have only
themselves.

Kernels release the interpreter lock, so that goals are searched on several threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IndexArray, IntArray, LongArray
from taskalgebra.compiled import kernel

UNREACHED = -1
_WORTH_A_THREAD = 200_000  # states x targets below which a thread costs more than it saves


class Predecessors(NamedTuple):
    """The reversed graph in compressed rows: predecessors of t are `state[offset[t]:offset[t+1]]`.

    `edge` holds the position of each edge in the flattened `support`, to look up a reward.
    Integers are unsigned, because numba then indexes without testing for negative numbers.
    """

    offset: IndexArray  # [S + 1]
    state: IndexArray  # [number of edges]
    edge: IndexArray  # [number of edges]; empty when no rewards are needed


def predecessors(support: IntArray, *, with_edges: bool = False) -> Predecessors:
    """Reverse the graph, leaving self-loops out: they are never on a shortest path."""
    offset = _count_predecessors(support)
    n_edges = int(offset[-1])
    state = np.empty(n_edges, np.uint32)
    edge = np.empty(n_edges if with_edges else 0, np.uint32)
    _fill_predecessors(support, offset, state, edge)
    return Predecessors(offset, state, edge)


@kernel
def _count_predecessors(support: IntArray) -> IndexArray:
    n_states, width = support.shape
    offset = np.zeros(n_states + 1, np.uint32)
    for s in range(n_states):
        for k in range(width):
            t = support[s, k]
            if t != s:
                offset[t + 1] += 1
    for s in range(n_states):
        offset[s + 1] += offset[s]
    return offset


@kernel
def _fill_predecessors(
    support: IntArray, offset: IndexArray, state: IndexArray, edge: IndexArray
) -> None:
    n_states, width = support.shape
    cursor = offset[:-1].copy()
    for s in range(n_states):
        for k in range(width):
            t = support[s, k]
            if t != s:
                state[cursor[t]] = s
                if edge.size:
                    edge[cursor[t]] = s * width + k
                cursor[t] += 1


@kernel
def can_reach(offset: IndexArray, state: IndexArray, targets: IntArray) -> BoolArray:
    """Mark the states from which some target can be reached, the targets themselves included."""
    one = np.uint32(1)
    n_states = offset.size - 1
    met = np.zeros(n_states, np.bool_)
    queue = np.empty(n_states, np.uint32)
    head, tail = np.uint32(0), np.uint32(0)
    for i in range(targets.size):
        met[targets[i]] = True
        queue[tail] = targets[i]
        tail += one
    while head < tail:
        t = queue[head]
        head += one
        for k in range(offset[t], offset[t + one]):
            s = state[k]
            if not met[s]:
                met[s] = True
                queue[tail] = s
                tail += one
    return met


@kernel
def almost_surely(
    offset: LongArray, successor: IntArray, n_actions: int, is_goal: BoolArray
) -> BoolArray:
    """Mark the states from which some policy reaches a goal with probability one.

    A state stays in the set while it has an action that cannot leave the set and that may bring it
    one step closer to a goal.  `offset` counts outcomes by state-action pair.
    """
    n_states = is_goal.size
    inside = np.ones(n_states, np.bool_)
    while True:
        closer = is_goal.copy()
        grew = True
        while grew:
            grew = False
            for s in range(n_states):
                if closer[s] or not inside[s]:
                    continue
                for a in range(n_actions):
                    safe, useful = True, False
                    for k in range(offset[s * n_actions + a], offset[s * n_actions + a + 1]):
                        safe = safe and inside[successor[k]]
                        useful = useful or closer[successor[k]]
                    if safe and useful:
                        closer[s] = True
                        grew = True
                        break
        if np.array_equal(closer, inside):
            return inside
        inside = closer


def steps_to(reversed_graph: Predecessors, targets: IntArray) -> IntArray:
    """`[targets, S]`, the number of steps from each state to each target, or UNREACHED."""
    offset, state, _ = reversed_graph
    steps = np.empty((targets.size, offset.size - 1), np.int32)
    _on_threads(lambda part: breadth_first(offset, state, targets[part], steps[part]), steps.shape)
    return steps


def costs_to(reversed_graph: Predecessors, cost: Array, targets: IntArray) -> Array:
    """`[targets, S]`, the least cost from each state to each target, or infinity.

    `cost` has the shape of `support` and is not negative.
    """
    offset, state, edge = reversed_graph
    flat = cost.ravel()
    costs = np.empty((targets.size, offset.size - 1))
    _on_threads(
        lambda part: dijkstra(offset, state, edge, flat, targets[part], costs[part]), costs.shape
    )
    return costs


def _on_threads(search: Callable[[slice], None], shape: tuple[int, int]) -> None:
    """Search all targets, on one thread per core if the size is worth it."""
    n_targets = shape[0]
    n_threads = min(os.cpu_count() or 1, n_targets)
    if n_threads == 1 or shape[0] * shape[1] < _WORTH_A_THREAD:
        search(slice(0, n_targets))
        return
    ends = [n_targets * i // n_threads for i in range(n_threads + 1)]
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(search, map(slice, ends[:-1], ends[1:])))


@kernel
def breadth_first(
    offset: IndexArray, state: IndexArray, targets: IntArray, steps: IntArray
) -> None:
    """Fill `steps[i, s]` with the number of steps from s to `targets[i]`, or UNREACHED.

    The inner loop has no branch, because mispredicted branches would dominate the time: a state
    that was met before is overwritten with its old value, and the end of the queue does not move.
    """
    one = np.uint32(1)
    n_states = offset.size - 1
    queue = np.empty(n_states + 1, np.uint32)
    for i in range(targets.size):
        row = steps[i]
        row[:] = UNREACHED
        row[targets[i]] = 0
        queue[0] = targets[i]
        head, tail = np.uint32(0), one
        while head < tail:
            t = queue[head]
            head += one
            next_step = row[t] + np.int32(1)
            for k in range(offset[t], offset[t + one]):
                s = state[k]
                held = row[s]
                new = held < 0
                queue[tail] = s
                row[s] = next_step if new else held
                tail += np.uint32(new)


@kernel
def dijkstra(
    offset: IndexArray,
    state: IndexArray,
    edge: IndexArray,
    cost: Array,
    targets: IntArray,
    distance: Array,
) -> None:
    """Fill `distance[i, s]` with the least cost from s to `targets[i]`, or infinity.

    `cost[edge]` is not negative.  A state may be in the binary heap several times, and only its
    first removal counts.
    """
    heap_key = np.empty(state.size + 1, np.float64)
    heap_state = np.empty(state.size + 1, np.uint32)
    for i in range(targets.size):
        row = distance[i]
        row[:] = np.inf
        row[targets[i]] = 0.0
        heap_key[0], heap_state[0] = 0.0, targets[i]
        size = 1
        while size > 0:
            key, t = heap_key[0], heap_state[0]
            size -= 1
            last_key, last_state = heap_key[size], heap_state[size]
            hole = 0
            while True:  # sink the last entry from the root
                child = 2 * hole + 1
                if child >= size:
                    break
                if child + 1 < size and heap_key[child + 1] < heap_key[child]:
                    child += 1
                if heap_key[child] >= last_key:
                    break
                heap_key[hole], heap_state[hole] = heap_key[child], heap_state[child]
                hole = child
            heap_key[hole], heap_state[hole] = last_key, last_state
            if key > row[t]:
                continue
            for k in range(offset[t], offset[t + np.uint32(1)]):
                s = state[k]
                through = key + cost[edge[k]]
                if through < row[s]:
                    row[s] = through
                    hole = size
                    size += 1
                    while hole > 0 and heap_key[(hole - 1) // 2] > through:
                        parent = (hole - 1) // 2
                        heap_key[hole], heap_state[hole] = heap_key[parent], heap_state[parent]
                        hole = parent
                    heap_key[hole], heap_state[hole] = through, s


def diameter(support: IntArray, exact_up_to: int = 4096) -> int:
    """D = max_{s ≠ s'} min_π E[T(s' | π, s)] over the pairs that are connected (footnote 2).

    T is counted on the graph of possible transitions, so it is exact for deterministic worlds and
    the least possible number of steps for others.  Above `exact_up_to` states, where a search from
    every state takes too long, the upper bound S − 1 is returned: Definition 2 only needs an r̄_MIN
    that is low enough.
    """
    n_states = support.shape[0]
    if n_states > exact_up_to:
        return int(n_states - 1)
    offset, state, _ = predecessors(support)
    return _longest(offset, state, n_states)


@kernel
def _longest(offset: IndexArray, state: IndexArray, n_states: int) -> int:
    steps = np.empty((1, n_states), np.int32)
    target = np.empty(1, np.int32)
    longest: int = 0
    for t in range(n_states):
        target[0] = t
        breadth_first(offset, state, target, steps)
        longest = max(longest, int(steps.max()))
    return longest
