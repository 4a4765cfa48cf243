"""Extended values as tables `[S, G, A]`; observations are states, by their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.expression import Expression
from taskalgebra.theory.numbering import Numbering
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.theory.values import ArrayElement, ExtendedQ, ValueBounds, compose
from taskalgebra.validation import finite


def as_states(observations: ArrayLike, n_states: int) -> NDArray[np.integer]:
    """Observations that are the numbers of states, as an array, or a ValueError."""
    states = np.asarray(observations)
    if not states.size:
        return states.astype(np.int64)  # an empty list has no type of its own
    if states.dtype.kind not in "iu":
        raise ValueError(
            f"observations of this world are states, whole numbers from 0 to {n_states - 1}; "
            f"got {observations!r}"
        )
    if states.size == 1:
        outside = not 0 <= states.item() < n_states
    else:
        outside = not 0 <= states.min() <= states.max() < n_states
    if outside:
        wrong = states[(states < 0) | (states >= n_states)].flat[0]
        raise ValueError(f"state {wrong} does not exist; states are 0 to {n_states - 1}")
    return states


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableBounds(ValueBounds):
    """Q̄_U and Q̄_∅ as tables `[S, G, A]`."""

    space: TaskSpace
    tables: Bounds
    numbering: Numbering | None = None
    """The numbers of observations that are arrays; the last row of a table is then
    for observations without one."""

    def states(self, observations: ArrayLike) -> NDArray[np.integer]:
        """The rows of a table for a batch of observations."""
        if self.numbering is not None:
            return self.numbering.find(observations)
        return as_states(observations, len(self.tables.universal))

    @property
    def observation_ndim(self) -> int:  # type: ignore[override]
        """Axes of one observation."""
        return 0 if self.numbering is None else self.numbering.observation_ndim

    def at(self, observations: ArrayLike) -> Bounds:
        """Rows of the two tables."""
        states = self.states(observations)
        return Bounds(self.tables.universal[states], self.tables.empty[states])

    @property
    def universal(self) -> TabularQ:
        """Q̄_U as a table."""
        return TabularQ(self.tables.universal, self)

    @property
    def empty(self) -> TabularQ:
        """Q̄_∅ as a table."""
        return TabularQ(self.tables.empty, self)


@final
@dataclass(frozen=True, eq=False, repr=False)
class TabularQ(ExtendedQ):
    """Q̄ as a table; observations are states.  Tables compose immediately, into tables."""

    table: Array  # [S, G, A]
    bounds: TableBounds

    def __post_init__(self) -> None:
        """Make the table read-only: skills share it."""
        table = self.table.view()
        table.setflags(write=False)
        object.__setattr__(self, "table", table)

    @classmethod
    def checked(cls, table: ArrayLike, bounds: TableBounds) -> TabularQ:
        """A table from outside the library: its shape and numbers are tested."""
        return cls(finite(table, "the table of Q̄", bounds.tables.universal.shape), bounds)

    def q_bar(self, observations: ArrayLike) -> Array:
        """Rows of the table."""
        rows: Array = self.table[self.bounds.states(observations)]
        return rows

    def _within_kind(self, operation: Callable[..., Any], *others: TabularQ) -> TabularQ:
        tables = (ArrayElement(x.table, self.bounds.tables) for x in (self, *others))
        return TabularQ(operation(*tables).array, self.bounds)


def compose_values(
    expression: Expression, values: Mapping[str, ExtendedQ], bounds: ValueBounds
) -> ExtendedQ:
    """The value function of an expression: a table if all are tables, else computed on demand."""
    for name in expression.names:
        if name in values and values[name].bounds is not bounds:
            raise ValueError(f"the value function of {name!r} has bounds of its own")
    tables = {n: q.table for n, q in values.items() if isinstance(q, TabularQ)}
    if isinstance(bounds, TableBounds) and len(tables) == len(values):
        return TabularQ(compose(expression, tables, bounds.tables), bounds)
    return expression.evaluate(values, universal=bounds.universal, empty=bounds.empty)
