"""A shortest formula that is true of some labels and false of others.

A label says which names are true: bit j for name j.  Labels that are not given may be true or
false, whichever makes the formula shorter.  *Shortest* means

1. the fewest names, each counted as often as it occurs,
2. then the fewest operators, of `~  &  |  ^`,
3. then the fewest `^`,

and among these always the same one.  `true` and `false` have no names.

>>> shortest([0b01, 0b10], [0b00, 0b11], ["a", "b"]).expression
parse('a ^ b')
>>> shortest([0b01, 0b10], [0b00], ["a", "b"]).expression
parse('a | b')

Up to 4 names the formula is shortest of all: the least cost of every function is known
(`logic.formula_tables`).  Above, tables of up to 6 names are split by each name in each of a few
ways; where there are more names, a few that are enough are chosen first.  All formulas over any few
of the names are searched too, so that a formula of so few names is shortest of all as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import comb, inf
from typing import final

from taskalgebra.logic import formula_tables as ft
from taskalgebra.logic.expression import FALSE, TRUE, And, Expression, Name, Not, Or, Xor
from taskalgebra.logic.sum_of_products import all_true, name_tables

MOST_SUBSETS = 500
"""Sets of a few names that are searched one by one, where there are more than 6 names."""
MOST_KEPT = 12
"""Names up to which each part of a formula may use all of them, and not only those chosen."""
_Node = type[And] | type[Or] | type[Xor]
_NODES: dict[int, _Node] = {ft.AND: And, ft.OR: Or, ft.XOR: Xor}


@final
@dataclass(frozen=True)
class Shortest:
    """A formula, and whether none is shorter."""

    expression: Expression
    proven: bool
    """Whether it is known that no formula is shorter."""


def shortest(wanted: Collection[int], unwanted: Collection[int], names: Sequence[str]) -> Shortest:
    """A short formula over names that is true of all wanted labels and of no unwanted one.

    It is a shortest one for up to 4 names; `Shortest.proven` says if it is known to be one above.

    Raises:
        ValueError: a label is both wanted and unwanted.
    """
    if not set(wanted).isdisjoint(unwanted):
        raise ValueError("a label cannot be both wanted and unwanted")
    leaves = [Name(name) for name in names]
    found = _searched(list(wanted), list(unwanted), list(enumerate(leaves)))
    if len(names) <= ft.EXACT:
        searched = len(names) << len(names)  # more than any formula needs
    else:
        searched = ft.EXACT if len(names) <= ft.SPLIT else _all_of(len(names))
    place: dict[Expression, int] = {leaf: i for i, leaf in enumerate(leaves)}
    return Shortest(_in_order(found.expression, place), found.n_names <= searched)


Leaf = tuple[int, Name]
"""The bit of a name in labels, and the name."""


@dataclass(frozen=True)
class _Formula:
    cost: int
    expression: Expression

    @property
    def n_names(self) -> int:
        return self.cost // ft.ONE_NAME

    def __invert__(self) -> _Formula:
        if self.expression in (TRUE, FALSE):
            return _TRUE if self.expression == FALSE else _FALSE
        if isinstance(self.expression, Not):
            return _Formula(self.cost - ft.ONE_NOT, self.expression.operand)
        return _Formula(self.cost + ft.ONE_NOT, Not(self.expression))

    def joined(self, node: _Node, other: _Formula) -> _Formula:
        """Two formulas under one operator; constants vanish."""
        for f, g in ((self, other), (other, self)):
            if f.expression in (TRUE, FALSE):
                true = f.expression == TRUE
                if node is Xor:
                    return ~g if true else g
                return g if true == (node is And) else f
        more = ft.ONE_XOR if node is Xor else 0
        return _Formula(self.cost + other.cost + more, node(self.expression, other.expression))


_FALSE, _TRUE = _Formula(0, FALSE), _Formula(0, TRUE)


def _split(way: int, leaf: Leaf, value: int, f: _Formula, g: _Formula) -> _Formula:
    """The two parts of a split (`formula_tables`) as one formula."""
    literal = _Formula(ft.ONE_NAME, leaf[1])
    literal = literal if value else ~literal
    if way == ft.WITH_AND:
        return f.joined(And, (~literal).joined(Or, g))
    return f.joined(Xor if way == ft.WITH_XOR else Or, literal.joined(And, g))


def _in_order(one: Expression, place: Mapping[Expression, int]) -> Expression:
    """The operands of several equal operators in a row by their number of names, then by names."""
    if isinstance(one, Not):
        return Not(_in_order(one.operand, place))
    if not isinstance(one, And | Or | Xor):
        return one
    parts = [(_leaves(part, place), part) for part in _operands(one, type(one))]
    parts.sort(key=lambda part: (len(part[0]), part[0]))
    return reduce(type(one), (_in_order(part, place) for _, part in parts))


def _operands(one: Expression, node: _Node) -> list[Expression]:
    if not isinstance(one, node):
        return [one]
    return [part for side in one.operands for part in _operands(side, node)]


def _leaves(one: Expression, place: Mapping[Expression, int]) -> list[int]:
    if isinstance(one, Name):
        return [place[one]]
    return sorted(leaf for part in one.operands for leaf in _leaves(part, place))


def _searched(wanted: list[int], unwanted: list[int], leaves: Sequence[Leaf]) -> _Formula:
    """A short formula over some names, which tell the labels apart."""
    if len(leaves) <= ft.SPLIT:
        return _of_table(_rows(wanted, leaves), _rows(unwanted, leaves), leaves)
    found: list[_Formula] = []
    for size in range(1, _all_of(len(leaves)) + 1):
        for few in combinations(leaves, size):
            if _tell(few, wanted, unwanted):
                found.append(_of_table(_rows(wanted, few), _rows(unwanted, few), few))
        if (
            min((one.n_names for one in found), default=inf) <= size
        ):  # all formulas of so few names were searched
            return min(found, key=lambda one: one.cost)
    chosen = _enough(wanted, unwanted, leaves)
    if len(chosen) <= ft.SPLIT:
        found.append(_of_table(_rows(wanted, chosen), _rows(unwanted, chosen), chosen))
    if not found:
        parts = chosen if len(leaves) > MOST_KEPT else leaves
        return _by_halves(wanted, unwanted, parts, chosen)
    return min(found, key=lambda one: one.cost)


def _all_of(n_names: int) -> int:
    """Up to which size all sets of names are searched, for more than 6 names."""
    sizes = range(1, ft.EXACT + 1)
    return max((size for size in sizes if comb(n_names, size) <= MOST_SUBSETS), default=0)


def _rows(labels: Iterable[int], leaves: Sequence[Leaf]) -> int:
    """The rows of labels in a truth table over some names."""
    rows = 0
    for label in labels:
        rows |= 1 << sum((label >> bit & 1) << j for j, (bit, _) in enumerate(leaves))
    return rows


def _tell(leaves: Iterable[Leaf], wanted: Iterable[int], unwanted: Iterable[int]) -> bool:
    """Whether some names tell wanted labels from unwanted ones."""
    bits = sum(1 << bit for bit, _ in leaves)
    return {label & bits for label in wanted}.isdisjoint(label & bits for label in unwanted)


def _enough(
    wanted: Sequence[int], unwanted: Sequence[int], leaves: Sequence[Leaf]
) -> tuple[Leaf, ...]:
    """Few names that tell the labels apart: in turn the one that tells most pairs of them."""
    chosen: list[Leaf] = []

    def confused(leaf: Leaf) -> int:
        bits = sum(1 << bit for bit, _ in (*chosen, leaf))
        no = Counter(label & bits for label in unwanted)
        return sum(no[label & bits] for label in wanted)

    while not _tell(chosen, wanted, unwanted):
        chosen.append(min((leaf for leaf in leaves if leaf not in chosen), key=confused))
    for leaf in tuple(chosen):
        others = [one for one in chosen if one is not leaf]
        if _tell(others, wanted, unwanted):
            chosen = others
    return tuple(sorted(chosen, key=lambda leaf: leaf[0]))


def _of_table(on: int, off: int, leaves: Sequence[Leaf]) -> _Formula:
    """A formula over up to 6 names that is true in some rows of its table and false in others."""
    n_names = len(leaves)
    if n_names <= ft.EXACT:
        return _read(on, off, leaves)
    search = ft.split_5 if n_names == ft.EXACT + 1 else ft.split_6
    asked = ft.Word(on), ft.Word(off)
    _, _, at, value, way = search(*asked, ft.tables(ft.EXACT).known, ft.NEVER)
    others = [*leaves[:at], *leaves[at + 1 :]]
    parts = ft.halves(*asked, n_names, at, value)
    on_f, off_f = ft.part_f(parts, way)
    f = _of_table(int(on_f), int(off_f), others)
    if way == ft.WITHOUT:
        return f
    every = all_true(n_names - 1)
    tables = {leaf.name: table for (_, leaf), table in _named(others)}
    table = f.expression.evaluate(tables, universal=every, empty=0) & every
    on_g, off_g = ft.part_g(parts, way, ft.Word(table))
    return _split(way, leaves[at], value, f, _of_table(int(on_g), int(off_g), others))


def _read(on: int, off: int, leaves: Sequence[Leaf]) -> _Formula:
    """The shortest formula over up to 4 names."""
    known = ft.tables(len(leaves))
    found = int(known.order[ft.first(ft.Word(on), ft.Word(off), known.rank, known.order)])
    made: dict[int, Expression] = {table: leaf for (_, leaf), table in _named(leaves)}
    made |= {0: FALSE, all_true(len(leaves)): TRUE}

    def tree(table: int) -> Expression:
        if table in made:
            return made[table]
        left, kind = tree(int(known.left[table])), int(known.operator[table])
        return Not(left) if kind == ft.NOT else _NODES[kind](left, tree(int(known.right[table])))

    return _Formula(int(known.cost[found]), tree(found))


def _named(leaves: Sequence[Leaf]) -> Iterable[tuple[Leaf, int]]:
    """Names with their truth tables."""
    return zip(leaves, name_tables(len(leaves)), strict=True)


def _by_halves(
    wanted: list[int], unwanted: list[int], leaves: Sequence[Leaf], chosen: Sequence[Leaf]
) -> _Formula:
    """Split many labels by a name.

    It is one that decides all labels on one side of it, the more the better, else the one that
    halves them best.
    """

    def side(labels: Iterable[int], leaf: Leaf, value: int) -> list[int]:
        return [label for label in labels if label >> leaf[0] & 1 == value]

    def worth(at: tuple[Leaf, int]) -> tuple[bool, int]:
        on, off = len(side(wanted, *at)), len(side(unwanted, *at))
        total = len(wanted) + len(unwanted)
        return (True, on + off) if not on or not off else (False, -abs(total - 2 * (on + off)))

    leaf, value = max(((leaf, value) for leaf in chosen for value in (1, 0)), key=worth)
    others = [one for one in leaves if one is not leaf]
    f = _searched(side(wanted, leaf, 1 - value), side(unwanted, leaf, 1 - value), others)
    on, off = side(wanted, leaf, value), side(unwanted, leaf, value)
    if not off:
        return _split(ft.WITH_OR, leaf, value, f, _TRUE)
    if not on:
        return _split(ft.WITH_AND, leaf, value, f, _FALSE)
    labels, every = on + off, (1 << len(on + off)) - 1
    columns = {
        one.name: sum((label >> bit & 1) << i for i, label in enumerate(labels))
        for bit, one in others
    }
    true = f.expression.evaluate(columns, universal=every, empty=0)
    wrong = (true ^ ((1 << len(on)) - 1)) & every
    g = _searched(
        [label for i, label in enumerate(labels) if wrong >> i & 1],
        [label for i, label in enumerate(labels) if not wrong >> i & 1],
        others,
    )
    return _split(ft.WITH_XOR, leaf, value, f, g)
