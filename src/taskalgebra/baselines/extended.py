"""The method of the paper, as one of the baselines: extended values and their algebra."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.baselines.interface import Baseline, Learned, Table
from taskalgebra.learning.q_learning import Stop, goal_oriented_q_learning
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.exact import q_bar_star
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import compose


@final
@dataclass(frozen=True)
class ExtendedValues(Baseline):
    """The Boolean task algebra of the paper (Definition 4, Theorem 3).

    Q̄_{A∨B} = max{Q̄_A, Q̄_B},  Q̄_{A∧B} = min{Q̄_A, Q̄_B},  Q̄_{¬A} = (Q̄_U + Q̄_∅) − Q̄_A

    The bounds Q̄_U and Q̄_∅ are learned as well: K + 2 tables `[S, G, A]`.
    """

    title = "Boolean task algebra"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """The base tasks, M_U and M_∅."""
        return [*base_tasks.values(), space.universal, space.empty]

    def exact_table(self, task: Task, known: Learned) -> Array:
        """Q̄*_M, planned."""
        (values,) = q_bar_star(task.space, [task]).values
        return values.q_bar(np.arange(task.space.mdp.n_states))

    def learn_table(self, task: Task, stop: Stop, seed: int, known: Learned) -> Table:
        """Q̄_M by goal-oriented Q-learning (Algorithm 1)."""
        run = goal_oriented_q_learning(task, stop, settings=self.settings, seed=seed)
        return Table(run.q, run.n_steps, run.converged)

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """Min, max and negation on extended values."""
        space = learned.space
        bounds = Bounds(learned.table(space.universal), learned.table(space.empty))
        tables = {name: learned.table(task) for name, task in learned.base_tasks.items()}
        return compose(expression, tables, bounds)
