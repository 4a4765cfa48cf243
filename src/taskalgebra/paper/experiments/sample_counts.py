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
    *,
    shuffled: bool = False,
) -> Result:
    """Learn the tasks of each learner from scratch, one after the other; one row each.

    Every run has its own random numbers, which belong to the position in the order, not to the
    task.  With `shuffled` a run also has its own order, the same for both learners: what a task
    costs is then told apart from how many were learned before.
    """
    settings = Settings(config.learning_rate, config.epsilon)
    jobs: list[tuple[tuple[object, ...], Task, Array, int]] = []
    for i, (learner, own) in enumerate(tasks.items()):
        optima = [optimal_q(task) if learner == PLAIN else planned(task) for task in own.values()]
        known = list(zip(own, own.values(), optima, strict=True))
        orders = [_order(config.seed, run, len(known), shuffled) for run in range(config.runs)]
        for position in range(len(known)):
            for run, order in enumerate(orders):
                text, task, optimum = known[order[position]]
                seed = seed_of(config.seed, i, position, run)
                jobs.append(((learner, text, run, position), task, optimum, seed))

    def row(job: tuple[tuple[object, ...], Task, Array, int]) -> tuple[object, ...]:
        (*key, position), task, optimum, seed = job
        steps = config.steps(task, optimum, seed, settings)
        return (*key, steps, position) if shuffled else (*key, steps)

    rows = spread(row, jobs, workers=workers, progress=progress)
    columns = ("learner", "task", "run", "steps", "position")
    return Result.of_rows(name, config, columns if shuffled else columns[:-1], rows)


def _order(seed: int, run: int, n_tasks: int, shuffled: bool) -> list[int]:
    """The order in which a run learns its tasks."""
    if not shuffled:
        return list(range(n_tasks))
    order: list[int] = np.random.default_rng(seed_of(seed, run)).random(n_tasks).argsort().tolist()
    return order
