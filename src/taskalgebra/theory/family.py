"""Families: the extended values of some base tasks, which compose with each other.

A family is what planning, learning and loading all return, and what `Skills` are made of.  Its
values share one task space and one pair of bounds.  It knows how accurate they are, whether they
can be negated, how to act on them, and how to pack itself into words and arrays for a store.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.content import ByContent
from taskalgebra.folder import StoreError
from taskalgebra.logic.algebra import Bounds
from taskalgebra.theory.ahead import AheadPolicy, AheadReach
from taskalgebra.theory.numbering import Numbering
from taskalgebra.theory.policy import DirectedPolicy, GreedyPolicy, OfferedPolicy, Policy
from taskalgebra.theory.reach import DirectedReach, OfferedReach, Reach, ReachBounds, ReachQ
from taskalgebra.theory.table_reach import TableReach
from taskalgebra.theory.tables import TableBounds, TabularQ
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import ExtendedQ, ValueBounds
from taskalgebra.validation import listed, number
from taskalgebra.worlds.build import from_rows
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.open_world import OpenWorld

Arrays = Mapping[str, NDArray[Any]]
Words = Mapping[str, Any]
Packed = tuple[dict[str, Any], dict[str, NDArray[Any]]]
"""Words and arrays, for a store."""


@dataclass(frozen=True, eq=False, repr=False)
class Family(ByContent, ABC):
    """Extended values of base tasks, in their order, and what they share."""

    FORMAT: ClassVar[str]
    """The name of the format in which a store keeps families of this kind."""

    space: TaskSpace
    tasks: Mapping[str, Task]
    values: tuple[ExtendedQ, ...]
    bounds: ValueBounds
    r_bar_min: float | None  # r̄_MIN; None if unknown
    error_bound: float | None  # on |values − Q̄*|; 0: exact but for rounding; None: learned values

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

    @property
    def met(self) -> BoolArray:
        """[K, G], the goals to which the values of each base task know a way.

        The others were never met in learning, such as goals in which a base task does not end.
        """
        met = np.ones((len(self.values), self.space.n_goals), np.bool_)
        for row, values in zip(met, self.values, strict=True):
            if isinstance(values, ReachQ) and values.reach.met is not None:
                row &= _goals_met(values.reach, row.size)
        return met

    def policy(self, values: ExtendedQ) -> Policy:
        """How to act on values of this family."""
        return GreedyPolicy(values)

    def to_goals(self) -> Reach:
        """G(s:g, a), what the values know of the ways to goals; −∞ where there is none.

        Unlike Q̄ it has no penalty in it, so that goals may pay anything on top.

        Raises:
            TypeError: the values are no sums of a return and of what a goal pays.
        """
        raise TypeError(
            f"values of {type(self).__name__} do not tell the way to a goal from what it pays; "
            f"tasks with time need both: solve or learn without a limit of steps"
        )

    @abstractmethod
    def pack(self) -> Packed:
        """Words and arrays, from which the reader of `FORMAT` makes an equal family.

        The space and the tasks are not among them; see `pack_tasks`.
        """


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableFamily(Family):
    """Values as tables, planned or learned."""

    FORMAT = "taskalgebra skills 2"

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
        numbering: Numbering | None = None,
    ) -> TableFamily:
        """A family from tables `[S, G, A]`: those of M_U and M_∅ first, then one per task.

        With a numbering, observations are looked up there, and tables have one row more, for those
        without a number.

        Raises:
            ValueError: tables are missing, of another shape than the world's, or hold NaN or ∞.
        """
        tables = [np.asarray(table, np.float64) for table in tables]
        _check_tables(space, tasks, tables)
        if numbering is not None and len(tables[0]) != len(numbering) + 1:
            raise ValueError(
                f"tables have {len(tables[0])} rows, expected one for each of {len(numbering)} "
                f"observations, and one for all others"
            )
        if r_bar_min is not None:
            number(r_bar_min, "r_bar_min")
        if error_bound is not None:
            number(error_bound, "error_bound", "a number of at least 0", least=0.0)
        bounds = TableBounds(space, Bounds(tables[0], tables[1]), numbering)
        values = tuple(TabularQ(table, bounds) for table in tables[2:])
        return cls(space, dict(tasks), values, bounds, r_bar_min, error_bound)

    def and_more(
        self, tasks: Mapping[str, Task], tables: Sequence[Array], error_bound: float | None
    ) -> TableFamily:
        """This family with further tasks, whose tables have the same penalty r̄_MIN."""
        errors = [each for each in (self.error_bound, error_bound) if each is not None]
        bounds = self.bounds.tables
        return TableFamily.of(
            self.space,
            {**self.tasks, **tasks},
            [bounds.universal, bounds.empty, *(values.table for values in self.values), *tables],
            r_bar_min=self.r_bar_min,
            error_bound=max(errors) if len(errors) == 2 else None,
            numbering=self.bounds.numbering,
        )

    def to_goals(self) -> Reach:
        """Q̄_U − r_U, and −∞ where Q̄_U holds the penalty of ending in another goal."""
        return TableReach(self.bounds, self.r_bar_min)

    def pack(self) -> Packed:
        """All tables, and the observations that have numbers."""
        arrays: dict[str, NDArray[Any]] = {
            "q_universal": self.bounds.tables.universal,
            "q_empty": self.bounds.tables.empty,
            **{f"q_{i}": values.table for i, values in enumerate(self.values)},
        }
        if self.bounds.numbering is not None:
            arrays["observations"] = self.bounds.numbering.observations
        words = {"tables": True, "r_bar_min": self.r_bar_min, "error_bound": self.error_bound}
        return words, arrays


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReachFamily(Family):
    """Values that follow from one reach (Corollary 1), such as a user's own critic."""

    FORMAT = "taskalgebra reach 2"

    reach: Reach

    @classmethod
    def of(cls, space: TaskSpace, tasks: Mapping[str, Task], reach: Reach) -> ReachFamily:
        """The values of these tasks."""
        if not isinstance(reach, Reach):
            raise TypeError(f"the reach must be a Reach or a DirectedReach, got {reach!r}")
        bounds = ReachBounds(space, reach)
        values = tuple(ReachQ(reach, task.goal_reward, bounds) for task in tasks.values())
        return cls(space, dict(tasks), values, bounds, None, None, reach)

    def policy(self, values: ExtendedQ) -> Policy:
        """Greedy over actions, or over goals, or a step ahead, by the kind of the reach."""
        if isinstance(self.reach, DirectedReach):
            return DirectedPolicy(values, self.reach)
        if isinstance(self.reach, OfferedReach):
            return OfferedPolicy(values, self.reach)
        if isinstance(self.reach, AheadReach):
            return AheadPolicy(values, self.reach)
        return GreedyPolicy(values)

    def to_goals(self) -> Reach:
        """The reach itself."""
        return self.reach

    def pack(self) -> Packed:
        """The name of the reach and what it keeps: the code, or the model, is passed again."""
        kept = {} if self.reach.kept is None else {"model": dict(self.reach.kept)}
        for name, value in kept.get("model", {}).items():
            if callable(value):
                raise ValueError(
                    f"{name}= is a function of your own, which a file cannot hold; give a number"
                )
        return {"reach": type(self.reach).__name__, **kept}, {}


def _goals_met(reach: Reach, n_goals: int) -> BoolArray:
    met = np.asarray(reach.met)
    if met.shape != (n_goals,) or met.dtype != np.bool_:
        raise ValueError(
            f"{type(reach).__name__}.met is {reach.met!r}, expected {n_goals} truth values, one "
            f"per goal"
        )
    return met


def _check_tables(space: TaskSpace, tasks: Mapping[str, Task], tables: Sequence[Array]) -> None:
    if len(tables) != len(tasks) + 2:
        raise ValueError(
            f"{len(tables)} tables for {len(tasks)} tasks, expected {len(tasks) + 2}: those of M_U "
            f"and M_∅ first, then one per task"
        )
    n_states = space.mdp.n_states if space.finite else len(tables[0])
    expected = (n_states, space.n_goals, space.n_actions)
    for table in tables:
        if table.shape != expected:
            raise ValueError(f"a table has shape {table.shape}, the world needs {expected}")
        if not (table < np.inf).all():
            raise ValueError("a table holds NaN or ∞; values must be numbers, or −∞")


_WORLD_ARRAYS = ("offset", "successor", "probability", "step_reward", "goals", "starts")
_OPTIONAL_ARRAYS = ("goal_reward", "cells", "ends", "resumes")


_WHOLE = ("offset", "successor", "goals", "starts", "cells", "ends", "resumes")
"""Arrays of whole numbers; all others hold rewards or probabilities."""
_REWARDS = ("r_universal", "r_empty")


def names_of(words: Words) -> set[str]:
    """The names that arrays of `pack_tasks` may have."""
    steps = (f"steps_{i}" for i in range(len(words["tasks"])))
    return {*_WORLD_ARRAYS, *_OPTIONAL_ARRAYS, *_REWARDS, "tasks", *steps}


def pack_tasks(space: TaskSpace, tasks: Mapping[str, Task]) -> Packed:
    """A task space and its base tasks as words and arrays: what all families on disk share.

    A finite world is packed whole, as its table of outcomes; an open one has only names.
    """
    arrays: dict[str, NDArray[Any]] = {}
    if space.finite:
        found = {name: getattr(space.mdp, name) for name in (*_WORLD_ARRAYS, *_OPTIONAL_ARRAYS)}
        arrays = {name: array for name, array in found.items() if array is not None}
    arrays["r_universal"], arrays["r_empty"] = space.r_universal, space.r_empty
    arrays["tasks"] = np.stack([task.goal_reward for task in tasks.values()])
    for i, task in enumerate(tasks.values()):
        if task.step_reward is not None:
            arrays[f"steps_{i}"] = task.step_reward
    words: dict[str, Any] = {
        "tasks": list(tasks),
        "goals": list(space.goal_names),
        "actions": list(space.action_names),
    }
    if space.finite and space.mdp.max_episode_steps is not None:
        words["max_episode_steps"] = space.mdp.max_episode_steps
    if space.finite and space.mdp.row_error:
        words["row_error"] = space.mdp.row_error
    return words, arrays


def unpack_tasks(
    words: Words, arrays: Arrays, space: TaskSpace | None = None
) -> tuple[TaskSpace, dict[str, Task]]:
    """The task space and the tasks that `pack_tasks` packed.

    Args:
        words: the words.
        arrays: the arrays.
        space: the space to put the tasks in; it must equal the one that was packed.

    Raises:
        ValueError: words and arrays do not fit together, or belong to another space.
    """
    for name in names_of(words) & set(arrays):
        if arrays[name].dtype.kind not in ("iu" if name in _WHOLE else "f"):
            raise ValueError(f"{name!r} holds {arrays[name].dtype}, expected other numbers")
    world = _world(words, arrays)
    rewards = {name: arrays[name] for name in _REWARDS}
    if space is None:
        space = TaskSpace(world, **rewards)
    else:
        _require_same(space, world, rewards)
    if len(arrays["tasks"]) != len(words["tasks"]):
        raise ValueError(f"{len(words['tasks'])} task names, {len(arrays['tasks'])} tasks")
    tasks = {
        name: space.from_rewards(arrays["tasks"][i], arrays.get(f"steps_{i}"))
        for i, name in enumerate(words["tasks"])
    }
    return space, tasks


def _world(words: Words, arrays: Arrays) -> FiniteMDP | OpenWorld:
    if not any(name in arrays for name in _WORLD_ARRAYS):
        return OpenWorld(tuple(words["goals"]), tuple(words["actions"]))
    n_states, n_actions = arrays["step_reward"].shape
    world = from_rows(
        **{name: arrays[name] for name in _WORLD_ARRAYS},
        **{name: arrays[name] for name in _OPTIONAL_ARRAYS if name in arrays},
        shape=(n_states, n_actions),
        goal_names=words["goals"],
        action_names=words["actions"],
        max_episode_steps=words.get("max_episode_steps"),
    )
    error = words.get("row_error", 0.0)
    return replace(world, row_error=number(error, "row_error", least=0.0)) if error else world


def _require_same(space: TaskSpace, world: FiniteMDP | OpenWorld, rewards: Arrays) -> None:
    """Reject a space with other goals, actions, dynamics or rewards."""
    if (space.goal_names, space.action_names) != (world.goal_names, world.action_names):
        raise StoreError(
            f"the skills belong to a world with the goals {listed(world.goal_names)} and the "
            f"actions {listed(world.action_names)}, not to the world given"
        )
    if not all(np.array_equal(array, getattr(space, name)) for name, array in rewards.items()):
        raise StoreError(
            "the goals of these skills pay other rewards r_U and r_∅ than those of the world given"
        )
    if isinstance(world, FiniteMDP) and not (
        space.finite
        and all(np.array_equal(getattr(world, n), getattr(space.mdp, n)) for n in _WORLD_ARRAYS)
    ):
        raise StoreError(
            "the skills belong to a world with other transitions or rewards"
            if space.finite
            else "the skills belong to a finite world, and the one given is open; if it was "
            "explored, explore it again: load(path, explore(world))"
        )
