"""A Boolean formula node by node: the agent of every subformula, with the slices of its Q̄."""

from __future__ import annotations

from operator import and_, invert, or_, xor
from typing import Any

import numpy as np

import taskalgebra as ta
from taskalgebra.apps import desired_names
from taskalgebra.apps.playground.cells import Cells
from taskalgebra.apps.playground.schema import MAX_NODE_VALUES, MAX_NODES
from taskalgebra.arrays import Array, BoolArray
from taskalgebra.logic.expression import FALSE, TRUE, Name
from taskalgebra.logic.steps import operand_places, steps
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.graph import can_reach

OPERATORS: dict[str, Any] = {"and": and_, "or": or_, "xor": xor, "not": invert}


def composition(
    skills: ta.Skills, expression: ta.Expression, cells: Cells, reached: BoolArray
) -> dict[str, Any] | None:
    """All nodes of an expression, operands first; None if they are too many.

    Args:
        skills: those of the base tasks.
        expression: over base tasks.
        cells: what is shown.
        reached: `[S, G]`, whether there is a way to each goal.
    """
    todo = steps(expression)
    if len(todo) > MAX_NODES or len(todo) * cells.n * reached.shape[1] > MAX_NODE_VALUES:
        return None
    formulas: list[ta.Expression] = []
    nodes = []
    for step in todo:
        kind, content, _ = step
        places = operand_places(step)
        if kind == "name":
            formulas.append(Name(content))
        elif kind == "constant":
            kind = "true" if content else "false"
            formulas.append(TRUE if content else FALSE)
        else:
            formulas.append(OPERATORS[kind](*(formulas[place] for place in places)))
        agent = skills.for_task(formulas[-1])
        nodes.append(
            {
                "text": str(formulas[-1]),
                "operator": "task" if kind == "name" else kind,
                "children": places,
                "desired": desired_names(agent.task),
                "values": cells.values(agent.v),
                "slices": slices(agent, cells, reached),
            }
        )
    return {"nodes": nodes}


def slices(agent: ta.Agent, cells: Cells, reached: BoolArray) -> list[dict[str, Any]]:
    """max_a Q̄(s, g, a) of every goal; null where there is no way to it."""
    n_states, names = len(reached), agent.task.space.goal_names
    values: Array = np.where(reached, agent.q_bar(np.arange(n_states)).max(axis=2), np.nan)
    return [{"goal": name, "values": cells.values(values[:, g])} for g, name in enumerate(names)]


def ways(mdp: FiniteMDP) -> BoolArray:
    """[S, G], whether some policy may reach each goal."""
    offset, state, _ = mdp.predecessors
    return np.stack([can_reach(offset, state, goal[None]) for goal in mdp.goals], axis=1)
