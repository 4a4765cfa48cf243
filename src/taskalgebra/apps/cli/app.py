"""The command and its subcommands, one module each."""

from __future__ import annotations

from typing import Annotated

import typer

from taskalgebra import __version__
from taskalgebra.apps.cli import (
    bench,
    check,
    evaluate,
    learn,
    listing,
    play,
    reproduce,
    solve,
    sweep,
)
from taskalgebra.apps.cli.commands import add, epilog

EXAMPLES = (
    ('solve "top ^ left"', "solve a task that was never learned"),
    ("list", "see worlds, skills and figures"),
    ("reproduce all", "reproduce every result of the paper"),
    ("solve --help", "see how to use a command"),
)

app = typer.Typer(
    name="taskalgebra",
    help="Zero-shot composition of reinforcement-learning tasks with AND, OR and NOT.",
    no_args_is_help=True,
    epilog=epilog(EXAMPLES),
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
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


add(app, solve.solve, solve.EXAMPLES)
add(app, learn.learn, learn.EXAMPLES)
add(app, evaluate.evaluate, evaluate.EXAMPLES)
add(app, check.check, check.EXAMPLES)
add(app, reproduce.reproduce, reproduce.EXAMPLES)
add(app, sweep.sweep, sweep.EXAMPLES)
add(app, play.play, play.EXAMPLES)
add(app, bench.bench, bench.EXAMPLES)
add(app, listing.list_, listing.EXAMPLES)
