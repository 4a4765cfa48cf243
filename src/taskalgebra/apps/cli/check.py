"""`taskalgebra check`: which assumptions of the paper a world keeps, and where it breaks them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from taskalgebra.apps.cli import FAILED, OK
from taskalgebra.apps.cli.commands import Json, Quiet, Seed, Slip, Tasks, WorldArgument
from taskalgebra.apps.cli.output import Output
from taskalgebra.skills import catalogue

if TYPE_CHECKING:
    from taskalgebra.envs.boxman.env import Boxman
    from taskalgebra.theory.assumptions import AssumptionReport
    from taskalgebra.theory.tasks import Task

EXAMPLES = (
    ("check", "Four Rooms keeps them all"),
    ("check four-rooms --slip 0.1", "where moves slip, Theorem 3 does not apply"),
    ("check maze.txt", "a map of your own"),
    ("check boxman-touch", "the game of the supplement, on one layout"),
)


def check(
    world: WorldArgument = catalogue.DEFAULT,
    tasks: Tasks = None,
    slip: Slip = 0.0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Test the paper's assumptions on a world.

    The exit code is 1 if one of them fails. A world with random layouts is tested on the layout of
    the seed.
    """
    output = Output(json, quiet)
    with output.waiting("opening the world; the first time, kernels are compiled"):
        report, layout = _examined(world, tasks or [], slip, seed)
    rows: list[list[str | Text]] = [
        [
            Text("holds", "green") if finding.holds else Text("FAILS", "bold red"),
            finding.name,
            finding.paper,
            finding.detail,
        ]
        for finding in report.findings
    ]
    output.table({"": "left", "assumption": "left", "paper": "left", "found": "left"}, rows)
    output.line(report.verdict)
    if layout:
        output.line(layout)
    output.figures({"world": world, **report.as_dict()})
    return OK if report.holds else FAILED


def _examined(name: str, tasks: list[str], slip: float, seed: int) -> tuple[AssumptionReport, str]:
    """The findings, and what to say of the layout that they are about."""
    from pathlib import Path

    from taskalgebra.envs.boxman.env import Boxman

    if name not in catalogue.ENTRIES and Path(name).is_dir():
        skills = catalogue.open_skills(name, tasks=tasks, slip_probability=slip)
        if not isinstance(skills.world, Boxman):
            return skills.space.check(skills.tasks), ""
        return _on_layout(skills.world, skills.tasks, seed)
    world = catalogue.open_world(name, slip_probability=slip)
    base = catalogue.base_tasks(name, world, tasks)
    if isinstance(world, Boxman):
        return _on_layout(world, base, seed)
    return world.space.check(base), ""


def _on_layout(world: Boxman, tasks: dict[str, Task], seed: int) -> tuple[AssumptionReport, str]:
    """Boxman as a finite world; by touch every task has one of its own."""
    from taskalgebra.envs.boxman.finite import finite_world
    from taskalgebra.theory.tasks import TaskSpace
    from taskalgebra.worlds.finite import FiniteMDP

    world.reset(seed=seed)
    places = world.code[2:]

    def of(task: Task) -> FiniteMDP:
        wanted = world.wanted_by(task)
        mdp = finite_world(world.board, places, by_touch=world.by_touch, wanted=wanted)
        return replace(mdp, goal_reward=task.goal_reward)

    space = TaskSpace(
        finite_world(world.board, places, by_touch=world.by_touch),
        r_universal=world.space.r_universal,
        r_empty=world.space.r_empty,
    )
    report = space.check({name: of(task) for name, task in tasks.items()})
    return report, f"Objects lie anywhere; this is the layout of seed {seed}." * (
        world.places is None
    )
