"""Samples until a learned table is exact: the measure of Fig. 3a and 3c.

Samples are environment steps until the *whole* table, every state, goal and action, is within a
tolerance of the exact optimum, tested before every step.  Goals are met by the learner, not given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning.q_learning import Settings, Stop, goal_oriented_q_learning, q_learning
from taskalgebra.paper.experiments.rooms import R_BAR_MIN, SIXTEEN, finished, planned
from taskalgebra.paper.results.labels import PLAIN
from taskalgebra.paper.results.record import Result
from taskalgebra.planning.exact import optimal_q
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import Sweep
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


FUNCTIONS, SINGLE, BASE = "functions", "single", "base"


@dataclass(frozen=True)
class Tasks:
    """Tasks of Four Rooms: all 16 Boolean functions, one for each goal, or base tasks."""

    n_goals: int
    which: str

    def of(self, measure: Measure) -> dict[str, Task]:
        """The tasks by their names."""
        world = measure.world(self.n_goals)
        if self.which == FUNCTIONS:
            return {str(expression): world.find_task(expression) for expression in SIXTEEN}
        if self.which == SINGLE:
            return {name: world.space.task([name]) for name in world.space.mdp.goal_names}
        return dict(world.tasks)


def count_samples(
    name: str,
    config: Config,
    tasks: dict[str, Tasks],
    sweep: Sweep,
    *,
    shuffled: bool = False,
) -> Result:
    """Learn the tasks of each learner from scratch, one after the other; one row each.

    Every run has its own random numbers, which belong to the position in the order, not to the
    task.  With `shuffled` a run also has its own order, the same for both learners: what a task
    costs is then told apart from how many were learned before.
    """
    cells = [
        _Learnings(config, own, learner, i, run, shuffled)
        for i, (learner, own) in enumerate(tasks.items())
        for run in range(config.runs)
    ]
    found = iter(sweep.map(_learned, cells))
    rows = []
    for learner in tasks:
        runs = [next(found) for _ in range(config.runs)]
        for position, at_position in enumerate(zip(*runs, strict=True)):
            for run, (text, steps) in enumerate(at_position):
                rows.append((learner, text, run, steps, *([position] if shuffled else [])))
    columns = ("learner", "task", "run", "steps", "position")
    return Result.of_rows(name, config, columns if shuffled else columns[:-1], rows)


@dataclass(frozen=True)
class _Learnings:
    """All learnings of one run of a learner."""

    config: Config
    tasks: Tasks
    learner: str
    i: int  # of the learner
    run: int
    shuffled: bool


def _learned(cell: _Learnings) -> list[tuple[str, int]]:
    """The tasks in the order of the run, and the steps that each took."""
    config = cell.config
    settings = Settings(config.learning_rate, config.epsilon)
    known = _known(replace(config, runs=1, seed=0), cell.tasks, cell.learner)
    found = []
    order = _order(config.seed, cell.run, len(known), cell.shuffled)
    for position, number in enumerate(order):
        text, task, optimum = known[number]
        seed = seed_of(config.seed, cell.i, position, cell.run)
        found.append((text, config.steps(task, optimum, seed, settings)))
    return found


@lru_cache(8)
def _known(config: Config, tasks: Tasks, learner: str) -> list[tuple[str, Task, Array]]:
    """The tasks of a learner with their optima; planned once in each process."""
    return [
        (text, task, optimal_q(task) if learner == PLAIN else planned(task))
        for text, task in tasks.of(config).items()
    ]


def _order(seed: int, run: int, n_tasks: int, shuffled: bool) -> list[int]:
    """The order in which a run learns its tasks."""
    if not shuffled:
        return list(range(n_tasks))
    order: list[int] = np.random.default_rng(seed_of(seed, run)).random(n_tasks).argsort().tolist()
    return order
