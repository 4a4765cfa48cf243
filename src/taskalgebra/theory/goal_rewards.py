"""What goals pay: the two rewards of a task space, given or by default."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array
from taskalgebra.validation import finite
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.open_world import OpenWorld


def default_rewards(world: FiniteMDP | OpenWorld) -> tuple[float, float]:
    """r_∅ and r_U of a task space, where they are not given; see `TaskSpace`."""
    if not isinstance(world, FiniteMDP) or world.goal_reward is None:
        return -0.1, 2.0
    low, high = float(world.goal_reward.min()), float(world.goal_reward.max())
    return (low if low < high else min(high - 1.0, float(world.step_reward.min()))), high


def per_goal(reward: ArrayLike, name: str, n_goals: int) -> Array:
    """One reward per goal, `[G]`, from that or from one number."""
    given = np.asarray(reward)
    if given.ndim == 0:
        given = np.broadcast_to(given, (n_goals,))
    rewards = finite(given, name, (n_goals,))
    rewards.setflags(write=False)
    return rewards
