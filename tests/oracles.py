"""Independent oracles: plain value iteration, written from the definitions and nothing else.

They share no code with the library's planner.  Iteration starts at −∞ outside goals, so that after
n sweeps a state holds its best return within n steps, and policies that never end stay at −∞.
"""

from __future__ import annotations

import numpy as np


def plain_q(next_state, step_reward, terminal):
    """Q*(s, a) of a deterministic world; `terminal` maps each goal state to its reward [A]."""
    n_states, n_actions = len(next_state), len(next_state[0])
    q = [[-np.inf] * n_actions for _ in range(n_states)]
    for s, rewards in terminal.items():
        q[s] = [float(r) for r in rewards]
    for _ in range(n_states + 1):
        v = [max(row) for row in q]
        new = [
            q[s]
            if s in terminal
            else [float(step_reward[s][a]) + v[next_state[s][a]] for a in range(n_actions)]
            for s in range(n_states)
        ]
        if new == q:
            return np.array(q)
        q = new
    raise AssertionError("no fixed point: the world has a positive cycle")


def plain_q_of_task(task):
    """Q*_M(s, a) of a task, from its rewards alone."""
    mdp = task.space.mdp
    terminal = {
        int(s): [r] * mdp.n_actions for s, r in zip(mdp.goals, task.goal_reward, strict=True)
    }
    return plain_q(mdp.next_state.tolist(), task.steps.tolist(), terminal)


def extended_q(next_state, step_reward, goals, goal_reward, r_bar_min):
    """Q̄*(s, g, a): for each g, value iteration in M_g, whose reward is r̄(·, g, ·).

    `goal_reward` is [G] or, for rewards that depend on the action, [G, A].
    """
    n_actions = len(next_state[0])
    slices = []
    for i, _ in enumerate(goals):
        terminal = {}
        for j, other in enumerate(goals):
            paid = np.broadcast_to(goal_reward[j], n_actions) if i == j else [r_bar_min] * n_actions
            terminal[int(other)] = list(paid)
        slices.append(plain_q(next_state, step_reward, terminal))
    return np.stack(slices, axis=1)


def extended_q_of_task(task, r_bar_min):
    """Q̄*_M(s, g, a) of a task of a deterministic space."""
    mdp = task.space.mdp
    return extended_q(
        mdp.next_state.tolist(), task.steps.tolist(), mdp.goals, task.goal_reward, r_bar_min
    )


def all_pairs_diameter(next_state):
    """The longest shortest path between two different states that are connected, by sets."""
    longest = 0
    for start in range(len(next_state)):
        seen, frontier, steps = {start}, {start}, 0
        while frontier:
            frontier = {t for s in frontier for t in next_state[s]} - seen
            seen |= frontier
            steps += 1
            if frontier:
                longest = max(longest, steps)
    return longest
