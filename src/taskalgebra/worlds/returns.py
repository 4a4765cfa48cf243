"""G*(s:g), the best sum of rewards from every state to every goal of a deterministic world.

The search is breadth-first if all steps cost the same, Dijkstra's if step rewards are at most 0,
and Johnson's (Dijkstra's after a change of rewards by a potential) if some are positive.
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.worlds import cycles, graph
from taskalgebra.worlds.finite import FiniteMDP


def best_returns(mdp: FiniteMDP, step_reward: Array) -> tuple[Array, list[int]]:
    """[G, S], the best sum of rewards up to each goal, −∞ where it cannot be reached.

    If some cycle that can still end has a positive sum, there is no best; its states are returned
    too, and the array is empty.
    """
    live = ~mdp.is_goal
    first = step_reward[live][0, 0]
    if first <= 0 and _constant_rows(step_reward, live, first):
        return _returns(graph.steps_to(mdp.predecessors, mdp.goals), first), []
    potential = np.zeros(mdp.n_states)
    if (step_reward > 0).any():
        potential, cycle = positive_cycle(mdp, step_reward)
        if cycle:
            return np.empty((0, mdp.n_states)), cycle
    cost = np.maximum(potential[:, None] - potential[mdp.next_state] - step_reward, 0.0)
    to_goal = graph.costs_to(mdp.predecessors, cost, mdp.goals)
    np.subtract(potential, to_goal, out=to_goal)
    return to_goal, []


def positive_cycle(mdp: FiniteMDP, step_reward: Array) -> tuple[Array, list[int]]:
    """The best walk from each state, and the states of a positive cycle that can still end."""
    tolerance = 1e-12 * float(np.abs(step_reward).max())
    h, cycle = cycles.best_walks(mdp.next_state, step_reward, mdp.ending, tolerance)
    return h, [int(s) for s in cycle]


def costs(mdp: FiniteMDP, step_reward: Array) -> tuple[Array, float]:
    """[S, A], what steps cost, none below 0; and the rounding error up to which they are 0.

    In a deterministic world with rewards above 0, rewards are first lowered by the best walk h, so
    that r(s, a) + h(s') − h(s) ≤ 0, with the same sum around every cycle.
    """
    if not mdp.deterministic or not (step_reward > 0).any():
        return -step_reward, 0.0
    h, _ = positive_cycle(mdp, step_reward)
    rounding = 1e-12 * float(np.abs(step_reward).max())
    return h[:, None] - h[mdp.next_state] - step_reward, rounding


@kernel
def _constant_rows(rewards: Array, live: BoolArray, value: float) -> bool:
    for s in range(live.size):
        if live[s]:
            for a in range(rewards.shape[1]):
                if rewards[s, a] != value:
                    return False
    return True


@kernel
def _returns(steps: IntArray, reward: float) -> Array:
    """Steps times the reward of one, −∞ where unreached.  A product, so that errors do not add."""
    returns = np.empty(steps.shape)
    for g in range(steps.shape[0]):
        for s in range(steps.shape[1]):
            returns[g, s] = steps[g, s] * reward if steps[g, s] >= 0 else -np.inf
    return returns
