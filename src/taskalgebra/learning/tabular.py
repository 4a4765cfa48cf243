"""Algorithm 1 as a learner: tables, for finite worlds and for any discrete goal environment."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final
from urllib.parse import quote

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete

from taskalgebra.learning import checkpoint, readable
from taskalgebra.learning.learner import require_shared_absorbing
from taskalgebra.learning.probe import penalty_of, step_rewards
from taskalgebra.learning.q_learning import Run, Settings, Stop, goal_oriented_q_learning
from taskalgebra.progress import Event, Listener
from taskalgebra.theory.family import TableFamily
from taskalgebra.theory.goal_env import GoalEnv, goals_reached
from taskalgebra.theory.rewards import r_bar_min_of
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import finite, listed
from taskalgebra.worlds.finite import NO_GOAL, FiniteMDP

SAVED_EVERY = 10.0
"""Seconds between two checkpoints."""
MAX_EPISODE_STEPS = 1_000
"""Where an environment that is known only by playing it has no limit of its own."""


@final
@dataclass(frozen=True)
class QLearning:
    """Goal-oriented Q-learning (Algorithm 1) as a learner for `taskalgebra.learn`.

    Q̄ of every base task is learned as a table, and so are Q̄_U and Q̄_∅, the bounds of composition.
    A finite world is learned from its own tables by compiled code; any other environment whose
    observations are `Discrete` is learned by playing it.
    """

    episodes: int | None = None
    """How many episodes to learn each task for."""
    steps: int | None = None
    """How many steps to learn each task for; by default, without episodes, a thousand for each
    state and action."""
    settings: Settings | None = None
    """α, ε and γ; by default the paper's: α = ε = 1 in deterministic worlds, else 0.1 and 0.5."""
    r_bar_min: float | None = None
    """r̄_MIN, the penalty for a wrong goal; by default the one of Definition 2."""

    def learn(
        self,
        env: GoalEnv,
        tasks: Mapping[str, Task],
        *,
        seed: int,
        folder: Path | None,
        listener: Listener,
    ) -> TableFamily:
        """Learn one table after the other; each has a random stream of its own.

        Raises:
            ValueError: some goal was never met, so that its values are not known; an episode can
                get stuck where no goal can be reached; or tasks end in goals of their own.
        """
        space = env.space
        require_shared_absorbing(env)
        way = _InTables(self, space) if space.finite else _ByPlaying(self, env, seed)
        wanted = [("M_U", space.universal), ("M_∅", space.empty), *tasks.items()]
        tables = []
        for i, (name, task) in enumerate(wanted):
            told = _Told(name, i, len(wanted), way.stop, listener)
            path = None if folder is None else folder / f"{quote(name, safe=' ∅')}.npz"
            run = _resumable(way, task, seed + i * 2**32, path, told)
            _require_goals(run, space)
            tables.append(run.q)
        return TableFamily.of(space, tasks, tables, r_bar_min=way.r_bar_min, error_bound=None)


class _InTables:
    """Learning in the tables of a finite world."""

    stops_anywhere = True  # a run that was stopped within an episode resumes there

    def __init__(self, learner: QLearning, space: TaskSpace) -> None:
        mdp = space.mdp
        require_no_traps(mdp)
        self.space = space
        self.settings = learner.settings or (
            Settings() if mdp.deterministic else Settings(learning_rate=0.1, epsilon=0.5)
        )
        self.stop = _stop(learner, mdp.n_states * mdp.n_actions)
        self.r_bar_min = r_bar_min_of(space) if learner.r_bar_min is None else _low(learner)

    def fingerprint(self, task: Task, seed: int) -> str:
        """What a run belongs to."""
        return f"{checkpoint.fingerprint(task)} {seed} {self.settings} {self.r_bar_min}"

    def run(self, task: Task, seed: int, run: Run | None, progress: Any) -> Run:
        """Learn, or resume."""
        return goal_oriented_q_learning(
            task,
            self.stop,
            settings=self.settings,
            seed=seed,
            r_bar_min=self.r_bar_min,
            run=run,
            progress=progress,
        )


class _ByPlaying:
    """Learning in an environment that is known only by playing it."""

    stops_anywhere = False  # nobody can bring the environment back to the middle of an episode

    def __init__(self, learner: QLearning, env: GoalEnv, seed: int) -> None:
        observations, actions = env.observation_space, env.action_space
        if not isinstance(observations, Discrete) or not isinstance(actions, Discrete):
            raise ValueError(
                f"tables need numbered observations and actions, Discrete; this environment has "
                f"{observations} and {actions}: learn with DeepQ, or with a learner of your own"
            )
        self.env = env
        self.limit = env.max_episode_steps or MAX_EPISODE_STEPS
        self.settings = learner.settings or Settings(learning_rate=0.1, epsilon=0.5)
        self.stop = _stop(learner, int(observations.n * actions.n))
        if learner.r_bar_min is None:
            self.r_bar_min = penalty_of(env, step_rewards(env, seed), self.limit)
        else:
            self.r_bar_min = _low(learner)

    def fingerprint(self, task: Task, seed: int) -> str:
        """What a run belongs to: a few seeded steps, and what the task pays."""
        rng = np.random.default_rng(0)
        digest = hashlib.sha256(task.goal_reward.tobytes())
        copy = OneCopy(self.env, task, self.limit, seed=20_20)
        state, _ = copy.reset()
        for _ in range(100):
            state, reward, terminated, truncated, info = copy.step(
                int(rng.integers(self.env.space.n_actions))
            )
            digest.update(repr((state, float(reward), info["goal"])).encode())
            if terminated or truncated:
                copy.reset()
        copy.close()
        return f"{digest.hexdigest()} {seed} {self.settings} {self.r_bar_min}"

    def run(self, task: Task, seed: int, run: Run | None, progress: Any) -> Run:
        """Learn, or resume."""
        copy = OneCopy(self.env, task, self.limit, seed, 0 if run is None else run.n_episodes)
        try:
            found = readable.goal_oriented_q_learning(
                copy,
                self.stop,
                r_bar_min=self.r_bar_min,
                settings=self.settings,
                seed=seed,
                run=run,
                progress=progress,
            )
        finally:
            copy.close()
        return found


@final
class OneCopy(gym.Env[int, int]):
    """One copy of a goal environment that pays for a task, as a plain Gymnasium environment.

    Every episode is seeded with the seed and its own number, so that a run that was stopped between
    two episodes resumes as if it had not been.
    """

    def __init__(
        self, env: GoalEnv, task: Task, max_episode_steps: int, seed: int, n_episodes: int = 0
    ) -> None:
        """Make the copy; `n_episodes` were played before."""
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self._n_goals, self._seed, self._n_episodes = env.space.n_goals, seed, n_episodes
        self._env = env.vector(1, task=task, max_episode_steps=max_episode_steps)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Start the next episode."""
        of_episode = np.random.SeedSequence([self._seed, self._n_episodes])
        self._n_episodes += 1
        observations, _ = self._env.reset(seed=int(of_episode.generate_state(1)[0]) >> 1)
        return int(observations[0]), {"goal": NO_GOAL}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Act."""
        observations, rewards, terminated, truncated, infos = self._env.step(np.array([action]))
        goal = int(goals_reached(infos, terminated, self._n_goals)[0])
        ended = bool(terminated[0]), bool(truncated[0])
        if any(ended) and "final_obs" in infos:  # the next episode has already begun
            observations = infos["final_obs"]
        return int(observations[0]), float(rewards[0]), *ended, {"goal": goal}

    def close(self) -> None:
        """Close the copy."""
        self._env.close()


def _resumable(way: Any, task: Task, seed: int, path: Path | None, told: _Told) -> Run:
    """Learn one table, from its checkpoint if there is one, and keep checkpoints."""
    of = "" if path is None else way.fingerprint(task, seed)
    run = checkpoint.load(path, of) if path is not None and path.exists() else None
    saved_at = time.monotonic()

    def progress(now: Run) -> None:
        nonlocal saved_at
        told(now)
        if path is not None and time.monotonic() - saved_at > SAVED_EVERY:
            checkpoint.save(path, now, of)
            saved_at = time.monotonic()

    found: Run = way.run(task, seed, run, progress)
    if path is not None and (way.stops_anywhere or not found.interrupted):
        checkpoint.save(path, found, of)
    if found.interrupted:
        raise KeyboardInterrupt
    return found


@final
class _Told:
    """Tells a listener how much is done of several runs, each as long as the others."""

    def __init__(self, what: str, before: int, n_runs: int, stop: Stop, listener: Listener) -> None:
        self.what, self.before, self.n_runs = what, before, n_runs
        self.stop, self.listener = stop, listener

    def __call__(self, run: Run) -> None:
        limits = ((run.n_steps, self.stop.steps), (run.n_episodes, self.stop.episodes))
        shares = [done / limit for done, limit in limits if limit is not None]
        share = (self.before + min(max(shares), 1.0)) / self.n_runs
        self.listener(Event(self.what, share, n_steps=run.n_steps, n_goals=run.n_seen))


def _stop(learner: QLearning, n_pairs: int) -> Stop:
    steps = learner.steps
    if steps is None and learner.episodes is None:
        steps = 1000 * n_pairs
    return Stop(episodes=learner.episodes, steps=steps)


def _low(learner: QLearning) -> float:
    return float(finite(learner.r_bar_min, "r_bar_min", ()))  # type: ignore[arg-type]


def _require_goals(run: Run, space: TaskSpace) -> None:
    missed = sorted(set(range(space.n_goals)) - set(run.seen_goals.tolist()))
    if missed:
        names = listed([space.goal_names[g] for g in missed])
        raise ValueError(
            f"in {run.n_steps:,} steps these goals were never met: {names}; learn longer"
        )


def require_no_traps(mdp: FiniteMDP) -> None:
    """Refuse worlds in which an episode of learning might never end."""
    lost = np.flatnonzero(~mdp.ending[mdp.successor])
    pairs = np.searchsorted(mdp.offset, lost, side="right") - 1
    live = pairs[mdp.ending[pairs // mdp.n_actions]]
    if live.size:
        s, a = divmod(int(live[0]), mdp.n_actions)
        raise ValueError(
            f"{mdp.action_names[a]} in {mdp.state_name(s)} may lead to where no goal can be "
            f"reached, so that an episode would never end; use solve, or learner=FewSteps(), "
            f"which gives such episodes up"
        )
