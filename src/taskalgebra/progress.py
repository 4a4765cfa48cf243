"""What long work tells while it runs: one event type for learners, sweeps and reproductions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Event:
    """Something that a learner, a sweep or a reproduction tells about how far it is."""

    what: str  # what is being done: a task, an experiment, "report"
    share: float  # of ALL the work, from 0 to 1
    n_steps: int = 0  # environment steps so far
    n_updates: int = 0  # gradient steps so far
    n_goals: int = 0
    loss: float | None = None
    score: float | None = None
    seconds: float | None = None  # of a part that is done
    kept: bool = False  # its result was already there
    written: tuple[Path, ...] = ()


Listener = Callable[[Event], None]
