"""Boxman's board in figures: objects, value maps, value surfaces, and paths on a picture."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LightSource, Normalize, to_rgba
from numpy.typing import NDArray

from taskalgebra.paper.figures.style import RED, VALUES, WALL, bare
from taskalgebra.paper.results.record import Table

Floats = NDArray[np.float64]

FILL = {"blue": "#56B4E9", "beige": "#F2E2B8", "purple": "#AA44BE"}  # as in the game
MARKER = {"square": "s", "circle": "o"}
SYMBOLS = {" | ": " OR ", " & ": " AND ", " ^ ": " XOR ", "~": "NOT "}
DETAIL = 6  # points of a surface along a cell


def title_of(task: str) -> str:
    """An expression in the words of the paper."""
    for symbol, word in SYMBOLS.items():
        task = task.replace(symbol, word)
    return task[:1].upper() + task[1:]


def draw_objects(axes: Axes, objects: Table, *, goal: str | None = None, size: float = 4.5) -> None:
    """Every object in its cell; the goal is larger and has a ring."""
    for row in objects.rows():
        colour, shape = row["object"].split()
        scale, edge, width = (1.45, "white", 1.6) if row["object"] == goal else (1, "black", 0.6)
        how: Any = {"ms": size * scale, "mfc": FILL[colour], "mec": edge, "mew": width}
        axes.plot(row["column"], row["row"], MARKER[shape], **how)


def draw_surface(axes: Any, cells: Table, values: Floats, objects: Table, norm: Normalize) -> None:
    """Values as a landscape over the board, smooth between cells, walls dark; axes are 3-D."""
    rows, columns = cells["row"], cells["column"]
    side = int(max(rows.max(), columns.max())) + 2
    grid = np.full((side, side), np.nan)
    grid[rows, columns] = values
    y, x, z = _smooth(grid)
    colours = mpl.colormaps[VALUES](norm(z))[:-1, :-1]
    wall = np.isnan(grid[1:-1, 1:-1]).repeat(DETAIL, axis=0).repeat(DETAIL, axis=1)
    colours[wall] = to_rgba(WALL)
    light = LightSource(azdeg=300, altdeg=50).hillshade(z, vert_exag=1.2, dx=1 / DETAIL)
    colours[..., :3] *= (0.78 + 0.22 * light[:-1, :-1])[..., None]
    smooth = {"rstride": 1, "cstride": 1, "linewidth": 0, "antialiased": False, "shade": False}
    axes.plot_surface(x, y, z, facecolors=colours, rasterized=True, zorder=2, **smooth)
    lowest, highest = float(norm.vmin or 0.0), float(norm.vmax or 1.0)
    for row in objects.rows():
        colour, shape = row["object"].split()
        above = grid[row["row"], row["column"]] + 0.04 * (highest - lowest)
        edge = {"edgecolors": "black", "linewidths": 0.9, "depthshade": False, "zorder": 3}
        how = {"marker": MARKER[shape], "s": 34, "color": FILL[colour], **edge}
        axes.scatter([row["column"]], [row["row"]], [above], **how)
    axes.set_xlim(0.5, side - 1.5)
    axes.set_ylim(side - 1.5, 0.5)
    axes.set_zlim(lowest, highest)
    axes.set_box_aspect((1, 1, 0.4), zoom=0.92)
    axes.view_init(elev=42, azim=-60)
    axes.set_axis_off()


def _smooth(grid: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows, columns and values of points between cell centres.

    Walls take the mean of the cells around them; they are painted over.
    """
    filled = _filled(grid[1:-1, 1:-1])
    n = len(filled)
    at = np.linspace(0.5, n + 0.5, n * DETAIL + 1)
    position = np.clip(at - 1, 0, n - 1)
    first = np.minimum(position.astype(np.int64), n - 2)
    share = position - first
    along = filled[:, first] * (1 - share) + filled[:, first + 1] * share
    z = along[first] * (1 - share)[:, None] + along[first + 1] * share[:, None]
    y, x = np.meshgrid(at, at, indexing="ij")
    return y, x, z


def _filled(values: Floats) -> Floats:
    """Fill every gap with the mean of its neighbours, from its edges inwards."""
    filled = values.copy()
    while np.isnan(filled).any():
        padded = np.pad(filled, 1, constant_values=np.nan)
        upper, lower = padded[:-2, 1:-1], padded[2:, 1:-1]
        around = np.stack([upper, lower, padded[1:-1, :-2], padded[1:-1, 2:]])
        known = ~np.isnan(around)
        count = known.sum(axis=0)
        mean = np.where(known, around, 0).sum(axis=0) / np.maximum(count, 1)
        gaps = np.isnan(filled) & (count > 0)
        filled[gaps] = mean[gaps]
    return filled


def draw_paths(
    axes: Axes,
    picture: NDArray[np.uint8],
    cell: int,
    paths: list[tuple[Floats, Floats, bool]],
    colours: list[str],
) -> None:
    """Paths on the large picture of a board: rows, columns, and whether the end was a success."""
    border = (len(picture) % cell) / 2
    axes.imshow(picture, interpolation="antialiased")
    shifts = np.linspace(-0.12, 0.12, len(paths)) if len(paths) > 1 else np.zeros(1)
    for (rows, columns, success), colour, shift in zip(paths, colours, shifts, strict=True):
        moved = np.concatenate(([True], (np.diff(rows) != 0) | (np.diff(columns) != 0)))
        # Paths along the same cells run side by side.
        y = border + cell * (rows[moved] + 0.5 + shift)
        x = border + cell * (columns[moved] + 0.5 + shift)
        axes.plot(x, y, color="black", lw=4.4, solid_capstyle="round", alpha=0.6)
        axes.plot(x, y, color=colour, lw=2.6, solid_capstyle="round")
        axes.plot(x[0], y[0], "o", ms=8.5, mfc=colour, mec="black", mew=1.0)
        if not success:
            axes.plot(x[-1], y[-1], "X", ms=11, mfc=RED, mec="white", mew=1.0, zorder=5)
        elif len(x) > 1:
            _draw_arrow(axes, x, y, colour)
    axes.set_xlim(-0.5, len(picture) - 0.5)
    axes.set_ylim(len(picture) - 0.5, -0.5)
    bare(axes)


def _draw_arrow(axes: Axes, x: Floats, y: Floats, colour: str) -> None:
    """A head at the end of a path."""
    angle = float(np.degrees(np.arctan2(x[-2] - x[-1], y[-2] - y[-1])))  # 0 is up, 90 is left
    axes.plot(x[-1], y[-1], marker=(3, 0, angle), ms=12, mfc=colour, mec="black", mew=1.0, zorder=4)
