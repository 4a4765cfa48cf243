"""The supplement's first box plot: assumptions given up one by one."""

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
    """Returns of the 16 composed policies in each of the four variants."""
    return draw_variants(result, [HEADINGS[v] for v in result.table.distinct("variant")])
