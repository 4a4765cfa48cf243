"""Worlds from Gymnasium environments that have a transition table.

FrozenLake, Taxi, CliffWalking and others keep `env.unwrapped.P[s][a]`, a list of outcomes
`(probability, next state, reward, terminated)`.  Gymnasium pays the last reward on the way into a
terminal state; the paper pays it in the terminal state.  The two are reconciled so that every
episode has the same return:

- Each state that a terminating outcome enters becomes a goal.  If an episode can also start in it,
  or pass through it, an absorbing copy of it is added after the states of the environment, which
  keep their numbers in any case.
- r(g) is the reward on the way into g.  If that differs between transitions, r(g) is the largest of
  them and the difference stays with the step.
- Episodes start as `initial_state_distrib` says.  A world lists its starts, more likely ones more
  often, so that probabilities are taken as multiples of the largest 1 / n that gives them, n being
  100,000 at most.
- The limit of the environment, `env.spec.max_episode_steps`, is kept but does not change the table:
  `solve(world, horizon=...)` plans for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, LongArray
from taskalgebra.validation import finite, numbers
from taskalgebra.worlds.build import from_rows
from taskalgebra.worlds.finite import FiniteMDP

MOST_STARTS = 100_000
"""Starts that are listed for probabilities that differ, about."""
ROUNDED = 9
"""Decimals of probabilities that are told apart."""


def from_gymnasium(
    env: Any,
    *,
    goal_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    step_cost: float = 0.0,
    cells: ArrayLike | None = None,
    continuing: bool = False,
) -> FiniteMDP:
    """Make a world from an environment with a transition table `env.unwrapped.P`.

    Args:
        env: a Gymnasium environment, wrapped or not.
        goal_names: a name for each terminal state, in the order of the states; by default "s15"
            for state 15.
        action_names: a name for each action.
        step_cost: subtracted from every reward outside goals.  If steps cost nothing, as in
            FrozenLake, a small cost makes greedy policies hurry.
        cells: `[S, 2]` row and column of each state of the environment, to draw a map.
        continuing: for tasks with time, which go on after goals: with the rows that the table has
            for its terminal states.  Where these rows stay where they are, nothing leads on.
    """
    if isinstance(env, str):
        raise TypeError(f"env is the name {env!r}, expected gymnasium.make({env!r})")
    base = getattr(env, "unwrapped", env)
    table = getattr(base, "P", None)
    if isinstance(table, list):
        table = dict(enumerate(table))
    if not isinstance(table, dict) or not table or set(table) != set(range(len(table))):
        raise ValueError(
            f"{env} has no transition table env.unwrapped.P with states 0, 1, 2, …; "
            f"explore it, solve(explore(wrap(env, goals=label))), learn it, learn(wrap(...)), or "
            f"build its world with from_arrays"
        )
    n_states, n_actions = len(table), len(table[0])
    rows = _rows(table, n_states, n_actions)
    state, action, successor = rows[:, :3].astype(np.int64).T
    p, reward, ends = rows[:, 3], rows[:, 4], rows[:, 5] > 0
    if continuing:
        ends &= state != successor
    if not np.isfinite(reward).all():
        at = int(np.flatnonzero(~np.isfinite(reward))[0])
        raise ValueError(
            f"the table pays {reward[at]} in state {state[at]}, action {action[at]}; "
            f"expected finite rewards"
        )
    start = getattr(base, "initial_state_distrib", None)
    starts = None if start is None else _starts(start, n_states)

    terminal = np.unique(successor[ends])
    if not terminal.size:
        raise ValueError(f"{env} never terminates; a world needs at least one terminal state")
    passed_through = successor[~ends & (state != successor)]
    if starts is not None:
        passed_through = np.concatenate((passed_through, starts))
    copied = np.isin(terminal, passed_through) | continuing
    goals = np.where(copied, n_states + np.cumsum(copied) - 1, terminal)
    n_all = n_states + int(copied.sum())

    goal_of = np.searchsorted(terminal, successor)
    from_outside = ends & ~np.isin(state, terminal[~copied])
    goal_reward = np.full(terminal.size, -np.inf)
    np.maximum.at(goal_reward, goal_of[from_outside], reward[from_outside])
    goal_reward[np.isneginf(goal_reward)] = 0.0

    successor = np.where(ends, goals[np.minimum(goal_of, terminal.size - 1)], successor)
    on_the_way = reward - np.where(ends, goal_reward[np.minimum(goal_of, terminal.size - 1)], 0.0)
    step_reward = np.zeros((n_all, n_actions))
    np.add.at(step_reward, (state, action), p * on_the_way)

    if cells is not None:
        places = np.asarray(cells)
        if places.shape != (n_states, 2):
            raise ValueError(
                f"cells have shape {places.shape}, expected a row and a column for each of "
                f"{n_states} states"
            )
        cells = np.concatenate((places, places[terminal[copied]]))
    extra = np.arange(n_states * n_actions, n_all * n_actions)
    pair = np.concatenate((state * n_actions + action, extra))
    return from_rows(
        np.searchsorted(pair, np.arange(n_all * n_actions + 1)),
        np.concatenate((successor, extra // n_actions)),
        np.concatenate((p, np.ones(extra.size))),
        step_reward=step_reward - float(finite(step_cost, "step_cost", ())),
        goals=goals,
        shape=(n_all, n_actions),
        goal_names=[f"s{s}" for s in terminal] if goal_names is None else goal_names,
        action_names=action_names,
        starts=starts,
        goal_reward=goal_reward,
        cells=cells,
        ends=terminal,
        resumes=terminal if continuing else None,
        max_episode_steps=getattr(getattr(env, "spec", None), "max_episode_steps", None),
    )


def _starts(given: Any, n_states: int) -> LongArray:
    """The states in which episodes begin, each as often as its probability asks for."""
    share = numbers(given, "initial_state_distrib")
    if share.shape != (n_states,):
        raise ValueError(
            f"initial_state_distrib has shape {share.shape}, expected a probability for each of "
            f"{n_states} states"
        )
    wrong = np.flatnonzero(~((share >= 0) & np.isfinite(share)))
    if wrong.size or abs(share.sum() - 1) > 1e-6:
        what = f"holds {share[wrong[0]]}" if wrong.size else f"adds up to {share.sum():g}"
        raise ValueError(f"initial_state_distrib {what}, expected probabilities that add up to 1")
    states = np.flatnonzero(share)
    share = share[states] / share.sum()
    distinct = np.unique(share.round(ROUNDED))
    if distinct.size == 1:
        return states
    for n in range(int(1 / distinct[0]), MOST_STARTS):
        if np.abs(np.rint(distinct * n) - distinct * n).max() <= n * 10.0**-ROUNDED:
            break
    else:
        n = max(MOST_STARTS, states.size)
    return np.repeat(states, np.maximum(np.rint(share * n), 1).astype(np.int64))


def _rows(table: Mapping[int, Any], n_states: int, n_actions: int) -> Array:
    """`[N, 6]`, the outcomes that are possible: s, a, s', p, reward, whether the episode ends."""
    if not n_actions:
        raise ValueError("state 0 of the table has no actions")
    rows = []
    for s in range(n_states):
        found = sorted(table[s]) if isinstance(table[s], Mapping) else range(len(table[s]))
        if list(found) != list(range(n_actions)):
            raise ValueError(
                f"state {s} has the actions {list(found)}, expected 0 to {n_actions - 1} as in "
                f"state 0"
            )
        for a in range(n_actions):
            for outcome in table[s][a]:
                try:
                    p, next_state, reward, ends = outcome
                    if p == 0:
                        continue
                    row = (s, a, float(next_state), float(p), float(reward), float(ends))
                except (TypeError, ValueError, OverflowError):
                    raise ValueError(
                        f"state {s}, action {a} has the outcome {outcome!r}, expected "
                        f"(probability, next state, reward, terminated)"
                    ) from None
                if not (row[3] > 0 and np.isfinite(row[3])):
                    raise ValueError(
                        f"state {s}, action {a} has an outcome with probability {p}, expected a "
                        f"number from 0 to 1"
                    )
                if not (0 <= row[2] < n_states and row[2] == int(row[2])):
                    raise ValueError(
                        f"state {s}, action {a} leads to state {next_state}; states are whole "
                        f"numbers from 0 to {n_states - 1}"
                    )
                rows.append(row)
    if not rows:
        raise ValueError("state 0, action 0 has no outcome; expected a table with outcomes")
    return np.array(rows, np.float64)
