"""Exact extended values of Boxman, by search, and what they compose to.

By pick-up all tasks share their absorbing states, so composing exact values is optimal.  By touch
they do not: each base task ends with its own objects, so its values know no way to the others, nor
past its own.  Composing them is then no longer optimal, however well they were learned.  This is
the ceiling of what networks can reach there.

Returns are clamped from below as the heads of the networks clamp them: `v_min` stands for never.
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
        v_min: the return that stands for never.
    """

    def __init__(
        self, world: Boxman, tasks: Mapping[str, Task], codes: Codes, v_min: float
    ) -> None:
        """Find the best ways to all objects."""
        space, self.v_min = world.space, v_min
        if world.shared_absorbing:
            returns = returns_by_pick_up(world, codes, v_min)
            self.values = {n: returns + task.goal_reward[:, None] for n, task in tasks.items()}
            self.bounds = Bounds(
                returns + space.r_universal[:, None], returns + space.r_empty[:, None]
            )
        else:
            self.values = {
                name: returns_by_touch(world, codes, world.desired_goals(task), v_min)
                + task.goal_reward[:, None]
                for name, task in tasks.items()
            }
            self.bounds = extremes(list(self.values.values()))

    def q_bar(self, expression: Expression) -> Array:
        """[N, cells, G, A], the composition of the exact values (Definition 4)."""
        return compose(expression, self.values, self.bounds)


def returns_by_pick_up(world: Boxman, codes: Codes, v_min: float) -> Array:
    """[N, cells, G, A], the return to each object before it pays, where all tasks end with any."""
    board, places = world.board, codes[:, 2:].astype(np.int64)
    away = STEP_REWARD * (board.distance[:, places].transpose(1, 0, 2) + 1)  # [N, cells, G]
    moves = STEP_REWARD + away[:, board.neighbour].swapaxes(2, 3)
    picked = STEP_REWARD + away
    cells = np.arange(board.n_cells)
    here = cells[None, :, None] == places[:, None, :]  # [N, cells, G]
    picked[here.any(axis=2)] = v_min
    picked[here] = STEP_REWARD
    return np.maximum(np.concatenate((moves, picked[..., None]), axis=3), v_min)


def returns_by_touch(world: Boxman, codes: Codes, desired: BoolArray, v_min: float) -> Array:
    """[N, cells, G, A], the same where a task ends with its desired objects, by touch.

    The others are never collected, and are worth `v_min`.  So is the way to a desired object
    through another.
    """
    places = codes[:, 2:].astype(np.int64)
    shape = (len(codes), world.board.n_cells, world.board.n_objects, len(MOVES))
    returns = np.full(shape, float(v_min))
    _touch(world.board.neighbour, places, np.asarray(desired), STEP_REWARD, float(v_min), returns)
    return returns


@kernel
def _touch(
    neighbour: IntArray,
    places: NDArray[np.int64],
    desired: BoolArray,
    step: float,
    v_min: float,
    returns: Array,
) -> None:
    n_cells, n_moves = neighbour.shape
    for n in range(places.shape[0]):
        for g in range(desired.size):
            if not desired[g]:
                continue
            target = places[n, g]
            blocked = np.zeros(n_cells, np.bool_)
            for other in range(desired.size):
                if desired[other] and other != g:
                    blocked[places[n, other]] = True
            distance = distances_to(neighbour, target, blocked)
            # An agent that stands on the target has to leave it and come back.
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
                        returns[n, cell, g, a] = v_min
                    elif distance[there] >= 0:
                        returns[n, cell, g, a] = max(v_min, step * (1 + distance[there]))
