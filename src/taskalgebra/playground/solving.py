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
from taskalgebra.extended import compose
from taskalgebra.graph import BoolArray
from taskalgebra.playground.expressions import (
    LONG,
    read_expression,
    simplified,
    truth_table,
    wanted,
)
from taskalgebra.playground.schema import SolveRequest
from taskalgebra.playground.worlds import PlannedWorld, WorldCache
from taskalgebra.policy import greedy

DECIMALS = 10
"""Of values in answers: enough for any reward, and 1.1 is not written 1.0999999999999999."""


def solve(request: SolveRequest, worlds: WorldCache) -> bytes:
    """The answer to a request, as JSON."""
    start = time.perf_counter()
    world = worlds.planned(request.world)
    tasks, names = world.task_names, world.space.goal_names
    expression, table = read_expression(request.expression, tasks)
    short = simplified(table, tasks)
    desired = wanted(table, world.labels)
    long = len(request.expression) > LONG
    v_bar = compose(short if long else expression, world.values, world.bounds)  # [G, S]
    values, actions = _act(world, v_bar)
    best = _optimum(world, desired)
    answer: dict[str, Any] = {
        "expression": request.expression,
        "simplified": str(short),
        "desired": [name for name, one in zip(names, desired, strict=True) if one],
        "values": (written := _json(world, values)),
        "actions": _json_digits(world, actions),
        "optimum": written if np.array_equal(values, best, equal_nan=True) else _json(world, best),
    }
    if request.slices:
        answer["slices"] = [
            {"goal": name, "values": _json(world, _slice(world, v_bar, g))}
            for g, name in enumerate(names)
        ]
    lines = f"{world.lines}agent = skills[{request.expression!r}]\nagent.show()\n"
    answer |= {
        "truth_table": truth_table(table, tasks, names, world.labels),
        "n_tasks": world.n_tasks,
        "rewards": world.rewards,
        "range": [float(np.nanmin(values)), float(np.nanmax(values))],
        "python": lines,
        "milliseconds": round(1e3 * (time.perf_counter() - start), 3),
    }
    return orjson.dumps(answer)


def _act(world: PlannedWorld, v_bar: Array) -> tuple[Array, NDArray[np.int64]]:
    """V and the greedy action in every free cell, from Q(s, a) = r_step + max_g V̄(s', g)."""
    q = v_bar.max(axis=0)[world.next_state]  # [A, free cells]
    q += world.rewards["step"]
    actions = greedy(np.ascontiguousarray(q.T)[:, None, :])
    return _shown(q.max(axis=0), world.ending), actions


def _optimum(world: PlannedWorld, desired: list[bool]) -> Array:
    """V*(s) in every free cell: the best over goals of the way there and the task's reward."""
    space = world.space
    reward = np.where(desired, space.r_universal, space.r_empty)
    best = (world.to_goal + reward[:, None]).max(axis=0)
    return _shown(best[: world.ending.size], world.ending)


def _slice(world: PlannedWorld, v_bar: Array, goal: int) -> Array:
    """max_a Q̄(s, g, a) of one goal in every free cell, where the goal can be reached."""
    best = v_bar[goal][world.next_state].max(axis=0)
    best += world.rewards["step"]
    return _shown(best, np.isfinite(world.to_goal[goal, : best.size]))


def _shown(values: Array, known: BoolArray) -> Array:
    """Values as they are shown: rounded, and NaN where there is none."""
    shown: Array = values.round(DECIMALS)
    shown[~known] = np.nan
    return shown


def _json(world: PlannedWorld, values: Array) -> orjson.Fragment:
    """Values of free cells on the map, as JSON, where NaN becomes null."""
    on_map = np.full(world.n_cells, np.nan)
    on_map[world.cell_of_state] = values
    return orjson.Fragment(orjson.dumps(on_map, option=orjson.OPT_SERIALIZE_NUMPY))


def _json_digits(world: PlannedWorld, actions: NDArray[np.int64]) -> orjson.Fragment:
    """Actions on the map, as JSON, null where no goal can be reached; built as bytes, for speed."""
    digits = np.full((world.n_cells, 2), ord(","), np.uint8)
    digits[:, 0] = ord("n")
    digits[world.cell_of_state, 0] = np.where(world.ending, ord("0") + actions, ord("n"))
    return orjson.Fragment(b"[" + digits.tobytes()[:-1].replace(b"n", b"null") + b"]")
