"""What a command prints: text and tables for people, one JSON document for programs.

Results go to stdout, everything else to stderr.  With `--json`, stdout holds the document and
nothing else; with `--quiet`, only errors are printed, and the document if it is asked for too.
Work that takes longer than two seconds shows its progress; see `taskalgebra.progress`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import Any, final

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from taskalgebra.progress import Meter

GAP = 3
"""Columns between two columns of a table."""
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
        self._meter: Meter | None = None
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
        """Print text with ANSI colours, as far as the terminal shows them; long lines wrap."""
        if self.text:
            self.out.print(Text.from_ansi(text), crop=False)

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
            if self._meter is not None:
                self._meter.clear()
            self.err.print(text, markup=False)

    def table(
        self,
        columns: Mapping[str, str],
        rows: Sequence[Sequence[str | Text]],
        *,
        title: str | None = None,
    ) -> None:
        """Print a table, or a list where the terminal is too narrow for its columns.

        Args:
            columns: headings, and how each column is aligned: left, right or center.
            rows: the cells.
            title: a line above.
        """
        if not self.text:
            return
        if title is not None:
            self.line(title)
        widths = _widths(columns, rows, self.width)
        if widths is None:
            self._list(list(columns), rows)
            return
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for (name, side), width in zip(columns.items(), widths, strict=True):
            table.add_column(escape(name), justify=side, width=width)  # type: ignore[arg-type]
        for row in rows:
            table.add_row(*(escape(cell) if isinstance(cell, str) else cell for cell in row))
        with self.out.capture() as capture:
            self.out.print(table)
        lines = [line.rstrip() for line in capture.get().splitlines()]
        self.out.file.write("\n".join(lines[title is None :]) + "\n")

    def _list(self, headings: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
        """A line per cell, and a blank line after each row."""
        indent = max(map(len, headings)) + 2
        for row in rows:
            for heading, cell in zip(headings, row, strict=True):
                lines = wrap(str(cell), max(self.width - indent, 8)) or [""]
                for i, line in enumerate(lines):
                    self.line(f"{heading if i == 0 else '':<{indent}}{line}".rstrip())
            self.line()

    def figures(self, document: Mapping[str, Any]) -> None:
        """Print the JSON document, if asked for; numbers that are not finite become null."""
        if self.json:
            print(
                json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False),
                flush=True,
            )

    @contextmanager
    def progress(self, what: str) -> Iterator[Meter]:
        """A meter of the work; it says nothing unless the work proves slow."""
        with Meter(what, shown=not self.quiet) as meter:
            self._meter = meter
            try:
                yield meter
            finally:
                self._meter = None


def _widths(
    columns: Mapping[str, str], rows: Sequence[Sequence[str | Text]], total: int
) -> list[int] | None:
    """The widths of the columns of a table, without breaking a word or a number; None if too many.

    What is left beyond the longest words goes to the columns that still wrap, bit by bit.
    """
    least, whole = [], []
    for i, (heading, side) in enumerate(columns.items()):
        cells = [heading, *(str(row[i]) for row in rows)]
        words = cells if side == "right" else [word for cell in cells for word in cell.split()]
        least.append(max(map(cell_len, words), default=0))
        whole.append(max(map(cell_len, cells)))
    spare = total - sum(least) - GAP * len(least)
    if spare < 0:
        return None
    widths = least
    while spare and widths != whole:
        for i, most in enumerate(whole):
            if spare and widths[i] < most:
                widths[i] += 1
                spare -= 1
    return widths


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
