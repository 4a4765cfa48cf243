"""`taskalgebra check`: which assumptions of the paper a world meets, and where it breaks them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.text import Text

from taskalgebra import files
from taskalgebra.apps.cli.commands import (
    Failure,
    GoalReward,
    Json,
    Quiet,
    Seed,
    Slip,
    Tasks,
    Touch,
    WorldArgument,
    in_options,
)
from taskalgebra.apps.cli.exit_codes import FAILED, OK
from taskalgebra.apps.cli.output import OPENING, Output
from taskalgebra.skills import catalogue

if TYPE_CHECKING:
    from taskalgebra.theory.findings import AssumptionReport
    from taskalgebra.theory.goal_env import GoalEnv

EXAMPLES = (
    ("check", "Four Rooms meets them all"),
    ("check four-rooms --slip 0.1", "with slips, Lemma 1 does not hold"),
    ("check maze.txt", "a map of your own"),
    (f"check {catalogue.SHIPPED[-1]}", "a video game, on one layout"),
)


def check(
    world: WorldArgument = catalogue.DEFAULT,
    tasks: Tasks = None,
    slip: Slip = 0.0,
    goal_reward: GoalReward = None,
    touch: Touch = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Test the paper's assumptions on a world, and its rewards.

    The exit code is 1 if a finding fails. A world with random layouts is tested on the layout
    of the seed.
    """
    output = Output(json, quiet)
    with output.progress(OPENING):
        report, layout = _examined(
            world,
            tasks or [],
            seed,
            slip_probability=slip,
            goal_reward=goal_reward,
            touch=touch,
        )
    rows: list[list[str | Text]] = [
        [
            Text(finding.word, {"holds": "green", "FAILS": "bold red"}.get(finding.word, "")),
            finding.name,
            finding.paper,
            in_options(finding.detail),
        ]
        for finding in report.findings
    ]
    output.table({"": "left", "assumption": "left", "paper": "left", "found": "left"}, rows)
    output.line(report.verdict)
    if layout:
        output.line(layout)
    output.figures({"world": world, **report.as_dict()})
    return OK if report.holds else FAILED


def _examined(
    name: str, tasks: list[str], seed: int, **options: Any
) -> tuple[AssumptionReport, str]:
    """The findings, and a note on the layout that was examined."""
    env: GoalEnv | None
    if name not in catalogue.ENTRIES and files.at(name).is_dir():
        skills = catalogue.open_skills(name, tasks=tasks, **options)
        env, space, base = skills.env, skills.space, skills.tasks
    else:
        env = catalogue.open_world(name, **options)
        space, base = env.space, catalogue.base_tasks(name, env, tasks)
    if space.finite:
        return space.check(base), ""
    layout = None if env is None else env.one_layout(seed)
    if env is None or layout is None:
        raise Failure(f"{name} is known only by playing it, so nothing can be checked")
    from taskalgebra.skills.shown.seen import on_layout

    own = {  # tasks that end only in their own goals have a world each
        each: replace(found.mdp, goal_reward=task.goal_reward)
        for each, task in base.items()
        if (found := env.one_layout(seed, task)) is not None
    }
    note = "" if layout.fixed else f"Layouts are random; this is the layout of seed {seed}."
    return on_layout(layout.mdp, space).check(own), note
