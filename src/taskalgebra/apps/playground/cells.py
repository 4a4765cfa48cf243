"""Numbers of states as numbers of the cells of a map, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from taskalgebra.arrays import Array, LongArray

DECIMALS = 10
"""Of values in answers: enough for any reward, and 1.1 is not 1.0999999999999999."""


class Cells:
    """The cells of a map; the free ones are the first states of its world, and goals come after."""

    def __init__(self, rows: Sequence[str]) -> None:
        """Find the free cells."""
        self.free = np.frombuffer("".join(rows).encode(), "S1") == b"."
        self.n = self.free.size
        self.n_free = int(self.free.sum())

    def values(self, values: Array) -> Array:
        """[cells], rounded; NaN, which JSON writes as null, in walls."""
        filled = np.full(self.n, np.nan)
        filled[self.free] = values[: self.n_free].round(DECIMALS)
        return filled

    def choices(self, choices: LongArray, shown: Array) -> list[Any]:
        """[cells], whole numbers where `shown` is finite, else null."""
        known = np.isfinite(shown)
        filled = np.full(self.n, None)
        filled[known] = choices[: self.n_free][known[self.free]]
        found: list[Any] = filled.tolist()
        return found


def ends(values: Array) -> list[float]:
    """The lowest and the highest of the values that are finite, of which there is one at least."""
    known = values[np.isfinite(values)]
    return [float(known.min()), float(known.max())]
