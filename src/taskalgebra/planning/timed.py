"""Policies for the time that is left: they count the steps of an episode.

What such a policy earns, and which one is best, follow by backward induction: with one move left,
then with two, and so on.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.theory.policy import Policy, greedy
from taskalgebra.theory.tables import as_states
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count


class TimedPolicy(Policy):
    """A policy for the time that is left: it counts the steps of each episode of a batch.

    `reset` says where episodes begin, with H moves left; the first call of `actions` begins them
    too.
    """

    def __init__(self, horizon: int) -> None:
        """No episode has begun."""
        self.horizon = horizon
        self._taken: LongArray | None = None  # [B]

    @abstractmethod
    def with_left(self, states: ArrayLike, left: ArrayLike) -> LongArray:
        """The actions in these states with these numbers of moves left; nothing is counted."""

    @final
    def reset(self, begins: BoolArray) -> None:
        """Episodes begin at these positions, with the whole horizon left."""
        begins = np.atleast_1d(np.asarray(begins, np.bool_))
        if self._taken is None or self._taken.size != begins.size:
            self._taken = np.zeros(begins.size, np.int64)
        self._taken[begins] = 0

    @final
    def actions(self, observations: Any) -> LongArray:
        """The actions for the time that is left, `[B]`; one move less is left then.

        Raises:
            ValueError: the batch is not the one that was reset, or episodes are longer than the
                horizon by more than the action that is paid in a goal and one that begins anew.
        """
        states = np.asarray(observations)
        if self._taken is None:
            self.reset(np.ones(states.size, np.bool_))
        taken = self._taken
        if taken is None or taken.size != states.size:
            raise ValueError(
                f"{states.size} observations, but the steps of {0 if taken is None else taken.size}"
                f" episodes are counted; say where episodes begin: agent.reset([True, ...])"
            )
        late = states.size and int(taken.max())
        if late >= self.horizon + 2:
            raise ValueError(
                f"an episode has more than the {self.horizon} steps that were planned for; call "
                f"agent.reset() where an episode begins, or solve(world, horizon=...) with more"
            )
        left = np.maximum(self.horizon - taken, 1)
        taken += 1
        return self.with_left(states, left)

    @final
    def first_actions(self, observations: Any) -> LongArray:
        """The actions with all of the time left; nothing is counted."""
        states = np.asarray(observations)
        return self.with_left(states, np.full(states.size, self.horizon))


@final
class TimedTable(TimedPolicy):
    """One action for every state and number of moves left."""

    def __init__(self, table: LongArray, horizon: int) -> None:
        """Take the actions, `[L, S]`, for 1 … L moves left; with more, those of the last."""
        super().__init__(horizon)
        self.table = table

    def with_left(self, states: ArrayLike, left: ArrayLike) -> LongArray:
        """The actions in these states with these numbers of moves left; nothing is counted."""
        level = np.minimum(np.asarray(left), len(self.table)) - 1
        chosen: LongArray = self.table[level, as_states(states, self.table.shape[1])]
        return chosen


def returns_within(task: Task, policy: TimedPolicy) -> Array:
    """[S], the expected return of a policy for the time left, of episodes of its horizon."""
    mdp = task.space.mdp
    states = np.arange(mdp.n_states)
    values = np.zeros(mdp.n_states)
    values[mdp.goals] = task.goal_reward
    for left in range(1, policy.horizon + 1):
        actions = policy.with_left(states, np.full(states.size, left))
        ahead = np.add.reduceat(mdp.probability * values[mdp.successor], mdp.offset[:-1])
        new = (task.steps + ahead.reshape(task.steps.shape))[states, actions]
        new[mdp.goals] = task.goal_reward
        values = new
    return values


def best_within(task: Task, horizon: int) -> tuple[TimedTable, Array]:
    """An optimal policy for every number of moves left, and its returns, `[S]`.

    Backward induction: with one move left the best action, then with two, …
    """
    mdp, n_moves = task.space.mdp, count(horizon, "horizon")
    values = np.zeros(mdp.n_states)
    values[mdp.goals] = task.goal_reward
    table: list[LongArray] = []
    for _ in range(n_moves):
        ahead = np.add.reduceat(mdp.probability * values[mdp.successor], mdp.offset[:-1])
        q = task.steps + ahead.reshape(task.steps.shape)
        q[mdp.goals] = task.goal_reward[:, None]
        table.append(greedy(q[:, None, :], task.space.reward_scale))
        new = q.max(axis=1)
        if np.array_equal(new, values):
            break
        values = new
    return TimedTable(np.stack(table), n_moves), values
