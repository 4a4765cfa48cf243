"""Looking one step ahead, where steps can be computed and returns are known in some places only.

No table holds all states of a continuous world.  Lay a finite world over it, call its states
*places*, and plan the returns G(p:g) from each of them.  A step a from x pays r(x, a) and leads to
a point between some places, with weights w_p(x, a) that add up to 1.  For a task whose goals pay
r_M,

    V_M(p) = max_g G(p:g) + r_M(g)
    Q_M(x, a) = r(x, a) + Σ_p w_p(x, a) V_M(p)

and an agent takes argmax_a Q_M(x, a).  The best goal of each place is chosen before the mean is
taken: goals of a continuous world lie close together, and neighbouring places have different best
goals, so that the mean of the returns to any one goal says little.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.theory.policy import Policy, greedy
from taskalgebra.theory.reach import Reach
from taskalgebra.theory.values import ExtendedQ, Sight


@final
@dataclass(frozen=True, eq=False)
class Ahead:
    """What the steps from B observations lead to."""

    reward: Array  # [B, A], r(x, a)
    place: LongArray  # [B, A, K]
    weight: Array  # [B, A, K], which add up to 1 over K


class AheadReach(Reach):
    """Knows what a step leads to, and the returns from some places, of which goals are some."""

    to_goal: Array
    """[G, P], G(p:g); 0 in the goal itself, −∞ where there is no way."""

    @abstractmethod
    def ahead(self, observations: Any) -> Ahead:
        """The rewards of all steps, and the places between which they lead."""


@final
class AheadPolicy(Policy):
    """argmax_a r(x, a) + Σ_p w_p(x, a) V_M(p).

    A place without a way to any wanted goal has no part in a mean with others that have one.
    """

    def __init__(self, values: ExtendedQ, reach: AheadReach) -> None:
        """Take the values of a task, and the reach that they were made of."""
        self.reach, self.observation_ndim = reach, reach.observation_ndim
        self._scale = values.space.reward_scale
        pays = goal_rewards(values, reach)
        self._value: Array = (reach.to_goal + pays[:, None]).max(axis=0)  # [P]

    def actions(self, observations: Any) -> LongArray:
        """The best action for each observation, `[B]`."""
        return greedy(self.q(observations)[:, None, :], self._scale)

    def q(self, observations: Any) -> Array:
        """Q_M(x, a), `[B, A]`."""
        ahead = self.reach.ahead(observations)
        value = self._value[ahead.place]
        way = (value > -np.inf) & (ahead.weight > 0)
        weight = np.where(way, ahead.weight, 0.0)
        total = weight.sum(axis=2)
        mean = (weight * np.where(way, value, 0.0)).sum(axis=2) / np.where(total > 0, total, 1.0)
        return np.where(total > 0, ahead.reward + mean, -np.inf)


def goal_rewards(values: ExtendedQ, reach: Reach) -> Array:
    """r_M(g), `[G]`, of the task of some values: Q̄_M = G + r_M, with G = 0."""
    n_goals, n_actions = values.space.n_goals, values.space.n_actions
    sight = Sight(np.zeros((1, *(0,) * reach.observation_ndim)))
    sight.assume(reach, np.zeros((1, n_goals, n_actions)))
    rewards: Array = values._q_bar(sight)[0, :, 0]
    return rewards
