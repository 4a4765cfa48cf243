"""A drawn world as the library's: its skills, planned exactly, and the program that makes them."""

from __future__ import annotations

import taskalgebra as ta
from taskalgebra.apps.playground.cells import Cells
from taskalgebra.apps.playground.schema import WorldDocument
from taskalgebra.apps.playground.subject import Subject, made_tasks, task_lines


def world(document: WorldDocument) -> ta.FiniteMDP:
    """The world that is drawn."""
    goals = {goal.name: goal.cell for goal in document.goals}
    return ta.from_text(
        document.map,
        goals,
        step_reward=document.step_reward,
        slip_probability=document.slip,
        touch=document.touch,
    )


def plan(document: WorldDocument) -> ta.Skills:
    """The skills of a drawn world, planned exactly."""
    space = ta.TaskSpace(
        world(document), r_universal=document.r_universal, r_empty=document.r_other
    )
    return ta.solve(space, made_tasks(space, document.tasks), r_bar_min=_r_bar_min(document))


def subject(document: WorldDocument, skills: ta.Skills) -> Subject:
    """A drawn world with its skills."""
    rewards = {
        "step": document.step_reward,
        "desired": document.r_universal,
        "other": document.r_other,
    }
    tasks = tuple(task.name for task in document.tasks)
    return Subject(skills, Cells.of_map(document.map), tasks, rewards, _program(document))


def _program(document: WorldDocument) -> str:
    """The calls of `plan` as a program."""
    rows = "\n".join(f'    "{row}",' for row in document.map)
    goals = "\n".join(f"    {goal.name!r}: {goal.cell}," for goal in document.goals)
    rewards = f"r_universal={document.r_universal!r}, r_empty={document.r_other!r}"
    slip = f", slip_probability={document.slip!r}" if document.slip else ""
    touch = ", touch=True" if document.touch else ""
    low = _r_bar_min(document)
    penalty = "" if low is None else f", r_bar_min={low!r}"
    return f"""import taskalgebra as ta

rows = [
{rows}
]
goals = {{
{goals}
}}
world = ta.from_text(rows, goals, step_reward={document.step_reward!r}{slip}{touch})
space = ta.TaskSpace(world, {rewards})
{task_lines(document.tasks)}skills = ta.solve(space, tasks{penalty})
"""


def _r_bar_min(document: WorldDocument) -> float | None:
    """r̄_MIN of Definition 2, with the number of states for the diameter D.

    The definition only asks that it is low enough, and no shortest path has that many steps.
    Finding D would take 100 ms in a world of 60 × 60 cells and 8 goals; the rest takes 6 ms.
    Where moves slip, it is the library's own choice, r_∅.
    """
    if document.slip:
        return None
    r_min = min(document.step_reward, document.r_other)
    return (r_min - max(document.r_universal, 0.0)) * (n_states(document) + 1)


def n_states(document: WorldDocument) -> int:
    """Free cells, and an absorbing state for each goal."""
    return sum(row.count(".") for row in document.map) + len(document.goals)
