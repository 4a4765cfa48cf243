"""`taskalgebra list`: worlds, skills, tasks and figures by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from taskalgebra.apps import desired_names
from taskalgebra.apps.cli.commands import Json, Quiet, WorldOption
from taskalgebra.apps.cli.exit_codes import OK
from taskalgebra.apps.cli.output import OPENING, Output
from taskalgebra.folder import MANIFEST
from taskalgebra.skills import catalogue

if TYPE_CHECKING:
    from taskalgebra.theory.tasks import Task

MOST = 8
"""Goals that are named before the rest is only counted."""
EXAMPLES = (
    ("list", "worlds, skills, and figures to reproduce"),
    ("list tasks", "the tasks and goals of Four Rooms"),
    ("list tasks --world maze.txt", "those of a map of your own"),
    ("list figures --json", "figures as JSON, for a script"),
)


def list_(
    what: Annotated[
        Literal["all", "worlds", "skills", "tasks", "figures"],
        typer.Argument(metavar="worlds|skills|tasks|figures", help="What to list."),
    ] = "all",
    world: WorldOption = catalogue.DEFAULT,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """List worlds, skills, tasks, and figures to reproduce."""
    output = Output(json, quiet)
    document: dict[str, Any] = {}
    if what in ("all", "worlds"):
        document["worlds"] = _worlds(output)
    if what in ("all", "skills"):
        document["skills"] = _skills(output)
    if what == "tasks":
        document |= _tasks(output, world)
    if what in ("all", "figures"):
        document["figures"] = _figures(output, all_=what == "all")
    if what == "all":
        output.line("More: taskalgebra list tasks --world NAME")
    output.figures(document)
    return OK


def _worlds(output: Output) -> list[dict[str, Any]]:
    entries = list(catalogue.ENTRIES.values())
    output.table(
        {"world": "left", "what it is": "left", "goals": "right", "base tasks": "left"},
        [[e.name, e.title, str(e.n_goals), ", ".join(e.tasks)] for e in entries],
        title="Worlds, for --world (or a text file with a map)",
    )
    return [
        {"name": e.name, "title": e.title, "n_goals": e.n_goals, "base_tasks": e.tasks}
        for e in entries
    ]


def _skills(output: Output) -> list[dict[str, Any]]:
    saved = sorted(path.parent for path in Path().glob(f"*/{MANIFEST}"))
    found = [(name, "networks that come with the library") for name in catalogue.SHIPPED]
    found += [(str(path), "saved in this directory") for path in saved]
    output.table(
        {"skills": "left", "where from": "left"},
        found,
        title="Skills, for --world (all other worlds are planned on the spot)",
    )
    return [{"name": name, "about": about} for name, about in found]


def _tasks(output: Output, world: str) -> dict[str, Any]:
    from taskalgebra.logic.text import quote
    from taskalgebra.validation import listed

    with output.progress(OPENING):
        goals, named, base = _goals_and_tasks(world)
    wants = {name: desired_names(task) for name, task in named.items()}
    output.table(
        {"task": "left", "": "left", "wants": "left"},
        [
            [quote(name), "base task" if name in base else "", listed(some, MOST)]
            for name, some in wants.items()
        ],
        title=f"Tasks of {world}",
    )
    output.line(f"Goals: {listed(goals, MOST)}")
    return {"world": world, "goals": goals, "base_tasks": base, "tasks": wants}


def _goals_and_tasks(world: str) -> tuple[list[str], dict[str, Task], list[str]]:
    if world not in catalogue.ENTRIES and Path(world).is_dir():
        skills = catalogue.open_skills(world)
        return list(skills.space.goal_names), skills.tasks, list(skills)
    opened = catalogue.open_world(world)
    base = catalogue.base_tasks(world, opened)
    return list(opened.space.goal_names), {**base, **opened.tasks}, list(base)


def _figures(output: Output, *, all_: bool) -> dict[str, list[str]]:
    from taskalgebra.paper.reproduce import figures_of

    found = figures_of("all")
    output.table(
        {"part": "left", "figure": "left"},
        [[half, ", ".join(names)] for half, names in found.items()]
        if all_
        else [[half, name] for half, names in found.items() for name in names],
        title="Figures, for: taskalgebra reproduce FIGURE",
    )
    return found
