"""All 63 sets of objects as tasks: how many episodes of each earn the optimum, and what is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from taskalgebra.paper.figures.style import BLUE, GREY, LIGHT, RED, new_figure, styled
from taskalgebra.paper.results.record import Result, Table

SPREAD = 0.3


@styled
def draw(result: Result) -> Figure:
    """A dot per set of objects, by the number of its objects."""
    table = result.tables["boxman_subsets"]
    settings = table.distinct("setting")
    figure = new_figure(6.2 * len(settings), 4.4, w_pad=0.12, h_pad=0.08)
    low = min(float(table["score"].min()), 0.98)
    panels = figure.subplots(1, len(settings), squeeze=False)[0]
    for axes, setting in zip(panels, settings, strict=True):
        rows = table.where(setting=setting)
        _draw_setting(axes, rows, low)
        axes.set_title(f"{setting} objects: all {rows.n_rows} tasks")
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
    words = f"worst task {rows['score'].min():.4f}, mean {rows['score'].mean():.4f}\n"
    words += f"{optimal:,} of {episodes:,} episodes optimal, {failures:,} failed"
    words += " (red: tasks with failures)" if failures else ""
    corner: Any = {"transform": axes.transAxes, "ha": "right", "va": "bottom"}
    axes.text(0.98, 0.06, words, fontsize=10, color=GREY, **corner)
