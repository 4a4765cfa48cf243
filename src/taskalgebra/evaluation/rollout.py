"""Acting in environments: one loop over copies of a goal environment, and evaluation by playing.

`rollout` steps the copies, for everything that evaluates, learns or records.  `play` evaluates a
policy, also in open worlds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, LongArray, Observations
from taskalgebra.evaluation.record import Episodes, Evaluation, summary
from taskalgebra.limits import MOST_EPISODES
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.theory.goal_env import checked_rewards, goals_reached
from taskalgebra.theory.policy import Policy
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count, instance
from taskalgebra.worlds.finite import NO_GOAL

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv


@dataclass(frozen=True)
class Step:
    """One step of N copies of an environment."""

    actions: NDArray[Any]  # [N, ...]
    rewards: Array  # [N]
    next_observations: Observations  # [N, ...], s', also where the next episode has begun
    goals: LongArray  # [N], in which episodes have just ended, or −1
    ended: BoolArray  # [N], terminated or truncated
    resets: BoolArray  # [N], where the step only began a new episode and does not count
    begins: BoolArray  # [N], for which the next action is the first of an episode
    infos: Mapping[str, Any]
    observations: Observations  # [N, ...], from which the next actions are chosen


def rollout(
    env: VectorEnv[Any, Any, Any],
    observations: Observations,
    act: Callable[[Observations], NDArray[Any]],
    n_goals: int | None = None,
) -> Iterator[Step]:
    """Step all copies forever, in any autoreset mode.

    Args:
        env: copies of a goal environment, just reset.
        observations: what the reset returned.
        act: from observations to actions.
        n_goals: the number of goals, if known.

    Raises:
        ValueError: the environment violates the contract of goals, or pays no finite number.
    """
    from gymnasium.vector import AutoresetMode

    mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
    resets = np.zeros(env.num_envs, np.bool_)
    for n in itertools.count(1):
        actions = act(observations)
        observations, rewards, terminated, truncated, infos = env.step(actions)
        rewards = checked_rewards(rewards, n)
        ended = terminated | truncated
        begins = resets if mode == AutoresetMode.NEXT_STEP else ended
        goals = goals_reached(infos, terminated, n_goals)
        after = observations
        if mode == AutoresetMode.SAME_STEP and ended.any():
            after = _before_reset(observations, infos, ended)
        elif mode == AutoresetMode.DISABLED and ended.any():
            after = np.array(observations)
            observations, _ = env.reset(options={"reset_mask": ended})
        yield Step(actions, rewards, after, goals, ended, resets, begins, infos, observations)
        if mode == AutoresetMode.NEXT_STEP:
            resets = ended


def _before_reset(
    observations: Observations, infos: Mapping[str, Any], ended: BoolArray
) -> Observations:
    """The last observations of episodes, if the environment gives them beside the next ones."""
    if "final_obs" not in infos:
        return observations
    after = np.array(observations)
    for i in np.flatnonzero(ended):
        after[i] = infos["final_obs"][i]
    return after


def play(
    task: Task,
    env: VectorEnv[Any, Any, Any],
    policy: Policy,
    *,
    episodes: int,
    max_steps: int,
    seed: int = 0,
    listener: Listener = silent,
) -> Evaluation:
    """Play episodes in an environment, and summarise what the policy earned.

    The arguments are those of `episodes_of`.
    """
    found = episodes_of(
        task, env, policy, episodes=episodes, max_steps=max_steps, seed=seed, listener=listener
    )
    return summary(task, found)


def episodes_of(
    task: Task,
    env: VectorEnv[Any, Any, Any],
    policy: Policy,
    *,
    episodes: int,
    max_steps: int,
    seed: int = 0,
    listener: Listener = silent,
) -> Episodes:
    """Play episodes in an environment, one by one.

    The N copies of the environment play in waves.  A wave resets all of them with a seed, and only
    the first episode of each copy counts.  So long episodes count as often as short ones, in any
    autoreset mode.  If copy i is seeded with the seed plus i, as in Gymnasium, the episodes are the
    same for every N.

    Args:
        task: the task that the environment pays for.
        env: copies of a goal environment, as `GoalEnv.vector` makes them.
        policy: the policy to evaluate.
        episodes: the number of episodes.
        max_steps: an episode is cut off after this many steps, and counts with its return so far.
        seed: equal seeds play equal episodes, if the environment and the policy are deterministic.
        listener: receives progress.

    Raises:
        ValueError: the environment violates the contract of goals.
    """
    instance(task, Task, "the task")
    episodes = count(episodes, "episodes", most=MOST_EPISODES)
    max_steps = count(max_steps, "max_steps")
    first_seed = int(np.random.SeedSequence(seed).generate_state(1)[0]) >> 1  # room to count up
    waves = []
    for first in range(0, episodes, env.num_envs):
        n_counted = min(env.num_envs, episodes - first)
        waves.append(_wave(task, env, policy, n_counted, first_seed + first, max_steps))
        listener(Event("episodes", (first + n_counted) / episodes))
    return Episodes(*(np.concatenate(parts) for parts in zip(*waves, strict=True)))


def _wave(
    task: Task,
    env: VectorEnv[Any, Any, Any],
    policy: Policy,
    n_counted: int,
    seed: int,
    max_steps: int,
) -> Episodes:
    """The first episode of each of the first copies of an environment."""
    observations, infos = env.reset(seed=seed)
    policy.reset(np.ones(env.num_envs, np.bool_))
    optimal = _optimal_returns(infos, env.num_envs)
    returns = np.zeros(env.num_envs)
    steps = np.zeros(env.num_envs, np.int64)
    goals = np.full(env.num_envs, NO_GOAL)
    on = np.arange(env.num_envs) < n_counted
    steps_taken = rollout(env, observations, policy.actions, task.space.n_goals)
    for _, step in zip(range(max_steps), steps_taken, strict=False):
        returns[on] += step.rewards[on]
        steps[on] += 1
        goals[on] = step.goals[on]
        on &= ~step.ended
        if not on.any():
            break
        if step.begins.any():
            policy.reset(step.begins)
    return Episodes(returns[:n_counted], steps[:n_counted], goals[:n_counted], optimal[:n_counted])


def _optimal_returns(infos: Mapping[str, Any], num_envs: int) -> Array:
    """[N], what the best policy earns according to the environment; NaN where it is not given."""
    if "optimal_return" not in infos:
        return np.full(num_envs, np.nan)
    known = infos.get("_optimal_return", np.ones(num_envs, np.bool_))
    return np.where(known, np.asarray(infos["optimal_return"], np.float64), np.nan)
