"""Fig. 4 and its twin in the supplement: extended values of the base tasks, goal by goal."""

from __future__ import annotations

import re
from typing import final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure

from taskalgebra.drawing.plots.maps import draw_values
from taskalgebra.paper.figures.boxman_board import Floats, draw_objects, draw_surface, title_of
from taskalgebra.paper.figures.style import GREY, VALUES, Sheet, styled
from taskalgebra.paper.results.labels import FIXED
from taskalgebra.paper.results.record import Result

SIDE, GAP, SURFACE, DOWN = 1.62, 0.1, 3.3, 1.95  # inches; a landscape is wide and not high
UNKNOWN = "#C8C8C8"  # grey, of goals that were never met
LEFT, RIGHT, TOP, BOTTOM, ROW_GAP = 0.75, 1.75, 1.05, 0.1, 0.3


@styled
def draw(result: Result, setting: str = FIXED) -> Figure:
    """A row per base task: V̄(s, g) for each goal, and the largest of them as a landscape."""
    shown = Shown(result, setting)
    tasks = [task for task in shown.table.distinct("task") if " " not in task]
    maps = len(shown.goals) * (SIDE + GAP)
    width = LEFT + maps + SURFACE + RIGHT
    height = TOP + len(tasks) * (DOWN + ROW_GAP) + BOTTOM
    sheet = Sheet(width, height)
    for i, task in enumerate(tasks):
        middle = height - TOP - i * (DOWN + ROW_GAP) - SIDE / 2
        for k, goal in enumerate(shown.goals):
            axes = sheet.axes(LEFT + k * (SIDE + GAP), middle - SIDE / 2, SIDE)
            shown.draw_goal(axes, task, goal)
            if i == 0:
                axes.set_title(goal.replace(" ", "\n"), fontsize=11, pad=6)
        shown.draw_surface(sheet, LEFT + maps, middle - SURFACE / 2 - 0.12, SURFACE, task)
        sheet.text(0.36, middle, task, rotation=90, ha="center", size=15)
        (row,) = shown.errors.where(task=task).rows()
        words = f"{title_of(task)}: V is off by {row['mean_error_of_v']:.3f} on average, at most "
        words += f"{row['largest_error_of_v']:.3f}; "
        words += f"optimal from {row['optimal_starts']} of {row['starts']} cells"
        sheet.text(LEFT, middle - SIDE / 2 - 0.24, words, size=10, color=GREY)
    words, x = "largest over goals, V(s)", LEFT + maps + SURFACE / 2
    sheet.text(x, height - TOP + 0.36, words, ha="center", va="baseline", size=11)
    words = "V̄(s, g), the largest output over actions, with the agent on every cell: "
    words += "one map per goal (outlined in white)"
    if shown.touched.n_rows:
        words += "; on other wanted objects, after touching them; grey: never met in training"
    sheet.text(LEFT, height - 0.24, words, size=12)
    down = height - TOP - BOTTOM - 0.4
    for x, colours, label in (
        (width - RIGHT + 0.1, shown.scale, "V̄(s, g)"),
        (width - RIGHT + 0.95, shown.scale_of_v, "V(s)"),
    ):
        bar = sheet.bar(x, BOTTOM + 0.3, 0.15, down, colours)
        bar.set_title(label, fontsize=10, pad=8)
    return sheet.figure


@final
class Shown:
    """The values of one setting, and how they are drawn: one range of colours for all tasks."""

    def __init__(self, result: Result, setting: str) -> None:
        """Select the rows of the setting."""
        self.table, self.objects, self.errors, self.touched = (
            result.tables[f"{result.name}{part}"].where(setting=setting)
            for part in ("", "_objects", "_errors", "_touched")
        )
        self.goals: list[str] = self.objects["object"].tolist()
        tasks = self.table.distinct("task")
        drawn = [self._values(t, g) for t in tasks for g in self.goals if self._met(t, g)]
        v, every = self.table["learned max"], np.concatenate(drawn or [np.zeros(1)])
        self.norm = Normalize(every.min(), every.max())
        self.scale = ScalarMappable(self.norm, VALUES)
        self.norm_of_v = Normalize(v.min(), v.max())
        self.scale_of_v = ScalarMappable(self.norm_of_v, VALUES)

    def _met(self, task: str, goal: str) -> bool:
        """Whether a network of which the task is composed met the goal in training."""
        (row,) = self.objects.where(object=goal).rows()
        return bool({*row["met_by"].split(" ; ")} & {*re.findall(r"\w+", task)})

    def _values(self, task: str, goal: str) -> Floats:
        """[cells], V̄(s, g); on other objects with which a base task ends, after touching them."""
        cells = self.table.where(task=task)
        values = cells[f"learned {goal}"].copy()
        for row in self.touched.where(task=task, goal=goal).rows():
            (at,) = self.objects.where(object=row["touched"]).rows()
            values[(cells["row"] == at["row"]) & (cells["column"] == at["column"])] = row["after"]
        return values

    def draw_goal(self, axes: Axes, task: str, goal: str, **size: float) -> None:
        """V̄(s, g) of one goal as a map; grey if nothing was learned about the goal."""
        cells, values = self.table.where(task=task), self._values(task, goal)
        image = draw_values(axes, cells["row"], cells["column"], values, self.norm)
        if not self._met(task, goal):
            image.set_cmap(ListedColormap([UNKNOWN]))
        draw_objects(axes, self.objects, goal=goal, **size)

    def draw_surface(self, sheet: Sheet, x: float, y: float, side: float, task: str) -> None:
        """V(s) as a landscape."""
        cells = self.table.where(task=task)
        axes = sheet.axes(x, y, side, projection="3d", computed_zorder=False)
        axes.patch.set_alpha(0.0)
        draw_surface(axes, cells, cells["learned max"], self.objects, self.norm_of_v)
