"""Algorithm 1, supplement: how far the learned table is from Q̄*, as printed and corrected."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from taskalgebra.paper.figures.style import BLUE, RED, new_figure, styled
from taskalgebra.paper.results.labels import CORRECTED, PRINTED
from taskalgebra.paper.results.record import Result

LINES = {
    PRINTED: (RED, "--", "as printed: δ ← r̄_MIN"),
    CORRECTED: (BLUE, "-", "corrected: δ ← r̄_MIN − Q(s, g, a)"),
}
SMALLEST = 1e-16  # so that an exact table has a place on the logarithmic axis


@styled
def draw(result: Result) -> Figure:
    """The largest error after each episode, on a logarithmic axis."""
    figure = new_figure(6.4, 4.4)
    axes = figure.add_subplot()
    for update, (colour, line, label) in LINES.items():
        rows = result.table.where(update=update)
        error = np.maximum(rows["largest_error"], SMALLEST)
        axes.plot(rows["episode"], error, line, color=colour, label=label, lw=2)
    axes.set_yscale("log")
    axes.set_xlabel("episodes")
    axes.set_ylabel("largest |Q̄ − Q̄*|")
    axes.set_title(f"Goal-oriented Q-learning of the task {result.config['task']}")
    axes.legend(loc="center left")
    return figure
