"""Oracles of temporal formulas: finite-trace semantics, straight from the definition.

They recurse on formulas and quantify over the positions of a trace, and share nothing with the
library but the classes of nodes.  `holds` judges one trace, `on_all` many of one length at once.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from operator import and_, or_

import numpy as np

from taskalgebra.logic.automaton import Automaton
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
Known = dict[int, tuple[Expression, list[int]]]
"""By the id of a formula, which is kept so that no other gets its id."""
UNARY = (Not, Next, WeakNext, Eventually, Always)
BINARY = (And, Or, Xor, Until, Release, WeakUntil)


def holds(formula: Expression, trace: Trace) -> bool:
    """Whether the formula holds at the first step of a non-empty trace."""
    known: dict[tuple[int, int], bool] = {}

    def at(tree: Expression, i: int) -> bool:
        key = id(tree), i
        if key not in known:
            known[key] = judged(tree, i)
        return known[key]

    def judged(tree: Expression, i: int) -> bool:
        rest = range(i, len(trace))
        match tree:
            case Name():
                return tree.name in trace[i]
            case Constant():
                return tree.content is True
            case Not(operand):
                return not at(operand, i)
            case And(left, right):
                return at(left, i) and at(right, i)
            case Or(left, right):
                return at(left, i) or at(right, i)
            case Xor(left, right):
                return at(left, i) != at(right, i)
            case Next(operand):
                return i + 1 < len(trace) and at(operand, i + 1)
            case WeakNext(operand):
                return i + 1 == len(trace) or at(operand, i + 1)
            case Eventually(operand):
                return any(at(operand, j) for j in rest)
            case Always(operand):
                return all(at(operand, j) for j in rest)
            case Until(left, right):
                return any(at(right, k) and all(at(left, j) for j in range(i, k)) for k in rest)
            case Release(left, right):
                return all(at(right, k) or any(at(left, j) for j in range(i, k)) for k in rest)
            case WeakUntil(left, right):
                reached = any(at(right, k) and all(at(left, j) for j in range(i, k)) for k in rest)
                return reached or all(at(left, j) for j in rest)
        raise AssertionError(tree)

    return at(formula, 0)


def on_all(tree: Expression, truth: Mapping[str, list[int]], known: Known) -> list[int]:
    """At each position, the set of traces of which the formula holds there, as bits.

    Args:
        tree: The formula.
        truth: The same for the names; traces have one length.
        known: What was found before for the same traces; it grows.
    """
    if id(tree) not in known:
        n = len(next(iter(truth.values())))
        operands = [on_all(one, truth, known) for one in tree.operands]
        known[id(tree)] = tree, [_at(tree, i, n, truth, *operands) for i in range(n)]
    return known[id(tree)][1]


def _at(tree, i, n, truth, x=(), y=()) -> int:
    """The traces of which a formula holds at position i, given where its operands do."""
    match tree:
        case Name():
            return truth[tree.name][i]
        case Constant():
            return -1 if tree.content else 0
        case Not():
            return ~x[i]
        case And():
            return x[i] & y[i]
        case Or():
            return x[i] | y[i]
        case Xor():
            return x[i] ^ y[i]
        case Next():
            return x[i + 1] if i + 1 < n else 0
        case WeakNext():
            return x[i + 1] if i + 1 < n else -1
        case Eventually():
            return reduce(or_, x[i:])
        case Always():
            return reduce(and_, x[i:])
        case Until():
            return _until(x, y, i)
        case Release():
            return reduce(and_, (y[k] | reduce(or_, x[i:k], 0) for k in range(i, n)))
        case WeakUntil():
            return _until(x, y, i) | reduce(and_, x[i:])
    raise AssertionError(tree)


def _until(x: Sequence[int], y: Sequence[int], i: int) -> int:
    """Where y holds at some k ≥ i, and x at all positions from i to k − 1."""
    return reduce(or_, (y[k] & reduce(and_, x[i:k], -1) for k in range(i, len(y))))


def all_formulas(size: int, leaves: Sequence[Expression]) -> Iterator[Expression]:
    """All formulas of so many nodes."""
    by_size: list[list[Expression]] = [[], list(leaves)]
    for n in range(2, size + 1):
        unary = [kind(one) for kind in UNARY for one in by_size[n - 1]]
        binary = [
            kind(one, two)
            for kind in BINARY
            for k in range(1, n - 1)
            for one in by_size[k]
            for two in by_size[n - 1 - k]
        ]
        by_size.append(unary + binary)
    yield from by_size[size]


def random_formula(rng: random.Random, size: int, names: Sequence[str]) -> Expression:
    """A formula of so many nodes."""
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


class Exhaustive:
    """All traces of up to five steps over some names, to judge automata on."""

    def __init__(self, names: Sequence[str], longest: int = 5) -> None:
        """Make the traces: the one with letters x, y, z is number (x·L + y)·L + z."""
        self._names = list(names)
        self._letters = [
            [name for j, name in enumerate(names) if i >> j & 1] for i in range(1 << len(names))
        ]
        self._truth: list[dict[str, list[int]]] = []
        self._known: list[Known] = []
        for length in range(1, longest + 1):
            traces = list(itertools.product(range(len(self._letters)), repeat=length))
            self._truth.append(
                {
                    name: [
                        sum(1 << t for t, trace in enumerate(traces) if trace[i] >> j & 1)
                        for i in range(length)
                    ]
                    for j, name in enumerate(names)
                }
            )
            self._known.append({})

    def mismatches(self, formula: Expression, automaton: Automaton) -> int:
        """On how many traces the automaton disagrees with the definition."""
        step = automaton.delta[:, [automaton.letter(letter) for letter in self._letters]]
        states = np.array([automaton.start])
        wrong = 0
        for truth, known in zip(self._truth, self._known, strict=True):
            states = step[states].ravel()
            accepted = np.packbits(automaton.accepting[states], bitorder="little").tobytes()
            expected = on_all(formula, truth, known)[0] & (1 << len(states)) - 1
            wrong += (int.from_bytes(accepted, "little") ^ expected).bit_count()
        return wrong

    def forget(self) -> None:
        """Let go of what was found about subformulas."""
        for known in self._known:
            known.clear()
