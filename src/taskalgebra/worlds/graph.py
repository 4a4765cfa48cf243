"""Graph kernels for planning and for the checks of assumptions.

A world is seen here as a directed graph.  `support[S, W]` lists the possible successors of each
state, over all actions; shorter rows are padded with the state itself.  Absorbing states have only
themselves.

Kernels release the interpreter lock, so that goals are searched on several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IndexArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.threads import n_threads as cores

UNREACHED = -1
EXACT_DIAMETER = 4096  # states up to which the diameter is found; above it is bounded by S − 1
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

    A state stays in the set while it has an action that cannot leave the set, and while such
    actions may lead from it to a goal.  `offset` counts outcomes by state-action pair.

    States from which no such action leads to a goal are removed, and with them at once all states
    that have no action left, each by a counter.  A round is linear in the number of outcomes, and
    the next one is needed only where a state that has actions left is cut off from all goals.
    """
    n_states = is_goal.size
    into, pair_of = pairs_into(offset, successor, n_states)
    inside = np.ones(n_states, np.bool_)
    safe = np.ones(n_states * n_actions, np.bool_)
    n_safe = np.full(n_states, n_actions, np.int64)
    queue = np.empty(n_states, np.int64)
    while True:
        closer = is_goal.copy()
        tail = 0
        for s in range(n_states):
            if is_goal[s]:
                queue[tail] = s
                tail += 1
        head = 0
        while head < tail:
            t = queue[head]
            head += 1
            for k in range(into[t], into[t + 1]):
                pair = np.int64(pair_of[k])
                if safe[pair]:
                    source = pair // n_actions
                    if inside[source] and not closer[source]:
                        closer[source] = True
                        queue[tail] = source
                        tail += 1
        tail = 0
        for s in range(n_states):
            if inside[s] and not closer[s]:
                inside[s] = False
                queue[tail] = s
                tail += 1
        if tail == 0:
            return inside
        head = 0
        while head < tail:
            t = queue[head]
            head += 1
            for k in range(into[t], into[t + 1]):
                pair = np.int64(pair_of[k])
                if safe[pair]:
                    safe[pair] = False
                    source = pair // n_actions
                    n_safe[source] -= 1
                    if n_safe[source] == 0 and inside[source] and not is_goal[source]:
                        inside[source] = False
                        queue[tail] = source
                        tail += 1


@kernel
def pairs_into(
    offset: LongArray, successor: IntArray, n_states: int
) -> tuple[LongArray, IndexArray]:
    """The state-action pairs that may lead to each state, in compressed rows."""
    into = np.zeros(n_states + 1, np.int64)
    for k in range(successor.size):
        into[successor[k] + 1] += 1
    for s in range(n_states):
        into[s + 1] += into[s]
    cursor = into[:-1].copy()
    pair_of = np.empty(successor.size, np.uint32)
    for pair in range(offset.size - 1):
        for k in range(offset[pair], offset[pair + 1]):
            t = successor[k]
            pair_of[cursor[t]] = pair
            cursor[t] += 1
    return into, pair_of


def predecessors_of(offset: LongArray, successor: IntArray, n_actions: int) -> Predecessors:
    """Reverse the graph of possible outcomes, each edge once, leaving self-loops out."""
    return Predecessors(*_reverse(offset, successor, n_actions), np.empty(0, np.uint32))


@kernel
def _reverse(
    offset: LongArray, successor: IntArray, n_actions: int
) -> tuple[IndexArray, IndexArray]:
    """Count, then fill; a state that was seen last from s is no new successor of s."""
    n_states = (offset.size - 1) // n_actions
    into = np.zeros(n_states + 1, np.uint32)
    last = np.full(n_states, -1, np.int64)
    for s in range(n_states):
        for k in range(offset[s * n_actions], offset[(s + 1) * n_actions]):
            t = successor[k]
            if t != s and last[t] != s:
                last[t] = s
                into[t + 1] += np.uint32(1)
    for s in range(n_states):
        into[s + 1] += into[s]
    cursor = into[:-1].copy()
    state = np.empty(into[n_states], np.uint32)
    last[:] = -1
    for s in range(n_states):
        for k in range(offset[s * n_actions], offset[(s + 1) * n_actions]):
            t = successor[k]
            if t != s and last[t] != s:
                last[t] = s
                state[cursor[t]] = s
                cursor[t] += np.uint32(1)
    return into, state


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
    on_threads(lambda: lambda i: search(slice(i, i + 1)), shape[0], shape[0] * shape[1])


def on_threads(worker: Callable[[], Callable[[int], None]], n: int, size: int) -> None:
    """Do n pieces of work, each taken by the next core that is free.

    Args:
        worker: makes what does a piece, once per thread, so that it can have memory of its own.
        n: the number of pieces.
        size: of the whole, in states times targets; a small one is not worth a thread.

    After an error, or Ctrl-C, no further piece is begun.
    """
    n_threads = min(cores(), n)
    left = iter(range(n))  # next() of it is atomic

    def work() -> None:
        do = worker()
        try:
            for i in left:
                do(i)
        except BaseException:
            list(left)  # so that nobody begins another
            raise

    if n_threads <= 1 or size < _WORTH_A_THREAD:
        work()
        return
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for done in [pool.submit(work) for _ in range(n_threads)]:
                done.result()
        except BaseException:
            list(left)
            raise


def over_rows(fill: Callable[[slice], None], n_rows: int, width: int, parts: int = 16) -> None:
    """Fill slices of rows, on one thread per core if the size is worth it."""
    ends = [n_rows * i // parts for i in range(parts + 1)]
    if n_rows * width < _WORTH_A_THREAD:
        fill(slice(0, n_rows))
    else:
        on_threads(lambda: lambda i: fill(slice(ends[i], ends[i + 1])), parts, n_rows * width)


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


def diameter(support: IntArray, exact_up_to: int = EXACT_DIAMETER) -> int:
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
