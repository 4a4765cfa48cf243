"""`taskalgebra solve`: compose an agent for an expression, and show what it does."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taskalgebra import files
from taskalgebra.apps.cli.commands import (
    GAME,
    GAME_TASK,
    Episodes,
    Failure,
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
from taskalgebra.apps.cli.evaluate import document, played
from taskalgebra.apps.cli.exit_codes import OK
from taskalgebra.apps.cli.output import OPENING, Output
from taskalgebra.extras import missing
from taskalgebra.skills import catalogue

if TYPE_CHECKING:
    from taskalgebra.apps.cli.solution import Cell, Episode, Solution
    from taskalgebra.evaluation.record import Evaluation
    from taskalgebra.skills.temporal import TemporalAgent

KINDS = (".png", ".svg", ".pdf", ".gif")
EXAMPLES = (
    ('solve "top ^ left"', "a top room or a left room, but not both"),
    ('solve "~(x1 | x2)" --world forty-goals --save out.png', "with a picture in a file"),
    ('solve "A & ~B" --world maze.txt --start 1,5', "on a map of your own, from one cell"),
    (f'solve "{GAME_TASK}" --world {GAME.name} --save out.gif', "from pixels, with a film"),
    ('solve "a -> b" -t a=top_left,top_right -t b=top_left', "with base tasks of your own"),
    ('solve "top_left then bottom_right" --start 1,9', "first this, then that"),
)


def _cell(text: str | None) -> Cell | None:
    if text is None:
        return None
    row, _, column = text.partition(",")
    if not (row.strip().isdecimal() and column.strip().isdecimal()):
        raise typer.BadParameter(
            f"{text!r} is not a cell; write ROW,COLUMN, such as 1,5", param_hint="--start"
        )
    return int(row), int(column)


def _picture_file(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in KINDS:
        raise typer.BadParameter(f"{path} should end in {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    return path if path is None else files.at(path)


def solve(
    expression: Annotated[
        str,
        typer.Argument(
            metavar="EXPR",
            help="A task over base tasks, with & | ~ ^ -> <-> and parentheses; over time with F G "
            "U X, or eventually, always, until, then, avoid.",
        ),
    ],
    world: WorldOption = catalogue.DEFAULT,
    tasks: Tasks = None,
    slip: Slip = 0.0,
    goal_reward: GoalReward = None,
    touch: Touch = False,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="ROW,COL",
            help="Show an episode from this cell; 0,0 is the top left corner, in the "
            "wall around the map if there is one.",
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=_picture_file,
            dir_okay=False,
            help="Write a picture (.png, .svg, .pdf) or a film of the agent (.gif); for a formula "
            "over time .svg is its automaton.",
        ),
    ] = None,
    improve: Improve = False,
    episodes: Episodes = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compose an agent for a task and show what it does, without any learning.

    Prints the value and the action of every cell, and the return next to the optimum.
    """
    cell = _cell(start)
    if save is not None and find_spec("matplotlib") is None:
        raise Failure(missing("--save", "matplotlib", "figures"))
    output = Output(json, quiet)
    with output.progress(OPENING):
        skills = catalogue.open_skills(
            world,
            tasks=tasks or (),
            slip_probability=slip,
            goal_reward=goal_reward,
            touch=touch,
            expressions=[expression],
        )
        from taskalgebra.apps.cli.solution import solution_of
        from taskalgebra.skills.agent import Agent

        agent = agent_of(skills, expression, improve)
        if isinstance(agent, Agent):
            solution = solution_of(agent, seed)
            first = None if cell is None else solution.state_at(cell)
    if not isinstance(agent, Agent):
        return _over_time(
            output, agent, cell, save, episodes or usual_episodes(skills), seed, world
        )
    found = played(output, [agent], episodes or usual_episodes(skills), seed)[0]
    with output.progress("drawing"):
        episode = solution.play(first, seed) if cell is not None or save is not None else None
        if save is not None:
            from taskalgebra.apps.cli.pictures import save_picture

            assert episode is not None
            save_picture(solution, episode, save, seed=None if cell is not None else seed)
    _show(output, solution, found)
    if episode is not None and cell is not None:
        _show_episode(output, solution, episode)
    if save is not None:
        output.line(f"saved     {save}")
    output.figures(_document(solution, found, world, episode if cell else None, save))
    return OK


def _over_time(
    output: Output,
    agent: TemporalAgent,
    cell: Cell | None,
    save: Path | None,
    episodes: int,
    seed: int,
    world: str,
) -> int:
    """The same for a formula over time."""
    from taskalgebra.apps.cli import over_time

    if save is not None:
        over_time.check_file(agent, save)
    walk = None if cell is None else over_time.walk_from(agent, cell, seed)
    found = played(output, [agent], episodes, seed)[0]
    if save is not None:
        with output.progress("drawing"):
            from taskalgebra.apps.cli.pictures import save_formula

            save_formula(agent, save, walk, seed)
    over_time.show(output, agent, found, walk)
    if save is not None:
        output.line(f"saved     {save}")
    output.figures(
        {
            "world": world,
            **document(agent, found),
            **over_time.document(agent, found, walk),
            "saved": None if save is None else str(save),
        }
    )
    return OK


def _show(output: Output, solution: Solution, found: Evaluation) -> None:
    if not output.text:
        return
    from taskalgebra.logic.formulas import in_short
    from taskalgebra.validation import listed

    agent = solution.agent
    names = solution.desired_names
    output.line(f"task      {agent.expression}")
    short = in_short(agent.expression)
    if short != agent.expression:
        output.line(f"in short  {short}")
    output.line(f"wants     {listed(names, 8) or 'no goal'}")
    _draw(output, solution)
    cut = f", {found.unfinished} cut off" if found.unfinished else ""
    known = found.optimal_return == found.optimal_return
    optimum = f", optimum {found.optimal_return:.4f}" if known else ""
    optimum = f" ± {found.standard_error:.4f}{optimum}" if found.by_chance else optimum
    success = f" from random starts, {100 * found.success_rate:.1f} % in a desired goal"
    output.line(
        f"return    {found.mean_return:.4f}{optimum}   ({found.episodes:,} episodes{success}{cut})"
    )
    n, n_starts = solution.n_optimal, len(solution.task.space.mdp.starts)
    starts = "every start" if n == n_starts else f"{n} of {n_starts} starts"
    where = " of this layout" if solution.layout is not None else ""
    output.line(f"optimal   from {starts}{where}")
    if n != n_starts and found.certificate:
        output.line(f"certified {in_options(found.certificate)}")
    if found.note:
        output.line(f"note      {in_options(found.note)}")


def _draw(output: Output, solution: Solution) -> None:
    """The map, if the terminal is wide enough."""
    import numpy as np

    from taskalgebra.drawing.board import layout
    from taskalgebra.drawing.terminal import legend, picture

    mdp = solution.task.space.mdp
    if mdp.cells is None:
        return
    width = 3 * layout(mdp)[0].shape[1]
    output.line()
    if width > output.width:
        output.line(
            f"the map is {width} columns wide, the terminal {output.width}; "
            f"draw it with --save FILE.png"
        )
    else:
        colour = output.colour
        output.ansi(picture(solution.task, solution.values, solution.actions, colour=colour))
        live = solution.values[~mdp.is_goal]
        known = live[np.isfinite(live)]
        if known.size:
            output.ansi(legend(float(known.min()), float(known.max()), colour=colour))
    output.line()


def _show_episode(output: Output, solution: Solution, episode: Episode) -> None:
    mdp = solution.task.space.mdp
    row, column = episode.cells(solution)[0].tolist()
    end = "no goal, given up" if episode.goal < 0 else mdp.goal_names[episode.goal]
    output.line(
        f"episode   from {row},{column} to {end} in {len(episode.actions)} steps, return "
        f"{episode.total:.4f}, optimum {episode.optimum:.4f}"
    )
    ended = episode.goal >= 0
    taken = episode.actions[:-1] if ended else episode.actions
    shown = [*taken[:40], *(["…"] if len(taken) > 40 else [])]
    if ended:
        shown.append("(then any action ends it, and is paid)")
    output.line(f"          {' '.join(shown)}")


def _document(
    solution: Solution,
    found: Evaluation,
    world: str,
    episode: Episode | None,
    save: Path | None,
) -> dict[str, Any]:
    from taskalgebra.logic.formulas import in_short

    agent, mdp = solution.agent, solution.task.space.mdp
    live = [int(s) for s in range(mdp.n_states) if not mdp.is_goal[s]]
    return {
        "world": world,
        **document(agent, found),
        "simplified": str(in_short(agent.expression)),
        "desired": solution.desired_names,
        "n_expressible": agent.skills.n_expressible,
        "starts": len(mdp.starts),
        "optimal_starts": solution.n_optimal,
        "cells": None if mdp.cells is None else mdp.cells[live],
        "values": solution.values[live],
        "actions": [mdp.action_names[a] for a in solution.actions[live]],
        "episode": None
        if episode is None
        else {
            "cells": episode.cells(solution),
            "actions": episode.actions,
            "steps": len(episode.actions),
            "return": episode.total,
            "optimum": episode.optimum,
            "goal": None if episode.goal < 0 else mdp.goal_names[episode.goal],
        },
        "saved": None if save is None else str(save),
    }
