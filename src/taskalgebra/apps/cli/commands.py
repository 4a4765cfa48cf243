"""What all commands share: options, examples, and how errors are reported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from taskalgebra.apps.cli.exit_codes import FAILED, INTERRUPTED, OK, STOPPED, USAGE
from taskalgebra.folder import StoreError
from taskalgebra.limits import MOST_EPISODES, MOST_SEED
from taskalgebra.skills import catalogue

if TYPE_CHECKING:
    from taskalgebra.skills.skills import Skills


def _complete_world(incomplete: str) -> list[tuple[str, str]]:
    return catalogue.completions(incomplete)


WORLD_HELP = "A name from `list worlds`, a text file with a map, or a directory with skills."
LEARNED_HELP = "A name from `list worlds`, or a text file with a map."
WorldOption = Annotated[
    str,
    typer.Option("--world", "-w", metavar="NAME", autocompletion=_complete_world, help=WORLD_HELP),
]
WorldArgument = Annotated[
    str, typer.Argument(metavar="WORLD", autocompletion=_complete_world, help=WORLD_HELP)
]
LearnedWorld = Annotated[
    str, typer.Argument(metavar="WORLD", autocompletion=_complete_world, help=LEARNED_HELP)
]
Tasks = Annotated[
    list[str] | None,
    typer.Option(
        "--tasks",
        "-t",
        metavar="TASK",
        help="A base task: a name, or NAME=GOAL,GOAL. Repeat for more than one.",
    ),
]
Slip = Annotated[
    float,
    typer.Option(
        "--slip",
        metavar="P",
        min=0.0,
        max=1.0,
        show_default=False,
        help="Probability that a move slips; for Four Rooms and maps.",
    ),
]
GoalReward = Annotated[
    str | None,
    typer.Option(
        "--goal-reward",
        metavar="R",
        show_default=False,
        help="What a desired goal pays, default 2; auto: enough to be worth the way from every "
        "start. For Four Rooms and maps.",
    ),
]
Episodes = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=MOST_EPISODES,
        help="Episodes to play; default 1000, in open worlds 100.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(metavar="N", min=0, max=MOST_SEED, help="Equal seeds give equal results."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only errors, and JSON with --json.")
]


def usual_episodes(skills: Skills) -> int:
    """Episodes to play by default: in open worlds they take longer."""
    return 1000 if skills.space.finite else 100


GAME = catalogue.ENTRIES[catalogue.SHIPPED[0]]
GAME_TASK = " ^ ".join(GAME.tasks[:2])
"""A world played from pixels, and a task of it, for examples."""
Examples = Sequence[tuple[str, str]]
"""Commands, without `taskalgebra`, and what each does."""


class Failure(Exception):
    """A command cannot do what was asked; the message says why and what to do."""


def epilog(examples: Examples) -> str:
    """Examples as the end of a help page."""
    lines = [f"{escape(f'taskalgebra {given}')}\n    [dim]{does}[/dim]" for given, does in examples]
    return "\n".join(["[bold]Examples[/bold]", *lines])


def add(app: typer.Typer, command: Callable[..., int], examples: Examples) -> None:
    """Add a command, which returns its exit code, under the name of its function."""
    app.command(command.__name__.rstrip("_"), epilog=epilog(examples))(_guarded(command))


def _guarded(command: Callable[..., int]) -> Callable[..., None]:
    """Turn exceptions into a message and an exit code."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            code = command(*args, **kwargs)
        except KeyboardInterrupt as stopped:
            print(f"\n{str(stopped) or STOPPED}", file=sys.stderr)
            code = INTERRUPTED
        except BrokenPipeError:
            raise  # the reader closed the pipe; typer handles it
        except (Failure, StoreError, OSError, ModuleNotFoundError) as error:
            print(f"taskalgebra: {error}", file=sys.stderr)
            code = FAILED
        except MemoryError as error:
            print(f"taskalgebra: not enough memory; ask for less ({error})", file=sys.stderr)
            code = FAILED
        except ValueError as error:  # the library refuses what was given
            print(f"taskalgebra: {error}", file=sys.stderr)
            code = USAGE
        if code != OK:
            raise typer.Exit(code)

    return run
