"""The command and its subcommands, one module each."""

from __future__ import annotations

from typing import Annotated

import typer

from taskalgebra import __version__
from taskalgebra.cli import play, reproduce, solve
from taskalgebra.cli.commands import add

app = typer.Typer(
    name="taskalgebra",
    help="Zero-shot composition of reinforcement-learning tasks with AND, OR and NOT.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"taskalgebra {__version__}")
        raise typer.Exit()


@app.callback()
def taskalgebra(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Zero-shot composition of reinforcement-learning tasks with AND, OR and NOT."""


add(app, solve.solve, examples=solve.EXAMPLES)
add(app, reproduce.reproduce, examples=reproduce.EXAMPLES)
add(app, play.play, examples=play.EXAMPLES)
