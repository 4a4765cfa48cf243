"""Should boolean.py or dd carry part of the expressions?  Measured answers, one per line.

Each line is `name  figure  bar  ok|short`; the exit status is 1 if a bar falls short.  A ratio is
their time over ours, so 1 means as fast.  Run: python benchmarks/expressions.py
"""

import random
import sys
import time
from collections.abc import Callable

import boolean
import numpy as np
from dd import autoref

from taskalgebra.expression import Expression, from_truth_table, parse
from taskalgebra.sum_of_products import shortest_cover

NAMES = list("abcdef")
falls_short = False


def line(name: str, figure: str, bar: str, ok: bool) -> None:
    """Print one measurement beside its bar."""
    global falls_short
    falls_short = falls_short or not ok
    print(f"{name:<58} {figure:>16}   {bar:<10} {'ok' if ok else 'short'}", flush=True)


def seconds(action: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def ratio(name: str, theirs: float, ours: float, bar: float = 1.0) -> None:
    """Print how many times faster ours is."""
    line(name, f"{theirs / ours:.2f} x", f">= {bar:g} x", theirs / ours >= bar)


def outcome(action: Callable[[], object]) -> str:
    """The error an action ends with, or "done"."""
    try:
        action()
    except (RecursionError, MemoryError) as error:
        return type(error).__name__
    return "done"


def random_formula(rng: random.Random, leaves: int) -> Expression:
    """A random tree over six names, without ^, which boolean.py lacks."""
    if leaves == 1:
        leaf = parse(rng.choice(NAMES))
        return ~leaf if rng.random() < 0.5 else leaf
    split = rng.randint(1, leaves - 1)
    left, right = random_formula(rng, split), random_formula(rng, leaves - split)
    return left & right if rng.random() < 0.5 else left | right


def reading() -> None:
    """Long and deeply nested text."""
    algebra = boolean.BooleanAlgebra()
    long = " | ".join(["a & ~b"] * 110_000)
    ratio(
        "parse 1 MB: boolean.py / ours",
        seconds(lambda: algebra.parse(long), 2),
        seconds(lambda: parse(long), 2),
    )
    nested = "(" * 10_000 + "a" + ")" * 10_000
    ratio(
        "parse 10,000 parentheses: boolean.py / ours",
        seconds(lambda: algebra.parse(nested)),
        seconds(lambda: parse(nested)),
    )
    right = "a & (b | " * 10_000 + "c" + ")" * 10_000
    ours = outcome(lambda: hash(parse(str(parse(right)))))
    line("read and print 10,000 nested operators: ours", ours, "done", ours == "done")
    theirs = outcome(lambda: str(algebra.parse(right)))
    line("read and print 10,000 nested operators: boolean.py", theirs, "(info)", True)


def equality_by_meaning() -> None:
    """From two texts to the answer, for pairs of which half are equivalent."""
    rng = random.Random(0)
    pairs = []
    for i in range(200):
        one = random_formula(rng, 12)
        other = one.simplify() if i % 2 else random_formula(rng, 12)
        constants = str(other).replace("true", "TRUE").replace("false", "FALSE")  # as dd has them
        pairs.append((str(one), constants))
    algebra = boolean.BooleanAlgebra()

    def ours() -> list[bool]:
        return [parse(one).equivalent(parse(other)) for one, other in pairs]

    def by_dd() -> list[bool]:
        diagrams = autoref.BDD()
        diagrams.declare(*NAMES)
        return [diagrams.add_expr(one) == diagrams.add_expr(other) for one, other in pairs]

    def by_boolean() -> list[bool]:
        return [
            algebra.parse(one).simplify() == algebra.parse(other).simplify() for one, other in pairs
        ]

    answers = ours()
    line(
        "equal meaning, 6 names: answers that differ from dd",
        str(sum(a != b for a, b in zip(answers, by_dd(), strict=True))),
        "0",
        answers == by_dd(),
    )
    ratio("equal meaning, 6 names: dd / ours", seconds(by_dd), seconds(ours))
    ratio("equal meaning, 6 names: boolean.py / ours", seconds(by_boolean), seconds(ours))
    missed = sum(a != b for a, b in zip(answers, by_boolean(), strict=True))
    line("equal meaning, 6 names: boolean.py wrong of 200", str(missed), "(info)", True)


def shortest_sums() -> None:
    """A shortest sum of products; dd has none, boolean.py has simplify."""
    rng = random.Random(1)
    algebra = boolean.BooleanAlgebra()
    longer = 0
    tables = [rng.randrange(1, 2**16 - 1) for _ in range(50)]
    for table in tables:
        minterms = " | ".join(
            "(" + " & ".join(n if i >> j & 1 else f"~{n}" for j, n in enumerate("abcd")) + ")"
            for i in range(16)
            if table >> i & 1
        )
        theirs = algebra.parse(minterms).simplify()
        longer += literals(str(theirs)) > literals(str(from_truth_table(table, "a b c d".split())))
    line("shortest sum, 4 names: boolean.py longer, of 50", str(longer), "(info)", True)

    times = []
    for _ in range(100):
        table = rng.getrandbits(64)
        times.append(seconds(lambda table=table: shortest_cover(table, 0, 6), 1))
    median = float(np.median(times)) * 1e3
    line(
        "shortest sum, random functions of 6 names, median",
        f"{median:.2f} ms",
        "<= 5 ms",
        median <= 5,
    )
    hardest = sum(1 << i for i in range(64) if i.bit_count() in (2, 3, 4))
    hard = seconds(lambda: shortest_cover(hardest, 0, 6), 1)
    line("shortest sum, 2 to 4 of 6 names", f"{hard:.2f} s", "<= 3 s", hard <= 3)


def literals(text: str) -> int:
    """How many names are written."""
    return sum(character.isalpha() for character in text)


def arrays() -> None:
    """Evaluation on arrays of 2.5 MB beside the same operations by hand.

    In one line numpy writes `a & ~b | …` into the memory of temporaries that nobody else holds,
    which no evaluator of trees can ask for.  The bar is therefore the same formula with named
    temporaries; the single line is printed for information.
    """
    rng = np.random.default_rng(0)
    a, b, c = (rng.random(2_500_000) < 0.5 for _ in range(3))
    tree = parse("a & ~b | b ^ c")

    def by_hand() -> object:
        not_b = ~b
        left = a & not_b
        del not_b
        right = b ^ c
        return left | right

    ours = seconds(lambda: tree.evaluate({"a": a, "b": b, "c": c}), 40)
    ratio(
        "evaluate on 2.5 MB: numpy, named temporaries / ours", seconds(by_hand, 40), ours, bar=0.9
    )
    in_one_line = seconds(lambda: a & ~b | b ^ c, 40)
    line(
        "evaluate on 2.5 MB: numpy in one line / ours",
        f"{in_one_line / ours:.2f} x",
        "(info)",
        True,
    )
    fixed = 1e6 * seconds(lambda: tree.evaluate({"a": 1, "b": 2, "c": 3}), 100)
    line(
        "evaluate on integers, 3 names and 4 operators", f"{fixed:.1f} µs", "<= 50 µs", fixed <= 50
    )


def main() -> int:
    """Run all measurements."""
    reading()
    equality_by_meaning()
    shortest_sums()
    arrays()
    return int(falls_short)


if __name__ == "__main__":
    sys.exit(main())
