"""Shorter temporal formulas with the same meaning.

A formula is read into layers (`logic.layers`), where the laws below are applied, and written again.
Each layer is a short sum of products of its atoms, or a product of sums if that is shorter.

    F F a = F a      F(a | F b) = F(a | b)     F(a U b) = F b      F X a = X F a    G F G a = F G a
    a U F b = F b    a U (a U b) = a U b       (a U b) U b = a U b    true U a = F a
    F a | F b = F(a | b)        X a & X b = X(a & b)      X a | X b = X(a | b)
    a U b | a U c = a U (b | c)      a U c & b U c = (a & b) U c      (a | b) U b = a U b

and the same under negation, for G, N, R and W.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import and_, or_, xor
from typing import Final

from taskalgebra.arrays import BoolArray
from taskalgebra.logic.layers import Atom, Layers, TooManyAtomsError
from taskalgebra.logic.steps import Step
from taskalgebra.logic.sum_of_products import Cube
from taskalgebra.logic.writing import Writer, literals_of

MOST_STEPS = 1_000
"""A formula of more subformulas is left as it is."""
_ROUNDS = 8
_DEPTH = 16  # of merges inside merged operands

_OPERATIONS: Final[dict[str, Callable[[BoolArray, BoolArray], BoolArray]]] = {
    "and": and_, "xor": xor, "or": or_
}  # fmt: skip


def shortened(steps: Sequence[Step]) -> list[Step]:
    """A formula with the same meaning on every non-empty finite trace, hopefully a shorter one."""
    if len(steps) > MOST_STEPS:
        return list(steps)
    rewriting = _Rewriting()
    try:
        return Writer(rewriting.layers).written(rewriting.read(steps))
    except TooManyAtomsError:
        return list(steps)


class _Rewriting:
    """The laws, on layers."""

    def __init__(self) -> None:
        self.layers = Layers()
        self._short: dict[int, int] = {}
        self._depth = 0

    def read(self, steps: Sequence[Step]) -> int:
        """The function of a formula."""
        layers, found = self.layers, list[int]()
        for kind, first, second in steps:
            if kind == "name":
                found.append(layers.atom("name", first))
            elif kind == "constant":
                found.append(layers.true if first else layers.false)
            elif kind == "not":
                found.append(layers.negation(found[first]))
            elif kind in _OPERATIONS:
                found.append(layers.apply(_OPERATIONS[kind], found[first], found[second]))
            elif second is None:
                found.append(self._unary(kind, found[first]))
            else:
                found.append(self._binary(kind, found[first], found[second]))
        return self._shortened(found[-1])

    def _unary(self, kind: str, f: int) -> int:
        if kind in ("weak_next", "always"):
            return self.layers.negation(
                self._unary(
                    "next" if kind == "weak_next" else "eventually", self.layers.negation(f)
                )
            )
        return self._next(f) if kind == "next" else self._eventually(f)

    def _binary(self, kind: str, f: int, g: int) -> int:
        layers = self.layers
        if kind == "until":
            return self._until(f, g)
        if kind == "weak_until":  # f W g = g R (f | g)
            f, g = g, layers.apply(or_, f, g)
        return layers.negation(self._until(layers.negation(f), layers.negation(g)))

    def _next(self, f: int) -> int:
        f = self._shortened(f)
        return f if f == self.layers.false else self.layers.atom("next", f)

    def _eventually(self, f: int) -> int:
        steps = 0
        f = self._shortened(f)
        while True:
            atom, sign = self.layers.literal(f) or (("", 0, 0), False)
            if sign and atom[0] == "next":  # F X a = X F a
                steps, f = steps + 1, int(atom[1])
            else:
                found = self._without_eventually(f)
                if found == f:
                    break
                f = self._shortened(found)
        if f not in (self.layers.false, self.layers.true) and not self._at_the_end(f):
            f = self.layers.atom("eventually", f)
        for _ in range(steps):
            f = self._next(f)
        return f

    def _without_eventually(self, f: int) -> int:
        """F(a | F b) = F(a | b) and F(a | b U c) = F(a | c): the operand without F b and b U c."""
        atoms = self.layers.union(f)
        rest, loose = [], []
        for cube in self.layers.cover(f):
            atom = _single(cube, positive=True)
            kind, first, second = self.layers.atoms[atoms[atom]] if atom >= 0 else ("", 0, 0)
            if kind in ("eventually", "until"):
                loose.append(int(first) if kind == "eventually" else second)
            else:
                rest.append(cube)
        if not loose:
            return f
        found = self.layers.of_cubes(rest, atoms)
        for g in loose:
            found = self.layers.apply(or_, found, g)
        return found

    def _at_the_end(self, f: int) -> bool:
        """Whether a function is G F a or its negation F G ~a, which speak of the last step only."""
        for _ in range(2):
            atom, sign = self.layers.literal(f) or (("", 0, 0), True)
            if atom[0] != "eventually" or sign:
                return False
            f = int(atom[1])
        return True

    def _until(self, f: int, g: int) -> int:
        layers = self.layers
        g = self._shortened(g)
        if g in (layers.false, layers.true):
            return g
        f = layers.of_cubes(layers.cover(f, free=g), layers.union(f, g))
        if f == layers.true:
            return self._eventually(g)
        if f == layers.false:
            return g
        atom, sign = layers.literal(g) or (("", 0, 0), False)
        if sign and (atom[0] == "eventually" or atom[:2] == ("until", f)):
            return g
        atom, sign = layers.literal(f) or (("", 0, 0), False)
        if sign and atom[0] == "until" and atom[2] == g:
            return f
        return layers.atom("until", f, g)

    def _shortened(self, f: int) -> int:
        """The function of a short sum of products that is the same on every trace."""
        if f in self._short:
            return self._short[f]
        found = f
        self._depth += 1
        for _ in range(_ROUNDS if self._depth <= _DEPTH else 0):
            atoms = self.layers.union(found)
            before, found = found, self._merged(self.layers.cover(found), atoms)
            if found == before:
                break
        self._depth -= 1
        self._short[f] = self._short[found] = found
        return found

    def _merged(self, cubes: Sequence[Cube], atoms: list[int]) -> int:
        """A sum of products, in which atoms are merged if that makes one of two."""
        layers = self.layers
        total = layers.false
        single: list[tuple[int, bool]] = []
        for cube in cubes:
            literals = literals_of(cube, atoms)
            if len(literals) == 1:
                single += literals
                continue
            product = layers.true
            for found in self._joined(literals, either=False):
                product = layers.apply(and_, product, found)
            total = layers.apply(or_, total, product)
        for found in self._joined(single, either=True):
            total = layers.apply(or_, total, found)
        return total

    def _joined(self, literals: Sequence[tuple[int, bool]], either: bool) -> Iterator[int]:
        """The literals of a sum or of a product, as functions, some merged into one."""
        groups: dict[tuple[object, ...], list[tuple[Atom, bool]]] = {}
        for atom, sign in literals:
            kind, first, second = self.layers.atoms[atom]
            joins = either == sign  # ¬a ∧ ¬b = ¬(a ∨ b)
            if kind == "next":
                key: tuple[object, ...] = (kind, sign)
            elif kind == "eventually" and joins:
                key = (kind, sign)
            elif kind == "until":
                key = (kind, sign, first) if joins else (kind, sign, "left", second)
            else:
                key = (atom, sign)
            groups.setdefault(key, []).append((self.layers.atoms[atom], sign))
        for group in groups.values():
            yield self._group(group, either)

    def _group(self, group: Sequence[tuple[Atom, bool]], either: bool) -> int:
        """One function for atoms of one kind."""
        layers = self.layers
        (kind, first, second), sign = group[0]
        if len(group) == 1:
            found = layers.atom(kind, first, second)
        else:
            join = or_ if either == sign else and_
            right = kind == "until" and join is or_  # a U b | a U c = a U (b | c)
            operand = int(second if right else first)
            for (_, one, two), _ in group[1:]:
                operand = layers.apply(join, operand, int(two if right else one))
            if kind == "next":
                found = self._next(operand)
            elif kind == "eventually":
                found = self._eventually(operand)
            else:
                found = self._until(int(first), operand) if right else self._until(operand, second)
        return found if sign else layers.negation(found)


def _single(cube: Cube, positive: bool) -> int:
    """The only atom of a product, or −1."""
    bits = cube.positive if positive else cube.negative
    other = cube.negative if positive else cube.positive
    return bits.bit_length() - 1 if bits.bit_count() == 1 and not other else -1
