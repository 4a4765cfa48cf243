"""Numbers of states as numbers of what is shown: the cells of a map, or the states of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray

DECIMALS = 10
"""Of values in answers: enough for any reward, and 1.1 is not 1.0999999999999999."""


@final
class Cells:
    """Places, of which the free ones are the first states of a world, in this order."""

    def __init__(self, free: BoolArray, each: str) -> None:
        """Take which places are free, and what one is called."""
        self.free, self.each = free, each
        self.n = self.free.size
        self.n_free = int(self.free.sum())

    @classmethod
    def of_map(cls, rows: Sequence[str]) -> Cells:
        """The cells of a map, row by row; the states of goals come after all of them."""
        return cls(np.frombuffer("".join(rows).encode(), "S1") == b".", "cell")

    @classmethod
    def of_states(cls, n_states: int) -> Cells:
        """All states of a table, those of goals included."""
        return cls(np.ones(n_states, np.bool_), "state")

    def values(self, values: Array) -> Array:
        """[places], rounded; NaN, which JSON writes as null, in walls."""
        filled = np.full(self.n, np.nan)
        filled[self.free] = values[: self.n_free].round(DECIMALS)
        return filled

    def choices(self, choices: LongArray, shown: Array) -> list[Any]:
        """[places], whole numbers where `shown` is finite, else null."""
        known = np.isfinite(shown)
        filled = np.full(self.n, None)
        filled[known] = choices[: self.n_free][known[self.free]]
        found: list[Any] = filled.tolist()
        return found

    def place(self, state: int) -> int:
        """Where a state is shown."""
        return int(np.flatnonzero(self.free)[state])


def ends(values: Array) -> list[float]:
    """The lowest and the highest of the values that are finite, of which there is one at least."""
    known = values[np.isfinite(values)]
    return [float(known.min()), float(known.max())]
