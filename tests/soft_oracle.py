"""Random worlds, and soft values of them, written apart from the library: dense, state by state."""

from __future__ import annotations

import numpy as np

from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays


def random_space(seed, *, stochastic, n_states=9, n_actions=3, n_goals=3, costs_differ=True):
    """A world in which every state can reach a goal; goals are the last states."""
    rng = np.random.default_rng(seed)
    goals = list(range(n_states - n_goals, n_states))
    if stochastic:
        dynamics = rng.dirichlet(np.full(n_states, 0.3), (n_states, n_actions))
        dynamics[:, 0] = 0.7 * dynamics[:, 0] + 0.3 * np.eye(n_states)[rng.choice(goals, n_states)]
    else:
        dynamics = rng.integers(0, n_states, (n_states, n_actions))
        chain = [rng.integers(s + 1, n_states) for s in range(n_states - 1)]
        dynamics[:-1, 0] = chain  # the first action always leads on
    shape = (n_states, n_actions) if costs_differ else (n_states, 1)
    cost = np.broadcast_to(-rng.uniform(0.05, 0.5, shape), (n_states, n_actions))
    return TaskSpace(from_arrays(dynamics, cost.copy(), goals), r_universal=2.0, r_empty=-0.5)


def dense(mdp):
    """P[s, a, s'] as a dense array."""
    p = np.zeros((mdp.n_states, mdp.n_actions, mdp.n_states))
    for s in range(mdp.n_states):
        for a in range(mdp.n_actions):
            pair = s * mdp.n_actions + a
            for k in range(mdp.offset[pair], mdp.offset[pair + 1]):
                p[s, a, mdp.successor[k]] += mdp.probability[k]
    return p


def soft_q(space, goal_reward, tau, gamma=1.0, sweeps=20_000):
    """Entropy-regularised Q by plain value iteration; the reference policy is uniform."""
    mdp = space.mdp
    p = dense(mdp)
    v = np.zeros(mdp.n_states)
    for _ in range(sweeps):
        q = mdp.step_reward + gamma * p @ v
        top = q.max(axis=1)
        new = top + tau * np.log(np.exp((q - top[:, None]) / tau).mean(axis=1))
        new[mdp.goals] = goal_reward
        if np.abs(new - v).max() < 1e-14:
            break
        v = new
    q[mdp.goals] = np.asarray(goal_reward)[:, None]
    return q


def desirability(space, terminal, tau):
    """Desirabilities of all states for those of goals, by solving the linear system."""
    mdp = space.mdp
    kernel = (np.exp(mdp.step_reward / tau)[:, :, None] * dense(mdp)).mean(axis=1)
    live = np.flatnonzero(~mdp.is_goal)
    z = np.zeros(mdp.n_states)
    z[mdp.goals] = terminal
    system = np.eye(live.size) - kernel[np.ix_(live, live)]
    z[live] = np.linalg.solve(system, kernel[np.ix_(live, mdp.goals)] @ terminal)
    return z
