"""Small worlds without a map, as graphs of their states."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps, rcParams
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.patches import FancyArrowPatch

from taskalgebra.drawing.colours import ORANGE
from taskalgebra.drawing.graphs import Graph
from taskalgebra.drawing.plots.maps import GREY, SIDE, scale
from taskalgebra.drawing.plots.paper import axes_of, bar, bare, fitted, room

MOST_HEADS = 400  # edges with a head


def plot_graph(graph: Graph, ax: Axes | None, *, colorbar: bool = True) -> Axes:
    """States as discs, moves as arrows, goals as diamonds, and values as colours."""
    low, high = graph.places.min(axis=0) - 0.7, graph.places.max(axis=0) + 0.7
    wide, down = (high - low).tolist()
    height = min(max(SIDE * down / wide, 1.6), 1.6 * SIDE)
    axes = axes_of(ax, (1.4 * SIDE + 1.2 * (graph.values is not None), height + 0.8))
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal")
    bare(axes)
    size = min(26.0, 0.5 * room(axes, max(1, round(wide)), max(1, round(down))))
    _draw_edges(axes, graph, size)
    shown = _draw_states(axes, graph, size)
    axes.set_title(fitted(graph.title, 60))
    if graph.values is not None:
        axes.set_xlabel("◆ desired   ◇ not desired", color=GREY, fontsize="small")
        figure = axes.get_figure()
        if colorbar and figure is not None:
            bar(figure, shown, axes, "value")
    return axes


def _draw_edges(axes: Axes, graph: Graph, size: float) -> None:
    ink = rcParams["text.color"]
    pairs = {(u, v) for u, v in graph.edges.tolist()}
    if len(pairs) > MOST_HEADS:
        lines = graph.places[graph.edges]
        axes.add_collection(LineCollection(list(lines), colors=GREY, linewidths=0.5, alpha=0.5))
        pairs = set()
    for (u, v), chosen in zip(graph.edges.tolist(), graph.chosen.tolist(), strict=True):
        if not (chosen or (u, v) in pairs):
            continue
        look: Any = {"color": GREY, "lw": 0.8, "alpha": 0.7}
        if chosen:
            look = {"color": ink, "lw": 1.8}
        axes.add_patch(
            FancyArrowPatch(
                tuple(graph.places[u]),
                tuple(graph.places[v]),
                arrowstyle="-|>",
                mutation_scale=5 + 0.3 * size,
                shrinkA=size / 2,
                shrinkB=size / 2 + 1,
                connectionstyle="arc3,rad=0.18" if (v, u) in pairs else "arc3",
                zorder=2 if chosen else 1,
                **look,
            )
        )


def _draw_states(axes: Axes, graph: Graph, size: float) -> ScalarMappable:
    """Discs and diamonds, with what is written in them."""
    n = len(graph.places)
    known = np.full(n, np.nan) if graph.values is None else graph.values
    known = np.where(np.isfinite(known), known, np.nan)
    live = np.setdiff1d(np.arange(n), graph.goals)
    shown = ScalarMappable(scale(known[live]), colormaps[rcParams["image.cmap"]])
    dark = np.zeros(n, np.bool_)
    for state in live:
        fill: Any = "#DDDDDD"
        if np.isfinite(known[state]):
            fill = shown.to_rgba(known[state])
            dark[state] = np.dot(fill[:3], (0.3, 0.59, 0.11)) < 0.45
        axes.plot(*graph.places[state], "o", ms=size, mfc=fill, mec=GREY, mew=0.8)
    for state, desired in zip(graph.goals.tolist(), graph.desired.tolist(), strict=True):
        fill = ORANGE if desired else rcParams["axes.facecolor"]
        axes.plot(*graph.places[state], "D", ms=0.75 * size, mfc=fill, mec=GREY, mew=1.2)
    for state, label in enumerate(graph.labels):
        if state in graph.goals:
            below = (0, -0.62 * size - 2)
            axes.annotate(
                fitted(label, 24),
                tuple(graph.places[state]),
                below,
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize="small",
            )
        elif label and size > 11:
            ink = "white" if dark[state] else "#222222"
            x, y = graph.places[state]
            axes.text(x, y, label, ha="center", va="center", fontsize=0.36 * size, color=ink)
    return shown
