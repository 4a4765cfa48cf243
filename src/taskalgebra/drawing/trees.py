"""A formula as a tree in SVG: the operator at the left, its operands to the right."""

from __future__ import annotations

from collections.abc import Sequence

from taskalgebra.drawing.html import text
from taskalgebra.drawing.layered import Box, layout

MOST_NODES = 40
_CHARACTER, _HEIGHT, _MARGIN = 7.5, 11.0, 4.0
_LONGEST = 24  # characters of a name


def tree_svg(labels: Sequence[str], edges: Sequence[tuple[int, int]], title: str) -> str:
    """The distinct parts of a formula, each once; node 0 is the whole.

    Args:
        labels: of the nodes: operators and names.
        edges: from an operator to its operands.
        title: for those who cannot see it.
    """
    short = [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in labels]
    boxes = [Box(_CHARACTER * len(name) + 10, _HEIGHT, _HEIGHT) for name in short]
    found = layout(boxes, edges, [Box(0, 2, 2)] * len(edges))
    parts = []
    for line in found.lines:
        (_, x, y), (to, _, there) = line.stops[0], line.stops[-1]
        middle = (x + to) / 2
        parts.append(f"M{x:.1f} {y:.1f}C{middle:.1f} {y:.1f} {middle:.1f} {there:.1f} ")
        parts.append(f"{to:.1f} {there:.1f}")
    shape = f'<path d="{"".join(parts)}" fill="none" stroke="currentColor" stroke-opacity=".5"/>'
    words = "".join(
        f'<text x="{x:.1f}" y="{y + 4:.1f}">{text(name)}</text>'
        for name, (x, y) in zip(short, found.nodes, strict=True)
    )
    width, height = found.width + 2 * _MARGIN, found.height + 2 * _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="{-_MARGIN} {-_MARGIN} {width:.1f} {height:.1f}" '
        f'style="max-width:100%"><title>{text(title)}</title>{shape}'
        f'<g fill="currentColor" text-anchor="middle" font-size="13" font-family="monospace">'
        f"{words}</g></svg>"
    )
