"""Short Boolean formulas for sets of letters, where only the letters of an alphabet occur."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from taskalgebra.arrays import BoolArray
from taskalgebra.logic.expression import FALSE, TRUE, Expression, sum_of_cubes
from taskalgebra.logic.formulas import from_truth_table
from taskalgebra.logic.sum_of_products import EXACT_NAMES, Cube, all_true


def matrix(letters: Sequence[Collection[str]], names: Sequence[str]) -> BoolArray:
    """[L, N], which names each letter holds."""
    found: BoolArray = np.array([[name in letter for name in names] for letter in letters])
    return found.reshape(len(letters), len(names))


def guard(letters: BoolArray, inside: BoolArray, names: Sequence[str]) -> Expression:
    """A formula that is true at some letters and false at others; all else does not matter.

    It is a shortest sum of products for up to 5 names, and a short one for more.

    Args:
        letters: `[L, N]`, which names each letter holds.
        inside: `[L]`, the letters at which it is true; it is false at the others.
        names: of which letters are sets, `[N]`.
    """
    if inside.all() or not inside.any():
        return TRUE if inside.any() else FALSE
    if len(names) < EXACT_NAMES:
        true, false = (_rows(letters[each]) for each in (inside, ~inside))
        return from_truth_table(true, names, all_true(len(names)) & ~(true | false))
    return sum_of_cubes(_cover(letters[inside], letters[~inside]), names)


def _rows(letters: BoolArray) -> int:
    """The rows of a truth table that are these letters."""
    places = (letters << np.arange(letters.shape[1])).sum(axis=1)
    return sum(1 << int(place) for place in places)


def _cover(inside: BoolArray, outside: BoolArray) -> list[Cube]:
    """Products that cover the rows inside and no row outside, each with few literals."""
    cubes = []
    left = inside
    while len(left):
        letter = left[0]
        differs = outside != letter  # a product needs a literal in every row
        wanted: list[int] = []
        while len(differs):
            gain = 2 * differs.sum(axis=0) + letter  # of two as good, the name rather than its not
            best = int(gain.argmax())
            wanted.append(best)
            differs = differs[~differs[:, best]]
        cubes.append(
            Cube(
                sum(1 << j for j in wanted if letter[j]),
                sum(1 << j for j in wanted if not letter[j]),
            )
        )
        left = left[(left[:, wanted] != letter[wanted]).any(axis=1)]
    return cubes
