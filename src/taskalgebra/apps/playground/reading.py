"""From the text of a task to an expression: over base tasks, and over time over goals too."""

from __future__ import annotations

from collections.abc import Collection

import taskalgebra as ta
from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.logic.text import token_end
from taskalgebra.skills.plans import naming_goal


def is_over_time(text: str) -> bool:
    """Whether a text is a formula over time, whatever its names are."""
    return _kind(text) is True


def read_task(text: str, tasks: Collection[str], goals: Collection[str]) -> ta.Expression:
    """The expression that a text means.

    Raises:
        RefusedError: it means none, with the characters at fault.
    """
    try:
        return ta.parse(text, tasks)
    except ta.ExpressionError as error:
        first = error
    try:
        expression = ta.parse(text, tasks, goals)
    except ta.ExpressionError as error:
        over_time, names_goals = _kind(text), error.position != first.position
        # Whose text is not finished, and names a goal, is writing a formula over time.
        if over_time or (over_time is None and names_goals):
            raise _refused(error, text) from None
    else:
        if expression.temporal:
            return expression
    raise _refused(naming_goal(first, tasks, goals), text)


def _kind(text: str) -> bool | None:
    """Whether a text is a formula over time; None if it is no formula."""
    try:
        return ta.parse(text).temporal
    except ta.ExpressionError:
        return None


def _refused(error: ta.ExpressionError, text: str) -> RefusedError:
    span = error.position, token_end(text, error.position)
    return RefusedError(error.reason, "expression", span=span)
