"""What can be known of an environment before learning, by acting at random for a moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from taskalgebra.evaluation.rollout import Step, rollout
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.rewards import penalty

N_COPIES, N_STEPS = 8, 200


class StepRewards(NamedTuple):
    """The lowest and the highest reward of steps that did not end in a goal."""

    low: float
    high: float


def step_rewards(env: GoalEnv, seed: int) -> StepRewards:
    """Act at random for a moment, and see what steps cost."""
    seen = [step.rewards[(step.goals < 0) & ~step.resets] for step in _at_random(env, seed)]
    rewards = np.concatenate(seen)
    if not rewards.size:
        return StepRewards(0.0, 0.0)
    return StepRewards(float(rewards.min()), float(rewards.max()))


def largest_number(env: GoalEnv, seed: int) -> float:
    """The largest number in observations, as found by acting at random for a moment."""
    return max(float(np.max(step.next_observations)) for step in _at_random(env, seed))


def n_observations(env: GoalEnv, seed: int) -> int:
    """The number of different observations met by acting at random for a moment."""
    return len(
        {np.asarray(o).tobytes() for step in _at_random(env, seed) for o in step.next_observations}
    )


def _at_random(env: GoalEnv, seed: int) -> Iterator[Step]:
    copies = env.vector(N_COPIES, task=env.space.universal)
    try:
        copies.action_space.seed(seed)
        observations, _ = copies.reset(seed=seed)
        steps = rollout(copies, observations, lambda _: copies.action_space.sample())
        for _, step in zip(range(N_STEPS), steps, strict=False):
            yield step
    finally:
        copies.close()


def penalty_of(env: GoalEnv, steps: StepRewards, max_episode_steps: int) -> float:
    """r̄_MIN of Definition 2, with the step limit of an episode in place of the diameter."""
    space = env.space
    low = min(steps.low, float(space.r_empty.min()))
    return penalty(low, max(steps.high, float(space.r_universal.max())), max_episode_steps)
