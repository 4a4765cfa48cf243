"""PAPER.md, which lists the paper item by item and where we deviate from it."""

from __future__ import annotations

import re
from pathlib import Path

PLACES = (Path(__file__).parent / "PAPER.md", Path(__file__).parents[4] / "PAPER.md")
"""Inside an installed package; beside the sources in a clone."""
HEADING = "## Deviations and corrections"


def read() -> str:
    """The text of PAPER.md."""
    for place in PLACES:
        if place.is_file():
            return place.read_text(encoding="utf-8")
    raise FileNotFoundError(f"PAPER.md is neither at {PLACES[0]} nor at {PLACES[1]}")


def index(page: str) -> list[tuple[str, str, str]]:
    """The rows of its table: item of the paper, symbol, test; in Markdown."""
    rows = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3 and cells[0] != "paper":
            rows.append((cells[0], cells[1], cells[2]))
    return rows


def deviations(page: str) -> list[str]:
    """The numbered list of deviations, in Markdown, one a line."""
    _, _, listed = page.partition(HEADING)
    items = re.split(r"(?m)^\d+\. ", listed)[1:]
    return [" ".join(item.split()) for item in items]
