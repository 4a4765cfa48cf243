"""A world and an expression in, the composed agent in every cell out."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from taskalgebra.algebra import Array
from taskalgebra.extended import compose
from taskalgebra.playground.expressions import (
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
    expression = read_expression(request.expression, list(world.tasks))
    space = world.space
    wanted = desired_of(expression, world.tasks, space.n_goals)
    v_bar = compose(expression, world.values, world.bounds)  # [G, S]
    values, actions = _act(world, v_bar)
    names = space.goal_names
    answer: dict[str, Any] = {
        "expression": request.expression,
        "simplified": simplified(expression),
        "desired": [name for name, one in zip(names, wanted, strict=True) if one],
        "values": _on_map(world, values),
        "actions": _digits_on_map(world, actions),
        "optimum": _on_map(world, _optimum(world, wanted)),
    }
    if request.slices:
        answer["slices"] = _slices(world, v_bar)
    document = request.world
    ending = values[world.ending[: values.size]]
    answer |= {
        "truth_table": truth_table(expression, list(world.tasks), names, world.labels),
        "n_tasks": count_tasks(len(world.tasks), world.labels),
        "rewards": {
            "step": document.step_reward,
            "desired": document.r_universal,
            "other": document.step_reward if document.r_empty is None else document.r_empty,
        },
        "range": [_rounded(ending.min()), _rounded(ending.max())],
        "python": world_lines(document, request.expression),
        "milliseconds": round(1e3 * (time.perf_counter() - start), 3),
    }
    return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)


def _act(world: PlannedWorld, v_bar: Array) -> tuple[Array, NDArray[np.int64]]:
    """V and the greedy action in every free cell: Q̄(s, g, a) = r_step + V̄(s', g)."""
    n = world.cell_of_state.size
    ahead = v_bar.max(axis=0)[world.space.mdp.next_state[:n]]  # [S, A]
    q = world.space.mdp.step_reward[:n] + ahead
    values: Array = q.max(axis=1)
    return values, greedy(q[:, None, :])


def _optimum(world: PlannedWorld, wanted: NDArray[np.bool_]) -> Array:
    """V*(s) in every free cell, from the rewards of the composed task and the way to each goal."""
    space = world.space
    reward = np.where(wanted, space.r_universal, space.r_empty)
    best: Array = (world.returns.to_goal + reward[:, None]).max(axis=0)
    return best[: world.cell_of_state.size]


def _slices(world: PlannedWorld, v_bar: Array) -> list[dict[str, Any]]:
    n = world.cell_of_state.size
    mdp = world.space.mdp
    out = []
    for g, name in enumerate(world.space.goal_names):
        best = (mdp.step_reward[:n] + v_bar[g][mdp.next_state[:n]]).max(axis=1)
        best[~world.reached[g, :n]] = np.nan
        out.append({"goal": name, "values": _on_map(world, best)})
    return out


def _on_map(world: PlannedWorld, values: Array) -> Array:
    """[cells], numbers of free cells put on the map; NaN, in JSON null, where there is none."""
    on_map = np.full(world.n_cells, np.nan)
    on_map[world.cell_of_state] = np.round(values, DECIMALS)
    on_map[np.isinf(on_map)] = np.nan
    return on_map


def _digits_on_map(world: PlannedWorld, actions: NDArray[np.int64]) -> orjson.Fragment:
    """[cells], the actions as JSON, null where no goal can be reached; built as bytes, for speed."""
    digits = np.full((world.n_cells, 2), ord(","), np.uint8)
    digits[:, 0] = ord("n")
    ending = world.ending[: actions.size]
    digits[world.cell_of_state[ending], 0] = ord("0") + actions[ending]
    return orjson.Fragment(b"[" + digits.tobytes()[:-1].replace(b"n", b"null") + b"]")


def _rounded(value: float) -> float:
    return round(float(value), DECIMALS)
