"""Families: the extended values of some base tasks, which compose with each other.

A family is what planning, learning and loading all yield, and what `Skills` are made of.  Its
values share one task space and one pair of bounds.  It knows how good they are, whether negation
has a meaning, how to act on them, and how it is packed into arrays and words for a store.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

from numpy.typing import NDArray

from taskalgebra.arrays import Array
from taskalgebra.logic.algebra import Bounds
from taskalgebra.theory.policy import DirectedPolicy, GreedyPolicy, Policy
from taskalgebra.theory.reach import DirectedReach, Reach, ReachBounds, ReachQ
from taskalgebra.theory.tables import TableBounds, TabularQ
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import ExtendedQ, ValueBounds

Arrays = Mapping[str, NDArray[Any]]
Words = Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Family(ABC):
    """Extended values of base tasks, in their order, with what they share."""

    FORMAT: ClassVar[str]
    """The name of the format in which a store keeps families of this kind."""

    space: TaskSpace
    tasks: Mapping[str, Task]
    values: tuple[ExtendedQ, ...]
    bounds: ValueBounds
    r_bar_min: float | None  # r̄_MIN; None where it is not known
    error_bound: float | None  # |values − Q̄*| is nowhere larger; 0: exact but for rounding; None:
    # not known, because the values were learned

    @final
    def __getitem__(self, name: str) -> ExtendedQ:
        """The value function of a base task."""
        return self.named[name]

    @property
    def named(self) -> dict[str, ExtendedQ]:
        """The value functions by the names of their tasks."""
        return dict(zip(self.tasks, self.values, strict=True))

    @property
    def can_negate(self) -> bool:
        """Whether `~` and `^` have a meaning."""
        return True

    def policy(self, values: ExtendedQ) -> Policy:
        """How to act on values of this family."""
        return GreedyPolicy(values)

    @abstractmethod
    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Words and arrays, from which the reader of `FORMAT` makes an equal family.

        They do not include the space and the tasks, which a store packs by itself.
        """


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableFamily(Family):
    """Values as tables, planned or learned."""

    FORMAT = "taskalgebra skills 1"

    values: tuple[TabularQ, ...]
    bounds: TableBounds
    r_bar_min: float

    @classmethod
    def of(
        cls,
        space: TaskSpace,
        tasks: Mapping[str, Task],
        tables: list[Array],
        *,
        r_bar_min: float,
        error_bound: float | None,
    ) -> TableFamily:
        """A family from tables `[S, G, A]`: those of M_U and M_∅ first, then one per task."""
        bounds = TableBounds(space, Bounds(tables[0], tables[1]))
        values = tuple(TabularQ(table, bounds) for table in tables[2:])
        return cls(space, dict(tasks), values, bounds, r_bar_min, error_bound)

    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All tables."""
        arrays = {
            "q_universal": self.bounds.tables.universal,
            "q_empty": self.bounds.tables.empty,
            **{f"q_{i}": values.table for i, values in enumerate(self.values)},
        }
        words = {"tables": True, "r_bar_min": self.r_bar_min, "error_bound": self.error_bound}
        return words, arrays


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReachFamily(Family):
    """Values that follow from one reach (Corollary 1), such as a user's own critic."""

    FORMAT = "taskalgebra reach 1"

    reach: Reach

    @classmethod
    def of(cls, space: TaskSpace, tasks: Mapping[str, Task], reach: Reach) -> ReachFamily:
        """The values of these tasks."""
        bounds = ReachBounds(space, reach)
        values = tuple(ReachQ(reach, task.goal_reward, bounds) for task in tasks.values())
        return cls(space, dict(tasks), values, bounds, None, None, reach)

    def policy(self, values: ExtendedQ) -> Policy:
        """Greedy over actions, or over goals where the reach has ways but no values of actions."""
        if isinstance(self.reach, DirectedReach):
            return DirectedPolicy(values, self.reach)
        return GreedyPolicy(values)

    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Nothing but the kind of reach: its code is the user's, and is handed over again."""
        return {"reach": type(self.reach).__name__}, {}
