"""Section 4.2 with 40 goals: random tasks of all 2^40, composed from six learned base tasks.

The six tables are learned for a fixed number of steps; the learner is not told when it has
converged.  Q̄_U and Q̄_∅ follow from the first table by Corollary 1.  Each task, a random set of
goals, is written as a sum of products over the base tasks, composed, and evaluated exactly from
every start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning.q_learning import Settings, Stop, goal_oriented_q_learning
from taskalgebra.paper.experiments.rooms import (
    EXACT,
    R_BAR_MIN,
    finished,
    gaps,
    shifted_bounds,
)
from taskalgebra.paper.results.parallel import Progress, part, seed_of, spread
from taskalgebra.paper.results.record import Result
from taskalgebra.theory.base_tasks import as_sum, expression_of
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.values import compose

NAME = "optimal_forty"


@dataclass(frozen=True)
class Config:
    """Learn six tables, then compose random sets of goals."""

    tasks: int = 1000
    """How many random sets of goals; each goal is in a set with probability ½."""
    learning_steps: int = 400_000
    """Steps to learn each of the six tables for."""
    epsilon: float = 1.0
    """ε, how often the learner acts at random."""
    learning_rate: float = 1.0
    """α."""
    seed: int = 0
    """Of all random numbers."""


QUICK = Config(tasks=20)


def run(config: Config = Config(), workers: int = 2, progress: Progress | None = None) -> Result:
    """Run the experiment: one row per random task, with the largest gap over all starts."""
    world = FourRooms(40)
    names = list(world.tasks)

    def learned(i: int) -> Array:
        run = goal_oriented_q_learning(
            world.tasks[names[i]],
            Stop(steps=config.learning_steps),
            settings=Settings(config.learning_rate, config.epsilon),
            seed=seed_of(config.seed, 0, i),
            r_bar_min=R_BAR_MIN,
        )
        return finished(run).q

    values = spread(learned, range(len(names)), workers=workers, progress=part(progress, 0.0, 0.3))
    tables = dict(zip(names, values, strict=True))
    bounds = shifted_bounds(tables[names[0]], world.tasks[names[0]])
    rng = np.random.default_rng(seed_of(config.seed, 1))
    goal_sets = list(rng.random((config.tasks, world.space.mdp.n_goals)) < 0.5)

    def judged(desired: BoolArray) -> tuple[str, int, float, bool]:
        task = world.space.from_desired(desired)
        q_bar = compose(expression_of(task, world.tasks, as_sum), tables, bounds)
        gap = float(gaps(task, greedy(q_bar)).max())
        bits = "".join("1" if one else "0" for one in desired)
        return f"b{bits}", int(desired.sum()), gap, gap <= EXACT

    rows = spread(judged, goal_sets, workers=workers, progress=part(progress, 0.3, 1.0))
    return Result.of_rows(NAME, config, ("goals", "n_goals", "largest_gap", "optimal"), rows)
