"""Samples until a learned table is exact: the measure of Fig. 3a and 3c.

Samples are environment steps until the *whole* table, every state, goal and action, is within a
tolerance of the exact optimum, tested before every step.  Goals are met by the learner, not given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning.q_learning import Settings, Stop, goal_oriented_q_learning, q_learning
from taskalgebra.paper.experiments.rooms import R_BAR_MIN, finished
from taskalgebra.paper.results.labels import PLAIN
from taskalgebra.paper.results.parallel import Progress, seed_of, spread
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.planning.exact import optimal_q, q_bar_star
from taskalgebra.theory.tasks import Task


@dataclass(frozen=True)
class Rewards:
    """What Fig. 3 is measured with: rewards of its own."""

    r_universal: float = 1.0
    """The reward of a desired goal."""
    step_reward: float = -0.01
    """The reward of every step, and of any other goal."""
    tolerance: float = 1e-5
    """A table is learned when no entry is further from the optimum."""
    seed: int = 0
    """Of all random numbers."""

    def world(self, n_goals: int) -> FourRooms:
        """Four Rooms with these rewards."""
        return FourRooms(n_goals, r_universal=self.r_universal, step_reward=self.step_reward)


@dataclass(frozen=True)
class _Learning:
    runs: int = 100
    """How often each task is learned; error bars are standard deviations over runs."""
    epsilon: float = 1.0
    """ε, how often the learner acts at random."""
    learning_rate: float = 1.0
    """α."""


@dataclass(frozen=True)
class Config(Rewards, _Learning):  # fields of the last base come first, also in saved results
    """Learn every task with its learner, many times."""


def count_samples(
    name: str,
    config: Config,
    tasks: dict[str, dict[str, Task]],
    workers: int,
    progress: Progress | None,
) -> Result:
    """Learn the tasks of each learner anew in every run; one row each, in that order."""
    settings = Settings(config.learning_rate, config.epsilon)
    learners = [
        (learner, list(own), list(own.values()), [_optimum(learner, t) for t in own.values()])
        for learner, own in tasks.items()
    ]
    jobs = [
        (i, t, run)
        for i, (_, names, _, _) in enumerate(learners)
        for t in range(len(names))
        for run in range(config.runs)
    ]

    def row(job: tuple[int, int, int]) -> tuple[str, str, int, int]:
        i, t, run = job
        learner, names, own, optima = learners[i]
        stop, seed = Stop(optimum=optima[t], tolerance=config.tolerance), seed_of(config.seed, *job)
        if learner == PLAIN:
            learned = q_learning(own[t], stop, settings=settings, seed=seed)
        else:
            learned = goal_oriented_q_learning(
                own[t], stop, settings=settings, seed=seed, r_bar_min=R_BAR_MIN
            )
        return learner, names[t], run, finished(learned).n_steps

    rows = spread(row, jobs, workers=workers, progress=progress)
    table = Table.of_rows(("learner", "task", "run", "steps"), rows)
    return Result(name, as_json(config), {name: table})


def _optimum(learner: str, task: Task) -> Array:
    """Q* `[S, A]` or Q̄* `[S, G, A]`, what the learner must arrive at."""
    if learner == PLAIN:
        return optimal_q(task)
    (values,) = q_bar_star(task.space, [task], r_bar_min=R_BAR_MIN).values
    return values.q_bar(np.arange(task.space.mdp.n_states))
