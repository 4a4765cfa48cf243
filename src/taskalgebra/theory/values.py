"""Extended value functions and their composition (Definitions 3 and 4, Theorem 2).

`ExtendedQ` is the contract that tables, planned values, networks and a user's own functions share:
one method, `q_bar`, from observations to numpy `[B, G, A]`.  All of them compose with `&  |  ~  ^`.
A family of value functions shares its bounds Q̄_U and Q̄_∅ (`ValueBounds`); elements of two families
do not mix.

Leaves have modules of their own: `tables` for values held as a table, `reach` for those that follow
from the returns to goals (Corollary 1).
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.content import ByContent, State
from taskalgebra.logic.algebra import BooleanElement, Bounds, conjunction, disjunction, negation
from taskalgebra.logic.expression import FALSE, TRUE, Expression, Name
from taskalgebra.logic.steps import Step, run
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import numbers


class Source(Protocol):
    """What several value functions read their values from, such as a network."""

    def returns(self, observations: Any) -> ArrayLike:
        """Returns for a batch of observations."""


@final
class Sight:
    """A batch of observations, which each source evaluates once for all values that it serves."""

    def __init__(self, observations: ArrayLike) -> None:
        """Nothing has been evaluated yet."""
        self.observations = observations
        self._seen: dict[int, Array] = {}

    def through(self, source: Source) -> Array:
        """The returns of a source for the observations."""
        if id(source) not in self._seen:
            self._seen[id(source)] = _checked(source, self.observations)
        return self._seen[id(source)]

    def assume(self, source: Source, returns: Array) -> None:
        """Take these for the returns of a source, which is then not asked."""
        self._seen[id(source)] = returns


def _checked(source: Source, observations: ArrayLike) -> Array:
    """The returns of a source, or a ValueError that names what is wrong with them."""
    name, given = type(source).__name__, source.returns(observations)
    try:
        returns = numbers(given, "returns")
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} gave returns that are not numbers: {error}") from None
    if returns.ndim != 3 or len(returns) != len(np.asarray(observations)):
        raise ValueError(
            f"{name} gave returns of shape {returns.shape} for {len(np.asarray(observations))} "
            f"observations, expected [B, G, A], one row per observation"
        )
    if not (returns < np.inf).all():  # false for NaN, too
        raise ValueError(
            f"{name} gave a return that is NaN or infinite; a goal that cannot be reached has "
            f"a lower return than all others, −∞ at the least"
        )
    return returns


class ValueBounds(ByContent, ABC):
    """Q̄_U and Q̄_∅ of one family of value functions over a task space."""

    space: TaskSpace
    observation_ndim = 0  # axes of one observation; a batch has one more

    @abstractmethod
    def at(self, observations: ArrayLike) -> Bounds:
        """The two bounds for a batch of observations, each `[B, G, A]`."""

    def _at(self, sight: Sight) -> Bounds:
        """The same, for a shared batch of observations."""
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
        """The same, for a shared batch of observations."""
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
        """Compose with value functions of the same family: within a class by its own rule."""
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
        """Compose with elements of the same class: lazily, unless the class is closed."""
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
    """An array with the bounds of its negation: what a composition computes with."""

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


BLOCK = 2**15
"""Entries of an array that are composed at a time: 256 KB, which fit in the cache."""


def compose(expression: Expression, arrays: Mapping[str, Array], bounds: Bounds) -> Array:
    """Evaluate an expression on arrays `[B, G, A]` of one shape, by Definition 4.

    Large arrays are processed in blocks of rows.  Each block runs the whole expression, so that
    intermediate results stay in the cache.
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
    one, zero = ArrayElement(bounds.universal, bounds), ArrayElement(bounds.empty, bounds)
    return run(steps, elements, one, zero).array


@final
@dataclass(frozen=True, eq=False, repr=False)
class Composed(ExtendedQ):
    """An expression over value functions, computed on demand.

    Each leaf is evaluated once per batch, whatever the expression; leaves and bounds that read one
    network share its forward pass.
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

    def _content(self) -> dict[str, Any]:
        """The formula over its leaves by number: names differ from process to process."""
        used = self.expression.names
        numbered = self._renamed({name: f"q{i}" for i, name in enumerate(used)})
        return {
            "expression": numbered,
            "leaves": [self.leaves[name] for name in used],
            "bounds": self.bounds,
        }

    def __setstate__(self, state: State) -> None:
        """Name the leaves anew: they have other names here than where they come from."""
        super().__setstate__(state)
        new = {name: leaf._composed() for name, leaf in self.leaves.items()}
        names = {name: composed.expression.names[0] for name, composed in new.items()}
        vars(self)["expression"] = self._renamed(names)
        vars(self)["leaves"] = {names[name]: leaf for name, leaf in self.leaves.items()}

    def _renamed(self, names: Mapping[str, str]) -> Expression:
        renamed = {old: Name(new) for old, new in names.items()}
        return self.expression.evaluate(renamed, universal=TRUE, empty=FALSE)


@final
@dataclass(frozen=True, eq=False, repr=False)
class GoalSetQ(ExtendedQ):
    """Q̄_M read off the bounds: Q̄_U(s, g, a) where g is desired, Q̄_∅(s, g, a) elsewhere.

    r̄_M(·, g, ·) depends on the task only through r_M(g), so under Assumption 2 the two bounds hold
    every Q̄_M, and composition is logic on goal sets (Terrés-Caballero and van Hoof 2026).  An agent
    computes one masked maximum per step, however long the expression was.
    """

    desired: BoolArray  # [G]
    bounds: ValueBounds

    @classmethod
    def of(cls, task: Task, bounds: ValueBounds) -> GoalSetQ:
        """The value function of a two-valued task."""
        if task.space != bounds.space:
            raise ValueError("the task and the bounds belong to two spaces; use one TaskSpace")
        if not task.two_valued or task.step_reward is not None:
            raise ValueError(
                "the goal-set reading needs a task with two terminal rewards and shared step "
                f"rewards (Assumptions 1 and 2), got {task!r}; compose value functions instead"
            )
        return cls(task.desired, bounds)

    def q_bar(self, observations: ArrayLike) -> Array:
        """Slices of the two bounds."""
        return self._q_bar(Sight(observations))

    def _q_bar(self, sight: Sight) -> Array:
        bounds = self.bounds._at(sight)
        return np.where(self.desired[:, None], bounds.universal, bounds.empty)

    def _within_kind(self, operation: Callable[..., Any], *others: GoalSetQ) -> GoalSetQ:
        return GoalSetQ(operation(*(x.desired for x in (self, *others))), self.bounds)


def q_bars(values: Sequence[ExtendedQ], observations: ArrayLike) -> list[Array]:
    """Q̄ of several value functions, `[B, G, A]` each; what they share is evaluated once."""
    sight = Sight(observations)
    return [value._q_bar(sight) for value in values]
