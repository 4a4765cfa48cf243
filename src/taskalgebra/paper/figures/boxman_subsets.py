"""All 63 sets of objects as tasks: how many episodes of each earn the optimum, and what is lost."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from taskalgebra.paper.figures.style import BLUE, GREY, LIGHT, RED, new_figure, styled
from taskalgebra.paper.results.record import Result, Table

SPREAD = 0.3


@styled
def draw(result: Result) -> Figure:
    """A dot a set of objects, by how many objects it has."""
    table = result.tables["boxman_subsets"]
    settings = table.distinct("setting")
    figure = new_figure(6.2 * len(settings), 4.4, w_pad=0.12, h_pad=0.08)
    low = min(float(table["score"].min()), 0.98)
    for axes, setting in zip(
        figure.subplots(1, len(settings), squeeze=False)[0], settings, strict=True
    ):
        _draw_setting(axes, table.where(setting=setting), low)
        axes.set_title(f"{setting} objects: all {table.where(setting=setting).n_rows} tasks")
    return figure


def _draw_setting(axes: Axes, rows: Table, low: float) -> None:
    sizes = rows["n_objects"]
    for size in sorted(set(sizes.tolist())):
        here = rows.where(n_objects=size)
        x = size + (np.linspace(-SPREAD, SPREAD, here.n_rows) if here.n_rows > 1 else np.zeros(1))
        failing = here["failures"] > 0
        for mask, colour in ((~failing, BLUE), (failing, RED)):
            axes.plot(x[mask], here["score"][mask], "o", ms=5.5, color=colour, mec="white", mew=0.6)
    axes.axhline(1, color=LIGHT, lw=1, zorder=0)
    span = 1 - low
    axes.set_ylim(low - 0.08 * span, 1 + 0.12 * span)
    axes.set_xlabel("objects that the task wants")
    axes.set_ylabel("mean return ÷ optimum")
    failures, episodes = int(rows["failures"].sum()), int(rows["episodes"].sum())
    optimal = int(rows["optimal_episodes"].sum())
    axes.text(
        0.98,
        0.06,
        f"worst task {rows['score'].min():.4f}, mean {rows['score'].mean():.4f}\n"
        f"{optimal:,} of {episodes:,} episodes optimal, {failures:,} failed"
        + (" (red: tasks with failures)" if failures else ""),
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        fontsize=10,
        color=GREY,
    )
