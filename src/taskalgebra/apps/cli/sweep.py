"""`taskalgebra sweep`: worlds × tasks × learners × seeds, from a TOML file to one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taskalgebra import files
from taskalgebra.apps.cli.commands import Failure, Json, Quiet
from taskalgebra.apps.cli.exit_codes import OK
from taskalgebra.apps.cli.output import Output
from taskalgebra.apps.cli.reproduce import stopping
from taskalgebra.limits import MOST_THREADS
from taskalgebra.progress import Event
from taskalgebra.sweeps.engines import ENGINES, PROCESSES

COLUMNS = {
    "world": "left",
    "learner": "left",
    "task": "left",
    "return": "right",
    "95 % interval": "right",
    "optimum": "right",
    "success": "right",
    "optimal seeds": "right",
}
EXAMPLES = (
    ("sweep study.toml", "all cells in local processes, into study.csv; finished cells are kept"),
    ("sweep study.toml --engine ray --address 10.0.0.1:6379", "on a Ray cluster: the same table"),
    ("sweep study.toml --out table.parquet", "as Parquet, which needs pyarrow"),
)


def sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The study; see the guide.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="TABLE",
            help="A .csv or .parquet file (default: FILE.csv).",
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            metavar="|".join(ENGINES),
            help="Where cells run: in this process, in processes of this machine, or on Ray; "
            "results do not depend on it.",
        ),
    ] = PROCESSES,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_THREADS,
            help="Cells at once; by default one for each core. Results do not depend on it.",
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="The Ray cluster; without one, Ray is started here."
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run finished cells again.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Learn and play worlds × learners × seeds × tasks, and write one table.

    Finished cells are kept beside the table, in TABLE.cells, so that a sweep that was stopped
    continues when the same command is run again, also after the study was extended.
    """
    from taskalgebra.studies import table as tables
    from taskalgebra.studies.reading import StudyError, read
    from taskalgebra.sweeps.keeping import Keep
    from taskalgebra.sweeps.running import engine_of

    file, output = files.at(file), Output(json, quiet)
    if file.is_dir():
        raise Failure(f"{file} is a directory; give the file of a study")
    path = file.with_suffix(tables.CSV) if out is None else files.at(out)
    if path.resolve() == file.resolve():
        raise typer.BadParameter(f"the table would replace the study {file}; give another --out")
    try:
        tables.require_format(path)
        chosen = engine_of(engine, workers, address)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except ModuleNotFoundError as error:
        raise Failure(str(error)) from None
    try:
        study, source = read(file)
    except StudyError as error:
        raise Failure(str(error)) from None
    keep = Keep(path.with_name(f"{path.name}.cells"))
    try:
        files.require_writable(keep.directory)
    except OSError as error:
        raise Failure(f"cannot write to {keep.directory}: {error.strerror}") from None
    if fresh:
        keep.clear()
    kept: list[bool] = []
    with output.progress("learning") as meter, stopping(), chosen as own:

        def told(event: Event) -> None:
            kept.append(event.kept)
            meter(Event(event.what, event.share))

        try:
            found = tables.run_study(study, source, own, keep=keep.directory, listener=told)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"stopped; {len(kept)} finished cells are kept in {keep.directory}, and the same "
                f"command continues"
            ) from None
    means = tables.summary(found)
    made = tables.provenance(study, source, file, engine)
    written = tables.write(found, made, path)
    output.table(COLUMNS, tables.lines_of(means))
    output.line(f"{len(kept)} cells, {sum(kept)} of them kept; {found.n_rows:,} rows in {path}")
    output.figures(
        {
            **made,
            "cells": len(kept),
            "kept": sum(kept),
            "written": [str(each) for each in written],
            "summary": means.rows(),
        }
    )
    return OK
