"""From a drawn world to planned values, and the worlds to start from.

Extended values are kept as V̄*(s, g), an array `[G, S]` a base task.  All steps of a drawn world pay
the same, so that Q̄*(s, g, a) = r_step + V̄*(s', g), and Definition 4 composes the one as it composes
the other: with a fifth of the numbers.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.apps.playground.checks import check
from taskalgebra.apps.playground.expressions import count_tasks, labels_of
from taskalgebra.apps.playground.python_lines import world_lines
from taskalgebra.apps.playground.schema import GoalDocument, TaskDocument, WorldDocument
from taskalgebra.arrays import Array, IntArray
from taskalgebra.envs.four_rooms import MAP, FourRooms
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.exact import ReturnToGoal, return_to_goal
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import ArrayElement
from taskalgebra.worlds.grid import from_text

CACHE_BYTES = 64 * 2**20
"""Planned worlds that are kept: some two hundred of 60 × 60 cells and 8 goals."""

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f")
"""Of goals, told apart by colour-blind readers as well: Okabe and Ito's, with grey for black."""


@dataclass(frozen=True, eq=False)
class PlannedWorld:
    """A world with the values of its base tasks: all that composing any expression needs.

    What is shown are the free cells from which some goal can be reached; the rest of the map has no
    values.  A walk can be taken back, so no action leads from the ones to the others.
    """

    space: TaskSpace
    tasks: dict[str, Task]
    values: dict[str, ArrayElement]  # [G, S], V̄*(s, g) of every base task
    bounds: tuple[ArrayElement, ArrayElement]  # V̄*_U and V̄*_∅
    to_goal: Array  # [G, shown], G*(s:g), the return on the best way to each goal
    next_state: IntArray  # [A, shown], where each action leads
    n_cells: int
    cell_of_shown: NDArray[np.int64]  # [shown], cells on the map, numbered row by row
    rewards: dict[str, float]  # of a step, a desired goal, and any other goal
    lines: str  # the program that makes this world and its skills

    def compose(self, expression: Expression) -> Array:
        """V̄(s, g) of an expression, `[G, S]`, from those of the base tasks (Definition 4)."""
        universal, empty = self.bounds
        return expression.evaluate(self.values, universal=universal, empty=empty).array

    @cached_property
    def labels(self) -> tuple[int, ...]:
        """[G], which tasks want a goal, as one number."""
        return labels_of(self.tasks, self.space.n_goals)

    @cached_property
    def task_names(self) -> tuple[str, ...]:
        """The base tasks, in order."""
        return tuple(self.tasks)

    @cached_property
    def n_tasks(self) -> dict[str, Any]:
        """How many tasks can be expressed."""
        return count_tasks(self.tasks)

    @property
    def n_bytes(self) -> int:
        """An estimate of the memory."""
        return self.to_goal.nbytes * (len(self.values) + 4) + 200 * self.n_cells


def plan_world(document: WorldDocument) -> PlannedWorld:
    """Plan a drawn world.

    Raises:
        RefusedError: the document describes no world, with the field that is wrong.
    """
    check(document)
    goals = {goal.name: goal.cell for goal in document.goals}
    mdp = from_text(document.map, goals, step_reward=document.step_reward)
    low = document.step_reward if document.r_empty is None else document.r_empty
    space = TaskSpace(mdp, r_universal=document.r_universal, r_empty=low)
    tasks = {
        task.name: space.from_desired([name in task.goals for name in goals])
        for task in document.tasks
    }
    returns = return_to_goal(mdp)
    elsewhere = _elsewhere(space, returns)
    bounds = Bounds(*(_v_bar(task, returns, elsewhere) for task in (space.universal, space.empty)))
    shown = np.flatnonzero(mdp.ending & ~mdp.is_goal)
    assert mdp.cells is not None
    width = len(document.map[0])
    return PlannedWorld(
        space,
        tasks,
        {n: ArrayElement(_v_bar(task, returns, elsewhere), bounds) for n, task in tasks.items()},
        (ArrayElement(bounds.universal, bounds), ArrayElement(bounds.empty, bounds)),
        returns.to_goal[:, shown],
        np.ascontiguousarray(mdp.next_state[shown].T),
        len(document.map) * width,
        mdp.cells[shown, 0] * width + mdp.cells[shown, 1],
        {"step": document.step_reward, "desired": document.r_universal, "other": low},
        world_lines(document),
    )


def _v_bar(task: Task, returns: ReturnToGoal, elsewhere: Array) -> Array:
    """V̄*_M(s, g) = max{G*(s:g) + r_M(g), max_{g' ≠ g} G*(s:g') + r̄_MIN}  (see planning)."""
    there = returns.to_goal + task.goal_reward[:, None]
    return np.maximum(there, elsewhere, out=there)


def _elsewhere(space: TaskSpace, returns: ReturnToGoal) -> Array:
    """[G, S], the value of ending in the best other goal; r̄_MIN where no goal can be reached.

    Cells without a goal are not shown, so that any number will do; −∞ would compose more slowly.

    r̄_MIN is that of Definition 2 with S − 1 for the diameter, which no path exceeds: the definition
    asks only that it is low enough, and finding the diameter takes longer than all else together.
    """
    spread = space.r_min - max(space.r_max, 0.0)
    r_bar_min = min(space.r_min, spread * space.mdp.n_states)
    goals = np.arange(space.n_goals)[:, None]
    other = np.where(returns.nearest == goals, returns.second_return, returns.nearest_return)
    other[np.isneginf(other)] = 0.0
    return other + r_bar_min


class WorldCache:
    """The worlds planned last, up to so many bytes; a new expression plans nothing again."""

    def __init__(self, n_bytes: int = CACHE_BYTES) -> None:
        """Start empty."""
        self._room = n_bytes
        self._used = 0
        self._worlds: OrderedDict[object, PlannedWorld] = OrderedDict()
        self._lock = Lock()

    def planned(self, document: WorldDocument) -> PlannedWorld:
        """The world of a document, planned if it is not here."""
        key = _key(document)
        with self._lock:
            known = self._worlds.get(key)
            if known is not None:
                self._worlds.move_to_end(key)
                return known
        world = plan_world(document)
        with self._lock:
            if key not in self._worlds:
                self._worlds[key] = world
                self._used += world.n_bytes
            while self._used > self._room and len(self._worlds) > 1:
                _, oldest = self._worlds.popitem(last=False)
                self._used -= oldest.n_bytes
        return world


def _key(document: WorldDocument) -> object:
    """All of a document but colours."""
    return (
        document.map,
        tuple((goal.name, goal.cell) for goal in document.goals),
        tuple((task.name, task.goals) for task in document.tasks),
        (document.step_reward, document.r_universal, document.r_empty),
    )


def four_rooms(n_goals: int) -> WorldDocument:
    """Four Rooms with 4 or 40 goals, its tasks and its rewards, as a document."""
    world = FourRooms(n_goals)
    goals = [goal for goal in world.space.goals if goal.cell is not None]
    names = world.space.goal_names
    return WorldDocument(
        map=tuple(MAP.split()),
        goals=tuple(
            GoalDocument(name=goal.name, cell=goal.cell, color=COLOURS[i % len(COLOURS)])
            for i, goal in enumerate(goals)
            if goal.cell is not None
        ),
        tasks=tuple(
            TaskDocument(
                name=name,
                goals=tuple(g for g, wanted in zip(names, task.desired, strict=True) if wanted),
            )
            for name, task in world.tasks.items()
        ),
        r_empty=-0.1,
    )
