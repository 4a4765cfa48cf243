"""`taskalgebra solve` for a formula over time: its automaton, the map, and an episode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from taskalgebra.apps.cli.commands import in_options
from taskalgebra.apps.cli.output import Output
from taskalgebra.apps.cli.solution import Cell, free_state
from taskalgebra.drawing.board import layout
from taskalgebra.drawing.terminal import legend
from taskalgebra.evaluation.record import Evaluation
from taskalgebra.skills.shown.formula import LEGEND
from taskalgebra.skills.temporal import TemporalAgent
from taskalgebra.skills.walks import Walk

AUTOMATON = ".svg"
"""Files with the automaton; all others show the map."""
MOST_SHOWN = 12
"""States of an automaton that are printed."""


def walk_from(agent: TemporalAgent, cell: Cell, seed: int) -> Walk:
    """An episode from a cell of the map.

    Raises:
        ValueError: there is no such cell, or the formula cannot be satisfied from there.
    """
    space = agent.skills.family.space
    if not space.finite:
        raise ValueError("this world has no map; --start needs one")
    start = free_state(space.mdp, cell)
    why_not = agent.why_not(start)
    if why_not:
        raise ValueError(f"{agent.expression} cannot be satisfied: {why_not}")
    return agent.walk(start, seed=seed)


def check_file(agent: TemporalAgent, path: Path) -> None:
    """Refuse a file for which there is nothing to draw.

    Raises:
        ValueError: it is to show a map, and this world has none.
    """
    if path.suffix.lower() != AUTOMATON and not _on_map(agent):
        raise ValueError(
            f"{path}: this world has no map to draw on; save the automaton of the formula as "
            f"{AUTOMATON}"
        )


def _on_map(agent: TemporalAgent) -> bool:
    space = agent.skills.family.space
    return space.finite and space.mdp.cells is not None


def show(output: Output, agent: TemporalAgent, found: Evaluation, walk: Walk | None) -> None:
    """Print what the agent does."""
    if not output.text:
        return
    output.line(f"task      {agent.expression}")
    output.line(f"automaton {agent.automaton.n_states} states")
    if agent.automaton.n_states <= MOST_SHOWN:
        for line in str(agent.automaton).splitlines():
            output.line(f"          {line}")
    _draw(output, agent)
    cut = f", {found.unfinished} cut off" if found.unfinished else ""
    known = found.optimal_return == found.optimal_return
    optimum = f", optimum {found.optimal_return:.4f}" if known else ""
    output.line(
        f"return    {found.mean_return:.4f}{optimum}   ({found.episodes:,} episodes from random "
        f"starts, {100 * found.success_rate:.1f} % satisfied, {found.mean_steps:.1f} steps{cut})"
    )
    certificate = agent.certificate()
    verdict = "yes" if certificate.optimal else "not known" if certificate.loss is None else "no"
    output.line(f"optimal   {verdict}: {certificate.method}")
    if certificate.loss is not None:
        output.line(f"certified {in_options(found.certificate or str(certificate.loss))}")
    for finding in certificate.findings:
        if not (finding.holds and finding.examined):
            output.line(f"          {finding.detail}")
    if found.note:
        output.line(f"note      {in_options(found.note)}")
    if walk is not None:
        _show_walk(output, agent, walk)


def _draw(output: Output, agent: TemporalAgent) -> None:
    """The map for the first state of the automaton, if the terminal is wide enough."""
    if not _on_map(agent) or 3 * layout(agent.skills.family.space.mdp)[0].shape[1] > output.width:
        return
    output.line()
    output.ansi(agent.picture(colour=output.colour))
    values, _ = agent.table()
    known = values[np.isfinite(values)]
    if known.size:
        output.ansi(
            legend(float(known.min()), float(known.max()), colour=output.colour).replace(
                "◆ desired   ◇ not desired", LEGEND
            )
        )
    output.line()


def _show_walk(output: Output, agent: TemporalAgent, walk: Walk) -> None:
    space = agent.skills.family.space
    names = [space.goal_names[g] for g in walk.goals if g >= 0]
    end = "satisfied" if walk.satisfied else "not satisfied"
    output.line(
        f"episode   {end} after {len(walk.actions)} steps, return {walk.total:.4f}; "
        f"enters {', '.join(names) or 'no goal'}"
    )
    actions = [space.action_names[a] for a in walk.actions]
    output.line(f"          {' '.join([*actions[:40], *(['…'] if len(actions) > 40 else [])])}")


def document(agent: TemporalAgent, found: Evaluation, walk: Walk | None) -> dict[str, Any]:
    """What `--json` prints about a formula over time."""
    automaton, space = agent.automaton, agent.skills.family.space
    certificate = agent.certificate()
    return {
        "automaton": {
            "states": automaton.n_states,
            "letters": [sorted(letter) for letter in automaton.letters],
            "delta": automaton.delta,
            "accepting": automaton.accepting,
            "dead": automaton.dead,
            "start": automaton.start,
        },
        "certificate": {
            "optimal": certificate.optimal,
            "method": certificate.method,
            "findings": {f.name: f.word for f in certificate.findings},
        },
        "episode": None
        if walk is None
        else {
            "cells": None if space.mdp.cells is None else space.mdp.cells[list(walk.states)],
            "actions": [space.action_names[a] for a in walk.actions],
            "goals": [space.goal_names[g] for g in walk.goals if g >= 0],
            "automaton": walk.progress,
            "steps": len(walk.actions),
            "return": walk.total,
            "satisfied": walk.satisfied,
        },
    }
