"""A world as a picture: its map, or the graph of its states if it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from taskalgebra.arrays import Array, BoolArray, Image, LongArray
from taskalgebra.drawing import html
from taskalgebra.drawing.board import DESIRED, Map, World, on_cells
from taskalgebra.drawing.graphs import Graph
from taskalgebra.drawing.svg import WIDTH, graph_svg, map_svg

if TYPE_CHECKING:
    from taskalgebra.drawing.plots.paper import Axes

MOST_IN_PAGE = 60
"""States of a graph in a notebook, which is shown unasked."""
MOST_SOLVED = 20_000
"""States of a world whose values are shown unasked."""
MOST_TASKS = 8


def blank(mdp: World, title: str, desired: BoolArray | None = None) -> Map:
    """The map of a world without a task, or with the goals that one desires."""
    assert mdp.cells is not None
    live = on_cells(mdp)
    marked = np.zeros(mdp.goals.size, np.bool_) if desired is None else desired
    goals = mdp.cells[mdp.goals]
    return Map(title, mdp.cells[live], np.full(live.size, np.nan), (), goals, marked)


def plot(mdp: World, title: str, ax: Axes | None, desired: BoolArray | None = None) -> Axes:
    """A world without values: its map or its graph, with the names of its goals."""
    from taskalgebra.drawing.plots.graphs import plot_graph
    from taskalgebra.drawing.plots.maps import plot_world

    every = np.ones(mdp.goals.size, np.bool_)
    marked = every if desired is None else desired
    if mdp.cells is None:
        return plot_graph(Graph.of(mdp, title, marked), ax)
    return plot_world(blank(mdp, title, marked), mdp.goal_names, ax)


def plot_solved(
    mdp: World,
    title: str,
    values: Array,
    actions: LongArray,
    desired: BoolArray,
    ax: Axes | None,
    *,
    colorbar: bool = True,
) -> Axes:
    """Values and actions of all states, `[S]`, on the map or the graph of their world."""
    from taskalgebra.drawing.plots.graphs import plot_graph

    if mdp.cells is None:
        drawn = Graph.of(mdp, title, desired, values, actions)
        return plot_graph(drawn, ax, colorbar=colorbar)
    return plot_map(Map.of(mdp, title, values, actions, desired), ax, colorbar=colorbar)


def plot_map(drawn: Map, ax: Axes | None, *, colorbar: bool = True) -> Axes:
    """A solved task on its map."""
    from taskalgebra.drawing.plots.maps import plot_map as plot

    return plot(drawn, ax, colorbar=colorbar)


def plot_image(image: Image, title: str, ax: Axes | None) -> Axes:
    """What a world looks like, as it renders itself."""
    from taskalgebra.drawing.plots.images import plot_image as plot

    return plot(image, title, ax)


def checked_image(shown: object, name: str) -> Image:
    """What a world rendered, if it is an image.

    Raises:
        TypeError: it is none.
    """
    found = np.asarray(shown)
    if found.ndim != 3 or found.shape[2] not in (3, 4) or found.dtype != np.uint8:
        raise TypeError(
            f"{name} rendered {type(shown).__name__}, expected an image of bytes, [H, W, 3]; an "
            f'environment with render_mode="rgb_array" can be drawn'
        )
    return found


def picture(mdp: World, title: str, desired: BoolArray | None = None, width: int = WIDTH) -> str:
    """The same as SVG; "" if the world has no map and too many states."""
    if mdp.cells is not None:
        return map_svg(blank(mdp, title, desired), mdp.goal_names, width=width)
    if mdp.is_goal.size > MOST_IN_PAGE:
        return ""
    marked = np.zeros(mdp.goals.size, np.bool_) if desired is None else desired
    return graph_svg(Graph.of(mdp, title, marked), width=width)


def solved(
    mdp: World,
    title: str,
    values: Array,
    actions: LongArray,
    desired: BoolArray,
    *,
    signs: Sequence[str] = (),
    width: int = WIDTH,
) -> str:
    """Values and actions as SVG, with signs of goals, `[G]`, in place of what is desired."""
    if mdp.cells is not None:
        drawn = Map.of(mdp, title, values, actions, desired)
        drawn = drawn.signed(signs, "") if signs else drawn
        return map_svg(drawn, mdp.goal_names, width=width)
    if mdp.is_goal.size > MOST_IN_PAGE:
        return ""
    marked = np.array(signs) == DESIRED if signs else desired
    return graph_svg(Graph.of(mdp, title, marked, values, actions), width=width)


def tasks(desired: Mapping[str, BoolArray], goal_names: Sequence[str]) -> str:
    """Named tasks and the goals that they desire, `[G]`, as a table."""
    lines = [
        [html.code(name, 60), html.names([n for n, d in zip(goal_names, one, strict=True) if d], 6)]
        for name, one in list(desired.items())[:MOST_TASKS]
    ]
    if not lines:
        return ""
    more = len(desired) - len(lines)
    rest = html.soft(f"and {more:,} more tasks") if more else ""
    return html.rows(lines, ["task", "desired goals"]) + rest
