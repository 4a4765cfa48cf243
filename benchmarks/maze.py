"""A large maze, generated: corridors with some walls opened, so that there are many routes."""

from __future__ import annotations

import numpy as np
from numba import njit

from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.finite import FiniteMDP


@njit
def carve(rows: int, columns: int, opened: float, seed: int) -> np.ndarray:
    """Free cells of a maze: a depth-first spanning tree, then a share of the walls opened."""
    np.random.seed(seed)
    height, width = (rows - 1) // 2, (columns - 1) // 2
    free = np.zeros((rows, columns), np.bool_)
    met = np.zeros(height * width, np.bool_)
    stack = np.empty(height * width, np.int64)
    stack[0], size, met[0], free[1, 1] = 0, 1, True, True
    choices = np.empty(4, np.int64)
    while size > 0:
        r, c = stack[size - 1] // width, stack[size - 1] % width
        count = 0
        for dr, dc in ((-1, 0), (0, 1), (1, 0), (0, -1)):
            if 0 <= r + dr < height and 0 <= c + dc < width:
                if not met[(r + dr) * width + c + dc]:
                    choices[count] = (r + dr) * width + c + dc
                    count += 1
        if count == 0:
            size -= 1
            continue
        chosen = choices[np.random.randint(count)]
        met[chosen] = True
        free[2 * (chosen // width) + 1, 2 * (chosen % width) + 1] = True
        free[r + chosen // width + 1, c + chosen % width + 1] = True
        stack[size] = chosen
        size += 1
    for r in range(1, rows - 1):
        for c in range(1, columns - 1):
            if np.random.random() < opened:
                free[r, c] = True
    return free


def maze_world(rows: int, columns: int, n_goals: int, *, seed: int = 0) -> FiniteMDP:
    """A maze with absorbing goals behind `stay`, as in Four Rooms."""
    free = carve(rows, columns, 0.1, seed)
    cells = np.argwhere(free)
    n_cells = len(cells)
    number = np.full(free.shape, -1)
    number[free] = np.arange(n_cells)
    next_state = np.tile(np.arange(n_cells + n_goals)[:, None], (1, 5))
    for action, move in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
        reached = number[tuple((cells + move).T)]
        next_state[:n_cells, action] = np.where(reached >= 0, reached, np.arange(n_cells))
    goal_cells = np.random.default_rng(seed).choice(n_cells, n_goals, replace=False)
    goals = np.arange(n_cells, n_cells + n_goals)
    next_state[goal_cells, 4] = goals
    return from_arrays(next_state, -0.1, goals, cells=np.concatenate((cells, cells[goal_cells])))
