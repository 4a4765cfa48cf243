"""How a request is refused: one exception, one kind of answer, the first mistake in a sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from taskalgebra.apps.playground.schema import (
    DRAWN,
    LEAST_COST,
    MAX_NAME,
    MAX_SIDE,
    TABLE,
    TableDocument,
    TaskDocument,
    WorldDocument,
)
from taskalgebra.apps.playground.slips import MOST_WORK, work
from taskalgebra.skills.making import sayable

M = TypeVar("M", bound=BaseModel)
Mistake = tuple[str, str]
"""A sentence, and the field that it is about."""


class RefusedError(Exception):
    """A request that cannot be served, and why.

    Attributes:
        message: what was given, what was expected, what to do.
        field: the part of the request, such as `world.goals[2].cell`.
        span: characters of an expression, from the first up to but not including the last.
        status: the HTTP status.
    """

    def __init__(
        self,
        message: str,
        field: str | None = None,
        *,
        span: tuple[int, int] | None = None,
        status: int = 422,
    ) -> None:
        """Keep the parts."""
        super().__init__(message)
        self.message, self.field, self.span, self.status = message, field, span, status

    def answer(self) -> dict[str, Any]:
        """The JSON document of `ErrorAnswer`."""
        start, end = self.span or (None, None)
        error = {"message": self.message, "field": self.field, "start": start, "end": end}
        return {"error": {name: part for name, part in error.items() if part is not None}}


def read(body: bytes, model: type[M]) -> M:
    """The request in a body of JSON.

    Raises:
        RefusedError: it is not JSON, or not such a request; the first mistake is named.
    """
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise _refused(error) from None


def _refused(invalid: ValidationError) -> RefusedError:
    """The first mistake of an invalid request, as one sentence."""
    first = invalid.errors(include_url=False, include_context=True)[0]
    kind, given = first["type"], first["input"]
    if kind == "json_invalid":
        return RefusedError(f"the body is not JSON: {first['ctx']['error']}", status=400)
    loc = first["loc"]
    loc = (*loc[:1], *loc[2:]) if loc[1:2] in ((DRAWN,), (TABLE,)) else loc  # no field of its own
    field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in loc).lstrip(".")
    what = field or "the body"
    context = first.get("ctx", {})
    drawn = f"1 to {MAX_SIDE} characters, '#' for a wall and '.' for floor"
    pattern = drawn if field.startswith("world.map") else "a colour such as #0072b2"
    sentence = {
        "missing": f"{what} is missing",
        "extra_forbidden": f"{what} is not a known field; leave it out",
        "too_long": f"{what} has {context.get('actual_length')} entries, "
        f"expected at most {context.get('max_length')}",
        "too_short": f"{what} is empty, expected at least {context.get('min_length')}",
        "string_too_long": f"{what} has {len(given) if isinstance(given, str) else 0:,} "
        f"characters, expected at most {context.get('max_length', 0):,}",
        "string_too_short": f"{what} is empty",
        "string_pattern_mismatch": f"{what} is {_short(given)}, expected {pattern}",
    }.get(kind, f"{what} is {_short(given)}: {first['msg'][:1].lower()}{first['msg'][1:]}")
    return RefusedError(sentence, field or None)


def _short(given: object) -> str:
    text = repr(given)
    return text if len(text) <= MAX_NAME else text[:MAX_NAME] + "…"


def check_table(document: TableDocument, goals: Collection[str]) -> None:
    """Refuse base tasks that do not fit the goals of a table.

    Raises:
        RefusedError: the first mistake is named.
    """
    for sentence, field in _of_tasks(document.tasks, goals):
        raise RefusedError(sentence, f"world.{field}")


def check_words(document: TableDocument) -> None:
    """Refuse base tasks that cannot be planned under their names.

    Raises:
        RefusedError: the first mistake is named.
    """
    for sentence, field in _in_words(document):
        raise RefusedError(sentence, f"world.{field}")


def check(document: WorldDocument) -> None:
    """Refuse a world whose parts do not fit together, which the schema cannot express.

    Raises:
        RefusedError: the first mistake is named.
    """
    for find in (_in_map, _in_goals, _in_tasks, _in_words, _in_rewards, _in_slips):
        for sentence, field in find(document):
            raise RefusedError(sentence, f"world.{field}")


def _in_map(document: WorldDocument) -> Iterator[Mistake]:
    width = len(document.map[0])
    for r, line in enumerate(document.map):
        if len(line) != width:
            yield (
                f"row {r} of the map has {len(line)} columns, row 0 has {width}; make the rows "
                f"equally long",
                f"map[{r}]",
            )


def _in_goals(document: WorldDocument) -> Iterator[Mistake]:
    """Each goal is on its own free cell."""
    rows = document.map
    yield from _in_names([goal.name for goal in document.goals], "goal")
    at: dict[tuple[int, int], str] = {}
    for i, goal in enumerate(document.goals):
        (row, column), field = goal.cell, f"goals[{i}].cell"
        place = f"at row {row}, column {column}"
        if row >= len(rows) or column >= len(rows[0]):
            size = f"{len(rows)} rows and {len(rows[0])} columns"
            yield f"goal {goal.name!r} is {place}, outside the map of {size}", field
        elif rows[row][column] == "#":
            yield f"goal {goal.name!r} is in a wall, {place}; move it to a free cell", field
        elif goal.cell in at:
            both = f"goals {at[goal.cell]!r} and {goal.name!r}"
            yield f"{both} are both {place}; move one of them", field
        at[goal.cell] = goal.name


def _in_tasks(document: WorldDocument) -> Iterator[Mistake]:
    yield from _of_tasks(document.tasks, {goal.name for goal in document.goals})


def _of_tasks(tasks: Sequence[TaskDocument], names: Collection[str]) -> Iterator[Mistake]:
    yield from _in_names([task.name for task in tasks], "task")
    for i, task in enumerate(tasks):
        for j, name in enumerate(task.goals):
            field = f"tasks[{i}].goals[{j}]"
            if name not in names:
                yield f"task {task.name!r} wants {name!r}, which is not a goal of this world", field
            if name in task.goals[:j]:
                yield f"task {task.name!r} lists goal {name!r} twice", field


def _in_words(document: WorldDocument | TableDocument) -> Iterator[Mistake]:
    """Expressions read a few words as other tasks."""
    for i, task in enumerate(document.tasks):
        try:
            sayable(task.name)
        except ValueError as error:
            yield str(error), f"tasks[{i}].name"


def _in_rewards(document: WorldDocument) -> Iterator[Mistake]:
    step, other, desired = document.step_reward, document.r_other, document.r_universal
    if step > -LEAST_COST:
        yield (
            f"the step reward is {step:g}; expected at most {-LEAST_COST:g}, or walking forever "
            f"would be as good as reaching a goal",
            "step_reward",
        )
    if other >= desired:
        yield (
            f"a desired goal pays {desired:g}, any other {other:g}; a desired goal must pay more",
            "r_universal" if document.r_empty is None else "r_empty",
        )


def _in_slips(document: WorldDocument) -> Iterator[Mistake]:
    needed = work(document) / MOST_WORK
    if needed > 1:
        yield (
            f"with {document.slip:g} of all moves slipping, planning this world would take "
            f"{needed:.1f} times as long as is allowed here; let fewer moves slip, draw a smaller "
            f"map or fewer goals, or let a step cost more",
            "slip",
        )


def _in_names(names: list[str], what: str) -> Iterator[Mistake]:
    for i, name in enumerate(names):
        field = f"{what}s[{i}].name"
        if not name.isprintable() or name != name.strip():
            yield (
                f"the {what} name {name!r} has blanks around it or characters that cannot be "
                f"printed",
                field,
            )
        if name in names[:i]:
            yield f"two {what}s are named {name!r}; names must differ", field
