"""The supplement's box plots: assumptions given up one by one, and slips."""

from __future__ import annotations

from matplotlib.figure import Figure

from taskalgebra.paper.figures.boxes import draw_variants
from taskalgebra.paper.figures.style import styled
from taskalgebra.paper.results.record import Result

HEADINGS = {
    "sparse, same": "sparse rewards, same absorbing set (the paper's assumptions)",
    "sparse, different": "sparse rewards, different absorbing sets",
    "dense, same": "dense rewards, same absorbing set",
    "dense, different": "dense rewards, different absorbing sets",
}


@styled
def draw(result: Result) -> Figure:
    """Returns of the 16 composed policies in each variant, or for each slip probability."""
    dense = HEADINGS["dense, different"]
    headings = HEADINGS | {
        f"slip {slip:g}": f"slip probability {slip:g}, {dense}"
        for slip in result.config.get("slip_probabilities", ())
    }
    return draw_variants(result, [headings[v] for v in result.table.distinct("variant")])
