"""The oracle of temporal formulas: finite-trace semantics, straight from the definition.

It recurses on formulas and positions of the trace, and shares nothing with the library but the
classes of nodes.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

from taskalgebra.logic.expression import And, Constant, Expression, Name, Not, Or, Xor
from taskalgebra.logic.temporal import (
    Always,
    Eventually,
    Next,
    Release,
    Until,
    WeakNext,
    WeakUntil,
)

Trace = Sequence[Collection[str]]
UNARY = (Not, Next, WeakNext, Eventually, Always)
BINARY = (And, Or, Xor, Until, Release, WeakUntil)


def holds(tree: Expression, trace: Trace, at: int = 0) -> bool:
    """Whether the formula holds at a position of a non-empty trace."""
    rest = range(at, len(trace))
    match tree:
        case Name():
            return tree.name in trace[at]
        case Constant():
            return tree.content is True
        case Not(operand):
            return not holds(operand, trace, at)
        case And(left, right):
            return holds(left, trace, at) and holds(right, trace, at)
        case Or(left, right):
            return holds(left, trace, at) or holds(right, trace, at)
        case Xor(left, right):
            return holds(left, trace, at) != holds(right, trace, at)
        case Next(operand):
            return at + 1 < len(trace) and holds(operand, trace, at + 1)
        case WeakNext(operand):
            return at + 1 == len(trace) or holds(operand, trace, at + 1)
        case Eventually(operand):
            return any(holds(operand, trace, i) for i in rest)
        case Always(operand):
            return all(holds(operand, trace, i) for i in rest)
        case Until(left, right):
            return any(
                holds(right, trace, i) and all(holds(left, trace, j) for j in range(at, i))
                for i in rest
            )
        case Release(left, right):
            return all(
                holds(right, trace, i) or any(holds(left, trace, j) for j in range(at, i))
                for i in rest
            )
        case WeakUntil(left, right):
            return holds(Until(left, right), trace, at) or all(holds(left, trace, i) for i in rest)
    raise AssertionError(tree)


def random_formula(rng: random.Random, size: int, names: Sequence[str]) -> Expression:
    """A formula with this many operators and leaves."""
    if size <= 1:
        return Name(rng.choice(names)) if rng.random() < 0.92 else Constant(rng.random() < 0.5)
    if size == 2 or rng.random() < 0.4:
        return rng.choice(UNARY)(random_formula(rng, size - 1, names))
    left = rng.randint(1, size - 2)
    sides = random_formula(rng, left, names), random_formula(rng, size - 1 - left, names)
    return rng.choice(BINARY)(*sides)


def random_trace(rng: random.Random, length: int, names: Sequence[str]) -> list[frozenset[str]]:
    """A trace of this length; each name is true with one chance for all steps."""
    chance = {name: rng.choice([0.1, 0.5, 0.9]) for name in names}
    return [frozenset(n for n in names if rng.random() < chance[n]) for _ in range(length)]
