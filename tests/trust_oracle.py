"""What a policy is worth and whether it is the best, written from the definitions alone.

Worlds are dense arrays: `p[S, A, S]`, `r[S, A]`, and `ends`, {goal state: reward}.
"""

from __future__ import annotations

import numpy as np


def policy_value(p, r, ends, choice):
    """[S], the expected return of one action per state; −∞ where it may never end."""
    n = len(p)
    chain = p[np.arange(n), choice].copy()
    paid = r[np.arange(n), choice].astype(float)
    for g, reward in ends.items():
        chain[g], paid[g] = 0.0, reward
    reach = (chain > 0) | np.eye(n, dtype=bool)
    for _ in range(int(n).bit_length()):  # paths of up to n steps, by squaring
        reach = (reach.astype(float) @ reach.astype(float)) > 0
    goals = list(ends)
    never = ~reach[:, goals].any(axis=1)
    lost = reach[:, never].any(axis=1)
    live = np.flatnonzero(~lost)
    values = np.full(n, -np.inf)
    values[live] = np.linalg.solve(np.eye(live.size) - chain[np.ix_(live, live)], paid[live])
    return values


def gains(p, r, ends, values):
    """[S, A], what one step of each action would gain; nothing in goals."""
    finite = np.where(np.isfinite(values), values, 0.0)
    gain = r + p @ finite - finite[:, None]
    gain[(p @ ~np.isfinite(values).astype(bool)) > 0] = -np.inf
    gain[list(ends)] = 0.0
    gain[~np.isfinite(values)] = -np.inf
    return gain


def surely_ending(p, ends):
    """[S], whether some policy ends with probability one."""
    n = len(p)
    inside = np.ones(n, bool)
    while True:
        near = np.isin(np.arange(n), list(ends))
        while True:
            safe = (p @ ~inside) == 0
            more = inside & ((safe & ((p @ near) > 0)).any(axis=1) | near)
            if (more == near).all():
                break
            near = more | near
        if (near == inside).all():
            return inside
        inside = near


def is_optimal(p, r, ends, choice, tolerance):
    """Whether a policy ends wherever one can, and no step gains: the equation of the optimum."""
    values = policy_value(p, r, ends, choice)
    able = surely_ending(p, ends)
    if not np.isfinite(values[able]).all():
        return False
    return bool((gains(p, r, ends, values)[able] <= tolerance).all())
