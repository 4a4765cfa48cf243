"""The product S × U: a world in which the state of an automaton is part of the state.

Its states are pairs (s, u), and it has two goals, "satisfied" and "violated": a step leads to
(s', δ(u, L)), with L the label of the goal that it entered, or ∅; to "satisfied" where that state
accepts, and to "violated" where it is dead.  Where actions have random outcomes, a step into a pair
from which nothing leads to either, as from a pit, is a violation, too.  A step into a goal of the
world goes on in `FiniteMDP.resumes`.  The product is a finite world like any other, so that its
optimum, the return of a policy and episodes come from the same code.  It is exact in every finite
world, stochastic or not, and for every formula, and it is what composed agents are compared with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.planning.exact import optimal_q, return_to_goal
from taskalgebra.planning.temporal import Labelled
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.graph import can_reach

SATISFIED, VIOLATED = 0, 1
LARGEST = 2**24
"""Entries S·U·A up to which products are made."""


class TooLargeError(ValueError):
    """The product has too many states."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Product:
    """The product of a world and an automaton."""

    labelled: Labelled
    world: FiniteMDP  # S
    mdp: FiniteMDP  # S × U
    live: LongArray  # the states of the automaton in which an episode may be
    states: LongArray  # of the world, in which an episode may be: all but goals
    task: Task  # "satisfied"
    stuck: BoolArray  # the states of the product from which nothing leads to an end

    def number(self, states: LongArray | IntArray, u: int) -> LongArray:
        """The states of the product for states of the world and one of the automaton."""
        row = np.full(self.world.n_states, -1)
        row[self.states] = np.arange(self.states.size)
        place = int(np.searchsorted(self.live, u))
        found: LongArray = place * self.states.size + row[states]
        return found

    @cached_property
    def values(self) -> Array:
        """V*(s, u), as `[U, S]`: −∞ where the formula cannot be satisfied, and in goals.

        In a deterministic world a violation is worth −∞; in a stochastic one it pays r_∅.
        """
        v = self.q.max(axis=1)
        return self.table(v, -np.inf)

    @cached_property
    def q(self) -> Array:
        """[S × U, A], the optimal values of actions."""
        mdp, task = self.mdp, self.task
        if not mdp.deterministic:
            return optimal_q(task)
        to_goal = return_to_goal(mdp).held.to(SATISFIED)
        q: Array = task.steps + to_goal[mdp.next_state] + task.goal_reward[SATISFIED]
        return q

    def actions(self) -> LongArray:
        """[U, S], an optimal action for every pair; 0 where no episode is."""
        best = greedy(self.q[:, None, :], self.task.space.reward_scale)
        return self.table(best, 0).astype(np.int64)

    def table(self, column: Array | LongArray, missing: float) -> Array:
        """[U, S] from one number for each state of the product; `missing` where it is stuck."""
        column = np.where(self.stuck, missing, column)
        n_live, n_states = self.live.size, self.states.size
        found = np.full((self.labelled.automaton.n_states, self.world.n_states), missing, float)
        found[np.ix_(self.live, self.states)] = column[: n_live * n_states].reshape(n_live, -1)
        return found

    def flat(self, actions: LongArray) -> LongArray:
        """One action for each state of the product, from `[U, S]`."""
        chosen = np.zeros(self.mdp.n_states, np.int64)
        pairs = actions[np.ix_(self.live, self.states)].ravel()
        chosen[: pairs.size] = pairs
        return chosen


def product(space: TaskSpace, labelled: Labelled, toll: Array | None = None) -> Product:
    """The product of a world and an automaton.

    Args:
        space: the task space of the world.
        labelled: the automaton.
        toll: `[G]`, what entering each goal costs on top of the step.

    Raises:
        TooLargeError: there are too many pairs.
        ValueError: the world does not say where episodes go on after a goal.
    """
    world, automaton = space.mdp, labelled.automaton
    resumes = world.after_goals
    live = _live(labelled)
    states = np.flatnonzero(~world.is_goal)
    n = states.size * live.size
    if n * world.n_actions > LARGEST:
        raise TooLargeError(
            f"{states.size:,} states × {live.size:,} states of the automaton × {world.n_actions} "
            f"actions exceed {LARGEST:,}"
        )
    row = np.full(world.n_states, -1)
    row[states] = np.arange(states.size)
    kept = np.repeat(~world.is_goal, world.n_actions)
    counts = np.diff(world.offset)
    outcome = np.repeat(kept, counts)
    successor = world.successor[outcome]
    goal = world.goal_of_state[successor]
    after = row[np.where(goal >= 0, resumes[goal], successor)]
    place = np.zeros(automaton.n_states, np.int64)
    place[live] = np.arange(live.size)
    parts = []
    for u in live:
        v = labelled.after(np.full(goal.size, u), goal.astype(np.int64))
        to = place[v] * states.size + after
        to = np.where(automaton.dead[v], n + VIOLATED, to)
        parts.append(np.where(automaton.accepting[v], n + SATISFIED, to))
    rows = np.tile(counts[kept], live.size)
    goals = np.arange(n, n + 2)
    ends = np.repeat(goals, world.n_actions)
    steps = world.step_reward[states]
    if toll is not None:
        paid = world.probability[outcome] * np.where(goal >= 0, toll[goal], 0.0)
        first = np.concatenate(([0], np.cumsum(counts[kept])[:-1]))
        steps = steps + np.add.reduceat(paid, first).reshape(steps.shape)
    mdp = FiniteMDP(  # its parts are those of a world, which were checked
        np.concatenate(([0], np.cumsum(rows), rows.sum() + np.arange(1, ends.size + 1))),
        np.concatenate((*parts, ends)).astype(np.int32),
        np.concatenate((np.tile(world.probability[outcome], live.size), np.ones(ends.size))),
        step_reward=np.concatenate(
            (np.tile(steps, (live.size, 1)), np.zeros((2, world.n_actions)))
        ),
        goals=goals.astype(np.int32),
        goal_names=("satisfied", "violated"),
        action_names=world.action_names,
        starts=(place[automaton.start] * states.size + row[world.starts]).astype(np.int32),
    )
    offset, before, _ = mdp.predecessors
    stuck = ~can_reach(offset, before, mdp.goals)
    if stuck.any() and not mdp.deterministic:
        ended = np.where(stuck[mdp.successor], n + VIOLATED, mdp.successor)
        mdp = replace(mdp, successor=ended.astype(np.int32))
    for array in (mdp.offset, mdp.successor, mdp.probability, mdp.step_reward):
        array.setflags(write=False)
    high = float(space.r_universal.max())
    own = TaskSpace(mdp, r_universal=high, r_empty=min(float(space.r_empty.min()), high - 1.0))
    return Product(labelled, world, mdp, live, states, own.task(["satisfied"]), stuck)


def _live(labelled: Labelled) -> LongArray:
    """The states of the automaton in which an episode may be under way."""
    automaton = labelled.automaton
    reached: BoolArray = np.zeros(automaton.n_states, np.bool_)
    stack = [int(automaton.start)]
    reached[automaton.start] = True
    ways = np.concatenate((labelled.at_goal, labelled.at_none[:, None]), axis=1)
    while stack:
        for v in np.unique(ways[stack.pop()]).tolist():
            if not (reached[v] or automaton.accepting[v] or automaton.dead[v]):
                reached[v] = True
                stack.append(v)
    return np.flatnonzero(reached)
