"""Fig. 6 and its twins: returns of every task, above a table of what a box plot hides.

Boxes are as in `boxes`: quartiles, whiskers, every return beyond them.  The table gives the mean
with its 95 % interval, the exact optimum, and how many episodes failed.  Red means: the interval
lies below the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from taskalgebra.paper.figures.boxes import box_statistics, draw_boxes, percent
from taskalgebra.paper.figures.boxman_board import title_of
from taskalgebra.paper.figures.style import BLUE, GREY, INK, LIGHT, ORANGE, RED, new_figure, styled
from taskalgebra.paper.results.record import Result, Table

AGENT, OPTIMAL, EXACT = "composed networks", "optimal policy", "exact composition"
HEADINGS = {
    "fixed": "Fixed objects, by pick-up: every start once",
    "random": "Random objects, by pick-up",
    "touch": "Random objects, by touch: tasks end with different objects",
}
PER_TASK = 1.5  # inches


@styled
def draw(result: Result, setting: str = "fixed") -> Figure:
    """Boxes a task, and the numbers below."""
    summary = result.table.where(setting=setting)
    counts = result.tables[f"{result.name}_counts"].where(setting=setting)
    policies = [(AGENT, BLUE), (OPTIMAL, LIGHT)]
    differs = bool((np.abs(summary["exact_composition"] - summary["optimum"]) > 1e-9).any())
    if differs:
        policies.insert(1, (EXACT, ORANGE))
    lines = 6 if differs else 4
    figure = new_figure(
        max(2.0 + PER_TASK * summary.n_rows, 8.5), 4.6 + 0.36 * lines, w_pad=0.12, h_pad=0.08
    )
    axes, numbers = figure.subplots(2, 1, sharex=True, height_ratios=[3.4, 0.36 * lines + 0.3])
    _draw_boxes(axes, summary, counts, policies)
    episodes = int(summary["episodes"][0])
    unit = "starts" if setting == "fixed" else "episodes"
    axes.set_title(
        f"{HEADINGS[setting]} ({episodes:,} {unit})", loc="left", fontweight="bold", pad=24
    )
    _draw_numbers(numbers, summary, differs)
    figure.legend(
        handles=[
            *(Patch(facecolor=colour, edgecolor=INK, label=name) for name, colour in policies),
            Line2D([], [], ls="", marker="D", ms=5, mfc="white", mec=INK, label="mean"),
            Line2D(
                [], [], ls="", marker="o", ms=4, mfc="none", mec=GREY, label="beyond the whiskers"
            ),
        ],
        loc="outside upper center",
        ncols=len(policies) + 2,
    )
    return figure


def _draw_boxes(axes: Axes, summary: Table, counts: Table, policies: list[tuple[str, str]]) -> None:
    width = 0.72 / len(policies)
    for k, (policy, colour) in enumerate(policies):
        shift = (k - (len(policies) - 1) / 2) * (width + 0.03)
        stats: list[dict[str, Any]] = []
        for task in summary["task"].tolist():
            rows = counts.where(policy=policy, task=task)
            stats.append(box_statistics(rows["return"], rows["episodes"]))
        draw_boxes(axes, stats, np.arange(summary.n_rows) + shift, width, colour)
    composed = np.flatnonzero(summary["kind"] == "composed")
    axes.axvline(composed[0] - 0.5, color=GREY, lw=0.8, ls=(0, (4, 3)))
    top = axes.get_xaxis_transform()
    for x, text, side in (
        (composed[0] - 0.55, "base tasks, learned", "right"),
        (composed[0] - 0.45, "composed, not learned", "left"),
    ):
        axes.text(x, 1.01, text, transform=top, ha=side, va="bottom", fontsize=9.5, color=GREY)
    axes.axhline(0, color=LIGHT, lw=0.8, zorder=0)
    axes.set_ylabel("return of an episode")
    axes.set_xlim(-0.6, summary.n_rows - 0.4)
    axes.tick_params(labelbottom=False, bottom=False)
    axes.spines["bottom"].set_visible(False)


def _draw_numbers(axes: Axes, summary: Table, differs: bool) -> None:
    lines = ["mean", "95 % interval", "optimum", "failures"]
    if differs:
        lines[3:3] = ["exact composition", "mean ÷ exact composition"]
    for x, row in enumerate(summary.rows()):
        below = row["mean_high"] < row["optimum"] - 1e-9
        failing = row["failures"] > 0
        exhaustive = row["mean_low"] == row["mean_high"]
        texts = {
            "mean": (f"{row['mean']:.3f}", RED if below else INK),
            "95 % interval": (
                "exact" if exhaustive else f"{row['mean_low']:.3f} – {row['mean_high']:.3f}",
                INK,
            ),
            "optimum": (f"{row['optimum']:.3f}", INK),
            "exact composition": (f"{row['exact_composition']:.3f}", INK),
            "mean ÷ exact composition": (f"{row['score_to_exact']:.3f}", INK),
            "failures": (_failures(row), RED if failing else INK),
        }
        for i, line in enumerate(lines):
            text, colour = texts[line]
            axes.text(
                x,
                len(lines) - 1 - i,
                text,
                ha="center",
                va="center",
                fontsize=9.5,
                color=colour,
                fontweight="bold" if colour == RED else "normal",
            )
    names = [_broken(title_of(task)) for task in summary["task"].tolist()]
    axes.set_xticks(np.arange(summary.n_rows), names, fontsize=10)
    axes.set_yticks(np.arange(len(lines))[::-1], lines)
    axes.set_ylim(-0.6, len(lines) - 0.4)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _failures(row: dict[str, Any]) -> str:
    if not row["failures"]:
        return "0"
    return f"{row['failures']} ({percent(row['failures'] / row['episodes'])})"


def _broken(task: str) -> str:
    """Two lines where one is too long."""
    words = task.split(" ")
    if len(task) <= 10 or len(words) == 1:
        return task
    lengths = [
        abs(len(" ".join(words[:i])) - len(" ".join(words[i:]))) for i in range(1, len(words))
    ]
    cut = 1 + int(np.argmin(lengths))
    return " ".join(words[:cut]) + "\n" + " ".join(words[cut:])
