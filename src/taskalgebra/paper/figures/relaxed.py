"""The supplement's box plots: assumptions dropped one by one, and slips.

A panel per variant, with a pair of boxes per task: the composed and the optimal policy.  Red means
worse than the optimal policy by more than the cost of a step, or failing more often than it does;
the interval of what is lost is red where it lies above the cost of a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter
from numpy.typing import NDArray

from taskalgebra.paper.figures.boxes import draw_numbers, draw_policies, percent
from taskalgebra.paper.figures.style import BLUE, GREY, INK, LIGHT, legend_mark, new_figure, styled
from taskalgebra.paper.results.labels import COMPOSED, OPTIMAL
from taskalgebra.paper.results.record import Result

HEADINGS = {
    "sparse, same": "sparse rewards, same absorbing set (the paper's assumptions)",
    "sparse, different": "sparse rewards, different absorbing sets",
    "dense, same": "dense rewards, same absorbing set",
    "dense, different": "dense rewards, different absorbing sets",
}
SHADE = "#F0F0F0"
BEND, SQUEEZE = -0.6, 12.0
"""Below the bend the axis is compressed, so that returns down to −10 leave room for the boxes."""
STEP = 0.1
"""The cost of a step; a mean return that is further below the optimum is printed in red."""


@styled
def draw(result: Result) -> Figure:
    """Returns of the 16 composed policies in each variant, or for each slip probability."""
    dense = HEADINGS["dense, different"]
    headings = HEADINGS | {
        f"slip {slip:g}": f"slip probability {slip:g}, {dense}"
        for slip in result.config.get("slip_probabilities", ())
    }
    summary, returns = result.table, result.tables[f"{result.name}_returns"]
    variants = summary.distinct("variant")
    figure = new_figure(16, 5.2 * len(variants) + 0.9, w_pad=0.12, h_pad=0.06)
    grid = figure.add_gridspec(2 * len(variants), 1, height_ratios=[3.2, 1.9] * len(variants))
    lowest, highest = float(returns["return"].min()), float(returns["return"].max())
    policies = ((COMPOSED, -0.18, BLUE), (OPTIMAL, 0.18, LIGHT))
    for i, variant in enumerate(variants):
        axes = figure.add_subplot(grid[2 * i])
        here = summary.where(variant=variant)
        tasks = here["task"].tolist()
        draw_policies(axes, tasks, returns.where(variant=variant), policies, 0.3)
        _bend(axes, min(lowest, BEND - 1), highest + 0.15)
        axes.set_title(headings[variant], loc="left", fontweight="bold")
        numbers = figure.add_subplot(grid[2 * i + 1], sharex=axes)
        rows = here.rows()
        labels = [f"{r['goals'][:2]}\n{r['goals'][2:]}\n{_broken(r['task'])}" for r in rows]
        columns = [_numbers(row) for row in rows]
        draw_numbers(numbers, columns, labels, size=10, fontsize=9, linespacing=1.1)
    figure.legend(
        handles=[
            Patch(facecolor=BLUE, edgecolor=INK, label="composed policy"),
            Patch(facecolor=LIGHT, edgecolor=INK, label="optimal policy of the evaluated task"),
            legend_mark("o", 4, "none", GREY, "return beyond the whiskers"),
            Patch(facecolor=SHADE, label=f"axis compressed {SQUEEZE:g} times below {BEND:g}"),
            legend_mark("D", 5, "white", INK, "mean"),
        ],
        loc="outside upper center",
        ncols=5,
    )
    return figure


def _bend(axes: Axes, lowest: float, highest: float) -> None:
    """Compress the axis below the bend, and shade it."""
    axes.set_yscale("function", functions=(_squeezed, _stretched))
    axes.set_ylim(lowest - 1, highest)
    axes.yaxis.set_major_locator(FixedLocator([-10, -5, -0.5, 0, 0.5, 1, 1.5, 2]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()
    axes.axhspan(lowest - 1, BEND, color=SHADE, zorder=0)


def _squeezed(value: NDArray[Any]) -> NDArray[Any]:
    return np.where(value < BEND, BEND + (value - BEND) / SQUEEZE, value)


def _stretched(value: NDArray[Any]) -> NDArray[Any]:
    return np.where(value < BEND, BEND + (value - BEND) * SQUEEZE, value)


def _numbers(row: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    failing = row["failure_rate"] > row["optimum_failure_rate"]
    lost = (row["gap_low"], row["gap_high"])
    least, most = ("0" if row["optimal_runs"] == row["runs"] else f"{x:z.3f}" for x in lost)
    return {
        "mean": (f"{row['mean']:.3f}", row["gap"] > STEP),
        "optimum": (f"{row['optimum']:.3f}", False),
        "loss, 95 %: from": (least, row["gap_low"] > STEP),
        "to": (most, row["gap_low"] > STEP),
        "failures": (percent(row["failure_rate"]), failing),
        "of the optimum": (percent(row["optimum_failure_rate"]), False),
    }


def _broken(task: str) -> str:
    """A long expression on two lines."""
    return task.replace(" | ", "\n| ", 1) if len(task) > 14 else task
