"""The three operators of the Boolean task algebra, written once (Definitions 1 and 4).

The paper defines ¬, ∨, ∧ twice: on tasks, where they act on rewards r(s, a), and on extended
value functions, where they act on Q̄(s, g, a).  Both are the same three pointwise formulas, so they
are defined here once, on arrays of any shape:

    (x ∧ y) = min{x, y}        (x ∨ y) = max{x, y}        ¬x = (U + ∅) − x

`U` and `∅` are the bounds of the algebra: the rewards (or values) of the universal and of the empty
task.  `Bounds` keeps them together with their sum, so that they are computed once and shared.

`BooleanElement` gives any class the operators `&  |  ~  ^`.  `LAWS` lists the axioms of a Boolean
algebra as data, so that every carrier (goal sets, tasks, tables, networks) is held to one suite.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array
from taskalgebra.content import ByContent


def conjunction(x: Array, y: Array) -> Array:
    """(x ∧ y) = min{x, y}  (Definitions 1 and 4)."""
    return np.minimum(x, y)


def disjunction(x: Array, y: Array) -> Array:
    """(x ∨ y) = max{x, y}  (Definitions 1 and 4)."""
    return np.maximum(x, y)


def negation(x: Array, bounds: Bounds) -> Array:
    """¬x = (U + ∅) − x  (Definitions 1 and 4); −∞ stays −∞ where both bounds are −∞.

    A value of −∞ belongs to a state from which no goal can be reached, whatever the task.
    """
    if bounds.dead is None:
        return bounds.total - x
    with np.errstate(invalid="ignore"):  # −∞ − (−∞), replaced on the next line
        result = bounds.total - x
    result[np.broadcast_to(bounds.dead, result.shape)] = -np.inf
    return result


@dataclass(frozen=True, eq=False)
class Bounds(ByContent):
    """The largest and the smallest element of an algebra, U and ∅, and their sum."""

    universal: Array
    empty: Array

    @cached_property
    def total(self) -> Array:
        """U + ∅, the constant of every negation."""
        return self.universal + self.empty

    @cached_property
    def dead(self) -> NDArray[np.bool_] | None:
        """Where both bounds are −∞; None if nowhere."""
        dead = np.isneginf(self.total)
        return dead if dead.any() else None

    def rows(self, rows: slice) -> Bounds:
        """The bounds of some rows, which reuse the sum."""
        part = Bounds(self.universal[rows], self.empty[rows])
        part.__dict__["total"] = self.total[rows]
        part.__dict__["dead"] = None if self.dead is None else self.dead[rows]
        return part


class BooleanElement(ByContent, ABC):
    """An element of a Boolean algebra: `a & b`, `a | b`, `~a`, `a ^ b`.

    A carrier defines ∧, ∨ and ¬.  Exclusive or follows from them, as in the paper.
    """

    __slots__ = ()

    @abstractmethod
    def __and__(self, other: Self) -> Self:
        """Conjunction ∧."""

    @abstractmethod
    def __or__(self, other: Self) -> Self:
        """Disjunction ∨."""

    @abstractmethod
    def __invert__(self) -> Self:
        """Negation ¬."""

    def __xor__(self, other: Self) -> Self:
        """Exclusive or: a ⊻ b = (a ∨ b) ∧ ¬(a ∧ b)."""
        return (self | other) & ~(self & other)

    def __bool__(self) -> bool:
        """Refuse: Python's `and`, `or` and `not` cannot be overloaded."""
        raise TypeError(
            f"{type(self).__name__} has no truth value; "
            f"write a & b, a | b, ~a (not: a and b, a or b, not a)"
        )


@dataclass(frozen=True)
class Law:
    """One axiom: `sides(a, b, c, zero, one)` lists pairs that must be equal.

    `needs` says what a law requires beyond min, max and an order-reversing involution, which
    suffice for the others on any arrays: "bounds", that no element lies outside `zero` and `one`;
    "two values", Assumption 2.
    """

    name: str
    paper: str
    needs: Literal["", "bounds", "two values"]
    sides: Callable[[Any, Any, Any, Any, Any], list[tuple[Any, Any]]]


LAWS: tuple[Law, ...] = (
    Law("idempotence", "(i)", "", lambda a, b, c, o, i: [(a & a, a), (a | a, a)]),
    Law(
        "commutativity",
        "(ii)",
        "",
        lambda a, b, c, o, i: [(a & b, b & a), (a | b, b | a)],
    ),
    Law(
        "associativity",
        "(iii)",
        "",
        lambda a, b, c, o, i: [(a & (b & c), (a & b) & c), (a | (b | c), (a | b) | c)],
    ),
    Law(
        "absorption",
        "(iv)",
        "",
        lambda a, b, c, o, i: [(a & (a | b), a), (a | (a & b), a)],
    ),
    Law(
        "distributivity",
        "(v)",
        "",
        lambda a, b, c, o, i: [
            (a & (b | c), (a & b) | (a & c)),
            (a | (b & c), (a | b) & (a | c)),
        ],
    ),
    Law(
        "De Morgan",
        "follows",
        "",
        lambda a, b, c, o, i: [(~(a & b), ~a | ~b), (~(a | b), ~a & ~b)],
    ),
    Law("double negation", "follows", "", lambda a, b, c, o, i: [(~~a, a)]),
    Law(
        "identity",
        "(vi)",
        "bounds",
        lambda a, b, c, o, i: [(o & a, o), (o | a, a), (i & a, a), (i | a, i)],
    ),
    Law(
        "complements",
        "(vii)",
        "two values",
        lambda a, b, c, o, i: [(a & ~a, o), (a | ~a, i)],
    ),
)
"""The axioms of a Boolean algebra (supplement, Definition 1), and two laws that follow."""
