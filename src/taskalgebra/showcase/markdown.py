"""Tables as Markdown, for the pages of reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def code(text: str) -> str:
    """Text in a cell: an upright bar would end it."""
    return text.replace("|", "\\|")


def markdown(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table with one line of names."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)
