"""Finite worlds that are no drawings, by their ids: presets, and what `ta.playground` opens."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np

import taskalgebra as ta
from taskalgebra.apps import desired_names
from taskalgebra.apps.playground.cells import Cells
from taskalgebra.apps.playground.presets.worlds import WORLDS
from taskalgebra.apps.playground.refusals import RefusedError, check_table, check_words
from taskalgebra.apps.playground.schema import TableDocument, TaskDocument
from taskalgebra.apps.playground.subject import Subject, Table, made_tasks, task_lines

_opened: dict[str, Table] = {}
_lock = Lock()


def add(table: Table) -> None:
    """Let requests of this process ask for a table, by the id of its scene."""
    with _lock:
        _opened[table.scene["id"]] = table


def find(name: str) -> Table:
    """The table of an id.

    Raises:
        RefusedError: there is none.
    """
    with _lock:
        found = _opened.get(name)
    if found is None and name in WORLDS:
        found = WORLDS[name]()
    if found is None:
        sentence = f"there is no world {name!r}; start from one of the page's own"
        raise RefusedError(sentence, "world.table", status=404)
    return found


def plan(document: TableDocument) -> ta.Skills:
    """The skills that were given, if they have these base tasks, or planned ones."""
    table = find(document.table)
    check_table(document, table.space.goal_names)
    if table.skills is not None and _same(document.tasks, table.skills):
        return table.skills
    check_words(document)
    return ta.solve(table.space, made_tasks(table.space, document.tasks))


def subject(document: TableDocument, skills: ta.Skills) -> Subject:
    """A table with skills."""
    table, space = find(document.table), skills.space
    given = skills is table.skills
    notes: tuple[str, ...] = ()
    if table.skills is not None and not given:
        notes = ("These base tasks are not those of your skills, so they were planned.",)
    program = table.program
    if not given:
        own = "space = skills.space\n" if table.skills is not None else ""
        program += f"{own}{task_lines(document.tasks)}skills = ta.solve(space, tasks)\n"
    paid = space.mdp.step_reward[~space.mdp.is_goal]
    rewards = {
        "step": float(np.median(paid)),
        "desired": float(space.r_universal.max()),
        "other": float(space.r_empty.min()),
    }
    tasks = tuple(task.name for task in document.tasks)
    cells = Cells.of_states(space.mdp.n_states)
    return Subject(skills, cells, tasks, rewards, program, notes)


def _same(tasks: Sequence[TaskDocument], skills: ta.Skills) -> bool:
    """Whether these are base tasks of skills."""
    own = {name: set(desired_names(task)) for name, task in skills.tasks.items()}
    return bool(tasks) and all(own.get(task.name) == set(task.goals) for task in tasks)
