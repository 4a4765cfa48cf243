"""Fig. 3a and 3c: samples to learn the tasks of Four Rooms one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from taskalgebra.paper.figures.style import (
    BLUE,
    GREEN,
    ORANGE,
    annotate,
    legend_mark,
    new_figure,
    styled,
)
from taskalgebra.paper.results.labels import ADDED, EXTENDED, PAPER, PLAIN, REMOVED
from taskalgebra.paper.results.record import Result, Table

LEARNERS = {PLAIN: ("regular values", ORANGE), EXTENDED: ("extended values", BLUE)}
MARKS = {
    PAPER: (BLUE, BLUE, "paper"),
    ADDED: (GREEN, GREEN, "ours: ideas added one by one"),
    REMOVED: (GREEN, "white", "ours: one idea removed"),
}


@styled
def draw(result: Result, ours: Result | None = None) -> Figure:
    """Cumulative samples over tasks, for both learners.

    Args:
        result: of the experiment `samples`, or of `forty_goals`.
        ours: for 40 goals, of the experiment `efficient`: environment steps until all 2^40 tasks
            are mastered, for each idea of ours; drawn in its own panel and labelled as ours.
    """
    figure = new_figure(6.4, 4.4) if ours is None else new_figure(15.5, 5.8)
    axes = figure.add_subplot(1, 1 if ours is None else 2, 1)
    _draw_learners(axes, result.table)
    what = "40 goals" if result.name == "forty_goals" else "Learning all 16 tasks"
    axes.set_title(f"{what}, mean ± s.d. of {result.config['runs']} runs")
    axes.legend(loc="upper left")
    if ours is not None:
        _draw_ours(figure.add_subplot(1, 2, 2), result.table, ours.table)
    return figure


def _cumulative(table: Table, learner: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation over runs of the samples after 1, 2, … tasks."""
    rows = table.where(learner=learner)
    n_runs = len(rows.distinct("run"))
    total = rows["steps"].reshape(-1, n_runs).cumsum(axis=0)
    return total.mean(axis=1), total.std(axis=1)


def _draw_learners(axes: Axes, table: Table) -> None:
    """One line per learner, with error bars of one standard deviation."""
    for learner in table.distinct("learner"):
        mean, deviation = _cumulative(table, learner)
        name, colour = LEARNERS[learner]
        label = f"{name}: {mean.size} tasks in {_thousands(mean[-1])} steps"
        line: Any = {"marker": "o", "ms": 4, "lw": 1.5, "capsize": 2, "color": colour}
        axes.errorbar(np.arange(1, mean.size + 1), mean, deviation, label=label, **line)
    axes.set_xlabel("number of tasks learned")
    axes.set_ylabel("environment steps, cumulative")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(_thousands))


def _thousands(value: float, _: object = None) -> str:
    """1234567 as 1,235k: thousands, spelled out."""
    return "0" if value == 0 else f"{value / 1000:,.0f}k"


def _draw_ours(axes: Axes, paper: Table, ours: Table) -> None:
    """Steps until all tasks are mastered: the paper's learners, then each idea of ours."""
    mean, deviation = _cumulative(paper, PLAIN)
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
