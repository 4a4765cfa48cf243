"""Fig. 3b: how many tasks can be solved from K learned ones, on a logarithmic scale."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from taskalgebra.paper.figures.style import BLUE, ORANGE, annotate, new_figure, styled
from taskalgebra.paper.results.record import Result


@styled
def draw(result: Result) -> Figure:
    """2^K − 1 tasks by disjunction, 2^(2^K) by the algebra; filled marks were counted."""
    table = result.table
    learned = table["learned"]
    figure = new_figure(6.4, 4.4)
    axes = figure.add_subplot()
    for name, label, colour, up, side in (
        ("algebra", r"Boolean algebra, $2^{2^K}$", BLUE, 8, "right"),
        ("disjunction", r"disjunction only, $2^K - 1$", ORANGE, -15, "center"),
    ):
        counted = table[f"{name}_counted"] >= 0
        axes.plot(learned, table[name], "-o", color=colour, mfc="white", label=label)
        axes.plot(learned[counted], table[name][counted], "o", color=colour)
        for k, n in zip(learned[:4], table[name][:4], strict=True):
            annotate(axes, f"{n:,.0f}", (k, n), (0, up), ha=side, fontsize=9)
    axes.set_yscale("log")
    axes.set_ylim(0.02, None)
    axes.set_yticks([10.0**power for power in range(0, 21, 4)])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("K, number of tasks learned")
    axes.set_ylabel("number of tasks solvable (log scale)")
    axes.set_title("Solvable tasks; filled marks: formula checked by counting")
    axes.legend(loc="upper left")
    return figure
