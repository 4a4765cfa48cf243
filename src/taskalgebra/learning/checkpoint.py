"""A run of learning on disk: saved in one file, resumed bit for bit, in its own world only."""

from __future__ import annotations

import hashlib
import io
from dataclasses import asdict
from pathlib import Path

import numpy as np

from taskalgebra.files import replace
from taskalgebra.learning.q_learning import Run
from taskalgebra.theory.tasks import Task
from taskalgebra.worlds.finite import FiniteMDP

_ARRAYS = ("q", "seen_goals", "stream")
_NUMBERS = ("n_steps", "n_episodes", "position", "converged", "interrupted", "protocol")


class CheckpointError(ValueError):
    """A file that does not hold a run of this world and task."""


def fingerprint(task: Task, mdp: FiniteMDP | None = None) -> str:
    """A hash of everything that a learner meets: dynamics, starts and rewards."""
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


def save(path: str | Path, run: Run, task: Task, mdp: FiniteMDP | None = None) -> None:
    """Write a run to a file, under a temporary name first."""
    state = asdict(run)
    buffer = io.BytesIO()
    arrays = {name: np.asarray(state[name]) for name in (*_ARRAYS, *_NUMBERS)}
    arrays["fingerprint"] = np.array(fingerprint(task, mdp))
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    replace(Path(path), buffer.getvalue())


def load(path: str | Path, task: Task, mdp: FiniteMDP | None = None) -> Run:
    """Read a run to go on with.

    Raises:
        CheckpointError: the file is missing or damaged, or of another world or task.
    """
    try:
        data = io.BytesIO(Path(path).read_bytes())
        with np.load(data, allow_pickle=False) as arrays:
            state = {name: arrays[name] for name in (*_ARRAYS, *_NUMBERS, "fingerprint")}
    except Exception as error:  # numpy, zipfile and zlib fail in many ways on damaged files
        raise CheckpointError(f"{path} does not hold a run of learning: {error}") from None
    if str(state.pop("fingerprint")) != fingerprint(task, mdp):
        raise CheckpointError(
            f"{path} is a run in another world or for another task; "
            f"resume it with the world and the task that it was started with"
        )
    numbers = {name: state[name].item() for name in _NUMBERS}
    return Run(**{name: state[name] for name in _ARRAYS}, **numbers)
