"""Fig. 3a: samples to learn the tasks of Four Rooms one after the other, drawn as in Fig. 3c."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from taskalgebra.paper.figures.style import BLUE, ORANGE, new_figure, styled
from taskalgebra.paper.results.labels import EXTENDED, PLAIN
from taskalgebra.paper.results.record import Result, Table

LEARNERS = {PLAIN: ("regular values", ORANGE), EXTENDED: ("extended values", BLUE)}


@styled
def draw(result: Result) -> Figure:
    """Cumulative samples over the 16 tasks, for both learners."""
    figure = new_figure(6.4, 4.4)
    axes = figure.add_subplot()
    draw_learners(axes, result.table)
    axes.set_title(f"Learning all 16 tasks, mean ± s.d. of {result.config['runs']} runs")
    axes.legend(loc="upper left")
    return figure


def cumulative(table: Table, learner: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation over runs of the samples after 1, 2, … tasks."""
    rows = table.where(learner=learner)
    n_runs = len(rows.distinct("run"))
    total = rows["steps"].reshape(-1, n_runs).cumsum(axis=0)
    return total.mean(axis=1), total.std(axis=1)


def draw_learners(axes: Axes, table: Table) -> None:
    """One line per learner, with error bars of one standard deviation."""
    for learner in table.distinct("learner"):
        mean, deviation = cumulative(table, learner)
        name, colour = LEARNERS[learner]
        label = f"{name}: {mean.size} tasks in {thousands(mean[-1])} steps"
        line: Any = {"marker": "o", "ms": 4, "lw": 1.5, "capsize": 2, "color": colour}
        axes.errorbar(np.arange(1, mean.size + 1), mean, deviation, label=label, **line)
    axes.set_xlabel("number of tasks learned")
    axes.set_ylabel("environment steps, cumulative")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))


def thousands(value: float, _: object = None) -> str:
    """1234567 as 1,235k: thousands, spelled out."""
    return "0" if value == 0 else f"{value / 1000:,.0f}k"
