"""Methods that learn plain value functions `[S, A]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.baselines.interface import Baseline, Learned, NotExpressible, Table, single_goals
from taskalgebra.learning.q_learning import Stop, q_learning
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.sum_of_products import sum_of_products
from taskalgebra.planning.exact import optimal_q
from taskalgebra.theory.base_tasks import labels_of
from taskalgebra.theory.tasks import Task, TaskSpace

MOST_TASKS = 2**12
"""`FromScratch` learns a table for every task; beyond this many it refuses."""


@dataclass(frozen=True)
class PlainValues(Baseline):
    """Baselines that learn plain value functions Q_M."""

    @final
    def exact_table(self, task: Task, known: Learned) -> Array:
        """Q*_M, planned."""
        return optimal_q(task)

    @final
    def learn_table(self, task: Task, stop: Stop, seed: int, known: Learned) -> Table:
        """Q_M by Q-learning."""
        run = q_learning(task, stop, settings=self.settings, seed=seed)
        return Table(run.q[:, 0], run.n_steps, run.converged)


@final
@dataclass(frozen=True)
class MaxOfTasks(PlainValues):
    """Disjunction by the maximum of plain values (van Niekerk et al. 2019, Corollary 1).

    Q_{A∨B} = max{Q_A, Q_B}

    It is exact: up to a goal all tasks earn the same, and the reward of the goal is the maximum.
    Conjunction and negation are not defined: a minimum over `[S, A]` compares ways to different
    goals.  An expression is simplified to a shortest sum of products first; it is expressible iff
    each product is one base task.
    """

    title = "max of base tasks"

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """One value function for each term of the disjunction."""
        products = positive_products(expression, self.title)
        for product in products:
            if len(product) > 1:
                raise NotExpressible(
                    f"{self.title}: plain values have no conjunction, and {expression!s} needs "
                    f"{' & '.join(product)}"
                )
        tables = [learned.table(learned.base_tasks[name]) for name, *_ in products]
        return np.stack(tables, axis=1)


@final
@dataclass(frozen=True)
class MaxOfGoals(PlainValues):
    """The same with the minimal base set of van Niekerk et al. 2019: one task per goal.

    Q_M = max_{g desired} Q_{g}

    Every set of goals but the empty one is a disjunction, and exact, whatever the expression for
    it.  The price is one table per goal.
    """

    title = "max of single goals"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """One task for each goal."""
        return single_goals(space)

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """One value function for each desired goal."""
        goals = np.flatnonzero(learned.task(expression).desired)
        if not goals.size:
            raise NotExpressible(
                f"{self.title}: {expression!s} desires no goal, and a disjunction of no tasks is "
                f"not defined"
            )
        tables = list(learned.tables.values())  # one per goal, in the order of goals
        return np.stack([tables[g].values for g in goals], axis=1)


@final
@dataclass(frozen=True)
class AverageOfTasks(PlainValues):
    """Conjunction by the average of plain values (Haarnoja et al. 2018, Hunt et al. 2019).

    Q_{A∧B} ≈ (Q_A + Q_B)/2,   Q_{A∨B} = max{Q_A, Q_B}

    The average is near the value of the *average reward*, in which a goal that one of two tasks
    desires still pays half (Figure 1 of the paper).  It is also not the value of any one policy:
    Q_A and Q_B may lead to different goals, and between these their average is flat, so that the
    greedy agent has no direction and may never end.  Both papers work with entropy-regularised,
    random policies, and Hunt et al. correct the average by a learned term; this is the uncorrected
    average with a greedy agent, as in the paper's comparison.

    Negation is not defined.  An expression is simplified to a shortest sum of products first; it
    is expressible iff no product has a negated task.  A product of n tasks is the mean of all n.
    """

    title = "average for conjunction"

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """One average for each product of the sum."""
        products = positive_products(expression, self.title)
        averages = [
            np.mean([learned.table(learned.base_tasks[name]) for name in product], axis=0)
            for product in products
        ]
        return np.stack(averages, axis=1)


@final
@dataclass(frozen=True)
class FromScratch(PlainValues):
    """No composition: plain Q-learning of every task that the base tasks can express.

    Q(s, a) ← (1 − α) Q(s, a) + α (r + γ max_b Q(s', b))

    Exact, at the price of 2^(2^K) tables.
    """

    title = "from scratch"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """All tasks that an expression over the base tasks can stand for."""
        different, label = np.unique(labels_of(base_tasks), axis=0, return_inverse=True)
        n = len(different)
        if 2**n > MOST_TASKS:
            raise ValueError(
                f"{n} goals or groups of goals make 2^{n} tasks, and this method learns each; "
                f"at most {MOST_TASKS} are learned"
            )
        truth = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
        return [space.from_desired(desired) for desired in truth[:, label.ravel()]]

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """The values of the task itself."""
        return learned.table(learned.task(expression))[:, None]


def positive_products(expression: Expression, method: str) -> list[tuple[str, ...]]:
    """The products of a shortest sum of products without negation, each as its names.

    Raises:
        NotExpressible: a product has a negated task, or the formula is constant.
    """
    meaning = expression.canonical()
    products = []
    for cube in sum_of_products(meaning.table, 0, len(meaning.names)):
        if cube.negative:
            negated = [name for j, name in enumerate(meaning.names) if cube.negative >> j & 1]
            raise NotExpressible(
                f"{method}: plain values have no negation, and {expression!s} needs ~{negated[0]}"
            )
        products.append(
            tuple(name for j, name in enumerate(meaning.names) if cube.positive >> j & 1)
        )
    if not meaning.names:
        raise NotExpressible(
            f"{method}: {expression!s} is {'every goal' if products else 'no goal'}, whatever the "
            f"base tasks; plain values of base tasks do not tell"
        )
    return products
