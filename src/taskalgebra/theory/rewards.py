"""Extended rewards (Definition 2), and plain values from extended ones (Lemma 1).

A plain value function knows only the way to the best goal.  An extended one, Q̄(s, g, a), knows the
way to every goal g and what that goal is worth in the task.  Arrays are indexed `[S, G, A]`, or
`[B, G, A]` for a batch of B observations.
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import number


def r_bar_min_of(space: TaskSpace) -> float:
    """r̄_MIN = min{r_MIN, (r_MIN − r_MAX)·(D + 1)}, the penalty for a wrong goal (Definition 2).

    The paper asks for any r̄_MIN ≤ min{r_MIN, (r_MIN − r_MAX)·D}.  Its proof of Lemma 2 needs two
    more things.  A trajectory of D steps earns D + 1 rewards, including the terminal one.  And if
    all rewards are negative, r_MAX must be taken as 0.  With both, Lemma 2 holds whenever every
    step costs something; PAPER.md shows worlds in which it fails without them.
    """
    return penalty(space.r_min, space.r_max, space.mdp.diameter)


def default_r_bar_min(space: TaskSpace) -> float:
    """r̄_MIN that is taken where none is given.

    In a deterministic world that of Definition 2.  In a stochastic one r_∅: the values of any goal
    g are then a lower bound on those of the task, V̄(s, g) ≤ V*(s), whatever r̄_MIN ≤ r_∅ is, and
    the largest bound is the one with r̄_MIN = r_∅.
    """
    return r_bar_min_of(space) if space.mdp.deterministic else float(space.r_empty.min())


def penalty(r_min: float, r_max: float, diameter: int) -> float:
    """min{r_MIN, (r_MIN − r_MAX)·(D + 1)} with r_MAX at least 0  (Definition 2)."""
    return min(r_min, (r_min - max(r_max, 0.0)) * (diameter + 1))


def checked_r_bar_min(given: object, space: TaskSpace) -> float:
    """A penalty of the user's own: a number that makes no wrong goal welcome."""
    r_bar_min, low = number(given, "r_bar_min"), float(space.r_empty.min())
    if r_bar_min > low:
        raise ValueError(
            f"r_bar_min = {r_bar_min:g} is above r_∅ = {low:g}, so a wrong goal would be welcome; "
            f"give at most r_∅"
        )
    return r_bar_min


def extended_reward(task: Task, r_bar_min: float) -> Array:
    """r̄(s, g, a) = r̄_MIN if g ≠ s ∈ 𝒢, else r(s, a)  (Definition 2), as `[S, G, A]`."""
    mdp = task.space.mdp
    r_bar = np.repeat(task.steps[:, None, :], mdp.n_goals, axis=1)
    r_bar[mdp.goals] = r_bar_min
    r_bar[mdp.goals, np.arange(mdp.n_goals)] = task.goal_reward[:, None]
    return r_bar


def recover_q(q_bar: Array) -> Array:
    """Q(s, a) = max_g Q̄(s, g, a)  (Lemma 1)."""
    result: Array = q_bar.max(axis=-2)
    return result


def recover_v(q_bar: Array) -> Array:
    """V(s) = max_a Q(s, a) = max_{g, a} Q̄(s, g, a)."""
    result: Array = q_bar.reshape(*q_bar.shape[:-2], -1).max(axis=-1)  # in one pass
    return result
