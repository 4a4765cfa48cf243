"""A world and an expression in, the composed agent in every cell or state out.

A few calls of the library: `plan` makes those up to `ta.solve`, `solve` those on an agent,
and both write the same calls down for the page.  The optimum is planned for the composed task
itself, so that the page shows Theorem 3 rather than assumes it.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections import OrderedDict
from threading import Lock
from typing import Any

import orjson

import taskalgebra as ta
from taskalgebra.apps.playground import drawn, over_time, tables
from taskalgebra.apps.playground.cells import ends
from taskalgebra.apps.playground.expressions import compose
from taskalgebra.apps.playground.losses import improvement, loss_and_line
from taskalgebra.apps.playground.nodes import composition, slices, ways
from taskalgebra.apps.playground.others import others
from taskalgebra.apps.playground.reading import read_task
from taskalgebra.apps.playground.refusals import RefusedError, check
from taskalgebra.apps.playground.schema import SolveRequest, TableDocument, WorldDocument
from taskalgebra.apps.playground.subject import Subject
from taskalgebra.planning.policy_iteration import ConvergenceError

CACHE_BYTES = 320 * 2**20
"""Memory for skills: one world of the largest size, which takes 293 MiB, or some seventy of 60 × 60
cells, 8 goals and 3 tasks."""

COLLECTED_BYTES = 32 * 2**20
"""Memory of forgotten worlds that calls for the collector."""


def _calls(expression: str, *, slices: bool, improve: bool) -> str:
    """The calls on the agent of a Boolean expression."""
    more = "slices = agent.q_bar(range(world.n_states)).max(axis=2)\n" if slices else ""
    improved = ".improve()" if improve else ""
    return f"""agent = skills[{expression!r}]{improved}
values, actions = agent.v, agent.actions
optimum = ta.optimal_v(agent.task)
{more}"""


def solve(request: SolveRequest, cache: SkillsCache) -> bytes:
    """The answer to a request, as JSON.

    Raises:
        RefusedError: the parts of the world do not fit together, or the expression is wrong.
    """
    start = time.perf_counter()
    document = request.world
    try:
        skills = cache.skills(document)
        subject = of_kind(document).subject(document, skills)
        expression = read_task(request.expression, subject.tasks, skills.space.goal_names)
        found = over_time.answer if expression.temporal else _answer
        answer, calls = found(subject, expression, request)
    except ConvergenceError as error:
        raise RefusedError(f"this world cannot be planned: {error}", "world") from None
    answer["python"] = subject.program + calls
    answer["notes"] += subject.notes
    answer["milliseconds"] = round(1e3 * (time.perf_counter() - start), 3)
    return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)


def _answer(
    subject: Subject, expression: ta.Expression, request: SolveRequest
) -> tuple[dict[str, Any], str]:
    """The agent of a Boolean expression in every cell, and the calls on it as a program."""
    skills, cells = subject.skills, subject.cells
    agent, written, answer = compose(skills, expression, request.expression, subject.tasks)
    composed = agent
    if request.improve:
        agent = agent.improve()
    values = cells.values(agent.v)  # −∞ where no goal can be reached
    optimum = ta.optimal_v(agent.task)
    loss, line = loss_and_line(agent, optimum, cells)
    answer |= {
        "values": values,
        "actions": cells.choices(agent.actions, values),
        "optimum": cells.values(optimum),
        "certificate": line,
        "loss": loss,
        "rewards": subject.rewards,
        "range": ends(values),
        "notes": [f"{remark}." for remark in agent.task.remarks()],
    }
    if request.improve:
        answer["improvement"] = improvement(agent.improvement)
    reached = ways(skills.space.mdp) if request.slices or request.composition else None
    if reached is not None and request.slices:
        answer["slices"] = slices(composed, cells, reached)
    if reached is not None and request.composition:
        answer["composition"] = composition(skills, composed.expression, cells, reached)
    if request.others:
        answer["others"], why = others(skills, composed, optimum, cells)
        answer["notes"] += [why] if why else []
    calls = _calls(written, slices=request.slices, improve=request.improve)
    return answer, calls + subject.shown(None)


def plan(document: WorldDocument | TableDocument) -> ta.Skills:
    """The skills of a world."""
    found: ta.Skills = of_kind(document).plan(document)
    return found


def of_kind(document: WorldDocument | TableDocument) -> Any:
    """What plans and shows this kind of world."""
    return drawn if isinstance(document, WorldDocument) else tables


def _size(document: WorldDocument | TableDocument) -> int:
    """Bytes of the skills of a world, whose parts are checked.

    Raises:
        RefusedError: they do not fit together, or there is no such world.
    """
    if isinstance(document, WorldDocument):
        check(document)
        n_states, n_goals, n_actions = drawn.n_states(document), len(document.goals), 5
    else:
        mdp = tables.find(document.table).space.mdp
        n_states, n_goals, n_actions = mdp.n_states, mdp.n_goals, mdp.n_actions
    # Tables [S, G, A] of M_U, M_∅, their sum and every task, and the world itself.
    n_tables = n_goals * (len(document.tasks) + 3) + 5
    return 8 * n_actions * n_states * n_tables


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

    def skills(self, document: WorldDocument | TableDocument) -> ta.Skills:
        """The skills of a world, planned if they are not cached; colours do not matter."""
        key = document.model_dump_json(exclude={"goals": {"__all__": {"color"}}})
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        n_bytes = _size(document)
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
