"""`taskalgebra reproduce`: the paper's experiments, figures and claims, and the report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taskalgebra import files
from taskalgebra.apps.cli.claims import TOY, counted, print_claim
from taskalgebra.apps.cli.commands import Failure, Json, Quiet
from taskalgebra.apps.cli.exit_codes import OK
from taskalgebra.apps.cli.output import Output
from taskalgebra.apps.cli.temporal import parts_of, reproduce_temporal
from taskalgebra.apps.cli.trust import reproduce_trust, trust_parts_of
from taskalgebra.apps.cli.worlds import names_of, reproduce_worlds
from taskalgebra.folder import StoreError
from taskalgebra.limits import MOST_THREADS
from taskalgebra.paper.reproduce import ABOUT, ALL, Options, figures_of
from taskalgebra.paper.reproduce import reproduce as run
from taskalgebra.paper.results.labels import DEEP
from taskalgebra.progress import Event, Listener, Meter
from taskalgebra.sweeps.engines import ENGINES

if TYPE_CHECKING:
    from taskalgebra.paper.reproduce import Outcome
    from taskalgebra.sweeps.serial import Engine

HERE, QUICK = Path(), Path("quick")
PART = 24  # columns for the name of a part
EXAMPLES = (
    ("reproduce", "everything, and report/index.html; finished results are kept"),
    ("reproduce all --fresh --out /tmp/paper", "everything from scratch, elsewhere: some minutes"),
    ("reproduce figure-3", "one figure, with its experiments and claims"),
    ("reproduce deep --train", "with networks trained from scratch: an hour"),
    ("reproduce worlds", "other people's worlds and agents; finished ones are kept"),
    ("reproduce temporal", "tasks with time, beside published figures"),
    ("reproduce trust", "what is lost where the theory ends, and how to get it back"),
    ("reproduce tabular --engine ray --address 10.0.0.1:6379", "on a Ray cluster: the same bits"),
    ("reproduce --quick", "everything at toy size, in quick/"),
)


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            metavar="tabular|deep|FIGURE|all|worlds|WORLD|temporal|trust|PART",
            help="Four Rooms and the theorems; the experiments with networks; one figure, such as "
            "figure-3 or supplement_slips; or all, with the report.  Beyond the paper: other "
            "people's worlds and agents, or one of them, such as taxi; tasks with time beside "
            "published figures, or a part of them, such as office-planned; what is lost where the "
            "theory ends, or a part of it, such as trust-slips.",
        ),
    ] = ALL,
    out: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            metavar="DIR",
            help=f"Parent of results/ and report/ (default: here; with --quick: {QUICK}).",
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run finished experiments again.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Toy size: see everything run in seconds.")
    ] = False,
    workers: Annotated[
        int,
        typer.Option(min=1, max=MOST_THREADS, help="Cells at once; results do not depend on it."),
    ] = 2,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(ENGINES),
            help="Where cells of experiments run: in this process, in processes of this machine, "
            "or on Ray; results do not depend on it (default: processes; with --quick: serial).",
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="The Ray cluster; without one, Ray is started here."
        ),
    ] = None,
    train: Annotated[
        bool,
        typer.Option(
            "--train",
            help="Train networks in results/deep/skills and evaluate these instead of those that "
            "come with the library; a training that was stopped resumes.",
        ),
    ] = False,
    skills: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            metavar="DIR",
            help="Evaluate the skills in DIR instead of those that come with the library.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run the paper's experiments, draw its figures, judge its claims, and write the report."""
    if train and skills:
        raise typer.BadParameter("--train makes skills and --skills takes others; give one of them")
    out, skills = out and files.at(out), skills and files.at(skills)
    options = Options(
        out or (QUICK if quick else HERE), fresh, quick, workers, train, skills, engine, address
    )
    cells = opened(options)
    output = Output(json, quiet)
    names, parts, trusted = names_of(what), parts_of(what), trust_parts_of(what)
    if names is None and parts is None and trusted is None:
        _check(what, options)
    elif train or skills:
        raise typer.BadParameter("--train and --skills are for the paper's networks")
    try:
        files.require_writable(options.out / "results")
    except OSError as error:
        hint = "; choose a directory with --out DIR" if out is None else ""
        raise Failure(
            f"cannot write to {options.out / 'results'}: {error.strerror}{hint}"
        ) from None
    if names is not None:
        return reproduce_worlds(names, options.out, output, fresh=fresh, quick=quick)
    if parts is not None:
        return reproduce_temporal(parts, options.out, output, fresh=fresh, quick=quick)
    if trusted is not None:
        with stopping(), cells as own:
            return reproduce_trust(
                trusted, options.out, output, fresh=fresh, quick=quick, engine=own
            )
    finished: list[Event] = []
    with output.progress("") as meter, stopping():
        try:
            outcome = run(what, options, reporter(output, meter, finished))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_stopped(finished, options)) from None
        except StoreError as error:
            hint = "train them with: taskalgebra reproduce deep --train"
            raise Failure(f"{error}; {hint}") from error
        except ValueError as error:  # usage was checked, so a result is damaged
            raise Failure(str(error)) from error
    _print(outcome, options, output)
    output.figures(_document(what, outcome, options))
    return OK


def opened(options: Options) -> Engine:
    """The engine, not yet started; wrong usage, exit code 2, is reported before anything starts."""
    try:
        return options.open()
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--engine") from None
    except ModuleNotFoundError as error:
        raise Failure(str(error)) from None


@contextmanager
def stopping() -> Iterator[None]:
    """A sweep that cannot be finished is a failure with a message."""
    from taskalgebra.sweeps.cells import SweepError

    try:
        yield
    except SweepError as error:
        raise Failure(str(error)) from error


def _check(what: str, options: Options) -> None:
    """Report wrong usage, exit code 2, before anything starts."""
    try:
        deep = DEEP in figures_of(what)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="FIGURE") from None
    if not deep and (options.train or options.skills):
        raise typer.BadParameter(f"--train and --skills are for networks, and {what} needs none")


def _stopped(finished: list[Event], options: Options) -> str:
    """What is true after Ctrl-C."""
    again = "the same command without --fresh" if options.fresh else "the same command"
    if finished:
        return f"stopped; finished results are kept in {options.out}, and {again} continues"
    return f"stopped before anything was finished; {again} starts again"


def reporter(output: Output, meter: Meter, finished: list[Event] | None = None) -> Listener:
    """A listener that prints how long each part took, and keeps the parts that are finished."""

    def report(event: Event) -> None:
        meter(replace(event, score=None))
        if event.seconds is not None:
            if finished is not None:
                finished.append(event)
            files = f", {len(event.written)} files" if len(event.written) > 1 else ""
            took = "kept" if event.kept else f"{event.seconds:.1f} s{files}"
            output.note(f"{event.what:<{PART}}{took}")
        elif event.score is not None:
            output.note(
                f"{event.what}: {event.n_updates:,} updates, {event.n_steps:,} steps, "
                f"loss {event.loss:.3f}, worst score {event.score:.4f}"
            )

    return report


def _print(outcome: Outcome, options: Options, output: Output) -> None:
    for half, claims in outcome.claims.items():
        size = ", at toy size" if options.quick else ""
        output.line(f"\nThe paper's claims about {ABOUT[half]}{size}\n")
        for claim in claims:
            print_claim(claim, output)
        output.line(f"{half}: {counted(claims)}; results in {options.results(half)}")
    written = [path for part in outcome.parts for path in part.written]
    if outcome.report is None and len(written) <= 6:
        for path in written:
            output.line(str(path))
    if outcome.report is not None:
        output.line(f"The report: {outcome.report}")
    if options.quick:
        output.line(TOY)


def _document(what: str, outcome: Outcome, options: Options) -> dict[str, object]:
    """What `--json` prints."""
    return {
        "what": what,
        "quick": options.quick,
        "claims": {
            half: [asdict(claim) for claim in claims] for half, claims in outcome.claims.items()
        },
        "parts": [
            {
                "name": part.what,
                "seconds": round(part.seconds or 0.0, 3),
                "kept": part.kept,
                "written": [str(path) for path in part.written],
            }
            for part in outcome.parts
        ],
        "results": {half: str(options.results(half)) for half in outcome.claims},
        "report": None if outcome.report is None else str(outcome.report),
    }
