"""Refusing a request: one exception, one shape of answer, one sentence about the first mistake."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from taskalgebra.apps.playground.schema import MAX_NAME, MAX_SIDE

M = TypeVar("M", bound=BaseModel)


class RefusedError(Exception):
    """A request that cannot be served, with the sentence to say so.

    Attributes:
        message: what was given, what was expected, what to do.
        field: the part of the request, such as `world.goals[2].cell`.
        span: characters of an expression, from the first up to, not including, the last.
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
        error: dict[str, Any] = {"message": self.message}
        if self.field is not None:
            error["field"] = self.field
        if self.span is not None:
            error["start"], error["end"] = self.span
        return {"error": error}


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
    field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"]).lstrip(".")
    what = field or "the body"
    context = first.get("ctx", {})
    sentence = {
        "missing": f"{what} is missing",
        "extra_forbidden": f"{what} is not a known field; leave it out",
        "too_long": f"{what} has {context.get('actual_length')} entries, "
        f"expected at most {context.get('max_length')}",
        "too_short": f"{what} is empty, expected at least {context.get('min_length')}",
        "string_too_long": f"{what} has {len(given) if isinstance(given, str) else 0:,} "
        f"characters, expected at most {context.get('max_length', 0):,}",
        "string_too_short": f"{what} is empty",
    }.get(kind)
    if kind == "string_pattern_mismatch":
        wanted = (
            f"1 to {MAX_SIDE} characters, '#' for a wall and '.' for floor"
            if field.startswith("world.map")
            else "a colour such as #0072b2"
        )
        sentence = f"{what} is {_short(given)}, expected {wanted}"
    if sentence is None:
        sentence = f"{what} is {_short(given)}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    return RefusedError(sentence, field or None)


def _short(given: object) -> str:
    text = repr(given)
    return text if len(text) <= MAX_NAME else text[:MAX_NAME] + "…"
