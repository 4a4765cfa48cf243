"""One copy of a goal environment for learners of tables, which number what they observe."""

from __future__ import annotations

from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete

from taskalgebra.theory.goal_env import GoalEnv, goals_reached
from taskalgebra.theory.numbering import Numbering
from taskalgebra.theory.tasks import Task
from taskalgebra.worlds.finite import NO_GOAL

MOST_STATES = 2**16
"""Different observations in a table, where these have no numbers."""


@final
class OneCopy(gym.Env[int, int]):
    """One copy of a goal environment that pays for a task, as a plain Gymnasium environment.

    Every episode is seeded with the seed and its own number, so that a run stopped between two
    episodes resumes as if it had not been; not where episodes begin on goals (`GoalEnv.resumed`).
    """

    def __init__(
        self,
        env: GoalEnv,
        task: Task,
        max_episode_steps: int,
        seed: int,
        n_episodes: int = 0,
        numbering: Numbering | None = None,
    ) -> None:
        """Make the copy; `n_episodes` were played before.  A numbering grows with what is met."""
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self._numbering = numbering
        if numbering is not None:
            self.observation_space = Discrete(MOST_STATES)  # type: ignore[assignment]
        self._n_goals, self._seed, self._n_episodes = env.space.n_goals, seed, n_episodes
        self._options = {"resume": True} if env.resumed else None
        self._env = env.vector(1, task=task, max_episode_steps=max_episode_steps)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Start the next episode."""
        of_episode = np.random.SeedSequence([self._seed, self._n_episodes])
        self._n_episodes += 1
        own = int(of_episode.generate_state(1)[0]) >> 1
        options = None if self._options is None else dict(self._options)
        observations, _ = self._env.reset(seed=own, options=options)
        return self._number(observations[0]), {"goal": NO_GOAL}

    def _number(self, observation: Any) -> int:
        if self._numbering is None:
            return int(observation)
        number = self._numbering.meet(observation)
        if number >= MOST_STATES:
            raise ValueError(
                f"more than {MOST_STATES:,} different observations were met, too many for a "
                f"table; learn with DeepQ"
            )
        return number

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Act."""
        observations, rewards, terminated, truncated, infos = self._env.step(np.array([action]))
        goal = int(goals_reached(infos, terminated, self._n_goals)[0])
        ended = bool(terminated[0]), bool(truncated[0])
        if any(ended) and "final_obs" in infos:  # the next episode has already begun
            observations = infos["final_obs"]
        return self._number(observations[0]), float(rewards[0]), *ended, {"goal": goal}

    @property
    def goal_without_end(self) -> bool:
        """Whether `info["goal"]` came on a step that did not terminate."""
        return bool(getattr(self._env, "goal_without_end", False))

    def close(self) -> None:
        """Close the copy."""
        self._env.close()
