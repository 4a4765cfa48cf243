"""An agent for a Boolean expression, and what the page shows about it: truth table, short form.

A truth table is an integer, as in `taskalgebra.logic.expression`.  The first task is the highest
bit of a row, so that rows are in the order of binary numbers.  A goal's *label* is its row.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

import taskalgebra as ta
from taskalgebra.apps import desired_names
from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.apps.playground.schema import MAX_TASKS
from taskalgebra.logic.formulas import from_truth_table
from taskalgebra.theory.base_tasks import labels_of

LONG = 200
"""Expressions with more characters are composed in their simplified form, which is equal."""


def compose(
    skills: ta.Skills, expression: ta.Expression, text: str, tasks: tuple[str, ...]
) -> tuple[ta.Agent, str, dict[str, Any]]:
    """The agent for an expression over some tasks, the text composed, and its description.

    Raises:
        RefusedError: it is a task that cannot be solved.
    """
    table = expression.truth_table(tasks[::-1])
    simple = str(_simplified(table, tasks[::-1]))
    short = simple if len(simple) <= len(text) else text.strip()
    written = short if len(text) > LONG else text
    try:
        agent = skills.for_task(written)
    except ValueError as error:
        raise RefusedError(str(error), "expression") from None
    count = skills.n_expressible
    n_labels = len(np.unique(labels_of(skills.tasks), axis=0))
    return (
        agent,
        written,
        {
            "expression": text,
            "simplified": short,
            "desired": desired_names(agent.task),
            "truth_table": {"tasks": tasks, "rows": _rows(skills, tasks, table)},
            "n_tasks": {
                "expressible": count if n_labels <= 53 else float(count),  # 2ⁿ stays exact
                "labels": n_labels,
                "bound": f"2^(2^{len(tasks)}) = {2**2 ** len(tasks):,}",
            },
        },
    )


@lru_cache(maxsize=4096)
def _simplified(table: int, names: tuple[str, ...]) -> ta.Expression:
    """A sum of products: the shortest, or a short one where it depends on 6 names.

    The shortest one for 6 names can take seconds.  Above 6, `from_truth_table` settles for a short
    one, so a seventh name without meaning is added, which no task can have.
    """
    if len(names) < MAX_TASKS:
        return from_truth_table(table, names).simplify()
    short = from_truth_table(table | table << (1 << len(names)), (*names, " "))
    return short if len(short.names) == MAX_TASKS else short.simplify()


def _rows(skills: ta.Skills, tasks: tuple[str, ...], table: int) -> list[dict[str, Any]]:
    """The rows of the truth table, with the goals that have each assignment."""
    desired = [skills.tasks[name].desired.tolist() for name in tasks]
    labels = list(zip(*desired, strict=True)) if tasks else [()] * skills.space.n_goals
    goals: dict[tuple[bool, ...], list[str]] = {}
    for name, label in zip(skills.space.goal_names, labels, strict=True):
        goals.setdefault(label, []).append(name)
    return [
        {"in": values, "out": bool(table >> row & 1), "goals": goals.get(values, [])}
        for row, values in enumerate(product((False, True), repeat=len(tasks)))
    ]
