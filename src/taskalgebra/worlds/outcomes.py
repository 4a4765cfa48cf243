"""Sparse worlds: outcomes one by one, or a sparse matrix per action.

A table `[S, A, S]` of a hundred thousand states does not fit in memory; the few outcomes that each
action has do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, LongArray
from taskalgebra.limits import MOST_STATES
from taskalgebra.validation import closest, count, listed, numbers
from taskalgebra.worlds.build import from_rows
from taskalgebra.worlds.finite import FiniteMDP

_EXPECTED = "(state, action, next state, probability[, reward]), or a sparse matrix per action"


def from_outcomes(
    outcomes: Iterable[Any] | Mapping[str, Any],
    goals: Sequence[int] | Mapping[str, int] | ArrayLike,
    *,
    step_reward: ArrayLike | None = None,
    n_states: int | None = None,
    goal_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    starts: Sequence[int] | ArrayLike | None = None,
    goal_reward: ArrayLike | None = None,
    cells: ArrayLike | None = None,
    resumes: ArrayLike | None = None,
) -> FiniteMDP:
    """Make a world from the outcomes that its actions can have.

    Args:
        outcomes: either `(state, action, next state, probability)` for each outcome, or with the
            reward of that outcome as a fifth number, in a list or an array `[N, 4]` or `[N, 5]`;
            actions are numbers, or names if `action_names` lists them.  Or one sparse matrix
            `[S, S]` of probabilities (or of truth values, if each row has one that is true) per
            action, such as those of `scipy.sparse`, in a list or as `{action: matrix}`.  The
            probabilities of each state and action must add up to 1 within 1e-6.  Those of
            goals are ignored: goals are absorbing.
        goals: the absorbing states, in a list or as `{name: state}`.
        step_reward: r_{s,a} as `[S, A]`, `[S]` or one number, unless outcomes hold their rewards,
            which are averaged: r_{s,a} = Σ p · reward.
        n_states: the number of states, if the last ones occur in no outcome.
        goal_names: by default "g0", "g1", …
        action_names: by default "a0", "a1", …
        starts: states in which episodes begin, one that is listed twice twice as often; by default
            every state that is not a goal and from which a goal can be reached.
        goal_reward: `[G]` terminal rewards of the world's own task, if it has one.
        cells: `[S, 2]` row and column of each state, for worlds with a map.
        resumes: `[G]` the state in which an episode goes on after each goal, for tasks with time.

    Raises:
        ValueError: a shape, a number or a name does not fit; the message says which and why.

    >>> from_outcomes(
    ...     [(0, 0, 1, 0.9), (0, 0, 0, 0.1), (0, 1, 2, 1.0)],
    ...     {"near": 1, "far": 2},
    ...     step_reward=-0.1,
    ... )
    <stochastic world: 3 states, 2 goals, 2 actions>
    """
    if isinstance(goals, Mapping):
        if goal_names is not None:
            raise ValueError("goals are given with their names; leave goal_names out")
        goal_names, goals = list(goals), list(goals.values())
    if isinstance(outcomes, Mapping):
        if action_names is not None:
            raise ValueError("actions are given with their names; leave action_names out")
        action_names, outcomes = list(outcomes), list(outcomes.values())
    if hasattr(outcomes, "tocoo") and hasattr(outcomes, "shape"):
        raise TypeError(
            f"outcomes are one sparse matrix of shape {outcomes.shape}, expected one per "
            f"action, in a list: [matrix]"
        )
    if isinstance(outcomes, str | bytes) or not isinstance(outcomes, Iterable):
        raise TypeError(f"outcomes are {outcomes!r}, expected {_EXPECTED}")
    given = outcomes if isinstance(outcomes, np.ndarray) else list(outcomes)
    if not len(given):
        raise ValueError(f"the list of outcomes is empty, expected {_EXPECTED}")
    sparse = [hasattr(one, "tocoo") for one in given]
    if any(sparse) and not all(sparse):
        at = sparse.index(False)
        raise TypeError(f"the matrix of action {at} is {given[at]!r}, which has no tocoo()")
    rows = _of_matrices(given) if all(sparse) else _of_list(given, action_names)
    known = np.asarray(goals)
    last = int(known.max()) if known.dtype.kind in "iu" and known.size else -1
    if last >= MOST_STATES:
        raise ValueError(
            f"goal state {last} is too large; states are 0 to at most {MOST_STATES - 1:,}"
        )
    least = max(rows.n_states, last + 1)
    size = least if n_states is None else count(n_states, "n_states", most=MOST_STATES)
    if size < least:
        raise ValueError(f"n_states is {n_states}, but state {least - 1} occurs")
    n_actions = max(rows.n_actions, 0 if action_names is None else len(action_names))
    if (rows.reward is None) == (step_reward is None):
        raise ValueError(
            "outcomes without rewards need step_reward=, r(s, a) as [S, A], [S] or one number"
            if step_reward is None
            else "these outcomes hold their rewards; leave step_reward out"
        )
    pair = rows.state * n_actions + rows.action
    n_pairs = size * n_actions
    if pair.size < (size - known.size) * n_actions:
        _refuse_missing(pair, known, size, n_actions)
    if rows.reward is not None:
        paid = np.bincount(pair, rows.probability * rows.reward, n_pairs)
        step_reward = paid.reshape(size, n_actions)
    order = np.argsort(pair, kind="stable")
    return from_rows(
        np.searchsorted(pair[order], np.arange(n_pairs + 1)),
        rows.successor[order],
        rows.probability[order],
        step_reward=cast("ArrayLike", step_reward),
        goals=goals,
        shape=(size, n_actions),
        goal_names=goal_names,
        action_names=action_names,
        starts=starts,
        goal_reward=goal_reward,
        cells=cells,
        resumes=resumes,
    )


class _Rows(NamedTuple):
    """Outcomes one by one, without those of probability 0."""

    state: LongArray
    action: LongArray
    successor: LongArray
    probability: Array
    reward: Array | None
    n_states: int
    n_actions: int


def _of_matrices(matrices: Sequence[Any] | NDArray[Any]) -> _Rows:
    shape = tuple(matrices[0].shape)
    for a, matrix in enumerate(matrices):
        if tuple(matrix.shape) != shape or len(shape) != 2 or not 0 < shape[0] == shape[1]:
            raise ValueError(
                f"the matrix of action {a} has shape {tuple(matrix.shape)}, expected [S, S], "
                f"the same for every action"
            )
    if shape[0] > MOST_STATES:
        raise ValueError(
            f"the matrix of action 0 has {shape[0]:,} rows, and {MOST_STATES:,} are the most"
        )
    parts = [matrix.tocoo() for matrix in matrices]
    p = np.concatenate([_probabilities(a, part) for a, part in enumerate(parts)])
    action = np.repeat(np.arange(len(parts)), [part.data.size for part in parts])
    state = np.concatenate([np.asarray(part.row, np.int64) for part in parts])
    successor = np.concatenate([np.asarray(part.col, np.int64) for part in parts])
    some = p != 0
    return _Rows(state[some], action[some], successor[some], p[some], None, shape[0], len(parts))


def _probabilities(action: int, matrix: Any) -> Array:
    """What a sparse matrix holds; where a truth value is true, 1."""
    if matrix.data.dtype.kind not in "biuf":
        raise ValueError(
            f"the matrix of action {action} holds {matrix.data.dtype}, expected probabilities"
        )
    found = np.asarray(matrix.data, np.float64)
    wrong = np.flatnonzero(~np.isfinite(found))
    if wrong.size:
        at = [int(matrix.row[wrong[0]]), int(matrix.col[wrong[0]])]
        raise ValueError(
            f"the matrix of action {action} holds {found[wrong[0]]} at {at}, expected a probability"
        )
    return found


def _refuse_missing(pair: LongArray, goals: NDArray[Any], n_states: int, n_actions: int) -> None:
    """Name the first state and action without an outcome, without a list of all of them."""
    if goals.ndim != 1 or not goals.size or goals.dtype.kind not in "iu":
        return  # refused with the world
    ends = set(goals.tolist())
    met = np.unique(pair)
    s = a = 0
    for one in met[~np.isin(met // n_actions, goals)].tolist():
        while s in ends:
            s += 1
        if one != s * n_actions + a:
            break
        s, a = (s, a + 1) if a + 1 < n_actions else (s + 1, 0)
    while s in ends:
        s += 1
    if s < n_states:
        raise ValueError(
            f"the probabilities of state {s}, action {a} add up to 0, expected 1: it has no "
            f"outcome, in a world of {n_states:,} states and {n_actions:,} actions"
        )


def _of_list(given: Sequence[Any] | NDArray[Any], action_names: Sequence[str] | None) -> _Rows:
    if not isinstance(given, np.ndarray):
        given = [_numbered(i, one, action_names) for i, one in enumerate(given)]
    try:
        table = numbers(given, "outcomes")
    except ValueError:
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] not in (4, 5):
        raise ValueError(
            f"outcomes have different lengths, or are not numbers; expected {_EXPECTED}"
        )
    whole = table[:, :3]
    wrong = ~((whole >= 0) & (whole == np.floor(whole)) & (whole < MOST_STATES)).all(axis=1)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"outcome {at} is {tuple(table[at].tolist())}; its state, action and next state must "
            f"be whole numbers from 0 to {MOST_STATES - 1:,}"
        )
    state, action, successor = whole.astype(np.int64).T
    n_states, n_actions = int(max(state.max(), successor.max())) + 1, int(action.max()) + 1
    some = table[:, 3] != 0
    paid = table[some, 4] if table.shape[1] == 5 else None
    of_some = (state[some], action[some], successor[some], table[some, 3])
    return _Rows(*of_some, paid, n_states, n_actions)


def _numbered(i: int, outcome: Any, action_names: Sequence[str] | None) -> tuple[Any, ...]:
    """An outcome whose action is a number."""
    if not isinstance(outcome, Iterable) or isinstance(outcome, str):
        raise ValueError(f"outcome {i} is {outcome!r}, expected {_EXPECTED}")
    found = tuple(outcome)
    if len(found) not in (4, 5):
        raise ValueError(f"outcome {i} is {found!r}, expected {_EXPECTED}")
    if not isinstance(found[1], str):
        return found
    names = list(action_names or ())
    if found[1] not in names:
        known = (
            f"action_names are {listed(names)}{closest(found[1], names)}"
            if names
            else f"name all actions, action_names=[{found[1]!r}, ...], or give their numbers"
        )
        raise ValueError(f"outcome {i} has the action {found[1]!r}; {known}")
    return (found[0], names.index(found[1]), *found[2:])
