"""Numbers of steps to many goals by contraction, where most states lie on corridors.

A state v is contracted by connecting its neighbours directly: every way p → v → n becomes an edge
p → n of the same length.  No distance between the other states changes, and the number of steps
from v follows from those of its neighbours at that time,

    d(v) = min_n [ length(v → n) + d(n) ].

States with few neighbours are contracted first, as long as nobody gets more than `MOST` neighbours;
goals never are.  Parts of the states are contracted at once, each on its own, as far as no
neighbour belongs to another part; then what lies between them.  What is left, the core, is searched
once per goal.  Then one pass over the other states, in the reverse order, fills in a whole block of
goals at a time: the fast part, without queues and without branches (the sweep of PHAST: Delling,
Goldberg, Nowatzyk and Werneck 2011).

In mazes the core is a small part of the states.  In open space it is not, and a search is faster.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import BoolArray, IndexArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.worlds.graph import Predecessors, on_threads, over_rows
from taskalgebra.worlds.held import Block, most_steps, step_type

MOST = 8
"""Neighbours of a state."""
LARGEST_CORE = 0.3
"""The share of states up to which the core may be searched for every goal."""
PARTS = 16
"""Parts of the states that are contracted at once, whatever the number of threads."""
_NO_WAY = 65535
_LIMITS = np.array([2, 3, 4, 5, 6])
Short = NDArray[np.uint16]
Number = int | np.int64
_Rows = tuple[IndexArray, Short, Short, LongArray]
"""Neighbours [S, MOST], the lengths of the edges to and from them, and how many there are."""


class Contracted(NamedTuple):
    """A graph whose states with few neighbours are contracted."""

    core: LongArray  # [K], its states; goals are among them
    place: IntArray  # [S], the number of a state in the core, or −1
    offset: IndexArray  # [K + 1], the edges backwards in the core
    state: IndexArray  # [edges], numbers in the core
    length: Short  # [edges]
    order: IndexArray  # the other states, those contracted last first
    up_offset: IndexArray  # [others + 1], the edges from each of them to later ones or the core
    up_state: IndexArray
    up_length: Short

    @property
    def longest(self) -> int:
        """The length of the longest edge."""
        return int(max(self.length.max(initial=0), self.up_length.max(initial=0)))


def contracted(graph: Predecessors, goals: IntArray) -> Contracted | None:
    """Contract a graph whose edges all have length 1; None if that does not help to search it."""
    n_states = graph.offset.size - 1
    near = np.empty((n_states, MOST), np.uint32)
    away, back = np.empty((2, n_states, MOST), np.uint16)
    rows = near, away, back, np.zeros(n_states, np.int64)
    if not _joined(graph, rows):
        return None
    gone = np.zeros(n_states, np.bool_)
    gone[goals] = True
    order = _ordered(rows, gone)[::-1]
    if n_states - order.size > LARGEST_CORE * n_states:
        return None
    place = np.zeros(n_states, np.int32)
    place[order] = -1
    core = np.flatnonzero(place == 0)
    place[core] = np.arange(core.size)
    offset, state, length = _edges(core, near, back, rows[3])
    up = _edges(order, near, away, rows[3])
    return Contracted(core, place, offset, place[state].astype(np.uint32), length, order, *up)


def _joined(graph: Predecessors, rows: _Rows) -> bool:
    """Enter all edges, first those inside parts, then those between; False if they do not fit."""
    ends = _ends(graph.offset.size - 1)
    fit = np.zeros(PARTS, np.bool_)

    def part(i: int) -> None:
        fit[i] = _neighbours(graph.offset, graph.state, *rows, ends[i], ends[i + 1], True)

    on_threads(lambda: part, PARTS, ends[-1])
    return bool(fit.all()) and all(
        _neighbours(graph.offset, graph.state, *rows, first, last, False)
        for first, last in pairwise(ends)
    )


def _ordered(rows: _Rows, gone: BoolArray) -> IndexArray:
    """Contract states, first inside parts, then all; those contracted, in this order."""
    ends = _ends(gone.size)
    found = [np.empty(0, np.uint32)] * PARTS

    def part(i: int) -> None:
        found[i] = _contract(*rows, gone, _LIMITS, ends[i], ends[i + 1])

    on_threads(lambda: part, PARTS, gone.size)
    return np.concatenate([*found, _contract(*rows, gone, _LIMITS, 0, gone.size)])


def _ends(n_states: int) -> list[int]:
    return [n_states * i // PARTS for i in range(PARTS + 1)]


def _edges(
    states: LongArray | IndexArray, near: IndexArray, lengths: Short, n_near: LongArray
) -> tuple[IndexArray, IndexArray, Short]:
    """The edges of some states that have a length, in compressed rows."""
    offset = np.zeros(states.size + 1, np.uint32)
    over_rows(
        lambda part: _count_edges(states[part], lengths, n_near, offset[1:][part]), states.size, 1
    )
    np.cumsum(offset, out=offset)
    state, length = np.empty(offset[-1], np.uint32), np.empty(offset[-1], np.uint16)
    over_rows(
        lambda part: _fill_edges(states[part], near, lengths, n_near, offset[part], state, length),
        states.size,
        1,
    )
    return offset, state, length


def contracted_block(graph: Contracted, targets: IntArray) -> Block | None:
    """[S, w], the numbers of steps of all states to these goals; None if 16 bits are too few."""
    block = np.empty((graph.place.size, targets.size), np.uint16)
    distance = np.empty(graph.core.size, np.uint32)
    longest = graph.longest
    for j in range(targets.size):
        start = graph.place[targets[j]]
        _search(graph.offset, graph.state, graph.length, start, longest, distance)
        _put(distance, graph.core, block[:, j])
    _sweep(graph.order, graph.up_offset, graph.up_state, graph.up_length, block)
    most = int(most_steps(block, np.uint16(_NO_WAY)))
    if most >= _NO_WAY - longest:  # a longer way might have been taken for none
        return None
    kind = step_type(most)
    if kind is np.uint16:
        return block
    return np.where(block == _NO_WAY, np.iinfo(kind).max, block).astype(kind)


@kernel
def _slot(near: IndexArray, n_near: LongArray, s: Number, t: Number) -> int:
    """The place of t among the neighbours of s; −1 if it is none."""
    for i in range(n_near[s]):
        if near[s, i] == t:
            return i
    return -1


@kernel
def _join(
    near: IndexArray,
    away: Short,
    back: Short,
    n_near: LongArray,
    s: Number,
    t: Number,
    length: Number,
) -> None:
    """An edge s → t of some length, unless there is one that is as short."""
    i = _slot(near, n_near, s, t)
    if i < 0:
        i = n_near[s]
        near[s, i], away[s, i], back[s, i] = t, _NO_WAY, _NO_WAY
        n_near[s] += 1
        k = n_near[t]
        near[t, k], away[t, k], back[t, k] = s, _NO_WAY, _NO_WAY
        n_near[t] += 1
    k = _slot(near, n_near, t, s)
    if length < away[s, i]:
        away[s, i] = length
        back[t, k] = length


@kernel
def _neighbours(
    offset: IndexArray,
    state: IndexArray,
    near: IndexArray,
    away: Short,
    back: Short,
    n_near: LongArray,
    first: int,
    last: int,
    inside: bool,
) -> bool:
    """Enter the edges to states of a part, from inside it or from outside; False if too many."""
    for t in range(first, last):
        for k in range(offset[t], offset[t + 1]):
            s = np.int64(state[k])
            if (first <= s < last) != inside:
                continue
            if _slot(near, n_near, s, t) < 0 and (n_near[s] == MOST or n_near[t] == MOST):
                return False
            _join(near, away, back, n_near, s, t, 1)
    return True


@kernel
def _fits(near: IndexArray, away: Short, back: Short, n_near: LongArray, v: Number) -> bool:
    """Whether v can be contracted: nobody gets too many neighbours, and no edge is too long."""
    for i in range(n_near[v]):
        p = np.int64(near[v, i])
        more = -1
        for j in range(n_near[v]):
            if i == j:
                continue
            there = back[v, i] != _NO_WAY and away[v, j] != _NO_WAY
            here = back[v, j] != _NO_WAY and away[v, i] != _NO_WAY
            if there and np.int64(back[v, i]) + np.int64(away[v, j]) >= _NO_WAY // 4:
                return False
            if (there or here) and _slot(near, n_near, p, np.int64(near[v, j])) < 0:
                more += 1
        if n_near[p] + more > MOST:
            return False
    return True


@kernel
def _within(near: IndexArray, n_near: LongArray, v: Number, first: int, last: int) -> bool:
    """Whether all neighbours of v belong to a part."""
    for i in range(n_near[v]):
        if not first <= np.int64(near[v, i]) < last:
            return False
    return True


@kernel
def _contract(
    near: IndexArray,
    away: Short,
    back: Short,
    n_near: LongArray,
    gone: BoolArray,
    limits: LongArray,
    first: int,
    last: int,
) -> IndexArray:
    """Contract states of a part that have few neighbours, none outside of it; their order."""
    order = np.empty(last - first, np.uint32)
    n = 0
    stack = np.empty(last - first, np.int64)
    waiting = np.zeros(last - first, np.bool_)
    for limit in limits:
        size = 0
        for s in range(last - 1, first - 1, -1):
            if not gone[s] and n_near[s] <= limit:
                stack[size] = s
                waiting[s - first] = True
                size += 1
        while size > 0:
            size -= 1
            v = stack[size]
            waiting[v - first] = False
            if gone[v] or n_near[v] > limit or not _within(near, n_near, v, first, last):
                continue
            if not _fits(near, away, back, n_near, v):
                continue
            gone[v] = True
            order[n] = v
            n += 1
            for i in range(n_near[v]):  # the neighbours forget v
                p = np.int64(near[v, i])
                k = _slot(near, n_near, p, v)
                end = n_near[p] - 1
                near[p, k], away[p, k], back[p, k] = near[p, end], away[p, end], back[p, end]
                n_near[p] = end
            for i in range(n_near[v]):
                p = np.int64(near[v, i])
                for j in range(n_near[v]):
                    if i != j and back[v, i] != _NO_WAY and away[v, j] != _NO_WAY:
                        length = np.int64(back[v, i]) + np.int64(away[v, j])
                        _join(near, away, back, n_near, p, np.int64(near[v, j]), length)
            for i in range(n_near[v]):
                p = np.int64(near[v, i])
                if not gone[p] and not waiting[p - first] and n_near[p] <= limit:
                    stack[size] = p
                    waiting[p - first] = True
                    size += 1
    return order[:n]


@kernel
def _count_edges(
    states: LongArray | IndexArray, lengths: Short, n_near: LongArray, count: IndexArray
) -> None:
    for k in range(states.size):
        n = 0
        for i in range(n_near[states[k]]):
            n += lengths[states[k], i] != _NO_WAY
        count[k] = n


@kernel
def _fill_edges(
    states: LongArray | IndexArray,
    near: IndexArray,
    lengths: Short,
    n_near: LongArray,
    offset: IndexArray,
    state: IndexArray,
    length: Short,
) -> None:
    for k in range(states.size):
        n = np.int64(offset[k])
        for i in range(n_near[states[k]]):
            if lengths[states[k], i] != _NO_WAY:
                state[n], length[n] = near[states[k], i], lengths[states[k], i]
                n += 1


@kernel
def _search(
    offset: IndexArray,
    state: IndexArray,
    length: Short,
    start: int,
    longest: int,
    distance: IndexArray,
) -> None:
    """Dijkstra's search with one bucket per distance (Dial), as lengths are small numbers.

    A state may be in several buckets, and only its first removal counts.
    """
    none = np.uint32(0xFFFFFFFF)
    distance[:] = none
    first = np.full(longest + 1, -1, np.int64)  # buckets are lists of entries
    after = np.empty(state.size + 1, np.int64)
    held = np.empty(state.size + 1, np.uint32)
    distance[start] = 0
    held[0], after[0], first[0] = start, -1, 0
    n, waiting, d = 1, 1, 0
    while waiting > 0:
        b = d % (longest + 1)
        while first[b] >= 0:
            entry = first[b]
            first[b] = after[entry]
            waiting -= 1
            t = held[entry]
            if distance[t] != d:
                continue
            for k in range(offset[t], offset[t + np.uint32(1)]):
                through = d + np.int64(length[k])
                s = state[k]
                if through < distance[s]:
                    distance[s] = through
                    c = through % (longest + 1)
                    held[n], after[n], first[c] = s, first[c], n
                    n += 1
                    waiting += 1
        d += 1


@kernel
def _put(distance: IndexArray, core: LongArray, column: Short) -> None:
    for i in range(core.size):
        column[core[i]] = min(distance[i], np.uint32(_NO_WAY))


@kernel
def _sweep(
    order: IndexArray, offset: IndexArray, state: IndexArray, length: Short, block: Short
) -> None:
    """d(v) = min_n [length + d(n)] for all goals of a block; sums stop at the largest number."""
    width = block.shape[1]
    for k in range(order.size):
        row = block[order[k]]
        for j in range(width):
            row[j] = np.uint16(_NO_WAY)
        for i in range(offset[k], offset[k + 1]):
            other, far = block[state[i]], length[i]
            room = np.uint16(np.uint16(_NO_WAY) - far)
            for j in range(width):
                through = np.uint16(min(other[j], room) + far)
                row[j] = min(row[j], through)
