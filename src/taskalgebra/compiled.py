"""One way to compile a numerical kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile with numba: cached on disk, without the interpreter lock, no fast-math.

    Fast-math would let the compiler reorder sums and assume that infinities do not occur, and
    exact planning allows neither.
    """
    compiled: F = njit(cache=True, nogil=True)(function)
    return compiled
