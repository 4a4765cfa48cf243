"""The slip sweep of Terrés-Caballero and van Hoof (2026, arXiv 2606.04053), exactly.

With a growing probability a move goes in another direction.  Values still compose exactly; what
fails is Lemma 1, since one goal is followed where chance may put another one nearer.  All 16 tasks
of Four Rooms, and of random mazes with four goals, are composed, and no episode is sampled: what
agents earn, the optimum and the bound are computed.

How many samples it takes to mend an agent of learned values is measured in `samples`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from taskalgebra.arrays import BoolArray
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.formulas import all_functions
from taskalgebra.paper.claims.verdicts import Claim, Verdict, judged
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.showcase.trust import samples
from taskalgebra.showcase.trust.claims import bound_claim, improved_claim, sweeps_claim
from taskalgebra.showcase.trust.lakes import both
from taskalgebra.showcase.trust.measures import EXACT, NAMES, measured, row_of
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import ALONE, Sweep

NAME = "slips"
SAMPLES = "slips_samples"
ROOMS, MAZES = "Four Rooms", "mazes"
COLUMNS = ("world", "seed", "slip", "task", *NAMES)
MILD = 0.3
"""The largest slip of the paper's supplement."""
STEP = 0.1
"""What a step costs."""


@dataclass(frozen=True)
class Config(samples.Settings):
    """Which slips, and which worlds."""

    slips: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    """How often a move of Four Rooms goes astray."""
    maze_slips: tuple[float, ...] = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
    """How often a move of a maze goes astray."""
    mazes: int = 10
    """Random mazes."""
    side: int = 10
    """Cells along the side of a maze."""
    walls: int = 35
    """Cells of a maze that are walls."""
    expressions: int = 16
    """Tasks of each world, out of 16."""


QUICK = Config(
    slips=(0.0, 0.3),
    maze_slips=(0.0, 0.3),
    mazes=1,
    side=6,
    walls=8,
    expressions=4,
    sample_slips=(0.3,),
    sample_tasks=("top ^ left",),
    seeds=1,
    episodes=(30,),
)


@dataclass(frozen=True)
class Job:
    """A world with some slips."""

    world: str
    seed: int
    slip: float


def jobs(config: Config) -> Iterator[Job]:
    """All worlds."""
    yield from (Job(ROOMS, 0, slip) for slip in config.slips)
    for seed in range(config.mazes):
        yield from (Job(MAZES, seed, slip) for slip in config.maze_slips)


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: one row for each task of each world and slip; and the samples."""
    done = sweep.part(0.0, 0.5).map(_rows, [(config, job) for job in jobs(config)])
    table = Table.of_rows(COLUMNS, [row for rows in done for row in rows])
    drawn = samples.table(config, sweep.part(0.5, 1.0))
    return Result(NAME, as_json(config), {NAME: table, SAMPLES: drawn})


def _rows(cell: tuple[Config, Job]) -> list[tuple[Any, ...]]:
    config, job = cell
    world = FourRooms(slip_probability=job.slip) if job.world == ROOMS else maze(config, job)
    skills, letter = both(world)
    rows = []
    for expression in list(all_functions(list(world.tasks)))[-config.expressions :]:
        found = measured(skills.for_task(expression), letter.for_task(expression))
        rows.append((job.world, job.seed, job.slip, str(expression), *row_of(found)))
    return rows


def maze(config: Config, job: Job) -> FourRooms:
    """A random maze with four goals: walls are put in as long as all free cells stay connected."""
    rng = np.random.default_rng(seed_of(config.seed, job.seed))
    side = config.side
    free = np.ones((side, side), np.bool_)
    n_walls = 0
    for cell in rng.permutation(side * side).tolist():
        at = divmod(cell, side)
        free[at] = False
        if n_walls < config.walls and _connected(free):
            n_walls += 1
        else:
            free[at] = True
    inside = ["".join("." if cell else "#" for cell in row) for row in free]
    edge = "#" * (side + 2)
    cells = np.argwhere(free)
    places = cells[rng.choice(len(cells), 4, replace=False)] + 1
    goals = {f"goal {i + 1}": (int(row), int(column)) for i, (row, column) in enumerate(places)}
    rows = [edge, *(f"#{row}#" for row in inside), edge]
    return FourRooms(text=rows, goals=goals, slip_probability=job.slip)


def _connected(free: BoolArray) -> bool:
    """Whether every free cell can be reached from every other."""
    cells = set(map(tuple, np.argwhere(free).tolist()))
    waiting = [next(iter(cells))]
    cells.discard(waiting[0])
    while waiting:
        row, column = waiting.pop()
        for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if near in cells:
                cells.remove(near)
                waiting.append(near)
    return not cells


def judge(result: Result) -> Iterator[Claim]:
    """What slips cost, with either penalty, and how it is got back."""
    table = result.table
    yield _calm(table)
    yield _grows(table)
    yield _mild(table)
    yield _letter(table)
    yield bound_claim(table)
    yield improved_claim(table, "of the slip sweep")
    yield sweeps_claim(table, "slip")
    yield from samples.judge(result.tables[SAMPLES])


def _calm(table: Table) -> Claim:
    lost = table.where(slip=0.0)["worst_loss"]
    good = int((lost <= EXACT).sum())
    return judged(
        "Corollary 2",
        "Without slips every composed agent is optimal, from every start.",
        f"{good} of {lost.size} agents",
        bool(lost.size and good == lost.size),
        f"Some lose up to {lost.max(initial=0.0):.3g}.",
    )


def _grows(table: Table) -> Claim:
    rooms = table.where(world=ROOMS)
    slips = sorted(rooms.distinct("slip"))
    means = [float(rooms.where(slip=slip)["mean_loss"].mean()) for slip in slips]
    more = [b > a for a, b in pairwise(means)]
    falls = [f"{slip:g}" for slip, grew in zip(slips[1:], more, strict=True) if not grew]
    said = ", ".join(f"{slip:g}: {lost:.5f}" for slip, lost in zip(slips, means, strict=True))
    return judged(
        "Ours",
        "In Four Rooms composed agents lose the more on average, the more they slip.",
        f"mean over starts and tasks by slip {said}",
        Verdict.of(sum(more), len(more)),
        f"Not at {', '.join(falls)}: above .75 a move goes in each other direction more often than "
        f"in its own, and can be relied on again.",
    )


def _mild(table: Table) -> Claim:
    slippery = [slip for slip in sorted(table.distinct("slip")) if slip > 0]
    worst = {slip: float(table.where(slip=slip)["worst_loss"].max()) for slip in slippery}
    some = [lost for slip, lost in worst.items() if slip <= MILD]
    said = ", ".join(f"{slip:g}: {lost:.3f}" for slip, lost in worst.items())
    return judged(
        "Ours",
        f"Up to a slip of {MILD:g}, the largest in the paper, no composed agent loses as much as "
        f"one step costs, {STEP:g}, from any start.",
        f"worst start of all tasks and worlds by slip {said}",
        bool(some and max(some) < STEP),
        "Some agent loses a step and more.",
    )


def _letter(table: Table) -> Claim:
    slippery = [row for row in table.rows() if row["slip"] > 0]
    pairs = [(row["letter_mean"], row["mean_loss"]) for row in slippery]
    good = sum(letter >= mild - EXACT for letter, mild in pairs)
    letter, mild = (float(np.mean([pair[i] for pair in pairs])) if pairs else 0.0 for i in (0, 1))
    below = [row["slip"] for row in slippery if row["letter_mean"] < row["mean_loss"] - EXACT]
    where = f" (the others at slips {min(below):g} to {max(below):g})" if below else ""
    return judged(
        "Definition 2",
        "The penalty of Definition 2 by its letter loses at least as much as r̄_MIN = r_∅.",
        f"{good} of {len(pairs)} agents{where}; on average {letter:.4f} against {mild:.4f}",
        Verdict.of(good, len(pairs)) if letter > mild else Verdict.FAILS,
        "Not for every task." if letter > mild else "It does not lose more on average.",
    )
