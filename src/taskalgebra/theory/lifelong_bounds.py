"""Bounds of lifelong learning by composition (SOPGOL).

Nangue Tasse, James and Rosman, "Generalisation in Lifelong Reinforcement Learning through Logical
Composition", ICLR 2022.  Tasks of one world arrive one after another; those that are expressions
over the tasks learned before are composed.
"""

from __future__ import annotations

from taskalgebra.theory.base_tasks import n_base_tasks
from taskalgebra.validation import count, flag, number, share


def tasks_learned_bounds(n_goals: int) -> tuple[int, int]:
    """(⌈log₂ |𝒢|⌉, |𝒢|): how many tasks are learned before every task of |𝒢| goals is composed.

    Fewer base tasks give two goals the same label.  Each task that is learned, since no expression
    gives it, tells goals apart that had the same label; n labels can become more n − 1 times.

    >>> tasks_learned_bounds(40)
    (6, 40)
    """
    return n_base_tasks(count(n_goals, "n_goals")), n_goals


def transfer_bound(
    *,
    reward_range: float,
    error: float = 0.0,
    same_task: bool = False,
    two_valued: bool = True,
    steps: int | None = None,
    discount: float | None = None,
) -> float:
    """How much a composed agent can lose in a task that may be another than it was composed for.

    The agent is greedy in Q_F, the composed values of the task T_F that an expression F means; the
    task that it meets is T.  With r_Δ the largest difference of two rewards of a goal and ε the
    error of the values,

        V* − V^π      ≤  2 · (1[T ≠ T_F] · r_Δ + n ε)                          deterministic worlds
        ‖Q* − Q^π‖∞  ≤  2 / (1 − γ) · ((1[T ≠ T_F] + 1[r ∉ {r_g}]) · r_Δ + ε)  any world

    where n is the number of steps of the agent up to a goal, and 1[r ∉ {r_g}] is 1 if goals pay
    other rewards than r_U and r_∅.

    The first is undiscounted, for agents whose episodes end in a goal, as they do with exact values
    where every step costs something.  Only one goal is paid, so the return of any path differs by
    at most r_Δ between T and T_F.  Hence V*_F ≥ V* − r_Δ; in T_F the agent loses at most 2 ε in
    each step, V^π_F ≥ V*_F − 2 n ε; and in T its path is worth V^π ≥ V^π_F − r_Δ.  The values
    themselves are nearer, ‖Q* − Q_F‖∞ ≤ r_Δ + ε, which is the published bound; r_Δ is lost a second
    time where the agent ends in a goal that T does not pay.

    Args:
        reward_range: r_Δ, such as r_U − r_∅.
        error: ε, of the composed values.
        same_task: whether T = T_F, as where `infer` was right.
        two_valued: whether every goal of T pays r_U or r_∅.
        steps: n, for the first bound; needed if ε > 0, since without it wrong values may cost
            anything.
        discount: γ for the second bound, below 1; None for the first.
    """
    wide = number(reward_range, "reward_range", "a number of at least 0", least=0.0)
    off = number(error, "error", "a number of at least 0", least=0.0)
    wrong_task = 0 if flag(same_task, "same_task") else 1
    other_rewards = 0 if flag(two_valued, "two_valued") else 1
    if discount is None:
        if other_rewards:
            raise ValueError(
                "the bound of deterministic worlds is for tasks of two rewards; give a discount"
            )
        if steps is None and off > 0:
            raise ValueError(
                f"error is {off:g}, and without a discount wrong values cost something in every "
                f"step; give steps, the most until the agent is in a goal, or a discount"
            )
        n_steps = 0 if steps is None else count(steps, "steps")
        return 2.0 * (wrong_task * wide + n_steps * off)
    if steps is not None:
        raise ValueError(
            f"steps is {steps!r}, but the bound with a discount has none; leave it out"
        )
    gamma = share(discount, "discount")
    if gamma == 1.0:
        raise ValueError("discount is 1, for which the bound is infinite; give less, or None")
    return 2.0 / (1.0 - gamma) * ((wrong_task + other_rewards) * wide + off)
