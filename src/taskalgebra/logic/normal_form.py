"""Temporal formulas in negation normal form, over the letters of an alphabet.

A letter is a set of names, those that are true at one step.  A Boolean formula is then the set of
letters at which it holds, kept as the bits of an integer: a guard.  What is left of a temporal
formula are guards under six operators, each node stored once:

    a ∧ b    a ∨ b    X a    N a    a U b    a R b

    F a = true U a    G a = false R a    a W b = b R (a ∨ b)
    ¬X a = N ¬a    ¬(a U b) = ¬a R ¬b    a ⊻ b = (a ∧ ¬b) ∨ (¬a ∧ b)

Laws hold at any position of a non-empty finite trace.  There, both G F a and F G a say that a holds
at the last step, which has no next one: F(a ∧ N false).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from taskalgebra.logic.steps import Step

Node = tuple[str, int, int]
"""("guard", letters, 0), or an operator with the places of its operands."""


class NormalForm:
    """The distinct nodes of a formula, operands first."""

    def __init__(self, steps: Sequence[Step], letters: Sequence[Collection[str]]) -> None:
        """Read a formula that is given as the list of its subtrees (`logic.steps`)."""
        self.everything = (1 << len(letters)) - 1
        self.nodes: list[Node] = []
        self._places: dict[Node, int] = {}
        self.false = self._guard(0)
        self.true = self._guard(self.everything)
        self.root = self._read(steps, letters)

    def _read(self, steps: Sequence[Step], letters: Sequence[Collection[str]]) -> int:
        """The place of the formula."""
        places: list[tuple[int, int]] = []  # of each step and of its negation
        for kind, first, second in steps:
            if kind == "name":
                bits = sum(1 << i for i, letter in enumerate(letters) if first in letter)
                places.append((self._guard(bits), self._guard(self.everything ^ bits)))
            elif kind == "constant":
                places.append((self.true, self.false) if first else (self.false, self.true))
            elif kind == "not":
                places.append(places[first][::-1])
            elif second is None:
                places.append(self._unary(kind, *places[first]))
            else:
                places.append(self._binary(kind, *places[first], *places[second]))
        return places[-1][0]

    def _unary(self, kind: str, a: int, not_a: int) -> tuple[int, int]:
        if kind == "next":
            return self._next(a), self._weak(not_a)
        if kind == "weak_next":
            return self._weak(a), self._next(not_a)
        if kind == "eventually":
            return self._until(self.true, a), self._release(self.false, not_a)
        if kind == "always":
            return self._release(self.false, a), self._until(self.true, not_a)
        raise AssertionError(kind)

    def _binary(self, kind: str, a: int, not_a: int, b: int, not_b: int) -> tuple[int, int]:
        if kind == "and":
            return self._and(a, b), self._or(not_a, not_b)
        if kind == "or":
            return self._or(a, b), self._and(not_a, not_b)
        if kind == "xor":
            return (
                self._or(self._and(a, not_b), self._and(not_a, b)),
                self._or(self._and(a, b), self._and(not_a, not_b)),
            )
        if kind == "until":
            return self._until(a, b), self._release(not_a, not_b)
        if kind == "release":
            return self._release(a, b), self._until(not_a, not_b)
        if kind == "weak_until":
            either, neither = self._or(a, b), self._and(not_a, not_b)
            return self._release(b, either), self._until(not_b, neither)
        raise AssertionError(kind)

    def _place(self, node: Node) -> int:
        place = self._places.setdefault(node, len(self.nodes))
        if place == len(self.nodes):
            self.nodes.append(node)
        return place

    def _guard(self, letters: int) -> int:
        return self._place(("guard", letters, 0))

    def _and(self, a: int, b: int) -> int:
        a, b = min(a, b), max(a, b)
        if a == self.false or a == b:
            return a
        if a == self.true:
            return b
        one, two = self.nodes[a], self.nodes[b]
        if one[0] == two[0] == "guard":
            return self._guard(one[1] & two[1])
        return self._place(("and", a, b))

    def _or(self, a: int, b: int) -> int:
        a, b = min(a, b), max(a, b)
        if a == self.true or b == self.true or a == b:
            return self.true if a != b else a
        if a == self.false:
            return b
        one, two = self.nodes[a], self.nodes[b]
        if one[0] == two[0] == "guard":
            return self._guard(one[1] | two[1])
        return self._place(("or", a, b))

    def _next(self, a: int) -> int:
        return a if a == self.false else self._place(("next", a, 0))

    def _weak(self, a: int) -> int:
        return a if a == self.true else self._place(("weak", a, 0))

    def _until(self, a: int, b: int) -> int:
        if b in (self.true, self.false) or a in (b, self.false):
            return b
        kind, first, second = self.nodes[b]
        if a == self.true and first == self.true and kind == "until":
            return b  # F F a = F a
        if a == self.true and first == self.false and kind == "release":
            return self._at_last(second)
        return self._place(("until", a, b))

    def _release(self, a: int, b: int) -> int:
        if b in (self.true, self.false) or a in (b, self.true):
            return b
        kind, first, second = self.nodes[b]
        if a == self.false and first == self.false and kind == "release":
            return b  # G G a = G a
        if a == self.false and first == self.true and kind == "until":
            return self._at_last(second)
        return self._place(("release", a, b))

    def _at_last(self, a: int) -> int:
        """G F a and F G a."""
        return self._until(self.true, self._and(a, self._weak(self.false)))


def holds_at_the_end(steps: Sequence[Step]) -> bool:
    """Whether a formula holds of the empty trace.

    No name does, nor X, F and U, which need a step; N, G, R and W do; the Boolean operators are
    as always.  So a formula or its negation holds, never both.
    """
    values: list[bool] = []
    for kind, first, second in steps:
        if kind == "constant":
            values.append(first)
        elif kind == "not":
            values.append(not values[first])
        elif kind == "and":
            values.append(values[first] and values[second])
        elif kind == "or":
            values.append(values[first] or values[second])
        elif kind == "xor":
            values.append(values[first] != values[second])
        else:
            values.append(kind in ("weak_next", "always", "release", "weak_until"))
    return values[-1]
