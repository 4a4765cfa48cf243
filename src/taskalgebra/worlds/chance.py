"""Chance: a stream of random numbers, and the outcome that a number selects.

**The stream** is xoroshiro128+ (Blackman and Vigna 2018), seeded by splitmix64; compiled and
readable learners both draw from it.  It takes a dozen instructions, so that drawing does not slow a
compiled learner down, and its state is two numbers, so that a run can be saved and resumed bit for
bit.

**The outcomes** of an action are held in compressed rows (see `FiniteMDP`).  Everything that acts
in a finite world selects by `outcome`, so that equal numbers lead to equal states.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.validation import count

State = NDArray[np.uint64]  # [2]
_MASK = 2**64 - 1


def seeded(seed: int) -> State:
    """The initial state of a seed; different seeds give unrelated streams."""
    words = []
    z = count(seed, "seed", least=0, most=2**128) & _MASK
    for _ in range(2):
        z = (z + 0x9E3779B97F4A7C15) & _MASK
        x = z
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
        words.append(x ^ (x >> 31))
    return np.array(words, np.uint64)


@kernel
def following(s0: np.uint64, s1: np.uint64) -> tuple[float, np.uint64, np.uint64]:
    """A number in [0, 1), from the upper 53 bits, and the next state.

    The state is passed and returned as two numbers, which a compiled loop keeps in registers.
    """
    number = np.int64((s0 + s1) >> np.uint64(11)) * 2.0**-53  # signed: one instruction, not six
    s1 ^= s0
    after = ((s0 << np.uint64(24)) | (s0 >> np.uint64(40))) ^ s1 ^ (s1 << np.uint64(16))
    return number, after, (s1 << np.uint64(37)) | (s1 >> np.uint64(27))


@kernel
def uniform(state: State) -> float:
    """A number in [0, 1); the state is advanced."""
    number, s0, s1 = following(state[0], state[1])
    state[0], state[1] = s0, s1
    return number


@kernel
def outcome(first: int, last: int, probability: Array, number: float) -> int:
    """The outcome k, from the first to the last of a row, that a number in [0, 1) selects."""
    k = first
    while k < last and number >= probability[k]:
        number -= probability[k]
        k += 1
    return k


@kernel
def sampled(offset: LongArray, probability: Array, pair: int, stream: State) -> int:
    """A random outcome of a row; a certain one draws no number."""
    k: int = offset[pair]
    last = offset[pair + 1] - 1
    if k < last:
        k = outcome(k, last, probability, uniform(stream))
    return k


@kernel
def outcomes(offset: LongArray, probability: Array, pairs: LongArray, numbers: Array) -> LongArray:
    """`[N]`, the outcome that each number selects from its row."""
    chosen = np.empty(pairs.size, np.int64)
    for i in range(pairs.size):
        first, last = offset[pairs[i]], offset[pairs[i] + 1] - 1
        chosen[i] = outcome(first, last, probability, numbers[i])
    return chosen


@final
class Stream:
    """The same stream for Python code."""

    def __init__(self, seed: int = 0, state: State | None = None) -> None:
        """Start from a seed, or resume from a saved state."""
        self.state: State = seeded(seed) if state is None else state.copy()

    def random(self) -> float:
        """A number in [0, 1)."""
        return uniform(self.state)
