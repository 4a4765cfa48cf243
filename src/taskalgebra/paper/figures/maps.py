"""Values and arrows on the map of Four Rooms."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from taskalgebra.paper.figures.style import VALUES, WALL, bare

MOVES = {"up": (0, -1), "right": (1, 0), "down": (0, 1), "left": (-1, 0)}
ARROW: Any = {"angles": "xy", "scale_units": "xy", "scale": 1, "color": "white"}
EDGE: Any = {"edgecolor": "black", "linewidth": 0.25}
HEAD: Any = {"headwidth": 3.2, "headlength": 2.8, "headaxislength": 2.5}


def draw_values(
    axes: Axes,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
    norm: Normalize,
) -> AxesImage:
    """Colour the cells that have a value; the others, and a border, are walls."""
    picture = np.full((rows.max() + 2, columns.max() + 2), np.nan)
    picture[rows, columns] = values
    axes.set_facecolor(WALL)
    image = axes.imshow(picture, cmap=VALUES, norm=norm, interpolation="nearest")
    bare(axes)
    return image


def draw_actions(
    axes: Axes,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    actions: NDArray[Any],
    *,
    size: float = 1.0,
) -> None:
    """An arrow for a move, a dot for `stay`.  Wide maps need a smaller size."""
    moves = np.array([MOVES.get(str(action), (0, 0)) for action in actions])
    moving = moves.any(axis=1)
    dx, dy = 0.78 * moves[moving].T
    x, y = columns[moving] - dx / 2, rows[moving] - dy / 2
    axes.quiver(x, y, dx, dy, width=0.011 * size, **ARROW, **HEAD, **EDGE)
    dot: Any = {"ms": 4.5 * size, "mfc": "white", "mec": "black", "mew": 0.6, "ls": ""}
    axes.plot(columns[~moving], rows[~moving], "o", **dot)
