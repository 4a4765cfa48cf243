"""Numbers for observations that have none, so that tables can hold their values.

An observation is any array, such as a grid of bytes or a vector of small whole numbers; two are the
same if all their numbers are.  They are numbered in the order in which they are first met.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import LongArray
from taskalgebra.content import ByContent


@final
class Numbering(ByContent):
    """Numbers from 0 for the different observations that were met."""

    def __init__(self, observations: NDArray[Any]) -> None:
        """Start with these, `[S, ...]`; `[0, ...]` to start with none.

        Raises:
            ValueError: they are not numbers, or some are the same.
        """
        if observations.dtype.kind not in "biuf":
            raise ValueError(f"observations are {observations.dtype}, expected numbers")
        self._like = observations[:0]
        self._met: list[NDArray[Any]] = []
        self._number: dict[bytes, int] = {}
        for row in observations:
            self.meet(row)
        if len(self) != len(observations):
            raise ValueError(f"of {len(observations)} observations only {len(self)} are different")

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __len__(self) -> int:
        """The number of different observations met."""
        return len(self._met)

    @property
    def observations(self) -> NDArray[Any]:
        """[S, ...], in the order of their numbers."""
        return np.stack(self._met) if self._met else self._like

    @property
    def observation_ndim(self) -> int:
        """Axes of one observation."""
        return self._like.ndim - 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one observation."""
        return self._like.shape[1:]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its numbers."""
        return self._like.dtype

    def meet(self, observation: ArrayLike) -> int:
        """The number of an observation; a new one if it was never met."""
        row = self._rows([observation])[0]
        number = self._number.setdefault(row.tobytes(), len(self._met))
        if number == len(self._met):
            self._met.append(row.copy())
        return number

    def find(self, observations: ArrayLike) -> LongArray:
        """[B], the numbers of a batch of observations; S for those that were never met."""
        rows = self._rows(observations)
        return np.array([self._number.get(row.tobytes(), len(self)) for row in rows], np.int64)

    def _rows(self, observations: ArrayLike | Sequence[ArrayLike]) -> NDArray[Any]:
        given = np.asarray(observations)
        if given.shape[1:] != self._like.shape[1:] and given.size:
            raise ValueError(
                f"observations must be a batch of shape [B, "
                f"{', '.join(map(str, self._like.shape[1:]))}], got shape {given.shape}"
            )
        rows = np.ascontiguousarray(given, self._like.dtype)
        return rows + rows.dtype.type(0) if rows.dtype.kind == "f" else rows  # −0 is 0
