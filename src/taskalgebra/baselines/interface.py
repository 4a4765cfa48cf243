"""The interface of all baselines: learn tables once, then act on expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.learning.q_learning import Settings, Stop
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import parse
from taskalgebra.theory.base_tasks import labels_of
from taskalgebra.theory.rounding import TIE
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import checked_seed, count, instance
from taskalgebra.worlds.finite import FiniteMDP

TOLERANCE = 1e-5
"""A table is learned when no entry is further than this from its exact value."""


class NotExpressible(ValueError):
    """The method does not say how to act on this expression."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """One learned table, and what it cost."""

    values: Array  # [S, A], [S, G, A] or [S, A, G + 1]
    n_steps: int  # of the environment
    converged: bool  # whether it is exact, up to TOLERANCE


@final
@dataclass(frozen=True, eq=False, repr=False)
class Learned:
    """The tables that a baseline has learned; from here on nothing is learned."""

    method: Baseline
    space: TaskSpace
    base_tasks: dict[str, Task]
    tables: dict[Task, Table]

    @property
    def n_tables(self) -> int:
        """How many tables were learned."""
        return len(self.tables)

    @property
    def n_entries(self) -> int:
        """How many numbers the tables hold."""
        return sum(table.values.size for table in self.tables.values())

    @property
    def n_samples(self) -> int:
        """How many environment steps were taken, over all tables."""
        return sum(table.n_steps for table in self.tables.values())

    @property
    def converged(self) -> bool:
        """Whether every table is exact."""
        return all(table.converged for table in self.tables.values())

    def values(self, expression: str | Expression) -> Array:
        """`[S, N, A]`, N value functions for an expression; the agent maximises over them.

        Raises:
            NotExpressible: the method does not define this.
            ExpressionError: the text is not a formula over the base tasks.
        """
        if isinstance(expression, str):
            expression = parse(expression, self.base_tasks)
        if not isinstance(expression, Expression):
            raise TypeError(f"expected an expression over the base tasks, got {expression!r}")
        expression.steps_over(self.base_tasks)
        return self.method.compose(self, expression)

    def choices(self, expression: str | Expression) -> BoolArray:
        """`[S, A]`, the best actions: argmax_a max_n of the values, and all tied with it.

        Raises as `values`.
        """
        q = self.values(expression).max(axis=1)
        best = q.max(axis=1, keepdims=True)
        tied: BoolArray = q >= best - TIE * np.maximum(self.space.reward_scale, np.abs(best))
        return tied

    def actions(self, expression: str | Expression) -> LongArray:
        """`[S]`, the first of the best actions, as `policy.greedy`.  Raises as `values`."""
        first: LongArray = self.choices(expression).argmax(axis=1)
        return first

    def task(self, expression: Expression) -> Task:
        """The task that an expression stands for."""
        space = self.space
        return expression.evaluate(self.base_tasks, universal=space.universal, empty=space.empty)

    def table(self, task: Task) -> Array:
        """The values learned for a task."""
        return self.tables[task].values


@dataclass(frozen=True)
class Baseline(ABC):
    """A way to learn tables for base tasks, and to act on expressions over them."""

    settings: Settings = Settings(learning_rate=1.0)  # noqa: RUF009 (frozen)
    """α, ε and γ of learning; the defaults suit deterministic worlds.  α is kept throughout."""
    max_steps: int = 10_000_000
    """A table that is not exact after this many environment steps is used as it is."""

    title: ClassVar[str]

    def __post_init__(self) -> None:
        """Check the limit."""
        count(self.max_steps, "max_steps")

    @final
    def learn(self, space: TaskSpace, base_tasks: Mapping[str, Task], *, seed: int = 0) -> Learned:
        """Learn by interaction all that the method needs for expressions over these tasks.

        Args:
            space: the task space.
            base_tasks: two-valued tasks of that space, by name, with its step rewards.
            seed: each table has its own random stream, made from this number and the position of
                the table; so methods that learn the same tables learn them from the same steps.
        """
        _check(space, base_tasks)
        tasks = list(dict.fromkeys(self.to_learn(space, base_tasks)))
        sequence = np.random.SeedSequence(checked_seed(seed))
        seeds = sequence.generate_state(len(tasks), np.uint64)
        learned = Learned(self, space, dict(base_tasks), {})
        for task, own in zip(tasks, seeds, strict=True):
            optimum = self.exact_table(task, learned)
            stop = Stop(steps=self.max_steps, optimum=optimum, tolerance=TOLERANCE)
            learned.tables[task] = self.learn_table(task, stop, int(own), learned)
        return learned

    @final
    def solve(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> Learned:
        """What learning comes to: the same tables, exact, and without a step."""
        _check(space, base_tasks)
        solved = Learned(self, space, dict(base_tasks), {})
        for task in dict.fromkeys(self.to_learn(space, base_tasks)):
            solved.tables[task] = Table(self.exact_table(task, solved), 0, True)
        return solved

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """The tasks that need a table: by default the base tasks."""
        return list(base_tasks.values())

    @abstractmethod
    def exact_table(self, task: Task, known: Learned) -> Array:
        """The table of one task as learning would find it; `known` has those before it."""

    @abstractmethod
    def learn_table(self, task: Task, stop: Stop, seed: int, known: Learned) -> Table:
        """Learn the table of one task; `stop` has its exact values and `max_steps`."""

    @abstractmethod
    def compose(self, learned: Learned, expression: Expression) -> Array:
        """`[S, N, A]`, the values to maximise over; or raise `NotExpressible`."""


def ahead(mdp: FiniteMDP, values: Array) -> Array:
    """Σ_s' ρ(s' | s, a) values[s'], as `[S, A, …]`."""
    weight = mdp.probability.reshape(-1, *[1] * (values.ndim - 1))
    summed = np.add.reduceat(weight * values[mdp.successor], mdp.offset[:-1])
    return summed.reshape(mdp.n_states, mdp.n_actions, *values.shape[1:])


def single_goals(space: TaskSpace) -> list[Task]:
    """One task for each goal, in the order of goals."""
    return [space.from_desired(row) for row in np.eye(space.mdp.n_goals, dtype=np.bool_)]


def _check(space: TaskSpace, base_tasks: Mapping[str, Task]) -> None:
    """Check that the base tasks are two-valued tasks of this space, and none is dense."""
    instance(space, TaskSpace, "the space")
    labels_of(base_tasks)
    for name, task in base_tasks.items():
        if task.space != space:
            raise ValueError(f"task {name!r} belongs to another space; use tasks of the one given")
        if task.step_reward is not None:
            raise ValueError(
                f"task {name!r} is dense; baselines compare tasks that share their step rewards"
            )
