"""Fig. 4 and its twin in the supplement: extended values of the base tasks, goal by goal."""

from __future__ import annotations

from typing import Any

from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from taskalgebra.paper.figures.boxman_board import draw_objects, draw_surface, title_of
from taskalgebra.paper.figures.maps import draw_values
from taskalgebra.paper.figures.style import GREY, VALUES, styled
from taskalgebra.paper.results.labels import FIXED
from taskalgebra.paper.results.record import Result, Table

SIDE, GAP, SURFACE, DOWN = 1.62, 0.1, 3.3, 1.95  # inches; a landscape is wide and not high
LEFT, RIGHT, TOP, BOTTOM, ROW_GAP = 0.75, 1.75, 1.05, 0.1, 0.3


@styled
def draw(result: Result, setting: str = FIXED) -> Figure:
    """A row a base task: V̄(s, g) for each goal, and the largest of them as a landscape."""
    table = result.table.where(setting=setting)
    objects = result.tables[f"{result.name}_objects"].where(setting=setting)
    errors = result.tables[f"{result.name}_errors"].where(setting=setting)
    tasks = [task for task in table.distinct("task") if " " not in task]
    goals = objects["object"].tolist()
    norm, norm_v = value_ranges(table, goals)
    maps = len(goals) * (SIDE + GAP)
    width = LEFT + maps + SURFACE + RIGHT
    height = TOP + len(tasks) * (DOWN + ROW_GAP) + BOTTOM
    figure = Figure(figsize=(width, height))

    def at(x: float, y: float, across: float, down: float) -> tuple[float, float, float, float]:
        return (x / width, y / height, across / width, down / height)

    for i, task in enumerate(tasks):
        cells = table.where(task=task)
        middle = height - TOP - i * (DOWN + ROW_GAP) - SIDE / 2
        for k, goal in enumerate(goals):
            box = at(LEFT + k * (SIDE + GAP), middle - SIDE / 2, SIDE, SIDE)
            axes = figure.add_axes(box)
            image = draw_values(axes, cells["row"], cells["column"], cells[f"learned {goal}"], norm)
            draw_objects(axes, objects, goal=goal)
            if i == 0:
                axes.set_title(goal.replace(" ", "\n"), fontsize=11, pad=6)
        add_surface(
            figure,
            at(LEFT + maps, middle - SURFACE / 2 - 0.12, SURFACE, SURFACE),
            cells,
            objects,
            norm_v,
        )
        figure.text(
            0.36 / width, middle / height, task, rotation=90, va="center", ha="center", size=15
        )
        figure.text(
            LEFT / width,
            (middle - SIDE / 2 - 0.24) / height,
            describe(errors, task),
            size=10,
            color=GREY,
            va="center",
        )
    head = 1 - (TOP - 0.36) / height
    figure.text(
        (LEFT + maps + SURFACE / 2) / width, head, "largest over goals, V(s)", ha="center", size=11
    )
    figure.text(
        LEFT / width,
        1 - 0.24 / height,
        "V̄(s, g), the largest output over actions, with the agent on every cell: "
        "one map a goal (outlined in white)",
        size=12,
        va="center",
    )
    down = height - TOP - BOTTOM - 0.4
    for x, shown, label in (
        (width - RIGHT + 0.1, image, "V̄(s, g)"),
        (width - RIGHT + 0.95, ScalarMappable(norm_v, VALUES), "V(s)"),
    ):
        bar = figure.add_axes(at(x, BOTTOM + 0.3, 0.15, down))
        figure.colorbar(shown, cax=bar)
        bar.set_title(label, fontsize=10, pad=8)
    return figure


def add_surface(
    figure: Figure,
    box: tuple[float, float, float, float],
    cells: Table,
    objects: Table,
    norm: Normalize,
) -> None:
    """The landscape of V(s) in a part of a figure."""
    axes: Any = figure.add_axes(box, projection="3d", computed_zorder=False)
    axes.patch.set_alpha(0.0)
    draw_surface(axes, cells, cells["learned max"], objects, norm)


def value_ranges(table: Table, goals: list[str]) -> tuple[Normalize, Normalize]:
    """One range of colours for V̄ of all tasks of a setting, and one for V."""
    columns = [table[f"learned {goal}"] for goal in goals]
    v = table["learned max"]
    return (
        Normalize(min(c.min() for c in columns), max(c.max() for c in columns)),
        Normalize(v.min(), v.max()),
    )


def describe(errors: Table, task: str) -> str:
    """How far the values of a task are from exact ones, and how many starts are optimal."""
    (row,) = errors.where(task=task).rows()
    return (
        f"{title_of(task)}: V is off by {row['mean_error_of_v']:.3f} on average, at most "
        f"{row['largest_error_of_v']:.3f}; optimal from {row['optimal_starts']} of "
        f"{row['starts']} cells"
    )
