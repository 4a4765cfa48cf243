"""Temporal formulas as layers: Boolean functions of names and of temporal formulas.

The operands of a temporal operator, and the formula itself, are Boolean functions of atoms; an atom
is a name, or one of X f, F f and f U g, where f and g are functions again.  The other operators are
their negations: G f = ~F ~f, N f = ~X ~f, f R g = ~(~f U ~g).  Atoms and functions are stored once,
so equal ones have equal places.  A function is kept as a truth table with an axis for each atom
that it depends on.

`impossible` says which rows of a table no trace has, such as a true and F a false: they are free
when a function is to be made short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from taskalgebra.arrays import BoolArray
from taskalgebra.logic.sum_of_products import (
    EXACT_NAMES,
    Cube,
    irredundant_cover,
    shortest_cover,
)

MOST_ATOMS = 12
"""Atoms of one function."""

Atom = tuple[str, str | int, int]
"""("name", name, 0), ("next", f, 0), ("eventually", f, 0) or ("until", f, g)."""


class TooManyAtomsError(Exception):
    """A function of more atoms than a table can have."""


class Layers:
    """The atoms and functions of a formula."""

    def __init__(self) -> None:
        """Start with the constants."""
        self.atoms: list[Atom] = []
        self.functions: list[tuple[tuple[int, ...], BoolArray]] = []
        self._atom_places: dict[Atom, int] = {}
        self._function_places: dict[tuple[tuple[int, ...], bytes], int] = {}
        self._covers: dict[tuple[int, int | None], tuple[Cube, ...]] = {}
        self.false = self.function((), np.zeros((), bool))
        self.true = self.function((), np.ones((), bool))

    def atom(self, kind: str, first: str | int, second: int = 0) -> int:
        """The function that is this atom."""
        place = self._atom_places.setdefault((kind, first, second), len(self.atoms))
        if place == len(self.atoms):
            self.atoms.append((kind, first, second))
        return self.function((place,), np.array([False, True]))

    def function(self, atoms: Sequence[int], table: BoolArray) -> int:
        """The place of a function, without the atoms that it does not depend on."""
        needed = []
        for place in reversed(range(len(atoms))):
            low, high = np.moveaxis(table, place, 0)
            if np.array_equal(low, high):
                table = np.asarray(low)
            else:
                needed.append(atoms[place])
        key = tuple(reversed(needed))
        place = self._function_places.setdefault((key, table.tobytes()), len(self.functions))
        if place == len(self.functions):
            self.functions.append((key, table))
        return place

    def over(self, place: int, atoms: Sequence[int]) -> BoolArray:
        """The table of a function over more atoms, in order; its shape may have ones."""
        own, table = self.functions[place]
        return table.reshape([2 if atom in own else 1 for atom in atoms])

    def apply(self, operation: Callable[[BoolArray, BoolArray], BoolArray], f: int, g: int) -> int:
        """A Boolean operation on two functions."""
        atoms = self.union(f, g)
        if len(atoms) > MOST_ATOMS:
            raise TooManyAtomsError
        shape = (2,) * len(atoms)
        table = operation(self.over(f, atoms), self.over(g, atoms))
        return self.function(atoms, np.broadcast_to(table, shape))

    def union(self, *functions: int) -> list[int]:
        """The atoms of some functions."""
        return sorted({atom for f in functions for atom in self.functions[f][0]})

    def negation(self, f: int) -> int:
        """¬f."""
        atoms, table = self.functions[f]
        return self.function(atoms, ~table)

    def literal(self, f: int) -> tuple[Atom, bool] | None:
        """The atom and the sign of a function that is a single atom or its negation."""
        atoms, table = self.functions[f]
        return (self.atoms[atoms[0]], bool(table[1])) if len(atoms) == 1 else None

    def implies(self, f: int, g: int) -> bool:
        """Whether a table shows that f implies g."""
        atoms = self.union(f, g)
        if len(atoms) > MOST_ATOMS:
            return False
        return not (self.over(f, atoms) & ~self.over(g, atoms)).any()

    def cover(self, f: int, free: int | None = None) -> tuple[Cube, ...]:
        """A short sum of products; bit j of a cube is atom j of the function, or of both.

        Rows that are impossible, or where `free` holds, do not matter.
        """
        if (f, free) not in self._covers:
            atoms = self.union(f) if free is None else self.union(f, free)
            n, ignored = len(atoms), self.impossible(atoms)
            if free is not None:
                ignored = ignored | self.over(free, atoms)
            find = shortest_cover if n < EXACT_NAMES else irredundant_cover
            self._covers[f, free] = find(_bits(self.over(f, atoms), n), _bits(ignored, n), n)
        return self._covers[f, free]

    def of_cubes(self, cubes: Sequence[Cube], atoms: Sequence[int]) -> int:
        """The function of a sum of products."""
        axes = _axes(len(atoms))
        table = np.zeros((2,) * len(atoms), bool)
        for cube in cubes:
            product: BoolArray = np.ones((2,) * len(atoms), bool)
            for j, axis in enumerate(axes):
                if cube.positive >> j & 1:
                    product = product & axis
                if cube.negative >> j & 1:
                    product = product & ~axis
            table |= product
        return self.function(atoms, table)

    def impossible(self, atoms: Sequence[int]) -> BoolArray:
        """The rows over these atoms that no position of a trace has; not all are found."""
        here = set(atoms)
        axis = dict(zip(atoms, _axes(len(atoms)), strict=True))
        rows = np.zeros((2,) * len(atoms), bool)

        def table(f: int) -> BoolArray | None:
            return self.over(f, atoms) if here.issuperset(self.functions[f][0]) else None

        for one in atoms:
            holds = axis[one]
            kind, first, second = self.atoms[one]
            if kind == "name":
                continue
            assert isinstance(first, int)
            x, y = table(first), table(second)
            if kind == "eventually" and x is not None:
                rows |= x & ~holds
            elif kind == "until":
                if y is not None:
                    rows |= y & ~holds
                    if x is not None:
                        rows |= holds & ~x & ~y
            elif kind == "next":
                rows |= self._unfolded(first, holds, axis, table)
            for two in atoms:
                if two != one:
                    rows |= self._contradiction(one, two, holds, axis[two])
        return rows

    def _unfolded(
        self,
        f: int,
        holds: BoolArray,
        axis: dict[int, BoolArray],
        table: Callable[[int], BoolArray | None],
    ) -> BoolArray:
        """Rows against F x = x ∨ X F x and x U y = y ∨ (x ∧ X(x U y)), for an atom X f."""
        atoms, values = self.functions[f]
        if len(atoms) != 1 or atoms[0] not in axis or not values[1]:
            return np.zeros((), bool)
        kind, first, second = self.atoms[atoms[0]]
        now = axis[atoms[0]]
        if kind == "eventually":
            x = table(int(first))
            return holds & ~now if x is None else now ^ (x | holds)
        if kind == "until":
            x, y = table(int(first)), table(second)
            if x is not None and y is not None:
                return now ^ (y | (x & holds))
        return np.zeros((), bool)

    def _contradiction(self, one: int, two: int, first: BoolArray, second: BoolArray) -> BoolArray:
        """Rows in which one atom holds and another does not, or neither or both, against laws."""
        kind, x, y = self.atoms[one]
        other, v, w = self.atoms[two]
        rows: BoolArray = np.zeros((), bool)
        if "name" in (kind, other):
            return rows
        assert isinstance(x, int) and isinstance(v, int)
        if (kind == other and self.implies(x, v) and (kind != "until" or self.implies(y, w))) or (
            kind == "until" and other == "eventually" and self.implies(y, v)
        ):
            rows = first & ~second
        if kind == other == "eventually" and self.implies(self.negation(x), v):
            rows = rows | (~first & ~second)
        if kind == other == "next" and self.implies(x, self.negation(v)):
            rows = rows | (first & second)
        return rows


def _axes(n: int) -> list[BoolArray]:
    """The tables of n atoms themselves, each along its own axis."""
    return [
        np.array([False, True]).reshape([2 if i == j else 1 for i in range(n)]) for j in range(n)
    ]


def _bits(table: BoolArray, n: int) -> int:
    """A table as an integer, whose bit i has the value where atom j is bit j of i."""
    flat = np.broadcast_to(table, (2,) * n).ravel(order="F")
    return int.from_bytes(np.packbits(flat, bitorder="little").tobytes(), "little")
