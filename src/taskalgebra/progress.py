"""Progress: one event, one kind of listener, and a line that tells how far long work is."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from threading import Event as Flag
from threading import Lock, Thread
from typing import TextIO, final

LOGGER = logging.getLogger("taskalgebra")


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


class StopLearning(Exception):
    """Raised by a listener, it ends the learning of what the event names, with what was learned.

    That is one network, or one table; others are learned as before.
    """


Listener = Callable[[Event], None]

PATIENCE = 2.0
"""Seconds of work before a terminal shows anything."""
TICK = 0.5
"""Seconds after which a terminal shows the line again."""
LOGGED_EVERY = 30.0
"""Seconds between two lines in the log."""


def silent(event: Event) -> None:
    """A listener that does nothing."""


def require_listener(listener: object) -> None:
    """Refuse what cannot be called; None stands for the default."""
    if listener is not None and not callable(listener):
        raise TypeError(f"listener must be a function of an Event, got {listener!r}")


@final
class Meter:
    """A listener that shows the share done and the time left, for work that proves slow.

    On a terminal it is one line, which is cleared at the end; scores stay.  Elsewhere it is a line
    in the log now and then, at level INFO.  In a `with` statement, work that reports nothing is
    shown too: a clock of its own writes the line.
    """

    def __init__(self, verb: str = "", stream: TextIO | None = None, *, shown: bool = True) -> None:
        """Note the time; `verb` stands before what is being done."""
        self.verb = verb
        self.stream: TextIO | None = stream or sys.stderr  # none in a program without a console
        self.start = self._reported_at = time.monotonic()
        self._what, self._share = "", 0.0
        self._on_line = False
        self._lock = Lock()
        self._terminal = self.stream is not None and self.stream.isatty()
        self._closed = Flag()
        self._clock = Thread(target=self._tick, name="meter", daemon=True)
        if not shown:
            self._closed.set()

    def __enter__(self) -> Meter:
        """For the time of some work: the clock runs until it is done."""
        if not self._closed.is_set():
            self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        """The work is done."""
        self.close()

    def __call__(self, event: Event) -> None:
        """Take note of progress; a terminal keeps scores, and the log too."""
        if self._closed.is_set():
            return
        self._what, self._share = event.what, min(max(event.share, 0.0), 1.0)
        self._reported_at = time.monotonic()
        if event.score is not None:
            self._write(f", {event.n_goals} goals met, score {event.score:.3f}", keep=True)

    def __str__(self) -> str:
        """The line."""
        doing = " ".join(part for part in (self.verb, self._what) if part)
        now = time.monotonic()
        if not self._share:
            return f"{doing}: {duration(now - self.start)} so far"
        total = (self._reported_at - self.start) / self._share
        left = duration(total - (now - self.start))
        return f"{doing}: {100 * self._share:.0f} %, about {left} left"

    def _tick(self) -> None:
        wait = PATIENCE if self._terminal else LOGGED_EVERY
        while not self._closed.wait(wait):
            self._write()
            wait = TICK if self._terminal else LOGGED_EVERY

    def _write(self, more: str = "", *, keep: bool = False) -> None:
        with self._lock:
            if self.stream is None or not self._terminal:
                LOGGER.info("%s%s", self, more)
                return
            columns = get_terminal_size().columns - 1  # a line that wraps could not be cleared
            line = f"{self}{more}" + "\n" if keep else str(self)[:columns]
            self.stream.write(f"\r\x1b[K{line}")
            self.stream.flush()
            self._on_line = not keep

    def clear(self) -> None:
        """Clear the line, so that something else can be written."""
        with self._lock:
            if self._on_line and self.stream is not None:
                self.stream.write("\r\x1b[K")
                self.stream.flush()
            self._on_line = False

    def close(self) -> None:
        """Stop the clock and clear the line."""
        self._closed.set()
        if self._clock.is_alive():
            self._clock.join()
        self.clear()


def duration(seconds: float) -> str:
    """Seconds in words: `8 s`, `3 min 20 s`, `1 h 5 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
