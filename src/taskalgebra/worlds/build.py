"""Finite worlds from arrays and from outcomes, with all checks of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, IntArray, LongArray
from taskalgebra.limits import MOST_STATES
from taskalgebra.validation import count, finite, unique_names
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.rows import absorbing_rows, rows_of


def from_arrays(
    dynamics: ArrayLike,
    step_reward: ArrayLike,
    goals: Sequence[int] | ArrayLike,
    *,
    goal_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    starts: Sequence[int] | ArrayLike | None = None,
    goal_reward: ArrayLike | None = None,
    cells: ArrayLike | None = None,
    resumes: ArrayLike | None = None,
) -> FiniteMDP:
    """Make a world from arrays.

    Args:
        dynamics: `[S, A]` next states (whole numbers) for a deterministic world, or `[S, A, S]`
            probabilities, which must add up to 1 within 1e-6 and are scaled to do so exactly.  Rows
            of goals are ignored: goals are absorbing.
        step_reward: r_{s,a} as `[S, A]`, `[S]` or one number.  Rows of goals are ignored.
        goals: the absorbing states.
        goal_names: by default "g0", "g1", …
        action_names: by default "a0", "a1", …
        starts: states in which episodes begin, one that is listed twice twice as often; by default
            every state that is not a goal and from which a goal can be reached.
        goal_reward: `[G]` terminal rewards of the world's own task, if it has one.
        cells: `[S, 2]` row and column of each state, for worlds with a map.
        resumes: `[G]` the state in which an episode goes on after each goal, for tasks that do not
            end there, such as "first this, then that".  It is no goal itself.

    Raises:
        ValueError: a shape, a number or a name does not fit; the message says which and why.
    """
    _refuse_sparse(dynamics)
    try:
        table = np.asarray(dynamics)
    except ValueError:
        raise ValueError("the rows of dynamics have different lengths") from None
    if table.ndim == 2:
        n_states, n_actions = table.shape
        if not np.issubdtype(table.dtype, np.integer):
            raise ValueError(
                f"dynamics of shape {table.shape} must hold next states as whole numbers, "
                f"got {table.dtype}; for probabilities pass an array [S, A, S]"
            )
        _check_shape((n_states, n_actions))
        offset = np.arange(table.size + 1, dtype=np.int64)
        successor, probability = table.ravel(), np.ones(table.size)
    elif table.ndim == 3 and table.shape[0] == table.shape[2]:
        n_states, n_actions = table.shape[:2]
        _check_shape((n_states, n_actions))
        if table.dtype.kind not in "biufO":
            raise ValueError(f"dynamics [S, A, S] must hold probabilities, got {table.dtype}")
        offset, successor, probability = rows_of(
            table.reshape(-1, n_states), _goal_states(goals, n_states), n_actions
        )
    else:
        raise ValueError(
            f"dynamics must have shape [S, A] (next states) or [S, A, S] (probabilities), "
            f"got {table.shape}"
        )
    return from_rows(
        offset,
        successor,
        probability,
        step_reward=step_reward,
        goals=goals,
        shape=(n_states, n_actions),
        goal_names=goal_names,
        action_names=action_names,
        starts=starts,
        goal_reward=goal_reward,
        cells=cells,
        resumes=resumes,
    )


def from_rows(
    offset: ArrayLike,
    successor: ArrayLike,
    probability: ArrayLike,
    *,
    step_reward: ArrayLike,
    goals: Sequence[int] | ArrayLike,
    shape: tuple[int, int],
    goal_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    starts: Sequence[int] | ArrayLike | None = None,
    goal_reward: ArrayLike | None = None,
    cells: ArrayLike | None = None,
    ends: ArrayLike | None = None,
    max_episode_steps: int | None = None,
    resumes: ArrayLike | None = None,
) -> FiniteMDP:
    """Make a world from outcomes in compressed rows (see `FiniteMDP`); shape is (S, A).

    The other arguments are those of `from_arrays`, and fields of `FiniteMDP`.
    """
    n_states, n_actions = shape
    _check_shape(shape)
    goal_states = _goal_states(goals, n_states)
    rows = absorbing_rows(
        np.asarray(offset, np.int64),
        np.asarray(successor),
        np.asarray(probability, np.float64),
        goal_states,
        shape,
    )
    world = FiniteMDP(
        *rows,
        step_reward=_step_reward(step_reward, goal_states, shape),
        goals=goal_states,
        goal_names=unique_names(goal_names, "goal", "g", goal_states.size),
        action_names=unique_names(action_names, "action", "a", n_actions),
        starts=goal_states[:0],
        goal_reward=None
        if goal_reward is None
        else finite(goal_reward, "goal_reward", (goal_states.size,)),
        cells=None if cells is None else _cells(cells, n_states),
        ends=None if ends is None else _ends(ends, goal_states.size),
        max_episode_steps=None
        if max_episode_steps is None
        else count(max_episode_steps, "max_episode_steps"),
        resumes=None if resumes is None else _resumes(resumes, goal_states, n_states),
    )
    world = replace(world, starts=_starts(starts, world))
    shared = (world.step_reward, world.goals, world.starts, world.goal_reward, world.cells)
    for array in (*rows, *shared, world.ends, world.resumes):
        if array is not None:
            array.setflags(write=False)
    return world


def _check_shape(shape: tuple[int, int]) -> None:
    if 0 in shape:
        raise ValueError(f"a world needs states and actions, got shape [S, A] = {shape}")
    if shape[0] > MOST_STATES:
        raise ValueError(f"a world of {shape[0]:,} states; {MOST_STATES:,} are the most")


def _refuse_sparse(dynamics: object) -> None:
    parts = list(dynamics.values()) if isinstance(dynamics, Mapping) else dynamics
    of_list = isinstance(parts, list | tuple) and any(hasattr(one, "tocoo") for one in parts)
    if of_list or hasattr(parts, "tocoo"):
        raise TypeError(
            "dynamics are sparse; ta.from_outcomes takes a sparse matrix per action: "
            "from_outcomes([matrix, ...], goals, step_reward=...)"
        )


def _resumes(resumes: ArrayLike, goals: IntArray, n_states: int) -> IntArray:
    states = np.asarray(resumes)
    if states.shape != goals.shape or not np.issubdtype(states.dtype, np.integer):
        raise ValueError(
            f"resumes must hold the number of a state for each of the {goals.size} goals, got "
            f"{resumes!r}"
        )
    wrong = states[(states < 0) | (states >= n_states) | np.isin(states, goals)]
    if wrong.size:
        raise ValueError(
            f"an episode cannot go on in state {wrong[0]}; give states from 0 to {n_states - 1} "
            f"that are no goals"
        )
    return states.astype(np.int32)


def _goal_states(goals: Sequence[int] | ArrayLike, n_states: int) -> IntArray:
    states = np.asarray(goals)
    if states.ndim != 1 or states.size == 0:
        raise ValueError(
            f"a world needs at least one goal (absorbing state), got goals = {goals!r}; "
            f"list the states in which episodes end"
        )
    if not np.issubdtype(states.dtype, np.integer):
        raise ValueError(f"goals must be state numbers, got {goals!r}")
    bad = states[(states < 0) | (states >= n_states)]
    if bad.size:
        raise ValueError(f"goal state {bad[0]} does not exist; states are 0 to {n_states - 1}")
    unique, counts = np.unique(states, return_counts=True)
    if unique.size != states.size:
        raise ValueError(
            f"goal state {unique[counts > 1][0]} is listed twice; each goal is one state"
        )
    if states.size == n_states:
        raise ValueError("every state is a goal; a world needs a state to start from")
    return states.astype(np.int32)


def _step_reward(reward: ArrayLike, goals: IntArray, shape: tuple[int, int]) -> Array:
    given = np.asarray(reward)
    if given.ndim == 1 and given.shape == shape[:1]:
        given = given[:, None]
    if given.ndim == 0 or given.shape == (shape[0], 1):
        given = np.broadcast_to(given, shape)
    table = np.array(given)
    if table.shape == shape and np.issubdtype(table.dtype, np.number):
        table[goals] = 0
    return finite(table, "step_reward", shape)


def _cells(cells: ArrayLike, n_states: int) -> LongArray:
    array = np.array(cells)
    if array.shape != (n_states, 2) or array.dtype.kind not in "iu":
        raise ValueError(
            f"cells must be whole numbers of shape {(n_states, 2)}, row and column of each state; "
            f"got shape {array.shape} of {array.dtype}"
        )
    return array.astype(np.int64, copy=False)


def _ends(ends: ArrayLike, n_goals: int) -> IntArray:
    array = np.asarray(ends)
    if array.shape != (n_goals,) or array.dtype.kind not in "iu":
        raise ValueError(f"ends must be {n_goals} whole numbers, one per goal; got {ends!r}")
    return array.astype(np.int32)


_STUCK = ", or make a goal of each state in which an episode may get stuck"


def _starts(starts: Sequence[int] | ArrayLike | None, world: FiniteMDP) -> IntArray:
    if starts is None:
        found = np.flatnonzero(world.ending & ~world.is_goal).astype(np.int32)
        if not found.size:
            surely, stuck = ("", "") if world.deterministic else (" with certainty", _STUCK)
            raise ValueError(
                f"no goal can be reached{surely} from any state; check the dynamics and the goals"
                f"{stuck}"
            )
        return found
    states = np.asarray(starts)
    if states.ndim != 1 or not states.size or not np.issubdtype(states.dtype, np.integer):
        raise ValueError(f"starts must be a non-empty list of states, got {starts!r}")
    outside = (states < 0) | (states >= world.n_states)
    known = np.where(outside, 0, states)
    wrong = np.flatnonzero(outside | world.is_goal[known] | ~world.ending[known])
    if wrong.size:
        s = int(states[wrong[0]])
        if outside[wrong[0]]:
            raise ValueError(f"start {s} does not exist; states are 0 to {world.n_states - 1}")
        if world.is_goal[s]:
            raise ValueError(f"start {world.state_name(s)} is absorbing; start elsewhere")
        path, stuck = ("path", "") if world.deterministic else ("certain path", _STUCK)
        raise ValueError(
            f"no {path} from the start, {world.state_name(s)}, to any goal; "
            f"open a way or choose another start{stuck}"
        )
    return states.astype(np.int32)
