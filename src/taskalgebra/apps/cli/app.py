"""The command and its subcommands, one module each."""

from __future__ import annotations

from typing import Annotated

import typer

from taskalgebra import __version__
from taskalgebra.apps.cli import bench, check, evaluate, learn, listing, play, reproduce, solve
from taskalgebra.apps.cli.commands import add, told

EXAMPLES = (
    ('solve "top ^ left"', "see a task being solved that nobody learned"),
    ("list", "see what there is"),
    ("reproduce all", "make every result of the paper anew"),
    ("solve --help", "how a command is used"),
)

app = typer.Typer(
    name="taskalgebra",
    help="Zero-shot composition of reinforcement-learning tasks with AND, OR and NOT.",
    no_args_is_help=True,
    epilog=told(EXAMPLES),
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


for command in (
    (solve.solve, solve.EXAMPLES),
    (learn.learn, learn.EXAMPLES),
    (evaluate.evaluate, evaluate.EXAMPLES),
    (check.check, check.EXAMPLES),
    (reproduce.reproduce, reproduce.EXAMPLES),
    (play.play, play.EXAMPLES),
    (bench.bench, bench.EXAMPLES),
    (listing.list_, listing.EXAMPLES),
):
    add(app, command[0], examples=command[1])
