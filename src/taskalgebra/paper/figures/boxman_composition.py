"""Fig. 5 and its twin in the supplement: composed values, recovered values, and trajectories."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure

from taskalgebra.paper.figures.boxman_board import draw_objects, draw_paths, title_of
from taskalgebra.paper.figures.boxman_values import add_surface, value_ranges
from taskalgebra.paper.figures.maps import draw_values
from taskalgebra.paper.figures.style import GREEN, GREY, ORANGE, PURPLE, SKY, VALUES, styled
from taskalgebra.paper.results.labels import FIXED
from taskalgebra.paper.results.record import Result

COLUMN, GAP, INNER = 3.9, 0.3, 0.07  # inches
LEFT, RIGHT, TOP, BOTTOM, MIDDLE = 0.62, 0.8, 0.92, 0.42, 0.3
SURFACE = 2.6  # the height that a landscape takes of its square
PATHS = [ORANGE, SKY, GREEN, PURPLE]


@styled
def draw(values: Result, trajectories: Result, setting: str = FIXED) -> Figure:
    """A column a composed task: V̄ by goal, V as a landscape, sampled trajectories."""
    table = values.table.where(setting=setting)
    objects = values.tables[f"{values.name}_objects"].where(setting=setting)
    errors = values.tables[f"{values.name}_errors"].where(setting=setting)
    goals = objects["object"].tolist()
    tasks = [task for task in table.distinct("task") if " " in task]
    norm, norm_v = value_ranges(table, goals)
    small = (COLUMN - 2 * INNER) / 3
    maps = 2 * small + INNER
    width = LEFT + len(tasks) * (COLUMN + GAP) - GAP + RIGHT
    height = TOP + maps + SURFACE + COLUMN + 2 * MIDDLE + BOTTOM
    figure = Figure(figsize=(width, height))

    def at(x: float, y: float, side: float) -> tuple[float, float, float, float]:
        return (x / width, y / height, side / width, side / height)

    rows = (height - TOP - maps, BOTTOM + COLUMN + MIDDLE, BOTTOM)
    for j, task in enumerate(tasks):
        cells, x = table.where(task=task), LEFT + j * (COLUMN + GAP)
        for k, goal in enumerate(goals):
            axes = figure.add_axes(
                at(x + (k % 3) * (small + INNER), rows[0] + (1 - k // 3) * (small + INNER), small)
            )
            image = draw_values(axes, cells["row"], cells["column"], cells[f"learned {goal}"], norm)
            draw_objects(axes, objects, goal=goal, size=3.9)
        box = at(x, rows[1] + SURFACE / 2 - COLUMN / 2 - 0.05, COLUMN)
        add_surface(figure, box, cells, objects, norm_v)
        _trajectories(figure.add_axes(at(x, rows[2], COLUMN)), trajectories, setting, task)
        (row,) = errors.where(task=task).rows()
        centre = (x + COLUMN / 2) / width
        figure.text(
            centre, 1 - (TOP - 0.36) / height, title_of(task), ha="center", va="center", size=15
        )
        figure.text(
            centre,
            (BOTTOM - 0.22) / height,
            f"optimal from {row['optimal_starts']} of {row['starts']} cells; "
            f"V off by {row['mean_error_of_v']:.3f} on average",
            ha="center",
            va="center",
            size=10,
            color=GREY,
        )
    for y, text in (
        (rows[0] + maps / 2, "V̄(s, g), a map a goal"),
        (rows[1] + SURFACE / 2, "recovered V(s)"),
        (rows[2] + COLUMN / 2, "trajectories, from ● (✖: failed)"),
    ):
        figure.text(0.3 / width, y / height, text, rotation=90, ha="center", va="center", size=11)
    figure.text(
        LEFT / width,
        1 - 0.24 / height,
        "Composed from networks of the base tasks, with no further learning",
        size=12,
        va="center",
    )
    for y, down, shown in (
        (rows[0], maps, image),
        (rows[1] + 0.2, SURFACE - 0.4, ScalarMappable(norm_v, VALUES)),
    ):
        bar = figure.add_axes(
            ((width - RIGHT + 0.14) / width, y / height, 0.16 / width, down / height)
        )
        figure.colorbar(shown, cax=bar)
    return figure


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
