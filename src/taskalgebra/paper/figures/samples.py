"""Fig. 3a: samples to learn the tasks of Four Rooms one after the other."""

from __future__ import annotations

from matplotlib.figure import Figure

from taskalgebra.paper.figures.cumulative import draw_learners
from taskalgebra.paper.figures.style import new_figure, styled
from taskalgebra.paper.results.record import Result


@styled
def draw(result: Result) -> Figure:
    """Cumulative samples over the 16 tasks, for both learners."""
    figure = new_figure(6.4, 4.4)
    axes = figure.add_subplot()
    draw_learners(axes, result.table)
    axes.set_title(f"Learning all 16 tasks, mean ± s.d. of {result.config['runs']} runs")
    axes.legend(loc="upper left")
    return figure
