"""Exact planning: Q̄* for all goals and several tasks in one call, the map 𝓕 of Corollary 2.

Deterministic worlds.  By Corollary 1, Q̄*_M(s, g, a) = G*(s:g, a) + r̄_M(g): up to the goal every
task earns the same.  So the expensive part, the best return G*(s:g) from every state to every goal,
is computed once, by searching backwards from each goal, and each task costs one addition:

    V̄*_M(s, g) = max{ G*(s:g) + r_M(g),  max_{g' ≠ g} G*(s:g') + r̄_MIN }
    Q̄*_M(s, g, a) = r(s, a) + V̄*_M(s', g)

The second term is an agent that cannot reach g (or finds the penalty cheaper) and ends in the best
other goal.  From states that can reach no goal at all every policy is improper, and Q̄* = −∞.

The search is that of `worlds.returns`.  With a cycle of positive sum there is no optimum, and
`PositiveCycleError` is raised.

`ReturnToGoal` needs S·G numbers; a table of Q̄ needs S·G·A for each task.  If that is too large,
`plan` uses a `PlannedReach`, which keeps the former and computes rows of the latter on demand.

Stochastic worlds are solved by `planning.stochastic`; large ones keep what `planning.vectors` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.planning.horizon import optimal_within
from taskalgebra.planning.planned import PlannedFamily as PlannedFamily
from taskalgebra.planning.planned import PlannedReach as PlannedReach
from taskalgebra.planning.stochastic import ShortestPaths, bracketed_tables
from taskalgebra.planning.storage import stored_returns
from taskalgebra.planning.to_goals import PositiveCycleError as PositiveCycleError
from taskalgebra.planning.to_goals import ReturnToGoal as ReturnToGoal
from taskalgebra.planning.to_goals import known_return_to_goal
from taskalgebra.planning.to_goals import return_to_goal as return_to_goal
from taskalgebra.planning.vectors import (
    LARGEST_TABLES,
    VectorFamily,
    VectorReach,
    unpack_vectors,
)
from taskalgebra.progress import LOGGER
from taskalgebra.theory.family import Arrays, TableFamily, Words
from taskalgebra.theory.numbering import Numbering
from taskalgebra.theory.rewards import checked_r_bar_min, default_r_bar_min
from taskalgebra.theory.rounding import TOLERANCE
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import instance, number
from taskalgebra.worlds.finite import FiniteMDP

Tasks = Mapping[str, Task] | Sequence[Task]

LARGEST_TABLE = 2**25
"""Entries S·G·A up to which `plan` makes tables: 256 MB of float64 per task."""


def plan(
    space: TaskSpace,
    tasks: Tasks,
    *,
    r_bar_min: float | None = None,
    tolerance: float | None = None,
    storage: str | Path | None = None,
) -> TableFamily | PlannedFamily | VectorFamily:
    """Q̄* of these tasks: tables if they fit, else values computed on demand.

    Args:
        space: the task space; its Q̄*_U and Q̄*_∅ are planned too.
        tasks: tasks of that space, by name or in a list.
        r_bar_min: r̄_MIN, at most r_∅; by default that of `default_r_bar_min`.
        tolerance: for stochastic worlds, the error to stop at; by default `TOLERANCE` times the
            largest reward.  Where float64 cannot keep it, the logger `taskalgebra` warns, and
            `error_bound` says what was kept.
        storage: a directory for the returns of a deterministic world, which are then mapped from
            there and not held in memory; see `planning.storage`.
    """
    mdp = instance(space, TaskSpace, "the space").mdp
    if r_bar_min is not None:
        r_bar_min = checked_r_bar_min(r_bar_min, space)
    entries = mdp.n_states * mdp.n_goals * mdp.n_actions
    if storage is not None and not mdp.deterministic:
        raise ValueError(
            "storage= keeps the returns of a deterministic world, and this one has random "
            "outcomes; leave it out"
        )
    named = _named(space, tasks)
    dense = any(task.step_reward is not None for task in named.values())
    if not mdp.deterministic and not dense and entries * (len(named) + 2) > LARGEST_TABLES:
        kept = VectorReach(space, _r_bar_min(space, r_bar_min), _tolerance(space, tolerance))
        family = VectorFamily.of(named, kept)
        _warn(kept.error_bound, kept.tolerance)
        return family
    if storage is None and (entries <= LARGEST_TABLE or not mdp.deterministic):
        return q_bar_star(space, tasks, r_bar_min=r_bar_min, tolerance=tolerance)
    if dense:
        raise ValueError(
            f"dense tasks need tables, and {entries:,} entries exceed {LARGEST_TABLE:,}; "
            f"plan a smaller world"
            if storage is None
            else "dense tasks need tables, which storage= does not keep; leave it out"
        )
    low = _r_bar_min(space, r_bar_min)
    if storage is None:
        returns = known_return_to_goal(mdp, mdp.step_reward)
    else:
        returns = stored_returns(mdp, storage)
    return PlannedFamily.of(space, named, PlannedReach(returns, low))


def q_bar_star(
    space: TaskSpace,
    tasks: Tasks,
    *,
    r_bar_min: float | None = None,
    tolerance: float | None = None,
) -> TableFamily:
    """Q̄* of these tasks as tables `[S, G, A]`; the arguments are those of `plan`.

    r̄_MIN may be any number, since Definition 3 and, for two-valued tasks, Theorems 2 and 3 hold for
    any: also one so mild that a wrong goal is the better choice.  Of goals that pay something else,
    the negation then is Q̄* of the negated task or more: Q̄* is convex in what a goal pays.
    """
    named = _named(space, tasks)
    low = _r_bar_min(space, r_bar_min)
    tolerance = _tolerance(space, tolerance)
    planned = [space.universal, space.empty, *named.values()]
    tables: list[Array] = [np.empty(0)] * len(planned)
    error = 0.0
    for steps in {id(task.steps): task.steps for task in planned}.values():
        group = [i for i, task in enumerate(planned) if task.steps is steps]
        goal_reward = np.stack([planned[i].goal_reward for i in group])
        solved, gap = _tables(space.mdp, steps, goal_reward, low, tolerance)
        error = max(error, gap)
        for i, table in zip(group, solved, strict=True):
            tables[i] = table
    _warn(error, tolerance)
    for table in tables:
        table.setflags(write=False)
    return TableFamily.of(space, named, tables, r_bar_min=low, error_bound=error)


def _tables(
    mdp: FiniteMDP, step_reward: Array, goal_reward: Array, r_bar_min: float, tolerance: float
) -> tuple[list[Array], float]:
    """Tables of all tasks that share their step rewards; goal_reward is `[tasks, G]`."""
    if not mdp.deterministic:
        return bracketed_tables(mdp, step_reward, goal_reward, r_bar_min, tolerance)
    returns = known_return_to_goal(mdp, step_reward)
    states = np.arange(mdp.n_states)
    return [returns.q_bar(rewards, r_bar_min, states) for rewards in goal_reward], 0.0


def _r_bar_min(space: TaskSpace, given: float | None) -> float:
    return number(default_r_bar_min(space) if given is None else given, "r_bar_min")


def _tolerance(space: TaskSpace, given: float | None) -> float:
    most = space.reward_scale
    if given is None:
        return TOLERANCE * most
    what = f"a number above 0 and at most {most:g}, the largest reward"
    tolerance = number(given, "tolerance", what)
    if not 0.0 < tolerance <= most:
        raise ValueError(f"tolerance is {given}, expected {what}")
    return tolerance


def _warn(error: float, tolerance: float) -> None:
    """Log a tolerance that was not kept: the values are of use, but known less well."""
    if error > tolerance:
        LOGGER.warning(
            "values are known to ±%.1e, not to the tolerance of %.1e: rounding errors add up "
            "where episodes are long or rewards differ much in size",
            error,
            tolerance,
        )


def _named(space: TaskSpace, tasks: Tasks) -> dict[str, Task]:
    """Tasks by name, all of one space; those of a list are named by their positions."""
    instance(space, TaskSpace, "the space")
    if not isinstance(tasks, Mapping):
        tasks = {f"task {i}": task for i, task in enumerate(tasks)}
    for task in tasks.values():
        instance(task, Task, "a task to plan")
        if task.space != space:
            raise ValueError(f"{task!r} belongs to another space; plan the tasks of one TaskSpace")
    return {name: task.of(space) for name, task in tasks.items()}


def unpack(
    words: Words, arrays: Arrays, space: TaskSpace, tasks: Mapping[str, Task]
) -> TableFamily | PlannedFamily | VectorFamily:
    """The family that `TableFamily.pack` or `PlannedFamily.pack` packed; the latter plans again.

    Raises:
        ValueError: the shape or the type of a table does not fit the world.
    """
    if "v_bar" in arrays:
        return unpack_vectors(words, arrays, space, tasks, _tolerance(space, None))
    if not words["tables"]:
        return plan(space, tasks, r_bar_min=words["r_bar_min"])
    names = ("q_universal", "q_empty", *(f"q_{i}" for i in range(len(tasks))))
    tables = [arrays[name] for name in names]
    for name, table in zip(names, tables, strict=True):
        if table.dtype != np.float64:
            raise ValueError(f"{name!r} holds {table.dtype}, expected float64")
    r_bar_min, error_bound = words["r_bar_min"], words["error_bound"]
    seen = arrays.get("observations")
    return TableFamily.of(
        space,
        tasks,
        tables,
        r_bar_min=r_bar_min,
        error_bound=error_bound,
        numbering=None if seen is None else Numbering(seen),
    )


def optimal_v(task: Task, *, tolerance: float | None = None, horizon: int | None = None) -> Array:
    """V*_M(s), the optimum of a task itself, computed without extended values.

    With a horizon it is the best within so many moves, with no error to stop at.

    In stochastic worlds it can exceed max_{g,a} Q̄*_M(s, g, a), because an agent that commits to one
    goal forgoes what it could gain by changing its mind.
    """
    mdp = instance(task, Task, "the task").space.mdp
    tolerance = _tolerance(task.space, tolerance)
    if horizon is not None:
        return optimal_within(task, horizon)
    if not mdp.deterministic:
        values, error = ShortestPaths(mdp, task.steps).solve(task.goal_reward, tolerance)
        _warn(error, tolerance)
        return values
    return known_return_to_goal(mdp, task.steps).best(np.arange(mdp.n_states), task.goal_reward)


def optimal_q(task: Task, *, tolerance: float | None = None) -> Array:
    """Q*_M(s, a) = r_M(s, a) + Σ_s' ρ(s' | s, a) V*_M(s'), and r_M(g) in goals, as `[S, A]`."""
    mdp = task.space.mdp
    v = optimal_v(task, tolerance=tolerance)
    ahead = np.add.reduceat(mdp.probability * v[mdp.successor], mdp.offset[:-1])
    q: Array = task.steps + ahead.reshape(task.steps.shape)
    q[mdp.goals] = task.goal_reward[:, None]
    return q
