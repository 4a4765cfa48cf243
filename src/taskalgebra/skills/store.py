"""Skills on disk: numbers in an npz file, words in a JSON manifest, never pickle."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.logic.algebra import Bounds
from taskalgebra.planning.exact import Plan, plan
from taskalgebra.skills.folder import Folder, StoreError, is_names
from taskalgebra.theory.extended import TableBounds, TabularQ
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.worlds.build import from_outcomes
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.open_world import OpenWorld

_WORLD_ARRAYS = ("offset", "successor", "probability", "step_reward", "goals", "starts")


def write(path: Path, space: TaskSpace, tasks: Mapping[str, Task], solved: Plan) -> None:
    """Save a task space, its base tasks and their values."""
    if isinstance(space.world, OpenWorld):
        raise StoreError(
            f"cannot save these skills of an open world, {space.world!r}: they are neither tables "
            f"nor networks of this library; save the value functions themselves"
        )
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **_arrays(space, tasks, solved))
    FOLDER.write(
        path,
        buffer.getvalue(),
        {
            "tasks": list(tasks),
            "goals": list(space.mdp.goal_names),
            "actions": list(space.mdp.action_names),
            "tables": isinstance(solved.bounds, TableBounds),
            "r_bar_min": solved.r_bar_min,
            "error_bound": solved.error_bound,
        },
    )


def read(path: Path) -> tuple[TaskSpace, dict[str, Task], Plan]:
    """Load what `write` saved, or raise a StoreError that says what is wrong."""
    manifest, data = FOLDER.read(path)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return _restore(manifest, dict(arrays))
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path} does not hold consistent skills: {error}") from error


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


FOLDER = Folder(
    "taskalgebra skills 1",
    "skills",
    "npz",
    {
        "tasks": is_names,
        "goals": is_names,
        "actions": is_names,
        "tables": lambda v: isinstance(v, bool),
        "r_bar_min": _is_number,
        "error_bound": lambda v: v is None or _is_number(v),
    },
)


def _arrays(space: TaskSpace, tasks: Mapping[str, Task], solved: Plan) -> dict[str, NDArray[Any]]:
    """All numbers: of the world, of the tasks, and the tables if there are any."""
    mdp = space.mdp
    arrays: dict[str, NDArray[Any]] = {name: getattr(mdp, name) for name in _WORLD_ARRAYS}
    if mdp.goal_reward is not None:
        arrays["goal_reward"] = mdp.goal_reward
    if mdp.cells is not None:
        arrays["cells"] = mdp.cells
    arrays["r_universal"], arrays["r_empty"] = space.r_universal, space.r_empty
    arrays["tasks"] = np.stack([task.goal_reward for task in tasks.values()])
    for i, task in enumerate(tasks.values()):
        if task.step_reward is not None:
            arrays[f"steps_{i}"] = task.step_reward
    if isinstance(solved.bounds, TableBounds):
        arrays["q_universal"] = solved.bounds.tables.universal
        arrays["q_empty"] = solved.bounds.tables.empty
        for i, values in enumerate(solved.values):
            assert isinstance(values, TabularQ)
            arrays[f"q_{i}"] = values.table
    return arrays


def _restore(
    manifest: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> tuple[TaskSpace, dict[str, Task], Plan]:
    space = TaskSpace(
        _world(manifest, arrays), r_universal=arrays["r_universal"], r_empty=arrays["r_empty"]
    )
    if len(arrays["tasks"]) != len(manifest["tasks"]):
        raise ValueError(f"{len(manifest['tasks'])} task names, {len(arrays['tasks'])} tasks")
    tasks = {
        name: space.from_rewards(arrays["tasks"][i], arrays.get(f"steps_{i}"))
        for i, name in enumerate(manifest["tasks"])
    }
    r_bar_min = manifest["r_bar_min"]
    if not manifest["tables"]:
        return space, tasks, plan(space, list(tasks.values()), r_bar_min=r_bar_min)
    bounds = TableBounds(space, Bounds(arrays["q_universal"], arrays["q_empty"]))
    values = tuple(TabularQ(arrays[f"q_{i}"], bounds) for i in range(len(tasks)))
    expected = (space.mdp.n_states, space.mdp.n_goals, space.mdp.n_actions)
    for table in (arrays["q_universal"], arrays["q_empty"], *(q.table for q in values)):
        if table.shape != expected:
            raise ValueError(f"a table has shape {table.shape}, the world needs {expected}")
    return space, tasks, Plan(values, bounds, r_bar_min, manifest["error_bound"])


def _world(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> FiniteMDP:
    n_states, n_actions = arrays["step_reward"].shape
    return from_outcomes(
        arrays["offset"],
        arrays["successor"],
        arrays["probability"],
        step_reward=arrays["step_reward"],
        goals=arrays["goals"],
        shape=(n_states, n_actions),
        goal_names=manifest["goals"],
        action_names=manifest["actions"],
        starts=arrays["starts"],
        goal_reward=arrays.get("goal_reward"),
        cells=arrays.get("cells"),
    )
