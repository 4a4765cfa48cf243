"""Samples until a learned table is exact: the measure of Fig. 3a and 3c.

Samples are environment steps until the *whole* table, every state, goal and action, is within a
tolerance of the exact optimum, tested before every step.  Goals are met by the learner, not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.learning.q_learning import (
    Settings,
    Stop,
    goal_oriented_q_learning,
    q_learning,
)
from taskalgebra.paper.experiments.parallel import Progress, seed_of, spread
from taskalgebra.paper.experiments.record import Table
from taskalgebra.paper.experiments.rooms import R_BAR_MIN, finished
from taskalgebra.planning.exact import optimal_q, q_bar_star
from taskalgebra.theory.tasks import Task

PLAIN, EXTENDED = "Q-learning", "goal-oriented Q-learning"


@dataclass(frozen=True)
class Series:
    """One learner, and the tasks it learns one after the other, by name."""

    learner: str
    tasks: dict[str, Task]


def count_samples(
    series: Sequence[Series],
    *,
    settings: Settings,
    tolerance: float,
    runs: int,
    seed: int,
    workers: int,
    progress: Progress | None,
) -> Table:
    """Learn every task of every series anew in every run; one row each, in that order."""
    jobs = [
        (i, t, r) for i, s in enumerate(series) for t in range(len(s.tasks)) for r in range(runs)
    ]
    stops = [
        [Stop(optimum=_optimum(s.learner, task), tolerance=tolerance) for task in s.tasks.values()]
        for s in series
    ]
    tasks = [list(s.tasks.values()) for s in series]

    def steps(job: tuple[int, int, int]) -> int:
        i, t, _ = job
        task, stop, own_seed = tasks[i][t], stops[i][t], seed_of(seed, *job)
        if series[i].learner == PLAIN:
            run = q_learning(task, stop, settings=settings, seed=own_seed)
        else:
            run = goal_oriented_q_learning(
                task, stop, settings=settings, seed=own_seed, r_bar_min=R_BAR_MIN
            )
        return finished(run).n_steps

    names = [list(s.tasks) for s in series]
    counts = spread(steps, jobs, workers=workers, progress=progress)
    return Table.of_rows(
        ("learner", "task", "run", "steps"),
        [(series[i].learner, names[i][t], r, n) for (i, t, r), n in zip(jobs, counts, strict=True)],
    )


def _optimum(learner: str, task: Task) -> Array:
    """Q* `[S, A]` or Q̄* `[S, G, A]`, what the learner must arrive at."""
    if learner == PLAIN:
        return optimal_q(task)
    (values,) = q_bar_star(task.space, [task], r_bar_min=R_BAR_MIN).values
    return values.q_bar(np.arange(task.space.mdp.n_states))
