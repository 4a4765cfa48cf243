"""Streams of tasks in Four Rooms with 40 goals: how many are learned, and how good the rest are.

Tasks arrive one after another, each a random set of n goals.  `lifelong` composes those that
are expressions over the tasks learned before.  Base tasks are planned, or learned by Algorithm 1;
every composed agent is compared with the optimum of its task, exactly and from every start.

With slips Q̄ still composes exactly, but Lemma 1 fails: an agent that heads for the best goal may
earn less than one that decides on a goal later.  Agents are then planned twice, with the penalty of
Definition 2 and with the mildest one, r_∅.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.learning.learner import Learner
from taskalgebra.learning.planned import Planner
from taskalgebra.learning.tabular import QLearning
from taskalgebra.logic.expression import Expression, Name
from taskalgebra.paper.claims.verdicts import Claim, judged
from taskalgebra.paper.results.record import Result, Table
from taskalgebra.planning.exact import optimal_v
from taskalgebra.skills.lifelong import Met, lifelong
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.base_tasks import goals_by_label
from taskalgebra.theory.lifelong_bounds import tasks_learned_bounds
from taskalgebra.theory.rewards import r_bar_min_of

NAME = "lifelong"
ITSELF, USEFUL = "the task itself", "the most useful task"
PLANNED, LEARNED = "planned", "learned"
DEFINITION, MILD = "Definition 2", "r_∅"
EXACT = 1e-9
"""A return closer to the optimum than this is optimal."""
DIGITS = 12
"""Decimals that are kept."""
ONE_STEP = 0.1
"""What a step costs."""
COLUMNS = (
    *("values", "slip", "penalty", "base_task", "n_desired", "stream", "seen"),
    *("composed", "n_learned", "n_labels", "n_names", "steps", "optimum", "mean_loss", "most_lost"),
)


@dataclass(frozen=True)
class Config:
    """Random streams of tasks, and what base tasks are made of."""

    tasks: int = 200
    """Tasks of a stream."""
    n_desired: tuple[int, ...] = (20, 4, 1)
    """Goals that tasks desire, of 40; each number makes a kind of stream."""
    streams: int = 5
    """Streams of each kind with planned base tasks."""
    learned_streams: int = 1
    """Streams of each kind with learned base tasks."""
    learning_steps: int = 400_000
    """Steps to learn each table for."""
    slips: tuple[float, ...] = (0.1, 0.3)
    """How often a move goes astray, beside the world without slips."""
    slippery_streams: int = 1
    """Streams of each kind with slips."""
    seed: int = 0
    """Of all random numbers."""


QUICK = Config(
    tasks=15,
    n_desired=(20, 1),
    streams=2,
    learned_streams=1,
    learning_steps=100_000,
    slips=(0.1,),
    slippery_streams=1,
)


@dataclass(frozen=True)
class Stream:
    """One stream of tasks, and how base tasks are got."""

    values: str
    slip: float
    penalty: str
    base_task: str
    n_desired: int
    number: int


def streams(config: Config) -> Iterator[Stream]:
    """All that are run."""
    for n_desired in config.n_desired:
        for base_task in (ITSELF, USEFUL):
            for number in range(config.streams):
                yield Stream(PLANNED, 0.0, DEFINITION, base_task, n_desired, number)
        for number in range(config.learned_streams):
            yield Stream(LEARNED, 0.0, DEFINITION, ITSELF, n_desired, number)
        for slip in config.slips:
            for penalty in (DEFINITION, MILD):
                for number in range(config.slippery_streams):
                    yield Stream(PLANNED, slip, penalty, ITSELF, n_desired, number)


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: one row for each task of each stream."""
    done = sweep.map(_rows, [(config, stream) for stream in streams(config)])
    return Result.of_rows(NAME, config, COLUMNS, [row for rows in done for row in rows])


def _rows(cell: tuple[Config, Stream]) -> list[tuple[object, ...]]:
    config, stream = cell
    world = FourRooms(40, slip_probability=stream.slip)
    learner: Learner = QLearning(steps=config.learning_steps)
    if stream.values == PLANNED:
        mild = stream.penalty == MILD
        low = float(world.space.r_empty.min()) if mild else r_bar_min_of(world.space)
        learner = Planner(r_bar_min=low)
    life = lifelong(
        world, learner=learner, most_useful=stream.base_task == USEFUL, seed=stream.number
    )
    rng = np.random.default_rng(seed_of(config.seed, stream.n_desired, stream.number))
    rows: list[tuple[object, ...]] = []
    what = (stream.values, stream.slip, stream.penalty, stream.base_task)
    for seen in range(1, config.tasks + 1):
        goals = rng.choice(world.space.n_goals, stream.n_desired, replace=False)
        met = life.meet(world.space.task(np.sort(goals).tolist()))
        n_labels = len(goals_by_label(life.skills.tasks))
        known = (int(met.composed), life.n_learned, n_labels, n_names(met.expression), met.steps)
        rows.append((*what, stream.n_desired, stream.number, seen, *known, *_losses(met)))
    return rows


def n_names(expression: Expression) -> int:
    """The names in an expression, each as often as it occurs."""
    parts, names = [expression], 0
    while parts:
        part = parts.pop()
        names += isinstance(part, Name)
        parts += part.operands
    return names


def _losses(met: Met) -> tuple[float, float, float]:
    """The mean optimum over all starts, and the mean and the largest loss of the agent."""
    task = met.agent.task
    starts = task.space.mdp.starts
    best = optimal_v(task)[starts]
    lost = best - policy_return(task, met.agent.actions)[starts]
    mean, loss, most = (
        round(float(each), DIGITS) for each in (best.mean(), lost.mean(), lost.max())
    )
    return mean, loss + 0.0, most + 0.0  # no −0


def judge(result: Result) -> Iterator[Claim]:
    """The bounds, agents without slips, and what slips cost."""
    table = result.table
    yield _bounds(table)
    yield _optimal(table)
    yield _useful(table)
    yield _slips(table)


def _bounds(table: Table) -> Claim:
    low, high = tasks_learned_bounds(40)
    learned, told = table["n_learned"], table["n_labels"] == 40
    within = (learned <= high) & (~told | (learned >= low))
    finished = learned[told]
    least, most = (finished.min(), finished.max()) if finished.size else (0, 0)
    return judged(
        "SOPGOL",
        f"Between ⌈log₂ 40⌉ = {low} and {high} tasks are learned before all tasks of 40 goals can "
        f"be composed.",
        f"{learned.max()} at most after {table['seen'].max()} tasks; {least} to {most} where all "
        f"goals are told apart; within the bounds in {within.sum()} of {within.size} rows",
        bool(within.all() and finished.size),
        "The bounds are broken, or no stream told all goals apart.",
    )


def _optimal(table: Table) -> Claim:
    calm = table.where(slip=0.0, composed=1)
    lost = calm["most_lost"]
    good = int((lost <= EXACT).sum())
    return judged(
        "Corollary 2",
        "Without slips every composed agent is optimal, from every start.",
        f"{good:,} of {lost.size:,} composed agents, {calm.where(values=LEARNED).n_rows:,} of them "
        f"from learned base tasks",
        bool(lost.size and good == lost.size),
        f"Some lose up to {lost.max(initial=0.0):.3g}.",
    )


def _useful(table: Table) -> Claim:
    calm = table.where(slip=0.0, values=PLANNED, seen=table["seen"].max())
    means = {each: calm.where(base_task=each)["n_learned"].mean() for each in (ITSELF, USEFUL)}
    return judged(
        "Ours",
        "Fewer tasks are learned if the most useful base task is, rather than the task itself.",
        f"{means[USEFUL]:.1f} against {means[ITSELF]:.1f} tasks, on average over all streams",
        bool(means[USEFUL] < means[ITSELF]),
        "They are not fewer.",
    )


def _slips(table: Table) -> Claim:
    parts, small = [], []
    for slip in [slip for slip in table.distinct("slip") if slip > 0]:
        for penalty in (DEFINITION, MILD):
            rows = table.where(slip=slip, penalty=penalty, composed=1)
            if not rows.n_rows:
                continue
            lost, best = float(rows["mean_loss"].mean()), float(rows["optimum"].mean())
            optimal = int((rows["most_lost"] <= EXACT).sum())
            parts.append(
                f"slip {slip:g}, r̄_MIN of {penalty}: {lost:.5f} of {best:.3f} on average, "
                f"{rows['most_lost'].max(initial=0.0):.3f} at most, {optimal:,} of {rows.n_rows:,} "
                f"optimal"
            )
            small.append(lost < ONE_STEP)
    return judged(
        "Ours",
        f"With slips composed agents lose less than the cost of one step, {ONE_STEP:g}, on "
        f"average.",
        "; ".join(parts),
        bool(small and all(small)),
        "They lose more.",
    )
