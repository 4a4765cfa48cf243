"""The supplement's second box plot: slips."""

from __future__ import annotations

from matplotlib.figure import Figure

from taskalgebra.paper.figures.boxes import draw_variants
from taskalgebra.paper.figures.style import styled
from taskalgebra.paper.results.record import Result


@styled
def draw(result: Result) -> Figure:
    """Returns of the 16 composed policies for each slip probability."""
    headings = [
        f"slip probability {slip:g}, dense rewards, different absorbing sets"
        for slip in result.config["slip_probabilities"]
    ]
    return draw_variants(result, headings)
