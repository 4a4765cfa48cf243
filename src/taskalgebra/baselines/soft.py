"""Entropy-regularised values: soft disjunction, and the average with its divergence correction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.baselines.entropic import (
    TEMPERATURE,
    SoftEquation,
    checked_temperature,
    soft_max,
)
from taskalgebra.baselines.interface import Baseline, Learned, NotExpressible, Table, ahead
from taskalgebra.baselines.plain import positive_products
from taskalgebra.learning.q_learning import Stop
from taskalgebra.logic.expression import Expression
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.worlds.finite import FiniteMDP

MOST_BASE_TASKS = 10
"""`CorrectedAverage` learns a table for every set of base tasks; beyond this many it refuses."""


@dataclass(frozen=True)
class SoftValues(Baseline):
    """Baselines that learn entropy-regularised values of tasks, by soft Q-learning.

    Q(s, a) = r(s, a) + Σ ρ(s' | s, a) V(s'),   V(s) = τ log (1/A) Σ_a exp(Q(s, a) / τ)

    The agent takes the best action of the composed values.  The papers' own agents draw from
    exp(Q / τ), which is their optimum: it also pays for being predictable, and ours does not.
    """

    temperature: float = TEMPERATURE
    """τ; the lower, the nearer to plain values, and the more even the way there."""

    def __post_init__(self) -> None:
        """Check the limit and the temperature."""
        super().__post_init__()
        checked_temperature(self.temperature)

    @final
    def equation(self, task: Task) -> SoftEquation:
        """The soft Bellman equation of a task."""
        return SoftEquation.of_task(task, self.temperature, self.settings.discount)

    def exact_table(self, task: Task, known: Learned) -> Array:
        """Q*_M, entropy-regularised."""
        return self.equation(task).solve()

    def learn_table(self, task: Task, stop: Stop, seed: int, known: Learned) -> Table:
        """Q_M by soft Q-learning."""
        return self.equation(task).learn(stop, self.settings, seed)


@final
@dataclass(frozen=True)
class SoftMaxOfTasks(SoftValues):
    """Soft disjunction of entropy-regularised values (van Niekerk et al. 2019).

    Q = τ log Σ_k w_k exp(Q_k / τ),   w_k = 1/n

    In a deterministic world without discount this is exact for the task whose goals pay
    τ log Σ_k w_k exp(r_k(g) / τ).  That is near the disjunction: a goal that only some of the tasks
    desire pays up to τ log n less than one that all desire, so an agent may walk further for the
    latter.  As τ → 0 it is the maximum (`MaxOfTasks`), and exact for ∨.  Where outcomes are random
    neither is: the best way to one goal or the other may be the best way to none of them.
    """

    title = "soft max of base tasks"

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """One value function, the soft disjunction of all terms."""
        products = positive_products(expression, self.title)
        for product in products:
            if len(product) > 1:
                raise NotExpressible(
                    f"{self.title}: soft values have no conjunction, and {expression!s} needs "
                    f"{' & '.join(product)}"
                )
        tables = [learned.table(learned.base_tasks[name]) for name, *_ in products]
        return soft_max(np.stack(tables, axis=1), -np.log(len(tables)), self.temperature)[:, None]


@final
@dataclass(frozen=True)
class CorrectedAverage(SoftValues):
    """The average of entropy-regularised values, corrected (Haarnoja 2018, Hunt et al. 2019).

        Q_{A∧B} = (Q_A + Q_B)/2 − C
        C(s, a) = −τ Σ ρ(s' | s, a) log Σ_b √(π_A(b | s') π_B(b | s')) exp(−C(s', b) / τ)

    π_A and π_B are the soft policies, C is 0 in goals.  C is how far the two part on the way: the
    average without it expects both at once.  With it the value is exact, in stochastic worlds too,
    but for the task of the *average reward*, in which a goal that one of two tasks desires pays
    half.  That is no conjunction.

    C is learned by interaction, after the values, for every set of two or more base tasks: 2^K − 1
    tables in all.  What is kept is (Q_A + Q_B)/2 − C.  A product of n tasks is the mean of all n;
    ∨ is the maximum, and negation is not defined, as in `AverageOfTasks`.
    """

    title = "average with divergence correction"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """The base tasks, and the average of every set of them."""
        k = len(base_tasks)
        if k > MOST_BASE_TASKS:
            raise ValueError(
                f"{k} base tasks have {2**k - k - 1:,} sets of two or more, and this method learns "
                f"a correction for each; at most {MOST_BASE_TASKS} base tasks are taken"
            )
        tasks = list(base_tasks.values())
        sets = (some for n in range(2, k + 1) for some in combinations(tasks, n))
        return [*tasks, *(average(some) for some in sets)]

    def exact_table(self, task: Task, known: Learned) -> Array:
        """Q*_M of a base task; for an average, what the known values and their C come to."""
        parts = _parts(task, known.base_tasks.values())
        if len(parts) == 1:
            return super().exact_table(task, known)
        tables = [known.table(part) for part in parts]
        correction = self._correction(parts, tables)
        mean: Array = np.mean(tables, axis=0)
        return mean + correction.solve()

    def learn_table(self, task: Task, stop: Stop, seed: int, known: Learned) -> Table:
        """Q_M of a base task by soft Q-learning; C of an average by its own equation."""
        parts = _parts(task, known.base_tasks.values())
        if len(parts) == 1:
            return super().learn_table(task, stop, seed, known)
        assert stop.optimum is not None
        tables = [known.table(part) for part in parts]
        mean: Array = np.mean(tables, axis=0)
        target = Stop(steps=stop.steps, optimum=stop.optimum - mean, tolerance=stop.tolerance)
        found = self._correction(parts, tables).learn(target, self.settings, seed)
        return Table(mean + found.values, found.n_steps, found.converged)

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """One corrected average for each product of the sum."""
        products = positive_products(expression, self.title)
        own = [[learned.base_tasks[name] for name in product] for product in products]
        return np.stack([learned.table(average(tasks)) for tasks in own], axis=1)

    def _correction(self, parts: Sequence[Task], tables: Sequence[Array]) -> SoftEquation:
        policies = [
            self.equation(part).policy(table) for part, table in zip(parts, tables, strict=True)
        ]
        return correction(parts[0].space.mdp, policies, self.temperature, self.settings.discount)


def average(tasks: Sequence[Task]) -> Task:
    """The task that pays the mean of what some tasks pay; one task is its own average."""
    space = tasks[0].space
    mean = np.mean(sorted(task.goal_reward.tolist() for task in tasks), axis=0)
    return space.from_rewards(np.clip(mean, space.r_empty, space.r_universal))


def _parts(task: Task, base_tasks: Iterable[Task]) -> tuple[Task, ...]:
    """The fewest base tasks with this average."""
    base = list(dict.fromkeys(base_tasks))
    for n in range(1, len(base) + 1):
        for some in combinations(base, n):
            if average(some) == task:
                return some
    raise ValueError(f"{task!r} is no average of base tasks")


def correction(
    mdp: FiniteMDP, policies: Sequence[Array], temperature: float, discount: float = 1.0
) -> SoftEquation:
    """The equation of −C for soft policies, log π_i `[S, A]` each  (Hunt et al. 2019).

    −C(s, a) = γ τ Σ ρ(s' | s, a) log Σ_b Π_i π_i(b | s')^(1/n) exp(−C(s', b) / τ)
    """
    free, nothing = np.zeros((mdp.n_states, mdp.n_actions)), np.zeros(mdp.n_goals)
    shared = np.mean(policies, axis=0)
    return SoftEquation(mdp, free, shared, nothing, temperature, discount)


def largest_correction(
    mdp: FiniteMDP, policies: Sequence[Array], temperature: float, discount: float
) -> Array:
    """C* `[S, A]`, by which the average is too large at most  (Haarnoja et al. 2018).

        C*(s, a) = γ Σ ρ(s' | s, a) (τ/2 D_½(π_A(· | s') ‖ π_B(· | s')) + max_b C*(s', b))
        (Q_A + Q_B)/2  ≥  Q  ≥  (Q_A + Q_B)/2 − C*

    D_½(p ‖ q) = −2 log Σ √(p q) is Rényi's divergence; for n policies it is −log Σ Π p_i^(1/n) that
    stands for its half.  Somebody who goes round where policies part adds it up for ever, so that
    without a discount the bound says nothing.
    """
    if not 0 <= discount < 1:
        raise ValueError(f"the bound needs a discount below 1, got {discount:g}")
    shared = np.mean(policies, axis=0)
    parted = -soft_max(temperature * shared, 0.0, temperature)
    parted[mdp.is_goal] = 0.0
    c = np.zeros((mdp.n_states, mdp.n_actions))
    change = np.inf
    while change > 1e-14 * (1.0 + c.max()):
        new = discount * ahead(mdp, parted + c.max(axis=1))
        new[mdp.is_goal] = 0.0
        change, c = np.abs(new - c).max(), new
    return c
