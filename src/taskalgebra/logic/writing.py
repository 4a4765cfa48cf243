"""Layers written as formulas again, with G, N, R and W where they are shorter than a negation.

The length of a formula is counted in names, constants and operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import and_
from typing import Final, TypeAlias

from taskalgebra.logic.layers import Layers
from taskalgebra.logic.steps import Step, only
from taskalgebra.logic.sum_of_products import Cube

_Key: TypeAlias = tuple[str, int, bool]
"""("function", place, True) or ("atom", place, sign)."""
_NEGATED: Final = {"next": "weak_next", "eventually": "always", "until": "release"}


class Writer:
    """Functions and literals as steps, each written once."""

    def __init__(self, layers: Layers) -> None:
        """Write functions of these layers."""
        self._layers = layers
        self._steps: list[Step] = []
        self._lengths: list[int] = []
        self._places: dict[Step, int] = {}
        self._done: dict[_Key, int] = {}
        self._weak_operands: dict[int, tuple[int, int]] = {}

    def written(self, function: int) -> list[Step]:
        """The steps of a function, and no others."""
        root: _Key = ("function", function, True)
        stack = [root]
        while stack:
            key = stack.pop()
            if key in self._done:
                continue
            missing = [one for one in self._needs(key) if one not in self._done]
            if missing:
                stack += [key, *missing]
            else:
                self._done[key] = self._write(key)
        return only(self._steps, self._done[root])

    def _needs(self, key: _Key) -> Iterator[_Key]:
        """What must be written before."""
        what, place, sign = key
        if what == "function":
            atoms = self._layers.union(place)
            for cubes, turned in zip(self._both(place), (False, True), strict=True):
                for cube in cubes:
                    for atom, positive in literals_of(cube, atoms):
                        yield "atom", atom, positive != turned
            return
        kind, first, second = self._layers.atoms[place]
        if kind == "name":
            return
        operands = [int(first), second] if kind == "until" else [int(first)]
        if sign or kind == "until":
            yield from (("function", one, True) for one in operands)
        if not sign:
            yield from (("function", self._layers.negation(one), True) for one in operands)
            if kind == "until":
                yield from (("function", one, True) for one in self._weak(place))

    def _both(self, function: int) -> tuple[tuple[Cube, ...], tuple[Cube, ...]]:
        """Short sums of products of a function and of its negation."""
        layers = self._layers
        return layers.cover(function), layers.cover(layers.negation(function))

    def _weak(self, atom: int) -> tuple[int, int]:
        """The operands of ~(f U g) = ~g W (~f & ~g)."""
        if atom not in self._weak_operands:
            layers = self._layers
            _, first, second = layers.atoms[atom]
            g = layers.negation(second)
            right = layers.apply(and_, layers.negation(int(first)), g)
            left = layers.of_cubes(layers.cover(g, free=right), layers.union(g, right))
            self._weak_operands[atom] = left, right
        return self._weak_operands[atom]

    def _write(self, key: _Key) -> int:
        what, place, sign = key
        if what == "function":
            return self._function(place)
        kind, first, second = self._layers.atoms[place]
        if kind == "name":
            name = self._step("name", first)
            return name if sign else self._step("not", name)
        f, g = int(first), second
        if kind != "until":
            operand = f if sign else self._layers.negation(f)
            return self._step(kind if sign else _NEGATED[kind], self._at(operand))
        until = self._step("until", self._at(f), self._at(g))
        if sign:
            return until
        not_f, not_g = (self._at(self._layers.negation(one)) for one in (f, g))
        weak = self._step("weak_until", *(self._at(one) for one in self._weak(place)))
        return self._shortest(weak, self._step("release", not_f, not_g), self._step("not", until))

    def _at(self, function: int) -> int:
        return self._done["function", function, True]

    def _function(self, function: int) -> int:
        """The shorter one of a sum of products and a product of sums."""
        atoms = self._layers.union(function)
        cubes, negated = self._both(function)
        written = []
        for one, turned in ((cubes, False), (negated, True)):
            inner, outer = ("or", "and") if turned else ("and", "or")
            parts = []
            for cube in one:
                literals = sorted(literals_of(cube, atoms), key=self._names_first)
                places = [self._done["atom", atom, sign != turned] for atom, sign in literals]
                later = max(map(self._names_first, literals), default=(False, 0))[0]
                parts.append((later, self._joined(inner, places, not turned)))
            parts.sort(key=lambda part: part[0])
            written.append(self._joined(outer, (place for _, place in parts), turned))
        return self._shortest(*written)

    def _names_first(self, literal: tuple[int, bool]) -> tuple[bool, int]:
        """The order of literals: names, then temporal formulas."""
        return self._layers.atoms[literal[0]][0] != "name", literal[0]

    def _joined(self, kind: str, places: Iterable[int], empty: bool) -> int:
        """Several steps under one operator; of none, a constant."""
        found = -1
        for place in places:
            found = place if found < 0 else self._step(kind, found, place)
        return self._step("constant", empty) if found < 0 else found

    def _shortest(self, *places: int) -> int:
        return min(places, key=lambda place: self._lengths[place])

    def _step(self, kind: str, first: object, second: int | None = None) -> int:
        step: Step = (kind, first, second)
        place = self._places.setdefault(step, len(self._steps))
        if place == len(self._steps):
            self._steps.append(step)
            operands = [] if kind in ("name", "constant") else [first, second]
            lengths = (self._lengths[one] for one in operands if isinstance(one, int))
            self._lengths.append(1 + sum(lengths))
        return place


def literals_of(cube: Cube, atoms: Sequence[int]) -> list[tuple[int, bool]]:
    """The atoms of a product with their signs."""
    return [
        (atom, bool(cube.positive >> j & 1))
        for j, atom in enumerate(atoms)
        if (cube.positive | cube.negative) >> j & 1
    ]
