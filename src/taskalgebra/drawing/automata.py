"""An automaton as a picture in SVG.

The picture is a text that needs nothing else.  It takes the colour of the text around it; shown
alone, it follows the colour scheme of the reader.  All parts have classes, and a state carries its
number as `data-state`, so a page can restyle them and move the class `current`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from math import atan2, cos, degrees, radians, sin
from typing import NamedTuple
from xml.sax.saxutils import escape

from taskalgebra.drawing.layered import Box, Line, layout

RADIUS = 17.0
LINE = 15.0  # of text
_CHARACTER = 7.0
LOOP = 26.0  # above a state
STUB = 22.0  # from a state down to the sign of a dead one
CROSS = 5.0
MARGIN = 12.0
_MOST_COLUMNS, _MOST_LINES = 38, 5

_STYLE = """
.automaton{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.automaton text{fill:currentColor;text-anchor:middle}
.automaton .edge path{fill:none;stroke:currentColor;stroke-opacity:.6;stroke-width:1.3}
.automaton .edge .head{fill:currentColor;fill-opacity:.8;stroke:none}
.automaton .state circle{fill:none;stroke:currentColor;stroke-width:1.5}
.automaton .state text{font-weight:600}
.automaton .accepting circle{stroke:#1a9850}
.automaton .dead circle{stroke:#d73027}
.automaton .dead path{fill:none;stroke:#d73027;stroke-width:2.2;stroke-linecap:round}
.automaton .current circle{fill:#f5a623;fill-opacity:.45}
.automaton .current.dead path{stroke-width:4.5}
svg.automaton:root{color:#1b1f24;background:#fff}
@media(prefers-color-scheme:dark){svg.automaton:root{color:#e6edf3;background:#0d1117}}
"""


class Edge(NamedTuple):
    """An edge of the drawing."""

    source: int
    target: int
    guard: str


class Drawing:
    """Where the parts of an automaton that starts in state 0 stand, and what is written beside.

    A dead state is a red cross below every state from which it can be entered.  Loops that are the
    only edge of a state are left out.

    Args:
        edges: Every edge with its guard.
        accepting: Whether each state accepts.
        dead: Whether each state is dead.
        current: The state to highlight.
    """

    def __init__(
        self,
        edges: Sequence[Edge],
        accepting: Sequence[bool],
        dead: Sequence[bool],
        current: int | None = None,
    ) -> None:
        """Lay out what is shown: every state but the dead one, which is drawn below others."""
        self.accepting, self.current = accepting, current
        self.dead = [state for state, flag in enumerate(dead) if flag]
        self.shown = [state for state, flag in enumerate(dead) if not flag or state == 0]
        sources = [edge.source for edge in edges]
        self.loops = {
            e.source: _lines(e.guard)
            for e in edges
            if e.source == e.target and sources.count(e.source) > 1
        }
        self.stubs = {
            e.source: _lines(e.guard) for e in edges if dead[e.target] and e.source != e.target
        }
        self.edges = [e for e in edges if e.source != e.target and not dead[e.target]]
        place = {state: i for i, state in enumerate(self.shown)}
        self.layout = layout(
            [self._box(state) for state in self.shown],
            [(place[e.source], place[e.target]) for e in self.edges],
            [_label_box(_lines(e.guard)) for e in self.edges],
        )

    def _box(self, state: int) -> Box:
        loop, stub = self.loops.get(state, []), self.stubs.get(state, [])
        width = max([2 * RADIUS + 6, *(_width(line) for line in (*loop, *stub))])
        above = RADIUS + (LOOP + LINE * len(loop) if loop else 4)
        below = RADIUS + (STUB + 2 * CROSS + 4 + LINE * len(stub) if stub else 4)
        return Box(width, above, below)

    @property
    def corner(self) -> tuple[float, float]:
        """The smallest x and y."""
        found = self.layout
        start = found.columns[0][0] - found.nodes[0][0] + RADIUS  # the arrow to the start
        return -max(0.0, 30 + start) - MARGIN, -MARGIN

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        left, _ = self.corner
        return self.layout.width - left + MARGIN, self.layout.height + 2 * MARGIN

    def lines_of(self, edge: Edge) -> list[str]:
        """What is written on an edge."""
        return _lines(edge.guard)

    def svg(self, title: str) -> str:
        """The text of an SVG file."""
        found, (left, top), (width, height) = self.layout, self.corner, self.size
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="automaton" role="img" '
            f'width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}">',
            f"<title>{_text(title)}</title><style>{_STYLE}</style>",
        ]
        for edge, line in zip(self.edges, found.lines, strict=True):
            parts.append(self._edge(edge, line))
        for state, (x, y) in zip(self.shown, found.nodes, strict=True):
            parts += self._around(state, x, y)
            parts.append(self._state(state, x, y))
        return "\n".join([*parts, "</svg>"])

    def _edge(self, edge: Edge, line: Line) -> str:
        """A line through the columns, curved between them, with its label."""
        path, head = _path(line.stops)
        x, y = line.label
        return _edge(edge, path, head, _written(_lines(edge.guard), x, y - 5, upwards=True))

    def _around(self, state: int, x: float, y: float) -> list[str]:
        """The loop above a state, the dead state below it, and the arrow to the start."""
        parts = []
        if state == 0:
            tip = x - RADIUS - 1
            parts.append(
                f'<g class="edge start"><path d="M{tip - 26:.1f} {y:.1f}h20"/>'
                f"{_head(tip, y, 0)}</g>"
            )
        if state in self.loops:
            dx, dy = RADIUS * sin(radians(28)), RADIUS * cos(radians(28))
            path = (
                f"M{x - dx:.1f} {y - dy:.1f}"
                f"C{x - 22:.1f} {y - dy - 30:.1f} {x + 22:.1f} {y - dy - 30:.1f} "
                f"{x + dx:.1f} {y - dy:.1f}"
            )
            label = _written(self.loops[state], x, y - RADIUS - LOOP + 2, upwards=True)
            head = _head(x + dx, y - dy, degrees(atan2(30, dx - 22)))
            parts.append(_edge(Edge(state, state, ""), path, head, label))
        if state in self.stubs:
            end = y + RADIUS + STUB
            path = f"M{x:.1f} {y + RADIUS:.1f}V{end - 6:.1f}"
            at = end + 2 * CROSS + 4
            label = _written(self.stubs[state], x, at + 10, upwards=False)
            dead = self.dead[0]
            parts.append(_edge(Edge(state, dead, ""), path, _head(x, end - 1, 90), label))
            cross = f"M{x - CROSS:.1f} {end + 1:.1f}l10 10m0-10l-10 10"
            kind = "state dead current" if self.current == dead else "state dead"
            parts.append(
                f'<g class="{kind}" data-state="{dead}"><title>state {dead}: dead</title>'
                f'<path d="{cross}"/></g>'
            )
        return parts

    def _state(self, state: int, x: float, y: float) -> str:
        accepts = self.accepting[state]
        kind = " ".join(
            word
            for word, given in (
                ("state", True),
                ("accepting", accepts),
                ("dead", state in self.dead),
                ("current", state == self.current),
            )
            if given
        )
        inner = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS - 3.5:.1f}"/>' if accepts else ""
        return (
            f'<g class="{kind}" data-state="{state}"><title>state {state}'
            f"{': accepting' * accepts}</title>"
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:.1f}"/>{inner}'
            f'<text x="{x:.1f}" y="{y + 4:.1f}">{state}</text></g>'
        )


def _edge(edge: Edge, path: str, head: str, label: str) -> str:
    return (
        f'<g class="edge" data-from="{edge.source}" data-to="{edge.target}">'
        f'<path d="{path}"/>{head}{label}</g>'
    )


def _head(x: float, y: float, angle: float) -> str:
    """The head of an arrow, with its tip at (x, y)."""
    place = f"translate({x:.1f} {y:.1f}) rotate({angle:.0f})"
    return f'<path class="head" transform="{place}" d="M0 0-8-3.2V3.2z"/>'


def _path(stops: Sequence[tuple[float, float, float]]) -> tuple[str, str]:
    """A smooth line from the edge of one circle to that of another, and its head."""
    (in_0, out_0, y_0), (in_1, out_1, y_1) = stops[0], stops[-1]
    way = 1.0 if out_0 > in_0 else -1.0
    first = _on_circle((in_0 + out_0) / 2, y_0, way, stops[1][2] - y_0)
    last = _on_circle((in_1 + out_1) / 2, y_1, -way, stops[-2][2] - y_1)
    path = f"M{first[0]:.1f} {first[1]:.1f}"
    x, y = out_0, first[1]
    path += f"H{x:.1f}"
    for enter, leave, height in [*stops[1:-1], (in_1, last[0] - 5 * way, last[1])]:
        middle = (x + enter) / 2
        path += f"C{middle:.1f} {y:.1f} {middle:.1f} {height:.1f} {enter:.1f} {height:.1f}"
        path += f"H{leave:.1f}"
        x, y = leave, height
    return path, _head(*last, 0 if way > 0 else 180)


def _on_circle(x: float, y: float, way: float, rise: float) -> tuple[float, float]:
    """A point on the circle around (x, y), towards something that is higher or lower."""
    angle = max(-0.7, min(0.7, atan2(rise, 120)))
    return x + way * (RADIUS + 1) * cos(angle), y + (RADIUS + 1) * sin(angle)


def _label_box(lines: Sequence[str]) -> Box:
    return Box(max(_width(line) for line in lines) + 8, LINE * len(lines) + 4, 4)


def _width(text: str) -> float:
    """About the width of a text, in a font of fixed width."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return _CHARACTER * (len(text) + wide)


def _lines(guard: str) -> list[str]:
    """A guard in a few lines, broken after | if that suffices, else after any operator."""
    lines = _filled(re.findall(r".+?(?: \| |$)", guard, re.DOTALL))
    if max(map(len, lines)) > _MOST_COLUMNS:
        lines = _filled(re.findall(r"\S+\s*", guard))
    lines = [
        line if len(line) <= _MOST_COLUMNS + 8 else line[: _MOST_COLUMNS + 7] + "…"
        for line in lines
    ]
    return lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "…"]


def _filled(parts: Sequence[str]) -> list[str]:
    """Parts of a text in lines, as many in a line as there is room for."""
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > _MOST_COLUMNS:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


def _written(lines: Sequence[str], x: float, y: float, *, upwards: bool) -> str:
    """Lines of text, the last one at y if they go upwards, else the first one."""
    first = y - LINE * (len(lines) - 1) if upwards else y
    return "".join(
        f'<text x="{x:.1f}" y="{first + LINE * i:.1f}">{_text(line)}</text>'
        for i, line in enumerate(lines)
    )


def _text(text: str) -> str:
    """Text for XML, which has no control characters and no halves of pairs."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in text))


def listing(
    title: str, edges: Sequence[Edge], accepting: Sequence[bool], dead: Sequence[bool]
) -> str:
    """An automaton for a terminal: a block for each state, a line for each edge.

    The start has an arrow.  Loops that are the only edge of a state are left out.
    """
    marks = [
        " accepting" if accepts else " dead" if ends else ""
        for accepts, ends in zip(accepting, dead, strict=True)
    ]
    wide = max(len(edge.guard) for edge in edges)
    deep = max(len(f"{state}{mark}") for state, mark in enumerate(marks))
    lines = [title]
    for state, mark in enumerate(marks):
        here = [edge for edge in edges if edge.source == state]
        head = f"{'→' if state == 0 else ' '} {f'{state}{mark}':{deep}}"
        if len(here) == 1 and here[0].target == state:
            lines.append(head.rstrip())
        for k, edge in enumerate(here if len(here) > 1 or here[0].target != state else []):
            left = head if k == 0 else " " * len(head)
            lines.append(f"{left}  {edge.guard:{wide}} → {edge.target}{marks[edge.target]}")
    return "\n".join(lines)
