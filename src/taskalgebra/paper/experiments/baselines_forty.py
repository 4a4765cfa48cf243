"""What others do, with 40 goals: every baseline but one on tasks of three kinds.

Six base tasks tell the 40 goals of Four Rooms apart.  Learning from scratch would need 2⁴⁰ tables,
and is left out.  Each other method learns its tables by interaction, until they are exact, and then
acts on

| kind     | tasks                                                                       |
|----------|-----------------------------------------------------------------------------|
| `random` | random sets of goals, each goal with probability ½, as in `optimal_forty`   |
| `or`     | all disjunctions of base tasks, single ones included                        |
| `and`    | all conjunctions of two or more base tasks that desire a goal               |

Agents are judged as in `baselines`, from every start.  One row per method and kind:

| column                   | what                                                              |
|--------------------------|-------------------------------------------------------------------|
| `tasks`, `expressible`   | tasks of this kind, and for how many the method has an agent      |
| `optimal`                | of these, those with the optimal return, every start and run      |
| `gap`, `worst_gap`       | V*_M − return: mean over tasks, starts and runs, and the largest  |
| `failure_rate`           | share of starts that end in a wrong goal or not at all            |
| `n_tables`, `n_entries`  | what the method learns                                            |
| `samples`, `samples_sd`  | environment steps for all its tables                              |
| `runs`, `converged`      | runs, and those in which every table became exact                 |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from taskalgebra.baselines.catalogue import ALL
from taskalgebra.baselines.plain import FromScratch
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import parse
from taskalgebra.paper.experiments.command import command
from taskalgebra.paper.experiments.judging import Judge, Score, plain, scores_of
from taskalgebra.paper.results.record import Result
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.base_tasks import expression_of
from taskalgebra.validation import count

NAME = "baselines_forty"
RESULTS = Path("results/tabular")
METHODS = tuple(method for method in ALL if method is not FromScratch)
COLUMNS = (
    "method",
    "kind",
    "tasks",
    "expressible",
    "optimal",
    "gap",
    "worst_gap",
    "failure_rate",
    "n_tables",
    "n_entries",
    "samples",
    "samples_sd",
    "runs",
    "converged",
)


@dataclass(frozen=True)
class Config:
    """How often to learn, and what to judge."""

    runs: int = 5
    """Independent runs of every method."""
    tasks: int = 100
    """Random sets of goals."""
    learning_steps: int = 10_000_000
    """Steps after which a table is used as it is."""
    max_steps: int = 100
    """Steps after which an episode is cut off, the terminal one included."""
    seed: int = 0
    """All randomness comes from this number."""

    def __post_init__(self) -> None:
        """Refuse numbers that are not counts."""
        for name in ("runs", "tasks", "learning_steps", "max_steps"):
            count(getattr(self, name), name)


QUICK = Config(runs=1, tasks=4, learning_steps=5_000, max_steps=30)


class _Run(NamedTuple):
    """One method in one run."""

    n_tables: int
    n_entries: int
    n_samples: int
    converged: bool
    scores: tuple[Score | None, ...]  # one per task; None where it is not expressible


def kinds(world: FourRooms, n_random: int, seed: int) -> dict[str, list[Expression]]:
    """The tasks of each kind, as expressions over the base tasks."""
    rng = np.random.default_rng(seed)
    sets = rng.random((n_random, world.space.mdp.n_goals)) < 0.5
    names = list(world.tasks)
    some = [group for n in range(1, len(names) + 1) for group in combinations(names, n)]
    conjunctions = [parse(" & ".join(group)) for group in some if len(group) > 1]
    return {
        "random": [expression_of(world.space.from_desired(s), world.tasks) for s in sets],
        "or": [parse(" | ".join(group)) for group in some],
        "and": [e for e in conjunctions if world.find_task(e).desired.any()],
    }


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Learn with every baseline and judge it on all tasks."""
    _, tasks, judges = _judges(config)
    cells = [(config, m, i) for m in range(len(METHODS)) for i in range(config.runs)]
    found = [
        _Run._make((*row[:-1], scores_of(row[-1]))) for row in sweep.map(_learn_and_judge, cells)
    ]
    rows = []
    for m, method in enumerate(METHODS):
        runs = found[m * config.runs : (m + 1) * config.runs]
        for kind in dict.fromkeys(kind for kind, _ in tasks):
            own = [k for k, (of, _) in enumerate(tasks) if of == kind]
            rows.append((method.title, kind, *_judged(own, judges, runs), *_costs(runs)))
    return Result.of_rows(NAME, config, COLUMNS, rows)


@lru_cache(2)
def _judges(config: Config) -> tuple[FourRooms, list[tuple[str, Expression]], list[Judge]]:
    """The world, the tasks with their kinds, and their judges; made once in each process."""
    world = FourRooms(40)
    asked = kinds(world, config.tasks, seed_of(config.seed, 1))
    tasks = [(kind, e) for kind, expressions in asked.items() for e in expressions]
    return world, tasks, [Judge(world.find_task(e), config.max_steps) for _, e in tasks]


def _learn_and_judge(cell: tuple[Config, int, int]) -> tuple[Any, ...]:
    """Learn once with a method: what it took, and the scores on all tasks."""
    config, m, i = cell
    world, tasks, judges = _judges(config)
    method = METHODS[m](max_steps=config.learning_steps)
    learned = method.learn(world.space, world.tasks, seed=seed_of(config.seed, 0, i))
    scores = [judge.score(learned, e) for judge, (_, e) in zip(judges, tasks, strict=True)]
    costs = (learned.n_tables, learned.n_entries, learned.n_samples, learned.converged)
    return (*costs, plain(scores))


def _judged(
    own: list[int], judges: list[Judge], runs: list[_Run]
) -> tuple[int, int, int, float, float, float]:
    """From `tasks` to `failure_rate`."""
    able = [k for k in own if runs[0].scores[k] is not None]
    scores = {k: [score for one in runs if (score := one.scores[k]) is not None] for k in able}
    optimal = sum(all(score.optimal for score in scores[k]) for k in able)
    if not able:
        return len(own), 0, 0, np.nan, np.nan, np.nan
    every = [(k, score) for k in able for score in scores[k]]
    gap = float(np.mean([judges[k].optimum.mean() - score.mean for k, score in every]))
    worst = max(score.worst_gap for _, score in every)
    failures = float(np.mean([score.failure_rate for _, score in every]))
    return len(own), len(able), optimal, gap, worst, failures


def _costs(runs: list[_Run]) -> tuple[int, int, float, float, int, int]:
    """From `n_tables` to `converged`."""
    samples = np.array([one.n_samples for one in runs], np.float64)
    deviation = float(samples.std(ddof=1)) if len(runs) > 1 else 0.0
    first = runs[0]
    mean = float(samples.mean())
    exact = sum(one.converged for one in runs)
    return first.n_tables, first.n_entries, mean, deviation, len(runs), exact


def summary(result: Result) -> str:
    """The result as a small table."""
    lines = [
        f"{'method':38}{'kind':>8}{'can':>9}{'optimal':>9}{'gap':>8}{'worst':>8}{'fails':>9}"
        f"{'tables':>8}{'numbers':>11}{'samples':>12}"
    ]
    for row in result.table.rows():
        able = f"{row['expressible']}/{row['tasks']}"
        lines.append(
            f"{row['method']:38}{row['kind']:>8}{able:>9}{row['optimal']:9}"
            f"{row['gap'] + 0.0:8.3f}{row['worst_gap'] + 0.0:8.2f}"
            f"{100 * row['failure_rate']:7.1f} %{row['n_tables']:8}{row['n_entries']:11,}"
            f"{row['samples']:12,.0f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    command(Config, lambda config, _: run(config), out=RESULTS, text=summary)
