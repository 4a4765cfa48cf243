"""What a schema cannot say about a drawn world: how its parts fit together."""

from __future__ import annotations

from collections.abc import Sequence

from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.apps.playground.schema import LEAST_COST, WorldDocument


def check(document: WorldDocument) -> None:
    """Refuse a world whose parts do not fit together, with the first that does not."""
    _check_map(document.map)
    names = _check_goals(document)
    _check_tasks(document, names)
    _check_rewards(document)


def _check_map(rows: Sequence[str]) -> None:
    for r, line in enumerate(rows):
        if len(line) != len(rows[0]):
            raise RefusedError(
                f"row {r} of the map has {len(line)} columns, row 0 has {len(rows[0])}; make the "
                f"rows equally long",
                f"world.map[{r}]",
            )


def _check_goals(document: WorldDocument) -> set[str]:
    """The names of all goals, which stand on free cells of their own."""
    rows = document.map
    at: dict[tuple[int, int], str] = {}
    names: set[str] = set()
    for i, goal in enumerate(document.goals):
        field = f"world.goals[{i}]"
        _check_name(goal.name, names, "goal", field)
        row, column = goal.cell
        if row >= len(rows) or column >= len(rows[0]):
            raise RefusedError(
                f"goal {goal.name!r} is at row {row}, column {column}, outside the map of "
                f"{len(rows)} rows and {len(rows[0])} columns",
                f"{field}.cell",
            )
        if rows[row][column] == "#":
            raise RefusedError(
                f"goal {goal.name!r} is in a wall, at row {row}, column {column}; move it to a "
                f"free cell",
                f"{field}.cell",
            )
        if goal.cell in at:
            raise RefusedError(
                f"goals {at[goal.cell]!r} and {goal.name!r} are both at row {row}, column "
                f"{column}; move one of them",
                f"{field}.cell",
            )
        at[goal.cell] = goal.name
    return names


def _check_tasks(document: WorldDocument, names: set[str]) -> None:
    tasks: set[str] = set()
    for i, task in enumerate(document.tasks):
        _check_name(task.name, tasks, "task", f"world.tasks[{i}]")
        for j, name in enumerate(task.goals):
            field = f"world.tasks[{i}].goals[{j}]"
            if name not in names:
                raise RefusedError(
                    f"task {task.name!r} wants {name!r}, which is no goal of this world", field
                )
            if name in task.goals[:j]:
                raise RefusedError(f"task {task.name!r} lists goal {name!r} twice", field)


def _check_rewards(document: WorldDocument) -> None:
    if document.step_reward > -LEAST_COST:
        raise RefusedError(
            f"the step reward is {document.step_reward:g}; expected at most {-LEAST_COST:g}, or "
            f"walking for ever would be as good as reaching a goal",
            "world.step_reward",
        )
    low = document.step_reward if document.r_empty is None else document.r_empty
    if low >= document.r_universal:
        raise RefusedError(
            f"an unwanted goal pays {low:g}, a wanted one {document.r_universal:g}; a wanted goal "
            f"must pay more",
            "world.r_universal" if document.r_empty is None else "world.r_empty",
        )


def _check_name(name: str, seen: set[str], what: str, field: str) -> None:
    if not name.isprintable() or name != name.strip():
        raise RefusedError(
            f"the {what} name {name!r} has blanks around it or characters that cannot be printed",
            f"{field}.name",
        )
    if name in seen:
        raise RefusedError(f"two {what}s are named {name!r}; names must differ", f"{field}.name")
    seen.add(name)
