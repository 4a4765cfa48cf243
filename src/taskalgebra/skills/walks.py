"""What an agent for a formula does in a finite world: step by step, and on the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.skills.plans import Plan
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.validation import checked_seed, count


@final
@dataclass(frozen=True)
class Walk:
    """One episode in a finite world, step by step."""

    states: tuple[int, ...]  # of the world, one more than actions
    actions: tuple[int, ...]
    goals: tuple[int, ...]  # that each step entered, −1 for none
    progress: tuple[int, ...]  # the states of the automaton, one more than actions
    total: float  # the return
    satisfied: bool


def walk(space: TaskSpace, plan: Plan, start: int, *, seed: int, max_steps: int) -> Walk:
    """One episode from a state, up to its end or the limit."""
    automaton = plan.labelled.automaton
    start = count(start, "start", least=0, most=space.mdp.n_states - 1)
    max_steps = count(max_steps, "max_steps")
    env = FiniteEnv(space).continuing(1)
    env.reset(seed=checked_seed(seed), options={"state": start})
    policy = plan.policy()
    states, progress, total = [start], [int(automaton.start)], 0.0
    actions: list[int] = []
    goals: list[int] = []
    satisfied = False
    while len(actions) < max_steps:
        actions.append(int(policy.actions(np.array(states[-1:]))[0]))
        after, reward, _, _, infos = env.step(actions[-1:])
        policy.observe(infos["goal"])
        goals.append(int(infos["goal"][0]))
        states.append(int(after[0]))
        progress.append(int(policy.states[0]))
        total += float(reward[0])
        satisfied = bool(automaton.accepting[progress[-1]])
        if satisfied or automaton.dead[progress[-1]]:
            break
    total += plan.success * satisfied
    return Walk(tuple(states), tuple(actions), tuple(goals), tuple(progress), total, satisfied)


def table_of(space: TaskSpace, plan: Plan, u: int) -> tuple[Array, LongArray]:
    """[S] values and [S] actions, with the automaton in state u."""
    mdp = space.mdp
    cells = np.flatnonzero(~mdp.is_goal)
    values, actions = np.full(mdp.n_states, -np.inf), np.zeros(mdp.n_states, np.int64)
    policy = plan.policy()
    values[cells] = policy.value(cells, u)
    actions[cells] = policy.in_state(u, cells)
    return values, actions


def signs_of(plan: Plan, u: int) -> list[str]:
    """[G], what entering each goal does with the automaton in state u.

    ◆ leads on, × violates the formula, ◇ changes nothing.
    """
    found, automaton = plan.labelled, plan.labelled.automaton
    return [
        "×" if automaton.dead[v] else "◇" if v == u and not automaton.accepting[v] else "◆"
        for v in found.at_goal[u].tolist()
    ]
