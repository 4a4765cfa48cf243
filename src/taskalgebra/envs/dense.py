"""Dense rewards (supplement): a bonus that grows near the goals of a task.

    r_dense(s, a) = 0.1 / |D| · Σ_{g ∈ D} exp(−|s − g|² / 4)  +  r_sparse(s, a)

The supplement writes 𝒢 for D, and lets r_sparse pay 2 in 𝒢: D are the goals that the task desires.
M_∅ desires none, and its sum is over all goals, as in the authors' lower bound.  |s − g| is the
Euclidean distance of the cells.  An absorbing state lies on the cell of its goal, so terminal
rewards are raised too.

The bonus belongs to the task.  Non-terminal rewards then differ between tasks, which breaks
Assumption 1(iii) on purpose.
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.worlds.finite import FiniteMDP

PEAK = 0.1
"""The largest bonus, on the cell of the only desired goal."""


def nearness(mdp: FiniteMDP, desired: BoolArray) -> Array:
    """[S], the bonus 0.1 / |D| · Σ_{g ∈ D} exp(−|s − g|² / 4) of each state; see above for D."""
    if mdp.cells is None:
        raise ValueError(
            "dense rewards need distances, and this world has no map; make it with from_text"
        )
    near = mdp.goals[desired] if desired.any() else mdp.goals
    bonus = np.zeros(mdp.n_states)
    for goal in near:
        squared = ((mdp.cells - mdp.cells[goal]) ** 2).sum(axis=1)
        bonus += np.exp(-squared / 4)
    return bonus * PEAK / near.size


def dense_task(space: TaskSpace, desired: BoolArray, r_universal: float, r_empty: float) -> Task:
    """The dense task of a set of goals, `[G]`; the two rewards are those of r_sparse.

    The space must allow terminal rewards up to `r_universal + PEAK`.
    """
    mdp = space.mdp
    bonus = nearness(mdp, desired)
    sparse = np.where(desired, r_universal, r_empty)
    return space.from_rewards(sparse + bonus[mdp.goals], mdp.step_reward + bonus[:, None])
