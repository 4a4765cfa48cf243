"""Extended values goal by goal, and how they are composed, operator by operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage

from taskalgebra.drawing.board import Map
from taskalgebra.drawing.plots.maps import CELLS, GREY, draw_map, draw_ring, scale
from taskalgebra.drawing.plots.paper import Panels, bar, figure_of, fitted

SMALL = 1.75  # inches, the side of a panel
WIDEST = 8.0  # inches; a page shows such a figure with letters that can be read
CHARACTER, SHORT = 0.085, 0.07  # inches, of a title, and of the name of a column
LINE = 14  # points
MOST_IN_ROW = 5
NARROW, FLAT = 0.6, 0.5  # of SMALL, the least width and height of a panel, for its words
SIGNS = "◆ desired   ◇ not desired   ○ the goal g of a map"
_HOW = {
    "name": "base task",
    "not": "{}, turned round",
    "and": "the minimum of {} and {}",
    "or": "the maximum of {} and {}",
    "xor": "{} or {}, not both",
}


@dataclass(frozen=True, eq=False)
class Node:
    """A subformula: its values by goal, and its policy on the map."""

    kind: str  # "name", "constant", "not", "and", "or" or "xor"
    operands: tuple[int, ...]  # the rows of its operands
    best: Map  # V and its actions
    slices: tuple[Map, ...]  # V̄ for each goal that is shown


def plot_slices(
    slices: Sequence[Map],
    goals: Mapping[int, str],
    title: str,
    figure: Figure | SubFigure | None,
) -> Panels:
    """max_a Q̄(s, g, a), a panel for each of these goals, with their names, on one scale."""
    columns = -(-len(slices) // -(-len(slices) // MOST_IN_ROW))
    lines = -(-len(slices) // columns)
    wide, high, share = _panel(slices[0], columns)
    size = (1.15 * wide * columns + 0.9, (high + 0.3) * lines + 0.8)
    page = figure_of(figure, size)
    norm = scale(np.concatenate([each.values for each in slices]))
    grid = page.subplots(lines, columns, squeeze=False)
    image: Any = None
    for axes, each, (goal, name) in zip(grid.flat, slices, goals.items(), strict=False):
        image = _draw_slice(axes, each, goal, norm, share)
        axes.set_title(fitted(name, round(1.15 * wide / CHARACTER)), fontsize="medium")
    for axes in grid.flat[len(slices) :]:
        axes.set_visible(False)
    page.suptitle(fitted(title, round(max(30, size[0] / CHARACTER))))
    page.supxlabel(SIGNS, color=GREY, fontsize="small")
    bar(page, image, grid, "value", fraction=0.03, pad=0.015)
    return np.asarray(grid.ravel()[: len(slices)])


def plot_nodes(
    nodes: Sequence[Node], goals: Mapping[int, str], figure: Figure | SubFigure | None
) -> Panels:
    """A row for each subformula, operands first: its slices for these goals, and its policy.

    Rows have numbers, and above each stands what its operator makes of the values Q̄ of which
    others: the maximum of both for ∨, the minimum for ∧, and for ¬ what is left between the largest
    and the smallest values.
    """
    wide, high, share = _panel(nodes[0].best, 1 + len(goals))
    size = (1.1 * wide * (1 + len(goals)) + 0.9, (high + 0.3) * len(nodes) + 1.0)
    page = figure_of(figure, size)
    grid = page.subplots(len(nodes), 1 + len(goals), squeeze=False)
    known = [each.values for node in nodes for each in (*node.slices, node.best)]
    norm = scale(np.concatenate(known))
    image: Any = None
    for number, (row, node) in enumerate(zip(grid, nodes, strict=True), 1):
        for axes, each, goal in zip(row, node.slices, goals, strict=False):
            _draw_slice(axes, each, goal, norm, share)
        image = draw_map(row[-1], node.best, norm=norm, diamond=_diamond(node.best, share))
        room = " \n " if number == 1 else " "  # as much as the words take, and names of columns
        row[0].set_title(room, loc="left", va="bottom")
        words = fitted(_words(number, node), round(size[0] / CHARACTER))
        above = (0, 5 + LINE * (number == 1))
        said = row[0].annotate(words, (0, 1), above, "axes fraction", textcoords="offset points")
        said.set_in_layout(False)  # it is wider than the panel
    for axes, name in zip(grid[0], [*goals.values(), "V(s), actions"], strict=True):
        short = fitted(name, round(1.1 * wide / SHORT))
        axes.set_title(short, fontsize="small", color=GREY)
    page.suptitle(fitted(f"{nodes[-1].best.title}: V̄(s, g) by goal, row by row", 90))
    page.supxlabel(SIGNS, color=GREY, fontsize="small")
    bar(page, image, grid, "value", fraction=0.02, pad=0.01)
    return np.asarray(grid)


def _draw_slice(axes: Axes, each: Map, goal: int, norm: Normalize, share: float) -> AxesImage:
    """One map of V̄(s, g), on which g has a ring."""
    size = _diamond(each, share)
    image = draw_map(axes, each, norm=norm, diamond=size, arrows=False)
    draw_ring(axes, each, goal, size)
    return image


def _panel(task: Map, columns: int) -> tuple[float, float, float]:
    """Width and height of a panel in inches: that of the map, whose longer side is `SMALL`.

    Many beside each other are smaller, by the last number, so that they fit a page.
    """
    rows, across = task.size
    wide = SMALL * max(NARROW, min(1.0, across / rows))
    high = SMALL * max(FLAT, min(1.0, rows / across))
    share = min(1.0, (WIDEST - 0.9) / (1.15 * wide * columns))
    return share * wide, share * high, share


def _words(number: int, node: Node) -> str:
    """The number of a row, its formula, and of which others it is made."""
    how = _HOW.get(node.kind, "").format(*(place + 1 for place in node.operands))
    return f"{number}   {node.best.title}" + (f":  {how}" if how else "")


def _diamond(task: Map, share: float) -> float:
    """The size of diamonds in a small panel, for a map as wide as Four Rooms."""
    return float(np.sqrt(share)) * max(5.5, 3.0 * max(task.size) / CELLS)
