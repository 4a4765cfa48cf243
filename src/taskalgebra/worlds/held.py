"""G*(s:g), held in the smallest type that suffices, in blocks of goals.

Where all steps cost the same, G*(s:g) = steps · r.  Then the number of steps is held, in 1, 2 or 4
bytes, and the product is taken when a value is read: the same float64 as if it had been held.
Otherwise the float64 itself is held.

A block is an array `[S, w]` of w goals that follow each other.  One state's returns to the goals of
a block lie in one or two cache lines, which is what acting reads; and each block is filled, and
kept in a file, on its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.content import ByContent
from taskalgebra.worlds.graph import on_threads, over_rows

Block = NDArray[Any]
"""[S, w], numbers of steps of an unsigned type, or returns in float64."""
STEP_TYPES = (np.uint8, np.uint16, np.uint32)
"""Of numbers of steps; the largest number of each type says that there is no way."""

_PARTS = 16


def step_type(most: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type of numbers of steps up to this one."""
    return next(kind for kind in STEP_TYPES if most < np.iinfo(kind).max)


def unreached(dtype: np.dtype[Any]) -> Any:
    """What a block of this type holds where there is no way, as a number of the type."""
    return dtype.type(-np.inf if dtype.kind == "f" else np.iinfo(dtype).max)


def hiding(shown: BoolArray, dtype: np.dtype[Any]) -> NDArray[Any]:
    """What hides the numbers of some goals: as bits that are set, or as −∞ that is added."""
    hidden: NDArray[Any] = np.where(shown, dtype.type(0), unreached(dtype))
    return hidden


@final
@dataclass(frozen=True, eq=False, repr=False)
class Held(ByContent):
    """G*(s:g) of all states and goals."""

    blocks: tuple[Block, ...]
    step: float  # what a number of a block is multiplied by: the reward of a step, or 1

    @property
    def n_states(self) -> int:
        """|𝒮|."""
        return len(self.blocks[0])

    @property
    def n_goals(self) -> int:
        """|𝒢|."""
        return sum(block.shape[1] for block in self.blocks)

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
        return sum(block.nbytes for block in self.blocks)

    def parts(self) -> Iterator[tuple[int, Block]]:
        """The blocks, each with the number of its first goal."""
        first = 0
        for block in self.blocks:
            yield first, block
            first += block.shape[1]

    def to(self, goal: int) -> Array:
        """[S], the returns to one goal; −∞ where it cannot be reached."""
        for first, block in self.parts():
            if first <= goal < first + block.shape[1]:
                return self._values(block[:, goal - first])
        raise IndexError(f"there is no goal {goal}; there are {self.n_goals}")

    def rows(self, states: NDArray[np.integer]) -> Array:
        """[B, G], the returns from some states."""
        return np.concatenate([self._values(block[states]) for block in self.blocks], axis=1)

    def table(self) -> Array:
        """[G, S], all returns as float64: the whole table, eight bytes each."""
        table = np.empty((self.n_goals, self.n_states))
        for first, block in self.parts():
            for j in range(block.shape[1]):
                table[first + j] = self._values(block[:, j])
        return table

    def first_missed(self, states: NDArray[np.integer]) -> tuple[int, int] | None:
        """The first goal to which there is no way from some of these states; and the first such."""
        asked = states.astype(np.int64)
        for first, block in self.parts():
            no_way = unreached(block.dtype)
            missed = _missed(block, no_way, asked)
            if missed.any():
                j = int(missed.argmax())
                return first + j, int(asked[(block[asked, j] == no_way).argmax()])
        return None

    @cached_property
    def largest(self) -> float:
        """The size of the largest finite return; 0 if there is none."""
        found = np.zeros(_PARTS)

        def part(i: int) -> None:
            rows = slice(self.n_states * i // _PARTS, self.n_states * (i + 1) // _PARTS)
            for block in self.blocks:
                largest = _largest if block.dtype.kind == "f" else most_steps
                size = abs(largest(block[rows], unreached(block.dtype)) * self.step)
                found[i] = max(found[i], size if size < np.inf else 0.0)

        on_threads(lambda: part, _PARTS, self.n_states * self.n_goals)
        return float(found.max())

    def best(self, states: NDArray[np.integer], goal_reward: Array) -> Array:
        """[B], max_g G*(s:g) + r(g) of some states: V* of a task of a deterministic world."""
        return self.best_of(states, goal_reward, np.ones(self.n_goals, np.bool_))[0]

    def best_of(
        self, states: NDArray[np.integer], goal_reward: Array, among: BoolArray
    ) -> tuple[Array, LongArray]:
        """max_g G*(s:g) + r(g) over some goals, −∞ if none is reached, and the first such goal."""
        best, goal = np.full(states.size, -np.inf), np.zeros(states.size, np.int64)
        asked = states.astype(np.int64)

        def fold(rows: slice) -> None:
            for first, block in self.parts():
                here = slice(first, first + block.shape[1])
                if among[here].any():
                    fold_block = _best if block.dtype.kind == "f" else _best_by_steps
                    of = (block, unreached(block.dtype), self.step, first)
                    paid, hidden = goal_reward[here], hiding(among[here], block.dtype)
                    fold_block(*of, paid, hidden, asked[rows], best[rows], goal[rows])

        over_rows(fold, states.size, self.n_goals)
        return best, goal

    def best_two(self) -> tuple[IntArray, Array, Array]:
        """The best goal of each state, its return, and the best return among the other goals."""
        nearest = np.zeros(self.n_states, np.int32)
        best = np.full(self.n_states, -np.inf)
        second = np.full(self.n_states, -np.inf)

        def fold(rows: slice) -> None:
            for first, block in self.parts():
                no_way = unreached(block.dtype)
                fold_block = _best_two if block.dtype.kind == "f" else _fewest_two
                fold_block(
                    block[rows], no_way, self.step, first, nearest[rows], best[rows], second[rows]
                )

        over_rows(fold, self.n_states, self.n_goals)
        return nearest, best, second

    def _values(self, numbers: Block) -> Array:
        if numbers.dtype.kind == "f":
            return numbers.astype(np.float64)
        found: Array = np.multiply(numbers, self.step, dtype=np.float64)
        found[numbers == unreached(numbers.dtype)] = -np.inf
        return found


@kernel
def _missed(block: Block, no_way: Any, states: LongArray) -> BoolArray:
    missed = np.zeros(block.shape[1], np.bool_)
    for i in range(states.size):
        for j in range(block.shape[1]):
            missed[j] |= block[states[i], j] == no_way
    return missed


@kernel
def _largest(block: Block, no_way: Any) -> float:
    most = 0.0
    for s in range(block.shape[0]):
        for j in range(block.shape[1]):
            if most < abs(block[s, j]) < np.inf:
                most = abs(block[s, j])
    return most


@kernel
def most_steps(block: Block, no_way: Any) -> float:
    """The largest number of a block that says how far it is."""
    most = no_way - no_way
    for s in range(block.shape[0]):
        for j in range(block.shape[1]):
            number = block[s, j]
            most = max(most, number if number != no_way else no_way - no_way)
    return float(most)


@kernel
def _best(
    block: Block,
    no_way: Any,
    step: float,
    first: int,
    goal_reward: Array,
    hidden: Block,
    states: LongArray,
    best: Array,
    goal: LongArray,
) -> None:
    for i in range(states.size):
        for j in range(block.shape[1]):
            value = (block[states[i], j] + hidden[j]) * step + goal_reward[j]
            if value > best[i]:
                best[i], goal[i] = value, first + j


@kernel
def _best_by_steps(
    block: Block,
    no_way: Any,
    step: float,
    first: int,
    goal_reward: Array,
    hidden: Block,
    states: LongArray,
    best: Array,
    goal: LongArray,
) -> None:
    """The same of numbers of steps: most rows hold nothing that is better than what is known."""
    most = goal_reward.max()
    for i in range(states.size):
        s = states[i]
        fewest = no_way
        for j in range(block.shape[1]):
            fewest = min(fewest, block[s, j] | hidden[j])
        if fewest == no_way or not fewest * step + most > best[i]:
            continue
        for j in range(block.shape[1]):
            number = block[s, j] | hidden[j]
            if number != no_way:
                value = number * step + goal_reward[j]
                if value > best[i]:
                    best[i], goal[i] = value, first + j


@kernel
def _best_two(
    block: Block,
    no_way: Any,
    step: float,
    first: int,
    nearest: IntArray,
    best: Array,
    second: Array,
) -> None:
    for s in range(block.shape[0]):
        for j in range(block.shape[1]):
            value = block[s, j] * step
            if value > best[s]:
                second[s], best[s], nearest[s] = best[s], value, first + j
            elif value > second[s]:
                second[s] = value


@kernel
def _fewest_two(
    block: Block,
    no_way: Any,
    step: float,
    first: int,
    nearest: IntArray,
    best: Array,
    second: Array,
) -> None:
    """The same of numbers of steps: most rows hold nothing that is better than what is known."""
    for s in range(block.shape[0]):
        fewest = no_way
        for j in range(block.shape[1]):
            fewest = min(fewest, block[s, j])
        if fewest == no_way or not fewest * step > second[s]:
            continue
        for j in range(block.shape[1]):
            number = block[s, j]
            if number == no_way:
                continue
            value = number * step
            if value > best[s]:
                second[s], best[s], nearest[s] = best[s], value, first + j
            elif value > second[s]:
                second[s] = value
