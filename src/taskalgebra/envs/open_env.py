"""A Gymnasium environment of your own as a goal environment.

It must say in which goal an episode ended: `info["goal"]`, a number from 0, when it terminates.
The rest are names:

    class Island(gym.Env):
        ...                                       # terminates with info = {"goal": 2}

    gym.register("Island-v0", Island)
    world = ta.OpenEnv(
        lambda n: gym.make_vec("Island-v0", n),
        goals=["harbour", "lighthouse", "beach"],
        tasks={"tower": ["lighthouse"], "shore": ["harbour", "beach"]},
    )
    skills = ta.learn(world)
    agent = skills["shore & ~tower"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import iterate
from numpy.typing import ArrayLike

from taskalgebra.arrays import BoolArray
from taskalgebra.envs.copies import Episodes
from taskalgebra.envs.of_vector import mode_of, resettable
from taskalgebra.theory.goal_env import LEARNING_STEPS, GoalEnv, goals_reached
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import count, unique_names
from taskalgebra.worlds.open_world import CONTINUOUS, OpenWorld

Copies = VectorEnv[Any, Any, Any]


class OpenEnv(GoalEnv):
    """A goal environment made from a Gymnasium environment that reports its goals.

    The environment pays for steps, the same for every task; its terminal reward is replaced by what
    the task pays for the goal.  Observations are vectors, or images `[H, W, C]` of bytes, to be
    learned by networks, or `Discrete`, to be learned as tables.  Actions are `Discrete`; with
    others agents can act, but not learn.

    Args:
        make: makes n copies, `make(n)`, as `gym.make_vec` does.
        goals: the names of the goals, in the order of their numbers.
        tasks: the named tasks, `{name: goals}`.
        actions: the names of the actions; by default a0, a1, and so on.
        r_universal: what a task pays for a goal that it desires.
        r_empty: what a task pays for any other goal.
        max_episode_steps: after this many steps an episode is truncated; by default the
            environment's own limit, or 50.
    """

    def __init__(
        self,
        make: Callable[[int], Copies],
        goals: Sequence[str],
        tasks: Mapping[str, Iterable[str | int]],
        *,
        actions: Sequence[str] | None = None,
        r_universal: ArrayLike = 2.0,
        r_empty: ArrayLike = -0.1,
        max_episode_steps: int | None = None,
    ) -> None:
        """Name goals, actions and tasks; one copy is made, to learn its spaces."""
        if not callable(make):
            raise TypeError(f"make must be a function that makes n copies, make(n), got {make!r}")
        if isinstance(goals, str):
            raise TypeError(f"goals is the string {goals!r}, expected a list of names: [{goals!r}]")
        if not isinstance(tasks, Mapping):
            raise TypeError(f"tasks must be given as {{name: goals}}, got {tasks!r}")
        self._make = make
        env = self._copies(1)
        self.observation_space = env.single_observation_space
        self.action_space = action_space = env.single_action_space
        own = None if env.spec is None else env.spec.max_episode_steps
        env.close()
        self.max_episode_steps = own or LEARNING_STEPS
        if max_episode_steps is not None:
            self.max_episode_steps = count(max_episode_steps, "max_episode_steps")
        if not isinstance(action_space, Discrete):
            names = CONTINUOUS
        elif action_space.start != 0:
            raise ValueError(
                f"the action space is {action_space}, expected Discrete(n) starting at 0; "
                f"taskalgebra.wrap(env, goals=label) numbers the actions anew"
            )
        else:
            names = unique_names(actions, "action", "a", int(action_space.n))
        self.space = TaskSpace(
            OpenWorld(goals, names),  # type: ignore[arg-type]
            r_universal=r_universal,
            r_empty=r_empty,
        )
        unique_names(list(tasks), "task", "", len(tasks))
        self.tasks = {name: self.space.task(desired) for name, desired in tasks.items()}

    def _copies(self, num_envs: int) -> Copies:
        env = self._make(num_envs)
        if not isinstance(env, VectorEnv):
            raise TypeError(
                f"make({num_envs}) must return a vector environment, as from gym.make_vec or "
                f"SyncVectorEnv, got {env!r}"
            )
        if env.num_envs != num_envs:
            raise ValueError(f"make({num_envs}) returned {env.num_envs} copies")
        return env

    def vector(
        self, num_envs: int, *, task: Task, max_episode_steps: int | None = None
    ) -> PaysTask:
        """N copies that pay for this task.

        Args:
            num_envs: N.
            task: of `self.space`.
            max_episode_steps: after this many steps an episode is truncated.  A vector that is
                neither a `SyncVectorEnv` nor an `AsyncVectorEnv` keeps its own limit, if any.
        """
        if max_episode_steps is not None:
            count(max_episode_steps, "max_episode_steps")
        if task.space != self.space:
            raise ValueError("the task belongs to another space than this environment")
        return PaysTask(self._copies(num_envs), task, max_episode_steps)


@final
class PaysTask(VectorWrapper):
    """Copies of an environment that pay for a task, and truncate episodes that are too long."""

    def __init__(self, env: Copies, task: Task, max_episode_steps: int | None = None) -> None:
        """Wrap the copies; with a limit, those that reach it are reset by hand."""
        super().__init__(env)
        self.task = task
        by_hand, mode = resettable(env), mode_of(env)
        if by_hand and max_episode_steps is not None and mode == AutoresetMode.DISABLED:
            raise ValueError(
                f"episodes can be cut off after max_episode_steps only with autoreset_mode "
                f"NEXT_STEP or SAME_STEP, got {mode}; make the copies with one of them, or give "
                f"the environment a limit"
            )
        self._at_once = mode == AutoresetMode.SAME_STEP
        self._episodes = Episodes(self.num_envs, max_episode_steps if by_hand else None)
        self._cut = np.zeros(self.num_envs, np.bool_)  # too long, to be reset by hand
        self.goal_without_end = False  # whether a goal came on a step that did not terminate

    def reset(
        self,
        *,
        seed: Any = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start all episodes."""
        self._episodes.begin()
        self._cut = np.zeros(self.num_envs, np.bool_)
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step, and pay in goals what the task pays; copies that were cut off start again."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        rewards, truncated = np.array(rewards, np.float64), np.array(truncated)
        cut = self._cut
        if cut.any():
            observations, _ = self.env.reset(options={"reset_mask": cut})
            rewards[cut] = 0.0
            terminated, truncated = terminated & ~cut, truncated & ~cut
        goals = goals_reached(infos, terminated, self.task.space.n_goals)
        self.goal_without_end |= _names_goal(infos, ~terminated)
        rewards[terminated] = self.task.goal_reward[goals[terminated]]
        over = terminated | truncated
        self._cut = self._episodes.advance(over) & ~over
        truncated = truncated | self._cut
        infos = {**infos, "goal": goals, "_goal": np.ones(self.num_envs, np.bool_)}
        if self._at_once:
            observations = self._begin_at_once(observations, infos, over)
        return observations, rewards, terminated, truncated, infos

    def _begin_at_once(self, observations: Any, infos: dict[str, Any], over: BoolArray) -> Any:
        """Reset copies that were cut off, in the step that cut them off."""
        cut, self._cut = self._cut, np.zeros_like(self._cut)
        self._episodes.begin_at_once(over | cut)
        if not cut.any():
            return observations
        final = np.array(infos.get("final_obs", [None] * self.num_envs), object)
        each = list(iterate(self.env.observation_space, observations))
        last = np.empty(self.num_envs, object)
        for i in range(self.num_envs):
            last[i] = np.array(each[i]) if cut[i] else final[i]
        infos["final_obs"] = last
        return self.env.reset(options={"reset_mask": cut})[0]


def _names_goal(infos: Mapping[str, Any], where: BoolArray) -> bool:
    """Whether `infos["goal"]` holds the number of a goal at one of these places."""
    goals = np.asarray(infos.get("goal", -1))
    if goals.shape != where.shape or goals.dtype.kind not in "iu":
        return False
    return bool((where & np.asarray(infos.get("_goal", True)) & (goals >= 0)).any())
