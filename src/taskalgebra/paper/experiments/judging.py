"""How the agents of baselines are judged: exactly, from every start, with ties in two ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.baselines.interface import Learned, NotExpressible
from taskalgebra.logic.expression import Expression
from taskalgebra.paper.experiments.rooms import EXACT, gaps
from taskalgebra.planning.exact import optimal_v
from taskalgebra.theory.tasks import Task


class Score(NamedTuple):
    """One agent on one task, over all starts."""

    mean: float
    worst_gap: float
    wrong_goal_rate: float
    cut_off_rate: float
    random_ties_mean: float
    random_ties_failure_rate: float
    optimal: bool  # whether the return is optimal from every start

    @property
    def failure_rate(self) -> float:
        """Both ways to fail."""
        return self.wrong_goal_rate + self.cut_off_rate


def plain(scores: Sequence[Score | None]) -> list[tuple[Any, ...] | None]:
    """Scores as a cell returns them."""
    return [None if score is None else tuple(score) for score in scores]


def scores_of(rows: Sequence[tuple[Any, ...] | None]) -> tuple[Score | None, ...]:
    """What `plain` was made of."""
    return tuple(None if row is None else Score(*row) for row in rows)


class Outcome(NamedTuple):
    """What a policy comes to from every state within a number of steps."""

    expected_return: Array  # [S]
    right: Array  # [S], the probability to end in a right goal
    wrong: Array  # [S], the probability to end in another goal


def outcome(task: Task, policy: Array, max_steps: int) -> Outcome:
    """The exact outcome of a policy, `[S, A]` probabilities, in episodes of at most `max_steps`.

    X ← R_π + P_π X, that many times, for the return and for where episodes end.  In a task that
    desires no goal, any goal is right.
    """
    mdp = task.space.mdp
    n = mdp.n_states
    pair = np.repeat(np.arange(mdp.offset.size - 1), np.diff(mdp.offset))
    weight = policy.ravel()[pair] * mdp.probability
    cell = pair // mdp.n_actions * n + mdp.successor
    transition = np.bincount(cell, weight, n * n).reshape(n, n)
    transition[mdp.goals] = 0.0
    right = task.desired if task.desired.any() else ~task.desired
    now = np.zeros((n, 3))
    now[:, 0] = (policy * task.steps).sum(axis=1)
    now[mdp.goals] = np.stack([task.goal_reward, right, ~right], axis=1)
    result = np.zeros((n, 3))
    for _ in range(max_steps):
        result = now + transition @ result
    return Outcome(*result.T)


class Judge:
    """Scores agents on one task; equal agents are judged once."""

    def __init__(self, task: Task, max_steps: int) -> None:
        """Plan the optimum; `max_steps` cut an episode off."""
        self.task = task
        self.max_steps = max_steps
        self.starts = task.space.mdp.starts
        self.optimum = optimal_v(task)[self.starts]
        self._known: dict[bytes, Score] = {}

    def score(self, learned: Learned, expression: Expression) -> Score | None:
        """How an agent fares on an expression for the task; None where it has none."""
        try:
            choices = learned.choices(expression)
        except NotExpressible:
            return None
        key = choices.tobytes()
        if key not in self._known:
            self._known[key] = self._score(choices)
        return self._known[key]

    def _score(self, choices: BoolArray) -> Score:
        actions = choices.argmax(axis=1)
        fixed = np.eye(self.task.space.mdp.n_actions)[actions]
        random_ties = choices / choices.sum(axis=1, keepdims=True)
        first, random = (outcome(self.task, p, self.max_steps) for p in (fixed, random_ties))
        starts = self.starts
        earned, ended = first.expected_return[starts], (first.right + first.wrong)[starts]
        return Score(
            mean=float(earned.mean()),
            worst_gap=float((self.optimum - earned).max()),
            wrong_goal_rate=float(first.wrong[starts].mean()),
            cut_off_rate=float(1.0 - ended.mean()),
            random_ties_mean=float(random.expected_return[starts].mean()),
            random_ties_failure_rate=float(1.0 - random.right[starts].mean()),
            optimal=bool(gaps(self.task, actions).max() <= EXACT),
        )
