"""Hindsight replay: one table for all goals, and the best of the desired ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.baselines.interface import Baseline, Learned, NotExpressible, Table
from taskalgebra.learning.hindsight import Replay, hindsight_replay
from taskalgebra.learning.q_learning import Stop
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.exact import q_bar_star
from taskalgebra.theory.tasks import Task, TaskSpace


@final
@dataclass(frozen=True)
class HindsightGoals(Baseline):
    """A goal-conditioned table, learned by hindsight replay (Andrychowicz et al. 2017).

    max_{g desired} Q(s, g, a)

    The agent of one goal acts on Q(s, g, ·); of several it takes the best, which is exact in a
    deterministic world (van Niekerk et al. 2019), as in `MaxOfGoals`.  The table is Q̄ of the
    universal task: one `[S, G, A]` instead of one `[S, A]` for each goal, from one stream of
    episodes, each in pursuit of one goal.  Nothing says how to want no goal.
    """

    replay: Replay = Replay()  # noqa: RUF009 (frozen)
    """What is remembered and replayed."""

    title = "hindsight replay"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """The universal task: every goal is worth pursuing."""
        return [space.universal]

    def exact_table(self, task: Task, known: Learned) -> Array:
        """Q̄*_U, planned."""
        (values,) = q_bar_star(task.space, [task]).values
        return values.q_bar(np.arange(task.space.mdp.n_states))

    def learn_table(self, task: Task, stop: Stop, seed: int, known: Learned) -> Table:
        """The same by hindsight replay, with the same r̄_MIN, that of `default_r_bar_min`."""
        run = hindsight_replay([task], stop, replay=self.replay, settings=self.settings, seed=seed)
        return Table(run.q[0], run.n_steps, run.converged)

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """One value function for each desired goal."""
        desired = learned.task(expression).desired
        if not desired.any():
            raise NotExpressible(
                f"{self.title}: {expression!s} desires no goal, and none can be pursued"
            )
        return learned.table(learned.space.universal)[:, desired]
