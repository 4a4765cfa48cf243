"""`taskalgebra reproduce temporal`: tasks with time, beside published figures."""

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
    from taskalgebra.showcase.temporal.record import Shown

TEMPORAL = "temporal"
COLUMNS = {
    "part": "left",
    "world": "left",
    "task": "left",
    "success": "right",
    "best": "right",
    "steps": "right",
    "fewest": "right",
    "score": "right",
    "optimum": "right",
    "": "left",
}


def parts_of(what: str) -> list[str] | None:
    """The parts that are meant, [] for all; None if something else is."""
    from taskalgebra.showcase.temporal.run import entries

    if what == TEMPORAL:
        return []
    return [what] if what in entries() else None


def reproduce_temporal(
    names: list[str], out: Path, output: Output, *, fresh: bool, quick: bool
) -> int:
    """Run parts, and print what was found."""
    from taskalgebra.showcase.temporal.run import TABLES, left_out, run

    found = []
    with output.progress("") as meter:
        try:
            for shown in run(names, out, fresh=fresh, quick=quick, listener=meter):
                took = "kept" if shown.kept else duration(shown.seconds)
                output.note(f"{shown.entry.title}: {took}")
                found.append(shown)
        except (ModuleNotFoundError, ValueError) as error:
            raise Failure(str(error)) from error
    for why in [] if names else left_out():
        output.note(why)
    output.table(COLUMNS, [row for shown in found for row in _rows(shown)])
    n_ok = sum(shown.ok for shown in found)
    path = out / "results" / "temporal" / TABLES
    output.line(f"{n_ok} of {len(found)} parts reach their bar; beside published figures: {path}")
    output.figures({"parts": [_document(shown) for shown in found], "table": str(path)})
    return OK


def _rows(shown: Shown) -> list[list[str]]:
    return [
        [
            shown.entry.title if i == 0 else "",
            one.world,
            one.task,
            _number(one.success, 3),
            _number(one.best_success, 3),
            _number(one.steps, 2),
            _number(one.best_steps, 2),
            _number(one.score, 5),
            _number(one.best_score, 5),
            one.verdict,
        ]
        for i, one in enumerate(shown.tasks)
    ]


def _number(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _document(shown: Shown) -> dict[str, object]:
    entry = shown.entry
    return {
        "name": entry.name,
        "title": entry.title,
        "values": entry.values,
        "bar": entry.bar,
        "ok": shown.ok,
        "seconds": shown.seconds,
        "cpu_seconds": shown.cpu_seconds,
        "tasks": [{**asdict(one), "verdict": one.verdict} for one in shown.tasks],
        "measured": [asdict(row) for row in shown.measured],
    }
