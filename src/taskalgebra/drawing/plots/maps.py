"""Values and arrows on the map of a world."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.image import AxesImage
from matplotlib.patheffects import Normal, Stroke
from numpy.typing import NDArray

from taskalgebra.drawing.board import Map
from taskalgebra.drawing.colours import ORANGE
from taskalgebra.drawing.plots.paper import axes_of, bar, bare, fitted, room

GREY, WALL, FLOOR = "#777777", "#3A3A3A", "#F3F2EE"
UNKNOWN = "#8C8C8C"  # a free cell without a value
MOVES = {"up": (0, -1), "right": (1, 0), "down": (0, 1), "left": (-1, 0)}
STAY = "stay"
LETTER: Any = {"ha": "center", "va": "center", "color": "white", "weight": "bold", "zorder": 3}
ARROW: Any = {"angles": "xy", "scale_units": "xy", "scale": 1, "color": "white"}
EDGE: Any = {"edgecolor": "black", "linewidth": 0.25}
HEAD: Any = {"headwidth": 3.2, "headlength": 2.8, "headaxislength": 2.5}
CELLS = 13  # across the Four Rooms, for which arrows have their usual size
SIDE = 4.2  # inches
MOST_NAMED, MOST_WRITTEN = 16, 128  # goals with names on the map; of more, characters of them all
LEAST_FONT = 3.5  # points


def plot_map(task: Map, ax: Axes | None, *, colorbar: bool = True) -> Axes:
    """A solved task, with its title and what its signs mean."""
    rows, columns = task.size
    side = SIDE / max(rows, columns)
    axes = axes_of(ax, (columns * side + 1.2 * colorbar, rows * side + 0.8))
    image = draw_map(axes, task, diamond=diamond_for(axes, task))
    axes.set_title(fitted(task.title, 46))
    axes.set_xlabel(explained(task), color=GREY, fontsize="small")
    if colorbar and np.isfinite(task.values).any():
        figure = axes.get_figure()
        assert figure is not None
        bar(figure, image, axes, "value")
    return axes


def explained(task: Map) -> str:
    """What signs and grey cells mean, and the note."""
    grey = "" if np.isfinite(task.values).all() else "grey: no way from there"
    return "\n".join(filter(None, ["   ".join(filter(None, [task.signs, grey])), task.note]))


def plot_world(world: Map, names: tuple[str, ...], ax: Axes | None) -> Axes:
    """The map of a world without values: walls, floor, and its goals with their names, `[G]`."""
    rows, columns = world.size
    side = SIDE / max(rows, columns)
    axes = axes_of(ax, (columns * side + 0.2, rows * side + 0.6))
    draw_floor(axes, world, np.concatenate((world.cells, world.goals)), FLOOR)
    cell = room(axes, columns, rows)
    if world.with_arrows:
        how: Any = {"color": "black", "alpha": 0.12, "lw": min(0.6, 0.06 * cell), "zorder": 1.5}
        axes.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, **how)
        axes.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, **how)
    draw_goals(axes, world, 0.5 * cell, other="#222222")
    if len(names) <= MOST_NAMED or len("".join(names)) <= MOST_WRITTEN:
        _write(axes, world, names, cell)
    axes.set_title(fitted(world.title, 60))
    return axes


def _write(axes: Axes, world: Map, names: tuple[str, ...], cell: float) -> None:
    """The names of goals, smaller where goals lie close together, on cells of so many points."""
    columns = world.size[1]
    font = min(
        FontProperties(size="small" if len(names) < 8 else "x-small").get_size_in_points(),
        max(LEAST_FONT, 0.36 * cell * _nearest(world.goals)),
    )
    y, x = (world.goals - world.corner).T
    for name, across, down in zip(names, x, y, strict=True):
        left, right = across < columns / 6, across > columns * 5 / 6
        axes.annotate(
            fitted(name, 24),
            (across, down),
            (0, -0.45 * cell - 2),
            textcoords="offset points",
            ha="left" if left else "right" if right else "center",
            va="top",
            fontsize=font,
            color="#222222",
            bbox={"boxstyle": "round,pad=0.15", "fc": FLOOR, "ec": "none", "alpha": 0.85},
            zorder=4,
        )


def _nearest(cells: NDArray[np.int64]) -> float:
    """How far the two cells that are nearest to each other are apart; ∞ if there is only one."""
    apart = np.linalg.norm(cells[:, None] - cells[None], axis=2)
    return float(apart[apart > 0].min(initial=np.inf))


def draw_map(
    axes: Axes,
    task: Map,
    *,
    norm: Normalize | None = None,
    diamond: float = 9.0,
    arrows: bool = True,
    cmap: Any = None,
) -> AxesImage:
    """Values, arrows and goals, drawn as diamonds of this size; returns the coloured image."""
    rows, columns = (task.cells - task.corner).T
    known = np.where(np.isfinite(task.values), task.values, np.nan)
    image = draw_values(axes, rows, columns, known, norm or scale(known), cmap, task.size)
    if task.unknown.size:
        draw_floor(axes, task, task.unknown, UNKNOWN).set_zorder(image.get_zorder() - 1)
    across = max(task.size)
    if arrows and task.with_arrows:
        moving = task.moving
        actions, letters = np.array(task.actions)[moving], np.array(task.letters)[moving]
        drawn: Any = {"size": CELLS / across, "thick": CELLS / task.size[1]}
        draw_actions(axes, rows[moving], columns[moving], actions, letters, **drawn)
    draw_goals(axes, task, diamond * min(1.0, CELLS / across))
    return image


def diamond_for(axes: Axes, task: Map) -> float:
    """The size of diamonds on a map of as many cells as Four Rooms, for this map in its axes."""
    rows, columns = task.size
    size = max(3.0, 0.55 * room(axes, columns, rows))
    return size / min(1.0, CELLS / max(rows, columns))


def draw_goals(axes: Axes, task: Map, size: float, *, other: str = "white") -> None:
    """A filled diamond for a desired goal, an outline for any other, × where it violates."""
    at = task.goals - task.corner
    crossed = np.zeros(len(at), np.bool_) if task.crossed is None else task.crossed
    for desired, fill, edge in ((True, ORANGE, "black"), (False, "none", other)):
        y, x = at[(task.desired == desired) & ~crossed].T
        axes.plot(x, y, "D", ms=size, mfc=fill, mec=edge, mew=1.2, ls="", zorder=5)
    y, x = at[crossed].T
    axes.plot(x, y, "x", ms=size, mec=other, mew=1.8, ls="")
    bare(axes)


def draw_ring(axes: Axes, task: Map, goal: int, size: float) -> None:
    """A ring around one goal, whose diamond was drawn with this size; seen on light and dark."""
    y, x = task.goals[goal] - task.corner
    around = 2.1 * size * min(1.0, CELLS / max(task.size))
    for width, edge in ((2.6, "black"), (1.2, "white")):
        axes.plot([x], [y], "o", ms=around, mfc="none", mec=edge, mew=width, ls="", zorder=6)


def draw_floor(axes: Axes, task: Map, cells: NDArray[np.int64], colour: str) -> AxesImage:
    """Cells in one colour, `[N, 2]`; the others are walls, or what is drawn there otherwise."""
    y, x = (cells - task.corner).T
    one = ListedColormap([colour])
    return draw_values(axes, y, x, np.zeros(len(y)), Normalize(0, 1), one, task.size)


def draw_values(
    axes: Axes,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
    norm: Normalize,
    cmap: Any = None,
    size: tuple[int, int] | None = None,
) -> AxesImage:
    """Colour the cells that have a value; the others, and a border, are walls."""
    picture = np.full(size or (rows.max() + 2, columns.max() + 2), np.nan)
    picture[rows, columns] = values
    axes.set_facecolor(WALL)
    colours = mpl.rcParams["image.cmap"] if cmap is None else cmap
    image = axes.imshow(picture, cmap=colours, norm=norm, interpolation="nearest")
    bare(axes)
    return image


def draw_actions(
    axes: Axes,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    actions: NDArray[Any],
    letters: NDArray[Any] | None = None,
    *,
    size: float = 1.0,
    thick: float | None = None,
) -> None:
    """An arrow for a move, a dot for `stay`, letters for any other action: by default its first.

    Large maps need a smaller size; arrows are as thick as `thick`, a share of the map's width.
    """
    names = np.array([str(action) for action in actions], np.str_)
    moves = np.array([MOVES.get(name, (0, 0)) for name in names]).reshape(-1, 2)
    moving = moves.any(axis=1)
    dx, dy = 0.78 * moves[moving].T
    x, y = columns[moving] - dx / 2, rows[moving] - dy / 2
    axes.quiver(x, y, dx, dy, width=0.011 * (thick or size), **ARROW, **HEAD, **EDGE)
    dot: Any = {"ms": 4.5 * size, "mfc": "white", "mec": "black", "mew": 0.6, "ls": ""}
    stays = names == STAY
    axes.plot(columns[stays], rows[stays], "o", **dot)
    for at in np.flatnonzero(~moving & ~stays):
        shown = names[at][:1].upper() if letters is None else str(letters[at])
        font = (11 if len(shown) < 2 else 8) * size
        letter = axes.text(columns[at], rows[at], shown, fontsize=font, **LETTER)
        letter.set_path_effects([Stroke(linewidth=0.9 * size, foreground="black"), Normal()])


def scale(values: NDArray[np.float64]) -> Normalize:
    """From the least to the largest value that is known."""
    known = values[np.isfinite(values)]
    return Normalize(known.min(), known.max()) if known.size else Normalize(0.0, 1.0)


def large(
    task: Map, path: NDArray[np.int64] | None = None, norm: Normalize | None = None
) -> Figure:
    """One task on a sheet of its own, for a file; and the path of an episode, `[N, 2]`."""
    rows, columns = task.size
    side = 5.2 / max(rows, columns)
    figure = Figure(figsize=(columns * side + 1.2, rows * side + 0.9), layout="constrained")
    axes = figure.add_subplot()
    image = draw_map(axes, task, norm=norm)
    if path is not None:
        draw_path(axes, task, path)
    axes.set_title(fitted(task.title, 46))
    axes.set_xlabel(explained(task), color=GREY, fontsize=9)
    bar(figure, image, axes, "value")
    return figure


def draw_path(axes: Axes, task: Map, path: NDArray[np.int64]) -> None:
    """The way of an episode, `[N, 2]`, from its start on."""
    y, x = (path - task.corner).T
    axes.plot(x, y, color="black", lw=5, alpha=0.6, solid_capstyle="round")
    axes.plot(x, y, color=ORANGE, lw=3, solid_capstyle="round")
    axes.plot(x[:1], y[:1], "o", ms=9, mfc=ORANGE, mec="black")
