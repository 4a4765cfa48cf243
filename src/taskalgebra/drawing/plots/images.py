"""Images that worlds render themselves."""

from __future__ import annotations

from matplotlib.axes import Axes

from taskalgebra.arrays import Image
from taskalgebra.drawing.plots.maps import SIDE
from taskalgebra.drawing.plots.paper import axes_of, bare, fitted


def plot_image(image: Image, title: str, ax: Axes | None) -> Axes:
    """An image with its title."""
    height, width = image.shape[:2]
    longest = max(height, width)
    axes = axes_of(ax, (SIDE * width / longest, SIDE * height / longest + 0.4))
    axes.imshow(image, interpolation="nearest" if longest < 200 else "antialiased")
    bare(axes)
    axes.set_title(fitted(title, 60))
    return axes
