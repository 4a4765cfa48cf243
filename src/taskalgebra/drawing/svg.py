"""Maps and graphs as SVG for web pages, without matplotlib; readable on light and on dark paper."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.drawing.board import Map
from taskalgebra.drawing.colours import ORANGE, viridis
from taskalgebra.drawing.graphs import Graph
from taskalgebra.drawing.html import text
from taskalgebra.drawing.png import png

WIDTH = 240  # pixels
MOST_ARROWS = 32  # cells across
MOST_PIXELS = 400  # across, of a map that is made smaller
MOST_MARKS = 200  # goals that are marked
_WALL, _FLOOR, _UNKNOWN = (120, 124, 132, 190), (128, 128, 128, 40), (128, 128, 128, 90)
_FINER = 6  # pixels of the picture for a cell, so that no browser blurs its edges
_SHAPES = {  # from the middle of a cell, in cells
    "up": "m0 .36v-.5h-.13l.13-.22.13.22h-.13",
    "down": "m0-.36v.5h-.13l.13.22.13-.22h-.13",
    "left": "m.36 0h-.5v-.13l-.22.13.22.13v-.13",
    "right": "m-.36 0h.5v-.13l.22.13-.22.13v-.13",
    "stay": "m-.1 0a.1.1 0 1 0 .2 0a.1.1 0 1 0-.2 0",
}


def map_svg(task: Map, names: Sequence[str], *, width: int = WIDTH, title: str = "") -> str:
    """A map: values as colours, arrows if there is room for them, and goals, `[G]`.

    Args:
        task: the map; a world without a task has NaN for values.
        names: of the goals, shown when the pointer is on them.
        width: in pixels, at most.
        title: for those who cannot see it.
    """
    rows, columns = task.size
    cell = min(width / columns, width / rows, 24.0)
    drawn = [_ground(task, rows, columns)]
    if task.actions and max(rows, columns) <= MOST_ARROWS:
        drawn.append(_moves(task))
    if len(names) <= MOST_MARKS:
        drawn += _goals(task, names, cell)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{columns * cell:.0f}" '
        f'height="{rows * cell:.0f}" viewBox="0 0 {columns} {rows}" style="max-width:100%">'
        f"<title>{text(title or task.title)}</title>{''.join(drawn)}</svg>"
    )


def _ground(task: Map, rows: int, columns: int) -> str:
    """Values and walls as one small image; of a large map every so many cells are left out."""
    pixels = np.empty((rows, columns, 4), np.uint8)
    pixels[:] = _WALL
    floor = _FLOOR if np.isnan(task.values).all() else _UNKNOWN
    for at in (task.goals, task.cells):
        y, x = (at - task.corner).T
        pixels[y, x] = floor
    known = np.isfinite(task.values)
    pixels[y[known], x[known], :3] = viridis(levels(task.values[known]))
    pixels[y[known], x[known], 3] = 255
    step = -(-max(rows, columns) // MOST_PIXELS)
    finer = _FINER if max(rows, columns) <= MOST_PIXELS // _FINER else 1
    small = pixels[::step, ::step].repeat(finer, axis=0).repeat(finer, axis=1)
    return (
        f'<image width="{columns}" height="{rows}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{b64encode(png(small)).decode()}"/>'
    )


def levels(values: Array) -> Array:
    """Values in [0, 1], from the least to the largest."""
    if not values.size:
        return values
    low, high = values.min(), values.max()
    found: Array = (values - low) / (high - low) if high > low else np.ones(values.size)
    return found


def _moves(task: Map) -> str:
    """All arrows as one shape, and letters for actions that are no moves."""
    at = (task.cells - task.corner).tolist()
    parts, letters = [], []
    for i in np.flatnonzero(task.moving).tolist():
        (y, x), action = at[i], task.actions[i]
        if shape := _SHAPES.get(action):
            parts.append(f"M{x + 0.5} {y + 0.5}{shape}")
        else:
            letter = text(task.letters[i])
            letters.append(f'<text x="{x + 0.5}" y="{y + 0.66:.2f}">{letter}</text>')
    shape = "".join(parts)
    arrows = (
        f'<path d="{shape}" fill="#fff" stroke="#000" stroke-opacity=".55" stroke-width=".2" '
        f'paint-order="stroke" stroke-linejoin="round"/>'
        f'<path d="{shape}" fill="#fff" stroke="#fff" stroke-width=".07"/>'
    )
    written = (
        f'<g font-size=".46" font-weight="bold" font-family="sans-serif" text-anchor="middle" '
        f'fill="#fff" stroke="#000" stroke-opacity=".55" stroke-width=".08" paint-order="stroke">'
        f"{''.join(letters)}</g>"
    )
    return (arrows if parts else "") + (written if letters else "")


def _goals(task: Map, names: Sequence[str], cell: float) -> list[str]:
    """A filled diamond for a desired goal, an outline for another, × where it violates."""
    crossed = np.zeros(len(task.goals), np.bool_) if task.crossed is None else task.crossed
    order = np.argsort(task.desired, kind="stable")  # of goals on one cell, a desired one
    at, r = task.goals - task.corner + 0.5, max(0.36, 3 / cell)
    plain = bool(np.isnan(task.values).all())
    grey = set() if plain else set(map(tuple, task.unknown.tolist()))  # paper shines through
    parts = []
    for g in order.tolist():
        y, x = at[g].tolist()
        edge = "currentColor" if plain or tuple(task.goals[g].tolist()) in grey else "#fff"
        shape = f"M{x} {y - r:.3g}l{r:.3g} {r:.3g} {-r:.3g} {r:.3g} {-r:.3g} {-r:.3g}z"
        look = f'fill="{ORANGE}" stroke="#000" stroke-width="{r / 5:.3g}"'
        if crossed[g]:
            s = 0.8 * r
            shape = f"M{x - s} {y - s}l{2 * s} {2 * s}m0-{2 * s}l-{2 * s} {2 * s}"
            look = f'fill="none" stroke="{edge}" stroke-width="{r / 2.5:.3g}"'
        elif not task.desired[g]:
            look = f'fill="none" stroke="{edge}" stroke-width="{r / 3:.3g}"'
        parts.append(
            f'<path d="{shape}" {look} pointer-events="all"><title>{text(names[g], 80)}</title>'
            f"</path>"
        )
    return parts


def graph_svg(graph: Graph, *, width: int = WIDTH) -> str:
    """A small world without a map: its states, its moves, and the values of a task."""
    low, high = graph.places.min(axis=0) - 0.8, graph.places.max(axis=0) + 0.8
    wide, down = (high - low).tolist()
    unit = min(1.5 * width / wide, 1.5 * width / down, 40.0)
    r = 0.3
    at = np.stack((graph.places[:, 0] - low[0], high[1] - graph.places[:, 1]), axis=1)
    parts = [_lines(at, graph.edges[~graph.chosen], 0.02, 0.45)]
    parts.append(_lines(at, graph.edges[graph.chosen], 0.06, 0.9, r))
    parts += _states(graph, at, r)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{wide * unit:.0f}" '
        f'height="{down * unit:.0f}" viewBox="0 0 {wide:.3f} {down:.3f}" '
        f'style="max-width:100%;overflow:visible">'
        f"<title>{text(graph.title)}</title>{''.join(parts)}</svg>"
    )


def _lines(at: Array, edges: LongArray, thick: float, strong: float, r: float = 0.0) -> str:
    """Moves as one shape, with heads if the size of states is given."""
    parts = []
    for here, there in at[edges]:
        length = float(np.linalg.norm(there - here)) or 1.0
        along = (there - here) / length
        start, tip = here + along * r, there - along * r
        parts.append("M{:.2f} {:.2f}L{:.2f} {:.2f}".format(*start, *tip))
        if r:
            across = np.array([-along[1], along[0]]) * 0.12
            for wing in (tip - 0.22 * along + across, tip - 0.22 * along - across):
                parts.append("M{:.2f} {:.2f}L{:.2f} {:.2f}".format(*tip, *wing))
    if not parts:
        return ""
    return (
        f'<path d="{"".join(parts)}" fill="none" stroke="currentColor" stroke-opacity="{strong}" '
        f'stroke-width="{thick}"/>'
    )


def _states(graph: Graph, at: Array, r: float) -> list[str]:
    n = len(at)
    known = np.full(n, np.nan) if graph.values is None else graph.values
    live: BoolArray = np.isfinite(known)
    live[graph.goals] = False
    colours = np.full((n, 3), 160, np.uint8)
    colours[live] = viridis(levels(known[live]))
    wanted = dict(zip(graph.goals.tolist(), graph.desired.tolist(), strict=True))
    parts = []
    for state, ((x, y), label) in enumerate(zip(at.tolist(), graph.labels, strict=True)):
        fill = "#{:02x}{:02x}{:02x}".format(*colours[state])
        shape = f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{r}" fill="{fill}"/>'
        if state in wanted:
            fill = ORANGE if wanted[state] else "none"
            d = f"M{x:.2f} {y - r:.2f}l{r} {r} {-r} {r} {-r} {-r}z"
            shape = f'<path d="{d}" fill="{fill}" stroke="currentColor" stroke-width=".06"/>'
        parts.append(f"<g>{shape}<title>{text(label or f'state {state}', 80)}</title></g>")
        if state in wanted and len(wanted) <= 12:
            parts.append(
                f'<text x="{x:.2f}" y="{y + r + 0.36:.2f}" font-size=".36" fill="currentColor" '
                f'text-anchor="middle">{text(label, 20)}</text>'
            )
    return parts
