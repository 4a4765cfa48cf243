"""Fig. 4 and its twin in the supplement: extended values of the base tasks, goal by goal."""

from __future__ import annotations

from typing import final

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from taskalgebra.paper.figures.boxman_board import draw_objects, draw_surface, title_of
from taskalgebra.paper.figures.maps import draw_values
from taskalgebra.paper.figures.style import GREY, VALUES, Sheet, styled
from taskalgebra.paper.results.labels import FIXED
from taskalgebra.paper.results.record import Result

SIDE, GAP, SURFACE, DOWN = 1.62, 0.1, 3.3, 1.95  # inches; a landscape is wide and not high
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
            image = shown.draw_goal(axes, task, goal)
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
    words += "one map a goal (outlined in white)"
    sheet.text(LEFT, height - 0.24, words, size=12)
    down = height - TOP - BOTTOM - 0.4
    for x, colours, label in (
        (width - RIGHT + 0.1, image, "V̄(s, g)"),
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
        self.table, self.objects, self.errors = (
            result.tables[name].where(setting=setting)
            for name in (result.name, f"{result.name}_objects", f"{result.name}_errors")
        )
        self.goals: list[str] = self.objects["object"].tolist()
        columns, v = [self.table[f"learned {g}"] for g in self.goals], self.table["learned max"]
        self.norm = Normalize(min(c.min() for c in columns), max(c.max() for c in columns))
        self.norm_of_v = Normalize(v.min(), v.max())
        self.scale_of_v = ScalarMappable(self.norm_of_v, VALUES)

    def draw_goal(self, axes: Axes, task: str, goal: str, **size: float) -> AxesImage:
        """V̄(s, g) of one goal as a map."""
        cells = self.table.where(task=task)
        values = cells[f"learned {goal}"]
        image = draw_values(axes, cells["row"], cells["column"], values, self.norm)
        draw_objects(axes, self.objects, goal=goal, **size)
        return image

    def draw_surface(self, sheet: Sheet, x: float, y: float, side: float, task: str) -> None:
        """V(s) as a landscape."""
        cells = self.table.where(task=task)
        axes = sheet.axes(x, y, side, projection="3d", computed_zorder=False)
        axes.patch.set_alpha(0.0)
        draw_surface(axes, cells, cells["learned max"], self.objects, self.norm_of_v)
