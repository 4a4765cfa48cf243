"""The optimum of a formula in a small deterministic world, by plain relaxation over pairs.

Written apart from the planner: states and transitions are dictionaries, and every pair of a state
and a state of the automaton is relaxed until nothing changes.
"""

from __future__ import annotations

import math

import numpy as np


def random_formula(rng, names, depth=3):
    """A formula over these names, as text."""
    if depth == 0 or rng.random() < 0.2:
        name = f"'{rng.choice(names)}'"
        return name if rng.random() < 0.7 else f"!{name}"
    kind = rng.integers(10)
    one = random_formula(rng, names, depth - 1)
    if kind < 4:
        return f"{('F', 'G', 'X', 'N')[kind]} ({one})"
    other = random_formula(rng, names, depth - 1)
    return f"({one}) {('U', 'R', 'W', '&', '|', '^')[kind - 4]} ({other})"


def random_world(rng, *, slips=False):
    """Arrays of a random world with places to go on after goals; rewards are dyadic."""
    n_goals = int(rng.integers(1, 5))
    n_states = int(rng.integers(2, 9)) + n_goals
    n_actions = int(rng.integers(1, 4))
    next_state = rng.integers(0, n_states, (n_states, n_actions))
    goals = rng.choice(n_states, n_goals, replace=False)
    others = np.setdiff1d(np.arange(n_states), goals)
    resumes = rng.choice(others, n_goals)
    next_state[others[0], 0] = goals[0]
    step_reward = -rng.integers(1, 9, (n_states, n_actions)) / 8
    return next_state, step_reward, goals, resumes


def optimum(next_state, step_reward, goals, resumes, letter, automaton, success):
    """{(s, u): value} of all pairs in which an episode may be; −∞ where it cannot be satisfied."""
    goal_of = {int(s): g for g, s in enumerate(goals)}
    pairs = [
        (s, u)
        for s in range(len(next_state))
        if s not in goal_of
        for u in range(automaton.n_states)
    ]
    edges = {}
    for s, u in pairs:
        edges[s, u] = []
        for a, t in enumerate(next_state[s].tolist()):
            g = goal_of.get(t)
            v = automaton.step(u, 0 if g is None else int(letter[g]))
            at = t if g is None else int(resumes[g])
            edges[s, u].append((float(step_reward[s, a]), at, v))
    best = dict.fromkeys(pairs, -math.inf)
    changed = True
    while changed:
        changed = False
        for pair in pairs:
            for paid, at, v in edges[pair]:
                if automaton.accepting[v]:
                    value = paid + success
                elif automaton.dead[v]:
                    continue
                else:
                    value = paid + best[at, v]
                if value > best[pair]:
                    best[pair] = value
                    changed = True
    return best


def played(agent, next_state, step_reward, goals, resumes, start, success, limit=500):
    """The return of an agent from a state, step by step; None where it never ends in success."""
    goal_of = {int(s): g for g, s in enumerate(goals)}
    agent.reset()
    earned, s = 0.0, int(start)
    for _ in range(limit):
        a = agent.act(s)
        earned += float(step_reward[s, a])
        s = int(next_state[s, a])
        g = goal_of.get(s, -1)
        s = s if g < 0 else int(resumes[g])
        agent.observe(g)
        u = agent.states[0]
        if agent.automaton.accepting[u]:
            return earned + success
        if agent.automaton.dead[u]:
            return None
    return None


def random_mission(rng, names, depth=3, *, safety=True):
    """A formula that steps between goals do not change, as people write them: order, avoidance.

    Without safety it has no G, and a finite prefix of a trace decides it.
    """
    a, b = (f"'{rng.choice(names)}'" for _ in range(2))
    kind = rng.integers(7) if depth else 0
    if kind == 0:
        return f"F {a}"
    rest = random_mission(rng, names, depth - 1, safety=safety)
    if kind == 1:
        return f"F ({a} & X ({rest}))"
    if kind == 2:
        return f"!{a} U ({b} & ({rest}))"
    if kind == 3 and safety:
        return f"({rest}) & G !{a}"
    if kind in (3, 4):
        return f"F ({a} & ({rest}))"
    other = random_mission(rng, names, depth - 1, safety=safety)
    return f"({rest}) {'&' if kind == 5 else '|'} ({other})"
