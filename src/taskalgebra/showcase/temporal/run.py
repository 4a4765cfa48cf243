"""Run the report on tasks with time: measure each part, keep its result, and write the tables.

Below `out/results/temporal`, each part has a result of its own, kept unless it is asked for anew;
`published` holds what others report, `temporal.md` the tables and `figures/` a picture of all parts
that are there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from taskalgebra import files
from taskalgebra.extras import missing
from taskalgebra.paper.results.record import Result, Table, load
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.showcase.run import PACKAGES, lacking, require_extras
from taskalgebra.showcase.temporal.published import PUBLISHED
from taskalgebra.showcase.temporal.record import Entry, Measured, Published, Shown
from taskalgebra.showcase.temporal.table import page
from taskalgebra.validation import closest, listed

MODULES = ("office", "letters", "flat", "moving", "babyai", "puzzle")
"""The modules of this package with a list `ENTRIES`."""
TABLES = "temporal.md"
PICTURE = "figures/temporal"
OTHERS = "published"
COLUMNS = tuple(field.name for field in fields(Measured))


def entries() -> dict[str, Entry]:
    """All parts by name, in the order of the tables."""
    modules = (import_module(f"taskalgebra.showcase.temporal.{name}") for name in MODULES)
    return {entry.name: entry for module in modules for entry in module.ENTRIES}


def chosen(names: Sequence[str]) -> list[Entry]:
    """Parts by name, or all; of all, those aside only where their extras are installed.

    Raises:
        ValueError: there is no such part.
    """
    known = entries()
    for name in names:
        if name not in known:
            raise ValueError(
                f"unknown part {name!r}; there are {listed(list(known), 40)}"
                f"{closest(name, list(known))}"
            )
    all_parts = [one for one in known.values() if not (one.aside and lacking(one.extras))]
    return [known[name] for name in names] or all_parts


def left_out() -> list[str]:
    """Why parts are missing from a run of all, in words."""
    return [
        f"left out: {missing(one.title, PACKAGES[extra], extra)}"
        for one in entries().values()
        if one.aside
        for extra in lacking(one.extras)
    ]


def run(
    names: Sequence[str] = (),
    out: Path = Path(),
    *,
    fresh: bool = False,
    quick: bool = False,
    listener: Listener = silent,
) -> Iterator[Shown]:
    """Run parts one after the other, and write the tables and, with matplotlib, the picture.

    Raises:
        ModuleNotFoundError: a part needs an extra that is not installed.
        ValueError: there is no such part, or a result cannot be read.
    """
    picked = chosen(names)
    for entry in picked:
        require_extras(entry.title, entry.extras)
    directory = out / "results" / "temporal"
    for i, entry in enumerate(picked):
        listener(Event(entry.title, i / len(picked)))
        shown = None if fresh else kept(entry, directory)
        if shown is None or (shown.quick and not quick):
            shown = _run(entry, quick)
            _save(shown, directory)
        listener(Event(entry.title, (i + 1) / len(picked), seconds=shown.seconds, kept=shown.kept))
        yield shown
    write(directory)


def write(directory: Path) -> list[Path]:
    """Write what follows from the results that are there; returns the files to look at."""
    columns = [field.name for field in fields(Published)]
    table = Table.of_rows(columns, [astuple(one) for one in PUBLISHED])
    Result(OTHERS, {}, {OTHERS: table}).save(directory)
    parts = all_kept(directory)
    files.replace(directory / TABLES, page(parts, PUBLISHED).encode())
    written = [directory / TABLES]
    if find_spec("matplotlib") is not None:
        from taskalgebra.paper.figures.style import save
        from taskalgebra.showcase.temporal.figure import draw

        written += save(draw(parts, PUBLISHED), directory / PICTURE)
    return written


def all_kept(directory: Path) -> list[Shown]:
    """The parts whose results are there, in the order of the tables."""
    found = (kept(entry, directory) for entry in entries().values())
    return [shown for shown in found if shown is not None]


def kept(entry: Entry, directory: Path) -> Shown | None:
    """A part whose result is there.

    Raises:
        ValueError: the result cannot be read.
    """
    try:
        result = load(entry.name, directory)
    except FileNotFoundError:
        return None
    measured = tuple(Measured(**_typed(row)) for row in result.table.rows())
    config = result.config
    quick = bool(config.get("quick", False))
    return Shown(entry, measured, config["seconds"], config["cpu_seconds"], quick, kept=True)


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    """A row as it was written: the name of a task may look like a number."""
    words = ("world", "task", "formula", "values", "bound")
    return {name: str(value) if name in words else value for name, value in row.items()}


def _run(entry: Entry, quick: bool) -> Shown:
    start, cpu = time.perf_counter(), time.process_time()
    measured = tuple(entry.measure(quick))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return Shown(entry, measured, round(seconds, 1), round(cpu, 1), quick)


def _save(shown: Shown, directory: Path) -> None:
    entry = shown.entry
    config = {
        "title": entry.title,
        "values": entry.values,
        "score": entry.score,
        "bar": entry.bar,
        "ok": shown.ok,
        "learning_steps": sorted({row.learning_steps for row in shown.rows}),
        "verdicts": {f"{one.world}, {one.task}": one.verdict for one in shown.tasks},
        "seconds": shown.seconds,
        "cpu_seconds": shown.cpu_seconds,
        **({"quick": True} if shown.quick else {}),
    }
    rows = Table.of_rows(COLUMNS, [astuple(row) for row in shown.measured])
    Result(entry.name, config, {entry.name: rows}).save(directory)
