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

Stochastic worlds are solved by `planning.stochastic`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.planning.horizon import optimal_within
from taskalgebra.planning.stochastic import ShortestPaths, bracketed_tables
from taskalgebra.progress import LOGGER
from taskalgebra.theory.assumptions import describe_cycle
from taskalgebra.theory.family import Arrays, Family, Packed, TableFamily, Words
from taskalgebra.theory.numbering import Numbering
from taskalgebra.theory.reach import Reach, ReachBounds, ReachQ
from taskalgebra.theory.rewards import checked_r_bar_min, default_r_bar_min
from taskalgebra.theory.rounding import TOLERANCE
from taskalgebra.theory.tables import as_states
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import Sight
from taskalgebra.validation import instance, number
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.returns import best_returns

Tasks = Mapping[str, Task] | Sequence[Task]

LARGEST_TABLE = 2**25
"""Entries S·G·A up to which `plan` makes tables: 256 MB of float64 per task."""


class PositiveCycleError(ValueError):
    """Some cycle earns more each time round, so no optimal value exists."""


@dataclass(frozen=True, eq=False, repr=False)
class ReturnToGoal:
    """G*(s:g), the best sum of rewards from s up to, but not including, g  (Corollary 1)."""

    mdp: FiniteMDP
    step_reward: Array  # [S, A]
    to_goal: Array  # [G, S]; −∞ where g cannot be reached
    nearest: IntArray  # [S], the goal with the best return
    nearest_return: Array  # [S]
    second_return: Array  # [S], the best return among the other goals

    def q_bar(self, goal_reward: Array, r_bar_min: float, states: NDArray[np.integer]) -> Array:
        """Q̄*_M(s, g, a) for some states, `[B, G, A]`, from the terminal rewards of a task."""
        mdp = self.mdp
        out = np.empty((states.size, mdp.n_goals, mdp.n_actions))
        _expand(
            mdp.next_state,
            self.step_reward,
            mdp.goal_of_state,
            self.to_goal,
            self.nearest,
            self.nearest_return,
            self.second_return,
            goal_reward,
            r_bar_min,
            states.ravel().astype(np.int64),
            out,
        )
        return out.reshape(*states.shape, mdp.n_goals, mdp.n_actions)


def return_to_goal(mdp: FiniteMDP, step_reward: Array | None = None) -> ReturnToGoal:
    """Search backwards from every goal of a deterministic world.

    Args:
        mdp: the world.
        step_reward: `[S, A]`, if other than the world's own.

    Raises:
        PositiveCycleError: some cycle has a positive sum of rewards.
    """
    rewards = mdp.step_reward if step_reward is None else step_reward
    to_goal, cycle = best_returns(mdp, rewards)
    if cycle:
        raise PositiveCycleError(
            f"{describe_cycle(mdp, cycle)} has a positive sum of rewards, so going round "
            f"forever beats reaching any goal; lower the step rewards"
        )
    return ReturnToGoal(mdp, rewards, to_goal, *_best_two(to_goal))


@kernel
def _best_two(to_goal: Array) -> tuple[IntArray, Array, Array]:
    """The best goal of each state, its return, and the best return among the other goals."""
    n_goals, n_states = to_goal.shape
    nearest = np.zeros(n_states, np.int32)
    best = np.full(n_states, -np.inf)
    second = np.full(n_states, -np.inf)
    for g in range(n_goals):
        for s in range(n_states):
            value = to_goal[g, s]
            if value > best[s]:
                second[s], best[s], nearest[s] = best[s], value, g
            elif value > second[s]:
                second[s] = value
    return nearest, best, second


@kernel
def _expand(
    next_state: IntArray,
    step_reward: Array,
    goal_of_state: IntArray,
    to_goal: Array,
    nearest: IntArray,
    nearest_return: Array,
    second_return: Array,
    goal_reward: Array,
    r_bar_min: float,
    states: LongArray,
    out: Array,
) -> None:
    """Fill out[i] with Q̄*(states[i], g, a); the formula is the one of the module's docstring."""
    n_actions, n_goals = next_state.shape[1], goal_reward.size
    for i in range(states.size):
        s = states[i]
        own = goal_of_state[s]
        if own >= 0:
            out[i] = r_bar_min
            out[i, own] = goal_reward[own]
            continue
        for a in range(n_actions):
            t, r, n = next_state[s, a], step_reward[s, a], nearest[next_state[s, a]]
            elsewhere = nearest_return[t] + r_bar_min
            for g in range(n_goals):
                out[i, g, a] = r + max(to_goal[g, t] + goal_reward[g], elsewhere)
            own_way = to_goal[n, t] + goal_reward[n]
            out[i, n, a] = r + max(own_way, second_return[t] + r_bar_min)


@final
class PlannedReach(Reach):
    """The planner's returns in a world too large for tables; observations are states.

    Its values are those of Definition 2: they include the penalty r̄_MIN of ending in another goal
    if that is best.
    """

    def __init__(self, returns: ReturnToGoal, r_bar_min: float) -> None:
        """Take the returns of a world and the penalty."""
        self.to_goals, self.r_bar_min = returns, r_bar_min

    def returns(self, observations: Any) -> Array:
        """G*(s:g, a) = r(s, a) + G*(s':g), `[B, G, A]`; −∞ where g cannot be reached."""
        return self._expanded(observations, np.zeros(self.to_goals.mdp.n_goals), -np.inf)

    def q_bar(self, sight: Sight, goal_reward: Array) -> Array:
        """Rows of Q̄*_M."""
        return self._expanded(sight.observations, goal_reward, self.r_bar_min)

    def _expanded(self, observations: ArrayLike, goal_reward: Array, r_bar_min: float) -> Array:
        states = as_states(observations, self.to_goals.mdp.n_states)
        return self.to_goals.q_bar(goal_reward, r_bar_min, states)


@final
class WithoutPenalty(Reach):
    """The returns of a reach, to which goals add what they pay and nothing else."""

    def __init__(self, reach: Reach) -> None:
        """Take the reach."""
        self.reach, self.observation_ndim = reach, reach.observation_ndim

    def returns(self, observations: Any) -> ArrayLike:
        """Those of the reach."""
        return self.reach.returns(observations)


@final
@dataclass(frozen=True, eq=False, repr=False)
class PlannedFamily(Family):
    """Values computed on demand, from the returns of a world too large for tables."""

    FORMAT = TableFamily.FORMAT

    def to_goals(self) -> Reach:
        """The planner's returns, without the penalty."""
        first = self.values[0]
        assert isinstance(first, ReachQ)
        return WithoutPenalty(first.reach)

    def pack(self) -> Packed:
        """No arrays: planning again is faster than reading them."""
        words = {"tables": False, "r_bar_min": self.r_bar_min, "error_bound": self.error_bound}
        return words, {}


def plan(
    space: TaskSpace,
    tasks: Tasks,
    *,
    r_bar_min: float | None = None,
    tolerance: float | None = None,
) -> TableFamily | PlannedFamily:
    """Q̄* of these tasks: tables if they fit, else values computed on demand.

    Args:
        space: the task space; its Q̄*_U and Q̄*_∅ are planned too.
        tasks: tasks of that space, by name or in a list.
        r_bar_min: r̄_MIN, at most r_∅; by default that of `default_r_bar_min`.
        tolerance: for stochastic worlds, the error to stop at; by default `TOLERANCE` times the
            largest reward.  Where float64 cannot keep it, the logger `taskalgebra` warns, and
            `error_bound` says what was kept.
    """
    mdp = instance(space, TaskSpace, "the space").mdp
    if r_bar_min is not None:
        r_bar_min = checked_r_bar_min(r_bar_min, space)
    entries = mdp.n_states * mdp.n_goals * mdp.n_actions
    if entries <= LARGEST_TABLE or not mdp.deterministic:
        return q_bar_star(space, tasks, r_bar_min=r_bar_min, tolerance=tolerance)
    named = _named(space, tasks)
    if any(task.step_reward is not None for task in named.values()):
        raise ValueError(
            f"dense tasks need tables, and {entries:,} entries exceed {LARGEST_TABLE:,}; "
            f"plan a smaller world"
        )
    low = _r_bar_min(space, r_bar_min)
    reach = PlannedReach(return_to_goal(mdp), low)
    bounds = ReachBounds(space, reach)
    values = tuple(ReachQ(reach, task.goal_reward, bounds) for task in named.values())
    return PlannedFamily(space, named, values, bounds, low, 0.0)


def q_bar_star(
    space: TaskSpace,
    tasks: Tasks,
    *,
    r_bar_min: float | None = None,
    tolerance: float | None = None,
) -> TableFamily:
    """Q̄* of these tasks as tables `[S, G, A]`; the arguments are those of `plan`.

    r̄_MIN may be any number, since Definition 3 and Theorems 2 and 3 hold for any: also one so mild
    that a wrong goal is the better choice.
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
    returns = return_to_goal(mdp, step_reward)
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
        if task.space is not space:
            raise ValueError(f"{task!r} belongs to another space; plan the tasks of one TaskSpace")
    return dict(tasks)


def unpack(
    words: Words, arrays: Arrays, space: TaskSpace, tasks: Mapping[str, Task]
) -> TableFamily | PlannedFamily:
    """The family that `TableFamily.pack` or `PlannedFamily.pack` packed; the latter plans again.

    Raises:
        ValueError: the shape or the type of a table does not fit the world.
    """
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
    best: Array = (return_to_goal(mdp, task.steps).to_goal + task.goal_reward[:, None]).max(axis=0)
    return best


def optimal_q(task: Task, *, tolerance: float | None = None) -> Array:
    """Q*_M(s, a) = r_M(s, a) + Σ_s' ρ(s' | s, a) V*_M(s'), and r_M(g) in goals, as `[S, A]`."""
    mdp = task.space.mdp
    v = optimal_v(task, tolerance=tolerance)
    ahead = np.add.reduceat(mdp.probability * v[mdp.successor], mdp.offset[:-1])
    q: Array = task.steps + ahead.reshape(task.steps.shape)
    q[mdp.goals] = task.goal_reward[:, None]
    return q
