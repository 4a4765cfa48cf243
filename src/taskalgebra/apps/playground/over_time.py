"""A formula over time: its automaton, and what the agent does in each state of it.

The automaton is made first, and refused if it is too large.  A plan is used for one answer and not
kept: its product with the world may take more memory than the skills themselves.  The optimum is
that of the product, so that the page shows that the composed agent is optimal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import taskalgebra as ta
from taskalgebra.apps.playground.cells import Cells, ends
from taskalgebra.apps.playground.losses import improvement, loss_of_formula
from taskalgebra.apps.playground.nodes import ways
from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.apps.playground.schema import MAX_PAIRS, MAX_STATES, SolveRequest
from taskalgebra.apps.playground.subject import Subject
from taskalgebra.arrays import Array, LongArray
from taskalgebra.logic.formulas import in_short
from taskalgebra.planning.feasible import from_here
from taskalgebra.planning.temporal import Labelled
from taskalgebra.skills.plans import labelled, planned
from taskalgebra.skills.temporal import TemporalAgent
from taskalgebra.skills.ways import Ways

MAX_REASONS = 16
"""Reasons that are written out why some cells have no way; each is a search."""
MARKS = {"◆": "leads on", "×": "violates", "◇": "neither"}


def answer(
    subject: Subject, formula: ta.Expression, request: SolveRequest
) -> tuple[dict[str, Any], str]:
    """The parts of a `FormulaAnswer`, and the calls on the agent as a program.

    Raises:
        RefusedError: the automaton is too large, or the formula can never be satisfied.
    """
    text, cells = request.expression, subject.cells
    agent = _agent(subject.skills, formula, cells)
    if request.improve:
        agent = agent.improve()
    automaton, certificate = agent.automaton, agent.certificate()
    start = int(automaton.start)
    shown = [_state(agent, u, cells) for u in np.flatnonzero(automaton.running).tolist()]
    known = np.concatenate([one["values"] for one in shown])
    first = next(one["values"] for one in shown if one["state"] == start)
    inside = ~subject.skills.space.mdp.is_goal[: cells.n_free]
    able = np.isfinite(first[cells.free])
    short = str(in_short(formula))
    n_all = int(inside.sum())
    lost = n_all - int((able & inside).sum())
    found_answer = {
        "expression": text,
        "simplified": short if len(short) <= len(text) else text.strip(),
        "automaton": {
            "start": start,
            "states": [
                {"accepting": accepting, "dead": dead}
                for accepting, dead in zip(
                    automaton.accepting.tolist(), automaton.dead.tolist(), strict=True
                )
            ],
            "svg": automaton.svg(),
        },
        "states": shown,
        "optimum": cells.values(agent.plan.product.values[start]),
        "impossible": _impossible(agent, first, cells),
        "optimal": certificate.optimal,
        "certificate": certificate.method,
        "loss": loss_of_formula(agent, cells),
        "rewards": {"step": subject.rewards["step"], "success": agent.plan.success},
        "range": ends(known) if np.isfinite(known).any() else None,
        "notes": [_lost(lost, n_all, cells.each)] if lost else [],
    }
    if request.improve:
        found_answer["improvement"] = improvement(agent.improvement)
    return found_answer, _calls(text, improve=request.improve) + subject.shown("agent.picture()")


def _agent(skills: ta.Skills, formula: ta.Expression, cells: Cells) -> TemporalAgent:
    """The agent for a formula whose automaton is small enough."""
    if skills.space.mdp.resumes is None:
        raise RefusedError(
            "formulas over time need to know where episodes go on after a goal, and this world "
            "does not say; write a task without F, G, X, U and then",
            "expression",
        )
    try:
        found = labelled(formula, skills.tasks, skills.space)
    except ta.ExpressionError as error:
        raise _refused(error.reason.partition(";")[0]) from None
    n, running = found.automaton.n_states, int(found.automaton.running.sum())
    if n > MAX_STATES:
        raise _refused(
            f"the automaton of this formula has {n:,} states, and the playground shows up to "
            f"{MAX_STATES}"
        )
    if running * cells.n > MAX_PAIRS:
        pairs = f"{cells.n:,} {cells.each}s times {running} states of the automaton"
        raise _refused(f"{pairs} exceed {MAX_PAIRS:,}", ", or draw a smaller map")
    if skills.space.mdp.deterministic:
        found_ways = Ways.of(skills.family, skills.env)
    else:  # the product is planned, which needs no returns to goals
        found_ways = Ways(skills.family.to_goals(), None)
    try:
        plan = planned(formula, skills.tasks, skills.family, found_ways, found)
    except ValueError as error:
        reason = str(error).removeprefix(str(formula))  # which may be long
        raise RefusedError(f"this formula {reason.strip()}", "expression") from None
    return TemporalAgent(skills, formula, plan)


def _refused(what: str, more: str = "") -> RefusedError:
    return RefusedError(f"{what}; write a shorter formula{more}", "expression")


def _lost(n: int, n_all: int, each: str) -> str:
    if n == n_all:
        return f"the formula cannot be satisfied from any {each}."
    return f"the formula cannot be satisfied from {n:,} of {n_all:,} {each}s."


def _state(agent: TemporalAgent, u: int, cells: Cells) -> dict[str, Any]:
    """What the agent does while the automaton is in a state."""
    values, actions = agent.table(u)
    on_map = cells.values(values)
    after: Labelled = agent.plan.labelled
    return {
        "state": u,
        "values": on_map,
        "actions": cells.choices(actions, on_map),
        "goals": [MARKS[sign] for sign in agent.signs(u)],
        "after_goal": after.at_goal[u].tolist(),
        "after_none": int(after.at_none[u]),
    }


def _impossible(agent: TemporalAgent, values: Array, cells: Cells) -> dict[str, Any]:
    """Why the formula cannot be satisfied from some cells; goals of tables are no such places.

    Cells with ways to the same goals have the same reason.
    """
    mdp = agent.skills.family.space.mdp
    states = np.flatnonzero(~np.isfinite(values[cells.free]) & ~mdp.is_goal[: cells.n_free])
    reasons: list[str] = []
    number: LongArray = np.full(cells.n_free, -1)
    if states.size:
        there = ways(mdp)
        between = np.where(there[mdp.after_goals], 0.0, -np.inf)
        kinds, place, counts = np.unique(
            there[states], axis=0, return_inverse=True, return_counts=True
        )
        order = np.argsort(-counts, kind="stable")
        for kind in order[:MAX_REASONS]:
            row = np.where(kinds[kind], 0.0, -np.inf)
            names = agent.skills.family.space.goal_names
            reasons.append(from_here("here", row, between, agent.plan.labelled, names))
        if len(kinds) > MAX_REASONS:
            reasons.append("from here there is no way")
        rank = np.empty(len(kinds), np.int64)
        rank[order] = np.arange(len(kinds)).clip(max=MAX_REASONS)
        number[states] = rank[place.ravel()]
    shown = np.full(cells.n, np.nan)
    shown[cells.free] = np.where(number >= 0, 0.0, np.nan)
    return {"reasons": reasons, "cells": cells.choices(number, shown)}


def _calls(text: str, *, improve: bool) -> str:
    """The calls on the agent as a program."""
    return f"""agent = skills[{text!r}]{".improve()" if improve else ""}
automaton = agent.automaton
tables = {{
    state: agent.table(state) for state in range(automaton.n_states) if automaton.running[state]
}}
optimum = agent.plan.product.values[automaton.start]
print(automaton)
"""
