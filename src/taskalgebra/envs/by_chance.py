"""What acting at random shows of an environment: its goals, and what a step costs."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np

from taskalgebra.envs.labels import Label, goal_name, in_order
from taskalgebra.validation import number

FEW, MANY = 2_000, 20_000
"""Random steps in which goals are looked for: at least, and at most."""
OF_ENVIRONMENT = "environment"


def _random_actions(env: gym.Env[Any, Any], own: tuple[Any, ...] | None, seed: int) -> Any:
    env.action_space.seed(seed)
    rng = np.random.default_rng(seed)
    while True:
        yield env.action_space.sample() if own is None else own[rng.integers(len(own))]


def goals_found(
    env: gym.Env[Any, Any], label: Label, own: tuple[Any, ...] | None, hold: int, limit: int
) -> list[Any]:
    """The goals that a label gives while an agent acts at random, by name."""
    found: dict[str, Any] = {}
    last, over, began = 0, True, 0
    actions = _random_actions(env, own, 0)
    action = next(actions)
    for n in range(1, MANY + 1):
        if over:
            env.reset(seed=n)
            began = n
        if n % hold == 0 or over:
            action = next(actions)
        observation, _, terminated, truncated, info = env.step(action)
        given = label(observation, info, env.unwrapped)
        over = bool(terminated or truncated or given is not None) or n - began + 1 >= limit
        given = in_order(given, next(iter(found.values()), None))
        if given is not None and goal_name(given) not in found:
            found[goal_name(given)] = given
            last = n
        if n >= FEW and found and n >= 4 * last:
            break
    if not found:
        raise ValueError(
            f"the label gave no goal in {MANY:,} random steps; see that it can. If chance does not "
            f"find the goals, name them: wrap(..., among=['left hill', 'right hill']), or by "
            f"predicates: among={{'colour': ['red', 'blue']}}"
        )
    return [found[name] for name in sorted(found)]


def cost_of_a_step(
    env: gym.Env[Any, Any],
    label: Label,
    own: tuple[Any, ...] | None,
    step_reward: float | str | None,
    limit: int,
    hold: int,
) -> float:
    """What an action costs, at most, as far as is known.

    What the environment pays at an end does not count: the task pays instead.
    """
    if step_reward is None:
        return 1.0 / math.ceil(limit / hold)
    if step_reward == OF_ENVIRONMENT:
        lowest, over = 0.0, True
        for n, action in zip(range(500), _random_actions(env, own, 1), strict=False):
            if over:
                env.reset(seed=n)
            observation, reward, terminated, truncated, info = env.step(action)
            ended = bool(terminated) or label(observation, info, env.unwrapped) is not None
            lowest = lowest if ended else min(lowest, float(reward))
            over = ended or bool(truncated)
        return -lowest * hold
    if isinstance(step_reward, str):
        raise ValueError(f"step_reward is {step_reward!r}, expected a number or {OF_ENVIRONMENT!r}")
    reward = number(step_reward, "step_reward")
    if reward > 0.0:
        raise ValueError(
            f"step_reward is {step_reward}, expected a cost, at most 0; an agent that is paid for "
            f"steps never ends"
        )
    return -reward
