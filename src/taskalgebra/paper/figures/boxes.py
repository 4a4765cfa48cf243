"""Box plots of returns from counts of episodes, each above a table of what a box plot hides.

Boxes span the quartiles, whiskers reach to the last return within 1.5 interquartile ranges, and
*every* return beyond is drawn, however many episodes had it.  The table gives the mean, the exact
optimum and the failure rate: episodes that were cut off or ended in a wrong goal.  Red means: worse
than the optimal policy by more than a step, or failing more often than it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter
from numpy.typing import NDArray

from taskalgebra.paper.figures.style import BLUE, GREY, INK, LIGHT, RED, new_figure
from taskalgebra.paper.results.labels import COMPOSED, OPTIMAL
from taskalgebra.paper.results.record import Result, Table

SHADE = "#F0F0F0"
BEND, SQUEEZE = -0.6, 12.0
"""Below the bend the axis is compressed, so that returns down to −10 leave room for the boxes."""
STEP = 0.1
"""A mean return more than a step's cost below the optimum is printed in red."""


def draw_variants(result: Result, headings: Sequence[str]) -> Figure:
    """One panel a variant: a pair of boxes (composed, optimal) a task, numbers below."""
    summary, returns = result.table, result.tables[f"{result.name}_returns"]
    variants = summary.distinct("variant")
    figure = new_figure(16, 4.8 * len(variants) + 0.9, w_pad=0.12, h_pad=0.06)
    grid = figure.add_gridspec(2 * len(variants), 1, height_ratios=[3.2, 1.3] * len(variants))
    lowest, highest = float(returns["return"].min()), float(returns["return"].max())
    for i, (variant, heading) in enumerate(zip(variants, headings, strict=True)):
        axes = figure.add_subplot(grid[2 * i])
        here = summary.where(variant=variant)
        policies = ((COMPOSED, -0.18, BLUE), (OPTIMAL, 0.18, LIGHT))
        tasks = here["task"].tolist()
        draw_policies(axes, tasks, returns.where(variant=variant), policies, 0.3)
        _bend(axes, min(lowest, BEND - 1), highest + 0.15)
        axes.set_title(heading, loc="left", fontweight="bold")
        numbers = figure.add_subplot(grid[2 * i + 1], sharex=axes)
        rows = here.rows()
        labels = [f"{r['goals'][:2]}\n{r['goals'][2:]}\n{_broken(r['task'])}" for r in rows]
        columns = [_numbers(row) for row in rows]
        draw_numbers(numbers, columns, labels, size=10, fontsize=9, linespacing=1.1)
    figure.legend(
        handles=[
            Patch(facecolor=BLUE, edgecolor=INK, label="composed policy"),
            Patch(facecolor=LIGHT, edgecolor=INK, label="optimal policy of the evaluated task"),
            mark("o", 4, "none", GREY, "return beyond the whiskers"),
            Patch(facecolor=SHADE, label=f"axis compressed {SQUEEZE:g} times below {BEND:g}"),
            mark("D", 5, "white", INK, "mean"),
        ],
        loc="outside upper center",
        ncols=5,
    )
    return figure


def mark(marker: str, size: float, fill: str, edge: str, label: str) -> Line2D:
    """A mark in a legend."""
    return Line2D([], [], ls="", marker=marker, ms=size, mfc=fill, mec=edge, label=label)


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


def draw_policies(
    axes: Axes,
    tasks: Sequence[str],
    returns: Table,
    policies: Sequence[tuple[str, float, str]],
    width: float,
) -> None:
    """A box per task for each policy, which has a shift and a colour; nothing is hidden."""
    for policy, shift, colour in policies:
        rows = returns.where(policy=policy)
        of_tasks = [rows.where(task=task) for task in tasks]
        axes.bxp(
            [box_statistics(one["return"], one["episodes"]) for one in of_tasks],
            positions=np.arange(len(tasks)) + shift,
            widths=width,
            showmeans=True,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": colour, "edgecolor": INK, "linewidth": 0.8},
            medianprops={"color": INK, "linewidth": 1.2},
            whiskerprops={"linewidth": 0.8},
            capprops={"linewidth": 0.8},
            flierprops={"marker": "o", "ms": 3, "mfc": "none", "mec": GREY, "mew": 0.6},
            meanprops={"marker": "D", "ms": 4, "mfc": "white", "mec": INK, "mew": 0.8},
        )
    axes.axhline(0, color=LIGHT, lw=0.8, zorder=0)
    axes.set_ylabel("return of an episode")
    axes.set_xlim(-0.6, len(tasks) - 0.4)
    axes.tick_params(labelbottom=False, bottom=False)
    axes.spines["bottom"].set_visible(False)


def box_statistics(values: NDArray[Any], counts: NDArray[Any]) -> dict[str, Any]:
    """Quartiles, whiskers, mean and all outliers of values that occurred so often."""
    order = np.argsort(values, kind="stable")
    ordered, cumulated = values[order], np.cumsum(counts[order])
    low, median, high = (
        ordered[np.searchsorted(cumulated, q * cumulated[-1], side="left")]
        for q in (0.25, 0.5, 0.75)
    )
    reach = 1.5 * (high - low)
    inside = (ordered >= low - reach) & (ordered <= high + reach)
    return {
        "q1": low,
        "med": median,
        "q3": high,
        "whislo": ordered[inside].min(),
        "whishi": ordered[inside].max(),
        "mean": float((values * counts).sum() / counts.sum()),
        "fliers": np.unique(ordered[~inside]),
    }


def _numbers(row: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    failing = row["failure_rate"] > row["optimum_failure_rate"]
    return {
        "mean": (f"{row['mean']:.3f}", row["gap"] > STEP),
        "optimum": (f"{row['optimum']:.3f}", False),
        "failures": (percent(row["failure_rate"]), failing),
        "of the optimum": (percent(row["optimum_failure_rate"]), False),
    }


def draw_numbers(
    axes: Axes,
    columns: Sequence[Mapping[str, tuple[str, bool]]],
    labels: Sequence[str],
    *,
    size: float,
    **ticks: Any,
) -> None:
    """The table below a box plot: one column per task, a text per line, red where it is bad."""
    lines = list(columns[0])
    for x, column in enumerate(columns):
        for i, (text, bad) in enumerate(column.values()):
            colour, weight = (RED, "bold") if bad else (INK, "normal")
            how: Any = {"color": colour, "fontsize": size, "fontweight": weight}
            axes.text(x, len(lines) - 1 - i, text, ha="center", va="center", **how)
    axes.set_xticks(np.arange(len(columns)), labels, **ticks)
    axes.set_yticks(np.arange(len(lines))[::-1], lines)
    axes.set_ylim(-0.6, len(lines) - 0.4)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _broken(task: str) -> str:
    """A long expression on two lines."""
    return task.replace(" | ", "\n| ", 1) if len(task) > 14 else task


def percent(rate: float) -> str:
    """A rate with one digit; small ones are not rounded to nothing."""
    if rate == 0:
        return "0"
    return "< 0.1 %" if rate < 0.001 else f"{100 * rate:.1f} %"
