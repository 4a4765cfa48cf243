"""A run on disk: one file, from which it resumes bit for bit."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.files import replace
from taskalgebra.learning.q_learning import Run
from taskalgebra.theory.tasks import Task
from taskalgebra.worlds.finite import FiniteMDP

_ARRAYS = ("q", "seen_goals", "stream")
_NUMBERS = ("n_steps", "n_episodes", "position", "converged", "interrupted", "protocol")


class CheckpointError(ValueError):
    """A file that does not hold a run of this world and task."""


def fingerprint(task: Task, mdp: FiniteMDP | None = None) -> str:
    """A hash of everything that a learner sees: dynamics, starts and rewards."""
    world = task.space.mdp if mdp is None else mdp
    digest = hashlib.sha256()
    for array in (
        world.offset,
        world.successor,
        world.probability,
        world.starts,
        world.goals,
        task.steps,
        task.goal_reward,
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def write(path: Path, arrays: Mapping[str, NDArray[Any]], of: str) -> None:
    """Write arrays to a file; `of` says what they belong to."""
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays, fingerprint=np.array(of))
    replace(path, buffer.getvalue())


def read(path: Path, names: Sequence[str], of: str) -> dict[str, NDArray[Any]]:
    """The arrays of these names, if they belong to `of`.

    Raises:
        CheckpointError: the file is missing or damaged, or of another world or task.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            state = {name: arrays[name] for name in (*names, "fingerprint")}
    except Exception as error:  # numpy, zipfile and zlib fail in many ways on damaged files
        raise CheckpointError(f"{path} does not hold a run of learning: {error}") from None
    if str(state.pop("fingerprint")) != of:
        raise CheckpointError(
            f"{path} is a run in another world or for another task, or with another seed or other "
            f"settings; resume it with those it was started with, or give another directory"
        )
    return state


def save(path: str | Path, run: Run, of: str) -> None:
    """Write a run to a file; `of` is the fingerprint of its world and task."""
    state = asdict(run)
    write(Path(path), {name: np.asarray(state[name]) for name in (*_ARRAYS, *_NUMBERS)}, of)


def load(path: str | Path, of: str) -> Run:
    """Read a run to resume.

    Raises:
        CheckpointError: the file is missing or damaged, or of another world or task.
    """
    state = read(Path(path), (*_ARRAYS, *_NUMBERS), of)
    numbers = {name: state[name].item() for name in _NUMBERS}
    arrays: dict[str, Any] = {name: state[name] for name in _ARRAYS}
    return Run(**arrays, **numbers)
