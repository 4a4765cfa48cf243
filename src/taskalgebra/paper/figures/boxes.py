"""Box plots of returns from counts of episodes, each above a table of what a box plot hides.

Boxes span the quartiles, whiskers reach to the last return within 1.5 interquartile ranges, and
*every* return beyond is drawn, however many episodes had it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from taskalgebra.paper.figures.style import GREY, INK, LIGHT, RED
from taskalgebra.paper.results.record import Table


def draw_policies(
    axes: Axes,
    tasks: Sequence[str],
    returns: Table,
    policies: Sequence[tuple[str, float, str]],
    width: float,
) -> None:
    """A box per task for each policy, given as name, shift and colour; nothing is hidden."""
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
    """Quartiles, whiskers, mean and all outliers of values with their counts."""
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


def draw_numbers(
    axes: Axes,
    columns: Sequence[Mapping[str, tuple[str, bool]]],
    labels: Sequence[str],
    *,
    size: float,
    **ticks: Any,
) -> None:
    """The table below a box plot: a column per task, a text per line, red where it is bad."""
    lines = list(columns[0])
    for x, column in enumerate(columns):
        for i, (text, bad) in enumerate(column.values()):
            how: Any = {"color": RED, "fontweight": "bold"} if bad else {"color": INK}
            place = (x, len(lines) - 1 - i)
            axes.text(*place, text, ha="center", va="center", fontsize=size, **how)
    axes.set_xticks(np.arange(len(columns)), labels, **ticks)
    axes.set_yticks(np.arange(len(lines))[::-1], lines)
    axes.set_ylim(-0.6, len(lines) - 0.4)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def percent(rate: float) -> str:
    """A rate with one digit; small ones are not rounded to nothing."""
    if rate == 0:
        return "0"
    return "< 0.1 %" if rate < 0.001 else f"{100 * rate:.1f} %"
