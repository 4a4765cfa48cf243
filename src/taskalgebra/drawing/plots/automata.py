"""An automaton with matplotlib: the same places as in its SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path

from taskalgebra.drawing.automata import CROSS, LINE, LOOP, RADIUS, STUB, Drawing
from taskalgebra.drawing.colours import GREEN, ORANGE, RED
from taskalgebra.drawing.plots.paper import POINTS, axes_of, bare, fitted

SCALE = 0.9  # points for a unit of the drawing
FONT = 12  # units


def plot_automaton(drawing: Drawing, title: str, ax: Axes | None) -> Axes:
    """States as circles, accepting ones double, and a cross for the dead one."""
    wide, high = drawing.size
    axes = axes_of(ax, (wide * SCALE / POINTS + 0.3, high * SCALE / POINTS + 0.6))
    left, top = drawing.corner
    axes.set_xlim(left, left + wide)
    axes.set_ylim(top + high, top)
    axes.set_aspect("equal")
    bare(axes)
    box, figure = axes.get_window_extent(), axes.get_figure(root=True)
    assert figure is not None
    unit = min(box.width / wide, box.height / high) * POINTS / figure.dpi
    unit = SCALE if ax is None else unit
    _Pen(axes, drawing, unit).draw()
    axes.set_title(fitted(title, 80))
    return axes


class _Pen:
    def __init__(self, axes: Axes, drawing: Drawing, unit: float) -> None:
        self._axes, self._drawing, self._unit = axes, drawing, unit
        self._ink = mpl.rcParams["text.color"]

    def draw(self) -> None:
        drawing = self._drawing
        for edge, line in zip(drawing.edges, drawing.layout.lines, strict=True):
            self._line(line.stops)
            x, y = line.label
            self._words(drawing.lines_of(edge), x, y - 5, upwards=True)
        for state, (x, y) in zip(drawing.shown, drawing.layout.nodes, strict=True):
            self._state(state, x, y)

    def _line(self, stops: Sequence[tuple[float, float, float]]) -> None:
        """A smooth line through the columns, from circle to circle."""
        (a, b, y), (c, d, v) = stops[0], stops[-1]
        way = 1.0 if b > a else -1.0
        x, to = (a + b) / 2 + way * (RADIUS + 1), (c + d) / 2 - way * (RADIUS + 1)
        vertices, codes = [(x, y)], [Path.MOVETO]
        here = (x, y)
        for enter, leave, height in [*stops[1:-1], (c, to, v)]:
            middle = (here[0] + enter) / 2
            vertices += [(middle, here[1]), (middle, height), (enter, height)]
            codes += [Path.CURVE4] * 3
            if leave != enter:
                vertices.append((leave, height))
                codes.append(Path.LINETO)
            here = (leave, height)
        self._arrow(Path(vertices, codes))

    def _arrow(self, path: Path) -> None:
        look: Any = {"arrowstyle": "-|>", "mutation_scale": 11 * self._unit, "shrinkA": 0}
        self._axes.add_patch(
            FancyArrowPatch(path=path, color=self._ink, lw=1.1 * self._unit, alpha=0.75, **look)
        )

    def _state(self, state: int, x: float, y: float) -> None:
        drawing, axes, thick = self._drawing, self._axes, 1.5 * self._unit
        accepts = drawing.accepting[state]
        edge = GREEN if accepts else RED if state in drawing.dead else self._ink
        fill = (*mpl.colors.to_rgb(ORANGE), 0.5) if state == drawing.current else "none"
        axes.add_patch(Circle((x, y), RADIUS, ec=edge, fc=fill, lw=thick, zorder=3))
        if accepts:
            axes.add_patch(Circle((x, y), RADIUS - 3.5, ec=edge, fc="none", lw=thick, zorder=3))
        self._text(str(state), x, y, weight="bold")
        if state == 0:
            self._arrow(Path([(x - RADIUS - 28, y), (x - RADIUS - 1, y)]))
        if state in drawing.loops:
            dx, dy = 0.47 * RADIUS, 0.88 * RADIUS
            up = [(x - dx, y - dy), (x - 22, y - dy - 30), (x + 22, y - dy - 30), (x + dx, y - dy)]
            self._arrow(Path(up, [Path.MOVETO, *[Path.CURVE4] * 3]))
            self._words(drawing.loops[state], x, y - RADIUS - LOOP + 2, upwards=True)
        if state in drawing.stubs:
            end = y + RADIUS + STUB
            self._arrow(Path([(x, y + RADIUS), (x, end)]))
            lit = 4.5 if drawing.current in drawing.dead else 2.2
            for sign in (1, -1):
                xs = np.array([-CROSS, CROSS]) + x
                ys = end + 1 + CROSS + sign * np.array([-CROSS, CROSS])
                axes.plot(xs, ys, color=RED, lw=lit * self._unit, solid_capstyle="round")
            self._words(drawing.stubs[state], x, end + 2 * CROSS + 14, upwards=False)

    def _words(self, lines: Any, x: float, y: float, *, upwards: bool) -> None:
        first = y - LINE * (len(lines) - 1) if upwards else y
        for i, line in enumerate(lines):
            self._text(line, x, first + LINE * i, va="baseline")

    def _text(self, words: str, x: float, y: float, **how: Any) -> None:
        look: Any = {"ha": "center", "va": "center_baseline", "family": "monospace", **how}
        size = max(4.0, FONT * self._unit)
        self._axes.text(x, y, fitted(words, 60), fontsize=size, zorder=4, **look)
