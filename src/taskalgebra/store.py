"""Skills on disk: numbers in an npz file, words in a JSON manifest, never pickle.

A directory holds `manifest.json` and one data file, whose name carries the hash of its contents.
The data file is written first, under a temporary name, and moved into place; then the manifest is
replaced in one step; then older data files are removed.  Whatever is interrupted, the directory
holds either the old skills or the new ones.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.algebra import Bounds
from taskalgebra.extended import TableBounds, TabularQ
from taskalgebra.mdp import FiniteMDP, from_outcomes
from taskalgebra.planning import Plan, plan
from taskalgebra.tasks import Task, TaskSpace

FORMAT = "taskalgebra skills 1"
MANIFEST = "manifest.json"
_WORLD_ARRAYS = ("offset", "successor", "probability", "step_reward", "goals", "starts")


class StoreError(ValueError):
    """A directory that does not hold readable skills."""


def write(path: Path, space: TaskSpace, tasks: Mapping[str, Task], solved: Plan) -> None:
    """Save a task space, its base tasks and their values."""
    if path.exists() and not path.is_dir():
        raise StoreError(f"{path} is a file; give a directory to save skills in")
    if path.is_dir() and any(path.iterdir()) and not (path / MANIFEST).exists():
        raise StoreError(f"{path} holds other files; give a new or empty directory")
    arrays = _world_arrays(space)
    arrays["tasks"] = np.stack([task.goal_reward for task in tasks.values()])
    tabular = isinstance(solved.bounds, TableBounds)
    if isinstance(solved.bounds, TableBounds):
        arrays["q_universal"] = solved.bounds.tables.universal
        arrays["q_empty"] = solved.bounds.tables.empty
        for i, values in enumerate(solved.values):
            assert isinstance(values, TabularQ)
            arrays[f"q_{i}"] = values.table
    if any(task.step_reward is not None for task in tasks.values()):
        arrays["task_steps"] = np.stack([task.steps for task in tasks.values()])
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    data = buffer.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    manifest = {
        "format": FORMAT,
        "data": f"{digest[:16]}.npz",
        "sha256": digest,
        "tasks": list(tasks),
        "goals": list(space.mdp.goal_names),
        "actions": list(space.mdp.action_names),
        "tables": tabular,
        "penalty": solved.penalty,
        "error_bound": solved.error_bound,
    }
    path.mkdir(parents=True, exist_ok=True)
    _replace(path / str(manifest["data"]), data)
    _replace(path / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())
    for old in path.glob("*.npz"):
        if old.name != manifest["data"]:
            old.unlink()


def read(path: Path) -> tuple[TaskSpace, dict[str, Task], Plan]:
    """Load what `write` saved, or raise a StoreError that says what is wrong."""
    manifest = _manifest(path)
    try:
        data = (path / Path(manifest["data"]).name).read_bytes()
    except OSError as error:
        raise StoreError(
            f"cannot read the data of {path}: {error}; save the skills again"
        ) from None
    if hashlib.sha256(data).hexdigest() != manifest["sha256"]:
        raise StoreError(
            f"{path / manifest['data']} is damaged or truncated; save the skills again"
        )
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return _restore(manifest, dict(arrays))
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path} does not hold consistent skills: {error}") from error


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((path / MANIFEST).read_text())
    except OSError:
        raise StoreError(f"no skills at {path}: {MANIFEST} is missing or not readable") from None
    except ValueError:
        raise StoreError(f"{path / MANIFEST} is not valid JSON; save the skills again") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{path / MANIFEST} is not of the format {FORMAT!r}")
    for key in ("data", "sha256", "tasks", "goals", "actions", "tables", "penalty", "error_bound"):
        if key not in manifest:
            raise StoreError(f"{path / MANIFEST} has no entry {key!r}; save the skills again")
    return manifest


def _world_arrays(space: TaskSpace) -> dict[str, NDArray[Any]]:
    mdp = space.mdp
    arrays: dict[str, NDArray[Any]] = {name: getattr(mdp, name) for name in _WORLD_ARRAYS}
    if mdp.goal_reward is not None:
        arrays["goal_reward"] = mdp.goal_reward
    if mdp.cells is not None:
        arrays["cells"] = mdp.cells
    return arrays | {"r_universal": space.r_universal, "r_empty": space.r_empty}


def _restore(
    manifest: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> tuple[TaskSpace, dict[str, Task], Plan]:
    space = TaskSpace(
        _world(manifest, arrays), r_universal=arrays["r_universal"], r_empty=arrays["r_empty"]
    )
    steps = arrays.get("task_steps")
    tasks = {
        name: space.from_rewards(arrays["tasks"][i], None if steps is None else steps[i])
        for i, name in enumerate(manifest["tasks"])
    }
    penalty = float(manifest["penalty"])
    if not manifest["tables"]:
        return space, tasks, plan(space, list(tasks.values()), penalty=penalty)
    bounds = TableBounds(space, Bounds(arrays["q_universal"], arrays["q_empty"]))
    values = tuple(TabularQ(arrays[f"q_{i}"], bounds) for i in range(len(tasks)))
    expected = (space.mdp.n_states, space.mdp.n_goals, space.mdp.n_actions)
    for table in (arrays["q_universal"], arrays["q_empty"], *(q.table for q in values)):
        if table.shape != expected:
            raise ValueError(f"a table has shape {table.shape}, the world needs {expected}")
    return space, tasks, Plan(values, bounds, penalty, float(manifest["error_bound"]))


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


def _replace(path: Path, data: bytes) -> None:
    """Write a file under a temporary name and move it into place."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
