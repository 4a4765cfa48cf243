"""`taskalgebra play`: a world to edit and watch, in the browser."""

from __future__ import annotations

from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from taskalgebra import files
from taskalgebra.apps.cli.commands import Failure
from taskalgebra.apps.cli.exit_codes import OK
from taskalgebra.apps.cli.output import Output
from taskalgebra.extras import missing
from taskalgebra.skills import catalogue

EXAMPLES = (
    ("play", "open the playground in the browser"),
    ("play maze.txt", "on a map of your own"),
    ("play --no-browser --port 8000", "serve at http://127.0.0.1:8000/ without opening it"),
    ("play --export page", "write page/index.html, which needs no server"),
)


def play(
    world: Annotated[
        str | None,
        typer.Argument(
            metavar="[WORLD]",
            show_default=False,
            help="A map in a file, or the name of a world with states, to begin with.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port; default: the first free one from 8765."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            show_default=False,
            help="Write a page that needs no server to a new directory, and serve nothing.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the page that is in DIR.")
    ] = False,
) -> int:
    """Open a page in the browser to edit a world, write tasks and watch agents act.

    Only this machine can reach the page. Stop it with Ctrl-C. With --export, the page is written to
    a file that opens anywhere, and plans in the browser.
    """
    for package in ("fastapi", "uvicorn", "orjson"):
        if find_spec(package) is None:
            raise Failure(missing("the playground", package, "web"))
    output = Output()
    if export is not None and world is not None:
        raise typer.BadParameter("--export writes all worlds; leave WORLD out")
    if export is not None and port is not None:
        raise typer.BadParameter("a page without a server has no port; leave --port out")
    if export is not None:
        _write(files.at(export), output, force=force)
        return OK
    if force:
        raise typer.BadParameter("--force is for --export DIR")
    fragment = "" if world is None else _fragment(world, output)
    from taskalgebra.apps.playground.serve import serve

    with ExitStack() as until_it_answers:
        until_it_answers.enter_context(output.progress("starting"))

        def announce(address: str) -> None:
            until_it_answers.close()
            output.line(f"The playground is at {address}  (Ctrl-C stops it)")
            output.out.file.flush()

        serve(port, announce, browser=browser, fragment=fragment)
    return OK


def _fragment(world: str, output: Output) -> str:
    """The part of the address that shows a world, planned."""
    with output.progress("planning"):
        skills = catalogue.open_skills(world)
    from taskalgebra.apps.playground.opened import fragment
    from taskalgebra.logic.text import quote

    try:
        return fragment(skills, quote(next(iter(skills.tasks))))
    except (TypeError, ValueError) as error:
        raise Failure(f"{world}: {error}") from None


def _write(directory: Path, output: Output, *, force: bool) -> None:
    from taskalgebra.apps.playground.export import ExportError, write

    try:
        page = write(directory, force=force)
    except (ExportError, OSError) as error:
        raise Failure(str(error)) from None
    output.line(f"The page is {page}; open it in a browser, or put it on any host.")
