"""Linearly solvable worlds: desirabilities add up (Todorov 2009)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.baselines.entropic import TEMPERATURE, SoftEquation, checked_temperature, soft_max
from taskalgebra.baselines.interface import Baseline, Learned, Table, single_goals
from taskalgebra.learning.q_learning import Stop
from taskalgebra.logic.expression import Expression
from taskalgebra.theory.tasks import Task, TaskSpace


@final
@dataclass(frozen=True)
class SumOfGoals(Baseline):
    """Composition in a linearly solvable world: one desirability per goal (Todorov 2009).

    There an agent does not choose actions but the distribution u(· | s) of the next state, and pays
    τ KL(u ‖ p) for leaving the passive dynamics p.  The desirability z = exp(V / τ) then obeys a
    linear equation, so that tasks that differ only in what goals pay are sums, whatever p is:

        z(s) = exp(r(s) / τ) Σ_s' p(s' | s) z(s'),    z(g) = exp(r(g) / τ)
        z_M = Σ_g exp(r_M(g) / τ) z_g,    z_g(g') = 1[g = g']

    Every task is such a sum of single goals, M_∅ too.  Disjunction of tasks that share a goal is
    not the sum of their desirabilities, which would pay the shared goal twice, and conjunction is
    no sum at all; both are sums over goals.

    *In our worlds* p is what an action at random does, and for every action

        Z(s, a) = exp(r(s, a) / τ) Σ_s' ρ(s' | s, a) z(s')

    is kept, so that z(s) is the mean of Z(s, ·).  (Where rewards differ between actions, p prefers
    cheap ones.)  Z is learned by Z-learning, with the mean over actions computed instead of
    sampled; from samples alone z would need a learning rate that vanishes, even in a deterministic
    world.  What is kept is τ log Z, in units of reward.

    *What is lost*: the agent takes the action with the largest Z(s, a), not u.  Where outcomes are
    certain it can choose the next state, and only the temperature is lost: z also counts how many
    ways lead to a goal, and a shorter way of few may look worse than a longer one of many.  Where
    they are random, the optimal u may be out of reach, and log E exp(V / τ) prefers risk.
    """

    temperature: float = TEMPERATURE
    """τ, the price of control; the lower, the nearer to plain values."""

    title = "sum of desirabilities of single goals"

    def __post_init__(self) -> None:
        """Check the limit and the temperature; there must be no discount."""
        super().__post_init__()
        checked_temperature(self.temperature)
        if self.settings.discount != 1.0:
            raise ValueError(
                f"discount is {self.settings.discount:g}; the equation of desirabilities is linear "
                f"only without one: give 1"
            )

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """One task for each goal."""
        return single_goals(space)

    def exact_table(self, task: Task, known: Learned) -> Array:
        """τ log Z_g of the one desired goal."""
        return desirability(task, self.temperature).solve()

    def learn_table(self, task: Task, stop: Stop, seed: int, known: Learned) -> Table:
        """The same by Z-learning."""
        return desirability(task, self.temperature).learn(stop, self.settings, seed)

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """τ log Σ_g exp(r_M(g) / τ) Z_g."""
        rewards = learned.task(expression).goal_reward
        tables = np.stack([table.values for table in learned.tables.values()], axis=1)
        return soft_max(tables + rewards[:, None], 0.0, self.temperature)[:, None]


def desirability(task: Task, temperature: float) -> SoftEquation:
    """The equation of τ log Z with z = 1 in desired goals and 0 in all others."""
    terminal = np.where(task.desired, 0.0, -np.inf)
    equation = SoftEquation.of_task(task, temperature)
    return replace(equation, terminal=terminal, in_desirabilities=True)
