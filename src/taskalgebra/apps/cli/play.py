"""`taskalgebra play`: a world to edit and watch, in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from taskalgebra.apps.cli.commands import Failure
from taskalgebra.apps.cli.exit_codes import OK
from taskalgebra.apps.cli.output import Output
from taskalgebra.extras import missing

EXAMPLES = (
    ("play", "open the playground in the browser"),
    ("play --no-browser --port 8000", "serve at http://127.0.0.1:8000/ without opening it"),
)


def play(
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port; default: the first free one from 8765."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
) -> int:
    """Open a page in the browser to edit a world, write tasks and watch agents act.

    Only this machine can reach the page. Stop it with Ctrl-C.
    """
    for package in ("fastapi", "uvicorn", "orjson"):
        if find_spec(package) is None:
            raise Failure(missing("the playground", package, "web"))
    from taskalgebra.apps.playground.serve import serve

    output = Output()

    def announce(address: str) -> None:
        output.line(f"The playground is at {address}  (Ctrl-C stops it)")
        output.out.file.flush()

    serve(port, announce, browser=browser)
    return OK
