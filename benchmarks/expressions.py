"""Should boolean.py or dd carry part of the expressions?  How quick are automata?  One per line.

A ratio is their time over ours, so 1 means as fast.

    python benchmarks/expressions.py
"""

import random
import time
from collections.abc import Callable

import boolean
import numpy as np
from dd import autoref

from report import Report, best_time
from taskalgebra.logic.automaton import automaton
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import from_truth_table, parse
from taskalgebra.logic.sum_of_products import shortest_cover

NAMES = list("abcdef")


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


def reading(report: Report) -> None:
    """Long and deeply nested text."""
    algebra = boolean.BooleanAlgebra()
    long = " | ".join(["a & ~b"] * 110_000)
    report.at_least(
        "parse 1 MB: boolean.py / ours",
        best_time(lambda: algebra.parse(long), 2) / best_time(lambda: parse(long), 2),
        1,
    )
    nested = "(" * 10_000 + "a" + ")" * 10_000
    report.at_least(
        "parse 10,000 parentheses: boolean.py / ours",
        best_time(lambda: algebra.parse(nested)) / best_time(lambda: parse(nested)),
        1,
    )
    right = "a & (b | " * 10_000 + "c" + ")" * 10_000
    ours = outcome(lambda: hash(parse(str(parse(right)))))
    report.exactly("read and print 10,000 nested operators: ours", ours, "done")
    theirs = outcome(lambda: str(algebra.parse(right)))
    report.fact("read and print 10,000 nested operators: boolean.py", theirs)


def equality_by_meaning(report: Report) -> None:
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
    differing = sum(a != b for a, b in zip(answers, by_dd(), strict=True))
    report.exactly("equal meaning, 6 names: answers that differ from dd, of 200", differing, 0)
    seconds = best_time(ours)
    report.at_least("equal meaning, 6 names: dd / ours", best_time(by_dd) / seconds, 1)
    report.at_least("equal meaning, 6 names: boolean.py / ours", best_time(by_boolean) / seconds, 1)
    missed = sum(a != b for a, b in zip(answers, by_boolean(), strict=True))
    report.fact("equal meaning, 6 names: answers of boolean.py that are wrong", f"{missed} of 200")


def shortest_sums(report: Report) -> None:
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
    report.fact("shortest sum, 4 names: boolean.py's is longer", f"{longer} of 50")

    times = []
    for _ in range(100):
        table = rng.getrandbits(64)
        start = time.perf_counter()
        shortest_cover(table, 0, 6)
        times.append(time.perf_counter() - start)
    median = 1e3 * float(np.median(times))
    report.at_most("shortest sum, random functions of 6 names, median", median, 5, "ms")
    symmetric = sum(1 << i for i in range(64) if i.bit_count() in (2, 3, 4))
    hard = best_time(lambda: shortest_cover(symmetric, 0, 6), 1)
    report.at_most("shortest sum, 2 to 4 of 6 names", hard, 3, "s")


LONG = (
    "(F (m & X (F (o & X (~m U (~tm & m & X (F (c & X (~o U (~to & o & X (F (A & X (F (B & X "
    "(F (C & X (F (D & X (F A))))))))))))))))))) & (G ~d)"
)
"""The longest published task of the office world (Skill Machines)."""


def automata(report: Report) -> None:
    """From the text of a temporal formula to its automaton."""
    office = [{"m", "tm"}, {"m"}, {"o", "to"}, {"o"}, *({name} for name in "cdABCD")]
    seconds = best_time(lambda: automaton(LONG, office))
    report.at_most("automaton of a published task of 12 states", 1e3 * seconds, 100, "ms")
    report.exactly("its states", automaton(LONG, office).n_states, 12)
    goals = [f"g{i}" for i in range(10)]
    patrol = " & ".join(f"F {goal}" for goal in goals)
    seconds = best_time(lambda: automaton(patrol, [{goal} for goal in goals]))
    report.at_most("automaton of ten goals in any order, 1,024 states", 1e3 * seconds, 1_000, "ms")


def literals(text: str) -> int:
    """How many names are written."""
    return sum(character.isalpha() for character in text)


def main() -> None:
    """Run all bars."""
    report = Report()
    reading(report)
    equality_by_meaning(report)
    shortest_sums(report)
    automata(report)
    report.finish()


if __name__ == "__main__":
    main()
