"""Fig. 3c: samples to master the Four Rooms with 40 goals; what we add has its own panel."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from taskalgebra.paper.figures.samples import cumulative, draw_learners
from taskalgebra.paper.figures.style import BLUE, GREEN, annotate, legend_mark, new_figure, styled
from taskalgebra.paper.results.labels import ADDED, PAPER, PLAIN, REMOVED
from taskalgebra.paper.results.record import Result, Table

MARKS = {
    PAPER: (BLUE, BLUE, "paper"),
    ADDED: (GREEN, GREEN, "ours: ideas added one by one"),
    REMOVED: (GREEN, "white", "ours: one idea removed"),
}


@styled
def draw(result: Result, ours: Result | None = None) -> Figure:
    """Cumulative samples over tasks, for both learners.

    Args:
        result: of the experiment `forty_goals`.
        ours: of the experiment `efficient`: environment steps until all 2^40 tasks are mastered,
            for each idea of ours; drawn beside the paper's figure and labelled as ours.
    """
    figure = new_figure(6.4 if ours is None else 15.5, 4.4 if ours is None else 5.8)
    axes = figure.add_subplot(1, 1 if ours is None else 2, 1)
    draw_learners(axes, result.table)
    axes.set_title(f"40 goals, mean ± s.d. of {result.config['runs']} runs")
    axes.legend(loc="upper left")
    if ours is not None:
        _draw_ours(figure.add_subplot(1, 2, 2), result.table, ours.table)
    return figure


def _draw_ours(axes: Axes, paper: Table, ours: Table) -> None:
    """Steps until all tasks are mastered: the paper's learners, then each idea of ours."""
    mean, deviation = cumulative(paper, PLAIN)
    bars = [(f"Q-learning, {mean.size} single-goal tasks", mean[-1], deviation[-1], PAPER)]
    for kind, idea in dict.fromkeys(zip(ours["kind"].tolist(), ours["idea"].tolist(), strict=True)):
        steps = ours.where(kind=kind, idea=idea)["steps"]
        bars.append((idea, float(steps.mean()), float(steps.std()), kind))
    y = -np.arange(len(bars))
    for position, (_, middle, width, kind) in zip(y, bars, strict=True):
        colour, fill, _ = MARKS[kind]
        axes.errorbar(middle, position, xerr=width, color=colour, capsize=3, zorder=1)
        axes.plot(middle, position, "o", ms=8, mec=colour, mfc=fill, mew=1.6)
        end = (middle + width, position)
        annotate(axes, f"{middle:,.0f}", end, (8, 0), va="center", fontsize=9.5)
    axes.set_yticks(y, [bar[0] for bar in bars])
    axes.set_ylim(y[-1] - 0.6, 0.6)
    means = [bar[1] for bar in bars]
    axes.set_xscale("log")
    axes.set_xlim(min(means) / 2, max(means) * 4)
    axes.set_xlabel("environment steps until mastered (log scale), mean ± s.d.")
    axes.set_title("Ours, not in the paper: what each idea saves")
    axes.grid(axis="x", color="#EEEEEE")
    axes.set_axisbelow(True)
    marks = [legend_mark("o", 8, fill, edge, text, mew=1.6) for edge, fill, text in MARKS.values()]
    axes.legend(handles=marks, loc="upper left")
