"""Section 4.2: "having trained on only two tasks", all 16 are solved, each exactly optimally.

Only `top` and `left` are learned, sparse and with shared absorbing states.  Q̄_U and Q̄_∅ follow from
the first table by Corollary 1.  Every composed policy is evaluated exactly, from every start.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskalgebra.evaluation.exact import policy_return
from taskalgebra.paper.experiments.rooms import (
    BASE,
    EXACT,
    SIXTEEN,
    Learning,
    Setting,
    compose_actions,
    shifted_bounds,
)
from taskalgebra.paper.results.parallel import Progress, seed_of, spread
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.planning.exact import optimal_v

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


def run(config: Config = Config(), workers: int = 2, progress: Progress | None = None) -> Result:
    """Run the experiment: one row a seed and task, with the largest gap over all starts."""
    world = Setting().world()
    tasks = [world.find_task(expression) for expression in SIXTEEN]
    starts = world.space.mdp.starts
    optima = [optimal_v(task)[starts] for task in tasks]

    def gaps(number: int) -> list[float]:
        tables = {
            name: config.learn(Setting(), name, seed_of(config.seed, number, i))[0]
            for i, name in enumerate(BASE)
        }
        bounds = shifted_bounds(tables[BASE[0]], world.find_task(BASE[0]))
        policies = compose_actions(SIXTEEN, tables, bounds)
        return [
            float((optimum - policy_return(task, actions)[starts]).max())
            for task, optimum, actions in zip(tasks, optima, policies, strict=True)
        ]

    found = spread(gaps, range(config.seeds), workers=workers, progress=progress)
    rows = [
        (number, str(expression), gap, gap <= EXACT)
        for number, all_gaps in enumerate(found)
        for expression, gap in zip(SIXTEEN, all_gaps, strict=True)
    ]
    table = Table.of_rows(("seed", "task", "largest_gap", "optimal"), rows)
    return Result(NAME, as_json(config), {NAME: table})
