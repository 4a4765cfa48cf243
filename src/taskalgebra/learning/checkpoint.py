"""A run on disk: one file, from which it resumes bit for bit."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra import files, npz
from taskalgebra.folder import StoreError
from taskalgebra.learning.q_learning import Run
from taskalgebra.theory.tasks import Task
from taskalgebra.worlds.finite import FiniteMDP

_ARRAYS = ("q", "seen_goals", "stream", "visits", "outcome")
_NUMBERS = ("n_steps", "n_episodes", "position", "converged", "interrupted", "protocol")


class CheckpointError(StoreError):
    """A file that does not hold a run of this world and task, or a directory with other things."""


def claim(folder: Path, name: str) -> None:
    """Make a directory for checkpoints, and make sure that they can be written there.

    Args:
        folder: the directory.
        name: a regular expression for the names of this learner's checkpoints.

    Raises:
        CheckpointError: it holds other things.
        OSError: it cannot be made or written to.
    """
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise NotADirectoryError(f"{folder} is not a directory; give one for checkpoints")
    ours = re.compile(rf"{name}|\.[0-9a-f]{{32}}\.tmp|{files.TEMPORARY.pattern}")
    with files.made(folder):
        strangers = sorted(found for found in os.listdir(folder) if not ours.fullmatch(found))
        if strangers:
            raise CheckpointError(
                f"{folder} holds other files, such as {strangers[0]!r}, besides checkpoints of "
                f"this learner; give a new or empty directory"
            )
        files.require_writable(folder)


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
    files.replace(path, npz.write({**arrays, "fingerprint": np.array(of)}))


def read(path: Path, names: Sequence[str], of: str) -> dict[str, NDArray[Any]]:
    """The arrays of these names, if they belong to `of`.

    Raises:
        CheckpointError: the file is missing or damaged, or of another world or task.
    """
    try:
        with files.opened(path) as file:
            state = npz.read(file, {*names, "fingerprint"}.__contains__)
    except (OSError, ValueError, MemoryError) as error:
        raise CheckpointError(f"{path} does not hold a run of learning: {error}") from None
    for name in (*names, "fingerprint"):
        if name not in state:
            raise CheckpointError(f"{path} does not hold a run of learning: {name!r} is missing")
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
    if not _fits(state):
        raise CheckpointError(f"{path} does not hold a run of learning: its numbers do not fit")
    numbers = {name: state[name].item() for name in _NUMBERS}
    arrays: dict[str, Any] = {name: state[name] for name in _ARRAYS}
    return Run(**arrays, **numbers)


def _fits(state: Mapping[str, NDArray[Any]]) -> bool:
    """Whether arrays have the types and shapes of a run; learning does not check them again."""
    q, seen, stream, visits, outcome = (state[name] for name in _ARRAYS)
    n_states, _, n_actions = q.shape if q.ndim == 3 else (0, 0, 0)
    types = [state[name].dtype for name in (*_ARRAYS, *_NUMBERS[:-1])]
    return (
        types == ["f8", "i4", "u8", "i4", "f8", "i8", "i8", "i8", "b1", "b1"]
        and state["protocol"].dtype.kind == "U"
        and q.ndim == 3
        and bool(np.isfinite(q).all())
        and seen.shape == q.shape[1:2]
        and bool(((seen >= -1) & (seen < len(seen))).all())
        and stream.shape == (2,)
        and visits.shape in (q.shape, (0, 0, 0))
        and visits.min(initial=0) >= 0
        and outcome.shape in ((n_states, n_actions, 2), (0, 0, 2))
        and not np.isnan(outcome).any()
        and all(state[name].shape == () for name in _NUMBERS)
        and min(state[name].item() for name in ("n_steps", "n_episodes")) >= 0
        and -1 <= state["position"].item() < len(q)
    )
