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
    """Cumulative samples over tasks, for both learners, and a second panel.

    Args:
        result: of the experiment `samples`, or of `forty_goals`.
        ours: for 40 goals, of the experiment `efficient`: environment steps until all 2^40 tasks
            are mastered, for each idea of ours; drawn in its own panel and labelled as ours.
            For 16 tasks, the second panel has the samples of each task.
    """
    forty = result.name == "forty_goals"
    size = (6.4, 4.4) if forty else (13.0, 5.2)
    figure = new_figure(*size) if ours is None else new_figure(15.5, 5.8)
    n_panels = 1 if forty and ours is None else 2
    axes = figure.add_subplot(1, n_panels, 1)
    if not forty:
        _draw_orders(axes, result.table)
    _draw_learners(axes, result.table)
    what = "40 goals" if forty else "Learning all 16 tasks"
    axes.set_title(f"{what}, mean ± s.d. of {result.config['runs']} runs")
    axes.legend(loc="upper left")
    if ours is not None:
        _draw_ours(figure.add_subplot(1, 2, 2), result.table, ours.table)
    elif not forty:
        _draw_tasks(figure.add_subplot(1, 2, 2), result.table)
    return figure


def _draw_orders(axes: Axes, table: Table) -> None:
    """What the total can be in other orders of the tasks: cheap ones first, dear ones first."""
    for learner in table.distinct("learner"):
        rows = table.where(learner=learner)
        means = [rows.where(task=task)["steps"].mean() for task in rows.distinct("task")]
        low, high = np.cumsum(np.sort(means)), np.cumsum(np.sort(means)[::-1])
        _, colour = LEARNERS[learner]
        axes.fill_between(np.arange(1, low.size + 1), low, high, color=colour, alpha=0.2, lw=0)


def _draw_tasks(axes: Axes, table: Table) -> None:
    """The samples of each task for both learners, by the factor between them."""
    steps = {
        learner: {task: rows.where(task=task)["steps"] for task in rows.distinct("task")}
        for learner in table.distinct("learner")
        for rows in [table.where(learner=learner)]
    }
    factor = {
        task: extended.mean() / steps[PLAIN][task].mean()
        for task, extended in steps[EXTENDED].items()
    }
    tasks = sorted(factor, key=lambda task: -factor[task])
    y = -np.arange(len(tasks))
    for learner, of_tasks in steps.items():
        name, colour = LEARNERS[learner]
        mean, width = np.array([(of_tasks[t].mean(), of_tasks[t].std()) for t in tasks]).T
        how: Any = {"fmt": "o", "ms": 5, "capsize": 2, "color": colour, "label": name}
        axes.errorbar(mean, y, xerr=width, **how)
    beside = axes.get_yaxis_transform()
    for position, task in zip(y.tolist(), tasks, strict=True):
        axes.text(1.02, position, f"{factor[task]:.2f}", transform=beside, va="center")
    axes.text(1.02, 1, "factor", transform=beside, va="center")
    axes.set_yticks(y, tasks, fontsize=9)
    axes.set_xlim(left=0)
    axes.set_xlabel("environment steps to learn a task")
    axes.xaxis.set_major_formatter(FuncFormatter(_thousands))
    axes.set_title(f"Each task, mean ± s.d. of {len(steps[PLAIN][tasks[0]])} runs")


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
