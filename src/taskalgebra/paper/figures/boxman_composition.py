"""Fig. 5 and its twin in the supplement: composed values, recovered values, and trajectories."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from taskalgebra.paper.figures.boxman_board import draw_paths, title_of
from taskalgebra.paper.figures.boxman_values import Shown
from taskalgebra.paper.figures.style import GREEN, GREY, ORANGE, PURPLE, SKY, Sheet, styled
from taskalgebra.paper.results.labels import FIXED
from taskalgebra.paper.results.record import Result

COLUMN, GAP, INNER = 3.9, 0.3, 0.07  # inches
LEFT, RIGHT, TOP, BOTTOM, MIDDLE = 0.62, 0.8, 0.92, 0.42, 0.3
SURFACE = 2.6  # the height that a landscape takes of its square
PATHS = [ORANGE, SKY, GREEN, PURPLE]


@styled
def draw(values: Result, trajectories: Result, setting: str = FIXED) -> Figure:
    """A column per composed task: V̄ by goal, V as a landscape, sampled trajectories."""
    shown = Shown(values, setting)
    tasks = [task for task in shown.table.distinct("task") if " " in task]
    small = (COLUMN - 2 * INNER) / 3
    maps = 2 * small + INNER
    width = LEFT + len(tasks) * (COLUMN + GAP) - GAP + RIGHT
    height = TOP + maps + SURFACE + COLUMN + 2 * MIDDLE + BOTTOM
    sheet = Sheet(width, height)
    rows = (height - TOP - maps, BOTTOM + COLUMN + MIDDLE, BOTTOM)
    for j, task in enumerate(tasks):
        x = LEFT + j * (COLUMN + GAP)
        for k, goal in enumerate(shown.goals):
            right, up = (k % 3) * (small + INNER), (1 - k // 3) * (small + INNER)
            axes = sheet.axes(x + right, rows[0] + up, small)
            shown.draw_goal(axes, task, goal, size=3.9)
        shown.draw_surface(sheet, x, rows[1] + SURFACE / 2 - COLUMN / 2 - 0.05, COLUMN, task)
        _trajectories(sheet.axes(x, rows[2], COLUMN), trajectories, setting, task)
        (row,) = shown.errors.where(task=task).rows()
        centre = x + COLUMN / 2
        sheet.text(centre, height - TOP + 0.36, title_of(task), ha="center", size=15)
        words = f"optimal from {row['optimal_starts']} of {row['starts']} cells; "
        words += f"V off by {row['mean_error_of_v']:.3f} on average"
        sheet.text(centre, BOTTOM - 0.22, words, ha="center", size=10, color=GREY)
    for y, text in (
        (rows[0] + maps / 2, "V̄(s, g), a map per goal"),
        (rows[1] + SURFACE / 2, "recovered V(s)"),
        (rows[2] + COLUMN / 2, "trajectories, from ● (✖: failed)"),
    ):
        sheet.text(0.3, y, text, rotation=90, ha="center", size=11)
    words = "Composed from networks of the base tasks, with no further learning"
    if shown.touched.n_rows:
        words += "; grey: goals that these networks never met in training"
    sheet.text(LEFT, height - 0.24, words, size=12)
    sheet.bar(width - RIGHT + 0.14, rows[0], 0.16, maps, shown.scale)
    sheet.bar(width - RIGHT + 0.14, rows[1] + 0.2, 0.16, SURFACE - 0.4, shown.scale_of_v)
    return sheet.figure


def _trajectories(axes: Axes, result: Result, setting: str, task: str) -> None:
    steps = result.table.where(setting=setting, task=task)
    episodes = result.tables[f"{result.name}_episodes"].where(setting=setting, task=task)
    (board,) = episodes.distinct("board")
    paths = []
    for row in episodes.rows():
        here = steps.where(episode=row["episode"])
        path = here["row"].astype(np.float64), here["column"].astype(np.float64)
        paths.append((*path, bool(row["success"])))
    colours = [PATHS[i % len(PATHS)] for i in range(len(paths))]
    draw_paths(axes, result.arrays["boards"][board], int(result.arrays["cell"]), paths, colours)
