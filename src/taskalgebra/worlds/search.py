"""Blocks of returns to goals, by searching backwards from each goal on all cores.

Breadth-first where all steps cost the same, Dijkstra's search otherwise.  A search fills one row of
scratch memory, which stays in the cache; the rows of a block are then turned into its columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, IndexArray, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.worlds.graph import Predecessors, dijkstra, on_threads, over_rows
from taskalgebra.worlds.held import Block, step_type, unreached

GOALS_OF_STEPS, GOALS_OF_FLOATS = 32, 8
"""Goals of a block: 64 bytes of a state, a cache line, for numbers of two and of eight bytes."""
_TILE = 256


class Costs(NamedTuple):
    """What steps cost, where they do not all cost the same."""

    cost: Array  # [S, A], none below 0
    potential: Array  # [S]; the return is the potential minus the least cost


def width_of(n_goals: int, uniform: bool) -> int:
    """Goals of a block; only the last may have fewer."""
    return min(n_goals, GOALS_OF_STEPS if uniform else GOALS_OF_FLOATS)


def n_blocks(n_goals: int, uniform: bool) -> int:
    """Blocks of all goals."""
    return -(-n_goals // width_of(n_goals, uniform))


def block_of(graph: Predecessors, targets: IntArray, costs: Costs | None) -> Block:
    """[S, w], the returns of all states to these goals."""
    block = _of_steps(graph, targets) if costs is None else _of_costs(graph, targets, costs)
    block.setflags(write=False)
    return block


def _of_steps(graph: Predecessors, targets: IntArray) -> Block:
    for kind in (np.uint16, np.uint32):
        rows = np.empty((targets.size, graph.offset.size - 1), kind)
        most = _steps(graph, targets, rows)
        if most >= 0:
            break
    return _turned(rows, np.dtype(step_type(most)))


def _steps(graph: Predecessors, targets: IntArray, rows: NDArray[Any]) -> int:
    """Fill rows with numbers of steps; the largest, or −1 if the type is too small."""
    found = np.zeros(targets.size, np.int64)
    no_way = unreached(rows.dtype)

    def worker() -> Any:
        queue = np.empty(rows.shape[1] + 1, np.uint32)

        def search(i: int) -> None:
            found[i] = count_steps(graph.offset, graph.state, targets[i], no_way, rows[i], queue)

        return search

    on_threads(worker, targets.size, rows.size)
    return -1 if (found < 0).any() else int(found.max(initial=0))


def _of_costs(graph: Predecessors, targets: IntArray, costs: Costs) -> Block:
    rows = np.empty((targets.size, graph.offset.size - 1))
    flat = costs.cost.ravel()

    def search(i: int) -> None:
        part = slice(i, i + 1)
        dijkstra(graph.offset, graph.state, graph.edge, flat, targets[part], rows[part])
        np.subtract(costs.potential, rows[i], out=rows[i])

    on_threads(lambda: search, targets.size, rows.size)
    return _turned(rows, rows.dtype)


def _turned(rows: NDArray[Any], dtype: np.dtype[Any]) -> Block:
    """[S, w] from [w, S], in a type that holds all of its numbers."""
    block = np.empty(rows.shape[::-1], dtype)
    none, no_way = unreached(rows.dtype), unreached(dtype)
    over_rows(lambda part: _turn(rows[:, part], none, no_way, block[part]), *block.shape)
    return block


@kernel
def _turn(rows: NDArray[Any], none: Any, no_way: Any, block: Block) -> None:
    """In tiles of states, so that both arrays stay in the cache."""
    n_goals, n_states = rows.shape
    for first in range(0, n_states, _TILE):
        last = min(first + _TILE, n_states)
        for j in range(n_goals):
            for s in range(first, last):
                number = rows[j, s]
                block[s, j] = no_way if number == none else number


@kernel
def count_steps(
    offset: IndexArray,
    state: IndexArray,
    target: int,
    no_way: Any,
    row: NDArray[Any],
    queue: IndexArray,
) -> int:
    """Fill `row[s]` with the number of steps from s to the target; the most there are.

    Where there is no way it holds `no_way`, the largest number of its type.  If some number of
    steps would need a larger type, the search stops and −1 is returned.

    The inner loop has no branch, because mispredicted branches would dominate the time: a state
    that was met before keeps its number, which is smaller, and the end of the queue does not move.
    """
    one = np.uint32(1)
    row[:] = no_way
    level = np.zeros(1, row.dtype)  # of the row's type, so that the loop compares without widening
    row[target] = level[0]
    queue[0] = target
    head, tail = np.uint32(0), one
    n = 0
    while True:
        n += 1
        if n == no_way:
            return -1
        level[0] = n
        step = level[0]
        end = tail
        while head < end:
            t = queue[head]
            head += one
            for k in range(offset[t], offset[t + one]):
                s = state[k]
                held = row[s]
                queue[tail] = s
                tail += np.uint32(held > step)
                row[s] = min(held, step)
        if head == tail:
            return n - 1
