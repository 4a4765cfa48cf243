"""Composed tasks on their maps: values as colours, actions as arrows, and films of an agent.

A `Map` is plain data, so this module draws whatever solved it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from taskalgebra.paper.figures.boxman_board import draw_paths
from taskalgebra.paper.figures.film import LOOK, between, write_gif
from taskalgebra.paper.figures.maps import draw_actions, draw_values
from taskalgebra.paper.figures.style import GREY, INK, ORANGE, bare, new_figure, styled
from taskalgebra.paper.figures.style import write as write
from taskalgebra.worlds.finite import FiniteMDP

FILM = ".gif"
CELLS = 13  # across the Four Rooms, for which arrows have their usual size
MOST_ARROWS = 60  # cells across; beyond that, arrows are too small to be seen
SHOW = 1200  # milliseconds, at the end


@dataclass(frozen=True)
class Map:
    """A solved task: one entry per free cell, and the goals."""

    title: str
    cells: NDArray[np.int64]  # [C, 2], row and column
    values: NDArray[np.float64]  # [C]
    actions: tuple[str, ...]  # [C]
    goals: NDArray[np.int64]  # [G, 2]
    desired: NDArray[np.bool_]  # [G]
    note: str = ""
    crossed: NDArray[np.bool_] | None = None  # [G], goals that are drawn as ×
    legend: str = ""  # what the signs mean, if not whether goals are desired

    @classmethod
    def of(
        cls,
        mdp: FiniteMDP,
        title: str,
        values: NDArray[np.float64],
        actions: NDArray[np.int64],
        desired: NDArray[np.bool_],
        note: str = "",
    ) -> Map:
        """The map of a world, from values and actions of all its states, `[S]`."""
        if mdp.cells is None:
            raise ValueError("this world has no map to draw on")
        live = np.flatnonzero(~mdp.is_goal)
        names = tuple(mdp.action_names[a] for a in actions[live])
        goals = mdp.cells[mdp.goals]
        return cls(title, mdp.cells[live], values[live], names, goals, desired, note)

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns, with the surrounding wall."""
        rows, columns = self.cells.max(axis=0) - self.corner + 2
        return int(rows), int(columns)

    @property
    def corner(self) -> NDArray[np.int64]:
        """The cell at the top left, part of the surrounding wall."""
        return np.asarray(self.cells.min(axis=0) - 1)


@styled
def draw(task: Map, *, path: NDArray[np.int64] | None = None) -> Figure:
    """One task, large, with the scale of its values; and the path of an episode, `[N, 2]`."""
    rows, columns = task.size
    side = 5.2 / max(rows, columns)
    figure = new_figure(columns * side + 1.2, rows * side + 0.9)
    axes = figure.add_subplot()
    image = draw_map(axes, task)
    if path is not None:
        y, x = (path - task.corner).T
        axes.plot(x, y, color="black", lw=5, alpha=0.6, solid_capstyle="round")
        axes.plot(x, y, color=ORANGE, lw=3, solid_capstyle="round")
        axes.plot(x[:1], y[:1], "o", ms=9, mfc=ORANGE, mec="black")
    axes.set_title(_fitted(task.title, 46))
    axes.set_xlabel(f"{_legend(task)}\n{task.note}".strip(), color=GREY, fontsize=9)
    _bar(figure, image, axes, "value")
    return figure


@styled
def draw_many(tasks: Sequence[Map], title: str, *, columns: int = 4) -> Figure:
    """Many tasks of one world, small, on one scale of values."""
    lines = -(-len(tasks) // columns)
    figure = new_figure(2.5 * columns, 2.5 * lines + 0.6)
    norm = _scale(np.concatenate([task.values for task in tasks]))
    grid = figure.subplots(lines, columns, squeeze=False)
    image: Any = None
    for axes, task in zip(grid.flat, tasks, strict=False):
        image = draw_map(axes, task, norm=norm, diamond=5.5)
        axes.set_title(_fitted(task.title, 28), fontsize=9)
    for axes in grid.flat[len(tasks) :]:
        axes.set_visible(False)
    figure.suptitle(f"{title}\n{_legend(tasks[0])}", fontsize=12)
    _bar(figure, image, grid, "value", fraction=0.02, pad=0.015)
    return figure


@styled
def draw_game(
    task: Map, board: NDArray[np.uint8], cell: int, path: NDArray[np.int64], success: bool
) -> Figure:
    """What a network thinks of every cell, and on the game itself the path of an episode."""
    figure = new_figure(10.6, 5.6)
    left, right = figure.subplots(1, 2)
    image = draw_map(left, task)
    left.set_title("value of every cell, and action")
    left.set_xlabel(_legend(task), color=GREY, fontsize=9)
    _bar(figure, image, left, "")
    rows, columns = path.T.astype(np.float64)
    draw_paths(right, board, cell, [(rows, columns, success)], [ORANGE])
    right.set_title("an episode")
    right.set_xlabel(task.note, color=GREY, fontsize=9)
    figure.suptitle(_fitted(task.title, 80))
    return figure


def draw_map(axes: Axes, task: Map, *, norm: Normalize | None = None, diamond: float = 9.0) -> Any:
    """Values, arrows and goals, drawn as diamonds of this size; returns the coloured image."""
    rows, columns = (task.cells - task.corner).T
    known = np.where(np.isfinite(task.values), task.values, np.nan)
    image = draw_values(axes, rows, columns, known, norm or _scale(known))
    at = task.goals - task.corner
    on_goal = (task.cells[:, None] == task.goals[None]).all(axis=2).any(axis=1)
    across = max(task.size)
    if across <= MOST_ARROWS:
        moving = ~on_goal & np.isfinite(task.values)
        actions = np.array(task.actions)[moving]
        draw_actions(axes, rows[moving], columns[moving], actions, size=CELLS / across)
    size = diamond * min(1.0, CELLS / across)
    crossed = np.zeros(len(at), np.bool_) if task.crossed is None else task.crossed
    for desired, fill, edge in ((True, ORANGE, "black"), (False, "none", "white")):
        y, x = at[(task.desired == desired) & ~crossed].T
        axes.plot(x, y, "D", ms=size, mfc=fill, mec=edge, mew=1.2, ls="")
    y, x = at[crossed].T
    axes.plot(x, y, "x", ms=size, mec="white", mew=1.8, ls="")
    bare(axes)
    return image


def _bar(figure: Figure, image: Any, axes: Any, label: str, **size: Any) -> None:
    """The scale of the values, without a frame."""
    how: Any = {"fraction": 0.045, "pad": 0.02, **size}
    bar = figure.colorbar(image, ax=axes, **how)
    bar.set_label(label, color=INK)
    bar.outline.set_visible(False)


def _legend(task: Map) -> str:
    if task.legend:
        return task.legend
    return "◆ desired" if task.desired.all() else "◆ desired   ◇ not desired"


def _scale(values: NDArray[np.float64]) -> Normalize:
    known = values[np.isfinite(values)]
    return Normalize(known.min(), known.max()) if known.size else Normalize(0.0, 1.0)


def _fitted(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def write_film(task: Map, path: NDArray[np.int64], success: bool, file: Path) -> None:
    """Write the agent walking a path, `[N, 2]`, on the map of its task, in a loop."""
    figure = draw(task)
    still = io.BytesIO()
    figure.savefig(still, format="png", dpi="figure")
    scene = Image.open(still).convert("RGB")
    axes = figure.axes[0]
    shifted = (path - task.corner)[:, ::-1]
    places = axes.transData.transform(shifted) * (1, -1) + (0, scene.height)
    (left, _), (right, _) = axes.transData.transform([(0, 0), (1, 0)])
    radius = 0.36 * abs(float(right - left))
    film = [(_with_agent(scene, places[0], radius), LOOK)]
    for here, there in pairwise(places):
        film += [(_with_agent(scene, at, radius), time) for at, time in between(here, there)]
    film[-1] = (_with_agent(scene, places[-1], radius, "white" if success else "red"), SHOW)
    write_gif(film, film[-1][0].quantize(255), file)


def _with_agent(
    scene: Image.Image, place: NDArray[np.float64], radius: float, ring: str = "white"
) -> Image.Image:
    """The scene with the agent, a dark disc with a ring, drawn large for smooth edges."""
    finer = 4
    side = int(2 * radius) + 6
    left, top = int(place[0]) - side // 2, int(place[1]) - side // 2
    part = scene.crop((left, top, left + side, top + side))
    large = part.resize((side * finer, side * finer))
    x, y = (place[0] - left) * finer, (place[1] - top) * finer
    r = radius * finer
    pen = ImageDraw.Draw(large)
    pen.ellipse((x - r, y - r, x + r, y + r), fill="#202228", outline=ring, width=3 * finer)
    picture = scene.copy()
    picture.paste(large.resize((side, side), Image.Resampling.LANCZOS), (left, top))
    return picture
