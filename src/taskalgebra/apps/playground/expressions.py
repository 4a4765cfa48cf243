"""What the page shows about an expression: mistakes in place, truth table, short form, counts.

A truth table is an integer, as in `taskalgebra.logic.truth`.  The first task counts highest, so
that its rows, read as binary numbers, are in order.  A goal's *label* is the row that it belongs
to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.logic.expression import Expression, sum_of_cubes
from taskalgebra.logic.formulas import from_truth_table, parse
from taskalgebra.logic.sum_of_products import EXACT_NAMES, irredundant_cover
from taskalgebra.logic.text import ExpressionError, token_end
from taskalgebra.theory.base_tasks import n_expressible
from taskalgebra.theory.tasks import Task

LONG = 200
"""Characters from which an expression is composed in its simplified form, equal and short."""


def read_expression(text: str, names: Sequence[str]) -> tuple[Expression, int]:
    """The expression and its truth table, or a RefusedError with the characters that are wrong."""
    try:
        expression = parse(text, names)
    except ExpressionError as error:
        span = error.position, token_end(text, error.position)
        raise RefusedError(error.reason, "expression", span=span) from None
    return expression, expression.truth_table(names[::-1])


@lru_cache(maxsize=4096)
def simplified(table: int, names: tuple[str, ...]) -> Expression:
    """A sum of products: the shortest, or for 6 names, where that can take seconds, a short one."""
    short = sum_of_cubes(irredundant_cover(table, 0, len(names)), names[::-1])
    canonical = short.canonical()
    if len(canonical.names) == EXACT_NAMES:
        return short
    return from_truth_table(canonical.table, canonical.names)


def labels_of(tasks: Mapping[str, Task], n_goals: int) -> tuple[int, ...]:
    """[G], the row of the truth table that each goal belongs to."""
    labels = np.zeros(n_goals, np.int64)
    for task in tasks.values():
        labels = 2 * labels + task.desired
    return tuple(labels.tolist())


def wanted(table: int, labels: Sequence[int]) -> list[bool]:
    """[G], whether the expression is true for a goal."""
    return [bool(table >> label & 1) for label in labels]


def truth_table(
    table: int, tasks: Sequence[str], goal_names: Sequence[str], labels: Sequence[int]
) -> dict[str, Any]:
    """The expression under every assignment, and the goals that have it."""
    goals: list[list[str]] = [[] for _ in range(1 << len(tasks))]
    for name, label in zip(goal_names, labels, strict=True):
        goals[label].append(name)
    return {
        "tasks": tasks,
        "rows": [
            {"in": values, "out": bool(table >> row & 1), "goals": goals[row]}
            for row, values in enumerate(_assignments(len(tasks)))
        ],
    }


@lru_cache
def _assignments(n_tasks: int) -> tuple[tuple[bool, ...], ...]:
    return tuple(
        tuple(bool(i >> (n_tasks - 1 - j) & 1) for j in range(n_tasks)) for i in range(1 << n_tasks)
    )


def count_tasks(tasks: Mapping[str, Task]) -> dict[str, Any]:
    """How many tasks can be expressed, 2 to the number of labels, and the bound of the paper."""
    count = n_expressible(tasks) if tasks else 2  # the two constants
    labels = count.bit_length() - 1
    return {
        "expressible": count if labels <= 53 else float(count),  # a power of 2 stays exact
        "labels": labels,
        "bound": f"2^(2^{len(tasks)}) = {2**2 ** len(tasks):,}",
    }
