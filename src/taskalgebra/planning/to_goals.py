"""G*(s:g) of a deterministic world, and Q̄* of any task from it (Corollary 1).

    V̄*_M(s, g) = max{ G*(s:g) + r_M(g),  max_{g' ≠ g} G*(s:g') + r̄_MIN }
    Q̄*_M(s, g, a) = r(s, a) + V̄*_M(s', g)

The greedy action of a task needs no Q̄*.  Where r̄_MIN is at most what any goal pays, the second
term never is the largest over goals, and

    max_g Q̄*_M(s, g, a) = r(s, a) + max_g [ G*(s':g) + r_M(g) ].

Of a task whose goals pay one of two rewards, only the wanted goals are looked at, and the nearest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.content import ByContent
from taskalgebra.theory.assumptions import describe_cycle
from taskalgebra.theory.policy import first_best
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.graph import over_rows
from taskalgebra.worlds.held import Block, Held, hiding, unreached
from taskalgebra.worlds.returns import held_returns, known_returns


class PositiveCycleError(ValueError):
    """Some cycle earns more each time round, so no optimal value exists."""


def cycle_error(mdp: FiniteMDP, cycle: list[int]) -> PositiveCycleError:
    """What is said of a cycle whose rewards have a positive sum."""
    return PositiveCycleError(
        f"{describe_cycle(mdp, cycle)} has a positive sum of rewards, so going round "
        f"forever beats reaching any goal; lower the step rewards"
    )


@dataclass(frozen=True, eq=False, repr=False)
class ReturnToGoal(ByContent):
    """G*(s:g), the best sum of rewards from s up to, but not including, g  (Corollary 1)."""

    mdp: FiniteMDP
    step_reward: Array  # [S, A]
    held: Held

    @property
    def to_goal(self) -> Array:
        """[G, S], all returns as a new table of float64; −∞ where g cannot be reached."""
        return self.held.table()

    @property
    def nearest(self) -> IntArray:
        """[S], the goal with the best return."""
        return self._best_two[0]

    @property
    def nearest_return(self) -> Array:
        """[S], its return."""
        return self._best_two[1]

    @property
    def second_return(self) -> Array:
        """[S], the best return among the other goals."""
        return self._best_two[2]

    @cached_property
    def _best_two(self) -> tuple[IntArray, Array, Array]:
        return self.held.best_two()

    def q_bar(self, goal_reward: Array, r_bar_min: float, states: NDArray[np.integer]) -> Array:
        """Q̄*_M(s, g, a) for some states, `[B, G, A]`, from the terminal rewards of a task."""
        mdp = self.mdp
        out = np.empty((states.size, mdp.n_goals, mdp.n_actions))
        for first, block in self.held.parts():
            _expand(
                mdp.next_state,
                self.step_reward,
                mdp.goal_of_state,
                block,
                unreached(block.dtype),
                self.held.step,
                first,
                *self._best_two,
                goal_reward,
                r_bar_min,
                states.ravel().astype(np.int64),
                out,
            )
        return out.reshape(*states.shape, mdp.n_goals, mdp.n_actions)

    def best(self, states: NDArray[np.integer], goal_reward: Array) -> Array:
        """[B], V*_M(s) = max_g G*(s:g) + r_M(g) of some states."""
        return self.held.best(states, goal_reward)

    def greedy(
        self, goal_rewards: Array, which: LongArray, states: LongArray, scale: float
    ) -> LongArray:
        """argmax_a r(s, a) + max_g [G*(s':g) + r(g)], for any rewards of goals, `[N]`.

        Args:
            goal_rewards: `[E, G]`, what the goals of some tasks pay.
            which: `[N]`, the task of each decision.
            states: `[N]`, the state of each decision.
            scale: of rewards, for ties.
        """
        mdp, step = self.mdp, self.held.step
        best = np.full((states.size, mdp.n_actions), -np.inf)

        def fold(part: slice) -> None:
            for first, block in self.held.parts():
                paid = goal_rewards[:, first : first + block.shape[1]]
                of = (mdp.next_state, block, unreached(block.dtype), step, paid)
                _fold_rewards(*of, which[part], states[part], best[part])

        over_rows(fold, states.size, mdp.n_actions * mdp.n_goals)
        return self._chosen(best, states, scale)

    def greedy_sets(
        self,
        wanted: BoolArray,
        rewards: tuple[float, float],
        which: LongArray,
        states: LongArray,
        scale: float,
    ) -> LongArray:
        """The same for tasks whose goals pay one reward or another, by sets of goals.

        Args:
            wanted: `[E, G]`, the goals that pay the larger reward.
            rewards: the smaller and the larger.
            which: `[N]`, the task of each decision.
            states: `[N]`, the state of each decision.
            scale: of rewards, for ties.
        """
        mdp, step = self.mdp, self.held.step
        low, high = rewards
        best = np.full((states.size, mdp.n_actions), -np.inf)
        nearest, nearest_return, _ = self._best_two
        looked_at = []
        for first, block in self.held.parts():
            own = wanted[:, first : first + block.shape[1]]
            some = np.asarray(own.any(axis=1))
            if some.any():
                fold_block = _fold_returns if block.dtype.kind == "f" else _fold_steps
                hidden = hiding(own, block.dtype)
                of = (mdp.next_state, block, unreached(block.dtype), step, hidden, some, high)
                looked_at.append((fold_block, of))

        def fold(part: slice) -> None:
            decisions = (which[part], states[part], best[part])
            for fold_block, of in looked_at:
                fold_block(*of, *decisions)
            _fold_nearest(mdp.next_state, nearest, nearest_return, wanted, low, *decisions)

        over_rows(fold, states.size, mdp.n_actions * mdp.n_goals)
        return self._chosen(best, states, scale)

    def _chosen(self, best: Array, states: LongArray, scale: float) -> LongArray:
        mdp = self.mdp
        chosen = np.empty(states.size, np.int64)
        _choose(self.step_reward, mdp.goal_of_state, best, states, scale, chosen)
        return chosen


def return_to_goal(mdp: FiniteMDP, step_reward: Array | None = None) -> ReturnToGoal:
    """Search backwards from every goal of a deterministic world.

    Args:
        mdp: the world.
        step_reward: `[S, A]`, if other than the world's own.

    Raises:
        PositiveCycleError: some cycle has a positive sum of rewards.
    """
    rewards = mdp.step_reward if step_reward is None else step_reward
    return _checked(mdp, rewards, *held_returns(mdp, rewards))


def known_return_to_goal(mdp: FiniteMDP, step_reward: Array) -> ReturnToGoal:
    """The same, searched for once where steps pay what the world's own do."""
    if step_reward is not mdp.step_reward:
        return return_to_goal(mdp, step_reward)
    return _checked(mdp, step_reward, *known_returns(mdp))


def _checked(mdp: FiniteMDP, rewards: Array, held: Held | None, cycle: list[int]) -> ReturnToGoal:
    if held is None:
        raise cycle_error(mdp, cycle)
    return ReturnToGoal(mdp, rewards, held)


@kernel
def _expand(
    next_state: IntArray,
    step_reward: Array,
    goal_of_state: IntArray,
    block: Block,
    no_way: Any,
    step: float,
    first: int,
    nearest: IntArray,
    nearest_return: Array,
    second_return: Array,
    goal_reward: Array,
    r_bar_min: float,
    states: LongArray,
    out: Array,
) -> None:
    """Fill out[i] with Q̄*(states[i], g, a) of the goals of a block, by the module's formula."""
    n_actions, n_goals = next_state.shape[1], block.shape[1]
    for i in range(states.size):
        s = states[i]
        own = goal_of_state[s]
        for j in range(n_goals):
            g = first + j
            if own >= 0:
                out[i, g] = goal_reward[g] if g == own else r_bar_min
                continue
            for a in range(n_actions):
                t = next_state[s, a]
                number = block[t, j]
                way = -np.inf if number == no_way else number * step
                other = second_return[t] if g == nearest[t] else nearest_return[t]
                out[i, g, a] = step_reward[s, a] + max(way + goal_reward[g], other + r_bar_min)


@kernel
def _fold_rewards(
    next_state: IntArray,
    block: Block,
    no_way: Any,
    step: float,
    goal_rewards: Array,
    which: LongArray,
    states: LongArray,
    best: Array,
) -> None:
    for i in range(states.size):
        for a in range(next_state.shape[1]):
            t = next_state[states[i], a]
            for j in range(block.shape[1]):
                if block[t, j] != no_way:
                    value = block[t, j] * step + goal_rewards[which[i], j]
                    best[i, a] = max(best[i, a], value)


@kernel
def _fold_steps(
    next_state: IntArray,
    block: Block,
    no_way: Any,
    step: float,
    hidden: NDArray[Any],
    some: BoolArray,
    high: float,
    which: LongArray,
    states: LongArray,
    best: Array,
) -> None:
    """The fewest steps make the best return: products and sums are rounded monotonically."""
    for i in range(states.size):
        e = which[i]
        if not some[e]:
            continue
        for a in range(next_state.shape[1]):
            t = next_state[states[i], a]
            fewest = no_way
            for j in range(block.shape[1]):
                fewest = min(fewest, block[t, j] | hidden[e, j])
            if fewest != no_way:
                best[i, a] = max(best[i, a], fewest * step + high)


@kernel
def _fold_returns(
    next_state: IntArray,
    block: Block,
    no_way: Any,
    step: float,
    hidden: NDArray[Any],
    some: BoolArray,
    high: float,
    which: LongArray,
    states: LongArray,
    best: Array,
) -> None:
    """The same of returns in float64."""
    for i in range(states.size):
        e = which[i]
        if not some[e]:
            continue
        for a in range(next_state.shape[1]):
            t = next_state[states[i], a]
            most = no_way
            for j in range(block.shape[1]):
                most = max(most, block[t, j] + hidden[e, j])
            best[i, a] = max(best[i, a], most * step + high)


@kernel
def _fold_nearest(
    next_state: IntArray,
    nearest: IntArray,
    nearest_return: Array,
    wanted: BoolArray,
    low: float,
    which: LongArray,
    states: LongArray,
    best: Array,
) -> None:
    """The nearest goal, where it is not wanted: no other unwanted goal is better."""
    for i in range(states.size):
        for a in range(next_state.shape[1]):
            t = next_state[states[i], a]
            if not wanted[which[i], nearest[t]]:
                best[i, a] = max(best[i, a], nearest_return[t] + low)


@kernel
def _choose(
    step_reward: Array,
    goal_of_state: IntArray,
    best: Array,
    states: LongArray,
    scale: float,
    chosen: LongArray,
) -> None:
    for i in range(states.size):
        if goal_of_state[states[i]] >= 0:
            chosen[i] = 0  # whatever is done in a goal pays the same
            continue
        most = -np.inf
        for a in range(best.shape[1]):
            best[i, a] += step_reward[states[i], a]
            most = max(most, best[i, a])
        chosen[i] = first_best(best[i], most, scale)
