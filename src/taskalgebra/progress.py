"""Progress: one event and one kind of listener, for learners, sweeps and reports."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, final


@dataclass(frozen=True)
class Event:
    """What a learner, a sweep or a reproduction reports about its progress."""

    what: str  # what is being done: a task, an experiment, "report"
    share: float  # of all the work, from 0 to 1
    n_steps: int = 0  # environment steps so far
    n_updates: int = 0  # gradient steps so far
    n_goals: int = 0  # goals met so far
    loss: float | None = None
    score: float | None = None
    seconds: float | None = None  # of a part that is finished
    kept: bool = False  # its result already existed
    written: tuple[Path, ...] = ()


Listener = Callable[[Event], None]

PATIENCE = 2.0
"""Seconds before a terminal shows anything."""


def silent(event: Event) -> None:
    """A listener that does nothing."""


@final
class Terminal:
    """A listener for terminals: one line with the share done and the time left; scores stay."""

    def __init__(self, verb: str = "learning", stream: TextIO | None = None) -> None:
        """Start the clock; nothing is written if the stream is not a terminal."""
        self.verb = verb
        self.stream = sys.stderr if stream is None else stream
        self.start = time.monotonic()
        self.shown = False

    def __call__(self, event: Event) -> None:
        """Write the line again."""
        elapsed = time.monotonic() - self.start
        if not self.stream.isatty() or (elapsed < PATIENCE and event.score is None):
            return
        left = elapsed * (1 - event.share) / max(event.share, 1e-9)
        text = f"{self.verb} {event.what}: {event.share:.0%}, {left:.0f} s left"
        if event.score is not None:
            text += f", {event.n_goals} goals met, score {event.score:.3f}\n"
        self.stream.write(f"\r\x1b[K{text}")
        self.stream.flush()
        self.shown = event.score is None

    def close(self) -> None:
        """Clear the line."""
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
