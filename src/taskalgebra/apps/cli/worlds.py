"""`taskalgebra reproduce worlds`: other people's worlds and agents, judged by playing them."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from taskalgebra.apps.cli.commands import Failure
from taskalgebra.apps.cli.exit_codes import OK
from taskalgebra.apps.cli.output import Output
from taskalgebra.progress import duration

if TYPE_CHECKING:
    from taskalgebra.showcase.run import Shown

WORLDS = "worlds"
COLUMNS = {
    "world": "left",
    "expression": "left",
    "success": "right",
    "best": "right",
    "steps": "right",
    "fewest": "right",
    "": "left",
}


def names_of(what: str) -> list[str] | None:
    """The worlds that are meant, [] for all; None if something else is."""
    from taskalgebra.showcase.run import worlds

    if what == WORLDS:
        return []
    return [what] if what in worlds() else None


def reproduce_worlds(
    names: list[str], out: Path, output: Output, *, fresh: bool, quick: bool
) -> int:
    """Run worlds, and print what was found."""
    from taskalgebra.showcase.run import TABLE, run

    found = []
    with output.progress("") as meter:
        try:
            for shown in run(names, out, fresh=fresh, quick=quick, listener=meter):
                took = "kept" if shown.kept else duration(shown.seconds)
                output.note(f"{shown.world.title}: {took}, {shown.world.n_lines} lines of code")
                found.append(shown)
        except (ModuleNotFoundError, ValueError) as error:
            raise Failure(str(error)) from error
    output.table(COLUMNS, [row for shown in found for row in _rows(shown)])
    n_ok = sum(shown.ok for shown in found)
    path = out / "results" / "worlds" / TABLE
    output.line(f"{n_ok} of {len(found)} worlds reach their bar; the table: {path}")
    output.figures({"worlds": [_document(shown) for shown in found], "table": str(path)})
    return OK


def _rows(shown: Shown) -> list[list[str]]:
    world = shown.world
    return [
        [
            world.title if i == 0 else "",
            one.expression,
            f"{100 * one.success:.1f} %",
            _number(100 * one.best, " %"),
            _number(one.steps),
            _number(one.best_steps),
            "ok" if one.ok(world.most_lost, world.most_steps) else "short",
        ]
        for i, one in enumerate(shown.judged)
    ]


def _number(value: float, unit: str = "") -> str:
    return "–" if math.isnan(value) else f"{value:.1f}{unit}"


def _document(shown: Shown) -> dict[str, object]:
    return {
        "name": shown.world.name,
        "title": shown.world.title,
        "lines": shown.world.n_lines,
        "seconds": shown.seconds,
        "cpu_seconds": shown.cpu_seconds,
        "bar": shown.world.bar,
        "ok": shown.ok,
        "tasks": [asdict(one) for one in shown.judged],
    }
