"""`taskalgebra evaluate`: how good composed agents are, beside the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from taskalgebra.apps.cli import OK
from taskalgebra.apps.cli.commands import (
    GAME,
    GAME_TASK,
    Episodes,
    Json,
    Quiet,
    Seed,
    Slip,
    Tasks,
    WorldOption,
    usual_episodes,
)
from taskalgebra.apps.cli.output import Output
from taskalgebra.skills import catalogue

if TYPE_CHECKING:
    from taskalgebra.evaluation.record import Evaluation
    from taskalgebra.skills.agent import Agent
    from taskalgebra.skills.skills import Skills

MOST = 256
"""Tasks that `--all` is willing to play."""
EXAMPLES = (
    ('evaluate "top & left" "top ^ left"', "two tasks of Four Rooms"),
    ("evaluate --all", "all 16 tasks of Four Rooms"),
    ("evaluate --world rooms", "the base tasks of skills that were saved in rooms/"),
    (f'evaluate "{GAME_TASK}" --world {GAME.name} --episodes 1000 --json', "networks, as JSON"),
)


def evaluate(
    expressions: Annotated[
        list[str] | None,
        typer.Argument(metavar="EXPR", help="Tasks; by default the base tasks."),
    ] = None,
    world: WorldOption = catalogue.DEFAULT,
    tasks: Tasks = None,
    slip: Slip = 0.0,
    all_: Annotated[
        bool, typer.Option("--all", help="Every task that the base tasks can express.")
    ] = False,
    episodes: Episodes = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Play episodes of tasks, and compare returns with the optimum."""
    if all_ and expressions:
        raise typer.BadParameter("--all takes every task; leave the expressions out")
    output = Output(json, quiet)
    from taskalgebra.logic.text import quote

    with output.waiting("opening the world; the first time, kernels are compiled"):
        skills = catalogue.open_skills(world, tasks=tasks or (), slip_probability=slip)
        wanted = expressions or [quote(name) for name in skills]
        agents = _all_agents(skills) if all_ else [skills[text] for text in wanted]
    n_episodes = episodes or usual_episodes(skills)
    found = played(output, agents, n_episodes, seed)
    show(output, agents, found)
    output.figures(
        {
            "world": world,
            "episodes": n_episodes,
            "seed": seed,
            "tasks": [document(agent, one) for agent, one in zip(agents, found, strict=True)],
        }
    )
    return OK


def _all_agents(skills: Skills) -> list[Agent]:
    """An agent for each different task."""
    from taskalgebra.logic.formulas import all_functions

    if skills.n_expressible > MOST or len(skills) > 4:
        raise ValueError(
            f"these base tasks express {skills.n_expressible:,} tasks; --all plays at most {MOST}, "
            f"give expressions instead"
        )
    different: dict[bytes, Agent] = {}
    for function in all_functions(list(skills)):
        if function not in skills:
            continue
        agent = skills[function]
        key = agent.task.goal_reward.tobytes()
        simpler = key not in different or len(str(function)) < len(str(different[key].expression))
        if simpler:
            different[key] = agent
    return list(different.values())


def played(output: Output, agents: list[Agent], episodes: int, seed: int) -> list[Evaluation]:
    """Play episodes of each agent, with a progress bar."""
    found = []
    with output.progress("playing") as meter:
        for i, agent in enumerate(agents):
            meter(i / len(agents), f"playing {str(agent.expression)[:30]}")
            found.append(agent.evaluate(episodes=episodes, seed=seed))
    return found


def show(output: Output, agents: list[Agent], found: list[Evaluation]) -> None:
    """Print one line per task."""
    columns = {
        "task": "left",
        "wants": "right",
        "return": "right",
        "± s.e.": "right",
        "optimum": "right",
        "success": "right",
        "steps": "right",
    }
    cut = any(one.unfinished for one in found)
    if cut:
        columns["cut off"] = "right"
    rows = []
    for agent, one in zip(agents, found, strict=True):
        space = agent.task.space
        row = [
            str(agent.expression),
            f"{int(agent.task.desired.sum())} of {space.n_goals}",
            f"{one.mean_return:.4f}",
            _number(one.standard_error),
            _number(one.optimal_return),
            f"{100 * one.success_rate:.1f} %",
            f"{one.mean_steps:.1f}",
        ]
        rows.append([*row, str(one.unfinished)] if cut else row)
    output.table(columns, rows)


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.4f}"


def document(agent: Agent, one: Evaluation) -> dict[str, Any]:
    """What `--json` says of a task."""
    names = agent.task.space.goal_names
    return {
        "expression": str(agent.expression),
        "desired": [name for name, d in zip(names, agent.task.desired, strict=True) if d],
        "mean_return": one.mean_return,
        "standard_error": one.standard_error,
        "optimal_return": one.optimal_return,
        "success_rate": one.success_rate,
        "mean_steps": one.mean_steps,
        "unfinished": one.unfinished,
        "episodes": one.episodes,
    }
