"""Tasks learned over tasks seen, with the two bounds; and what slips cost composed agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taskalgebra.paper.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    PURPLE,
    annotate,
    new_figure,
    styled,
)
from taskalgebra.paper.results.record import Result, Table
from taskalgebra.showcase.trust.lifelong import DEFINITION, ITSELF, MILD, PLANNED, USEFUL
from taskalgebra.theory.lifelong_bounds import tasks_learned_bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (BLUE, ORANGE, GREEN, PURPLE)


@styled
def draw(result: Result) -> Figure:
    """Two panels: how many tasks are learned, and what composed agents lose."""
    figure = new_figure(11.0, 5.0, w_pad=0.12)
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    _learned(left, result.table.where(slip=0.0, values=PLANNED))
    _lost(right, result.table.where(composed=1))
    return figure


def _learned(axes: Axes, table: Table) -> None:
    """Means over streams, and the range between the least and the most."""
    last = int(table["seen"].max())
    for colour, n_desired in zip(COLOURS, table.distinct("n_desired"), strict=False):
        for base_task, line in ((ITSELF, "-"), (USEFUL, "--")):
            rows = table.where(n_desired=n_desired, base_task=base_task)
            learned = rows["n_learned"].reshape(-1, last)
            seen = np.arange(1, last + 1)
            if base_task == ITSELF:
                axes.fill_between(
                    seen, learned.min(axis=0), learned.max(axis=0), color=colour, alpha=0.18, lw=0
                )
            goals = f"{n_desired} goals" if n_desired > 1 else "one goal"
            what = f"tasks of {goals}" if base_task == ITSELF else None
            axes.plot(seen, learned.mean(axis=0), line, color=colour, lw=1.8, label=what)
    axes.plot([], [], "--", color=GREY, lw=1.8, label="if the most useful task is learned")
    low, high = tasks_learned_bounds(40)
    for bound, text, shift in ((low, f"⌈log₂ 40⌉ = {low}", -13), (high, f"|G| = {high}", 5)):
        axes.axhline(bound, color=INK, lw=1.0, ls=":")
        annotate(axes, text, (last, bound), (-2, shift), ha="right", color=INK)
    axes.set_xlim(0, last)
    axes.set_ylim(0, high + 4)
    axes.set_xlabel("tasks seen")
    axes.set_ylabel("tasks learned")
    axes.set_title("Tasks learned over tasks seen", loc="left")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)


def _lost(axes: Axes, table: Table) -> None:
    """The mean loss of composed agents, by slip and by the goals that tasks desire."""
    slips, kinds = sorted(table.distinct("slip")), table.distinct("n_desired")
    width = 0.84 / len(kinds)
    for x, slip in enumerate(slips):
        for i, n_desired in enumerate(kinds):
            rows = table.where(slip=slip, n_desired=n_desired, penalty=DEFINITION)
            if not rows.n_rows:
                continue
            lost = 1e3 * float(rows["mean_loss"].mean())
            at = x + width * (i - (len(kinds) - 1) / 2)
            axes.bar(at, lost, 0.92 * width, color=COLOURS[i % len(COLOURS)])
            text = "0" if lost < 1e-6 else "< 0.1" if lost < 0.1 else f"{lost:.1f}"
            annotate(axes, text, (at, lost), (0, 3), ha="center", fontsize=9)
            mild = table.where(slip=slip, n_desired=n_desired, penalty=MILD)
            if mild.n_rows:
                level = 1e3 * float(mild["mean_loss"].mean())
                axes.plot([at - 0.46 * width, at + 0.46 * width], [level] * 2, color=INK, lw=2)
    axes.plot([], [], color=INK, lw=2, label="with the penalty r_∅")
    best = [float(table.where(slip=slip)["optimum"].mean()) for slip in slips]
    names = [
        f"{f'slip {slip:g}' if slip else 'no slips'}\noptimum {mean:.2f}"
        for slip, mean in zip(slips, best, strict=True)
    ]
    axes.set_xticks(range(len(slips)), names)
    axes.set_ylabel("mean loss of return, in thousandths")
    axes.set_title("What composed agents lose", loc="left")
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y", color=LIGHT, lw=0.6)
    axes.set_axisbelow(True)
    axes.margins(y=0.12)
    axes.legend(loc="upper left")
