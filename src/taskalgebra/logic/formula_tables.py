"""The shortest formula of every Boolean function of up to four names, as compiled tables.

A function of n names is its truth table (`logic.sum_of_products`).  The cost of a formula over
`&  |  ~  ^` is one number that sums up over its parts, and orders formulas by

1. names, each counted as often as it occurs;
2. operators;
3. among these, exclusive ors.

`costs` finds the least cost of every function by dynamic programming over the number of names: a
formula of k names is `f & g`, `f | g` or `f ^ g` with parts of i and k − i names, or the negation
of one.  Both parts of a shortest formula are shortest themselves, so no formula is overlooked.
Constants have no names and are parts of nothing else.  For four names these are 65,536 functions,
of at most eight names each, and take a fraction of a second.

A function that is known only in some places may take any value elsewhere.  `first` then finds the
first function in the order of costs that agrees.  For five and six names `split_5` and `split_6`
split the table by each name in turn, which gives short formulas, but not always the shortest.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import LongArray
from taskalgebra.compiled import kernel
from taskalgebra.logic.sum_of_products import name_tables

EXACT = 4
"""Names up to which tables of all functions are made, so that what is found is shortest."""
SPLIT = 6
"""Names up to which truth tables are searched: they fit into 64 bits."""
ONE_NAME: Final = 1 << 12
ONE_NOT: Final = 1 << 6
ONE_XOR: Final = 1
NEVER: Final = 1 << 40
MOST_FREE: Final = 8
"""Rows of a table of four names that may be free so that all ways to fill them are compared."""
LEAF, NOT, AND, OR, XOR = range(5)
WITHOUT, WITH_XOR, WITH_OR, WITH_AND = range(4)
"""How a function is split by a literal l: f,  f ^ l & g,  f | l & g,  f & (~l | g)."""

Word = np.uint64
Mask = np.uint64
"""A truth table, or the rows in which a function is known to be true, or false."""
Parts = tuple[Mask, Mask, Mask, Mask]


class Tables(NamedTuple):
    """The shortest formulas of all functions of some names."""

    cost: LongArray  # [2^(2^n)]
    operator: LongArray  # the one on top of the formula
    left: LongArray  # its operands, as truth tables
    right: LongArray
    rank: LongArray  # the place of each function in the order
    order: NDArray[np.uint64]  # all functions, the cheapest first, then the smallest table

    @property
    def known(self) -> tuple[LongArray, LongArray, NDArray[np.uint64]]:
        """What compiled code reads."""
        return self.cost, self.rank, self.order


@lru_cache(maxsize=EXACT + 1)
def tables(n_names: int) -> Tables:
    """The shortest formulas of all functions of n ≤ 4 names."""
    leaves = np.array(name_tables(n_names), np.int64)
    cost, operator, left, right = costs(leaves, 1 << (1 << n_names))
    order = np.argsort(cost, kind="stable")
    return Tables(cost, operator, left, right, np.argsort(order), order.astype(Word))


@kernel
def costs(leaves: LongArray, n_functions: int) -> tuple[LongArray, LongArray, LongArray, LongArray]:
    """The least cost of every function, and the top of a formula that has it."""
    full = n_functions - 1
    cost = np.full(n_functions, NEVER)
    operator = np.zeros(n_functions, np.int64)
    left = np.zeros(n_functions, np.int64)
    right = np.zeros(n_functions, np.int64)
    cost[0] = cost[full] = 0
    for leaf in leaves:
        cost[leaf] = ONE_NAME
        cost[full ^ leaf] = ONE_NAME + ONE_NOT
        operator[full ^ leaf] = NOT
        left[full ^ leaf] = leaf
    by_names = [np.zeros(0, np.int64), np.flatnonzero(cost // ONE_NAME == 1)]
    n_names = 1
    while by_names[n_names].size and cost.max() == NEVER:
        n_names += 1
        for i in range(1, n_names // 2 + 1):
            for f in by_names[i]:
                for g in by_names[n_names - i]:
                    both = cost[f] + cost[g]
                    for sign in (AND, OR, XOR):
                        made, price = f & g, both
                        if sign == OR:
                            made = f | g
                        elif sign == XOR:
                            made, price = f ^ g, both + ONE_XOR
                        if price < cost[made]:
                            cost[made], operator[made] = price, sign
                            left[made], right[made] = f, g
        found = np.flatnonzero(cost // ONE_NAME == n_names)
        for f in found:
            if cost[f] + ONE_NOT < cost[full ^ f]:
                cost[full ^ f], operator[full ^ f] = cost[f] + ONE_NOT, NOT
                left[full ^ f] = f
        by_names.append(np.flatnonzero(cost // ONE_NAME == n_names))
    return cost, operator, left, right


@kernel
def half(table: Mask, n_names: int, name: int, value: int) -> Mask:
    """A table over the other names, where one name is true (1) or false (0)."""
    word, made = Word(table), Word(0)
    below = (1 << name) - 1
    for i in range(1 << (n_names - 1)):
        row = ((i & ~below) << 1) | (value << name) | (i & below)
        made |= ((word >> Word(row)) & Word(1)) << Word(i)
    return made


@kernel
def halves(on: Mask, off: Mask, n_names: int, name: int, value: int) -> Parts:
    """On and off where a literal does not hold, then where it holds: the name has the value."""
    here, there = 1 - value, value
    return (
        half(on, n_names, name, here),
        half(off, n_names, name, here),
        half(on, n_names, name, there),
        half(off, n_names, name, there),
    )


@kernel
def part_f(parts: Parts, way: int) -> tuple[Mask, Mask]:
    """Where f must be true, and where false, from the halves of a table."""
    on_here, off_here, on_there, off_there = parts
    if way == WITH_OR:
        return on_here, off_here | off_there
    if way == WITH_AND:
        return on_here | on_there, off_here
    if way == WITHOUT:
        return on_here | on_there, off_here | off_there
    return on_here, off_here


@kernel
def part_g(parts: Parts, way: int, f: Mask) -> tuple[Mask, Mask]:
    """Where g must be true, and where false, once f is chosen."""
    _, _, on, off = parts
    if way == WITH_OR:
        return on & ~f, off
    if way == WITH_AND:
        return on, off & f
    return (on & ~f) | (off & f), (on & f) | (off & ~f)


@kernel
def joined(f: Mask, g: Mask, n_names: int, name: int, value: int, way: int) -> Mask:
    """The whole table of a split; f and g have one name less."""
    made = Word(0)
    below = (1 << name) - 1
    for row in range(1 << n_names):
        i = Word(((row >> 1) & ~below) | (row & below))
        bit, other = (f >> i) & Word(1), (g >> i) & Word(1)
        if way != WITHOUT and (row >> name) & 1 == value:
            if way == WITH_XOR:
                bit ^= other
            elif way == WITH_OR:
                bit |= other
            else:
                bit &= other
        made |= bit << Word(row)
    return made


@kernel
def first(on: Mask, off: Mask, rank: LongArray, order: NDArray[np.uint64]) -> int:
    """The place in the order of the first function that agrees; −1 if none does.

    Where few rows are free, all ways to fill them are compared; where few are not, a function that
    agrees comes early in the order.
    """
    if on & off:
        return -1
    care = on | off
    free = Word(rank.size - 1) & ~care
    n_free, rest = 0, free
    while rest:
        rest &= rest - Word(1)
        n_free += 1
    if n_free > MOST_FREE:
        for place in range(order.size):
            if order[place] & care == on:
                return place
    best: int = rank[on]
    filled = free
    while filled:
        best = min(best, rank[on | filled])
        filled = (filled - Word(1)) & free
    return best


@kernel
def split_price(way: int, value: int, n_rows: int, f: Mask, of_f: int, g: Mask, of_g: int) -> int:
    """The cost of a split from those of its parts."""
    full = ~Word(0) >> Word(64 - n_rows)
    if way == WITHOUT or (way == WITH_AND and g == full) or (way != WITH_AND and g == 0):
        return of_f
    negated = (value == 0) != (way == WITH_AND)  # the literal, as it is written
    price = of_g + ONE_NAME + (ONE_NOT if negated else 0)
    if way == WITH_XOR and f != 0:
        if f == full:  # true ^ …, which negates
            return of_f + price + ONE_NOT
        price += ONE_XOR
    return of_f + price


@kernel
def split_5(
    on: Mask, off: Mask, known: tuple[LongArray, LongArray, NDArray[np.uint64]], most: int
) -> tuple[int, Mask, int, int, int]:
    """Split a table of five names once: cost, table, name, value, way; `most` is too much."""
    cost, rank, order = known
    best, table, at = most, Word(0), (0, 0, 0)
    for name in range(5):
        for value in range(1, -1, -1):
            parts = halves(on, off, 5, name, value)
            for way in range(4):
                on_f, off_f = part_f(parts, way)
                place = first(on_f, off_f, rank, order)
                if place < 0 or cost[order[place]] >= best:
                    continue
                f, g = order[place], Word(0)
                if way != WITHOUT:
                    on_g, off_g = part_g(parts, way, f)
                    g = order[first(on_g, off_g, rank, order)]
                price = split_price(way, value, 16, f, cost[f], g, cost[g])
                if price < best:
                    best, at = price, (name, value, way)
                    table = joined(f, g, 5, name, value, way)
    return best, table, at[0], at[1], at[2]


@kernel
def split_6(
    on: Mask, off: Mask, known: tuple[LongArray, LongArray, NDArray[np.uint64]], most: int
) -> tuple[int, Mask, int, int, int]:
    """Split a table of six names, and its halves; as `split_5`."""
    best, table, at = most, Word(0), (0, 0, 0)
    for name in range(6):
        for value in range(1, -1, -1):
            parts = halves(on, off, 6, name, value)
            for way in range(4):
                on_f, off_f = part_f(parts, way)
                if on_f & off_f:
                    continue
                of_f, f, _, _, _ = split_5(on_f, off_f, known, best)
                if of_f >= best:
                    continue
                of_g, g = 0, Word(0)
                if way != WITHOUT:
                    on_g, off_g = part_g(parts, way, f)
                    of_g, g, _, _, _ = split_5(on_g, off_g, known, best - of_f + 1)
                    if of_g > best - of_f:
                        continue
                price = split_price(way, value, 32, f, of_f, g, of_g)
                if price < best:
                    best, at = price, (name, value, way)
                    table = joined(f, g, 6, name, value, way)
    return best, table, at[0], at[1], at[2]
