"""The layout of Four Rooms and Table 1 of the supplement."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from taskalgebra.paper.figures.style import BLUE, LIGHT, WALL, annotate, bare, new_figure, styled
from taskalgebra.paper.results.record import Result, Table


@styled
def draw(result: Result) -> Figure:
    """The map with 4 goals and its table of labels; the map with 40 goals."""
    four, forty = result.tables["layout_4_goals"], result.tables["layout_40_goals"]
    figure = new_figure(13, 4.6)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 0.95, 1])
    _draw_map(left, result.table, four)
    left.set_title("Four Rooms: 4 goals")
    for goal in four.rows():
        name, at = goal["goal"].replace("_", "-"), (goal["column"], goal["row"])
        annotate(left, name, at, (0, -17), ha="center", fontsize=9.5)
    _draw_labels(middle, four)
    _draw_map(right, result.table, forty)
    n_base = len(forty) - 3
    right.set_title(f"{forty.n_rows} goals, told apart by {n_base} base tasks")
    return figure


def _draw_map(axes: Axes, cells: Table, goals: Table) -> None:
    shape = (cells["row"].max() + 1, cells["column"].max() + 1)
    walls = np.zeros(shape)
    walls[cells["row"], cells["column"]] = cells["wall"]
    axes.imshow(walls, cmap=ListedColormap(["white", WALL]), interpolation="nearest")
    for i in range(shape[0] + 1):
        axes.axhline(i - 0.5, color=LIGHT, lw=0.4)
        axes.axvline(i - 0.5, color=LIGHT, lw=0.4)
    axes.plot(goals["column"], goals["row"], "o", ms=9, color=BLUE)
    bare(axes)


def _draw_labels(axes: Axes, goals: Table) -> None:
    """Table 1: the columns are base tasks, r_U where a task desires the goal."""
    tasks = [name for name in goals if name not in ("goal", "row", "column")]
    rows = []
    for row in goals.rows()[::-1]:
        rewards = ["$r_U$" if row[task] else r"$r_\varnothing$" for task in tasks]
        rows.append([*rewards, row["goal"].replace("_", "-")])
    heading = [*(f"$x_{k + 1}$ ({task})" for k, task in enumerate(tasks)), "goal"]
    table = axes.table(rows, colLabels=heading, loc="center", cellLoc="center", edges="horizontal")
    table.auto_set_font_size(False)
    table.set_fontsize(12)
    table.scale(1, 2.0)
    table.auto_set_column_width(list(range(len(heading))))
    axes.set_title("Table 1: two base tasks label four goals")
    bare(axes)
