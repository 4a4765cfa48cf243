"""Many games of Boxman at once, moved and painted by compiled loops.

The contract is that of `VectorWorld`: all games share one generator of random numbers, and after an
episode the next call of `step` starts a new one, ignores the action and pays 0.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.compiled import kernel
from taskalgebra.envs.boxman.art import Frames
from taskalgebra.envs.boxman.board import STEP_REWARD, Codes
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.logic.expression import Expression
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import checked_actions, count
from taskalgebra.worlds.finite import NO_GOAL

NO_LIMIT = 2**62
Step = tuple[Frames, Array, BoolArray, BoolArray, dict[str, Any]]


class VectorBoxman(VectorEnv[Frames, Any, Any]):
    """A batch of N games, each in an episode of its own.

    `infos["goal"]` is `[N]`: the object with which each episode ended, −1 while it goes on.
    `infos["task_rewards"]` is `[N, tasks]`: what each named task pays for it, 0 while it goes on.
    `infos["optimal_return"]` is `[N]` at a reset.

    A network learns from frames, but a memory of frames is large: `codes` and `frames_of` let a
    replay store eight bytes a state and paint it again when it is sampled.

    Args:
        world: the game to play.
        num_envs: N.
        task: the task to play; by default that of the world, as it is now.  A later change of the
            world's task does not count.
        max_episode_steps: after so many steps an episode is truncated; by default never.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        **Boxman.metadata,
        "render_modes": ["rgb_array"],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        world: Boxman,
        num_envs: int = 1,
        *,
        task: Task | Expression | str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        """Set up the games; nothing is started yet."""
        self.world = world
        self.num_envs = count(num_envs, "num_envs")
        self.max_episode_steps = (
            None if max_episode_steps is None else count(max_episode_steps, "max_episode_steps")
        )
        self.render_mode = "rgb_array" if world.render_mode == "rgb_array" else None
        self.single_observation_space = world.observation_space
        self.single_action_space = world.action_space
        self.observation_space = batch_space(world.observation_space, self.num_envs)
        self.action_space = batch_space(world.action_space, self.num_envs)
        self._games = world.games(self.num_envs)
        self.task = world.task if task is None else world.find_task(task)
        self._wanted = world.wanted_by(self.task)
        self._ended = np.zeros(self.num_envs, np.bool_)
        self._elapsed = np.zeros(self.num_envs, np.int64)
        self._started = False

    @property
    def codes(self) -> Codes:
        """[N, 2 + objects], the states as codes."""
        return self._games.codes.copy()

    def frames_of(self, codes: ArrayLike) -> Frames:
        """The observations of some codes."""
        return self._games.frames(codes)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frames, dict[str, Any]]:
        """Start all games in random states, or in `options["code"]`: one for all, or `[N, …]`."""
        super().reset(seed=seed)
        given = (options or {}).get("code")
        if given is None:
            self._games.start(np.arange(self.num_envs), self.np_random)
        else:
            self._games.codes[:] = self._given(given)
        self._ended[:] = False
        self._elapsed[:] = 0
        self._started = True
        infos = self._infos(np.full(self.num_envs, NO_GOAL), self._ended)
        infos["optimal_return"] = self.world.optimal_returns(self._games.codes, self.task)
        infos["_optimal_return"] = np.ones(self.num_envs, np.bool_)
        return self._games.frames(), infos

    def step(self, actions: ArrayLike) -> Step:
        """Move every game by its action; those whose episode has ended start a new one."""
        if not self._started:
            raise gym.error.ResetNeeded("call reset() before step()")
        names = self.world.space.action_names
        goals = self._games.step(checked_actions(actions, self.num_envs, names), self._wanted)
        if self._ended.any():
            self._games.start(np.flatnonzero(self._ended), self.np_random)
        rewards = np.empty(self.num_envs)
        terminated, truncated = np.empty((2, self.num_envs), np.bool_)
        _settle(
            goals,
            self._ended,
            self._elapsed,
            self.task.goal_reward,
            self.max_episode_steps or NO_LIMIT,
            rewards,
            terminated,
            truncated,
        )
        return self._games.frames(), rewards, terminated, truncated, self._infos(goals, terminated)

    def render(self) -> tuple[Any, ...] | None:
        """A large picture of every game."""
        if self.render_mode is None:
            gym.logger.warn(
                "render() was called without a render mode; choose one when the environment is "
                'made: render_mode="rgb_array"'
            )
            return None
        if not self._started:
            raise gym.error.ResetNeeded("call reset() before render()")
        return tuple(self.world.picture(self._games.codes))

    def _given(self, codes: ArrayLike) -> Codes:
        """Starts given from outside, one for all games or one each."""
        one: Any = [codes]
        checked = self.world.check_codes(one if np.ndim(codes) == 1 else codes)
        if len(checked) not in (1, self.num_envs):
            raise ValueError(
                f"options['code'] has {len(checked)} codes, expected one, or one for each of the "
                f"{self.num_envs} games"
            )
        return checked

    def _infos(self, goals: NDArray[np.int64], ended: BoolArray) -> dict[str, Any]:
        """Gymnasium's form for a batch: the values, and which games have one."""
        rewards = np.zeros((self.num_envs, len(self.world.task_rewards)))
        if ended.any():
            rewards[ended] = self.world.task_rewards.T[goals[ended]]
        return {
            "goal": goals,
            "_goal": np.ones(self.num_envs, np.bool_),
            "task_rewards": rewards,
            "_task_rewards": ended.copy(),
        }


@kernel
def _settle(
    goals: NDArray[np.int64],
    ended: BoolArray,
    elapsed: NDArray[np.int64],
    goal_reward: Array,
    limit: int,
    rewards: Array,
    terminated: BoolArray,
    truncated: BoolArray,
) -> None:
    """What a step pays and which episodes it ends; a game that had ended has just begun anew.

    Changes `goals`, `ended` and `elapsed`; fills `rewards`, `terminated` and `truncated`.
    """
    for i in range(goals.size):
        if ended[i]:
            goals[i], elapsed[i], rewards[i] = NO_GOAL, 0, 0.0
        else:
            elapsed[i] += 1
            rewards[i] = STEP_REWARD if goals[i] == NO_GOAL else goal_reward[goals[i]]
        terminated[i] = goals[i] != NO_GOAL
        truncated[i] = elapsed[i] >= limit
        ended[i] = terminated[i] or truncated[i]


def boxman(
    num_envs: int = 1, *, max_episode_steps: int | None = None, **arguments: Any
) -> VectorBoxman:
    """Many games at once, for `gym.make_vec`; other arguments are those of `Boxman`."""
    if arguments.get("render_mode") == "human":
        raise ValueError(
            'render_mode is "human", but a window shows one game; use gym.make for one game, or '
            'render_mode="rgb_array" for a picture of each'
        )
    return VectorBoxman(Boxman(**arguments), num_envs, max_episode_steps=max_episode_steps)
