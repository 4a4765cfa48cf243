"""Tasks with time from returns to goals: what is still to come on every goal.

A formula over finite traces is an automaton with states u and transitions δ(u, label).  All goals
absorb, so G(s:g) is the return from s to g *without touching another goal on the way*; that is what
order and avoidance need.  Let W(g, u) be the value still to come when standing on the goal g with
the automaton in u, after it has read the label of g:

    W(g, u) = r_success                                       where u accepts
    W(g, u) = −∞                                              where u is dead
    W(g, u) = max_g' G(g:g') + W(g', δ(u, L(g')))             elsewhere

It is a search for the best paths in a graph of |𝒢|·|U| nodes (`values_to_come`).  While the
automaton is in u, an agent plays the *ordinary* task whose goals pay

    r_u(g) = W(g, δ(u, L(g)))

and Corollary 1 gives its values from the same returns: Q̄(s, g, a) = G(s:g, a) + r_u(g).

In a deterministic world this is the optimum of the product S × U if a step that enters no goal
leaves the automaton where it is, δ(u, ∅) = u, in every state in which an episode may be: between
two goals nothing happens then but that the agent walks.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.content import ByContent
from taskalgebra.logic.automaton import Automaton
from taskalgebra.theory.family import Family
from taskalgebra.theory.policy import Policy
from taskalgebra.theory.reach import Reach, ReachQ
from taskalgebra.theory.rewards import recover_v
from taskalgebra.theory.table_reach import TableReach
from taskalgebra.theory.tables import as_states
from taskalgebra.theory.values import ExtendedQ
from taskalgebra.worlds.finite import NO_GOAL

SMALL_TABLE = 2**20
"""Entries of Q̄ up to which the values of a state of the automaton are a table of their own."""


class EndlessGainError(ValueError):
    """Going round some goals earns more each time, so no optimal value exists."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Labelled(ByContent):
    """An automaton over the goals of a world."""

    automaton: Automaton
    letter: LongArray  # [G], what the automaton reads where a goal is entered

    @property
    def at_goal(self) -> LongArray:
        """[U, G], δ(u, L(g))."""
        return self.automaton.delta[:, self.letter].astype(np.int64)

    @property
    def at_none(self) -> LongArray:
        """[U], δ(u, ∅)."""
        return self.automaton.delta[:, 0].astype(np.int64)

    def after(self, states: LongArray, goals: LongArray) -> LongArray:
        """[B], the states after a step that entered these goals; −1 for none."""
        delta = self.automaton.delta
        letters = np.where(goals == NO_GOAL, 0, self.letter[goals])
        return delta[states, letters].astype(np.int64)


def values_to_come(
    between: Array, labelled: Labelled, success: float, toll: Array | None = None
) -> Array:
    """W(g, u), `[G, U]`; see the docstring of the module.

    Args:
        between: `[G, G]`, G(g:g'), the return from standing on g up to entering g'; −∞ for no way.
        labelled: the automaton, and what it reads on each goal.
        success: what is paid when the automaton accepts.
        toll: `[G]`, what entering each goal costs on top, such as the penalty of a violation.

    Raises:
        EndlessGainError: going round some goals earns more each time.
    """
    automaton = labelled.automaton
    paid = between if toll is None else between + toll
    start, state = _inverse(labelled)
    values = np.full((len(between), automaton.n_states), -np.inf)
    values[:, automaton.accepting] = success
    if not _search(
        np.ascontiguousarray(paid.T), start, state, automaton.accepting | automaton.dead, values
    ):
        raise EndlessGainError(
            "going round some goals of this world has a positive sum of rewards, so an agent would "
            "never finish; lower the step rewards"
        )
    return values


def _inverse(labelled: Labelled) -> tuple[LongArray, LongArray]:
    """The states u with δ(u, L(g)) = v, for a goal g and a state v.

    They are state[g, k] for k from start[g, v] up to start[g, v + 1].
    """
    at_goal = labelled.at_goal
    n_states, n_goals = at_goal.shape
    start = np.zeros((n_goals, n_states + 1), np.int64)
    state = np.empty((n_goals, n_states), np.int64)
    for letter in np.unique(labelled.letter):
        where = np.flatnonzero(labelled.letter == letter)
        column = at_goal[:, where[0]]
        start[where, 1:] = np.cumsum(np.bincount(column, minlength=n_states))
        state[where] = np.argsort(column, kind="stable")
    return start, state


@kernel
def _search(
    paid: Array, start: LongArray, state: LongArray, final_state: BoolArray, values: Array
) -> bool:
    """Improve values until they are the best; False if some cycle gains.

    The best node goes first.  If no way gains, each node is then visited once (Dijkstra).
    """
    n_goals, n_states = values.shape
    visits = np.zeros(values.shape, np.int64)
    queue = [(0.0, 0, 0)]
    queue.pop()
    for g in range(n_goals):
        for u in range(n_states):
            if values[g, u] > -np.inf:
                heappush(queue, (-values[g, u], g, u))
    while queue:
        minus, g, v = heappop(queue)
        if -minus < values[g, v]:
            continue
        visits[g, v] += 1
        if visits[g, v] > n_goals * n_states:
            return False
        for k in range(start[g, v], start[g, v + 1]):
            u = state[g, k]
            if final_state[u]:
                continue
            for h in range(n_goals):
                value = paid[g, h] - minus
                if value > values[h, u]:
                    values[h, u] = value
                    heappush(queue, (-value, h, u))
    return True


def goal_rewards(to_come: Array, labelled: Labelled, toll: Array | None = None) -> Array:
    """r_u(g) = W(g, δ(u, L(g))), `[U, G]`, less what entering the goal costs."""
    at_goal = labelled.at_goal
    rewards: Array = to_come[np.arange(at_goal.shape[1]), at_goal]
    return rewards if toll is None else rewards + toll


class FormulaPolicy(Policy):
    """A policy that keeps the state of an automaton for every episode of a batch.

    `reset` begins episodes, `observe` is told the goals that each step entered.
    """

    def __init__(self, labelled: Labelled) -> None:
        """One episode begins."""
        self.labelled = labelled
        self.states: LongArray = np.full(1, labelled.automaton.start, np.int64)

    def reset(self, begins: BoolArray) -> None:
        """The automaton is in its first state where an episode begins."""
        start = self.labelled.automaton.start
        if begins.size != self.states.size:
            self.states = np.full(begins.size, start, np.int64)
        self.states = np.where(begins, start, self.states)

    def observe(self, goals: LongArray) -> None:
        """Read the labels of the goals that a step entered, `[B]`; −1 for none."""
        self.states = self.labelled.after(self.states, goals)

    def actions(self, observations: Any) -> NDArray[Any]:
        """The actions for a batch of observations, each with the state of its episode."""
        given = np.asarray(observations)
        if len(given) == self.states.size == 1:
            return self.in_state(int(self.states[0]), given)
        if len(given) != self.states.size:
            raise ValueError(
                f"{len(given)} observations for {self.states.size} episodes under way; begin the "
                f"episodes of a batch with agent.reset([True] * {len(given)})"
            )
        return self.with_states(given, self.states)

    def first_actions(self, observations: Any) -> NDArray[Any]:
        """The actions where every episode just begins."""
        given = np.asarray(observations)
        return self.with_states(given, np.full(len(given), self.labelled.automaton.start))

    def with_states(self, observations: NDArray[Any], states: LongArray) -> NDArray[Any]:
        """The actions for observations with the automaton in these states, one each."""
        first = int(states[0]) if states.size else 0
        if states.size < 2 or (states == first).all():
            return self.in_state(first, observations)
        order, parts = [], []
        for u in np.unique(states):
            where = np.flatnonzero(states == u)
            order.append(where)
            parts.append(self.in_state(int(u), observations[where]))
        found: NDArray[Any] = np.concatenate(parts)
        return found[np.argsort(np.concatenate(order))]

    @abstractmethod
    def in_state(self, u: int, observations: NDArray[Any]) -> NDArray[Any]:
        """The actions for observations with the automaton in one state."""

    @abstractmethod
    def value(self, observations: NDArray[Any], u: int | None = None) -> Array:
        """[B], V with the automaton in a state, by default the first; −∞ where nothing succeeds."""


class ComposedPolicy(FormulaPolicy):
    """In state u, plays the task whose goals pay r_u(g), on the values of a family."""

    def __init__(self, labelled: Labelled, family: Family, reach: Reach, rewards: Array) -> None:
        """Take the returns to goals, and what goals pay in each state, `[U, G]`."""
        super().__init__(labelled)
        self.observation_ndim = reach.observation_ndim
        self._family, self._reach, self.rewards = family, reach, rewards
        self._policies: dict[Any, Policy] = {}

    def values(self, u: int) -> ExtendedQ:
        """Q̄ of the task that is played in a state: G(s:g, a) + r_u(g)."""
        reach = self._reach
        if isinstance(reach, TableReach) and reach.table.size <= SMALL_TABLE:
            return reach.paying(self.rewards[u])
        return ReachQ(reach, self.rewards[u], self._family.bounds)

    def in_state(self, u: int, observations: NDArray[Any]) -> NDArray[Any]:
        """Greedy actions, as of any task."""
        policy = self._policies.get(u)
        if policy is None:
            policy = self._policies[u] = self._family.policy(self.values(u))
        return policy.actions(observations)

    def value(self, observations: NDArray[Any], u: int | None = None) -> Array:
        """max_{g, a} Q̄ of the task that is played in a state."""
        state = self.labelled.automaton.start if u is None else u
        return recover_v(self.values(state).q_bar(observations))


@final
class EstimatedPolicy(ComposedPolicy):
    """The same on estimates, which do not lead back to the goal where the agent has just been.

    To enter a goal once more is never of use if the automaton stays where it is.  Exact values know
    that; with estimates, the way back to a goal close by may look best.
    """

    def __init__(self, labelled: Labelled, family: Family, reach: Reach, rewards: Array) -> None:
        """One episode begins."""
        super().__init__(labelled, family, reach, rewards)
        self._last: LongArray = np.full(1, NO_GOAL, np.int64)

    def reset(self, begins: BoolArray) -> None:
        """No goal was entered where an episode begins."""
        super().reset(begins)
        if begins.size != self._last.size:
            self._last = np.full(begins.size, NO_GOAL, np.int64)
        self._last = np.where(begins, NO_GOAL, self._last)

    def observe(self, goals: LongArray) -> None:
        """Keep the goals that were entered in mind."""
        super().observe(goals)
        self._last = np.where(goals == NO_GOAL, self._last, goals)

    def actions(self, observations: Any) -> NDArray[Any]:
        """As in any state, but for the goals that were entered last."""
        given = np.asarray(observations)
        if len(given) != self.states.size:
            return super().actions(given)  # which says what is wrong
        useless = (self._last != NO_GOAL) & (
            self.labelled.after(self.states, self._last) == self.states
        )
        last = np.where(useless, self._last, NO_GOAL)
        order, parts = [], []
        for u, g in {*zip(self.states.tolist(), last.tolist(), strict=True)}:
            where = np.flatnonzero((self.states == u) & (last == g))
            order.append(where)
            parts.append(self._without(u, g).actions(given[where]))
        found: NDArray[Any] = np.concatenate(parts)
        return found[np.argsort(np.concatenate(order))]

    def _without(self, u: int, goal: int) -> Policy:
        policy = self._policies.get((u, goal))
        if policy is None:
            rewards = self.rewards[u].copy()
            if goal != NO_GOAL:
                rewards[goal] = -np.inf
            values = ReachQ(self._reach, rewards, self._family.bounds)
            policy = self._policies[u, goal] = self._family.policy(values)
        return policy


@final
class PlannedPolicy(FormulaPolicy):
    """One action for every state of the world and of the automaton, from the product."""

    def __init__(self, labelled: Labelled, table: LongArray, values: Array) -> None:
        """Take the actions and the values, each `[U, S]`."""
        super().__init__(labelled)
        self.table, self.values = table, values

    def in_state(self, u: int, observations: NDArray[Any]) -> NDArray[Any]:
        """A row of the table."""
        found: LongArray = self.table[u, as_states(observations, self.table.shape[1])]
        return found

    def value(self, observations: NDArray[Any], u: int | None = None) -> Array:
        """Looked up."""
        state = self.labelled.automaton.start if u is None else u
        found: Array = self.values[state, as_states(observations, self.table.shape[1])]
        return found


def with_tolls(between: Array, toll: Array) -> Array:
    """R̄(g:h), the best return from goal g to goal h through any others, each for its toll.

    `between` is G(g:h), and `toll[k]` is paid where k is entered and is not the end.  All pairs at
    once, by Floyd and Warshall's algorithm, with max for min.
    """
    best = between.copy()
    for k in range(len(toll)):
        best = np.maximum(best, best[:, k, None] + toll[k] + best[k])
    return best


@final
class TolledReach(ByContent, Reach):
    """Returns to goals through other goals, each for a toll: the fewest violations, then steps.

    R̄(s:g, a) = max{ G(s:g, a),  max_h G(s:h, a) + toll(h) + R̄(h:g) }

    The toll depends on the goals that are passed, and not on the task, so that values with it
    compose by min and max like any other (Leahy et al. 2024).
    """

    def __init__(self, reach: Reach, between: Array, toll: Array) -> None:
        """Take the returns to goals, those between goals, and the tolls."""
        self.reach, self.observation_ndim = reach, reach.observation_ndim
        self._onward = with_tolls(between, toll) + toll[:, None]
        np.fill_diagonal(self._onward, 0.0)

    def returns(self, observations: Any) -> Array:
        """[B, G, A]."""
        direct = np.asarray(self.reach.returns(observations), np.float64)
        best = direct.copy()
        for h, onward in enumerate(self._onward):
            np.maximum(best, direct[:, h, None, :] + onward[:, None], out=best)
        return best


def dearest(between: Array, ahead: float) -> float:
    """A toll that outweighs every way: one violation less is worth any number of steps.

    Args:
        between: `[G, G]`, the returns between goals.
        ahead: the lowest return from any state to a goal.
    """
    finite = between[between > -np.inf]
    longest = max(-float(finite.min(initial=0.0)), -ahead)
    return (len(between) + 2) * (longest or 1.0)


def violations_in(lost: Array, toll: Array | float, n_goals: int) -> LongArray:
    """[B], the violations in what is lost against success, at this toll each; −1 for ∞.

    The ways themselves cost at most `n_goals` + 1 parts in `n_goals` + 2 of a toll.
    """
    least = 0.5 / (n_goals + 2)  # rounding and estimates, of which the toll is far
    found = np.floor(np.where(lost < np.inf, lost, 0.0) / np.where(toll, toll, 1.0) + least)
    found = np.where(toll, np.maximum(found, 0.0), 0.0)
    return np.where(lost < np.inf, found, -1).astype(np.int64)
