"""Progress: one event, one kind of listener, and a line that tells how far long work is.

The line is written over in place, on a terminal and under a cell of a notebook.  Elsewhere it goes
to the log.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from shutil import get_terminal_size
from threading import Event as Flag
from threading import Lock, Thread
from typing import Any, TextIO, final

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
Progress = Callable[[float], None]
"""Called at intervals with the fraction of the work that is done."""

PATIENCE = 2.0
"""Seconds of work before a terminal or a notebook shows anything."""
TICK = 0.5
"""Seconds after which they show the line again."""
LOGGED_EVERY = 30.0
"""Seconds between two lines in the log."""


def silent(event: Event) -> None:
    """A listener that does nothing."""


def part(progress: Progress | None, start: float, end: float) -> Progress | None:
    """The progress of a part of the work that lies between two fractions of the whole."""
    if progress is None:
        return None
    whole = progress
    return lambda fraction: whole(start + (end - start) * fraction)


def require_listener(listener: object) -> None:
    """Refuse what cannot be called; None stands for the default."""
    if listener is not None and not callable(listener):
        raise TypeError(f"listener must be a function of an Event, got {listener!r}")


@final
class _Terminal:
    """The line on a terminal; scores stay above it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._on_line = stream, False

    def write(self, line: str, share: float, score: str) -> None:
        """Write over the line; with a score, leave it standing."""
        columns = get_terminal_size().columns - 1  # a line that wraps could not be cleared
        shown = f"{line}{score}\n" if score else line[:columns]
        self._stream.write(f"\r\x1b[K{shown}")
        self._stream.flush()
        self._on_line = not score

    def clear(self) -> None:
        """Clear the line."""
        if self._on_line:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
        self._on_line = False


@final
class _Cell:
    """The line, and a bar, under a cell of a notebook; the last score stays in it."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None
        self._score = ""

    def write(self, line: str, share: float, score: str) -> None:
        """Write over what is shown."""
        self._score = score or self._score
        known = f" value='{share:.3f}'" if share else ""
        text = line + self._score
        self._show(text, f"<progress max='1'{known}></progress> <code>{escape(text)}</code>")

    def clear(self) -> None:
        """Show nothing."""
        if self._handle is not None:
            self._show("", "")

    def _show(self, text: str, html: str) -> None:
        data = {"text/plain": text, "text/html": html}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _place(stream: TextIO | None) -> _Terminal | _Cell | None:
    """Where the line is written; None for the log."""
    if stream is not None and stream.isatty():
        return _Terminal(stream)
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:  # a shell in a terminal has none
        return None
    from IPython.display import display

    return _Cell(display)


@final
class Meter:
    """A listener that shows the share done and the time left, for work that proves slow.

    On a terminal it is one line, which is cleared at the end; scores stay.  In a notebook it is a
    bar under the cell, cleared too.  Elsewhere it is a line in the log now and then, at level INFO.
    In a `with` statement, work that reports nothing is shown too: a clock of its own writes the
    line.
    """

    def __init__(self, verb: str = "", stream: TextIO | None = None, *, shown: bool = True) -> None:
        """Note the time; `verb` stands before what is being done."""
        self.verb = verb
        self.stream: TextIO | None = stream or sys.stderr  # none in a program without a console
        self._place = _place(self.stream)
        self.start = self._reported_at = time.monotonic()
        self._what, self._share = "", 0.0
        self._lock = Lock()
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
            self._write(f", {event.n_goals} goals met, score {event.score:.3f}")

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
        shown = self._place is not None
        wait = PATIENCE if shown else LOGGED_EVERY
        while not self._closed.wait(wait):
            self._write()
            wait = TICK if shown else LOGGED_EVERY

    def _write(self, score: str = "") -> None:
        with self._lock:
            if self._place is None:
                LOGGER.info("%s%s", self, score)
            else:
                self._place.write(str(self), self._share, score)

    def clear(self) -> None:
        """Clear the line, so that something else can be written."""
        with self._lock:
            if self._place is not None:
                self._place.clear()

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
