"""Somebody's environment played as a finite world: observations are states, the table pays."""

from __future__ import annotations

from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from taskalgebra.arrays import BoolArray, IntArray
from taskalgebra.envs.of_vector import begun_by, mode_of
from taskalgebra.theory.goal_env import goals_reached
from taskalgebra.theory.tasks import Task
from taskalgebra.worlds.finite import NO_GOAL

Copies = VectorEnv[Any, Any, Any]


def as_vector(env: Any, max_episode_steps: int | None) -> Copies:
    """An environment, one or a vector, as a vector, with a limit if one is given.

    Raises:
        ValueError: a limit is given for a vector, which has to have its own.
    """
    if isinstance(env, VectorEnv):
        if max_episode_steps is not None:
            raise ValueError(
                "max_episode_steps cannot be set on a vector environment; make the vector with it: "
                "gymnasium.make_vec(..., max_episode_steps=...)"
            )
        return env
    if not isinstance(env, gym.Env):
        raise TypeError(
            f"cannot play {env!r}; expected an environment, such as gymnasium.make(...), or a "
            f"vector of them"
        )
    one: gym.Env[Any, Any] = env
    if max_episode_steps is not None:
        one = gym.wrappers.TimeLimit(env, max_episode_steps)
    return SyncVectorEnv([lambda: one])


@final
class Attached(VectorWrapper):
    """Copies whose observations are states of a finite world, paid for a task by its table.

    A move pays r_{s,a} of the table, and one that ends in a goal what the task pays there, too.  So
    episodes have the returns that they have in the table, where the latter takes another action.

    Args:
        env: the copies.
        task: what is paid.
        ends: `[G]`, the observation at the end in each goal; by default `infos["goal"]` says in
            which goal an episode ended.
    """

    def __init__(self, env: Copies, task: Task, ends: IntArray | None = None) -> None:
        """Wrap the copies; nothing is started yet."""
        super().__init__(env)
        self.task = task
        self._goal_of = None if ends is None else {int(s): g for g, s in enumerate(ends)}
        self._mode = mode_of(env)
        self._states: NDArray[np.int64] = np.zeros(self.num_envs, np.int64)
        self._begins: BoolArray = np.zeros(self.num_envs, np.bool_)  # the next step starts anew

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start all episodes, or those of `options["reset_mask"]`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        self._states = np.array(observations, np.int64)
        self._begins = self._begins & ~begun_by(options, self.num_envs)
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all copies, and pay."""
        task, begins = self.task, self._begins
        observations, _, terminated, truncated, infos = self.env.step(actions)
        terminated = np.array(terminated)
        rewards = task.steps[self._states, np.asarray(actions, np.int64)]
        rewards[begins] = 0.0
        infos = dict(infos)
        if self._goal_of is not None:
            infos["goal"] = self._goals(observations, terminated, infos)
            infos["_goal"] = np.ones(self.num_envs, np.bool_)
            infos.pop("final_info", None)
        goals = goals_reached(infos, terminated, task.space.n_goals)
        rewards[terminated] += task.goal_reward[goals[terminated]]
        self._states = np.array(observations, np.int64)
        over = terminated | np.asarray(truncated)
        self._begins = over & (self._mode == AutoresetMode.NEXT_STEP)
        return observations, rewards, terminated, truncated, infos

    def _goals(
        self, observations: Any, terminated: BoolArray, infos: dict[str, Any]
    ) -> NDArray[np.int64]:
        goals = np.full(self.num_envs, NO_GOAL, np.int64)
        last = infos["final_obs"] if "final_obs" in infos else observations
        for i in np.flatnonzero(terminated):
            found = self._goal_of.get(int(last[i])) if self._goal_of is not None else None
            if found is None:
                raise ValueError(
                    f"the environment ended an episode in state {last[i]}, which is no goal of "
                    f"this world; make the world from an environment of the same kind"
                )
            goals[i] = found
        return goals
