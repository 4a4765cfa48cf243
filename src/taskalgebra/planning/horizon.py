"""Planning for the steps that are left: Q̄_h(s, g, a), for h = 1 … H  (Definition 3 with a limit).

Many environments cut episodes off.  An agent that plans without the limit may take its time where
it has none, so here values depend on the number h of moves left, by backward induction:

    V̄_0(s, g) = 0                                      out of time: nothing more is paid
    Q̄_h(s, g, a) = r(s, a) + Σ_s' ρ(s' | s, a) V̄_{h−1}(s', g)
    V̄_h(s, g) = max_a Q̄_h(s, g, a)

In a goal, whatever time is left, V̄_h(s, g) is r_M(g) where s is g, and the penalty r̄_MIN elsewhere
(Definition 2).  A move is an action outside goals; the action in a goal, which pays and ends the
episode, takes no time.  So H moves are H steps of a Gymnasium environment, which pays on the way
into a terminal state.

**The penalty.**  Definition 2 makes r̄_MIN so low that no detour is worth a wrong goal.  Time does
the same here: every policy ends, and one that reaches nothing earns what its steps earn.  Any
r̄_MIN ≤ r_∅ gives max_g Q̄_h = Q_h in deterministic worlds: a policy there ends in one goal g,
whose Q̄_h(·, g, ·) knows its return, or in none, which all know.  In stochastic ones a lower penalty
only makes agents shun risks that the task accepts.  So r̄_MIN is r_∅ by default.

For each h, values are composed as those without a limit: by Theorem 3 a goal's slice depends on the
task through r_M(g) alone, and two-valued tasks are slices of Q̄_U and Q̄_∅.  So only V̄_h is kept,
once for each goal and each reward that some task pays there, and rows of Q̄_h follow on demand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.content import ByContent
from taskalgebra.logic.algebra import Bounds
from taskalgebra.planning.timed import TimedPolicy
from taskalgebra.theory.family import Arrays, Family, Packed, Words
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.rewards import checked_r_bar_min
from taskalgebra.theory.tables import as_states
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import ExtendedQ, ValueBounds
from taskalgebra.validation import count
from taskalgebra.worlds.finite import FiniteMDP

LARGEST = 2**27
"""Entries of V̄_h, over all states, goals, rewards and steps, that are kept: 1 GiB of float64."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class StepsLeft(ByContent):
    """V̄_h of N pairs of a goal and what it pays; from its last level on, V̄_h stays as it is."""

    mdp: FiniteMDP
    horizon: int
    steps: Array  # [K, S, A], step rewards: those of the world, and of dense tasks
    steps_of: LongArray  # [N], which of them
    levels: Array  # [L, N, S], V̄_h for h = 0 … L − 1 ≤ H

    def q_bar(self, columns: LongArray, states: LongArray, left: LongArray) -> Array:
        """Q̄_h(s, g, a) for B states and numbers of moves left, `[B, G, A]`; G columns."""
        mdp = self.mdp
        level = np.minimum(left, len(self.levels)) - 1
        out = np.empty((states.size, columns.size, mdp.n_actions))
        of = (mdp.offset, mdp.successor, mdp.probability, mdp.is_goal)
        _rows(*of, self.steps, self.steps_of, self.levels, columns, states, level, out)
        return out


@kernel
def _induction(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    is_goal: BoolArray,
    steps: Array,
    steps_of: LongArray,
    levels: Array,
) -> int:
    """Fill levels[h] from levels[h − 1]; the number of levels until they stay as they are."""
    n_levels: int = levels.shape[0]
    n_columns, n_states, n_actions = levels.shape[1], levels.shape[2], steps.shape[2]
    for h in range(1, n_levels):
        settled = True
        for n in range(n_columns):
            reward, before, now = steps[steps_of[n]], levels[h - 1, n], levels[h, n]
            for s in range(n_states):
                if is_goal[s]:
                    now[s] = before[s]
                    continue
                best = -np.inf
                for a in range(n_actions):
                    value = 0.0
                    for k in range(offset[s * n_actions + a], offset[s * n_actions + a + 1]):
                        value += probability[k] * before[successor[k]]
                    best = max(best, reward[s, a] + value)
                now[s] = best
                settled &= best == before[s]
        if settled:
            return h
    return n_levels


@kernel
def _rows(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    is_goal: BoolArray,
    steps: Array,
    steps_of: LongArray,
    levels: Array,
    columns: LongArray,
    states: LongArray,
    level: LongArray,
    out: Array,
) -> None:
    n_actions = steps.shape[2]
    for i in range(states.size):
        s = states[i]
        for g in range(columns.size):
            n = columns[g]
            ahead = levels[level[i], n]
            for a in range(n_actions):
                if is_goal[s]:
                    out[i, g, a] = ahead[s]
                    continue
                value = 0.0
                for k in range(offset[s * n_actions + a], offset[s * n_actions + a + 1]):
                    value += probability[k] * ahead[successor[k]]
                out[i, g, a] = steps[steps_of[n], s, a] + value


@final
@dataclass(frozen=True, eq=False, repr=False)
class HorizonQ(ExtendedQ):
    """Q̄_h of a task.

    Observations are states, `[B]`, with all of the time left; or a state and a number of moves
    left in each row, `[B, 2]`.
    """

    planned: StepsLeft
    columns: LongArray  # [G]
    bounds: HorizonBounds

    def q_bar(self, observations: ArrayLike) -> Array:
        """Q̄_h(s, g, a), `[B, G, A]`."""
        return self.planned.q_bar(self.columns, *_states_left(observations, self.planned))


@final
@dataclass(frozen=True, eq=False, repr=False)
class HorizonBounds(ValueBounds):
    """Q̄_h of M_U and M_∅; observations as those of `HorizonQ`."""

    space: TaskSpace
    planned: StepsLeft
    columns: LongArray  # [2, G]

    def at(self, observations: ArrayLike) -> Bounds:
        """Rows of both."""
        rows = _states_left(observations, self.planned)
        universal, empty = (self.planned.q_bar(columns, *rows) for columns in self.columns)
        return Bounds(universal, empty)


def _states_left(observations: ArrayLike, planned: StepsLeft) -> tuple[LongArray, LongArray]:
    """States, and for each the number of moves left, checked because kernels do not check."""
    given = np.asarray(observations)
    pairs = given.ndim == 2 and given.shape[1] == 2
    states = as_states(given[:, 0] if pairs else given, planned.mdp.n_states).astype(np.int64)
    if not pairs:
        return states.ravel(), np.full(states.size, planned.horizon, np.int64)
    left = given[:, 1].astype(np.int64)
    wrong = left[(left < 1) | (left > planned.horizon)]
    if wrong.size:
        raise ValueError(
            f"{wrong[0]} steps left; values were planned for 1 to {planned.horizon} of them"
        )
    return states, left


@final
class HorizonPolicy(TimedPolicy):
    """The greedy policy on Q̄_h: argmax_a max_g Q̄_h(s, g, a)."""

    def __init__(self, values: ExtendedQ, horizon: int) -> None:
        """Act on these values; no episode has begun."""
        super().__init__(horizon)
        self.values = values

    def with_left(self, states: ArrayLike, left: ArrayLike) -> LongArray:
        """The actions in these states with these numbers of moves left; nothing is counted."""
        pairs = np.stack((np.asarray(states), np.asarray(left)), axis=1)
        return greedy(self.values.q_bar(pairs), self.values.space.reward_scale)


@final
@dataclass(frozen=True, eq=False, repr=False)
class HorizonFamily(Family):
    """Values for every number of moves left, up to a horizon."""

    FORMAT = "taskalgebra horizon 2"

    horizon: int

    def policy(self, values: ExtendedQ) -> HorizonPolicy:
        """Greedy for the time that is left."""
        return HorizonPolicy(values, self.horizon)

    def pack(self) -> Packed:
        """No arrays: planning again is faster than reading them."""
        return {"horizon": self.horizon, "r_bar_min": self.r_bar_min}, {}


def plan_horizon(
    space: TaskSpace, tasks: Mapping[str, Task], horizon: int, r_bar_min: float | None = None
) -> HorizonFamily:
    """Q̄_h of these tasks, for h up to the horizon.

    Args:
        space: the task space; Q̄_h of M_U and M_∅ are planned too.
        tasks: tasks of that space by name.
        horizon: H, the number of moves after which an episode is over.
        r_bar_min: r̄_MIN, at most r_∅; by default r_∅, the mildest.

    Raises:
        ValueError: the values would need more than `LARGEST` numbers.
    """
    mdp, horizon = space.mdp, count(horizon, "horizon")
    low = float(space.r_empty.min())
    if r_bar_min is not None:
        low = checked_r_bar_min(r_bar_min, space)
    planned = [space.universal, space.empty, *tasks.values()]
    steps = list({id(task.steps): task.steps for task in planned}.values())
    numbers: dict[tuple[int, int, float], int] = {}  # of (step rewards, goal, what it pays)
    columns = np.array(
        [
            [
                numbers.setdefault((_position(steps, task.steps), g, float(reward)), len(numbers))
                for g, reward in enumerate(task.goal_reward)
            ]
            for task in planned
        ]
    )
    entries = (horizon + 1) * len(numbers) * mdp.n_states
    if entries > LARGEST:
        raise ValueError(
            f"a horizon of {horizon:,} steps needs {entries:,} numbers in this world of "
            f"{mdp.n_states:,} states, and {LARGEST:,} (1 GiB) are the most; plan for at most "
            f"{LARGEST // (len(numbers) * mdp.n_states) - 1:,} steps, or without a horizon"
        )
    levels = np.empty((horizon + 1, len(numbers), mdp.n_states))
    levels[0] = 0.0
    levels[0][:, mdp.goals] = low
    for (_, g, reward), n in numbers.items():
        levels[0, n, mdp.goals[g]] = reward
    steps_of = np.array([k for k, _, _ in numbers])
    stacked = np.stack(steps)
    of = (mdp.offset, mdp.successor, mdp.probability, mdp.is_goal)
    n_levels = _induction(*of, stacked, steps_of, levels)
    if n_levels < len(levels):
        levels = levels[:n_levels].copy()
    found = StepsLeft(mdp, horizon, stacked, steps_of, levels)
    bounds = HorizonBounds(space, found, columns[:2])
    values = tuple(HorizonQ(found, row, bounds) for row in columns[2:])
    return HorizonFamily(space, dict(tasks), values, bounds, low, 0.0, horizon)


def _position(steps: list[Array], wanted: Array) -> int:
    return next(i for i, one in enumerate(steps) if one is wanted)


def unpack(
    words: Words, arrays: Arrays, space: TaskSpace, tasks: Mapping[str, Task]
) -> HorizonFamily:
    """The family that `HorizonFamily.pack` packed, planned again."""
    return plan_horizon(space, tasks, words["horizon"], words["r_bar_min"])


def optimal_within(task: Task, horizon: int, *, counted: bool = False) -> Array:
    """`[S]`, the best expected return of a task within a number of moves, without extended values.

    `counted` says whether the action in a goal, which pays, takes one of the moves.

    In stochastic worlds it can exceed max_{g,a} Q̄_h, because an agent that commits to one goal
    forgoes what it could gain by changing its mind.
    """
    mdp = task.space.mdp
    of = (mdp.offset, mdp.successor, mdp.probability, mdp.is_goal)
    levels = np.zeros((2, 1, mdp.n_states))
    n_moves = count(horizon, "horizon")
    if counted:
        levels[:, 0], n_moves = task.steps.max(axis=1), n_moves - 1
    levels[:, 0, mdp.goals] = task.goal_reward
    which, steps = np.zeros(1, np.int64), task.steps[None]
    for _ in range(n_moves):
        if _induction(*of, steps, which, levels) == 1:
            break
        levels = levels[::-1].copy()
    best: Array = levels[0, 0]
    return best
