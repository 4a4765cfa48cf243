"""How goals are reached × what goals pay (Corollary 1).

    Q̄_M(s, g, a) = G(s:g, a) + r_M(g)

The left term, the return from s up to the goal g, is planned or learned once and does not depend on
the task.  The right term is the task and does not depend on the world.  A `Reach` is the left term:
the planner's returns, a network, or a user's own function; `ReachQ` adds the task.

Users can write three kinds:

- `Reach`, with an action axis: a critic `returns(observations) → [B, G, A]`.
- `OfferedReach`, a critic of actions that are not numbered: `offers(observations) → [B, A, ...]`,
  the actions to choose from in each observation, and `returns → [B, G, A]`, what each is worth.
- `DirectedReach`, without: `values(observations) → [B, G]` and `act(observations, goal)`, for
  actor–critic agents and scripted skills.  By Lemma 2 the way to a goal is the same for all tasks,
  so a task only has to choose the goal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.content import ByContent, Travels
from taskalgebra.logic.algebra import Bounds
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.theory.values import ExtendedQ, Sight, ValueBounds
from taskalgebra.validation import numbers


class Reach(Travels, ABC):
    """G(s:g, a): the return from every state to every goal, before the goal itself pays."""

    observation_ndim = 0
    """Axes of one observation: 0 for the number of a state, 1 for a vector, 3 for an image."""
    met: BoolArray | None = None
    """[G], the goals that were met in learning; None for all.  It knows no way to the others."""
    kept: Mapping[str, Any] | None = None
    """What saved skills hold of an agent whose model is not saved: its digest, the goals as it
    knows them.  None for code of the user's own, of which only the name is saved."""

    @abstractmethod
    def returns(self, observations: Any) -> ArrayLike:
        """G(s:g, a) for a batch of B observations, `[B, G, A]`.

        Goals are in the order of the task space, actions in that of the environment.  The return
        counts the rewards of all steps up to the goal, without the terminal reward: if every step
        costs 0.1, it is −0.1 times the number of steps of the best way that starts with a.  A goal
        that cannot be reached has a return lower than all others.
        """

    def q_bar(self, sight: Sight, goal_reward: Array) -> Array:
        """Q̄_M(s, g, a) = G(s:g, a) + r_M(g)  (Corollary 1), for a shared batch of observations."""
        return self._paid(sight.through(self), goal_reward)

    @final
    def _paid(self, returns: Array, goal_reward: Array) -> Array:
        """The returns, checked to be `[B, G, A]`, plus what the goals pay."""
        if returns.ndim != 3 or returns.shape[1] != goal_reward.size:
            raise ValueError(
                f"{type(self).__name__} gave returns of shape {returns.shape}, expected [B, G, A] "
                f"with G = {goal_reward.size} goals"
            )
        return returns + goal_reward[:, None]


class DirectedReach(Reach):
    """Knows the return to each goal and how to get there, but not the values of single actions.

    It has one action, "go there", so that its returns are `[B, G, 1]`.
    """

    @abstractmethod
    def values(self, observations: Any) -> ArrayLike:
        """G(s:g), the return on its own way to every goal, `[B, G]`; see `Reach.returns`."""

    @abstractmethod
    def act(self, observations: Any, goal: int) -> NDArray[Any]:
        """The environment's actions towards one goal, one for each observation of a batch."""

    @final
    def returns(self, observations: Any) -> Array:
        """[B, G, 1]."""
        values = numbers(self.values(observations), f"the values of {type(self).__name__}")
        if values.ndim != 2:
            raise ValueError(
                f"{type(self).__name__}.values gave an array of shape {values.shape}, expected "
                f"[B, G]: one row per observation, one value per goal"
            )
        return values[..., None]


class OfferedReach(Reach):
    """Has values of a few actions in every observation, such as a critic of continuous actions.

    The actions on offer may differ between observations, and are the environment's own: those of a
    goal-conditioned policy towards each goal, for example, so that A = G.
    """

    @abstractmethod
    def offers(self, observations: Any) -> NDArray[Any]:
        """The environment's own actions to choose from, `[B, A, ...]`, ordered as in `returns`."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReachQ(ExtendedQ):
    """Q̄_M(s, g, a) = G(s:g, a) + r_M(g), the value function of a task (Corollary 1)."""

    reach: Reach
    goal_reward: Array  # [G]
    bounds: ValueBounds

    def q_bar(self, observations: ArrayLike) -> Array:
        """The returns of the reach plus what the goals pay."""
        return self._q_bar(Sight(observations))

    def _q_bar(self, sight: Sight) -> Array:
        q_bar = self.reach.q_bar(sight, self.goal_reward)
        if isinstance(self.reach, OfferedReach):
            return q_bar
        n_actions = 1 if isinstance(self.reach, DirectedReach) else self.space.n_actions
        if q_bar.shape[-1] != n_actions:
            raise ValueError(
                f"{type(self.reach).__name__} has values of {q_bar.shape[-1]} actions, the world "
                f"has {n_actions}"
            )
        return q_bar


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReachBounds(ValueBounds):
    """Q̄_U = G + r_U and Q̄_∅ = G + r_∅, where all tasks share their absorbing states."""

    space: TaskSpace
    reach: Reach

    @property
    def observation_ndim(self) -> int:  # type: ignore[override]
        """Axes of one observation."""
        return self.reach.observation_ndim

    def at(self, observations: ArrayLike) -> Bounds:
        """The returns of the reach plus r_U and r_∅."""
        return self._at(Sight(observations))

    def _at(self, sight: Sight) -> Bounds:
        space, reach = self.space, self.reach
        return Bounds(reach.q_bar(sight, space.r_universal), reach.q_bar(sight, space.r_empty))


@final
class MeanReach(ByContent, Reach):
    """Several estimates of one G: their mean."""

    def __init__(self, reaches: tuple[Reach, ...]) -> None:
        """Take the mean of these."""
        self.reaches = reaches
        self.observation_ndim = reaches[0].observation_ndim

    def returns(self, observations: Any) -> Array:
        """The mean return, `[B, G, A]`."""
        return self._mean(Sight(observations))

    def q_bar(self, sight: Sight, goal_reward: Array) -> Array:
        """The mean return plus what the task pays."""
        return self._paid(self._mean(sight), goal_reward)

    def _mean(self, sight: Sight) -> Array:
        total = sight.through(self.reaches[0])
        for reach in self.reaches[1:]:
            total = total + sight.through(reach)
        return total / len(self.reaches)


@final
@dataclass(frozen=True, eq=False, repr=False)
class ExtremeBounds(ValueBounds):
    """The pointwise extremes of the base tasks, for tasks that end in different states.

    Assumption 1 does not hold then, and no task is known to be best at every goal.  The largest and
    the smallest value of the base tasks bound everything composed from them.
    """

    space: TaskSpace
    reaches: tuple[Reach, ...]  # one per base task
    goal_rewards: Array  # [K, G]

    @property
    def observation_ndim(self) -> int:  # type: ignore[override]
        """Axes of one observation."""
        return self.reaches[0].observation_ndim

    def at(self, observations: ArrayLike) -> Bounds:
        """The extremes over the base tasks."""
        return self._at(Sight(observations))

    def _at(self, sight: Sight) -> Bounds:
        pairs = zip(self.reaches, self.goal_rewards, strict=True)
        return extremes([reach.q_bar(sight, reward) for reach, reward in pairs])


def extremes(values: list[Array]) -> Bounds:
    """The largest and the smallest of some arrays, entry by entry."""
    return Bounds(np.maximum.reduce(values), np.minimum.reduce(values))
