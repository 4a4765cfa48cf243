"""Composed tasks on their maps, for files: values as colours, actions as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from taskalgebra.drawing.board import Map as Map
from taskalgebra.drawing.colours import ORANGE
from taskalgebra.drawing.plots.film import Walked, map_film
from taskalgebra.drawing.plots.maps import GREY, draw_map, large, scale
from taskalgebra.drawing.plots.paper import bar, fitted
from taskalgebra.paper.figures.boxman_board import draw_paths
from taskalgebra.paper.figures.style import new_figure, styled
from taskalgebra.paper.figures.style import write as write

FILM = ".gif"
draw = styled(large)


@styled
def draw_many(tasks: Sequence[Map], title: str, *, columns: int = 4) -> Figure:
    """Many tasks of one world, small, on one scale of values."""
    lines = -(-len(tasks) // columns)
    figure = new_figure(2.5 * columns, 2.5 * lines + 0.6)
    norm = scale(np.concatenate([task.values for task in tasks]))
    grid = figure.subplots(lines, columns, squeeze=False)
    image: Any = None
    for axes, task in zip(grid.flat, tasks, strict=False):
        image = draw_map(axes, task, norm=norm, diamond=5.5)
        axes.set_title(fitted(task.title, 28), fontsize=9)
    for axes in grid.flat[len(tasks) :]:
        axes.set_visible(False)
    figure.suptitle(f"{title}\n{tasks[0].signs}", fontsize=12)
    bar(figure, image, grid, "value", fraction=0.02, pad=0.015)
    return figure


@styled
def draw_game(
    task: Map, board: NDArray[np.uint8], cell: int, path: NDArray[np.int64], success: bool
) -> Figure:
    """What a network thinks of every cell, and on the game itself the path of an episode."""
    figure = new_figure(10.6, 5.6)
    left, right = figure.subplots(1, 2)
    image = draw_map(left, task)
    left.set_title("value of every cell, and action")
    left.set_xlabel(task.signs, color=GREY, fontsize=9)
    bar(figure, image, left, "")
    rows, columns = path.T.astype(np.float64)
    draw_paths(right, board, cell, [(rows, columns, success)], [ORANGE])
    right.set_title("an episode")
    right.set_xlabel(task.note, color=GREY, fontsize=9)
    figure.suptitle(fitted(task.title, 80))
    return figure


def write_film(task: Map, path: NDArray[np.int64], success: bool, file: Path) -> None:
    """Write the agent walking a path, `[N, 2]`, on the map of its task, in a loop."""
    map_film(task, [Walked(path, success)], file, {0: draw(task)})
