"""Shells over the public API: the command, the playground, the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taskalgebra.theory.tasks import Task


def desired_names(task: Task) -> list[str]:
    """The names of the goals that a task pays r_U for."""
    names = task.space.goal_names
    return [name for name, desired in zip(names, task.desired, strict=True) if desired]
