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

from taskalgebra.logic.layout import Box, Line, layout

_RADIUS = 17.0
_LINE = 15.0  # of text
_CHARACTER = 7.0
_LOOP = 26.0  # above a state
_STUB = 22.0  # from a state down to the sign of a dead one
_CROSS = 5.0
_MARGIN = 12.0
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


def picture(
    title: str,
    edges: Sequence[Edge],
    accepting: Sequence[bool],
    dead: Sequence[bool],
    current: int | None = None,
) -> str:
    """The SVG of an automaton that starts in state 0.

    A dead state is a red cross below every state from which it can be entered.  Loops that are the
    only edge of a state are left out.

    Args:
        title: For tooltips and screen readers.
        edges: Every edge with its guard.
        accepting: Whether each state accepts.
        dead: Whether each state is dead.
        current: The state to highlight.
    """
    drawing = _Drawing(edges, accepting, dead, current)
    return drawing.svg(title)


class _Drawing:
    def __init__(
        self,
        edges: Sequence[Edge],
        accepting: Sequence[bool],
        dead: Sequence[bool],
        current: int | None,
    ) -> None:
        self._accepting, self._current = accepting, current
        self._dead = [state for state, flag in enumerate(dead) if flag]
        self._shown = [state for state, flag in enumerate(dead) if not flag or state == 0]
        sources = [edge.source for edge in edges]
        self._loops = {
            e.source: _lines(e.guard)
            for e in edges
            if e.source == e.target and sources.count(e.source) > 1
        }
        self._stubs = {
            e.source: _lines(e.guard) for e in edges if dead[e.target] and e.source != e.target
        }
        self._edges = [e for e in edges if e.source != e.target and not dead[e.target]]
        place = {state: i for i, state in enumerate(self._shown)}
        self._layout = layout(
            [self._box(state) for state in self._shown],
            [(place[e.source], place[e.target]) for e in self._edges],
            [_label_box(_lines(e.guard)) for e in self._edges],
        )

    def _box(self, state: int) -> Box:
        loop, stub = self._loops.get(state, []), self._stubs.get(state, [])
        width = max([2 * _RADIUS + 6, *(_width(line) for line in (*loop, *stub))])
        above = _RADIUS + (_LOOP + _LINE * len(loop) if loop else 4)
        below = _RADIUS + (_STUB + 2 * _CROSS + 4 + _LINE * len(stub) if stub else 4)
        return Box(width, above, below)

    def svg(self, title: str) -> str:
        found = self._layout
        start = found.columns[0][0] - found.nodes[0][0] + _RADIUS  # the arrow to the start
        room = max(0.0, 30 + start)
        width = found.width + room + 2 * _MARGIN
        height = found.height + 2 * _MARGIN
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="automaton" role="img" '
            f'width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{-room - _MARGIN:.1f} {-_MARGIN:.1f} {width:.1f} {height:.1f}">',
            f"<title>{_text(title)}</title><style>{_STYLE}</style>",
        ]
        for edge, line in zip(self._edges, found.lines, strict=True):
            parts.append(self._edge(edge, line))
        for state, (x, y) in zip(self._shown, found.nodes, strict=True):
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
            tip = x - _RADIUS - 1
            parts.append(
                f'<g class="edge start"><path d="M{tip - 26:.1f} {y:.1f}h20"/>'
                f"{_head(tip, y, 0)}</g>"
            )
        if state in self._loops:
            dx, dy = _RADIUS * sin(radians(28)), _RADIUS * cos(radians(28))
            path = (
                f"M{x - dx:.1f} {y - dy:.1f}"
                f"C{x - 22:.1f} {y - dy - 30:.1f} {x + 22:.1f} {y - dy - 30:.1f} "
                f"{x + dx:.1f} {y - dy:.1f}"
            )
            label = _written(self._loops[state], x, y - _RADIUS - _LOOP + 2, upwards=True)
            head = _head(x + dx, y - dy, degrees(atan2(30, dx - 22)))
            parts.append(_edge(Edge(state, state, ""), path, head, label))
        if state in self._stubs:
            end = y + _RADIUS + _STUB
            path = f"M{x:.1f} {y + _RADIUS:.1f}V{end - 6:.1f}"
            at = end + 2 * _CROSS + 4
            label = _written(self._stubs[state], x, at + 10, upwards=False)
            dead = self._dead[0]
            parts.append(_edge(Edge(state, dead, ""), path, _head(x, end - 1, 90), label))
            cross = f"M{x - _CROSS:.1f} {end + 1:.1f}l10 10m0-10l-10 10"
            kind = "state dead current" if self._current == dead else "state dead"
            parts.append(
                f'<g class="{kind}" data-state="{dead}"><title>state {dead}: dead</title>'
                f'<path d="{cross}"/></g>'
            )
        return parts

    def _state(self, state: int, x: float, y: float) -> str:
        accepts = self._accepting[state]
        kind = " ".join(
            word
            for word, given in (
                ("state", True),
                ("accepting", accepts),
                ("dead", state in self._dead),
                ("current", state == self._current),
            )
            if given
        )
        inner = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS - 3.5:.1f}"/>' if accepts else ""
        return (
            f'<g class="{kind}" data-state="{state}"><title>state {state}'
            f"{': accepting' * accepts}</title>"
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS:.1f}"/>{inner}'
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
    return x + way * (_RADIUS + 1) * cos(angle), y + (_RADIUS + 1) * sin(angle)


def _label_box(lines: Sequence[str]) -> Box:
    return Box(max(_width(line) for line in lines) + 8, _LINE * len(lines) + 4, 4)


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
    first = y - _LINE * (len(lines) - 1) if upwards else y
    return "".join(
        f'<text x="{x:.1f}" y="{first + _LINE * i:.1f}">{_text(line)}</text>'
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
