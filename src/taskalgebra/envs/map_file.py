"""A world from a text file: a map, and perhaps lines that name its tasks.

    #######
    #A...B#
    ###.###
    #C...D#
    #######
    north = A, B
    west = A, C

A line with `=` names a task by its goals; without such lines every goal is a task of its own name.
`taskalgebra.worlds.grid` says how a map is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import closest, listed
from taskalgebra.worlds.grid import MapError, from_text, place, rows_of

MOST_BYTES = 1_000_000
"""A file beyond this is not a map."""


def from_file(
    path: str | Path,
    *,
    step_reward: float = -0.1,
    r_universal: float | Literal["auto"] | None = None,
    r_empty: float | None = None,
    slip_probability: float = 0.0,
) -> FiniteEnv:
    """Read a world from a text file, as the command does.

    Args:
        path: a text file in UTF-8.
        step_reward: r_{s,a}, the same everywhere.
        r_universal: r_U, what a desired goal pays; "auto" makes every goal worth the way.
        r_empty: r_∅, what any other goal pays; both default to those of `TaskSpace`.
        slip_probability: of a move in one of the other three directions instead.

    Raises:
        ValueError: there is no such file, or it is not a map; the message names the line.
    """
    lines = _lines(Path(path))
    numbers = [i for i, line in enumerate(lines) if "=" not in line]
    drawn = [lines[i] for i in numbers]
    _, above, left = rows_of(drawn)
    try:
        mdp = from_text(drawn, step_reward=step_reward, slip_probability=slip_probability)
    except MapError as error:

        def in_file(row: int, column: int | None) -> str:
            column = None if column is None else column + left + 1
            return place("line", numbers[row + above] + 1, column)

        raise ValueError(f"{path}: {error.told(in_file)}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    space = TaskSpace(mdp, r_universal=r_universal, r_empty=r_empty)
    own = {goal: space.task([goal]) for goal in space.goal_names}
    named: dict[str, Task] = {}
    for i, line in enumerate(lines):
        if "=" in line:
            try:
                name, task = defined_task(line, space)
                if name in named:
                    raise ValueError(f"the task {name!r} is given twice; name each task once")
                named[name] = task
            except ValueError as error:
                raise ValueError(f"{path}: line {i + 1}: {error}") from None
    return FiniteEnv(space, named or own)


def defined_task(text: str, space: TaskSpace) -> tuple[str, Task]:
    """The name and the task of `NAME = GOAL, GOAL`."""
    name, _, goals = (part.strip() for part in text.partition("="))
    desired = [goal.strip() for goal in goals.split(",") if goal.strip()]
    if not name or not desired:
        raise ValueError(f"the task {text.strip()!r} has no name or no goals; write NAME=GOAL,GOAL")
    return name, space.task(desired)


def named_task(name: str, named: Mapping[str, Task]) -> Task:
    """One of some named tasks."""
    if name not in named:
        raise ValueError(
            f"unknown task {name!r}; this world names {listed(list(named))}; write NAME=GOAL,GOAL "
            f"for a new one{closest(name, list(named))}"
        )
    return named[name]


def _lines(path: Path) -> list[str]:
    """The lines of a small text file, in any of the usual line endings."""
    if not path.exists():
        raise ValueError(f"no file {path}; give the path of a text file with a map")
    if not path.is_file():
        what = "a directory" if path.is_dir() else "not a file"
        raise ValueError(f"{path} is {what}; a map is a text file")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path} has more than {MOST_BYTES:,} bytes; a map is a small text file")
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")  # with or without a BOM
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}: line {line}: it is not a text file in UTF-8; a map has # for walls, . for "
            f"free cells, letters for goals"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
