"""Where plots are drawn: on what the caller gives, or on a new sheet."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes as Axes
from matplotlib.figure import Figure as Figure
from matplotlib.figure import FigureBase as FigureBase
from matplotlib.figure import SubFigure as SubFigure
from numpy.typing import NDArray

Panels = NDArray[Any]
"""The Axes of the panels of a figure."""
POINTS = 72  # an inch


def axes_of(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes that are given, or those of a new figure of this size, in inches."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.figure(figsize=size, layout="constrained").add_subplot()
    if not isinstance(ax, Axes):
        raise TypeError(
            f"ax must be the Axes of matplotlib to draw on, such as plt.subplots()[1], got {ax!r}"
        )
    return ax


def figure_of(figure: Figure | SubFigure | None, size: tuple[float, float]) -> FigureBase:
    """The figure or subfigure that is given, or a new figure of this size, in inches."""
    if figure is None:
        from matplotlib import pyplot

        return pyplot.figure(figsize=size, layout="constrained")
    if not isinstance(figure, FigureBase):
        raise TypeError(
            f"figure must be a Figure or a SubFigure of matplotlib to draw on, got {figure!r}"
        )
    return figure


def room(axes: Axes, columns: int, rows: int) -> float:
    """About how many points one of so many squares has in the axes."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    box = axes.get_window_extent()
    points = POINTS / figure.dpi
    return float(min(box.width / columns, box.height / rows) * points)


def bare(axes: Axes) -> None:
    """Remove ticks and frame."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def bar(figure: FigureBase, image: Any, axes: Any, label: str, **size: Any) -> None:
    """The scale of the values, without a frame."""
    how: Any = {"fraction": 0.045, "pad": 0.02, **size}
    scale = figure.colorbar(image, ax=axes, **how)
    scale.set_label(label)
    scale.outline.set_visible(False)


def fitted(text: str, most: int) -> str:
    """A text of at most so many characters, in which $ is no mathematics."""
    short = text if len(text) <= most else text[: most - 1] + "…"
    return short.replace("$", r"\$")
