"""Sums of products: meaning, minimality against brute force, primality, irredundance."""

import itertools
import random
import time

import pytest

from taskalgebra.logic.sum_of_products import (
    EXACT_NAMES,
    Cube,
    cube_order,
    cube_table,
    irredundant_cover,
    name_tables,
    prime_implicants,
    shortest_cover,
    sum_of_products,
)

HARD = (
    (0x967E7FFA7EFEFECD, 0x2000),
    (0x1E7F3BFE7FFEFEA9, 0x100040000400001),
    (0x977F7EFE7FFEEEE9, 0),
)
"""Functions of 6 names, with free rows, at which a search for slow ones ended."""


def holds(cube: Cube, assignment: int) -> bool:
    """The oracle for one product, literal by literal."""
    return assignment & cube.positive == cube.positive and not assignment & cube.negative


def rows(cubes: tuple[Cube, ...], n_names: int) -> int:
    """The oracle for a sum: its truth table, assignment by assignment."""
    return sum(1 << i for i in range(2**n_names) if any(holds(cube, i) for cube in cubes))


def all_cubes(n_names: int) -> list[Cube]:
    return [
        Cube(
            sum(1 << j for j, sign in enumerate(signs) if sign == 1),
            sum(1 << j for j, sign in enumerate(signs) if sign == 0),
        )
        for signs in itertools.product((0, 1, None), repeat=n_names)
    ]


def size(cubes: tuple[Cube, ...]) -> tuple[int, int]:
    return len(cubes), sum(cube.n_literals for cube in cubes)


def check_cover(cubes: tuple[Cube, ...], table: int, dont_care: int, n_names: int) -> None:
    """The sum means the table, its products are prime, and none can be left out."""
    needed, allowed = table & ~dont_care, table | dont_care
    covered = rows(cubes, n_names)
    assert needed & ~covered == 0 and covered & ~allowed == 0
    for cube in cubes:
        others = tuple(other for other in cubes if other != cube)
        assert needed & ~rows(others, n_names)
        for j in range(n_names):
            wider = Cube(cube.positive & ~(1 << j), cube.negative & ~(1 << j))
            assert wider == cube or rows((wider,), n_names) & ~allowed


def random_table(rng: random.Random, n_names: int, density: float) -> int:
    return sum((rng.random() < density) << i for i in range(2**n_names))


def test_tables_of_names_and_cubes() -> None:
    assert name_tables(0) == () and name_tables(2) == (0b1010, 0b1100)
    for n_names in range(5):
        for cube in all_cubes(n_names):
            assert cube_table(cube, n_names) == rows((cube,), n_names)
        for j, table in enumerate(name_tables(n_names)):
            assert table == sum(1 << i for i in range(2**n_names) if i >> j & 1)


def test_prime_implicants_of_all_functions_of_three_names() -> None:
    cubes = [(cube, rows((cube,), 3)) for cube in all_cubes(3)]
    for table in range(256):
        implicants = [(cube, covered) for cube, covered in cubes if not covered & ~table]
        primes = {
            (cube, covered)
            for cube, covered in implicants
            if not any(covered != other and not covered & ~other for _, other in implicants)
        }
        assert set(prime_implicants(table, 3)) == primes


def shortest_sums(n_names: int, most: int) -> dict[int, tuple[Cube, ...]]:
    """The oracle of minimality: for each table the best of all sets of cubes, primes or not."""
    cubes = sorted(all_cubes(n_names), key=lambda cube: cube_order(cube, n_names))
    tables = [rows((cube,), n_names) for cube in cubes]
    best: dict[int, tuple[tuple[int, int], tuple[int, ...]]] = {}
    for length in range(most + 1):
        for places in itertools.combinations(range(len(cubes)), length):
            table = 0
            for place in places:
                table |= tables[place]
            rank = (length, sum(cubes[place].n_literals for place in places)), places
            if table not in best or rank < best[table]:
                best[table] = rank
    return {table: tuple(cubes[p] for p in places) for table, (_, places) in best.items()}


@pytest.mark.parametrize("n_names", [0, 1, 2, 3])
def test_shortest_of_all_sums(n_names: int) -> None:
    best = shortest_sums(n_names, most=max(1, 2**n_names // 2))
    assert len(best) == 2**2**n_names
    for table, cubes in best.items():
        assert shortest_cover(table, 0, n_names) == cubes


def test_shortest_sum_with_free_rows() -> None:
    best = shortest_sums(3, most=4)
    rng = random.Random(1)
    for _ in range(300):
        table, dont_care = rng.randrange(256), rng.randrange(256)
        fixed = table & ~dont_care
        candidates = [cubes for t, cubes in best.items() if t & ~dont_care == fixed]

        def rank(cubes: tuple[Cube, ...]) -> object:
            return size(cubes), [cube_order(cube, 3) for cube in cubes]

        assert shortest_cover(table, dont_care, 3) == min(candidates, key=rank)


def fewest_by_levels(table: int, n_names: int) -> tuple[int, int]:
    """Fewest products, then literals, of a cover by primes: breadth first over covered rows."""
    primes = [(cube.n_literals, covered) for cube, covered in prime_implicants(table, n_names)]
    level = {0: 0}
    products = 0
    while table not in level:
        products += 1
        following: dict[int, int] = {}
        for covered, literals in level.items():
            missing = table & ~covered
            row = missing & -missing
            for more, gain in primes:
                if gain & row:
                    cost = literals + more
                    if following.get(covered | gain, cost + 1) > cost:
                        following[covered | gain] = cost
        level = following
    return products, level[table]


def test_functions_of_four_names() -> None:
    rng = random.Random(2)
    for table in [0, 1, 0xFFFF, 0x6996, 0x7FFE, *(rng.randrange(2**16) for _ in range(500))]:
        cubes = shortest_cover(table, 0, 4)
        check_cover(cubes, table, 0, 4)
        assert size(cubes) == fewest_by_levels(table, 4)


@pytest.mark.parametrize("density", [0.3, 0.5, 0.7])
def test_functions_of_five_names(density: float) -> None:
    rng = random.Random(3)
    for _ in range(12):
        table = random_table(rng, 5, density)
        cubes = shortest_cover(table, 0, 5)
        check_cover(cubes, table, 0, 5)
        assert size(cubes) == fewest_by_levels(table, 5)


@pytest.mark.parametrize("density", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_functions_of_six_names(density: float) -> None:
    rng = random.Random(4)
    for _ in range(8):
        table, dont_care = random_table(rng, 6, density), random_table(rng, 6, 0.2)
        cubes = sum_of_products(table, dont_care, 6)
        check_cover(cubes, table, dont_care, 6)
        assert size(cubes) <= size(irredundant_cover(table, dont_care, 6))
        if density <= 0.3:
            table &= ~dont_care
            assert size(shortest_cover(table, 0, 6)) == fewest_by_levels(table, 6)


@pytest.mark.parametrize(
    ("weights", "products"), [({1, 3, 5}, 32), ({2, 3}, 20), ({2, 3, 4}, 15), ({1, 2, 3, 4, 5}, 6)]
)
def test_symmetric_functions_of_six_names(weights: set[int], products: int) -> None:
    # Middle rows of weight w share no prime, so their number is a bound that these sums reach;
    # the last one is the cycle x1 ¬x2 | x2 ¬x3 | … | x6 ¬x1.
    table = sum(1 << i for i in range(64) if i.bit_count() in weights)
    cubes = shortest_cover(table, 0, 6)
    check_cover(cubes, table, 0, 6)
    assert len(cubes) == products


def test_fewest_products_come_before_fewest_literals() -> None:
    # Names a b c d e f are bits 0 to 5.  a | b | c has 3 literals, d e f | ¬d ¬e ¬f has 6.
    a, b, c, d_e_f = 1, 2, 4, 56
    needed = sum(1 << row for row in (a | d_e_f, b | d_e_f, a, c))
    off = sum(1 << row for row in range(8, 56, 8))
    cubes = shortest_cover(needed, (2**64 - 1) & ~(needed | off), 6)
    assert cubes == (Cube(d_e_f, 0), Cube(0, d_e_f))


def test_hard_functions_finish() -> None:
    for table, dont_care in HARD:
        start = time.process_time()
        check_cover(shortest_cover(table, dont_care, 6), table, dont_care, 6)
        assert time.process_time() - start < 20


@pytest.mark.parametrize("n_names", [1, 3, 5, 7, 8])
def test_irredundant_cover(n_names: int) -> None:
    rng = random.Random(n_names)
    for density in (0.0, 0.2, 0.5, 0.9, 1.0):
        table = random_table(rng, n_names, density)
        check_cover(irredundant_cover(table, 0, n_names), table, 0, n_names)
        free = random_table(rng, n_names, 0.4)
        check_cover(irredundant_cover(table, free, n_names), table, free, n_names)


def test_many_names_use_the_fast_method() -> None:
    n_names = 20
    tables = name_tables(n_names)
    cubes = sum_of_products(tables[0] & tables[19] | ~tables[7] & tables[3], 0, n_names)
    assert set(cubes) == {Cube(1 | 1 << 19, 0), Cube(1 << 3, 1 << 7)}
    with pytest.raises(ValueError, match=f"at most {EXACT_NAMES} names"):
        prime_implicants(0, n_names)
