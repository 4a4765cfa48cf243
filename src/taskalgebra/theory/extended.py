"""Extended rewards and values (Definitions 2 to 4, Lemma 1, Theorem 2).

A plain value function knows only the way to the nearest goal.  An extended one, Q̄(s, g, a), knows
the way to every goal g and what that goal is worth in the task.  Arrays are indexed `[S, G, A]`, or
`[B, G, A]` for a batch of B observations; GOAL and ACTION name the last two axes.

`ExtendedQ` is the contract that tables, planned values and networks share: one method, `q_bar`,
from observations to numpy `[B, G, A]`.  All of them compose with `&  |  ~  ^`.  The bounds Q̄_U and
Q̄_∅ of a family of value functions are found once and shared (`ValueBounds`); elements of two
families do not mix.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.logic.algebra import BooleanElement, Bounds, conjunction, disjunction, negation
from taskalgebra.logic.expression import Expression, Name
from taskalgebra.logic.steps import Step, run
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import finite

GOAL, ACTION = -2, -1


def r_bar_min_of(space: TaskSpace) -> float:
    """r̄_MIN = min{r_MIN, (r_MIN − r_MAX)·(D + 1)}, the penalty for a wrong goal (Definition 2).

    The paper asks for any r̄_MIN ≤ min{r_MIN, (r_MIN − r_MAX)·D}.  Its proof of Lemma 2 needs two
    things more.  A trajectory of D steps earns D + 1 rewards, the terminal one included.  And where
    all rewards are negative, r_MAX must be taken as 0.  With both, Lemma 2 holds whenever every
    step costs something; PAPER.md shows worlds in which it fails without.
    """
    r_min, r_max = space.r_min, max(space.r_max, 0.0)
    return min(r_min, (r_min - r_max) * (space.mdp.diameter + 1))


def extended_reward(task: Task, r_bar_min: float) -> Array:
    """r̄(s, g, a) = r̄_MIN if g ≠ s ∈ 𝒢, else r(s, a)  (Definition 2), as `[S, G, A]`."""
    mdp = task.space.mdp
    r_bar = np.repeat(task.steps[:, None, :], mdp.n_goals, axis=1)
    r_bar[mdp.goals] = r_bar_min
    r_bar[mdp.goals, np.arange(mdp.n_goals)] = task.goal_reward[:, None]
    return r_bar


def recover_q(q_bar: Array) -> Array:
    """Q(s, a) = max_g Q̄(s, g, a)  (Lemma 1)."""
    result: Array = q_bar.max(axis=GOAL)
    return result


def recover_v(q_bar: Array) -> Array:
    """V(s) = max_a Q(s, a)."""
    result: Array = recover_q(q_bar).max(axis=-1)
    return result


def as_states(observations: ArrayLike, space: TaskSpace) -> NDArray[np.integer]:
    """Observations of a finite world as an array of states, or a ValueError."""
    states = np.asarray(observations)
    n_states = space.mdp.n_states
    if states.dtype.kind not in "iu":
        raise ValueError(
            f"observations of this world are states, whole numbers from 0 to {n_states - 1}; "
            f"got {observations!r}"
        )
    if states.size == 1:
        outside = not 0 <= states.item() < n_states
    else:
        outside = states.size > 0 and not 0 <= states.min() <= states.max() < n_states
    if outside:
        wrong = states[(states < 0) | (states >= n_states)].flat[0]
        raise ValueError(f"state {wrong} does not exist; states are 0 to {n_states - 1}")
    return states


class Source(Protocol):
    """What several value functions read their values from, such as a network."""

    def look(self, observations: ArrayLike) -> Array:
        """Whatever there is to know about a batch of observations."""


@final
class Sight:
    """A batch of observations, looked at once by each source, however many values it serves."""

    def __init__(self, observations: ArrayLike) -> None:
        """Nothing has been looked at yet."""
        self.observations = observations
        self._seen: dict[int, Array] = {}

    def through(self, source: Source) -> Array:
        """What a source says about the observations."""
        if id(source) not in self._seen:
            self._seen[id(source)] = source.look(self.observations)
        return self._seen[id(source)]


class ValueBounds(ABC):
    """Q̄_U and Q̄_∅ of one family of value functions over a task space."""

    space: TaskSpace

    @abstractmethod
    def at(self, observations: ArrayLike) -> Bounds:
        """The two bounds for a batch of observations, each `[B, G, A]`."""

    def _at(self, sight: Sight) -> Bounds:
        """The same, for observations that others look at as well."""
        return self.at(sight.observations)

    @property
    def universal(self) -> ExtendedQ:
        """Q̄_U, the value function of M_U."""
        return GoalSetQ(np.ones(self.space.n_goals, np.bool_), self)

    @property
    def empty(self) -> ExtendedQ:
        """Q̄_∅, the value function of M_∅."""
        return GoalSetQ(np.zeros(self.space.n_goals, np.bool_), self)


class ExtendedQ(BooleanElement):
    """An extended value function Q̄ (Definition 3), an element of the algebra of Definition 4."""

    bounds: ValueBounds

    @abstractmethod
    def q_bar(self, observations: ArrayLike) -> Array:
        """Q̄ for a batch of observations, `[B, G, A]`."""

    def _q_bar(self, sight: Sight) -> Array:
        """The same, for observations that others look at as well."""
        return self.q_bar(sight.observations)

    @property
    def space(self) -> TaskSpace:
        """The task space that this value function belongs to."""
        return self.bounds.space

    def __and__(self, other: ExtendedQ) -> ExtendedQ:
        """Q̄₁ ∧ Q̄₂ = min{Q̄₁, Q̄₂}  (Definition 4)."""
        return self._apply(operator.and_, other)

    def __or__(self, other: ExtendedQ) -> ExtendedQ:
        """Q̄₁ ∨ Q̄₂ = max{Q̄₁, Q̄₂}  (Definition 4)."""
        return self._apply(operator.or_, other)

    def __xor__(self, other: ExtendedQ) -> ExtendedQ:
        """(Q̄₁ ∨ Q̄₂) ∧ ¬(Q̄₁ ∧ Q̄₂)."""
        return self._apply(operator.xor, other)

    def __invert__(self) -> ExtendedQ:
        """¬Q̄ = (Q̄_U + Q̄_∅) − Q̄  (Definition 4)."""
        return self._apply(operator.invert)

    def _apply(self, operation: Callable[..., Any], *others: ExtendedQ) -> ExtendedQ:
        """Compose with value functions of the same family: at once within a kind, else lazily."""
        for other in others:
            if not isinstance(other, ExtendedQ):
                raise TypeError(f"cannot compose a value function with {other!r}")
            if other.bounds is not self.bounds:
                raise ValueError(
                    "these value functions have different bounds Q̄_U and Q̄_∅; compose value "
                    "functions that were planned or learned together, for one task space"
                )
        if all(type(other) is type(self) for other in others):
            return self._within_kind(operation, *others)
        return self._lazily(operation, *others)

    def _within_kind(self, operation: Callable[..., Any], *others: Any) -> ExtendedQ:
        """Compose with elements of the same class; classes that are closed do so at once."""
        return self._lazily(operation, *others)

    def _lazily(self, operation: Callable[..., Any], *others: ExtendedQ) -> Composed:
        operands = [operand._composed() for operand in (self, *others)]
        leaves = {name: leaf for operand in operands for name, leaf in operand.leaves.items()}
        expression = operation(*(operand.expression for operand in operands))
        return Composed(expression, leaves, self.bounds)

    def _composed(self) -> Composed:
        """This value function as a composition of leaves, itself being one."""
        name = f"q{id(self)}"
        return Composed(Name(name), {name: self}, self.bounds)


@final
@dataclass(frozen=True, eq=False)
class ArrayElement(BooleanElement):
    """An array together with the bounds it is negated by: what a composition computes with."""

    array: Array
    bounds: Bounds

    def __and__(self, other: ArrayElement) -> ArrayElement:
        """Pointwise minimum."""
        return ArrayElement(conjunction(self.array, other.array), self.bounds)

    def __or__(self, other: ArrayElement) -> ArrayElement:
        """Pointwise maximum."""
        return ArrayElement(disjunction(self.array, other.array), self.bounds)

    def __invert__(self) -> ArrayElement:
        """(U + ∅) − x."""
        return ArrayElement(negation(self.array, self.bounds), self.bounds)


BLOCK = 2**13
"""Entries of an array that are composed at a time: 64 KB, which the cache and malloc both keep."""


def compose(expression: Expression, arrays: Mapping[str, Array], bounds: Bounds) -> Array:
    """Evaluate an expression on arrays `[B, G, A]` of one shape, by Definition 4.

    Large arrays are worked through in blocks of rows.  Each block runs the whole expression, so
    that intermediate results never leave the cache.
    """
    steps = expression.steps_over(arrays)
    used = {name: arrays[name] for name in expression.names}
    n_operators = sum(kind not in ("name", "constant") for kind, _, _ in steps)
    shape = bounds.universal.shape
    n_rows = max(1, BLOCK * shape[0] // max(1, bounds.universal.size))
    if n_operators < 2 or shape[0] <= n_rows:
        return _run(steps, used, bounds)
    result = np.empty(shape)
    for first in range(0, shape[0], n_rows):
        rows = slice(first, first + n_rows)
        part = {name: array[rows] for name, array in used.items()}
        result[rows] = _run(steps, part, bounds.rows(rows))
    return result


def _run(steps: Sequence[Step], arrays: Mapping[str, Array], bounds: Bounds) -> Array:
    elements = {name: ArrayElement(array, bounds) for name, array in arrays.items()}
    universal = ArrayElement(bounds.universal, bounds)
    empty = ArrayElement(bounds.empty, bounds)
    return run(steps, elements, universal, empty).array


@final
@dataclass(frozen=True, eq=False, repr=False)
class Composed(ExtendedQ):
    """An expression over value functions, computed when asked.

    Each leaf is evaluated once a batch, whatever the expression; leaves and bounds that read one
    network share its pass.
    """

    expression: Expression
    leaves: dict[str, ExtendedQ]
    bounds: ValueBounds

    def q_bar(self, observations: ArrayLike) -> Array:
        """Compose the leaves' values for these observations (Definition 4)."""
        return self._q_bar(Sight(observations))

    def _q_bar(self, sight: Sight) -> Array:
        arrays = {name: self.leaves[name]._q_bar(sight) for name in self.expression.names}
        return compose(self.expression, arrays, self.bounds._at(sight))

    def _composed(self) -> Composed:
        return self


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableBounds(ValueBounds):
    """Q̄_U and Q̄_∅ as tables `[S, G, A]`."""

    space: TaskSpace
    tables: Bounds

    def at(self, observations: ArrayLike) -> Bounds:
        """Rows of the two tables."""
        states = as_states(observations, self.space)
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
    """Q̄ as a table; observations are states.  Tables compose at once, into tables."""

    table: Array  # [S, G, A]
    bounds: TableBounds

    def __post_init__(self) -> None:
        """Guard the table: skills share it."""
        table = self.table.view()
        table.setflags(write=False)
        object.__setattr__(self, "table", table)

    @classmethod
    def checked(cls, table: ArrayLike, bounds: TableBounds) -> TabularQ:
        """A table given from outside: its shape and numbers are tested."""
        return cls(finite(table, "the table of Q̄", bounds.tables.universal.shape), bounds)

    def q_bar(self, observations: ArrayLike) -> Array:
        """Rows of the table."""
        rows: Array = self.table[as_states(observations, self.space)]
        return rows

    def _within_kind(self, operation: Callable[..., Any], *others: TabularQ) -> TabularQ:
        tables = (ArrayElement(x.table, self.bounds.tables) for x in (self, *others))
        return TabularQ(operation(*tables).array, self.bounds)

    def __eq__(self, other: object) -> bool:
        """Same family, same numbers."""
        return (
            isinstance(other, TabularQ)
            and other.bounds is self.bounds
            and np.array_equal(self.table, other.table)
        )

    __hash__ = None  # type: ignore[assignment]


@final
@dataclass(frozen=True, eq=False, repr=False)
class GoalSetQ(ExtendedQ):
    """Q̄_M read off the bounds: Q̄_U(s, g, a) where g is desired, Q̄_∅(s, g, a) elsewhere.

    r̄_M(·, g, ·) depends on the task only through r_M(g), so under Assumption 2 the two bounds hold
    every Q̄_M, and composition is logic on goal sets (Terrés-Caballero and van Hoof 2026).  An agent
    pays one masked maximum a step, however long the expression was.
    """

    desired: BoolArray  # [G]
    bounds: ValueBounds

    @classmethod
    def of(cls, task: Task, bounds: ValueBounds) -> GoalSetQ:
        """The value function of a two-valued task."""
        if task.space is not bounds.space:
            raise ValueError("the task and the bounds belong to two spaces; use one TaskSpace")
        if not task.two_valued or task.step_reward is not None:
            raise ValueError(
                "the goal-set reading needs a task with two terminal rewards and shared step "
                f"rewards (Assumptions 1 and 2), got {task!r}; compose value functions instead"
            )
        return cls(task.desired, bounds)

    def q_bar(self, observations: ArrayLike) -> Array:
        """Slices of the two bounds."""
        return self._slices(self.bounds.at(observations))

    def _q_bar(self, sight: Sight) -> Array:
        return self._slices(self.bounds._at(sight))

    def _slices(self, bounds: Bounds) -> Array:
        return np.where(self.desired[:, None], bounds.universal, bounds.empty)

    def _within_kind(self, operation: Callable[..., Any], *others: GoalSetQ) -> GoalSetQ:
        return GoalSetQ(operation(*(x.desired for x in (self, *others))), self.bounds)


def q_bars(values: Sequence[ExtendedQ], observations: ArrayLike) -> list[Array]:
    """Q̄ of several value functions, `[B, G, A]` each; what they share is looked at once."""
    sight = Sight(observations)
    return [value._q_bar(sight) for value in values]


def compose_values(
    expression: Expression, values: Mapping[str, ExtendedQ], bounds: ValueBounds
) -> ExtendedQ:
    """The value function of an expression: a table if all are tables, else computed when asked."""
    for name in expression.names:
        if name in values and values[name].bounds is not bounds:
            raise ValueError(f"the value function of {name!r} has bounds of its own")
    tables = {n: q.table for n, q in values.items() if isinstance(q, TabularQ)}
    if isinstance(bounds, TableBounds) and len(tables) == len(values):
        return TabularQ(compose(expression, tables, bounds.tables), bounds)
    return expression.evaluate(values, universal=bounds.universal, empty=bounds.empty)
