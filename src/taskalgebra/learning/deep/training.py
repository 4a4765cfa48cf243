"""From an open world to networks that compose (Section 5).

`train` learns the base tasks of a world by extended deep Q-learning.  Where all tasks share their
absorbing states, one network learns the return to every goal, and serves every task.  Where they do
not, or where the settings ask for it as the paper does, each base task has a network of its own.

A folder keeps one checkpoint a network.  A training that was stopped goes on from there.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO, final
from urllib.parse import quote

import numpy as np
from gymnasium.vector import VectorEnv

from taskalgebra.arrays import Array
from taskalgebra.evaluation.play import MAX_STEPS, play
from taskalgebra.learning.deep import checkpoint
from taskalgebra.learning.deep.dqn import Chapter, Goals, Learner
from taskalgebra.learning.deep.networks import make_network
from taskalgebra.learning.deep.settings import DeepSettings
from taskalgebra.learning.deep.uvfa import UVFA
from taskalgebra.learning.deep.values import (
    ExtremeBounds,
    GoalReturns,
    NetworkQ,
    ShiftedBounds,
)
from taskalgebra.planning.exact import Plan
from taskalgebra.theory.extended import ValueBounds
from taskalgebra.theory.policy import GreedyPolicy
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import listed

EPISODE = 50
"""Steps after which an episode of training is given up for a new one."""


class OpenEnvironment(Protocol):
    """A world that is known only by playing it."""

    space: TaskSpace
    tasks: dict[str, Task]

    @property
    def shared_absorbing(self) -> bool:
        """Whether every task ends in every goal, as Assumption 1 asks."""

    def vector(
        self, num_envs: int, *, task: Task, max_episode_steps: int | None = None
    ) -> VectorEnv[Any, Any, Any]:
        """So many copies, which pay for this task."""


@dataclass(frozen=True)
class Networks:
    """Trained networks and the tasks that they serve."""

    space: TaskSpace
    tasks: dict[str, Task]
    settings: DeepSettings
    networks: tuple[GoalReturns, ...]  # one for all tasks, or one a task
    goal_rewards: Array  # [K, G], what each base task was seen to pay for each goal
    shared: bool  # whether the tasks share their absorbing states

    @property
    def first(self) -> UVFA:
        """The first network, or the only one; others may start from it."""
        return self.networks[0].network

    def plan(self) -> Plan:
        """The value functions of the base tasks, with their bounds."""
        bounds: ValueBounds
        each = self.networks * (len(self.tasks) if len(self.networks) == 1 else 1)
        if self.shared:
            bounds = ShiftedBounds(self.space, self.networks)
        else:
            bounds = ExtremeBounds(self.space, each, self.goal_rewards)
        values = tuple(
            NetworkQ(network, reward, bounds)
            for network, reward in zip(each, self.goal_rewards, strict=True)
        )
        low = self.settings.low + (0.0 if self.settings.own_rewards else self.space.r_empty.min())
        return Plan(values, bounds, float(low), None)


Score = Callable[[Networks], float]
Listener = Callable[[str, Chapter, float], None]
"""Told the network's task, the chapter, and the score."""


def train(
    world: OpenEnvironment,
    tasks: Mapping[str, Task],
    settings: DeepSettings,
    *,
    seed: int = 0,
    folder: Path | None = None,
    start: UVFA | None = None,
    score: Score | None = None,
    listen: Listener | None = None,
) -> tuple[Networks, dict[str, checkpoint.Progress]]:
    """Train the networks of some base tasks.

    Args:
        world: where to learn.
        tasks: the base tasks, by name.
        settings: of the learner.
        seed: equal seeds train equal weights, on one machine.
        folder: for checkpoints; what is there already is gone on with.
        start: a network to start from, trained in a world that looks the same.  One of the same
            kind is trained further; its first actions must be those of this world.  A planning
            network takes what an egocentric one sees, and trains that no further.
        score: how good networks are, more is better; by default the mean score of the base tasks in
            200 episodes.  The best weights are kept.
        listen: called after every chapter.

    Returns:
        The networks, and for each how its training went.

    Raises:
        ValueError: some goal was never met, so that nothing is known about it; or the tasks or
            the settings do not fit the world.
    """
    _check(world, tasks, settings)
    separate = settings.own_rewards or not world.shared_absorbing
    trainings: dict[str, Mapping[str, Task]] = (
        {name: {name: task} for name, task in tasks.items()} if separate else {"all": tasks}
    )
    trained: dict[str, Networks] = {}
    went: dict[str, checkpoint.Progress] = {}
    for i, (name, served) in enumerate(trainings.items()):
        playing = next(iter(served.values())) if separate else world.space.universal
        training = Training(world, served, playing, settings, seed + i * 2**20)
        if start is not None:
            training.learner.start_from(start)
        path = None if folder is None else folder / f"{quote(name, safe=' ')}.safetensors"
        try:
            went[name] = training.run(path, score or base_score(world), listen, name)
        finally:
            training.learner.env.close()
        trained[name] = training.networks(best=True)
    result = Networks(
        world.space,
        dict(tasks),
        settings,
        tuple(part.networks[0] for part in trained.values()),
        np.concatenate([part.goal_rewards for part in trained.values()]),
        world.shared_absorbing,
    )
    return result, went


def _check(world: OpenEnvironment, tasks: Mapping[str, Task], settings: DeepSettings) -> None:
    """Refuse tasks and settings that do not fit a world."""
    space = world.space
    for name, task in tasks.items():
        if task.space is not space:
            raise ValueError(
                f"task {name!r} belongs to another space than the world; make it with "
                f"world.space.task(...)"
            )
    if not settings.categorical:
        return
    least, most = 0.0, 0.0
    if settings.own_rewards:
        least, most = float(space.r_empty.min()), float(space.r_universal.max())
    if not settings.low <= least <= most <= settings.high:
        raise ValueError(
            f"goals pay from {least:g} to {most:g}, beyond the returns from low = "
            f"{settings.low:g} to high = {settings.high:g} that a value may have; choose wider ones"
        )


@final
class Training:
    """One network in training, for the tasks that it will serve."""

    def __init__(
        self,
        world: OpenEnvironment,
        tasks: Mapping[str, Task],
        playing: Task,
        settings: DeepSettings,
        seed: int,
    ) -> None:
        """Set the environments up."""
        self.world, self.tasks, self.settings = world, dict(tasks), settings
        self.playing = playing
        env = world.vector(settings.n_envs, task=playing, max_episode_steps=EPISODE)
        self.learner = Learner(env, settings, seed, world.space.n_goals)
        self.progress = checkpoint.Progress()

    def run(
        self, path: Path | None, score: Score, listen: Listener | None, name: str
    ) -> checkpoint.Progress:
        """Train to the end, from the checkpoint if there is one."""
        if path is not None:
            if path.parent.exists() and not path.parent.is_dir():
                raise NotADirectoryError(f"{path.parent} is no folder; give one for checkpoints")
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                self.progress = checkpoint.resume(path, self.learner)
        start = time.perf_counter()
        for chapter in self.learner.chapters():
            self.progress.seconds += time.perf_counter() - start
            points = score(self.networks(best=False))
            self.progress.note(
                chapter.n_updates, points, checkpoint.weights_of(self.learner.network)
            )
            if path is not None:
                checkpoint.save(path, self.learner, self.progress)
            if listen is not None:
                listen(name, chapter, points)
            start = time.perf_counter()
        self._require_goals()
        return self.progress

    def networks(self, *, best: bool) -> Networks:
        """The network as it is now, or with its best weights."""
        learner, goals = self.learner, self.learner.goals
        network = learner.network
        if best and self.progress.best:
            shape = goals.observations[0].shape
            network = make_network(
                self.settings.network, shape, learner.n_actions, learner.head.n_outputs
            ).to(learner.device)
            checkpoint.put_weights(network, self.progress.best)
        rewards = self._rewards(goals)
        included = rewards[0, goals.numbers] if self.settings.own_rewards else 0.0
        returns = GoalReturns(
            network,
            learner.head,
            np.stack(goals.observations),
            np.array(goals.numbers),
            self.world.space.n_goals,
            np.broadcast_to(included, len(goals.numbers)).astype(np.float64),
        )
        return Networks(
            self.world.space,
            self.tasks,
            self.settings,
            (returns,),
            rewards,
            self.world.shared_absorbing,
        )

    def _rewards(self, goals: Goals) -> Array:
        """[K, G], what each task was seen to pay; a goal that was not met pays r_∅."""
        rewards = np.repeat(self.world.space.r_empty[None], len(self.tasks), axis=0)
        names = list(self.world.tasks)
        named = self.world.tasks
        for number, paid in zip(goals.numbers, goals.rewards, strict=True):
            for k, (name, task) in enumerate(self.tasks.items()):
                told = len(paid) == len(names) and name in names and named[name] == task
                rewards[k, number] = paid[names.index(name)] if told else task.goal_reward[number]
        return rewards

    def _require_goals(self) -> None:
        space, met = self.world.space, set(self.learner.goals.numbers)
        needed = np.ones(space.n_goals, np.bool_)
        if not self.world.shared_absorbing:
            needed = self.playing.desired
        missed = [space.goal_names[g] for g in np.flatnonzero(needed) if g not in met]
        if missed:
            raise ValueError(
                f"in {self.learner.n_steps:,} steps these goals were never met: {listed(missed)}; "
                f"train longer, or explore more"
            )


@final
class TerminalChapters:
    """A listener that writes a line after every chapter, where the output is a terminal."""

    def __init__(self, settings: DeepSettings, stream: TextIO | None = None) -> None:
        """Say how long the training is."""
        self.settings = settings
        self.stream = sys.stderr if stream is None else stream
        self.start = time.monotonic()

    def __call__(self, name: str, chapter: Chapter, score: float) -> None:
        """Write the line."""
        if self.stream.isatty():
            print(
                f"{name}: {chapter.n_updates:,} of {self.settings.n_updates:,} updates, "
                f"{chapter.n_goals} goals met, score {score:.3f}, "
                f"{time.monotonic() - self.start:.0f} s",
                file=self.stream,
                flush=True,
            )


def base_score(world: OpenEnvironment) -> Score:
    """The mean over base tasks of the share of the optimum, or of the return if it is unknown."""

    def score(networks: Networks) -> float:
        points = []
        for task, values in zip(networks.tasks.values(), networks.plan().values, strict=True):
            env = world.vector(100, task=task)
            try:
                result = play(
                    task,
                    env,
                    GreedyPolicy(values),
                    episodes=200,
                    seed=1,
                    max_steps=getattr(world, "max_steps", MAX_STEPS),
                )
            finally:
                env.close()
            points.append(result.mean_return if np.isnan(result.score) else result.score)
        return float(np.mean(points))

    return score
