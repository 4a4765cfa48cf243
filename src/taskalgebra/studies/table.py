"""The table of a study: one row per world, learner, seed and task; its provenance and summary.

The table is a CSV file, or a Parquet file where pyarrow is installed.  Each row names the digest of
the file that asked for it.  Beside a CSV file lies `NAME.provenance.json`; a Parquet file holds the
same in its metadata.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from taskalgebra import __version__, files
from taskalgebra.extras import missing
from taskalgebra.paper.results.provenance import machine, versions
from taskalgebra.paper.results.record import Table
from taskalgebra.paper.results.resampling import interval
from taskalgebra.progress import Listener, silent
from taskalgebra.studies.measuring import FIGURES, measure
from taskalgebra.studies.study import Study
from taskalgebra.sweeps.cells import Cell
from taskalgebra.sweeps.engines import SERIAL
from taskalgebra.sweeps.running import run
from taskalgebra.sweeps.serial import Engine

CSV, PARQUET = ".csv", ".parquet"
COLUMNS = ("world", "slip", "learner", "seed", "task", "episodes", *FIGURES, "study", "version")
SUMMARY = (
    *("world", "learner", "task", "seeds"),
    *("mean_return", "low", "high", "optimal_return", "success_rate", "success_low"),
    *("success_high", "mean_loss", "optimal_seeds"),
)
EXACT = 1e-9
"""A loss of no more than this is none; sums of rewards are rounded at 1e-15."""


def run_study(
    study: Study,
    source: bytes,
    engine: str | Engine = SERIAL,
    *,
    keep: Path | None = None,
    listener: Listener = silent,
) -> Table:
    """Run every cell, and make the table; `source` is the file that the study was read from."""
    learnings = list(study.learnings())
    cells = [Cell(measure, each, str(each)) for each in learnings]
    found = run(cells, engine, keep=keep, listener=listener)
    named = hashlib.sha256(source).hexdigest()[:16], __version__
    rows = []
    for one, of_tasks in zip(learnings, found, strict=True):
        what = (one.world.title, float(one.world.slip), one.learner.title, one.number)
        rows += [(*what, text, one.episodes, *figures, *named) for text, *figures in of_tasks]
    return Table.of_rows(COLUMNS, rows)


def summary(table: Table) -> Table:
    """One row per world, learner and task: means over seeds, with 95 % intervals of these."""
    rows = []
    groups: dict[tuple[str, str, str], list[int]] = {}
    names = (table[name].tolist() for name in ("world", "learner", "task"))
    for i, key in enumerate(zip(*names, strict=True)):
        groups.setdefault(key, []).append(i)
    for key, own in groups.items():
        returns, successes, losses = (
            table[name][own] for name in ("mean_return", "success_rate", "mean_loss")
        )
        optimum = float(table["optimal_return"][own].mean())
        ends = [float(end) for values in (returns, successes) for end in interval(values)]
        none = int((table["worst_loss"][own] <= EXACT).sum())
        success = (float(successes.mean()), *ends[2:])
        mean = (float(returns.mean()), *ends[:2])
        rows.append((*key, len(own), *mean, optimum, *success, float(np.mean(losses)), none))
    return Table.of_rows(SUMMARY, rows)


def provenance(study: Study, source: bytes, path: Path, engine: str) -> dict[str, Any]:
    """What the table was made from, when, where, and with which versions."""
    return {
        "file": path.name,
        "sha256": hashlib.sha256(source).hexdigest(),
        "study": source.decode(),
        "maps": {world.name: world.map for world in study.worlds if world.map},
        "seed": study.seed,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "engine": engine,
        "machine": machine(),
        "versions": versions(),
    }


def require_format(path: Path) -> None:
    """Refuse endings that are neither CSV nor Parquet, before anything is run.

    Raises:
        ValueError: it ends otherwise, or is a directory.
        ModuleNotFoundError: Parquet needs pyarrow.
    """
    if path.suffix not in (CSV, PARQUET):
        raise ValueError(
            f"{path} ends in {path.suffix!r}; a table is written as {CSV} or {PARQUET}"
        )
    for file in (path, _beside(path)):
        if file.is_dir():
            raise ValueError(f"{file} is a directory; give another name to the table")
    if path.suffix == PARQUET and find_spec("pyarrow") is None:
        raise ModuleNotFoundError(missing("Parquet files", "pyarrow", "parquet"))


def write(table: Table, made: Mapping[str, Any], path: Path) -> list[Path]:
    """Write the table and its provenance; returns the files.

    Raises:
        OSError: there is no room, or no right to write; the old files are as they were.
    """
    words = json.dumps(made, indent=2, ensure_ascii=False) + "\n"
    if path.suffix == CSV:
        contents = {_beside(path): words.encode(), path: table.to_csv().encode()}
    else:
        contents = {path: _parquet(table, words)}
    with files.made(path.parent):
        files.replace_all(contents)
    return list(reversed(contents))


def _beside(path: Path) -> Path:
    """Where the provenance of a CSV file is written."""
    return path.with_suffix(".provenance.json")


def _parquet(table: Table, words: str) -> bytes:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    found = arrow.table({name: column.tolist() for name, column in table.items()})
    buffer = io.BytesIO()
    parquet.write_table(found.replace_schema_metadata({"taskalgebra": words}), buffer)
    return buffer.getvalue()


def lines_of(found: Table) -> Sequence[Sequence[str]]:
    """A summary in words, for a terminal: one list of entries per row."""
    return [
        [
            *(row["world"], row["learner"], row["task"]),
            f"{row['mean_return']:.4f}",
            f"{row['low']:.4f} … {row['high']:.4f}",
            f"{row['optimal_return']:.4f}",
            f"{100 * row['success_rate']:.1f} %",
            f"{row['optimal_seeds']} of {row['seeds']}",
        ]
        for row in found.rows()
    ]
