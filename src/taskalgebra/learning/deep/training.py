"""From an environment to networks that compose (Section 5).

`train` learns the base tasks of an environment by extended deep Q-learning.  If all tasks share
their absorbing states, one network learns the return to every goal and serves every task.  If they
do not, or if the settings ask for it as the paper does, each base task has a network of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import final
from urllib.parse import quote

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.evaluation.rollout import play
from taskalgebra.learning.checkpoint import claim
from taskalgebra.learning.deep import checkpoint
from taskalgebra.learning.deep.checks import check_spaces
from taskalgebra.learning.deep.dqn import Goals, Trainer
from taskalgebra.learning.deep.family import NetworkFamily, put_weights, weights_of
from taskalgebra.learning.deep.networks import Network, suited_to
from taskalgebra.learning.deep.settings import DeepSettings, resolved_for
from taskalgebra.learning.deep.threads import threads
from taskalgebra.learning.deep.uvfa import UVFA
from taskalgebra.learning.deep.ways import NetworkReach
from taskalgebra.learning.missed import never_met
from taskalgebra.learning.probe import largest_number
from taskalgebra.progress import Event, Listener, StopLearning, silent
from taskalgebra.theory.goal_env import LEARNING_STEPS, GoalEnv
from taskalgebra.theory.policy import GreedyPolicy
from taskalgebra.theory.tasks import Task

Score = Callable[[NetworkFamily], float]
"""How good networks are; more is better."""

LEAST_EPISODES, MOST_EPISODES = 20, 200
"""Of a score, for each base task."""
CHECKPOINTS = r".+\.safetensors"
"""Their names: one per network."""
LONGER = "train longer, learner=DeepQ(n_updates=...)"


def train(
    env: GoalEnv,
    tasks: Mapping[str, Task],
    network: Network | None,
    settings: DeepSettings,
    *,
    seed: int = 0,
    folder: Path | None = None,
    start: UVFA | None = None,
    score: Score | None = None,
    listener: Listener = silent,
) -> tuple[NetworkFamily, dict[str, checkpoint.Progress]]:
    """Train the networks of some base tasks.

    Args:
        env: where to learn.
        tasks: the base tasks, by name.
        network: makes a network; see `networks`.  None for the one that suits the observations.
        settings: what they leave open is taken from the environment.
        seed: equal seeds train equal weights, on one machine.
        folder: keeps one checkpoint per network; a training that was stopped resumes from there.
        start: a network to start from; see `DeepQ`.
        score: rates networks after every iteration; by default the mean score of the base tasks,
            as often as `scoring_share` allows.  The best weights are kept.
        listener: called after every iteration; `StopLearning` ends the training of a network.

    Returns:
        The networks, and the progress of each training.

    Raises:
        ValueError: some goal was never met, so that nothing is known about it; or the tasks or
            the settings do not fit the environment.
    """
    check_spaces(env.observation_space, env.action_space, network)  # before it is played
    settings = resolved_for(settings, env, seed)
    _check(env, tasks, settings)
    if network is None:
        network = suited_to(env.observation_space, partial(largest_number, env, seed))
    if folder is not None:
        claim(folder, CHECKPOINTS)
    separate = settings.own_rewards or not env.shared_absorbing
    trainings: dict[str, Mapping[str, Task]] = (
        {name: {name: task} for name, task in tasks.items()} if separate else {"all": tasks}
    )
    trained: dict[str, NetworkFamily] = {}
    went: dict[str, checkpoint.Progress] = {}
    for i, (name, served) in enumerate(trainings.items()):
        playing = next(iter(served.values())) if separate else env.space.universal
        training = Training(env, served, playing, network, settings, seed + i * 2**20)
        if start is not None:
            training.trainer.start_from(start)
        path = None if folder is None else folder / f"{quote(name, safe=' ')}.safetensors"

        def report(
            trainer: Trainer, loss: float, points: float | None, name: str = name, i: int = i
        ) -> None:
            done = i + trainer.n_updates / settings.n_updates
            listener(
                Event(
                    name,
                    done / len(trainings),
                    n_steps=trainer.n_steps,
                    n_updates=trainer.n_updates,
                    n_goals=len(trainer.goals.numbers),
                    loss=loss,
                    score=points,
                )
            )

        try:
            went[name] = training.run(path, score or Scoring(env, served, settings), report)
        finally:
            training.trainer.env.close()
        trained[name] = training.family(best=True)
    family = NetworkFamily.of(
        env.space,
        tasks,
        network,
        settings,
        tuple(part.reaches[0] for part in trained.values()),
        np.concatenate([part.goal_rewards for part in trained.values()]),
        env.shared_absorbing,
    )
    return family, went


def _check(env: GoalEnv, tasks: Mapping[str, Task], settings: DeepSettings) -> None:
    """Refuse tasks and settings that do not fit an environment."""
    space = env.space
    for name, task in tasks.items():
        if task.space != space:
            raise ValueError(
                f"task {name!r} belongs to another space than the environment; make it with "
                f"space.task(...) of the environment's own space"
            )
    if not settings.categorical:
        return
    least, most = 0.0, 0.0
    if settings.own_rewards:
        least, most = float(space.r_empty.min()), float(space.r_universal.max())
    v_min, v_max, _ = settings.returns
    if not v_min <= least <= most <= v_max:
        raise ValueError(
            f"goals pay from {least:g} to {most:g}, which is outside the returns from v_min = "
            f"{v_min:g} to v_max = {v_max:g}; choose a wider range"
        )


@final
class Training:
    """The training of one network, for the tasks that it will serve."""

    def __init__(
        self,
        env: GoalEnv,
        tasks: Mapping[str, Task],
        playing: Task,
        network: Network,
        settings: DeepSettings,
        seed: int,
    ) -> None:
        """Set up the copies and the trainer."""
        self.env, self.tasks, self.network, self.settings = env, dict(tasks), network, settings
        self.playing = playing
        copies = env.vector(
            settings.n_envs, task=playing, max_episode_steps=settings.max_episode_steps
        )
        n_goals, features = env.space.n_goals, env.goal_features
        wanted = env.space.r_universal > env.space.r_empty
        self.trainer = Trainer(copies, network, settings, seed, n_goals, features, wanted)
        self.trainer.resumed = env.resumed
        self.progress = checkpoint.Progress()

    def run(
        self,
        path: Path | None,
        score: Score | Scoring,
        report: Callable[[Trainer, float, float | None], None],
    ) -> checkpoint.Progress:
        """Train to the end, from the checkpoint if there is one, or until a listener stops it."""
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                self.progress = checkpoint.resume(path, self.trainer)
        start = time.perf_counter()
        for loss in self.trainer.iterations():
            self.progress.seconds += time.perf_counter() - start
            points = self._score(score)
            if path is not None:
                checkpoint.save(path, self.trainer, self.progress)
            try:
                report(self.trainer, loss, points)
            except StopLearning:
                break
            start = time.perf_counter()
        self._require_goals()
        return self.progress

    def _score(self, score: Score | Scoring) -> float | None:
        """Score the network, if that is due, and keep it if it is the best."""
        trainer = self.trainer
        if isinstance(score, Scoring) and not (
            trainer.finished or score.due(trainer.n_steps, len(self.progress.scores))
        ):
            return None
        with threads(self.settings.threads):
            points = score(self.family(best=False))
        if not math.isfinite(points):
            raise ValueError(f"the score of a network is {points}, expected a finite number")
        self.progress.add(trainer.n_updates, points, weights_of(trainer.kept))
        return points

    def family(self, *, best: bool) -> NetworkFamily:
        """The network as it is now, or with its best weights."""
        trainer, goals, space = self.trainer, self.trainer.goals, self.env.space
        network = trainer.kept
        if best and self.progress.best:
            network = trainer.new_network().to(trainer.device)
            put_weights(network, self.progress.best)
        rewards = self._rewards(goals)
        included = rewards[0, goals.numbers] if self.settings.own_rewards else 0.0
        reach = NetworkReach(
            network,
            trainer.head,
            np.stack(goals.observations),
            np.array(goals.numbers),
            space.n_goals,
            np.broadcast_to(included, len(goals.numbers)).astype(np.float64),
            trainer.like,
        )
        shared = self.env.shared_absorbing
        return NetworkFamily.of(
            space, self.tasks, self.network, self.settings, (reach,), rewards, shared
        )

    def _rewards(self, goals: Goals) -> Array:
        """[K, G], what each task was seen to pay; a goal that was not met pays r_∅."""
        rewards = np.repeat(self.env.space.r_empty[None], len(self.tasks), axis=0)
        named = self.env.tasks
        names = list(named)
        for number, paid in zip(goals.numbers, goals.rewards, strict=True):
            for k, (name, task) in enumerate(self.tasks.items()):
                seen = len(paid) == len(names) and named.get(name) == task
                rewards[k, number] = paid[names.index(name)] if seen else task.goal_reward[number]
        return rewards

    def _require_goals(self) -> None:
        space, met = self.env.space, set(self.trainer.goals.numbers)
        needed = np.ones(space.n_goals, np.bool_)
        if not self.env.shared_absorbing:
            needed = self.playing.desired
        missed = [int(g) for g in np.flatnonzero(needed) if g not in met]
        if missed:
            after = f"{self.trainer.n_steps:,} steps"
            raise ValueError(never_met(space, missed, after, LONGER))


@final
class Scoring:
    """Scores networks by playing their base tasks, at a cost that is bounded in environment steps.

    The number of episodes is the same throughout a training, so that scores can be compared: as
    many as every iteration could afford if all episodes were as long as the limit allows, from
    `LEAST_EPISODES` to `MOST_EPISODES` per task.
    """

    def __init__(self, env: GoalEnv, tasks: Mapping[str, Task], settings: DeepSettings) -> None:
        """Choose the number of episodes."""
        self.share = settings.scoring_share
        limit = env.max_episode_steps or LEARNING_STEPS
        per_iteration = settings.updates_per_iteration * settings.steps_per_update * self.share
        affordable = int(per_iteration // (limit * len(tasks)))
        episodes = min(max(affordable, LEAST_EPISODES), MOST_EPISODES)
        self.cost = episodes * limit * len(tasks)  # environment steps of one score, at most
        self._score = base_score(env, episodes)

    def due(self, n_steps: int, n_scores: int) -> bool:
        """Whether one more score is within the share of the environment steps so far."""
        return (n_scores + 1) * self.cost <= self.share * n_steps

    def __call__(self, family: NetworkFamily) -> float:
        """The mean over base tasks."""
        return self._score(family)


def base_score(env: GoalEnv, episodes: int = MOST_EPISODES) -> Score:
    """The mean over base tasks of the score, or of the return if the optimum is unknown."""

    def score(family: NetworkFamily) -> float:
        points = []
        for task, values in zip(family.tasks.values(), family.values, strict=True):
            copies = env.vector(min(episodes, 100), task=task)
            try:
                result = play(
                    task,
                    copies,
                    GreedyPolicy(values),
                    episodes=episodes,
                    seed=1,
                    max_steps=env.max_episode_steps or LEARNING_STEPS,
                )
            finally:
                copies.close()
            known = result.optimal_return > 0  # else the share of the optimum means nothing
            points.append(result.score if known else result.mean_return)
        return float(np.mean(points))

    return score
