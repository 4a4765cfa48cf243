"""Dense rewards (supplement): a bonus that grows near the goals that a task desires.

    r_dense(s, a) = 0.1 / |D| · Σ_{g ∈ D} exp(−|s − g|² / 4)  +  r_sparse(s, a)

D are the goals that the task desires, |s − g| is the Euclidean distance of the cells.  An absorbing
state lies on the cell of its goal, so terminal rewards are raised too.  A task that desires no goal
has no bonus.

The bonus belongs to the task.  Non-terminal rewards then differ between tasks, which breaks
Assumption 1(iii) on purpose.
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.worlds.finite import FiniteMDP

PEAK = 0.1
"""The largest bonus: that of the cell of the only desired goal."""


def nearness(mdp: FiniteMDP, desired: BoolArray) -> Array:
    """[S], the bonus 0.1 / |D| · Σ_{g ∈ D} exp(−|s − g|² / 4) of each state; 0 without goals."""
    if mdp.cells is None:
        raise ValueError(
            "dense rewards need distances, and this world has no map; make it with from_text"
        )
    bonus = np.zeros(mdp.n_states)
    for goal in mdp.goals[desired]:
        squared = ((mdp.cells - mdp.cells[goal]) ** 2).sum(axis=1)
        bonus += np.exp(-squared / 4)
    return bonus * PEAK / max(1, int(desired.sum()))


def dense_task(space: TaskSpace, desired: BoolArray, r_universal: float, r_empty: float) -> Task:
    """The dense task of a set of goals, `[G]`; the two rewards are those of r_sparse.

    The space must allow terminal rewards up to `r_universal + PEAK`.
    """
    mdp = space.mdp
    bonus = nearness(mdp, desired)
    sparse = np.where(desired, r_universal, r_empty)
    return space.from_rewards(sparse + bonus[mdp.goals], mdp.step_reward + bonus[:, None])
