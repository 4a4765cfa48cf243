"""Skills on disk: numbers in an npz file, words in a JSON manifest, never pickle.

A directory holds `manifest.json` and one data file, `skills-HASH.npz`, named after its contents.
The data file is written first, under a temporary name, and moved into place; then the manifest is
replaced in one step; then the data file of the manifest before is removed.  Whatever is
interrupted, the directory holds either the old skills or the new ones.  Files of others are never
touched.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from taskalgebra.algebra import Bounds
from taskalgebra.extended import TableBounds, TabularQ
from taskalgebra.files import replace
from taskalgebra.mdp import FiniteMDP, from_outcomes
from taskalgebra.open_world import OpenWorld
from taskalgebra.planning import Plan, plan
from taskalgebra.tasks import Task, TaskSpace

FORMAT = "taskalgebra skills 1"
NETWORKS = "taskalgebra networks 1"
"""The format of `network_store`."""
MANIFEST = "manifest.json"
_WORLD_ARRAYS = ("offset", "successor", "probability", "step_reward", "goals", "starts")
_DATA = re.compile(r"skills-[0-9a-f]{16}\.npz")
_OURS = re.compile(r"skills-[0-9a-f]{16}\.npz|\.skills-\w+\.tmp")


class Manifest(TypedDict):
    """What the JSON file holds."""

    format: str
    data: str
    sha256: str
    tasks: list[str]
    goals: list[str]
    actions: list[str]
    tables: bool
    r_bar_min: float
    error_bound: float | None


class StoreError(ValueError):
    """Skills that cannot be written, or a directory that does not hold readable ones."""


def format_of(path: Path) -> str | None:
    """The format that the manifest of a directory names, if there is one."""
    try:
        manifest = json.loads((path / MANIFEST).read_text())
    except (OSError, ValueError):
        return None
    return manifest.get("format") if isinstance(manifest, dict) else None


def write(path: Path, space: TaskSpace, tasks: Mapping[str, Task], solved: Plan) -> None:
    """Save a task space, its base tasks and their values."""
    if isinstance(space.world, OpenWorld):
        raise StoreError(
            f"cannot save these skills of an open world, {space.world!r}: they are neither tables "
            f"nor networks of this library; save the value functions themselves"
        )
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **_arrays(space, tasks, solved))
    data = buffer.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    manifest = Manifest(
        format=FORMAT,
        data=f"skills-{digest[:16]}.npz",
        sha256=digest,
        tasks=list(tasks),
        goals=list(space.mdp.goal_names),
        actions=list(space.mdp.action_names),
        tables=isinstance(solved.bounds, TableBounds),
        r_bar_min=solved.r_bar_min,
        error_bound=solved.error_bound,
    )
    _claim(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the directory {path}: {error}") from None
    with only_writer(path):
        before = _claim(path)
        replace(path / manifest["data"], data, "skills-")
        replace(path / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode(), "skills-")
        if before is not None and before["data"] != manifest["data"]:
            (path / before["data"]).unlink(missing_ok=True)


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock of a directory, where the system has locks; readers need none."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _claim(path: Path) -> Manifest | None:
    """Make sure that a directory is ours to write to; return the manifest it holds, if any."""
    if path.exists() and not path.is_dir():
        raise StoreError(f"{path} is a file; give a directory to save skills in")
    if (path / MANIFEST).exists():
        try:
            return _manifest(path)
        except StoreError as error:
            raise StoreError(f"{error}; to save here, give a new or empty directory") from None
    # Data files and temporary ones may be left from a first save that was interrupted.
    strangers = [f.name for f in path.glob("*") if not _OURS.fullmatch(f.name)]
    if strangers:
        raise StoreError(
            f"{path} holds other files, such as {strangers[0]!r}; give a new or empty directory"
        )
    return None


def read(path: Path) -> tuple[TaskSpace, dict[str, Task], Plan]:
    """Load what `write` saved, or raise a StoreError that says what is wrong."""
    manifest, data = _manifest_and_data(path)
    if hashlib.sha256(data).hexdigest() != manifest["sha256"]:
        raise StoreError(
            f"{path / manifest['data']} is damaged or truncated; save the skills again"
        )
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return _restore(manifest, dict(arrays))
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path} does not hold consistent skills: {error}") from error


def _manifest_and_data(path: Path) -> tuple[Manifest, bytes]:
    """Both files; if someone saves between the two looks, look again."""
    for patience in range(20):
        manifest = _manifest(path)
        try:
            return manifest, (path / manifest["data"]).read_bytes()
        except OSError as error:
            missing = error
            time.sleep(0.001 * patience)
    raise StoreError(f"cannot read the data of {path}: {missing}; save the skills again")


def _manifest(path: Path) -> Manifest:
    """The manifest of a directory, every entry checked."""
    file = path / MANIFEST
    try:
        manifest = json.loads(file.read_text())
    except OSError:
        raise StoreError(f"no skills at {path}: {MANIFEST} is missing or not readable") from None
    except ValueError:
        raise StoreError(f"{file} is not valid JSON; it was not written by this library") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{file} is not of the format {FORMAT!r}; it belongs to something else")
    for key, fits in _ENTRIES.items():
        if key not in manifest or not fits(manifest[key]):
            raise StoreError(
                f"{file} has {manifest.get(key)!r} for {key!r}, which is missing or not sensible; "
                f"save the skills again"
            )
    return cast(Manifest, manifest)


def is_names(value: Any) -> bool:
    """Whether a value is a non-empty list of different, non-empty strings."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(name, str) and name for name in value)
        and len(set(value)) == len(value)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_ENTRIES: dict[str, Callable[[Any], bool]] = {
    "data": lambda v: isinstance(v, str) and _DATA.fullmatch(v) is not None,
    "sha256": lambda v: isinstance(v, str),
    "tasks": is_names,
    "goals": is_names,
    "actions": is_names,
    "tables": lambda v: isinstance(v, bool),
    "r_bar_min": _is_number,
    "error_bound": lambda v: v is None or _is_number(v),
}


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
    manifest: Manifest, arrays: dict[str, NDArray[Any]]
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


def _world(manifest: Manifest, arrays: dict[str, NDArray[Any]]) -> FiniteMDP:
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
