"""A large maze, generated: corridors with some walls opened, so that there are many routes."""

from __future__ import annotations

from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.maze import maze

LOOPS = 0.2
"""The share of further walls that are opened."""


def maze_world(rows: int, columns: int, n_goals: int, *, seed: int = 0) -> FiniteMDP:
    """A maze with absorbing goals behind `stay`, as in Four Rooms."""
    return maze(rows, columns, n_goals, seed=seed, loops=LOOPS)
