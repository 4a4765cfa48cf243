"""What all commands share: options, examples, and how errors are reported."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperCommand

from taskalgebra.apps.cli.exit_codes import FAILED, INTERRUPTED, OK, STOPPED, USAGE
from taskalgebra.folder import StoreError
from taskalgebra.limits import MOST_EPISODES, MOST_SEED
from taskalgebra.skills import catalogue

if TYPE_CHECKING:
    from taskalgebra.skills.agent import Agent
    from taskalgebra.skills.skills import Skills
    from taskalgebra.skills.temporal import TemporalAgent


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
        help="Probability that a move slips; for Four Rooms, Office and maps.",
    ),
]
GoalReward = Annotated[
    str | None,
    typer.Option(
        "--goal-reward",
        metavar="R",
        show_default=False,
        help="What a desired goal pays, default 2, Office 4, FlatWorld 10; auto: enough to be "
        "worth the way from every start. Not for worlds with networks.",
    ),
]
Touch = Annotated[
    bool,
    typer.Option(
        "--touch",
        help="On a map, goals are taken by walking onto them, not by staying there.",
    ),
]
Improve = Annotated[
    bool,
    typer.Option(
        "--improve",
        help="Make the composed agent optimal first, in a finite world: by policy iteration from "
        "what it does.",
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


def agent_of(skills: Skills, text: str, improve: bool) -> Agent | TemporalAgent:
    """The agent for an expression, improved if that is asked."""
    agent = skills[text]
    if improve and not skills.space.finite:
        raise Failure("--improve plans, which needs a world that is finite; leave it out")
    return agent.improve() if improve else agent


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
    name = command.__name__.rstrip("_")
    app.command(name, cls=Command, epilog=epilog(examples))(_guarded(command))


_WRONG_USAGE: Any = typer.BadParameter.__base__


class Command(TyperCommand):
    """A command whose messages about wrong usage hold what was given, and a way out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except _WRONG_USAGE as error:
            error.message += self._hint(error, given)
            raise

    def _hint(self, error: Any, given: list[str]) -> str:
        option = getattr(error, "option_name", "")
        formula = any(param.metavar == "EXPR" for param in self.params)
        if formula and option and not option.startswith("--"):
            return "; an expression begins with a task, ~ or (, and not is written ~"
        if formula and "extra argument" in error.message:
            return '; put the expression in quotes, such as "top ^ left"'
        names = getattr(getattr(error, "param", None), "opts", ())
        value = _value_of(names, given)
        return "" if value is None or value in error.message else f", not {value!r}"


def _value_of(names: Sequence[str], given: Sequence[str]) -> str | None:
    """What was given for an option, if it was."""
    for i, word in enumerate(given):
        for name in names:
            if word == name and name.startswith("-") and i + 1 < len(given):
                return given[i + 1]
            if word.startswith(f"{name}="):
                return word.removeprefix(f"{name}=")
    return None


_OPTIONS = (
    (re.compile(r"r_universal=\"auto\""), "--goal-reward auto"),
    (re.compile(r"r_universal = "), "--goal-reward "),
    (re.compile(r"r_universal(\[\d+\])?(?!=)"), "--goal-reward"),
    (re.compile(r"r_empty = (\S+)"), r"the reward of other goals, \1,"),
    (re.compile(r"the goal reward is"), "--goal-reward is"),
    (re.compile(r"slip_probability"), "--slip"),
    (re.compile(r"^touch is"), "--touch is"),
    (re.compile(r"agent\.improve\(\)"), "--improve"),
    (re.compile(r"(or \"auto\")"), r"\1 (--goal-reward auto)"),
)


def in_options(text: str) -> str:
    """A message of the library, with options in place of arguments."""
    for argument, option in _OPTIONS:
        text = argument.sub(option, text)
    return text


def _guarded(command: Callable[..., int]) -> Callable[..., None]:
    """Turn exceptions into a message and an exit code."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except KeyboardInterrupt as stopped:
            print(f"\n{str(stopped) or STOPPED}", file=sys.stderr)
            code = INTERRUPTED
        except BrokenPipeError:
            raise  # the reader closed the pipe; typer handles it
        except (Failure, StoreError, OSError, ModuleNotFoundError) as error:
            print(f"taskalgebra: {_of_stdout(error) or error}", file=sys.stderr)
            code = FAILED
        except MemoryError as error:
            print(f"taskalgebra: not enough memory; ask for less ({error})", file=sys.stderr)
            code = FAILED
        except ValueError as error:  # the library refuses what was given
            from taskalgebra.logic.text import ExpressionError

            several = len(kwargs.get("expressions") or ()) > 1
            unquoted = several and isinstance(error, ExpressionError)
            hint = "\nput an expression with blanks in quotes" if unquoted else ""
            print(f"taskalgebra: {in_options(str(error))}{hint}", file=sys.stderr)
            code = USAGE
        if code != OK:
            raise typer.Exit(code)

    return run


def _of_stdout(error: Exception) -> str:
    """The message for an error in writing to stdout; "" for any other, which names its file."""
    full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
    if not isinstance(error, OSError) or error.filename or error.errno not in full:
        return ""
    _drop_stdout()
    return f"cannot write to standard output: {error.strerror}"


def _drop_stdout() -> None:
    """Write what is still in its buffer to nowhere, so that Python does not fail at its end."""
    try:
        handle = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, handle)
    os.close(nowhere)
