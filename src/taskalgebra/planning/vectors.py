"""Extended values of large stochastic worlds: one vector per goal and terminal reward.

    Q̄_M(s, g, a) = r(s, a) + Σ p V̄(s', g; r_M(g)),      and r̄(s, g, ·) in goals  (Definitions 2, 3)

V̄(·, g; r) is the value of the extended task of g where g pays r and all other goals r̄_MIN.  It
depends on the task only through r_M(g), so that two vectors per goal, for r_U and r_∅, hold all
two-valued tasks; a goal that pays r̄_MIN is like all others, and these share one vector.  Rows of Q̄
are computed on demand.  Tables would take S·G·A numbers for every task.

What goals pay otherwise is planned when it is asked for, and kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.content import ByContent
from taskalgebra.planning.stochastic import ShortestPaths, solution_key, solutions
from taskalgebra.theory.family import Arrays, Family, Packed, TableFamily, Words
from taskalgebra.theory.reach import Reach, ReachBounds, ReachQ
from taskalgebra.theory.tables import as_states
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import Sight
from taskalgebra.worlds import graph
from taskalgebra.worlds.finite import FiniteMDP

LARGEST_TABLES = 2**25
"""Entries of all tables of a stochastic world up to which `plan` makes tables: 256 MB."""
NAMES = ("v_bar", "v_goal", "v_reward")
"""The arrays of a packed family."""
_PLANNING = RLock()  # threads that ask for the same values wait for them


@final
class VectorReach(ByContent, Reach):
    """The planner's values in a stochastic world too large for tables; observations are states."""

    _held = ("space", "r_bar_min", "tolerance")  # vectors follow from these

    def __init__(self, space: TaskSpace, r_bar_min: float, tolerance: float) -> None:
        """Nothing is planned yet."""
        self.space, self.r_bar_min, self.tolerance = space, r_bar_min, tolerance
        self.error_bound = 0.0
        self.vectors: Array = np.empty((0, space.mdp.n_states))  # [N, S]
        self.row_of: dict[tuple[int, float], int] = {}

    def plan(self, goal_rewards: Sequence[Array]) -> None:
        """Find the vectors of tasks that pay these, `[G]` each, unless they are known."""
        keys = {key: None for paid in goal_rewards for key in self._keys(paid)}
        with _PLANNING:
            new = [key for key in keys if key not in self.row_of]
            if not new:
                return
            paths = ShortestPaths(self.space.mdp, self.space.mdp.step_reward)
            found, error = solutions(paths, new, self.r_bar_min, self.tolerance)
            self.keep(new, np.stack(found), error)

    def keep(self, keys: Sequence[tuple[int, float]], vectors: Array, error: float) -> None:
        """Add vectors that were planned."""
        n = len(self.vectors)
        joined = np.concatenate((self.vectors, vectors)) if n else vectors
        joined.setflags(write=False)
        self.vectors = joined
        self.row_of = {**self.row_of, **{key: n + i for i, key in enumerate(keys)}}
        self.error_bound = max(self.error_bound, error)

    def q_bar(self, sight: Sight, goal_reward: Array) -> Array:
        """Rows of Q̄_M, `[B, G, A]`."""
        return self._expanded(sight.observations, goal_reward)

    def returns(self, observations: Any) -> Array:
        """G(s:g, a) = Q̄_U(s, g, a) − r_U(g), `[B, G, A]`; −∞ where g cannot be reached after a."""
        space = self.space
        states = as_states(observations, space.mdp.n_states)
        found: Array = self._expanded(states, space.r_universal) - space.r_universal[:, None]
        mdp, lost = space.mdp, np.empty(found.shape, np.bool_)
        flat = lost.reshape(-1, mdp.n_goals, mdp.n_actions)
        _mark_lost(mdp.offset, mdp.successor, self._reached, states.ravel().astype(np.int64), flat)
        found[lost] = -np.inf
        return found

    def _expanded(self, observations: ArrayLike, goal_reward: Array) -> Array:
        mdp = self.space.mdp
        states = as_states(observations, mdp.n_states)
        keys = self._keys(goal_reward)
        if any(key not in self.row_of for key in keys):
            self.plan([goal_reward])
        rows = np.array([self.row_of[key] for key in keys])
        out = np.empty((states.size, mdp.n_goals, mdp.n_actions))
        _expand(
            mdp.offset,
            mdp.successor,
            mdp.probability,
            mdp.step_reward,
            mdp.goal_of_state,
            self.vectors,
            rows,
            goal_reward,
            self.r_bar_min,
            states.ravel().astype(np.int64),
            out,
        )
        return out.reshape(*states.shape, mdp.n_goals, mdp.n_actions)

    def _keys(self, goal_reward: Array) -> list[tuple[int, float]]:
        return [solution_key(g, float(r), self.r_bar_min) for g, r in enumerate(goal_reward)]

    @cached_property
    def _reached(self) -> BoolArray:
        """[G, S], whether a goal may be reached."""
        mdp: FiniteMDP = self.space.mdp
        return graph.steps_to(mdp.predecessors, mdp.goals) >= 0


@final
class Ways(ByContent, Reach):
    """The returns of vectors, to which goals add what they pay and nothing else."""

    def __init__(self, reach: VectorReach) -> None:
        """Take the vectors."""
        self.reach = reach

    def returns(self, observations: Any) -> Array:
        """Those of the vectors."""
        return self.reach.returns(observations)


@final
@dataclass(frozen=True, eq=False, repr=False)
class VectorFamily(Family):
    """Values computed on demand from vectors, in a stochastic world too large for tables."""

    FORMAT = TableFamily.FORMAT

    bounds: ReachBounds
    r_bar_min: float

    @classmethod
    def of(cls, tasks: Mapping[str, Task], reach: VectorReach) -> VectorFamily:
        """The values of these tasks and of both bounds; what is not known yet is planned."""
        space = reach.space
        rewards = [task.goal_reward for task in tasks.values()]
        reach.plan([space.universal.goal_reward, space.empty.goal_reward, *rewards])
        bounds = ReachBounds(space, reach)
        values = tuple(ReachQ(reach, paid, bounds) for paid in rewards)
        return cls(space, dict(tasks), values, bounds, reach.r_bar_min, reach.error_bound)

    @property
    def reach(self) -> VectorReach:
        """The vectors."""
        assert isinstance(self.bounds.reach, VectorReach)
        return self.bounds.reach

    def to_goals(self) -> Reach:
        """The planner's returns, without what goals pay."""
        return Ways(self.reach)

    def pack(self) -> Packed:
        """The vectors, with the goal and the terminal reward of each."""
        keys = list(self.reach.row_of)
        words = {"tables": False, "r_bar_min": self.r_bar_min, "error_bound": self.error_bound}
        arrays: dict[str, NDArray[Any]] = {
            "v_bar": self.reach.vectors,
            "v_goal": np.array([g for g, _ in keys], np.int64),
            "v_reward": np.array([reward for _, reward in keys]),
        }
        return words, arrays


def unpack_vectors(
    words: Words, arrays: Arrays, space: TaskSpace, tasks: Mapping[str, Task], tolerance: float
) -> VectorFamily:
    """The family that `VectorFamily.pack` packed.

    Raises:
        ValueError: the shape or the type of an array does not fit the world.
    """
    vectors, goals, rewards = (arrays[name] for name in NAMES)
    n = len(goals)
    if vectors.shape != (n, space.mdp.n_states) or rewards.shape != (n,) or goals.ndim != 1:
        raise ValueError(
            f"'v_bar' has shape {vectors.shape}, expected {(n, space.mdp.n_states)}: a row for "
            f"each of {n} goals and rewards, a column for each state"
        )
    if vectors.dtype != np.float64 or rewards.dtype != np.float64 or goals.dtype != np.int64:
        raise ValueError("'v_bar' and 'v_reward' must hold float64, and 'v_goal' int64")
    if not (vectors < np.inf).all() or not ((goals >= -1) & (goals < space.n_goals)).all():
        raise ValueError("'v_bar' holds NaN or ∞, or 'v_goal' the number of no goal")
    reach = VectorReach(space, words["r_bar_min"], tolerance)
    keys = list(zip(goals.tolist(), rewards.tolist(), strict=True))
    reach.keep(keys, vectors, words["error_bound"])
    return VectorFamily.of(tasks, reach)


@kernel
def _expand(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    step_reward: Array,
    goal_of_state: IntArray,
    vectors: Array,
    rows: LongArray,
    goal_reward: Array,
    r_bar_min: float,
    states: LongArray,
    out: Array,
) -> None:
    """Fill out[i] with Q̄(states[i], g, a), by the formula of the module's docstring."""
    n_actions, n_goals = step_reward.shape[1], rows.size
    for i in range(states.size):
        s = states[i]
        own = goal_of_state[s]
        if own >= 0:
            out[i] = r_bar_min
            out[i, own] = goal_reward[own]
            continue
        for a in range(n_actions):
            first, last = offset[s * n_actions + a], offset[s * n_actions + a + 1]
            for g in range(n_goals):
                others = 0.0  # in the order of numpy, so that tables have the same bits
                for k in range(first + 1, last):
                    others += probability[k] * vectors[rows[g], successor[k]]
                expected = probability[first] * vectors[rows[g], successor[first]] + others
                out[i, g, a] = step_reward[s, a] + expected


@kernel
def _mark_lost(
    offset: LongArray, successor: IntArray, reached: BoolArray, states: LongArray, lost: BoolArray
) -> None:
    """lost[i, g, a], whether no outcome of a in states[i] may lead to g, unless through goals."""
    n_goals, n_actions = lost.shape[1:]
    for i in range(states.size):
        for a in range(n_actions):
            pair = states[i] * n_actions + a
            for g in range(n_goals):
                lost[i, g, a] = True
                for k in range(offset[pair], offset[pair + 1]):
                    if reached[g, successor[k]]:
                        lost[i, g, a] = False
