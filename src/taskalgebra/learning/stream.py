"""A stream of random numbers that compiled and readable learners draw from alike.

xoroshiro128+ (Blackman and Vigna 2018), seeded by splitmix64.  It is a dozen instructions, so that
a compiled learner is not slowed down by drawing, and its state is two numbers, so that a run can be
saved and resumed bit for bit.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.compiled import kernel

State = NDArray[np.uint64]  # [2]
_MASK = 2**64 - 1


def seeded(seed: int) -> State:
    """The state that a seed starts from; different seeds give unrelated streams."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"the seed is {seed!r}, expected a whole number of at least 0")
    words = []
    z = int(seed) & _MASK
    for _ in range(2):
        z = (z + 0x9E3779B97F4A7C15) & _MASK
        x = z
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
        words.append(x ^ (x >> 31))
    return np.array(words, np.uint64)


@kernel
def draw(state: State) -> np.uint64:
    """The next 64 random bits."""
    s0, s1 = state[0], state[1]
    result: np.uint64 = s0 + s1
    s1 ^= s0
    state[0] = ((s0 << np.uint64(24)) | (s0 >> np.uint64(40))) ^ s1 ^ (s1 << np.uint64(16))
    state[1] = (s1 << np.uint64(37)) | (s1 >> np.uint64(27))
    return result


@kernel
def uniform(state: State) -> float:
    """A number in [0, 1), from the upper 53 bits."""
    return float(draw(state) >> np.uint64(11)) * 2.0**-53


@final
class Stream:
    """The same stream for Python code."""

    def __init__(self, seed: int = 0, state: State | None = None) -> None:
        """Start from a seed, or go on from a saved state."""
        self.state: State = seeded(seed) if state is None else state.copy()

    def random(self) -> float:
        """A number in [0, 1)."""
        return uniform(self.state)
