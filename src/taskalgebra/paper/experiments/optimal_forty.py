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
from taskalgebra.paper.results.record import Result
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.base_tasks import as_sum, expression_of
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.values import compose

NAME = "optimal_forty"
SETS_AT_ONCE = 50
"""Sets of goals that are judged in one cell."""


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


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: one row per random task, with the largest gap over all starts."""
    world = FourRooms(40)
    names = list(world.tasks)

    cells = [(config, i) for i in range(len(names))]
    values = sweep.part(0.0, 0.3).map(_learned, cells)
    tables = dict(zip(names, values, strict=True))
    rng = np.random.default_rng(seed_of(config.seed, 1))
    goal_sets = rng.random((config.tasks, world.space.mdp.n_goals)) < 0.5
    firsts = range(0, config.tasks, SETS_AT_ONCE)
    blocks = [(tables, goal_sets[first : first + SETS_AT_ONCE]) for first in firsts]
    rows = [row for rows in sweep.part(0.3, 1.0).map(_judged, blocks) for row in rows]
    return Result.of_rows(NAME, config, ("goals", "n_goals", "largest_gap", "optimal"), rows)


def _learned(cell: tuple[Config, int]) -> Array:
    """The table of one base task."""
    config, i = cell
    run = goal_oriented_q_learning(
        list(FourRooms(40).tasks.values())[i],
        Stop(steps=config.learning_steps),
        settings=Settings(config.learning_rate, config.epsilon),
        seed=seed_of(config.seed, 0, i),
        r_bar_min=R_BAR_MIN,
    )
    return finished(run).q


def _judged(cell: tuple[dict[str, Array], BoolArray]) -> list[tuple[str, int, float, bool]]:
    """Some sets of goals, composed from the tables."""
    tables, goal_sets = cell
    world = FourRooms(40)
    first = next(iter(tables))
    bounds = shifted_bounds(tables[first], world.tasks[first])
    rows = []
    for desired in goal_sets:
        task = world.space.from_desired(desired)
        q_bar = compose(expression_of(task, world.tasks, as_sum), tables, bounds)
        gap = float(gaps(task, greedy(q_bar)).max())
        bits = "".join("1" if one else "0" for one in desired)
        rows.append((f"b{bits}", int(desired.sum()), gap, gap <= EXACT))
    return rows
