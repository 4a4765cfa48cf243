"""Fig. 2 and its dense twin: extended values by goal, and recovered values with arrows."""

from __future__ import annotations

from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from taskalgebra.drawing.plots.maps import draw_actions, draw_values
from taskalgebra.paper.figures.style import Sheet, styled
from taskalgebra.paper.results.record import Result

GOALS = {  # row and column of the goal's panel, and of the goal's cell
    "top_left": ((0, 0), (3, 3)),
    "top_right": ((0, 1), (3, 9)),
    "bottom_left": ((1, 0), (9, 3)),
    "bottom_right": ((1, 1), (9, 9)),
}
SIDE, GAP, INNER = 2.3, 0.16, 0.08  # inches
LEFT, RIGHT, TOP, BOTTOM, MIDDLE = 0.55, 0.95, 0.75, 0.2, 0.38


@styled
def draw(result: Result, rewards: str = "sparse") -> Figure:
    """Six tasks side by side: four panels of V̄(s, g), one per goal, above V(s)."""
    table = result.table.where(rewards=rewards)
    panels = table.distinct("panel")
    values = [table[name] for name in (*GOALS, "v")]
    norm = Normalize(min(v.min() for v in values), max(v.max() for v in values))
    width = LEFT + len(panels) * (SIDE + GAP) + RIGHT
    height = TOP + 2 * SIDE + MIDDLE + BOTTOM
    sheet, small = Sheet(width, height), (SIDE - INNER) / 2
    for j, panel in enumerate(panels):
        cells = table.where(panel=panel)
        rows, columns = cells["row"], cells["column"]
        x, y = LEFT + j * (SIDE + GAP), BOTTOM + SIDE + MIDDLE
        for goal, ((i, k), (row, column)) in GOALS.items():
            axes = sheet.axes(x + k * (small + INNER), y + (1 - i) * (small + INNER), small)
            draw_values(axes, rows, columns, cells[goal], norm)
            axes.plot(column, row, "o", ms=4.5, mfc="none", mec="white", mew=1.3)
        sheet.text(x + SIDE / 2, y + SIDE + 0.1, panel, ha="center", va="baseline", size=15)
        axes = sheet.axes(x, BOTTOM, SIDE)
        image = draw_values(axes, rows, columns, cells["v"], norm)
        draw_actions(axes, rows, columns, cells["action"])
    for y, text in (
        (BOTTOM + SIDE / 2, "V(s) and greedy actions"),
        (BOTTOM + SIDE * 1.5 + MIDDLE, "V̄(s, g), a panel a goal ○"),
    ):
        sheet.text(0.3, y, text, rotation=90, ha="center", size=11)
    down = 1 - (BOTTOM + TOP) / height
    box = ((width - RIGHT + 0.1) / width, BOTTOM / height, 0.16 / width, down)
    sheet.figure.colorbar(image, cax=sheet.figure.add_axes(box), label="value")
    words = f"{rewards.capitalize()} rewards: L and T are learned, the others only composed"
    sheet.text(LEFT, height - 0.22, words, size=12)
    return sheet.figure
