"""Section 4.2: "having trained on only two tasks", all 16 are solved, each exactly optimally.

Only `top` and `left` are learned, sparse and with shared absorbing states.  Q̄_U and Q̄_∅ follow from
the first table by Corollary 1.  Every composed policy is evaluated exactly, from every start.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskalgebra.paper.experiments.rooms import (
    BASE,
    EXACT,
    SIXTEEN,
    Learning,
    Setting,
    gaps,
    shifted_bounds,
)
from taskalgebra.paper.results.record import Result
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.values import compose

NAME = "optimal_sixteen"


@dataclass(frozen=True)
class _Seeds:
    seeds: int = 100
    """How often the two tables are learned."""


@dataclass(frozen=True)
class Config(Learning, _Seeds):
    """Learn two tables, compose 16 policies, compare each with the exact optimum; many times."""

    seed: int = 0
    """Of all random numbers."""


QUICK = Config(seeds=3)


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: one row per seed and task, with the largest gap over all starts."""
    found = sweep.map(_largest_gaps, [(config, number) for number in range(config.seeds)])
    rows = [
        (number, str(expression), gap, gap <= EXACT)
        for number, all_gaps in enumerate(found)
        for expression, gap in zip(SIXTEEN, all_gaps, strict=True)
    ]
    return Result.of_rows(NAME, config, ("seed", "task", "largest_gap", "optimal"), rows)


def _largest_gaps(cell: tuple[Config, int]) -> list[float]:
    """Learn once, and compare every composed policy."""
    config, number = cell
    world = Setting().world()
    tables = {
        name: config.learn(Setting(), name, seed_of(config.seed, number, i)).q
        for i, name in enumerate(BASE)
    }
    bounds = shifted_bounds(tables[BASE[0]], world.find_task(BASE[0]))
    return [
        float(gaps(world.find_task(e), greedy(compose(e, tables, bounds))).max()) for e in SIXTEEN
    ]
