"""`taskalgebra bench`: measure the speed claims, in a clone of the repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from json import loads
from pathlib import Path
from typing import Annotated, Any

import typer

from taskalgebra.apps.cli.commands import Failure, Json, Quiet
from taskalgebra.apps.cli.exit_codes import FAILED, OK
from taskalgebra.apps.cli.output import Output
from taskalgebra.extras import missing

RUNNER = "run_all.py"
RECORDS = "TASKALGEBRA_BENCH_RECORDS"  # the variable that benchmarks/report.py reads
PACKAGES = ("boolean", "dd", "playwright", "pygame", "scipy", "torch")  # of the extra `bench`
EXAMPLES = (
    ("bench", "all benchmarks: a few minutes"),
    ("bench imports planning", "two benchmarks"),
    ("bench imports --json", "figures and bars as JSON, for a script"),
)


def _complete(incomplete: str) -> list[str]:
    found = _directory(None)
    return [] if found is None else [n for n in names(found) if n.startswith(incomplete)]


def bench(
    benchmarks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", autocompletion=_complete, help="Benchmarks to run; by default all."
        ),
    ] = None,
    clone: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", file_okay=False, help="A clone; by default the current directory."
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Measure the speed claims of the library.

    The exit code is 1 if a claim is missed. Benchmarks are part of the repository, not of the
    installed package, and need the extra `bench`.
    """
    directory = _directory(clone)
    if directory is None:
        raise Failure(
            f"no benchmarks in {clone or 'the current directory'}: they are part of the "
            f"repository, not of the package; run this in a clone, or give --clone DIR"
        )
    known = names(directory)
    chosen = benchmarks or known
    for name in chosen:
        if name not in known:
            raise typer.BadParameter(f"no benchmark {name!r}; there are {', '.join(known)}")
    for name in chosen:
        absent = [p for p in _needs(directory / f"{name}.py") if find_spec(p) is None]
        if absent:
            raise Failure(missing(f"the benchmark {name}", absent[0], "bench"))
    output = Output(json, quiet)
    records: dict[str, list[dict[str, Any]]] = {}
    short = []
    for name in chosen:
        output.line(f"\n== {name}")
        output.out.file.flush()
        code, records[name] = _run(directory / f"{name}.py", show=output.text)
        if code:
            short.append(name)
    if short:
        output.line(f"\nshort: {', '.join(short)}")
    output.figures({"benchmarks": records, "short": short})
    return FAILED if short else OK


def _directory(clone: Path | None) -> Path | None:
    """The benchmarks of the given clone, of this directory, or of the installed clone."""
    places = [clone] if clone is not None else [Path(), Path(__file__).parents[4]]
    for place in places:
        if (place / "benchmarks" / RUNNER).is_file():
            return place / "benchmarks"
    return None


def names(directory: Path) -> list[str]:
    """The benchmarks of a directory: its scripts, without the one that runs them all."""
    return sorted(
        path.stem
        for path in directory.glob("*.py")
        if path.name != RUNNER and '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    )


def _needs(script: Path) -> list[str]:
    """The packages of the extra `bench` that a script imports."""
    text = script.read_text(encoding="utf-8")
    return [p for p in PACKAGES if re.search(rf"^\s*(import|from) {p}\b", text, re.MULTILINE)]


def _run(script: Path, *, show: bool) -> tuple[int, list[dict[str, Any]]]:
    """Run a benchmark in its own process; return its exit code and its figures."""
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records"
        done = subprocess.run(
            [sys.executable, str(script)],
            stdout=None if show else subprocess.DEVNULL,
            env={**os.environ, RECORDS: str(records)},
            check=False,
            process_group=0,  # Ctrl-C is ours; on the way out `run` ends the benchmark
        )
        lines = records.read_text(encoding="utf-8").splitlines() if records.exists() else []
    return done.returncode, [loads(line) for line in lines]
