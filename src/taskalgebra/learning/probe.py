"""What can be known of an environment before learning, by acting at random for a moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from taskalgebra.arrays import Observations
from taskalgebra.evaluation.rollout import Step, rollout
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.rewards import penalty
from taskalgebra.theory.rounding import same_reward

N_COPIES, N_STEPS = 8, 200


class StepRewards(NamedTuple):
    """The lowest and the highest reward of steps that did not end in a goal."""

    low: float
    high: float


def step_rewards(env: GoalEnv, seed: int) -> StepRewards:
    """Act at random for a moment, and see what steps cost."""
    seen = [step.rewards[(step.goals < 0) & ~step.resets] for _, step in _at_random(env, seed)]
    rewards = np.concatenate(seen)
    if not rewards.size:
        return StepRewards(0.0, 0.0)
    return StepRewards(float(rewards.min()), float(rewards.max()))


def largest_number(env: GoalEnv, seed: int) -> float:
    """The largest number in observations, as found by acting at random for a moment."""
    return max(float(np.max(step.next_observations)) for _, step in _at_random(env, seed))


def n_observations(env: GoalEnv, seed: int) -> int:
    """The number of different observations met by acting at random for a moment."""
    return len({_key(seen) for _, step in _at_random(env, seed) for seen in step.next_observations})


def outcomes_differ(env: GoalEnv, seed: int) -> bool:
    """Act at random for a moment, and see whether an action in a state ever does two things.

    Chance that is rarer goes unnoticed, and so does all chance where nothing is met again.  What a
    time limit does is not judged.
    """
    known: dict[tuple[bytes, bytes], tuple[bytes, float]] = {}
    for before, step in _at_random(env, seed):
        out_of_time = step.ended & (step.goals < 0)
        for i in np.flatnonzero(~step.resets & ~out_of_time):
            goal, reward = int(step.goals[i]), float(step.rewards[i])
            after = _key(step.next_observations[i]) if goal < 0 else f"goal {goal}".encode()
            pair = _key(before[i]), _key(step.actions[i])
            first, paid = known.setdefault(pair, (after, reward))
            if first != after or not same_reward(paid, reward):
                return True
    return False


def _key(value: Any) -> bytes:
    return np.asarray(value + 0).tobytes()  # −0 is 0, as in a numbering


def _at_random(env: GoalEnv, seed: int) -> Iterator[tuple[Observations, Step]]:
    """Steps, and the observations before each."""
    copies = env.vector(N_COPIES, task=env.space.universal)
    try:
        copies.action_space.seed(seed)
        observations, _ = copies.reset(seed=seed)
        steps = rollout(copies, observations, lambda _: copies.action_space.sample())
        before = np.array(observations)  # copies may write into their own
        for _, step in zip(range(N_STEPS), steps, strict=False):
            yield before, step
            before = np.array(step.observations)
    finally:
        copies.close()


def default_penalty(env: GoalEnv, seed: int, max_episode_steps: int) -> float:
    """r̄_MIN that is taken where none is given, as `default_r_bar_min` in a finite world.

    That of Definition 2; where outcomes are seen to differ, r_∅.  Tasks with time go on after wrong
    goals, and if learning does, too (`GoalEnv.resumed`), it is for them: they need the low one.
    """
    if not env.resumed and outcomes_differ(env, seed):
        return float(env.space.r_empty.min())
    return penalty_of(env, step_rewards(env, seed), max_episode_steps)


def penalty_of(env: GoalEnv, steps: StepRewards, max_episode_steps: int) -> float:
    """r̄_MIN of Definition 2, with the step limit of an episode in place of the diameter."""
    space = env.space
    low = min(steps.low, float(space.r_empty.min()))
    return penalty(low, max(steps.high, float(space.r_universal.max())), max_episode_steps)
