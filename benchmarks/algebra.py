"""Composition against the bare numpy calls that it stands for, and acting by goal set.

python benchmarks/algebra.py
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from report import Report, best_times
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.expression import And, Expression, Name, Not, Or, Xor
from taskalgebra.logic.formulas import parse
from taskalgebra.theory.policy import GreedyPolicy
from taskalgebra.theory.tables import TableBounds, TabularQ, compose_values
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.theory.values import GoalSetQ
from taskalgebra.worlds.build import from_arrays

S, G, A = 1000, 64, 5
NAMES = "abcdef"


def family() -> tuple[TableBounds, dict[str, TabularQ]]:
    """Six tables of random numbers, with bounds; their meaning does not matter here."""
    rng = np.random.default_rng(0)
    next_state = rng.integers(0, S, (S, A))
    space = TaskSpace(from_arrays(next_state, -0.1, np.arange(G)))
    empty = rng.random((S, G, A))
    bounds = TableBounds(space, Bounds(empty + 1.0, empty))
    return bounds, {n: TabularQ(empty + rng.random(empty.shape), bounds) for n in NAMES}


def random_expression(n_operators: int, rng: np.random.Generator) -> Expression:
    """A random tree with this many operators."""
    pool: list[Expression] = [Name(n) for n in NAMES]
    result = pool[rng.integers(6)]
    for _ in range(n_operators):
        other = pool[rng.integers(6)]
        kind = rng.integers(4)
        result = ~result if kind == 3 else (And, Or, Xor)[kind](result, other)
    return result


def bare(expression: Expression, tables: dict[str, np.ndarray], total: np.ndarray) -> np.ndarray:
    """The same composition written by hand: one numpy call an operator, four for exclusive or."""
    match expression:
        case Name():
            return tables[expression.name]
        case Not():
            return np.subtract(total, bare(expression.operand, tables, total))
        case And():
            return reduce(np.minimum, (bare(x, tables, total) for x in expression.operands))
        case Or():
            return reduce(np.maximum, (bare(x, tables, total) for x in expression.operands))
        case Xor():
            x, y = (bare(e, tables, total) for e in expression.operands)
            return np.minimum(np.maximum(x, y), np.subtract(total, np.minimum(x, y)))
    raise AssertionError(expression)


def composing(report: Report) -> None:
    """Expressions of growing length, random and classical."""
    bounds, values = family()
    tables = {name: q.table for name, q in values.items()}
    total = bounds.tables.total
    rng = np.random.default_rng(1)
    chosen = [parse("a & b"), parse("~a"), parse("(a | b) & ~(a & b)"), parse("a ^ b ^ c ^ d")]
    chosen += [random_expression(n, rng) for n in (2, 4, 8, 16, 32, 64) for _ in range(3)]
    ratios, eager = [], []
    for expression in chosen:
        ours, one_by_one, by_hand = best_times(
            [
                lambda e=expression: compose_values(e, values, bounds),
                lambda e=expression: e.evaluate(values),
                lambda e=expression: bare(e, tables, total),
            ],
            25,
        )
        assert np.array_equal(
            compose_values(expression, values, bounds).table, bare(expression, tables, total)
        )
        ratios.append(ours / by_hand)
        eager.append(one_by_one / by_hand)
    report.at_most(
        f"compose {len(chosen)} expressions: worst of ours / bare numpy", max(ratios), 1.5
    )
    report.at_most("  the same with operators on tables, one at a time", max(eager), 1.5)
    report.note("  median of ours / bare numpy", float(np.median(ratios)), "x")


def acting(report: Report) -> None:
    """One decision by goal set, for expressions of 1 to 1,000 operators."""
    bounds, _ = family()
    rng = np.random.default_rng(2)
    sets = {n: GoalSetQ(rng.random(G) < 0.5, bounds) for n in NAMES}
    deciding, lengths = [], (1, 10, 100, 1000)
    for n_operators in lengths:
        policy = GreedyPolicy(random_expression(n_operators, rng).evaluate(sets))
        states = rng.integers(0, S, 2000).tolist()
        deciding.append(lambda p=policy, b=states: [p.act(s) for s in b])
    times = {n: t / 2000 for n, t in zip(lengths, best_times(deciding, 15), strict=True)}
    for n_operators, seconds in times.items():
        report.note(f"act by goal set, {n_operators} operators", 1e6 * seconds, "us")
    report.at_most("act by goal set: slowest decision", 1e6 * max(times.values()), 20, "us")
    report.at_most("act by goal set: 1,000 operators / 1 operator", times[1000] / times[1], 1.3)


def main() -> None:
    """Run all bars."""
    report = Report()
    composing(report)
    acting(report)
    report.finish()


if __name__ == "__main__":
    main()
