"""PAPER.md, which lists the paper item by item and where we deviate from it."""

from __future__ import annotations

import re
from pathlib import Path

PLACES = (Path(__file__).parent / "PAPER.md", Path(__file__).parents[4] / "PAPER.md")
"""Inside an installed package; beside the sources in a clone."""
HEADING = "## Deviations and corrections"
Rows = list[dict[str, str]]  # of a table, by column, in Markdown


def read() -> str:
    """The text of PAPER.md."""
    for place in PLACES:
        if place.is_file():
            return place.read_text(encoding="utf-8")
    raise FileNotFoundError(f"PAPER.md is neither at {PLACES[0]} nor at {PLACES[1]}")


def index(page: str) -> Rows:
    """Its first table: item of the paper, symbol, test."""
    return _rows(page.partition(HEADING)[0].splitlines())


def deviations(page: str) -> list[tuple[str, Rows]]:
    r"""The numbered list of deviations: the text of each on one line, and the rows of its table.

    >>> deviations(f"{HEADING}\n1. **a**\n   b\n\n   | x | y |\n   |---|---|\n   | 1 | 2 |")
    [('**a** b', [{'x': '1', 'y': '2'}])]
    """
    found = []
    for item in re.split(r"(?m)^\d+\. ", page.partition(HEADING)[2])[1:]:
        lines = item.splitlines()
        text = " ".join(line for line in lines if not line.lstrip().startswith("|"))
        found.append((" ".join(text.split()), _rows(lines)))
    return found


def _rows(lines: list[str]) -> Rows:
    """The rows of the table in some lines of Markdown; none if there is no table."""
    bare = [line.strip() for line in lines]
    cells = [[c.strip() for c in line[1:-1].split("|")] for line in bare if line.startswith("|")]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]
