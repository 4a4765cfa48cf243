"""A world and an expression in, the composed agent in every cell out.

Values are composed by Definition 4 from those of the base tasks.  The optimum beside them is that
of the composed task itself, from its rewards: it composes nothing, so that the page shows Theorem 3
rather than assumes it.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from taskalgebra.algebra import Array
from taskalgebra.expression import Expression, parse
from taskalgebra.extended import compose
from taskalgebra.graph import BoolArray
from taskalgebra.playground.expressions import (
    MOST_OPERATORS,
    count_tasks,
    desired_of,
    read_expression,
    simplified,
    truth_table,
)
from taskalgebra.playground.python_lines import world_lines
from taskalgebra.playground.schema import SolveRequest
from taskalgebra.playground.worlds import PlannedWorld, WorldCache
from taskalgebra.policy import greedy

DECIMALS = 10
"""Of values in answers: enough for any reward, and 1.1 is not written 1.0999999999999999."""


def solve(request: SolveRequest, worlds: WorldCache) -> bytes:
    """The answer to a request, as JSON."""
    start = time.perf_counter()
    world = worlds.planned(request.world)
    tasks, names = list(world.tasks), world.space.goal_names
    expression = read_expression(request.expression, tasks)
    wanted = desired_of(expression, world.tasks, len(names))
    short = simplified(expression)
    v_bar = _composed(world, expression, short)
    values, actions = _act(world, v_bar)
    optimum = _optimum(world, wanted)
    answer: dict[str, Any] = {
        "expression": request.expression,
        "simplified": short,
        "desired": [name for name, one in zip(names, wanted, strict=True) if one],
        "values": _on_map(world, values),
        "actions": _digits_on_map(world, actions),
        "optimum": _on_map(world, optimum),
    }
    if request.slices:
        answer["slices"] = [
            {"goal": name, "values": _on_map(world, _slice(world, v_bar, g))}
            for g, name in enumerate(names)
        ]
    document, seen = request.world, values[world.ending]
    answer |= {
        "truth_table": truth_table(expression, tasks, names, world.labels),
        "n_tasks": count_tasks(len(tasks), world.labels),
        "rewards": {
            "step": document.step_reward,
            "desired": document.r_universal,
            "other": document.step_reward if document.r_empty is None else document.r_empty,
        },
        "range": [round(float(seen.min()), DECIMALS), round(float(seen.max()), DECIMALS)],
        "python": world_lines(document, request.expression),
        "milliseconds": round(1e3 * (time.perf_counter() - start), 3),
    }
    return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)


def _composed(world: PlannedWorld, expression: Expression, short: str) -> Array:
    """V̄(s, g) of the expression, `[G, S]`, from those of the base tasks (Definition 4)."""
    if len(expression.steps_over(world.tasks)) > MOST_OPERATORS:
        expression = parse(short)
    return compose(expression, world.values, world.bounds)


def _act(world: PlannedWorld, v_bar: Array) -> tuple[Array, NDArray[np.int64]]:
    """V and the greedy action in every free cell, from Q(s, a) = r_step + max_g V̄(s', g)."""
    q = _step_reward(world) + v_bar.max(axis=0)[world.next_state]  # [A, free cells]
    values: Array = q.max(axis=0)
    values[~world.ending] = np.nan
    return values, greedy(np.ascontiguousarray(q.T)[:, None, :])


def _slice(world: PlannedWorld, v_bar: Array, goal: int) -> Array:
    """max_a Q̄(s, g, a) of one goal in every free cell; NaN where the goal cannot be reached."""
    best: Array = _step_reward(world) + v_bar[goal][world.next_state].max(axis=0)
    best[np.isneginf(world.to_goal[goal, : best.size])] = np.nan
    return best


def _step_reward(world: PlannedWorld) -> float:
    return float(world.space.mdp.step_reward[0, 0])


def _optimum(world: PlannedWorld, wanted: BoolArray) -> Array:
    """V*(s) in every free cell: the best over goals of the way there and the task's reward."""
    space = world.space
    reward = np.where(wanted, space.r_universal, space.r_empty)
    best: Array = (world.to_goal + reward[:, None]).max(axis=0)[: world.ending.size]
    best[~world.ending] = np.nan
    return best


def _on_map(world: PlannedWorld, values: Array) -> Array:
    """[cells], numbers of free cells put on the map; NaN, in JSON null, where there is none."""
    on_map = np.full(world.n_cells, np.nan)
    on_map[world.cell_of_state] = values.round(DECIMALS)
    return on_map


def _digits_on_map(world: PlannedWorld, actions: NDArray[np.int64]) -> orjson.Fragment:
    """[cells], the actions as JSON, null where no goal can be reached; as bytes, for speed."""
    digits = np.full((world.n_cells, 2), ord(","), np.uint8)
    digits[:, 0] = ord("n")
    digits[world.cell_of_state, 0] = np.where(world.ending, ord("0") + actions, ord("n"))
    return orjson.Fragment(b"[" + digits.tobytes()[:-1].replace(b"n", b"null") + b"]")
