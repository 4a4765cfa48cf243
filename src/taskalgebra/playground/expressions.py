"""What the page shows about an expression: mistakes in place, truth table, short form, counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.expression import FALSE, TRUE, And, Expression, Name, Not, Or, parse
from taskalgebra.expression_text import ExpressionError
from taskalgebra.playground.schema import RefusedError
from taskalgebra.sum_of_products import EXACT_NAMES, Cube, irredundant_cover
from taskalgebra.tasks import Task

MOST_OPERATORS = 100
"""Longer expressions are composed in their simplified form, which is equal and short."""

_WORD = re.compile(r"'[^']*'?|\"[^\"]*\"?|\w+|.", re.DOTALL)


def read_expression(text: str, names: Sequence[str]) -> Expression:
    """The expression, or a RefusedError with the characters that are wrong."""
    try:
        return parse(text, names)
    except ExpressionError as error:
        word = _WORD.match(text, error.position)
        end = word.end() if word else error.position
        raise RefusedError(error.reason, "expression", span=(error.position, end)) from None


@lru_cache(maxsize=1024)
def simplified(expression: Expression) -> str:
    """A sum of products: the shortest, or for 6 names, where that can take seconds, a short one."""
    canonical = expression.canonical()
    if len(canonical.names) < EXACT_NAMES:
        return str(expression.simplify())
    cubes = irredundant_cover(canonical.table, 0, len(canonical.names))
    products = [_product(cube, canonical.names) for cube in cubes]
    return str(reduce(Or, products)) if products else str(FALSE)


def _product(cube: Cube, names: Sequence[str]) -> Expression:
    literals: list[Expression] = [
        Name(name) if cube.positive >> j & 1 else Not(Name(name))
        for j, name in enumerate(names)
        if (cube.positive | cube.negative) >> j & 1
    ]
    return reduce(And, literals) if literals else TRUE


def labels_of(tasks: Mapping[str, Task], n_goals: int) -> tuple[int, ...]:
    """[G], the truth values of the tasks for a goal as one number, the first task highest."""
    labels = np.zeros(n_goals, np.int64)
    for task in tasks.values():
        labels = 2 * labels + task.desired
    return tuple(labels.tolist())


def truth_table(
    expression: Expression, tasks: Sequence[str], goal_names: Sequence[str], labels: Sequence[int]
) -> dict[str, Any]:
    """The expression under every assignment, the first task counting highest, and who has it."""
    goals: list[list[str]] = [[] for _ in range(1 << len(tasks))]
    for name, label in zip(goal_names, labels, strict=True):
        goals[label].append(name)
    table = expression.truth_table(list(tasks)[::-1])
    return {
        "tasks": list(tasks),
        "rows": [
            {"in": values, "out": bool(table >> i & 1), "goals": goals[i]}
            for i, values in enumerate(_assignments(len(tasks)))
        ],
    }


@lru_cache
def _assignments(n_tasks: int) -> tuple[tuple[bool, ...], ...]:
    return tuple(
        tuple(bool(i >> (n_tasks - 1 - j) & 1) for j in range(n_tasks)) for i in range(1 << n_tasks)
    )


def count_tasks(n_tasks: int, labels: Sequence[int]) -> dict[str, Any]:
    """How many tasks can be expressed, 2 to the number of labels, and the bound of the paper.

    Without base tasks there is one label, and the two constants.
    """
    n_labels = len(set(labels))
    count = 2**n_labels
    return {
        "expressible": count if n_labels <= 53 else float(count),  # a power of 2 stays exact
        "labels": n_labels,
        "bound": f"2^(2^{n_tasks}) = {2**2**n_tasks:,}",
    }


def desired_of(
    expression: Expression, tasks: Mapping[str, Task], n_goals: int
) -> NDArray[np.bool_]:
    """[G], the goals that an expression over goal sets wants."""
    everything = np.ones(n_goals, np.bool_)
    wanted: NDArray[np.bool_] = expression.evaluate(
        {name: task.desired for name, task in tasks.items()},
        universal=everything,
        empty=~everything,
    )
    return wanted
