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

A file may also be a picture (`taskalgebra.worlds.image`): dark pixels are walls, spots of a pure
colour are goals.  Every goal is a task of its own name; a colour with several spots is one, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from taskalgebra import files
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.logic.text import RESERVED
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import closest, listed
from taskalgebra.worlds.grid import FREE, NO_GOAL, WALL, MapError, from_text, place, rows_of
from taskalgebra.worlds.image import PAINTS, SUFFIXES, from_image

MOST_BYTES = 1_000_000
"""A file beyond this is not a map."""
TASK_LINE = "write NAME = GOAL, GOAL"


def from_file(
    path: str | Path,
    *,
    step_reward: float = -0.1,
    r_universal: float | Literal["auto"] | None = None,
    r_empty: float | None = None,
    slip_probability: float = 0.0,
    touch: bool = False,
) -> FiniteEnv:
    """Read a world from a text file or a picture, as the command does.

    Args:
        path: a text file in UTF-8, or a picture, such as a PNG.
        step_reward: r_{s,a}, the same everywhere.
        r_universal: r_U, what a desired goal pays; "auto" makes every goal worth the way.
        r_empty: r_∅, what any other goal pays; both default to those of `TaskSpace`.
        slip_probability: of a move in one of the other three directions instead.
        touch: whether goals are taken by moving onto their cells, rather than by `stay`.

    Returns:
        The environment: `.space` has the goals and their rewards, `.space.mdp` the states, and
        `.tasks` the named tasks.

    Raises:
        ValueError: there is no such file, or it is not a map; the message names the line.
    """
    if not str(path):
        raise ValueError("the path of the map is empty; give that of a text file")
    if files.at(path).suffix.lower() in SUFFIXES:
        mdp = from_image(
            path, step_reward=step_reward, slip_probability=slip_probability, touch=touch
        )
        return _painted(TaskSpace(mdp, r_universal=r_universal, r_empty=r_empty))
    lines = _lines(files.at(path))
    numbers = [i for i, line in enumerate(lines) if "=" not in line]
    drawn = [lines[i] for i in numbers]
    wrong = _no_row(drawn)
    if wrong is not None:
        raise ValueError(f"{path}: line {numbers[wrong[0]] + 1}: {wrong[1]}; {TASK_LINE}")
    _, above, left = rows_of(drawn)
    try:
        mdp = from_text(
            drawn, step_reward=step_reward, slip_probability=slip_probability, touch=touch
        )
    except MapError as error:

        def in_file(row: int, column: int | None) -> str:
            column = None if column is None else column + left + 1
            return place("line", numbers[row + above] + 1, column)

        told = f"{NO_GOAL}; put letters on it" if error.what == NO_GOAL else error.told(in_file)
        hint = f"; if it is no row but a task, {TASK_LINE}" if "columns" in error.what else ""
        raise ValueError(f"{path}: {told}{hint}") from None
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


def _painted(space: TaskSpace) -> FiniteEnv:
    """The world of a picture, with a task for each goal, and for each colour of several."""
    tasks = {goal: space.task([goal]) for goal in space.goal_names}
    for colour in PAINTS.values():
        spots = [goal for goal in space.goal_names if goal.startswith(f"{colour} ")]
        if spots:
            tasks[colour] = space.task(spots)
    return FiniteEnv(space, tasks)


def defined_task(text: str, space: TaskSpace) -> tuple[str, Task]:
    """The name and the task of `NAME = GOAL, GOAL`."""
    name, _, goals = (part.strip() for part in text.partition("="))
    if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"":
        name = name[1:-1].strip()  # quotes as in an expression
    desired = [goal.strip() for goal in goals.split(",") if goal.strip()]
    if not name or not desired:
        raise ValueError(f"the task {text.strip()!r} has no name or no goals; write NAME=GOAL,GOAL")
    if name.lower() in RESERVED:
        raise ValueError(
            f"the task name {name!r} is a word of expressions; choose another, such as {name}_task"
        )
    return name, space.task(desired)


def named_task(name: str, named: Mapping[str, Task]) -> Task:
    """One of some named tasks."""
    if name not in named:
        raise ValueError(
            f"unknown task {name!r}; this world names {listed(list(named))}; write NAME=GOAL,GOAL "
            f"for a new one{closest(name, list(named))}"
        )
    return named[name]


def _no_row(drawn: Sequence[str]) -> tuple[int, str] | None:
    """The first line that is no row of the map and names no task: its number, and what it is.

    A row is as wide as the others and has walls or free cells, or at least no foreign symbols;
    what else is wrong with it is for the map's own messages.
    """
    rows, above, _ = rows_of(drawn)
    width, _ = Counter(len(row) for row in rows if row).most_common(1)[0] if rows else (0, 0)
    for i, row in enumerate(rows):
        usual = len(row) == width and (WALL in row or FREE in row)
        if not usual and not all(c in (WALL, FREE) or c.isalnum() for c in row):
            return i + above, f"{_short(row)} is neither a row of the map nor a task"
    blank = rows.index("") if "" in rows else len(rows)
    for i, row in enumerate(rows[blank:], blank):
        if row:
            what = "follows a blank line, where the map ends; a file holds one map, and its tasks"
            return i + above, f"{_short(row)} {what}"
    return None


def _short(line: str) -> str:
    text = line.strip()
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


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
