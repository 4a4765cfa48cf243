"""A drawn world and an expression in, the composed agent in every cell out.

A few calls of the library: `plan` makes those up to `ta.solve`, `solve` those on an agent, and
`_program` writes the same calls down for the page.  The optimum is planned for the composed task
itself, so that the page shows Theorem 3 rather than assumes it.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np
import orjson

import taskalgebra as ta
from taskalgebra.apps.playground import over_time
from taskalgebra.apps.playground.cells import Cells, ends
from taskalgebra.apps.playground.expressions import compose
from taskalgebra.apps.playground.reading import read_task
from taskalgebra.apps.playground.refusals import check
from taskalgebra.apps.playground.schema import SolveRequest, WorldDocument
from taskalgebra.skills.trust import in_a_line

CACHE_BYTES = 320 * 2**20
"""Memory for skills: one world of the largest size, which takes 293 MiB, or some seventy of 60 × 60
cells, 8 goals and 3 tasks."""

COLLECTED_BYTES = 32 * 2**20
"""Memory of forgotten worlds that calls for the collector."""


def plan(document: WorldDocument) -> ta.Skills:
    """The skills of a drawn world, planned exactly."""
    goals = {goal.name: goal.cell for goal in document.goals}
    world = ta.from_text(
        document.map, goals, step_reward=document.step_reward, touch=document.touch
    )
    space = ta.TaskSpace(world, r_universal=document.r_universal, r_empty=document.r_other)
    tasks = {
        task.name: space.task(task.goals) if task.goals else space.empty for task in document.tasks
    }
    # `ta.solve` needs a task; without any, the expression is a constant and names none.
    tasks = tasks or {"nothing": space.empty}
    return ta.solve(space, tasks, r_bar_min=_r_bar_min(document))


def _program(document: WorldDocument, calls: str) -> str:
    """The calls of `plan` as a program, and those on its agent."""
    rows = "\n".join(f'    "{row}",' for row in document.map)
    goals = "\n".join(f"    {goal.name!r}: {goal.cell}," for goal in document.goals)
    tasks = [
        f"    {task.name!r}: "
        + (f"space.task({list(task.goals)!r})," if task.goals else "space.empty,")
        for task in document.tasks
    ] or ['    "nothing": space.empty,']
    rewards = f"r_universal={document.r_universal!r}, r_empty={document.r_other!r}"
    touch = ", touch=True" if document.touch else ""
    return f"""import taskalgebra as ta

rows = [
{rows}
]
goals = {{
{goals}
}}
world = ta.from_text(rows, goals, step_reward={document.step_reward!r}{touch})
space = ta.TaskSpace(world, {rewards})
tasks = {{
{chr(10).join(tasks)}
}}
skills = ta.solve(space, tasks, r_bar_min={_r_bar_min(document)!r})
{calls}"""


def _calls(expression: str, *, slices: bool) -> str:
    """The calls on the agent of a Boolean expression."""
    more = "slices = agent.q_bar(range(world.n_states)).max(axis=2)\n" if slices else ""
    return f"""agent = skills[{expression!r}]
values, actions = agent.v, agent.actions
optimum = ta.optimal_v(agent.task)
{more}agent.show()
"""


def _r_bar_min(document: WorldDocument) -> float:
    """r̄_MIN of Definition 2, with the number of states for the diameter D.

    The definition only asks that it is low enough, and no shortest path has that many steps.
    Finding D would take 100 ms in a world of 60 × 60 cells and 8 goals; the rest takes 6 ms.
    """
    r_min = min(document.step_reward, document.r_other)
    return (r_min - max(document.r_universal, 0.0)) * (_n_states(document) + 1)


def _n_states(document: WorldDocument) -> int:
    """Free cells, and an absorbing state for each goal."""
    return sum(row.count(".") for row in document.map) + len(document.goals)


def solve(request: SolveRequest, cache: SkillsCache) -> bytes:
    """The answer to a request, as JSON.

    Raises:
        RefusedError: the parts of the world do not fit together, or the expression is wrong.
    """
    start = time.perf_counter()
    document = request.world
    skills = cache.skills(document)
    tasks, goals = ([one.name for one in each] for each in (document.tasks, document.goals))
    expression = read_task(request.expression, tasks, goals)
    if expression.temporal:
        answer, calls = over_time.answer(skills, expression, request.expression, document)
    else:
        answer, calls = _answer(skills, expression, request)
    answer["python"] = _program(document, calls)
    answer["milliseconds"] = round(1e3 * (time.perf_counter() - start), 3)
    return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)


def _answer(
    skills: ta.Skills, expression: ta.Expression, request: SolveRequest
) -> tuple[dict[str, Any], str]:
    """The agent of a Boolean expression in every cell, and the calls on it as a program."""
    document = request.world
    names = tuple(task.name for task in document.tasks)
    agent, written, answer = compose(skills, expression, request.expression, names)
    cells = Cells(document.map)
    values = cells.values(agent.v)  # −∞ where no goal can be reached
    optimum = ta.optimal_v(agent.task)
    answer |= {
        "values": values,
        "actions": cells.choices(agent.actions, values),
        "optimum": cells.values(optimum),
        "certificate": in_a_line(agent.task, agent.actions, optimum),
        "rewards": {
            "step": document.step_reward,
            "desired": document.r_universal,
            "other": document.r_other,
        },
        "range": ends(values),
        "notes": [f"{remark}." for remark in agent.task.remarks()],
    }
    if request.slices:
        slices = agent.q_bar(range(_n_states(document))).max(axis=2)
        # Only where its goal cannot be reached does Q̄ include the penalty for a wrong one, which
        # is lower than the return of any way to a goal.
        slices[slices < _r_bar_min(document)] = np.nan
        answer["slices"] = [
            {"goal": goal.name, "values": cells.values(slices[:, g])}
            for g, goal in enumerate(document.goals)
        ]
    return answer, _calls(written, slices=request.slices)


def _trim() -> None:
    """Give freed memory back to the system, where its allocator would keep it: glibc."""
    trim = getattr(ctypes.pythonapi, "malloc_trim", None)  # looked up in all that is loaded
    if trim is not None:
        trim(0)


class SkillsCache:
    """The skills of recent worlds, so that another expression plans nothing again."""

    def __init__(self, n_bytes: int = CACHE_BYTES) -> None:
        """Start empty."""
        self._n_bytes = n_bytes
        self._kept: OrderedDict[str, tuple[ta.Skills, int]] = OrderedDict()
        self._forgotten = 0  # bytes of worlds that are not cached any more
        self._lock = Lock()

    def skills(self, document: WorldDocument) -> ta.Skills:
        """The skills of a world, planned if they are not cached; colours do not matter."""
        key = document.model_dump_json(exclude={"goals": {"__all__": {"color"}}})
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        check(document)
        # Tables [S, G, A] of M_U, M_∅, their sum and every task, and the world itself.
        n_tables = len(document.goals) * (len(document.tasks) + 3) + 5
        n_bytes = 8 * 5 * _n_states(document) * n_tables
        self._make_room(n_bytes)  # before planning, so that the limit holds
        skills = plan(document)
        self._make_room(n_bytes)  # others may have been planned meanwhile, on another thread
        with self._lock:
            if n_bytes <= self._n_bytes:
                self._kept[key] = skills, n_bytes
        return skills

    def _make_room(self, n_bytes: int) -> None:
        """Forget the oldest worlds until there is room for another.

        A task space and its tasks know each other, so that only the collector frees their tables.
        It counts objects, not bytes, and would wait for long.
        """
        with self._lock:
            while self._kept and n_bytes + sum(n for _, n in self._kept.values()) > self._n_bytes:
                self._forgotten += self._kept.popitem(last=False)[1][1]
            due = self._forgotten > COLLECTED_BYTES
            self._forgotten = 0 if due else self._forgotten
        if due:
            gc.collect()
            _trim()
