"""Figures of episodes, and what is lost from each start."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.drawing.colours import BLUE, ORANGE, RED
from taskalgebra.drawing.plots.maps import GREY, SIDE
from taskalgebra.drawing.plots.paper import axes_of, bar, bare, fitted, room

MOST_BINS = 40
LOST = "magma_r"


def plot_returns(
    returns: Array,
    success: BoolArray,
    mean: float,
    optimum: float,
    title: str,
    ax: Axes | None,
    *,
    groups: tuple[str, str] = ("succeeded", "did not"),
) -> Axes:
    """How often episodes earned what, beside their mean and the optimum.

    Args:
        returns: `[N]`; none where the figures are exact.
        success: `[N]`, whether each episode succeeded.
        mean: of the returns.
        optimum: what the best policy earns on average; NaN if not known.
        title: above the figure.
        ax: where to draw.
        groups: what is said of episodes that succeeded, and of the others.
    """
    axes = axes_of(ax, (5.6, 3.2))
    if returns.size:
        edges = _edges(returns)
        parts = [(returns[success], BLUE, groups[0]), (returns[~success], ORANGE, groups[1])]
        shown = [part for part in parts if part[0].size]
        axes.hist(
            [part[0] for part in shown],
            edges.tolist(),
            stacked=True,
            color=[part[1] for part in shown],
            label=[part[2] for part in shown],
        )
        axes.set_ylabel("episodes")
    else:
        axes.set_yticks([])
        both = [mean, optimum] if np.isfinite(optimum) else [mean]
        around = max(0.5, 0.2 * (max(both) - min(both)))
        axes.set_xlim(min(both) - around, max(both) + around)
    ink = axes.xaxis.label.get_color()
    axes.axvline(mean, color=ink, lw=2, label=f"mean {mean:.3g}")
    if np.isfinite(optimum):
        axes.axvline(optimum, color=ink, lw=2, ls=(0, (2, 2)), label=f"optimum {optimum:.3g}")
    axes.set_xlabel("return of an episode")
    axes.set_title(fitted(title, 90), fontsize="medium")
    where: Any = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if ax is None else {}
    axes.legend(fontsize="small", frameon=False, **where)  # on given axes, where there is room
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _edges(returns: Array) -> Array:
    """Of bins: one for each return that occurs, if there are few at equal distances."""
    every = np.unique(np.round(returns, 9))
    if every.size == 1:
        half = 0.5 * max(0.1, 0.1 * abs(float(every[0])))
        return np.array([every[0] - half, every[0] + half])
    step = np.diff(every).min()
    n = round((every[-1] - every[0]) / step) + 1
    if n <= MOST_BINS:
        return np.asarray(every[0] + step * (np.arange(n + 1) - 0.5))
    return np.linspace(returns.min(), returns.max(), MOST_BINS + 1)


def plot_loss(
    lost: Array, cells: LongArray | None, title: str, words: str, ax: Axes | None
) -> Axes:
    """What is lost from each start, `[N]`: on the map, or the starts from worst to best.

    Where several starts are in one cell, the worst is drawn; × is where the agent may never end.
    """
    if cells is None:
        return _sorted(lost, title, words, ax)
    corner = cells.min(axis=0) - 1
    rows, columns = (cells.max(axis=0) - corner + 2).tolist()
    side = SIDE / max(rows, columns)
    axes = axes_of(ax, (columns * side + 1.2, rows * side + 0.8))
    picture = np.full((rows, columns), -np.inf)
    np.maximum.at(picture, tuple((cells - corner).T), lost)
    never = np.isposinf(picture)
    known = np.isfinite(picture)
    largest = float(picture[known].max(initial=0.0))
    most = 1.0 if _none(largest) else largest  # rounding errors have the colour of nothing
    shown = np.where(known, picture, np.where(never, most, np.nan))
    image = axes.imshow(shown, cmap=LOST, vmin=0.0, vmax=most, interpolation="nearest")
    axes.set_facecolor("#BBBBBB")
    bare(axes)
    y, x = np.nonzero(never)
    axes.plot(x, y, "x", ms=max(2.0, 0.4 * room(axes, columns, rows)), mec=RED, mew=1.5, ls="")
    axes.set_title(_wrapped(title, 46), fontsize="medium")
    note = "× may never end" if never.any() else f"largest {_short(largest)}"
    axes.set_xlabel(note, color=GREY, fontsize="small")
    figure = axes.get_figure()
    assert figure is not None
    if not _none(largest):
        bar(figure, image, axes, words)
    return axes


def _none(value: float) -> bool:
    """Whether a loss is one of rounding."""
    return value <= 1e-12


def _wrapped(words: str, width: int) -> str:
    return "\n".join(wrap(fitted(words, 3 * width), width))


def _short(value: float) -> str:
    return "0" if _none(value) else f"{value:.2g}"


def _sorted(lost: Array, title: str, words: str, ax: Axes | None) -> Axes:
    axes = axes_of(ax, (5.0, 3.0))
    finite = np.sort(lost[np.isfinite(lost)])[::-1]
    n = lost.size - finite.size
    axes.fill_between(n + np.arange(finite.size + 1), [*finite, 0.0], step="post", color=BLUE)
    if n:
        axes.axvspan(0, n, color=RED, alpha=0.5, label="may never end")
        axes.legend(fontsize="small", frameon=False)
    axes.set_xlim(0, max(lost.size, 1))
    largest = float(finite.max(initial=0.0))
    axes.set_ylim(0, 1.0 if _none(largest) else 1.05 * largest)
    if not finite.size:
        axes.set_yticks([])
    axes.set_xlabel("starts, from the worst to the best")
    axes.set_ylabel(words)
    axes.set_title(_wrapped(title, 60), fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    return axes
