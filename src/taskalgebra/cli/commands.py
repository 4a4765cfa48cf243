"""What all commands share: their options, their examples, and how errors are told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from taskalgebra.cli import FAILED, INTERRUPTED, OK

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of text and tables.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors only, and what --json asks for.")
]
Seed = Annotated[int, typer.Option(min=0, help="Equal seeds give equal results.")]

Examples = Sequence[tuple[str, str]]
"""Commands without `taskalgebra`, and what each does."""


class Failure(Exception):
    """A command cannot do what was asked; the text says why and what to do."""


def add(app: typer.Typer, command: Callable[..., int], *, examples: Examples) -> None:
    """Add a command under the name of its function; it returns its exit code."""
    lines = [
        f"taskalgebra {given}\n\n[dim]{does}[/dim]".replace("[-", "\\[-")
        for given, does in examples
    ]
    name = command.__name__.rstrip("_")
    app.command(name, epilog="\n\n".join(["[bold]Examples[/bold]", *lines]))(_guarded(command))


def _guarded(command: Callable[..., int]) -> Callable[..., None]:
    """Turn what goes wrong into a sentence and an exit code."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            code = command(*args, **kwargs)
        except KeyboardInterrupt:
            print("\nstopped; finished results are kept", file=sys.stderr)
            code = INTERRUPTED
        except BrokenPipeError:
            raise
        except (Failure, OSError, ValueError, ModuleNotFoundError) as error:
            print(f"taskalgebra: {error}", file=sys.stderr)
            code = FAILED
        if code != OK:
            raise typer.Exit(code)

    return run
