"""What others do, side by side: every baseline on all 16 tasks of Four Rooms.

Each method learns its tables by interaction and then acts on every expression over top and left.
The agent is evaluated exactly, from every start: no episode is sampled.  An episode is cut off
after `max_steps` steps, and counts with what it earned until then, so that an agent that goes
round forever has a return.  The columns of the table:

| column                     | one row per method and task                                         |
|----------------------------|---------------------------------------------------------------------|
| `goals`                    | the desired ones                                                    |
| `expressible`              | 0 where the method does not define this; then the results are nan   |
| `mean`                     | return of the agent, mean over starts and runs                      |
| `optimum`                  | V*_M, mean over the starts                                          |
| `gap`, `worst_gap`         | V*_M − return: mean, and largest of any start and run               |
| `failure_rate`             | share of starts that fail, in either way:                           |
| `wrong_goal_rate`          | … ends in a goal that is not desired, although one is               |
| `cut_off_rate`             | … does not end within `max_steps`                                   |
| `random_ties_mean`         | mean return if ties between best actions are broken at random       |
| `random_ties_failure_rate` | failures of that agent                                              |
| `optimal_runs`, `runs`     | runs with the optimal return from every start, of how many          |
| `n_tables`, `n_entries`    | what the method learns, for all tasks together                      |
| `samples`, `samples_sd`    | environment steps for all its tables: mean and deviation over runs  |

Ties matter for the average of plain values, which is flat between two goals that pull apart: with
the library's rule (the first of tied actions) the agent is caught there, with random ties it
wanders.  An agent that is right for a reason does not depend on them.

A second table, `baselines_temperature`, says what the methods with a temperature lose with *exact*
tables, at several temperatures: one row for each, over the `tasks` that the method can express.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from taskalgebra.baselines.catalogue import ALL, SOFT
from taskalgebra.baselines.interface import Baseline
from taskalgebra.baselines.linear import SumOfGoals
from taskalgebra.baselines.soft import CorrectedAverage, SoftMaxOfTasks
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.expression import Expression
from taskalgebra.paper.experiments.command import command
from taskalgebra.paper.experiments.judging import Judge, Score, plain, scores_of
from taskalgebra.paper.experiments.rooms import SIXTEEN, marks
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.validation import count

NAME = "baselines"
RESULTS = Path("results/tabular")


@dataclass(frozen=True)
class Config:
    """How often to learn, and how to judge."""

    runs: int = 100
    """Independent runs of every method."""
    seed: int = 0
    """All randomness comes from this number."""
    max_steps: int = 100
    """Steps after which an episode is cut off, the terminal one included."""
    temperatures: tuple[float, ...] = (1.0, 0.3, 0.1, 0.05, 0.03, 0.02, 0.01)
    """τ of the methods that have one, for the second table."""

    def __post_init__(self) -> None:
        """Refuse numbers that are not counts."""
        count(self.runs, "runs")
        count(self.max_steps, "max_steps")


QUICK = Config(runs=3)


class _Run(NamedTuple):
    """One method in one run."""

    n_tables: int
    n_entries: int
    n_samples: int
    scores: tuple[Score | None, ...]  # one per task; None where it is not expressible


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Learn with every baseline and judge it on all 16 tasks."""
    world, judges = _judges(config.max_steps)
    methods = [baseline() for baseline in ALL]
    found = sweep.map(_one_run, [(config, i) for i in range(config.runs)])
    runs = [[_Run._make((*row[:-1], scores_of(row[-1]))) for row in rows] for rows in found]
    rows = [
        _row(method, expression, judge, k, [one[m] for one in runs])
        for m, method in enumerate(methods)
        for k, (expression, judge) in enumerate(zip(SIXTEEN, judges, strict=True))
    ]
    soft = [
        _soft_row(method(temperature=tau), world, judges)
        for method in SOFT
        for tau in config.temperatures
    ]
    tables = {NAME: Table.of_dicts(rows), f"{NAME}_temperature": Table.of_dicts(soft)}
    return Result(NAME, as_json(config), tables)


@lru_cache(2)
def _judges(max_steps: int) -> tuple[FourRooms, list[Judge]]:
    """The world and the judges of its tasks, who judge equal agents once in each process."""
    world = FourRooms()
    return world, [Judge(world.find_task(expression), max_steps) for expression in SIXTEEN]


def _one_run(cell: tuple[Config, int]) -> list[tuple[Any, ...]]:
    """Learn once with every method: what it took, and the scores on all tasks."""
    config, i = cell
    world, judges = _judges(config.max_steps)
    rows = []
    for baseline in ALL:
        learned = baseline().learn(world.space, world.tasks, seed=seed_of(config.seed, i))
        scores = [judge.score(learned, e) for judge, e in zip(judges, SIXTEEN, strict=True)]
        rows.append((learned.n_tables, learned.n_entries, learned.n_samples, plain(scores)))
    return rows


def _soft_row(
    method: SumOfGoals | SoftMaxOfTasks | CorrectedAverage, world: FourRooms, judges: list[Judge]
) -> dict[str, str | int | float]:
    """What exact tables of a temperature lose."""
    solved = method.solve(world.space, world.tasks)
    found = [
        (judge, score)
        for judge, expression in zip(judges, SIXTEEN, strict=True)
        if (score := judge.score(solved, expression)) is not None
    ]
    return {
        "method": method.title,
        "temperature": method.temperature,
        "tasks": len(found),
        "optimal": sum(score.optimal for _, score in found),
        "gap": float(np.mean([judge.optimum.mean() - score.mean for judge, score in found])),
        "worst_gap": max(score.worst_gap for _, score in found),
        "failure_rate": float(np.mean([score.failure_rate for _, score in found])),
    }


def _row(
    method: Baseline, expression: Expression, judge: Judge, k: int, runs: list[_Run]
) -> dict[str, str | int | float]:
    samples = np.array([one.n_samples for one in runs], np.float64)
    scores = [score for one in runs if (score := one.scores[k]) is not None]
    optimum = float(judge.optimum.mean())

    def mean(name: str) -> float:
        return float(np.mean([getattr(s, name) for s in scores])) if scores else np.nan

    return {
        "method": method.title,
        "task": str(expression),
        "goals": marks(judge.task.desired),
        "expressible": int(bool(scores)),
        "mean": mean("mean"),
        "optimum": optimum,
        "gap": optimum - mean("mean"),
        "worst_gap": max((s.worst_gap for s in scores), default=np.nan),
        "failure_rate": mean("failure_rate"),
        "wrong_goal_rate": mean("wrong_goal_rate"),
        "cut_off_rate": mean("cut_off_rate"),
        "random_ties_mean": mean("random_ties_mean"),
        "random_ties_failure_rate": mean("random_ties_failure_rate"),
        "optimal_runs": sum(s.optimal for s in scores),
        "runs": len(runs),
        "n_tables": runs[0].n_tables,
        "n_entries": runs[0].n_entries,
        "samples": float(samples.mean()),
        "samples_sd": float(samples.std(ddof=1)) if len(runs) > 1 else 0.0,
    }


def summary(result: Result) -> str:
    """The result in two small tables: the methods, and the mean return on every task."""
    table = result.table
    methods = table.distinct("method")
    lines = [
        f"{result.config['runs']} runs; 'optimal': tasks with the optimal return from every "
        f"start in every run; 'fails': mean over expressible tasks",
        "",
        f"    {'method':36}{'tables':>7}{'numbers':>9}{'samples':>10}"
        f"{'tasks':>7}{'optimal':>9}{'fails':>9}{'worst gap':>11}",
    ]
    for i, method in enumerate(methods):
        rows = table.where(method=method)
        judged = rows.where(expressible=1)
        optimal = judged["optimal_runs"] == judged["runs"]
        lines.append(
            f"{i + 1:2}  {method:36}{rows['n_tables'][0]:7}{rows['n_entries'][0]:9,}"
            f"{rows['samples'][0]:10,.0f}{judged.n_rows:7}{optimal.sum():9}"
            f"{100 * judged['failure_rate'].mean():7.1f} %{judged['worst_gap'].max() + 0.0:11.2f}"
        )
    lines += [
        "",
        f"{'mean return on':34}{'optimum':>9}"
        + "".join(f"{i + 1:>9}" for i in range(len(methods))),
    ]
    for task in table.distinct("task"):
        rows = table.where(task=task)
        cells = [
            f"{row['mean']:9.3f}" if row["expressible"] else f"{'–':>9}" for row in rows.rows()
        ]
        lines.append(f"{task:34}{rows['optimum'][0]:9.3f}" + "".join(cells))
    return "\n".join(lines)


if __name__ == "__main__":
    command(Config, lambda config, _: run(config), out=RESULTS, text=summary)
