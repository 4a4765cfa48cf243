"""What an answer is about: skills, where states are shown, and the program that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import taskalgebra as ta
from taskalgebra.apps.playground.cells import Cells
from taskalgebra.apps.playground.schema import TaskDocument
from taskalgebra.theory.tasks import Task, TaskSpace


@final
@dataclass(frozen=True)
class Subject:
    """A world of a request, planned."""

    skills: ta.Skills
    cells: Cells
    tasks: tuple[str, ...]  # those of the request
    rewards: dict[str, float]
    program: str
    notes: tuple[str, ...] = ()

    def shown(self, picture: str | None) -> str:
        """The last line of a program: the agent on its map, or what it loses.

        Args:
            picture: a call that gives the map as text; by default it is printed in colour.
        """
        if self.cells.each == "state":
            return "print(agent.certificate().line)\n"
        return f"print({picture})\n" if picture else "agent.show()\n"


def made_tasks(space: TaskSpace, tasks: Sequence[TaskDocument]) -> dict[str, Task]:
    """The base tasks of a request."""
    found = {task.name: space.task(task.goals) if task.goals else space.empty for task in tasks}
    # `ta.solve` needs a task; without any, the expression is a constant and names none.
    return found or {"nothing": space.empty}


def task_lines(tasks: Sequence[TaskDocument]) -> str:
    """The same as a program, with `space` at hand."""
    lines = [
        f"    {task.name!r}: "
        + (f"space.task({list(task.goals)!r})," if task.goals else "space.empty,")
        for task in tasks
    ]
    listed = "\n".join(lines or ['    "nothing": space.empty,'])
    return f"tasks = {{\n{listed}\n}}\n"


@final
@dataclass(frozen=True)
class Table:
    """A finite world that is no drawing."""

    scene: dict[str, Any]  # a document of `Scene`
    space: TaskSpace
    program: str  # that makes `space`, or `skills` if they are given
    skills: ta.Skills | None = None  # with the scene's base tasks
