"""Short sums of products for truth tables kept as integers.

A Boolean function of n names is an integer of 2ⁿ bits, its truth table: bit i is the value under
the assignment in which name j is true exactly when bit j of i is set.  A product of literals is a
`Cube`; a sum of products is a tuple of cubes.  Two methods find one:

`shortest_cover`     the minimum, for up to `EXACT_NAMES` names.  Quine–McCluskey: all prime
                     implicants, then the cheapest set of them that covers the table, by branch and
                     bound over bit masks.
`irredundant_cover`  for more names.  Minato–Morreale: every cube is prime and none can be left out,
                     but another sum may be shorter.

"Shortest" is a total order, so the answer is unique: fewest products, then fewest literals, then
the sum whose first differing product comes earlier in the order of cubes.  Cubes with fewer
literals come first; among equals, names are compared in turn, with x before ¬x before "absent".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

EXACT_NAMES = 6
"""Up to this many names `sum_of_products` is a minimum."""


class Cube(NamedTuple):
    """A product of literals: bit j of `positive` is the literal xⱼ, of `negative` ¬xⱼ."""

    positive: int
    negative: int

    @property
    def n_literals(self) -> int:
        """The number of literals; the empty product is true."""
        return self.positive.bit_count() + self.negative.bit_count()


def sum_of_products(table: int, dont_care: int, n_names: int) -> tuple[Cube, ...]:
    """A short sum of products for `table`, in the order of cubes; `dont_care` rows are free.

    It is a shortest one for up to `EXACT_NAMES` names, and an irredundant sum of primes above.
    """
    find = shortest_cover if n_names <= EXACT_NAMES else irredundant_cover
    return find(table, dont_care, n_names)


def short_sum(table: int, n_names: int, most: int) -> tuple[Cube, ...] | None:
    """A short sum of products, found in a moment; None if it has more than `most` products.

    For 6 names a shortest one can take seconds, so it is a shortest one only below.
    """
    if n_names < EXACT_NAMES:
        return sum_of_products(table, 0, n_names)
    try:
        return irredundant_cover(table, 0, n_names, most)
    except OverflowError:
        return None


def all_true(n_names: int) -> int:
    """The truth table of the constant true: 2ⁿ ones."""
    return (1 << (1 << n_names)) - 1


@lru_cache(maxsize=32)
def name_tables(n_names: int) -> tuple[int, ...]:
    """The truth tables of the names themselves: bit i of entry j is bit j of i."""
    tables = []
    for j in range(n_names):
        width = 2 << j
        table = all_true(j) << (1 << j)
        while width < 1 << n_names:
            table |= table << width
            width *= 2
        tables.append(table)
    return tuple(tables)


def cube_table(cube: Cube, n_names: int) -> int:
    """The truth table of one product."""
    table = all_true(n_names)
    for j, name in enumerate(name_tables(n_names)):
        if cube.positive >> j & 1:
            table &= name
        if cube.negative >> j & 1:
            table &= ~name
    return table


def cube_order(cube: Cube, n_names: int) -> tuple[int, int]:
    """The sort key of a cube: its number of literals, then x, ¬x or neither, name by name."""
    digits = 0
    for j in range(n_names):
        digits = 3 * digits + (0 if cube.positive >> j & 1 else 1 if cube.negative >> j & 1 else 2)
    return cube.n_literals, digits


def prime_implicants(table: int, n_names: int) -> list[tuple[Cube, int]]:
    """Every prime implicant of `table` with its own truth table, in the order of cubes.

    An implicant is a product that implies the function; it is prime if no literal can be dropped.
    """
    off = ~table
    implies = [not covered & off for _, covered, _ in _cubes(n_names)]
    return [
        (cube, covered)
        for (cube, covered, wider), is_implicant in zip(_cubes(n_names), implies, strict=True)
        if is_implicant and not any(implies[w] for w in wider)
    ]


@lru_cache(maxsize=EXACT_NAMES + 1)
def _cubes(n_names: int) -> tuple[tuple[Cube, int, tuple[int, ...]], ...]:
    """All 3ⁿ cubes in order: (cube, truth table, places of the cubes with one literal less)."""
    if n_names > EXACT_NAMES:
        raise ValueError(f"all cubes of {n_names} names are too many; at most {EXACT_NAMES} names")
    names = range(1 << n_names)
    cubes = [Cube(p, n) for p in names for n in names if not p & n]
    cubes.sort(key=lambda cube: cube_order(cube, n_names))
    place = {cube: i for i, cube in enumerate(cubes)}
    return tuple(
        (
            cube,
            cube_table(cube, n_names),
            tuple(
                place[Cube(cube.positive & ~bit, cube.negative & ~bit)]
                for bit in _ones(cube.positive | cube.negative)
            ),
        )
        for cube in cubes
    )


def _ones(mask: int) -> Iterator[int]:
    """The set bits of a mask, each as a mask of its own, lowest first."""
    while mask:
        lowest = mask & -mask
        yield lowest
        mask ^= lowest


def shortest_cover(table: int, dont_care: int, n_names: int) -> tuple[Cube, ...]:
    """The shortest sum of products that is true on `table` and false off `table | dont_care`."""
    needed = table & ~dont_care
    primes = prime_implicants(needed | dont_care, n_names)
    product = (n_names << n_names) + 1  # one product outweighs the literals of a whole cover
    columns = [
        _Column(covered & needed, product + cube.n_literals, 1 << i)
        for i, (cube, covered) in enumerate(primes)
        if covered & needed
    ]
    chosen = _first_cheapest_cover(needed, columns)
    return tuple(cube for i, (cube, _) in enumerate(primes) if chosen >> i & 1)


class _Column(NamedTuple):
    """A prime in the covering problem: the rows it covers, its cost, its bit in an answer."""

    rows: int
    cost: int
    bit: int


def _first_cheapest_cover(rows: int, columns: list[_Column]) -> int:
    """Among the cheapest sets of columns that cover `rows`, the one with the earliest columns.

    Once the cost is known, each column in turn is kept if some cheapest cover contains it and those
    already kept.  `witness` is such a cover, so that most columns need no search.
    """
    budget = sum(column.cost for column in columns)
    witness = 0
    while (found := _cover_within(budget, rows, columns)) is not None:
        witness = found
        budget = sum(column.cost for column in columns if column.bit & found) - 1
    budget += 1
    kept = 0
    for i, column in enumerate(columns):
        if not rows:
            break
        if not witness & column.bit:
            found = _cover_within(budget - column.cost, rows & ~column.rows, columns[i + 1 :])
            if found is None:
                continue
            witness = kept | column.bit | found
        kept |= column.bit
        rows &= ~column.rows
        budget -= column.cost
    return kept


def _cover_within(budget: int, rows: int, columns: list[_Column]) -> int | None:
    """Some columns that cover `rows` and cost at most `budget`; None if there are none.

    `columns` are sorted by cost.  The recursion is as deep as the cover is long.
    """
    chosen = 0
    while True:
        columns = _undominated(rows, columns)
        users = _users(rows, columns)
        forced = {mask for mask in users.values() if not mask & (mask - 1)}
        if 0 in forced:
            return None
        for mask in forced:  # a row with one column left needs that column
            column = columns[mask.bit_length() - 1]
            rows &= ~column.rows
            budget -= column.cost
            chosen |= column.bit
        if budget < 0:
            return None
        if not rows:
            return chosen
        if forced:
            continue
        users = _without_implied_rows(users)
        bound, helpful = _lower_bound(users, columns)
        if bound > budget:
            return None
        affordable = [
            column
            for i, column in enumerate(columns)
            if helpful >> i & 1 or bound + column.cost <= budget
        ]
        if sum(users) == rows and len(affordable) == len(columns):
            break
        rows = sum(users)
        columns = affordable
    options = [
        columns[bit.bit_length() - 1] for bit in _ones(min(users.values(), key=int.bit_count))
    ]
    options.sort(key=lambda column: -column.rows.bit_count())
    for column in options:
        found = _cover_within(budget - column.cost, rows & ~column.rows, columns)
        if found is not None:
            return chosen | column.bit | found
        columns = [other for other in columns if other is not column]
    return None


def _undominated(rows: int, columns: list[_Column]) -> list[_Column]:
    """The columns restricted to `rows`, without those that a cheaper column contains."""
    kept: list[_Column] = []
    for column in columns:
        covered = column.rows & rows
        if covered and not any(covered & ~cheaper.rows == 0 for cheaper in kept):
            kept.append(_Column(covered, column.cost, column.bit))
    return kept


def _users(rows: int, columns: list[_Column]) -> dict[int, int]:
    """For each row the columns that cover it, as a mask of places in the list."""
    users = dict.fromkeys(_ones(rows), 0)
    for i, column in enumerate(columns):
        for row in _ones(column.rows):
            users[row] |= 1 << i
    return users


def _without_implied_rows(users: dict[int, int]) -> dict[int, int]:
    """Drop a row if every column of some other row covers it as well."""
    kept: dict[int, int] = {}
    for row, mask in sorted(users.items(), key=lambda item: item[1].bit_count()):
        if not any(harder & ~mask == 0 for harder in kept.values()):
            kept[row] = mask
    return kept


def _lower_bound(users: dict[int, int], columns: list[_Column]) -> tuple[int, int]:
    """A lower bound on the cost of a cover, and the columns that it counts.

    Rows that share no column need a column each.  Any other column adds to the bound.
    """
    bound = helpful = 0
    for mask in sorted(users.values(), key=int.bit_count):
        if not mask & helpful:
            helpful |= mask
            bound += columns[(mask & -mask).bit_length() - 1].cost
    return bound, helpful


def irredundant_cover(
    table: int, dont_care: int, n_names: int, most: int | None = None
) -> tuple[Cube, ...]:
    """A sum of prime implicants in which no product can be left out (Minato–Morreale).

    The recursion is as deep as there are names.  With `most`, an OverflowError ends the search once
    there are more products.
    """
    needed = table & ~dont_care
    cubes, _ = _irredundant(needed, needed | dont_care, n_names, most or 1 << n_names)
    return tuple(sorted(cubes, key=lambda cube: cube_order(cube, n_names)))


def _irredundant(needed: int, allowed: int, n_names: int, most: int) -> tuple[list[Cube], int]:
    """Cubes between `needed` and `allowed`, and the truth table of their sum.

    The last name x splits each table in two halves.  What only ¬x or only x may cover gets that
    literal; the rest is covered without x.
    """
    if not needed:
        return [], 0
    if allowed == all_true(n_names):
        return [Cube(0, 0)], allowed
    half = 1 << (n_names - 1)
    low = all_true(n_names - 1)
    needed_0, needed_1 = needed & low, needed >> half
    allowed_0, allowed_1 = allowed & low, allowed >> half
    cubes_0, table_0 = _irredundant(needed_0 & ~allowed_1, allowed_0, n_names - 1, most)
    cubes_1, table_1 = _irredundant(needed_1 & ~allowed_0, allowed_1, n_names - 1, most)
    rest = needed_0 & ~table_0 | needed_1 & ~table_1
    cubes, table = _irredundant(rest, allowed_0 & allowed_1, n_names - 1, most)
    if len(cubes) + len(cubes_0) + len(cubes_1) > most:
        raise OverflowError
    literal = 1 << (n_names - 1)
    cubes += [Cube(cube.positive, cube.negative | literal) for cube in cubes_0]
    cubes += [Cube(cube.positive | literal, cube.negative) for cube in cubes_1]
    return cubes, (table | table_0) | (table | table_1) << half
