"""Many tasks in many states, in one call.

A two-valued task is the set of goals that it desires, and an expression over two-valued tasks is
logic on such sets (Terrés-Caballero and van Hoof 2026).  Sets are whole numbers here, bit g for
goal g, so that thousands of expressions over thousands of goals become sets at once, and what equal
sets need is made once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import BoolArray, LongArray
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.goal_sets import GoalSets
from taskalgebra.planning.planned import AT_ONCE, PlannedFamily
from taskalgebra.skills.agent import Agent
from taskalgebra.theory.family import Family
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.tables import as_states
from taskalgebra.theory.tasks import Task, TaskSpace

Key = str | Expression | Task


class Many(Protocol):
    """Skills that are asked for many tasks."""

    family: Family
    env: GoalEnv | None
    space: TaskSpace

    @property
    def tasks(self) -> dict[str, Task]:
        """The base tasks by name."""

    def for_task(self, key: Key) -> Agent:
        """The agent of a Boolean task."""


def act_many(skills: Many, tasks: Iterable[Key], states: ArrayLike) -> LongArray:
    """[E, B], the actions of E tasks in the states `[B]`, or each in its own, `[E, B]`."""
    if isinstance(tasks, str | Expression | Task):
        raise TypeError(f"tasks is {tasks!r}, expected a list of expressions or tasks: [{tasks!r}]")
    keys = list(tasks)
    asked = _asked(states, len(keys), skills.space)
    if not asked.size:
        return np.empty(asked.shape, np.int64)
    base = skills.tasks
    sets = _sets_of(skills, base)
    if sets is None:
        return _one_by_one(skills, keys, asked)
    family = skills.family
    assert isinstance(family, PlannedFamily)
    wanted = _sets_for(skills, keys, sets)
    place = {found: i for i, found in enumerate(dict.fromkeys(wanted))}
    table = _unpacked(list(place), skills.space.n_goals)
    which = np.array([place[found] for found in wanted])
    chosen = np.empty(asked.shape, np.int64)
    order = np.argsort(which, kind="stable")
    n_at_once = max(1, AT_ONCE // (8 * (asked.shape[1] + skills.space.n_goals)))
    for first in range(0, len(keys), n_at_once):
        rows = order[first : first + n_at_once]
        used, local = np.unique(which[rows], return_inverse=True)
        numbers = np.repeat(local.ravel().astype(np.int64), asked.shape[1])
        found = family.act_on(table[used], numbers, asked[rows].ravel())
        chosen[rows] = found.reshape(rows.size, asked.shape[1])
    return chosen


def _asked(states: ArrayLike, n_tasks: int, space: TaskSpace) -> LongArray:
    """[E, B], the states of every task."""
    if not space.finite:
        raise TypeError("act_many needs the states of a finite world; act with skills[task].act")
    given = np.asarray(states)
    if given.ndim not in (1, 2) or (given.ndim == 2 and len(given) != n_tasks):
        raise ValueError(
            f"states have shape {given.shape}, expected [B], or [E, B] with one row for each of "
            f"{n_tasks} tasks"
        )
    found: NDArray[Any] = as_states(given, space.mdp.n_states) if given.size else given
    return np.broadcast_to(found.astype(np.int64), (n_tasks, given.shape[-1]))


def _sets_of(skills: Many, base: Mapping[str, Task]) -> dict[str, int] | None:
    """The goals of each base task as bits; None where sets of goals are not all that counts."""
    family, env = skills.family, skills.env
    if not isinstance(family, PlannedFamily) or not family.acts_by_sets:
        return None
    if env is not None and type(env).compose is not GoalEnv.compose:
        return None
    if not all(task.two_valued and task.step_reward is None for task in base.values()):
        return None
    return {name: _packed(task.desired) for name, task in base.items()}


def _sets_for(skills: Many, keys: Sequence[Key], sets: Mapping[str, int]) -> list[int]:
    """The goals that each task wants, as bits."""
    formulas, every = GoalSets(sets), (1 << skills.space.n_goals) - 1

    def wanted(key: Key) -> int:
        found = None if isinstance(key, Task) else formulas.of(key)
        if found is None:
            return _packed(skills.for_task(key).task.desired)  # or it says what is wrong
        return found & every

    return [wanted(key) for key in keys]


def _one_by_one(skills: Many, keys: Sequence[Key], asked: LongArray) -> LongArray:
    """The actions of each different task, as its agent finds them."""
    chosen = np.empty(asked.shape, np.int64)
    rows_of: dict[Task, list[int]] = {}
    agents: dict[Task, Agent] = {}
    for i, key in enumerate(keys):
        agent = skills.for_task(key)
        agents.setdefault(agent.task, agent)
        rows_of.setdefault(agent.task, []).append(i)
    for task, rows in rows_of.items():
        found, place = np.unique(asked[rows], return_inverse=True)
        chosen[rows] = agents[task].policy.first_actions(found)[place.reshape(len(rows), -1)]
    return chosen


def _packed(wanted: BoolArray) -> int:
    return int.from_bytes(np.packbits(wanted, bitorder="little").tobytes(), "little")


def _unpacked(sets: Sequence[int], n_goals: int) -> BoolArray:
    """[E, G], truth values of sets of goals."""
    n_bytes = -(-n_goals // 8)
    data = b"".join(found.to_bytes(n_bytes, "little") for found in sets)
    packed = np.frombuffer(data, np.uint8).reshape(len(sets), n_bytes)
    bits = np.unpackbits(packed, axis=1, count=n_goals, bitorder="little")
    return bits.astype(np.bool_)
