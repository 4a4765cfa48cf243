"""What a command prints: text and tables for people, one JSON document for programs.

Results go to stdout, everything else to stderr.  With `--json`, stdout holds the document and
nothing else; with `--quiet`, only errors are printed, and the document if it is asked for too.  A
progress bar appears only on a terminal, and only for work that takes longer than two seconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, final

from rich.console import Console
from rich.markup import escape
from rich.text import Text

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 2.0
"""Seconds of work before a progress bar appears."""
LOOK = 0.5
"""Seconds before the first estimate of how long the work takes."""
OPENING = "opening the world; on first use, kernels are compiled"


@final
class Output:
    """Where a command's results go.

    Args:
        json: whether to print the document of `figures` and no text.
        quiet: whether to print no text at all.
    """

    def __init__(self, json: bool = False, quiet: bool = False) -> None:
        """Choose what is printed."""
        self.json, self.quiet = json, quiet
        self.text = not json and not quiet
        self.out = Console(file=sys.stdout, highlight=False, emoji=False)
        self.err = Console(file=sys.stderr, highlight=False, emoji=False, stderr=True)
        for console in (self.out, self.err):
            if not console.is_terminal:
                console.width = 10_000  # lines in a pipe are not wrapped

    def line(self, text: str | Text = "") -> None:
        """Print a line of text, without markup."""
        if self.text:
            self.out.print(text, markup=False)

    def ansi(self, text: str) -> None:
        """Print text with ANSI colours, as far as the terminal shows them."""
        if self.text:
            self.out.print(Text.from_ansi(text), crop=False, no_wrap=True)

    @property
    def width(self) -> int:
        """Columns to write in."""
        return self.out.width

    @property
    def colour(self) -> bool:
        """Whether colours can be shown."""
        return self.out.color_system is not None and not self.out.no_color

    def note(self, text: str) -> None:
        """Print a remark on stderr."""
        if not self.quiet:
            self.err.print(text, markup=False)

    def table(
        self,
        columns: Mapping[str, str],
        rows: Sequence[Sequence[str | Text]],
        *,
        title: str | None = None,
    ) -> None:
        """Print a table.

        Args:
            columns: headings, and how each column is aligned: left, right or center.
            rows: the cells.
            title: a line above.
        """
        if not self.text:
            return
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name, side in columns.items():
            table.add_column(escape(name), justify=side, overflow="fold")  # type: ignore[arg-type]
        for row in rows:
            table.add_row(*(escape(cell) if isinstance(cell, str) else cell for cell in row))
        with self.out.capture() as capture:
            self.out.print(table)
        lines = [line.rstrip() for line in capture.get().splitlines()]
        if title is not None:
            self.line(title)
        self.out.file.write("\n".join(lines[title is None :]) + "\n")

    def figures(self, document: Mapping[str, Any]) -> None:
        """Print the JSON document, if asked for; numbers that are not finite become null."""
        if self.json:
            print(json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False))

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show what is being done, on a terminal, if it takes longer than a moment."""
        if self.quiet or not self.err.is_terminal:
            yield
            return
        status = self.err.status(what)
        timer = Timer(PATIENCE / 2, status.start)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            status.stop()

    @contextmanager
    def progress(self, what: str) -> Iterator[Meter]:
        """A meter that takes the share of work done; its bar is cleared at the end."""
        meter = Meter(what, self.err if self.err.is_terminal and not self.quiet else None)
        try:
            yield meter
        finally:
            meter.close()


@final
class Meter:
    """A progress bar with the time left, for work that proves slow."""

    def __init__(self, what: str, console: Console | None) -> None:
        """Start the clock; without a console, nothing is shown."""
        self.what, self.console = what, console
        self.start = self._reported_at = time.monotonic()
        self._share = 0.0
        self._bar: Progress | None = None
        self._lock = Lock()
        self._timer = Timer(PATIENCE, self._appear)  # slow work may report nothing
        self._timer.daemon = True
        if console is not None:
            self._timer.start()

    def __call__(self, share: float, what: str | None = None) -> None:
        """Report the share done, from 0 to 1, and what is being done now."""
        if self.console is None:
            return
        self.what, self._share = what or self.what, min(max(share, 0.0), 1.0)
        self._reported_at = time.monotonic()
        elapsed = self._reported_at - self.start
        if self._share and elapsed > LOOK and elapsed / self._share > PATIENCE:
            self._appear()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._share, description=self.what)

    def __str__(self) -> str:
        """The time left at the pace so far."""
        if not self._share:
            return ""
        total = (self._reported_at - self.start) / self._share
        return f"about {duration(total - (time.monotonic() - self.start))} left"

    def _appear(self) -> None:
        """Show the bar, which asks for the time left itself."""
        from rich.progress import BarColumn, Progress, TextColumn

        with self._lock:
            if self._bar is not None:
                return
            bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=30),
                TextColumn("{task.percentage:3.0f} %  {task.fields[left]}", markup=False),
                console=self.console,
                transient=True,
            )
            number = bar.add_task(self.what, total=1.0, left=self)
            bar.update(number, completed=self._share, description=self.what)
            bar.start()
            self._bar = bar  # only now: the work reports on another thread

    def close(self) -> None:
        """Clear the bar."""
        if self.console is None:
            return
        self._timer.cancel()
        self._timer.join()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def duration(seconds: float) -> str:
    """Seconds in words: `8 s`, `3 min 20 s`, `1 h 5 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _plain(value: Any) -> Any:
    """Mappings, sequences, arrays and numbers as plain data for JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return str(value)
