"""Two-sided bounds on V* of an expression, from those of its base tasks  (Adamczyk et al. 2023).

Where the theory ends, min and max of values are not the values of the composed task, but they still
bound them.  A task that pays max{r_A, r_B} is worth at least as much as either, and one that pays
min{r_A, r_B} at most, whatever the dynamics and the step rewards are:

    max{V_A, V_B} ≤ V*_{A∨B} ≤ max{V_A, V_B} + C,
    min{V_A, V_B} − C ≤ V*_{A∧B} ≤ min{V_A, V_B},

with C what the residual of the middle term adds up to along the best policy.  C is not planned: a
few sweeps bound it from above (`planning.bounds`), and what the composed policy earns from below.
Where both a rule and the composed policy bound V*, the narrower one counts.  A negation says
nothing about values, so it is bounded by its policy alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.logic.algebra import BooleanElement
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.bounds import upper_bound, upper_from
from taskalgebra.planning.policies import made_proper, policy_values
from taskalgebra.theory.tasks import Task


@final
@dataclass(frozen=True, eq=False, repr=False)
class Bracket(BooleanElement):
    """Bounds on V* of a task in every state: lower ≤ V* ≤ upper, each `[S]`."""

    _held = ("expression", "task", "lower", "upper")

    expression: Expression
    task: Task
    lower: Array
    upper: Array
    policy_of: Callable[[Expression], LongArray]  # [S], the composed policy of an expression

    @classmethod
    def of(
        cls, expression: Expression, task: Task, policy_of: Callable[[Expression], LongArray]
    ) -> Bracket:
        """Bounds from the composed policy: what it earns, and what it may lose at most."""
        mdp, paid = task.space.mdp, task.goal_reward
        actions = made_proper(mdp, paid, policy_of(expression))
        lower = policy_values(mdp, task.steps, paid, actions)
        upper = upper_bound(mdp, task.steps, paid, actions, lower).values
        return cls(expression, task, lower, upper, policy_of)

    @property
    def width(self) -> float:
        """The largest distance of the two, from any start."""
        starts = self.task.space.mdp.starts
        with np.errstate(invalid="ignore"):
            distance = self.upper[starts] - self.lower[starts]
        return float(np.nanmax(distance, initial=0.0))

    def __or__(self, other: Bracket) -> Bracket:
        """max{V_A, V_B} ≤ V* ≤ max{V_A, V_B} + C."""
        task = self.task | other.task
        lower = np.maximum(self.lower, other.lower)
        lower[task.space.mdp.goals] = task.goal_reward
        of = (task.space.mdp, task.steps, task.goal_reward)
        upper = upper_from(*of, lower, lower).values
        return self._narrowed(self.expression | other.expression, task, lower, upper)

    def __and__(self, other: Bracket) -> Bracket:
        """min{V_A, V_B} − C ≤ V* ≤ min{V_A, V_B}."""
        task = self.task & other.task
        upper = np.minimum(self.upper, other.upper)
        upper[task.space.mdp.goals] = task.goal_reward
        nothing = np.full_like(upper, -np.inf)
        return self._narrowed(self.expression & other.expression, task, nothing, upper)

    def _narrowed(self, expression: Expression, task: Task, lower: Array, upper: Array) -> Bracket:
        """These bounds, or those of the composed policy, whichever are narrower."""
        own = Bracket.of(expression, task, self.policy_of)
        low = np.maximum(lower, own.lower)
        high = np.maximum(np.minimum(upper, own.upper), low)
        return Bracket(expression, task, low, high, self.policy_of)

    def __invert__(self) -> Bracket:
        """Bounds from the composed policy of the negation."""
        return Bracket.of(~self.expression, ~self.task, self.policy_of)

    def __repr__(self) -> str:
        """The expression, and how far the bounds are apart."""
        return f"Bracket({str(self.expression)!r}, at most {self.width:.3g} wide)"
