"""Points of FlatWorld as finite worlds.

A lattice has points at a distance of one move.  Each is a state with the moves to its neighbours; a
straight move costs one step, a diagonal one √2.  Every point in a circle is two states: a goal,
which moves lead into, and a state in which the episode goes on after it.  A move out of the square
leads to a state without a way back.

The lattice *through* a position has straight moves only.  These are the moves of the plane itself:
what is planned there can be played step by step, exactly.  With diagonal moves there is no such
lattice, since they lead to x + 0.08/√2, which is no multiple of 0.08 away.  The *fixed* lattice has
them, at their length: distances on it are those of the plane, wherever an agent starts.  Between
its points an agent looks one step ahead (`taskalgebra.theory.ahead`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from taskalgebra.arrays import Array, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.content import ByContent
from taskalgebra.envs.flat_world.plane import (
    ACTIONS,
    DIRECTIONS,
    HALF,
    MOVES,
    STAY,
    STEP,
    STRAIGHT,
    code_at,
    codes_at,
    names_of,
)
from taskalgebra.planning.exact import return_to_goal
from taskalgebra.theory.ahead import Ahead, AheadReach
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.finite import NO_GOAL, FiniteMDP

LINGERING = 0.5
"""What a stay costs an agent that looks ahead, in steps on top of the one that it takes.  A mean
over places is a fraction of a step off, and an agent that stays for it would stay forever."""

NEARLY_NONE = 1e-9
"""A total of weights below which no point around has a part."""


@final
@dataclass(frozen=True, eq=False)
class Lattice(ByContent):
    """Points in rows and columns, with the colours at each; states are numbered column by column.

    After the states of all points come the goals, and last the state outside.
    """

    x: Array  # [I]
    y: Array  # [J]
    actions: tuple[str, ...]
    start: int | None = None  # the state in which episodes begin; None for all without a colour

    @classmethod
    def through(cls, position: Array) -> Lattice:
        """The points that straight moves reach from a position, which is their start."""
        far = int(2 * HALF / STEP) + 1
        x, y = (at + STEP * np.arange(-far, far + 1) for at in position)
        x, y = x[np.abs(x) <= HALF], y[np.abs(y) <= HALF]
        column, row = (int(np.abs(a - at).argmin()) for a, at in zip((x, y), position, strict=True))
        return cls(x, y, STRAIGHT, column * y.size + row)

    @classmethod
    def fixed(cls) -> Lattice:
        """The points of the whole square, with all moves."""
        axis = np.linspace(-HALF, HALF, round(2 * HALF / STEP) + 1)
        return cls(axis, axis, ACTIONS)

    @cached_property
    def points(self) -> Array:
        """[I·J, 2]."""
        return np.stack(np.meshgrid(self.x, self.y, indexing="ij"), axis=-1).reshape(-1, 2)

    @cached_property
    def codes(self) -> LongArray:
        """[I·J], the colours of each point."""
        return codes_at(self.points)

    @cached_property
    def coloured(self) -> LongArray:
        """[G], the points that are goals."""
        return np.flatnonzero(self.codes)

    @cached_property
    def goal_of_point(self) -> LongArray:
        """[I·J], the number of the goal at a point, or −1."""
        goals = np.full(self.codes.size, NO_GOAL)
        goals[self.coloured] = np.arange(self.coloured.size)
        return goals

    @property
    def goal_names(self) -> list[str]:
        """The colours of each goal, and where it is."""
        said = {code: "+".join(names_of(code)) for code in np.unique(self.codes).tolist()}
        at = zip(self.codes[self.coloured].tolist(), self.points[self.coloured], strict=True)
        return [f"{said[code]} at {x:.2f}, {y:.2f}" for code, (x, y) in at]

    @property
    def next_state(self) -> IntArray:
        """[S, A], where each action leads."""
        n, goals = self.codes.size, self.coloured.size
        column, row = np.divmod(np.arange(n), self.y.size)
        moves = np.array([DIRECTIONS[action] for action in self.actions])
        to = column[:, None] + moves[:, 0], row[:, None] + moves[:, 1]
        there = (to[0] >= 0) & (to[0] < self.x.size) & (to[1] >= 0) & (to[1] < self.y.size)
        point = np.where(there, to[0] * self.y.size + to[1], 0)
        goal = self.goal_of_point[point]
        after = np.where(goal == NO_GOAL, point, n + goal)
        states = np.full((n + goals + 1, moves.shape[0]), n + goals, np.int32)
        states[:n] = np.where(there, after, n + goals)
        return states

    def world(self, step_reward: float) -> FiniteMDP:
        """The lattice as a finite world."""
        n, n_goals = self.codes.size, self.coloured.size
        length = np.hypot(*np.array([DIRECTIONS[action] for action in self.actions]).T)
        return from_arrays(
            self.next_state,
            np.broadcast_to(step_reward * np.maximum(length, 1.0), (n + n_goals + 1, length.size)),
            np.arange(n, n + n_goals),
            goal_names=self.goal_names,
            action_names=self.actions,
            starts=np.flatnonzero(self.codes == 0) if self.start is None else [self.start],
            resumes=self.coloured,
        )


@final
class FlatReach(ByContent, AheadReach):
    """The returns to goals of the fixed lattice, for positions anywhere in the square."""

    observation_ndim = 1

    def __init__(self, lattice: Lattice, step_reward: float) -> None:
        """Plan the returns from every state of the lattice to every goal."""
        self._lattice, self._step_reward = lattice, step_reward
        self._world = lattice.world(step_reward)
        self.to_goal = return_to_goal(self._world).to_goal

    def returns(self, observations: Any) -> Array:
        """[B, G, A], those of the nearest point."""
        state = nearest(self._lattice, np.asarray(observations, np.float64))
        world = self._world
        returns = self.to_goal.T[world.next_state[state]] + world.step_reward[state][..., None]
        return returns.swapaxes(1, 2)

    def ahead(self, observations: Any) -> Ahead:
        """Where all moves lead, in the plane."""
        points = np.asarray(observations, np.float64)[:, None, :] + MOVES
        place, weight = between(self._lattice, points.reshape(-1, 2))
        shape = (*points.shape[:2], -1)
        reward = np.full(points.shape[:2], self._step_reward)
        reward[:, STAY] *= 1 + LINGERING
        return Ahead(reward, place.reshape(shape), weight.reshape(shape))


def nearest(lattice: Lattice, points: Array) -> LongArray:
    """[N], the nearest point of the fixed lattice."""
    last = lattice.x.size - 1
    column, row = np.clip(np.rint((points + HALF) / STEP), 0, last).astype(np.int64).T
    found: LongArray = column * lattice.y.size + row
    return found


def between(lattice: Lattice, points: Array) -> tuple[LongArray, Array]:
    """The states of the fixed lattice among which points `[N, 2]` lie, and their weights.

    Both are `[N, 4]`.  A point without a colour lies among the four points around it, with the
    weights of a bilinear mean; one with colours, among those goals around it that have the same.
    If none has, it is at the nearest goal with the same colours.  A point out of the square is at
    the state outside.
    """
    place = np.empty((len(points), 4), np.int64)
    weight = np.zeros((len(points), 4))
    _between(points, lattice.codes, lattice.goal_of_point, lattice.coloured, place, weight)
    return place, weight


@kernel
def _between(
    points: Array,
    codes: LongArray,
    goal_of_point: LongArray,
    coloured: LongArray,
    place: LongArray,
    weight: Array,
) -> None:
    """Fill `place`, and `weight`, which holds zeros."""
    side = round(2 * HALF / STEP) + 1
    for i in range(len(points)):
        x, y = points[i]
        if abs(x) > HALF or abs(y) > HALF:
            place[i] = codes.size + coloured.size
            weight[i, 0] = 1.0
            continue
        across, up = (x + HALF) / STEP, (y + HALF) / STEP
        column, row = min(int(across), side - 2), min(int(up), side - 2)
        code, total = code_at(x, y), 0.0
        for k in range(4):
            right, above = k // 2, k % 2
            point = (column + right) * side + row + above
            place[i, k] = point
            if code != 0:
                if codes[point] != code:
                    continue
                place[i, k] = codes.size + goal_of_point[point]
            weight[i, k] = (1 - abs(across - column - right)) * (1 - abs(up - row - above))
            total += weight[i, k]
        if total > NEARLY_NONE:
            weight[i] /= total
            continue
        nearest_yet = np.inf
        for g in range(coloured.size):
            if codes[coloured[g]] == code:
                there, on = divmod(coloured[g], side)
                apart = (there - across) ** 2 + (on - up) ** 2
                if apart < nearest_yet:
                    nearest_yet = apart
                    place[i] = codes.size + g
        weight[i] = 0.0
        weight[i, 0] = 1.0


def goals_at(lattice: Lattice, points: Array) -> LongArray:
    """[N], the goals that steps to these points enter; −1 for none."""
    goals = np.full(len(points), NO_GOAL)
    coloured = np.flatnonzero(codes_at(points))
    place, weight = between(lattice, points[coloured])
    chosen = place[np.arange(coloured.size), weight.argmax(axis=1)]
    goals[coloured] = chosen - lattice.codes.size
    return goals
