"""The outcomes of a finite world in compressed rows, checked and merged (see `FiniteMDP`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel

Rows = tuple[LongArray, IntArray, Array]
"""`offset`, `successor` and `probability` of a `FiniteMDP`."""

WORTH_COMPILING = 2**16
"""Outcomes from which rows are checked and merged by a compiled loop, with the same result."""
SHORT = 64
"""Outcomes of one action that the loop sorts by insertion; longer rows are left to numpy."""


def rows_of(probabilities: NDArray[np.generic], goals: IntArray, n_actions: int) -> Rows:
    """Turn dense probabilities `[S·A, S]` into compressed rows."""
    dense = np.array(probabilities, np.float64)
    ignored = (goals[:, None] * n_actions + np.arange(n_actions)).ravel()
    dense[ignored] = 0.0
    dense[ignored, np.repeat(goals, n_actions)] = 1.0
    pair, successor = np.nonzero(dense)
    offset = np.searchsorted(pair, np.arange(dense.shape[0] + 1))
    return offset.astype(np.int64), successor.astype(np.int32), dense[pair, successor]


def absorbing_rows(
    offset: LongArray,
    successor: NDArray[np.generic],
    probability: Array,
    goals: IntArray,
    shape: tuple[int, int],
) -> Rows:
    """Check the outcomes and replace the rows of goals with self-loops."""
    n_states, n_actions = shape
    n_pairs = n_states * n_actions
    fits = offset.shape == (n_pairs + 1,) and successor.shape == probability.shape
    if not fits or offset[0] != 0 or offset[-1] != successor.size or (np.diff(offset) < 0).any():
        raise ValueError(
            f"outcomes do not fit [S, A] = {shape}: expected {n_pairs + 1} rising offsets from 0 "
            f"to the number of outcomes; got {offset.size} offsets, {successor.size} successors, "
            f"{probability.size} probabilities"
        )
    if successor.dtype.kind not in "iu":
        raise ValueError(f"successors must be whole numbers, got {successor.dtype}")
    is_goal = np.zeros(n_states, np.bool_)
    is_goal[goals] = True
    counts = np.diff(offset)
    certain = (counts == 1).all() and (probability == 1.0).all()
    if certain and 0 <= successor.min() and successor.max() < n_states:  # nothing to merge or scale
        table = successor.astype(np.int32).reshape(shape)
        table[goals] = goals[:, None]
        kept = offset.copy() if offset.flags.writeable else offset
        return kept, table.ravel(), np.ones(n_pairs)
    if successor.size >= WORTH_COMPILING:
        found = _compiled(offset, successor, probability, is_goal, n_actions)
        if found is not None:
            return found
    pair = np.repeat(np.arange(n_pairs), counts)
    live = ~is_goal[pair // n_actions]

    def offender(bad: BoolArray) -> str:
        state, action = divmod(int(pair[np.flatnonzero(bad)[0]]), n_actions)
        return f"state {state}, action {action}"

    outside = live & ((successor < 0) | (successor >= n_states))  # type: ignore[operator]
    if outside.any():
        raise ValueError(
            f"{offender(outside)} leads to state {successor[outside][0]}; "
            f"states are numbered 0 to {n_states - 1}"
        )
    improper = live & ~((probability > 0) & (probability <= 1 + 1e-6))
    if improper.any():
        raise ValueError(
            f"{offender(improper)} has an outcome with probability {probability[improper][0]}; "
            f"expected a number above 0 and up to 1"
        )
    sums = np.bincount(pair, probability, n_pairs)
    wrong = np.flatnonzero((np.abs(sums - 1) > 1e-6) & ~is_goal.repeat(n_actions))
    if wrong.size:
        state, action = divmod(int(wrong[0]), n_actions)
        raise ValueError(
            f"the probabilities of state {state}, action {action} add up to {sums[wrong[0]]}, "
            f"expected 1"
        )
    scale = np.where(np.abs(sums - 1) > 1e-12, sums, 1.0)  # float32 tables add up only nearly
    probability = probability / scale[pair]
    end = np.repeat(goals, n_actions)  # goals become self-loops
    loops = (goals[:, None] * n_actions + np.arange(n_actions)).ravel()
    return _merged(
        np.concatenate((pair[live], loops)),
        np.concatenate((successor[live], end)).astype(np.int64),
        np.concatenate((probability[live], np.ones(loops.size))),
        n_pairs,
    )


def _merged(pair: LongArray, successor: LongArray, probability: Array, n_pairs: int) -> Rows:
    """Compressed rows, sorted by successor, with outcomes that lead to the same state merged."""
    order = np.lexsort((successor, pair))
    pair, successor, probability = pair[order], successor[order], probability[order]
    first = np.ones(pair.size, np.bool_)
    first[1:] = (pair[1:] != pair[:-1]) | (successor[1:] != successor[:-1])
    merged = np.add.reduceat(probability, np.flatnonzero(first))
    offset = np.searchsorted(pair[first], np.arange(n_pairs + 1)).astype(np.int64)
    merged[offset[:-1][np.diff(offset) == 1]] = 1.0
    return offset, successor[first].astype(np.int32), merged


def _compiled(
    offset: LongArray,
    successor: NDArray[Any],
    probability: Array,
    is_goal: BoolArray,
    n_actions: int,
) -> Rows | None:
    """What numpy would make of correct outcomes, in one pass; None where some row is special."""
    most = successor.size + int(is_goal.sum()) * n_actions
    new_offset = np.empty(offset.size, np.int64)
    new_successor, new_probability = np.empty(most, np.int32), np.empty(most)
    rows = (new_offset, new_successor, new_probability)
    n = _fill(offset, successor, probability, is_goal, n_actions, *rows)
    if n < 0:
        return None
    if n == most:
        return rows
    return new_offset, new_successor[:n].copy(), new_probability[:n].copy()


@kernel
def _fill(
    offset: LongArray,
    successor: NDArray[Any],
    probability: Array,
    is_goal: BoolArray,
    n_actions: int,
    new_offset: LongArray,
    new_successor: IntArray,
    new_probability: Array,
) -> int:
    """Sort each row by successor and merge what leads to the same state; the number of outcomes.

    Returns −1 for what is wrong, for long rows, and for many outcomes that are one: numpy adds
    those up in another order.
    """
    n_states = is_goal.size
    n = 0
    for pair in range(offset.size - 1):
        new_offset[pair] = n
        s = pair // n_actions
        if is_goal[s]:
            new_successor[n], new_probability[n] = s, 1.0
            n += 1
            continue
        if offset[pair + 1] - offset[pair] > SHORT:
            return -1
        total = 0.0
        for k in range(offset[pair], offset[pair + 1]):
            p = probability[k]
            if not (0.0 < p <= 1 + 1e-6) or not 0 <= successor[k] < n_states:
                return -1
            total += p
        if not abs(total - 1) <= 1e-6:
            return -1
        scale = total if abs(total - 1) > 1e-12 else 1.0
        end = n
        for k in range(offset[pair], offset[pair + 1]):
            t, p = successor[k], probability[k] / scale
            i = end
            while i > n and new_successor[i - 1] > t:
                new_successor[i], new_probability[i] = new_successor[i - 1], new_probability[i - 1]
                i -= 1
            new_successor[i], new_probability[i] = t, p
            end += 1
        start, i = n, n
        while i < end:
            t, first, others = new_successor[i], new_probability[i], 0.0
            last = i + 1
            while last < end and new_successor[last] == t:
                others += new_probability[last]
                last += 1
            if last - i > 8:
                return -1
            new_successor[n], new_probability[n] = t, first + others
            n += 1
            i = last
        if n == start + 1:
            new_probability[start] = 1.0
    new_offset[offset.size - 1] = n
    return n
