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

from taskalgebra.apps.cli import FAILED, OK
from taskalgebra.apps.cli.commands import Failure, Json, Quiet
from taskalgebra.apps.cli.output import Output

RUNNER = "run_all.py"
RECORDS = "TASKALGEBRA_BENCH_RECORDS"  # the variable that benchmarks/report.py reads
PACKAGES = ("boolean", "dd", "playwright", "pygame", "scipy", "torch")  # of the extra `bench`
EXAMPLES = (
    ("bench", "all of them: some minutes"),
    ("bench imports planning", "two of them"),
    ("bench imports --json", "figures and bars, for a script"),
)


def _complete(incomplete: str) -> list[str]:
    found = _directory(None)
    return [] if found is None else [n for n in names(found) if n.startswith(incomplete)]


def bench(
    benchmarks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", autocompletion=_complete, help="Which; by default all of them."
        ),
    ] = None,
    clone: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", file_okay=False, help="The clone; by default this directory is tried."
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Measure the speed claims of the library.

    The exit code is 1 if one falls short. Benchmarks are part of the repository, not of the
    installed package, and need the extra `bench`.
    """
    directory = _directory(clone)
    if directory is None:
        where = "the current directory" if clone is None else clone
        raise Failure(
            f"no benchmarks in {where}: they are part of the repository, not of the package; run "
            f"this in a clone, or give --clone DIR"
        )
    known = names(directory)
    for name in benchmarks or []:
        if name not in known:
            raise typer.BadParameter(f"no benchmark {name!r}; there are {', '.join(known)}")
    chosen = benchmarks or known
    for name in chosen:
        missing = [p for p in _needs(directory / f"{name}.py") if find_spec(p) is None]
        if missing:
            raise Failure(f'{name} needs {missing[0]}: pip install "taskalgebra[bench]"')
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
    """Where the benchmarks are: in the clone that is given, here, or where the package is from."""
    places = [clone] if clone is not None else [Path(), Path(__file__).parents[4]]
    for place in places:
        if (place / "benchmarks" / RUNNER).is_file():
            return place / "benchmarks"
    return None


def names(directory: Path) -> list[str]:
    """The benchmarks of a directory: the files that can be run and do not run the others."""
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
    """Run one in a process of its own; returns its exit code and its figures."""
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records"
        done = subprocess.run(
            [sys.executable, str(script)],
            stdout=None if show else subprocess.DEVNULL,
            env={**os.environ, RECORDS: str(records)},
            check=False,
        )
        lines = records.read_text(encoding="utf-8").splitlines() if records.exists() else []
    return done.returncode, [loads(line) for line in lines]
