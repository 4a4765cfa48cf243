"""Extended values goal by goal, and how they are composed, operator by operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from taskalgebra.drawing.board import Map
from taskalgebra.drawing.plots.maps import CELLS, GREY, draw_map, scale
from taskalgebra.drawing.plots.paper import Panels, bar, figure_of, fitted

SMALL = 1.75  # inches, the side of a panel
MOST_IN_ROW = 8
NARROW, FLAT = 0.6, 0.65  # of SMALL, the least width and height of a panel, for its words
TREE = 0.32  # inches, for a level of the tree
_SIGNS = {"not": "¬", "and": "∧", "or": "∨", "xor": "⊻"}


@dataclass(frozen=True, eq=False)
class Node:
    """A subformula: its values by goal, and its policy on the map."""

    kind: str  # "name", "constant", "not", "and", "or" or "xor"
    operands: tuple[int, ...]  # the rows of its operands
    best: Map  # V and its actions
    slices: tuple[Map, ...]  # V̄ for each goal that is shown


def plot_slices(
    slices: Sequence[Map], names: Sequence[str], title: str, figure: Figure | SubFigure | None
) -> Panels:
    """max_a Q̄(s, g, a), a panel for each goal, on one scale of values."""
    columns = min(len(slices), MOST_IN_ROW, -(-len(slices) // -(-len(slices) // MOST_IN_ROW)))
    lines = -(-len(slices) // columns)
    wide, high = _panel(slices[0])
    size = (1.15 * wide * columns + 0.9, (high + 0.3 * SMALL) * lines + 0.6)
    page = figure_of(figure, size)
    norm = scale(np.concatenate([each.values for each in slices]))
    grid = page.subplots(lines, columns, squeeze=False)
    image: Any = None
    for axes, each, name in zip(grid.flat, slices, names, strict=False):
        image = draw_map(axes, each, norm=norm, diamond=_diamond(each), arrows=False)
        axes.set_title(fitted(name, 24), fontsize="medium")
    for axes in grid.flat[len(slices) :]:
        axes.set_visible(False)
    page.suptitle(fitted(title, 30 * columns + 10))
    bar(page, image, grid, "value", fraction=0.03, pad=0.015)
    return np.asarray(grid.ravel()[: len(slices)])


def plot_nodes(
    nodes: Sequence[Node], names: Sequence[str], figure: Figure | SubFigure | None
) -> Panels:
    """A row for each subformula, operands first: its tree, its slices, and its policy.

    A row is what its operator makes of the values Q̄ of its operands: the maximum of both for ∨, the
    minimum for ∧, and for ¬ what is left between the largest and the smallest values.
    """
    depth = _depths(nodes)
    tree = max(0.6, TREE * (1 + max(depth)))
    wide, high = _panel(nodes[0].best)
    size = (
        tree + (1.1 * wide) * (1 + len(names)) + 0.9,
        (high + 0.08 * SMALL) * len(nodes) + 0.7,
    )
    page = figure_of(figure, size)
    shares = [tree / wide, *[1.0] * len(names), 1.0]
    grid = page.subplots(len(nodes), len(shares), squeeze=False, width_ratios=shares)
    known = [each.values for node in nodes for each in (*node.slices, node.best)]
    norm = scale(np.concatenate(known))
    image: Any = None
    for row, node in zip(grid, nodes, strict=True):
        for axes, each in zip(row[1:-1], node.slices, strict=True):
            draw_map(axes, each, norm=norm, diamond=_diamond(each), arrows=False)
        image = draw_map(row[-1], node.best, norm=norm, diamond=_diamond(node.best))
        row[1].set_ylabel(_words(node, round(26 * high / SMALL)), fontsize="small")
    for axes, name in zip(grid[0, 1:], [*names, "V(s) and actions"], strict=True):
        axes.set_title(fitted(name, 22), fontsize="medium")
    for axes in grid[:, 0]:
        axes.set_axis_off()
    page.suptitle(fitted(f"{nodes[-1].best.title}: V̄(s, g) by goal, row by row", 90))
    bar(page, image, grid, "value", fraction=0.02, pad=0.01)
    _draw_tree(grid[:, 0].tolist(), nodes, depth)
    return np.asarray(grid[:, 1:])


def _panel(task: Map) -> tuple[float, float]:
    """Width and height of a panel in inches: that of the map, whose longer side is `SMALL`."""
    rows, columns = task.size
    wide, high = min(1.0, columns / rows), min(1.0, rows / columns)
    return SMALL * max(NARROW, wide), SMALL * max(FLAT, high)


def _words(node: Node, most: int) -> str:
    title = fitted(node.best.title, most)
    how = {"or": "maximum", "and": "minimum", "not": "reversed", "xor": "either, not both"}
    return f"{title}\n{how.get(node.kind, 'base task' if node.kind == 'name' else '')}".strip()


def _depths(nodes: Sequence[Node]) -> list[int]:
    """How far each row is from the result, in operators."""
    depth = [0] * len(nodes)
    for place in range(len(nodes) - 1, -1, -1):
        for operand in nodes[place].operands:
            depth[operand] = max(depth[operand], depth[place] + 1)
    return depth


def _draw_tree(column: Sequence[Axes], nodes: Sequence[Node], depth: Sequence[int]) -> None:
    """The formula as a tree beside the rows: the result at the left, base tasks at the right."""
    most = max(1, *depth)
    for axes in column:
        axes.set_xlim(-0.6, most + 0.6)
        axes.set_ylim(0, 1)
    for place, node in enumerate(nodes):
        axes = column[place]
        for operand in node.operands:
            below = axes.transData
            above = column[operand].transData
            axes.annotate(
                "",
                xy=(depth[operand], 0.5),
                xycoords=above,
                xytext=(depth[place], 0.5),
                textcoords=below,
                arrowprops={
                    "arrowstyle": "-",
                    "color": GREY,
                    "lw": 1.2,
                    "shrinkA": 9,
                    "shrinkB": 9,
                },
                annotation_clip=False,
            )
        axes.text(
            depth[place],
            0.5,
            _SIGNS.get(node.kind, "●"),
            ha="center",
            va="center",
            fontsize="x-large" if node.kind in _SIGNS else "medium",
        )


def _diamond(task: Map) -> float:
    """The size of diamonds in a small panel, for a map as wide as Four Rooms."""
    return max(5.5, 3.0 * max(task.size) / CELLS)
