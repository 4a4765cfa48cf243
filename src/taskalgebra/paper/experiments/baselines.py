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
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.baselines.catalogue import ALL
from taskalgebra.baselines.interface import Baseline, Learned, NotExpressible
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.expression import Expression
from taskalgebra.paper.experiments.command import command
from taskalgebra.paper.experiments.rooms import EXACT, SIXTEEN, gaps, marks
from taskalgebra.paper.results.parallel import Progress, seed_of, spread
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.planning.exact import optimal_v
from taskalgebra.theory.tasks import Task
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

    def __post_init__(self) -> None:
        """Refuse numbers that are not counts."""
        count(self.runs, "runs")
        count(self.max_steps, "max_steps")


QUICK = Config(runs=3)


class Score(NamedTuple):
    """One agent on one task, over all starts."""

    mean: float
    worst_gap: float
    wrong_goal_rate: float
    cut_off_rate: float
    random_ties_mean: float
    random_ties_failure_rate: float
    optimal: bool  # whether the return is optimal from every start

    @property
    def failure_rate(self) -> float:
        """Both ways to fail."""
        return self.wrong_goal_rate + self.cut_off_rate


class _Outcome(NamedTuple):
    """What a policy comes to from every state within a number of steps."""

    expected_return: Array  # [S]
    right: Array  # [S], the probability to end in a right goal
    wrong: Array  # [S], the probability to end in another goal


def outcome(task: Task, policy: Array, max_steps: int) -> _Outcome:
    """The exact outcome of a policy, `[S, A]` probabilities, in episodes of at most `max_steps`.

    X ← R_π + P_π X, that many times, for the return and for where episodes end.  In a task that
    desires no goal, any goal is right.
    """
    mdp = task.space.mdp
    n = mdp.n_states
    pair = np.repeat(np.arange(mdp.offset.size - 1), np.diff(mdp.offset))
    weight = policy.ravel()[pair] * mdp.probability
    cell = pair // mdp.n_actions * n + mdp.successor
    transition = np.bincount(cell, weight, n * n).reshape(n, n)
    transition[mdp.goals] = 0.0
    right = task.desired if task.desired.any() else ~task.desired
    now = np.zeros((n, 3))
    now[:, 0] = (policy * task.steps).sum(axis=1)
    now[mdp.goals] = np.stack([task.goal_reward, right, ~right], axis=1)
    result = np.zeros((n, 3))
    for _ in range(max_steps):
        result = now + transition @ result
    return _Outcome(*result.T)


class _Judge:
    """Scores agents on one task; equal agents are judged once."""

    def __init__(self, task: Task, max_steps: int) -> None:
        self.task = task
        self.max_steps = max_steps
        self.starts = task.space.mdp.starts
        self.optimum = optimal_v(task)[self.starts]
        self._known: dict[bytes, Score] = {}

    def score(self, learned: Learned, expression: Expression) -> Score:
        choices = learned.choices(expression)
        key = choices.tobytes()
        if key not in self._known:
            self._known[key] = self._score(choices)
        return self._known[key]

    def _score(self, choices: BoolArray) -> Score:
        actions = choices.argmax(axis=1)
        fixed = np.eye(self.task.space.mdp.n_actions)[actions]
        random_ties = choices / choices.sum(axis=1, keepdims=True)
        first, random = (outcome(self.task, p, self.max_steps) for p in (fixed, random_ties))
        starts = self.starts
        earned, ended = first.expected_return[starts], (first.right + first.wrong)[starts]
        return Score(
            mean=float(earned.mean()),
            worst_gap=float((self.optimum - earned).max()),
            wrong_goal_rate=float(first.wrong[starts].mean()),
            cut_off_rate=float(1.0 - ended.mean()),
            random_ties_mean=float(random.expected_return[starts].mean()),
            random_ties_failure_rate=float(1.0 - random.right[starts].mean()),
            optimal=bool(gaps(self.task, actions).max() <= EXACT),
        )


class _Run(NamedTuple):
    """One method in one run."""

    n_tables: int
    n_entries: int
    n_samples: int
    scores: tuple[Score | None, ...]  # one per task; None where it is not expressible


def run(config: Config = Config(), workers: int = 2, progress: Progress | None = None) -> Result:
    """Learn with every baseline and judge it on all 16 tasks."""
    world = FourRooms()
    judges = [_Judge(world.find_task(expression), config.max_steps) for expression in SIXTEEN]

    def learn_and_judge(method: Baseline, seed: int) -> _Run:
        learned = method.learn(world.space, world.tasks, seed=seed)
        scores: list[Score | None] = []
        for judge, expression in zip(judges, SIXTEEN, strict=True):
            try:
                scores.append(judge.score(learned, expression))
            except NotExpressible:
                scores.append(None)
        return _Run(learned.n_tables, learned.n_entries, learned.n_samples, tuple(scores))

    methods = [baseline() for baseline in ALL]

    def one_run(i: int) -> list[_Run]:
        return [learn_and_judge(method, seed_of(config.seed, i)) for method in methods]

    runs = spread(one_run, range(config.runs), workers=workers, progress=progress)
    rows = [
        _row(method, expression, judge, k, [one[m] for one in runs])
        for m, method in enumerate(methods)
        for k, (expression, judge) in enumerate(zip(SIXTEEN, judges, strict=True))
    ]
    return Result(NAME, as_json(config), {NAME: Table.of_dicts(rows)})


def _row(
    method: Baseline, expression: Expression, judge: _Judge, k: int, runs: list[_Run]
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
