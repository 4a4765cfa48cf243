"""The outcomes of a finite world in compressed rows, checked and merged (see `FiniteMDP`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray

Rows = tuple[LongArray, IntArray, Array]
"""`offset`, `successor` and `probability` of a `FiniteMDP`."""


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
        return offset.copy(), table.ravel(), np.ones(n_pairs)
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
