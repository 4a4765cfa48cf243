"""Exact extended values of Boxman, by search, and what they compose to.

By pick-up all tasks share their absorbing states, so composing exact values is optimal.  By touch
they do not: each base task ends with its own objects, so its values know no way to the others, nor
past its own.  Composing them is then no longer optimal, however well they were learned.  This is
the ceiling of what networks can reach there.

Returns are clamped from below as the heads of the networks clamp them: `low` stands for never.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.envs.boxman.board import MOVES, STEP_REWARD, Codes, distances_to
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.expression import Expression
from taskalgebra.theory.reach import extremes
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import compose


@final
class ExactSkills:
    """Exact values of some base tasks on all cells of some layouts.

    Args:
        world: the rules.
        tasks: the base tasks, by name.
        codes: `[N, …]`, the layouts.
        low: the return that stands for never.
    """

    def __init__(self, world: Boxman, tasks: Mapping[str, Task], codes: Codes, low: float) -> None:
        """Search all ways."""
        self._shape = (len(codes), world.board.n_cells)
        space = world.space
        if world.shared_absorbing:
            returns = self._flat(returns_by_pick_up(world, codes, low))
            self.values = {n: returns + task.goal_reward[:, None] for n, task in tasks.items()}
            self.bounds = Bounds(
                returns + space.r_universal[:, None], returns + space.r_empty[:, None]
            )
        else:
            self.values = {
                name: self._flat(returns_by_touch(world, codes, world.desired_goals(task), low))
                + task.goal_reward[:, None]
                for name, task in tasks.items()
            }
            self.bounds = extremes(list(self.values.values()))

    def q_bar(self, expression: Expression) -> Array:
        """[N, cells, G, A], the composition of the exact values (Definition 4)."""
        values = compose(expression, self.values, self.bounds)
        return values.reshape(*self._shape, *values.shape[1:])

    def _flat(self, returns: Array) -> Array:
        return returns.reshape(-1, *returns.shape[2:])


def returns_by_pick_up(world: Boxman, codes: Codes, low: float) -> Array:
    """[N, cells, G, A], the return to each object before it pays, where all tasks end with any."""
    board, places = world.board, codes[:, 2:].astype(np.int64)
    away = STEP_REWARD * (board.distance[:, places].transpose(1, 0, 2) + 1)  # [N, cells, G]
    moves = STEP_REWARD + away[:, board.neighbour].swapaxes(2, 3)
    picked = STEP_REWARD + away
    cells = np.arange(board.n_cells)
    here = cells[None, :, None] == places[:, None, :]  # [N, cells, G]
    picked[here.any(axis=2)] = low
    picked[here] = STEP_REWARD
    return np.maximum(np.concatenate((moves, picked[..., None]), axis=3), low)


def returns_by_touch(world: Boxman, codes: Codes, wanted: BoolArray, low: float) -> Array:
    """[N, cells, G, A], the same where a task ends with the objects that it wants, by touch.

    The others are never collected, and are worth `low`.  So is the way to one of them through
    another.
    """
    places = codes[:, 2:].astype(np.int64)
    shape = (len(codes), world.board.n_cells, world.board.n_objects, len(MOVES))
    returns = np.full(shape, float(low))
    _touch(world.board.neighbour, places, np.asarray(wanted), STEP_REWARD, float(low), returns)
    return returns


@kernel
def _touch(
    neighbour: IntArray,
    places: NDArray[np.int64],
    wanted: BoolArray,
    step: float,
    low: float,
    returns: Array,
) -> None:
    n_cells, n_moves = neighbour.shape
    for n in range(places.shape[0]):
        for g in range(wanted.size):
            if not wanted[g]:
                continue
            target = places[n, g]
            blocked = np.zeros(n_cells, np.bool_)
            for other in range(wanted.size):
                if wanted[other] and other != g:
                    blocked[places[n, other]] = True
            distance = distances_to(neighbour, target, blocked)
            # Who stands on the target has to leave it, and to come back.
            distance[target] = -1
            for a in range(n_moves):
                there = neighbour[target, a]
                if there != target and not blocked[there]:
                    distance[target] = 2
            for cell in range(n_cells):
                for a in range(n_moves):
                    there = neighbour[cell, a]
                    if there == target and there != cell:
                        returns[n, cell, g, a] = step
                    elif blocked[there] and there != cell:
                        returns[n, cell, g, a] = low
                    elif distance[there] >= 0:
                        returns[n, cell, g, a] = max(low, step * (1 + distance[there]))
