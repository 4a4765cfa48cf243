"""Samples until a learned table is exact: the measure of Fig. 3a and 3c.

Samples are environment steps until the *whole* table, every state, goal and action, is within a
tolerance of the exact optimum, tested before every step.  Goals are met by the learner, not given.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskalgebra.arrays import Array
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning.q_learning import Settings, Stop, goal_oriented_q_learning, q_learning
from taskalgebra.paper.experiments.rooms import R_BAR_MIN, finished, planned
from taskalgebra.paper.results.labels import PLAIN
from taskalgebra.paper.results.parallel import Progress, seed_of, spread
from taskalgebra.paper.results.record import Result
from taskalgebra.planning.exact import optimal_q
from taskalgebra.theory.tasks import Task


@dataclass(frozen=True)
class _Runs:
    runs: int = 100
    """How often everything is learned; error bars are standard deviations over runs."""


@dataclass(frozen=True)
class Measure(_Runs):
    """What Fig. 3 is measured with; it has rewards of its own."""

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

    def steps(self, task: Task, optimum: Array, seed: int, settings: Settings) -> int:
        """Steps until the table of a task is exact; plain Q-learning where that is `[S, A]`."""
        stop = Stop(optimum=optimum, tolerance=self.tolerance)
        if optimum.ndim == 2:
            run = q_learning(task, stop, settings=settings, seed=seed)
        else:
            run = goal_oriented_q_learning(
                task, stop, settings=settings, seed=seed, r_bar_min=R_BAR_MIN
            )
        return finished(run).n_steps


@dataclass(frozen=True)
class _Learning(_Runs):
    epsilon: float = 1.0
    """ε, how often the learner acts at random."""
    learning_rate: float = 1.0
    """α."""


@dataclass(frozen=True)
class Config(Measure, _Learning):  # fields of the last base come first, also in saved results
    """Learn every task with its learner, many times."""


def count_samples(
    name: str,
    config: Config,
    tasks: dict[str, dict[str, Task]],
    workers: int,
    progress: Progress | None,
) -> Result:
    """Learn the tasks of each learner from scratch in every run; one row each, in that order."""
    settings = Settings(config.learning_rate, config.epsilon)
    jobs = [
        ((learner, text, run), task, optimum, seed_of(config.seed, i, t, run))
        for i, (learner, own) in enumerate(tasks.items())
        for t, (text, task) in enumerate(own.items())
        for optimum in [optimal_q(task) if learner == PLAIN else planned(task)]
        for run in range(config.runs)
    ]

    def row(job: tuple[tuple[str, str, int], Task, Array, int]) -> tuple[object, ...]:
        key, task, optimum, seed = job
        return *key, config.steps(task, optimum, seed, settings)

    rows = spread(row, jobs, workers=workers, progress=progress)
    return Result.of_rows(name, config, ("learner", "task", "run", "steps"), rows)
