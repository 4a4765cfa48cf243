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

from taskalgebra.apps.playground.expressions import (
    LONG,
    read_expression,
    simplified,
    truth_table,
    wanted,
)
from taskalgebra.apps.playground.schema import SolveRequest
from taskalgebra.apps.playground.worlds import PlannedWorld, WorldCache
from taskalgebra.arrays import Array, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.theory.policy import first_best

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
    v_bar = world.compose(short if len(request.expression) > LONG else expression)
    values, actions = _act(world, v_bar)
    best = _optimum(world, desired)
    answer: dict[str, Any] = {
        "expression": request.expression,
        "simplified": str(short),
        "desired": [name for name, one in zip(names, desired, strict=True) if one],
        "values": (written := _json(world, values)),
        "actions": _json_digits(world, actions),
        "optimum": written if np.array_equal(values, best) else _json(world, best),
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
        "range": [float(values.min()), float(values.max())],
        "python": lines,
        "milliseconds": round(1e3 * (time.perf_counter() - start), 3),
    }
    return orjson.dumps(answer)


def _act(world: PlannedWorld, v_bar: Array) -> tuple[Array, NDArray[np.int64]]:
    """V and the greedy action in every cell, from Q(s, a) = r_step + max_g V̄(s', g)."""
    values, actions = _look_ahead(v_bar, world.next_state, world.rewards["step"])
    return values.round(DECIMALS), actions


def _optimum(world: PlannedWorld, desired: list[bool]) -> Array:
    """V*(s) in every cell: the best over goals of the way there and the task's reward."""
    space = world.space
    reward = np.where(desired, space.r_universal, space.r_empty)
    best: Array = _best(world.to_goal, reward).round(DECIMALS)
    return best


@kernel
def _best(to_goal: Array, reward: Array) -> Array:
    """max_g to_goal[g, s] + reward[g]."""
    best: Array = to_goal[0] + reward[0]
    for g in range(1, len(to_goal)):
        for s in range(best.size):
            best[s] = max(best[s], to_goal[g, s] + reward[g])
    return best


@kernel
def _look_ahead(v_bar: Array, next_state: IntArray, step: float) -> tuple[Array, NDArray[np.int64]]:
    """The best value, and the action that has it, one step ahead of max_g v_bar[g, s]."""
    over_goals = _best(v_bar, np.zeros(len(v_bar)))
    n_actions, n_shown = next_state.shape
    values, actions = np.empty(n_shown), np.empty(n_shown, np.int64)
    q = np.empty(n_actions)
    for s in range(n_shown):
        best = -np.inf
        for a in range(n_actions):
            q[a] = step + over_goals[next_state[a, s]]
            best = max(best, q[a])
        actions[s] = first_best(q, best)
        values[s] = best
    return values, actions


def _slice(world: PlannedWorld, v_bar: Array, goal: int) -> Array:
    """max_a Q̄(s, g, a) of one goal in every cell; NaN where the goal cannot be reached."""
    best: Array = v_bar[goal].take(world.next_state).max(axis=0)
    best += world.rewards["step"]
    best = best.round(DECIMALS)
    best[np.isneginf(world.to_goal[goal])] = np.nan
    return best


def _json(world: PlannedWorld, values: Array) -> orjson.Fragment:
    """Values on the map, as JSON; null where there is none."""
    on_map = np.full(world.n_cells, np.nan)
    on_map[world.cell_of_shown] = values
    return orjson.Fragment(orjson.dumps(on_map, option=orjson.OPT_SERIALIZE_NUMPY))


def _json_digits(world: PlannedWorld, actions: NDArray[np.int64]) -> orjson.Fragment:
    """Actions on the map, as JSON, null where there is none; built as bytes, for speed."""
    digits = np.full((world.n_cells, 2), ord(","), np.uint8)
    digits[:, 0] = ord("n")
    digits[world.cell_of_shown, 0] = actions + ord("0")
    return orjson.Fragment(b"[" + digits.tobytes()[:-1].replace(b"n", b"null") + b"]")
