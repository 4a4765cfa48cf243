"""Values computed on demand, from the returns to goals of a deterministic world.

A world too large for tables keeps S·G returns in the smallest type that suffices (`worlds.held`).
Rows of Q̄* are computed when they are asked for, and actions without them (`planning.to_goals`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.content import ByContent
from taskalgebra.planning.to_goals import ReturnToGoal
from taskalgebra.theory.family import Family, Packed, TableFamily
from taskalgebra.theory.policy import GreedyPolicy, Policy
from taskalgebra.theory.reach import Reach, ReachBounds, ReachQ
from taskalgebra.theory.tables import as_states
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import Composed, ExtendedQ, GoalSetQ, Sight

AT_ONCE = 2**26
"""Bytes of sets of goals that are looked at together."""


@final
class PlannedReach(ByContent, Reach):
    """The planner's returns in a world too large for tables; observations are states.

    Its values are those of Definition 2: they include the penalty r̄_MIN of ending in another goal
    if that is best.
    """

    def __init__(self, returns: ReturnToGoal, r_bar_min: float) -> None:
        """Take the returns of a world and the penalty."""
        self.to_goals, self.r_bar_min = returns, r_bar_min

    def returns(self, observations: Any) -> Array:
        """G*(s:g, a) = r(s, a) + G*(s':g), `[B, G, A]`; −∞ where g cannot be reached."""
        return self._expanded(observations, np.zeros(self.to_goals.mdp.n_goals), -np.inf)

    def q_bar(self, sight: Sight, goal_reward: Array) -> Array:
        """Rows of Q̄*_M."""
        return self._expanded(sight.observations, goal_reward, self.r_bar_min)

    def _expanded(self, observations: ArrayLike, goal_reward: Array, r_bar_min: float) -> Array:
        states = as_states(observations, self.to_goals.mdp.n_states)
        return self.to_goals.q_bar(goal_reward, r_bar_min, states)


@final
class WithoutPenalty(ByContent, Reach):
    """The returns of a reach, to which goals add what they pay and nothing else."""

    def __init__(self, reach: Reach) -> None:
        """Take the reach."""
        self.reach, self.observation_ndim = reach, reach.observation_ndim

    def returns(self, observations: Any) -> ArrayLike:
        """Those of the reach."""
        return self.reach.returns(observations)


@final
@dataclass(frozen=True, eq=False, repr=False)
class PlannedFamily(Family):
    """Values computed on demand, from the returns of a world too large for tables."""

    FORMAT = TableFamily.FORMAT

    reach: PlannedReach

    @classmethod
    def of(cls, space: TaskSpace, tasks: Mapping[str, Task], reach: PlannedReach) -> PlannedFamily:
        """The values of these tasks."""
        bounds = ReachBounds(space, reach)
        values = tuple(ReachQ(reach, task.goal_reward, bounds) for task in tasks.values())
        return cls(space, dict(tasks), values, bounds, reach.r_bar_min, 0.0, reach)

    def to_goals(self) -> Reach:
        """The planner's returns, without the penalty."""
        return WithoutPenalty(self.reach)

    def policy(self, values: ExtendedQ) -> Policy:
        """Greedy; where the values are those of a set of goals, without expanding them."""
        wanted = self._wanted(values)
        if wanted is None or not self.acts_by_sets:
            return GreedyPolicy(values)
        return GreedyPolicy(values, partial(self._act_on_one, wanted[None]))

    def _act_on_one(self, wanted: BoolArray, observations: Any) -> LongArray:
        states = as_states(observations, self.space.mdp.n_states)
        flat = states.ravel().astype(np.int64)
        return self.act_on(wanted, np.zeros(flat.size, np.int64), flat).reshape(states.shape)

    @property
    def acts_by_sets(self) -> bool:
        """Whether a set of goals is all that an agent needs: r̄_MIN is at most r_∅."""
        return bool(self.reach.r_bar_min <= self.space.r_empty.min())

    def act_on(self, wanted: BoolArray, which: LongArray, states: LongArray) -> LongArray:
        """[N], the greedy actions of tasks that want some goals.

        Args:
            wanted: `[E, G]`, the goals of each task.
            which: `[N]`, the task of each decision.
            states: `[N]`, the state of each decision.
        """
        space, returns = self.space, self.reach.to_goals
        scale = space.reward_scale
        low, high = space.r_empty, space.r_universal
        if (low == low[0]).all() and (high == high[0]).all():
            pays = (float(low[0]), float(high[0]))
            return returns.greedy_sets(wanted, pays, which, states, scale)
        return returns.greedy(np.where(wanted, high, low), which, states, scale)

    def _wanted(self, values: ExtendedQ) -> BoolArray | None:
        """[G], the goals that values desire; None if they are not those of a set of goals."""
        if values.bounds is not self.bounds:
            return None
        if isinstance(values, GoalSetQ):
            return values.desired
        if isinstance(values, ReachQ):
            desired = values.goal_reward == self.space.r_universal
            other = values.goal_reward == self.space.r_empty
            return desired & self.space.wantable if (desired | other).all() else None
        if isinstance(values, Composed):
            leaves = {name: self._wanted(values.leaves[name]) for name in values.expression.names}
            sets = {name: found for name, found in leaves.items() if found is not None}
            if len(sets) < len(leaves):
                return None
            every = np.ones(self.space.n_goals, np.bool_)
            found: BoolArray = values.expression.evaluate(sets, universal=every, empty=~every)
            return found
        return None

    def pack(self) -> Packed:
        """No arrays: planning again is faster than reading them."""
        words = {"tables": False, "r_bar_min": self.r_bar_min, "error_bound": self.error_bound}
        return words, {}
