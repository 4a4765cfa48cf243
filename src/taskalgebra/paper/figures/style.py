"""One look for all figures: colours that colour-blind readers tell apart, plain axes, no frames."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from taskalgebra import files
from taskalgebra.drawing.colours import BLUE as BLUE
from taskalgebra.drawing.colours import GREEN as GREEN
from taskalgebra.drawing.colours import ORANGE as ORANGE
from taskalgebra.drawing.colours import PURPLE as PURPLE
from taskalgebra.drawing.colours import RED as RED
from taskalgebra.drawing.colours import SKY as SKY
from taskalgebra.drawing.plots.maps import GREY as GREY
from taskalgebra.drawing.plots.maps import WALL as WALL
from taskalgebra.drawing.plots.paper import bare as bare

P = ParamSpec("P")

INK, LIGHT = "#222222", "#DDDDDD"
VALUES = "viridis"

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.labelsize": 11,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "figure.facecolor": "white",
    "image.cmap": VALUES,
    "savefig.dpi": 150,
    "pdf.fonttype": 42,
    "svg.hashsalt": "taskalgebra",
}


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in the common style, without touching the caller's settings."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn


def new_figure(width: float, height: float, *, w_pad: float = 0.04, h_pad: float = 0.04) -> Figure:
    """An empty figure, in inches, whose parts make room for each other."""
    engine = ConstrainedLayoutEngine(w_pad=w_pad, h_pad=h_pad)
    return Figure(figsize=(width, height), layout=engine)


@final
class Sheet:
    """A figure whose parts are placed in inches from its lower left corner."""

    def __init__(self, width: float, height: float) -> None:
        """An empty sheet."""
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width, height))

    def axes(self, x: float, y: float, across: float, down: float | None = None, **how: Any) -> Any:
        """Axes in a box, which is a square unless its height is given."""
        down = across if down is None else down
        box = (x / self.width, y / self.height, across / self.width, down / self.height)
        return self.figure.add_axes(box, **how)

    def text(self, x: float, y: float, words: str, **how: Any) -> None:
        """Words, vertically centred."""
        self.figure.text(x / self.width, y / self.height, words, **{"va": "center", **how})

    def bar(self, x: float, y: float, across: float, down: float, shown: Any) -> Any:
        """The colour scale of a picture."""
        axes = self.axes(x, y, across, down)
        self.figure.colorbar(shown, cax=axes)
        return axes


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `<stem>.png` and `<stem>.pdf`."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    written = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "pdf")]
    with mpl.rc_context(STYLE):
        for path in written:
            write(figure, path)
            figure.set_layout_engine("none")  # settled by the first; both files look the same
    return written


def write(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the file's name; equal figures are equal files."""
    about: dict[str, dict[str, Any]] = {
        "png": {"Software": None},
        "svg": {"Date": None},
        "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    }
    kind, out = path.suffix.lower()[1:], io.BytesIO()
    figure.savefig(out, format=kind, dpi=STYLE["savefig.dpi"], metadata=about[kind])
    files.replace(path, out.getvalue())


def annotate(axes: Axes, text: str, at: Any, shift: tuple[int, int], **how: Any) -> None:
    """Write text beside the point `at`, shifted by this many typographic points."""
    axes.annotate(text, at, xytext=shift, textcoords="offset points", **how)


def legend_mark(marker: str, size: float, fill: str, edge: str, label: str, **how: Any) -> Line2D:
    """A mark in a legend."""
    return Line2D([], [], ls="", marker=marker, ms=size, mfc=fill, mec=edge, label=label, **how)
