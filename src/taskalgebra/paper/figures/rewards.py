"""Fig. 1: two reward functions on a plane, and their compositions."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from taskalgebra.paper.figures.style import GREY, VALUES, new_figure, styled
from taskalgebra.paper.results.record import Result

TITLES = {
    "left": "LEFT",
    "down": "DOWN",
    "not_left": "¬ LEFT",
    "disjunction": "LEFT ∨ DOWN",
    "conjunction": "LEFT ∧ DOWN",
    "average": "average (not ∧)",
}


@styled
def draw(result: Result) -> Figure:
    """One square per reward function."""
    table = result.table
    n = len(np.unique(table["x"]))
    norm = Normalize(result.config["r_empty"], result.config["r_universal"])
    figure = new_figure(14, 3.0)
    panels = figure.subplots(1, len(TITLES), sharey=True)
    for axes, (name, title) in zip(panels, TITLES.items(), strict=True):
        colours: Any = {"norm": norm, "cmap": VALUES, "interpolation": "nearest"}
        values = table[name].reshape(n, n)
        image = axes.imshow(values, origin="lower", extent=(-1, 1, -1, 1), **colours)
        axes.axhline(0, color=GREY, lw=0.6)
        axes.axvline(0, color=GREY, lw=0.6)
        axes.set_title(title)
        axes.set_xticks([-1, 0, 1])
        axes.set_yticks([-1, 0, 1])
        axes.set_xlabel("x")
    panels[0].set_ylabel("y")
    figure.colorbar(image, ax=list(panels), label="reward", shrink=0.75, pad=0.01)
    return figure
