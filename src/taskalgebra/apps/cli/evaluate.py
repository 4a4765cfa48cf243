"""`taskalgebra evaluate`: the returns of composed agents, compared with the optimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taskalgebra.apps import desired_names
from taskalgebra.apps.cli.commands import (
    GAME,
    GAME_TASK,
    Episodes,
    GoalReward,
    Improve,
    Json,
    Quiet,
    Seed,
    Slip,
    Tasks,
    Touch,
    WorldOption,
    agent_of,
    in_options,
    usual_episodes,
)
from taskalgebra.apps.cli.exit_codes import OK
from taskalgebra.apps.cli.output import OPENING, Output
from taskalgebra.progress import Event
from taskalgebra.skills import catalogue

if TYPE_CHECKING:
    from taskalgebra.evaluation.record import Evaluation
    from taskalgebra.skills.agent import Agent
    from taskalgebra.skills.skills import Skills
    from taskalgebra.skills.temporal import TemporalAgent

MOST = 256
"""Tasks that `--all` plays at most."""
EXAMPLES = (
    ('evaluate "top & left" "top ^ left"', "two tasks of Four Rooms"),
    ("evaluate --all", "all 16 tasks of Four Rooms"),
    ("evaluate --world rooms", "the base tasks of skills saved in rooms/"),
    (f'evaluate "{GAME_TASK}" --world {GAME.name} --episodes 1000 --json', "networks, as JSON"),
)


def evaluate(
    expressions: Annotated[
        list[str] | None,
        typer.Argument(metavar="EXPR", help="Tasks to play; by default the base tasks."),
    ] = None,
    world: WorldOption = catalogue.DEFAULT,
    tasks: Tasks = None,
    slip: Slip = 0.0,
    goal_reward: GoalReward = None,
    touch: Touch = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Play every task that the base tasks express.")
    ] = False,
    improve: Improve = False,
    episodes: Episodes = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Play episodes of tasks, and compare their returns with the optimum."""
    if all_ and expressions:
        raise typer.BadParameter("--all plays every task; leave the expressions out")
    output = Output(json, quiet)
    from taskalgebra.logic.text import quote

    with output.progress(OPENING):
        skills = catalogue.open_skills(
            world,
            tasks=tasks or (),
            slip_probability=slip,
            goal_reward=goal_reward,
            touch=touch,
            expressions=expressions or (),
        )
        texts = expressions or [quote(name) for name in skills]
        if all_:
            texts = [str(agent.expression) for agent in _all_agents(skills)]
        agents = [agent_of(skills, text, improve) for text in texts]
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
            f"these base tasks express {skills.n_expressible:,} tasks; --all plays at most {MOST}; "
            f"give expressions instead"
        )
    different: dict[bytes, Agent] = {}
    for function in all_functions(list(skills)):
        if function not in skills:
            continue
        agent = skills.for_task(function)
        known = different.setdefault(agent.task.goal_reward.tobytes(), agent)
        if len(str(function)) < len(str(known.expression)):
            different[agent.task.goal_reward.tobytes()] = agent
    return list(different.values())


def played(
    output: Output, agents: Sequence[Agent | TemporalAgent], episodes: int, seed: int
) -> list[Evaluation]:
    """Play episodes of each agent, and show how far that is."""
    found = []
    with output.progress("playing") as meter:
        for i, agent in enumerate(agents):

            def told(event: Event, i: int = i, what: str = str(agent.expression)[:30]) -> None:
                meter(Event(what, (i + event.share) / len(agents)))

            found.append(agent.evaluate(episodes=episodes, seed=seed, listener=told))
    return found


def show(output: Output, agents: Sequence[Agent | TemporalAgent], found: list[Evaluation]) -> None:
    """Print one line per task."""
    numbers = ["wants", "return", "± s.e.", "optimum", "success", "steps"]
    cut = any(one.unfinished for one in found)
    columns = {"task": "left"} | dict.fromkeys([*numbers, "cut off"] if cut else numbers, "right")
    rows = [
        [
            str(agent.expression),
            _wants(agent),
            f"{one.mean_return:.4f}",
            _number(one.standard_error),
            _number(one.optimal_return),
            f"{100 * one.success_rate:.1f} %",
            f"{one.mean_steps:.1f}",
            *([str(one.unfinished)] if cut else []),
        ]
        for agent, one in zip(agents, found, strict=True)
    ]
    output.table(columns, rows)
    for agent, one in zip(agents, found, strict=True):
        if one.certificate:
            output.line(f"{agent.expression}: {in_options(one.certificate)}")
    for agent, one in zip(agents, found, strict=True):
        if one.note:
            output.line(f"{agent.expression}: {in_options(one.note)}")


def _wants(agent: Agent | TemporalAgent) -> str:
    from taskalgebra.skills.temporal import TemporalAgent

    if isinstance(agent, TemporalAgent):
        return "over time"
    return f"{int(agent.task.wanted.sum())} of {agent.task.space.n_goals}"


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.4f}"


def document(agent: Agent | TemporalAgent, one: Evaluation) -> dict[str, Any]:
    """What `--json` prints about a task."""
    from taskalgebra.skills.temporal import TemporalAgent

    desired = None if isinstance(agent, TemporalAgent) else desired_names(agent.task)
    figures = one.to_dict(rows=False)
    figures["sampled"] = not figures.pop("exact")  # "exact" would seem to be about the agent
    return {"expression": str(agent.expression), "desired": desired} | figures
