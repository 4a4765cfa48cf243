"""Loss and error of composed agents over the depth of the expression, for ever more noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskalgebra.paper.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    RED,
    new_figure,
    styled,
)
from taskalgebra.paper.results.record import Result, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (GREEN, BLUE, ORANGE, RED)
LINES = {"exact": "-", "noisy": "--"}


@styled
def draw(result: Result) -> Figure:
    """Three panels: error over depth with what is allowed, loss, and the share of good starts."""
    table = result.table.where(kind="uniform")
    figure = new_figure(13.0, 4.8, w_pad=0.1)
    error, loss, optimal = figure.subplots(1, 3)
    depths = sorted(table.distinct("depth"))
    for axes, name in ((loss, "mean_loss"), (optimal, "optimal")):
        for colour, scale in zip(COLOURS, table.distinct("scale"), strict=False):
            size = 7 if scale == table["scale"].min() else 4  # one that others may hide
            for bounds, line in LINES.items():
                rows = table.where(scale=scale, bounds=bounds)
                values = [float(rows.where(depth=depth)[name].mean()) for depth in depths]
                label = f"ε = {scale:g}" if bounds == "exact" else None
                axes.plot(
                    depths, values, line, color=colour, marker="o", ms=size, lw=1.6, label=label
                )
    _errors(error, table, depths)
    loss.set_title("What is lost to noise", loc="left")
    loss.set_ylabel("mean loss of return, in 100 steps")
    loss.plot([], [], "--", color=GREY, lw=1.6, label="noisy bounds too")
    figure.legend(*loss.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    optimal.set_title("Starts that lose nothing", loc="left")
    optimal.set_ylabel("share of starts")
    optimal.set_ylim(-0.03, 1.05)
    for axes in (error, loss, optimal):
        axes.set_xlabel("levels of the expression")
        axes.grid(axis="y", color=LIGHT, lw=0.6)
        axes.set_axisbelow(True)
        axes.set_xticks(depths)
    return figure


def _errors(axes: Axes, table: Table, depths: list[int]) -> None:
    """The largest error in units of ε: at most ε, or 3 ε if the bounds are noisy."""
    marks = {"exact": "o", "noisy": "s"}
    for (bounds, line), colour in zip(LINES.items(), (BLUE, ORANGE), strict=True):
        rows = table.where(bounds=bounds)
        most = []
        for depth in depths:
            here = rows.where(depth=depth)
            most.append(float((here["error"] / here["scale"]).max()))
        what = f"{bounds} bounds"
        axes.plot(depths, most, line, color=colour, marker=marks[bounds], ms=5, lw=1.6, label=what)
    for allowed, text in ((1, "allowed with exact bounds: ε"), (3, "with noisy bounds: 3 ε")):
        axes.axhline(allowed, color=INK, lw=1.0, ls=":")
        axes.text(depths[-1], allowed + 0.05, text, ha="right", va="bottom", color=GREY, fontsize=9)
    axes.set_ylim(0, 3.6)
    axes.set_title("Largest error of composed values", loc="left")
    axes.set_ylabel("error / ε")
    axes.legend(loc="center right", fontsize=9)
