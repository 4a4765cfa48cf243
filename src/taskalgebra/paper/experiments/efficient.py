"""Cheaper than the paper: steps to master all 2^40 tasks of Four Rooms, and what each idea saves.

Ours, and so named in every figure; the paper stops at Algorithm 1.  A row counts the environment
steps until the tables of the six base tasks, and of M_U and M_∅, are within a tolerance of Q̄* in
every state, goal and action.  All 2^40 tasks follow by composition.

- `paper`: plain Q-learning on *one* single-goal task (run i learns goal i modulo 40), and
  Algorithm 1 on the six base tasks, one after the other; neither learns M_U and M_∅.
- `added`: to Algorithm 1, one idea after the other; see `learning.few_steps`.  The last
  but one is ours.  The last also assumes that r(g, a) does not depend on a.
- `removed`: from ours, one idea at a time.  With one stream there is no second task to start, so
  that idea counts only where the stream is gone.

There are 720 pairs of a state and an action, and each of 40 goals must be entered five times to see
what its five last actions pay: no agent needs fewer than 720 + 40·4 = 880 steps.  Without replay
the count ends when an examiner, who knows Q̄*, finds no entry wrong, as in the paper.  With replay
it ends when the agent itself knows that it is done; the tables are then compared with Q̄*.

    python -m taskalgebra.paper.experiments.efficient          # all 100 runs, into results/tabular
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning.few_steps.master import Ideas, Mastery, master
from taskalgebra.learning.q_learning import Settings
from taskalgebra.paper.experiments.command import command
from taskalgebra.paper.experiments.rooms import R_BAR_MIN, planned
from taskalgebra.paper.experiments.sample_counts import Measure
from taskalgebra.paper.results.labels import ADDED, ONE_TASK, OURS, PAPER, REMOVED
from taskalgebra.paper.results.record import Result
from taskalgebra.planning.exact import optimal_q
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count

NAME = "efficient"
RESULTS = Path("results/tabular")
ALGORITHM_1 = "Algorithm 1, six base tasks"
CONSTANTS = Settings(learning_rate=1.0, epsilon=1.0)
"""α and ε of the paper."""
RUNS_AT_ONCE = 5
"""Runs that are one cell."""

AGENTS: tuple[tuple[str, str, Ideas | None], ...] = (
    (PAPER, ONE_TASK, None),
    (PAPER, ALGORITHM_1, None),
    (ADDED, "+ second from first", Ideas(one_stream=False, replay=False, explore=False)),
    (ADDED, "+ one stream", Ideas(replay=False, explore=False)),
    (ADDED, "+ replay", Ideas(explore=False)),
    (ADDED, OURS, Ideas()),
    (ADDED, "+ one reward per goal", Ideas(one_reward_per_goal=True)),
    (REMOVED, "without one stream", Ideas(one_stream=False)),
    (REMOVED, "without one stream, second from first", Ideas(one_stream=False, warm_start=False)),
    (REMOVED, "without replay", Ideas(replay=False)),
    (REMOVED, "without exploring", Ideas(explore=False)),
)
"""Kind, name and ideas, in the order of the table; the learners of the paper have no ideas."""


@dataclass(frozen=True)
class Config(Measure):
    """Master the 40-goal world with each set of ideas, many times."""


QUICK = Config(runs=2)


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: one row per agent and run."""
    jobs = [(agent, i) for agent in range(len(AGENTS)) for i in range(count(config.runs, "runs"))]
    firsts = range(0, len(jobs), RUNS_AT_ONCE)
    found = sweep.map(_steps, [(config, tuple(jobs[i : i + RUNS_AT_ONCE])) for i in firsts])
    steps = [n for block in found for n in block]
    rows = [(*AGENTS[agent][:2], i, n) for (agent, i), n in zip(jobs, steps, strict=True)]
    return Result.of_rows(NAME, config, ("kind", "idea", "run", "steps"), rows)


def _steps(cell: tuple[Config, tuple[tuple[int, int], ...]]) -> list[int]:
    """The steps of some runs, each of an agent."""
    config, jobs = cell
    return [_steps_of(config, AGENTS[agent][2], AGENTS[agent][1], i) for agent, i in jobs]


def _steps_of(config: Config, ideas: Ideas | None, name: str, i: int) -> int:
    """The steps of one run: of one task, of six, or of all with some ideas."""
    world, optimum = _known(replace(config, runs=1, seed=0))
    space = world.space
    if ideas is None and name == ONE_TASK:
        task = space.task([i % space.mdp.n_goals])
        return config.steps(task, optimal_q(task), seed_of(config.seed, i), CONSTANTS)
    if ideas is None:
        return sum(
            config.steps(task, optimum[task], seed_of(config.seed, i, k), CONSTANTS)
            for k, task in enumerate(world.tasks.values())
        )
    mastery = master(
        space,
        world.tasks,
        seed=seed_of(config.seed, i),
        ideas=ideas,
        r_bar_min=R_BAR_MIN,
        optimum=optimum,
        tolerance=config.tolerance,
    )
    _require_exact(mastery, optimum, config.tolerance)
    return mastery.n_steps


@lru_cache(2)
def _known(config: Config) -> tuple[FourRooms, dict[Task, Array]]:
    """The world and the exact tables of its base tasks and bounds; planned once in each process."""
    world = config.world(40)
    tasks = (*world.tasks.values(), world.space.universal, world.space.empty)
    return world, {task: planned(task) for task in tasks}


def _require_exact(mastery: Mastery, optimum: dict[Task, Array], tolerance: float) -> None:
    """Examine an agent that believes that it is done."""
    family = mastery.family
    tables = {t: q.table for t, q in zip(family.tasks.values(), family.values, strict=True)}
    tables[family.space.universal] = family.bounds.tables.universal
    tables[family.space.empty] = family.bounds.tables.empty
    error = max(float(np.abs(table - optimum[task]).max()) for task, table in tables.items())
    if not mastery.finished or not error <= tolerance:
        raise RuntimeError(f"{mastery!r} is off the optimum by {error:g}; this is a bug")


def summary(result: Result) -> str:
    """Mean and standard deviation of the steps of each agent, as text."""
    lines = []
    for name in result.table.distinct("idea"):
        steps = result.table.where(idea=name)["steps"]
        spread_of_runs = steps.std(ddof=1) if steps.size > 1 else 0.0
        lines.append(f"{name:<38} {steps.mean():>9,.0f} ± {spread_of_runs:,.0f}")
    return "\n".join(lines)


if __name__ == "__main__":
    command(Config, lambda config, _: run(config), out=RESULTS, text=summary)
