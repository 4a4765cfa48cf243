"""Fig. 6 and its twins: returns of every task, above a table of what a box plot hides.

Boxes are as in `boxes`: quartiles, whiskers, every return beyond them.  The table gives the mean
with its 95 % interval, the exact optimum, and how many episodes failed.  It is red where the
interval lies below the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from taskalgebra.paper.figures.boxes import draw_numbers, draw_policies, percent
from taskalgebra.paper.figures.boxman_board import title_of
from taskalgebra.paper.figures.style import (
    BLUE,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    legend_mark,
    new_figure,
    styled,
)
from taskalgebra.paper.results.labels import AGENT, EXACT, FIXED, OPTIMAL, RANDOM, TOUCH
from taskalgebra.paper.results.record import Result, Table

HEADINGS = {
    FIXED: "Fixed objects, by pick-up: every start once",
    RANDOM: "Random objects, by pick-up",
    TOUCH: "Random objects, by touch: tasks end with different objects",
}
PER_TASK = 1.5  # inches


@styled
def draw(result: Result, setting: str = FIXED) -> Figure:
    """Boxes per task, and the numbers below."""
    summary = result.table.where(setting=setting)
    counts = result.tables[f"{result.name}_counts"].where(setting=setting)
    policies = [(AGENT, BLUE), (OPTIMAL, LIGHT)]
    differs = bool((np.abs(summary["exact_composition"] - summary["optimum"]) > 1e-9).any())
    if differs:
        policies.insert(1, (EXACT, ORANGE))
    lines = 6 if differs else 4
    across = max(2.0 + PER_TASK * summary.n_rows, 8.5)
    figure = new_figure(across, 4.6 + 0.36 * lines, w_pad=0.12, h_pad=0.08)
    axes, numbers = figure.subplots(2, 1, sharex=True, height_ratios=[3.4, 0.36 * lines + 0.3])
    width, tasks = 0.72 / len(policies), summary["task"].tolist()
    middle = (len(policies) - 1) / 2
    boxes = [(name, (k - middle) * (width + 0.03), c) for k, (name, c) in enumerate(policies)]
    draw_policies(axes, tasks, counts, boxes, width)
    _draw_kinds(axes, summary)
    unit = "starts" if setting == FIXED else "episodes"
    title = f"{HEADINGS[setting]} ({summary['episodes'][0]:,} {unit})"
    axes.set_title(title, loc="left", fontweight="bold", pad=24)
    columns = [_numbers(row, differs) for row in summary.rows()]
    labels = [_broken(title_of(task)) for task in tasks]
    draw_numbers(numbers, columns, labels, size=9.5, fontsize=10)
    figure.legend(
        handles=[
            *(Patch(facecolor=colour, edgecolor=INK, label=name) for name, colour in policies),
            legend_mark("D", 5, "white", INK, "mean"),
            legend_mark("o", 4, "none", GREY, "beyond the whiskers"),
        ],
        loc="outside upper center",
        ncols=len(policies) + 2,
    )
    return figure


def _draw_kinds(axes: Axes, summary: Table) -> None:
    """Separate the base tasks from the composed ones."""
    first = np.flatnonzero(summary["kind"] == "composed")[0]
    axes.axvline(first - 0.5, color=GREY, lw=0.8, ls=(0, (4, 3)))
    top = axes.get_xaxis_transform()
    for x, text, side in (
        (first - 0.55, "base tasks, learned", "right"),
        (first - 0.45, "composed, not learned", "left"),
    ):
        axes.text(x, 1.01, text, transform=top, ha=side, va="bottom", fontsize=9.5, color=GREY)


def _numbers(row: dict[str, Any], differs: bool) -> dict[str, tuple[str, bool]]:
    low, high = row["mean_low"], row["mean_high"]
    rate = f" ({percent(row['failures'] / row['episodes'])})" if row["failures"] else ""
    failures = f"{row['failures']}{rate}"
    ceiling = {
        "exact composition": (f"{row['exact_composition']:.3f}", False),
        "mean ÷ exact composition": (f"{row['score_to_exact']:.3f}", False),
    }
    return {
        "mean": (f"{row['mean']:.3f}", high < row["optimum"] - 1e-9),
        "95 % interval": ("exact" if low == high else f"{low:.3f} – {high:.3f}", False),
        "optimum": (f"{row['optimum']:.3f}", False),
        **(ceiling if differs else {}),
        "failures": (failures, row["failures"] > 0),
    }


def _broken(task: str) -> str:
    """A long title on two lines, as equal as they can be."""
    words = task.split(" ")
    if len(task) <= 10 or len(words) == 1:
        return task
    halves = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    best = min(halves, key=lambda pair: abs(len(pair[0]) - len(pair[1])))
    return "\n".join(best)
