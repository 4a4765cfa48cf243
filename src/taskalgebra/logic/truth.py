"""Truth tables: what a formula means.

The meaning of a formula of K names is one of 2^(2^K) truth tables, kept as integers (see
`logic.sum_of_products`).  A formula is given here as the list of its subtrees (`logic.steps`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taskalgebra.logic.steps import Step, names_of, run
from taskalgebra.logic.sum_of_products import all_true, name_tables
from taskalgebra.logic.text import ExpressionError

MAX_NAMES = 20
"""Truth tables have at most 2²⁰ rows."""


@dataclass(frozen=True)
class CanonicalForm:
    """A Boolean function: the names it depends on, sorted, and its truth table over them."""

    names: tuple[str, ...]
    table: int


def truth_table(steps: Sequence[Step], names: Sequence[str]) -> int:
    """The truth table of a formula over these names, the first one for bit 0 of i."""
    order = checked_names(names)
    true = all_true(len(order))
    tables = dict(zip(order, name_tables(len(order)), strict=True))
    return run(steps, tables, true, 0) & true


def canonical_form(steps: Sequence[Step]) -> CanonicalForm:
    """The function of a formula, without the names it does not depend on."""
    order = sorted(names_of(steps))
    table = truth_table(steps, order)
    needed = [
        name
        for j, (name, its_table) in enumerate(zip(order, name_tables(len(order)), strict=True))
        if (table << (1 << j) ^ table) & its_table
    ]
    true = all_true(len(needed))
    values = dict.fromkeys(order, 0)  # a name without influence may as well be false
    values.update(zip(needed, name_tables(len(needed)), strict=True))
    return CanonicalForm(tuple(needed), run(steps, values, true, 0) & true)


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names of a truth table: distinct, and not too many."""
    if isinstance(names, str):
        raise TypeError(f"names must be a sequence of names, got the string {names!r}")
    order = tuple(names)
    if len(set(order)) < len(order):
        raise ValueError(f"the names {order} are not all different")
    if len(order) > MAX_NAMES:
        raise ExpressionError(
            f"a truth table of {len(order)} names is too large; at most {MAX_NAMES} names"
        )
    return order
