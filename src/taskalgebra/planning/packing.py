"""Reading families of tables, planned or learned, and of planned values too large for tables."""

from __future__ import annotations

from collections.abc import Mapping

from taskalgebra.planning.exact import PlannedFamily, plan
from taskalgebra.theory.family import Arrays, TableFamily, Words
from taskalgebra.theory.tasks import Task, TaskSpace


def unpack(
    words: Words, arrays: Arrays, space: TaskSpace, tasks: Mapping[str, Task]
) -> TableFamily | PlannedFamily:
    """What `TableFamily.pack` or `PlannedFamily.pack` packed; the latter is planned again.

    Raises:
        ValueError: a table has another shape than its world.
    """
    if not words["tables"]:
        return plan(space, tasks, r_bar_min=words["r_bar_min"])
    names = ("q_universal", "q_empty", *(f"q_{i}" for i in range(len(tasks))))
    tables = [arrays[name] for name in names]
    n_states = space.mdp.n_states if space.finite else len(tables[0])
    expected = (n_states, space.n_goals, space.n_actions)
    for table in tables:
        if table.shape != expected:
            raise ValueError(f"a table has shape {table.shape}, the world needs {expected}")
    r_bar_min, error_bound = words["r_bar_min"], words["error_bound"]
    return TableFamily.of(space, tasks, tables, r_bar_min=r_bar_min, error_bound=error_bound)
