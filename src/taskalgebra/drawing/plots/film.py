"""Films of agents at play, as GIF files: boards on which the agent moves, below a title."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import font_manager
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from taskalgebra import files
from taskalgebra.arrays import Image as Pixels
from taskalgebra.drawing.board import Map

SIDE, BAND = 336, 46  # pixels: the longer side of a board, and the height of its title
BETWEEN = 3  # pictures from one cell to the next
LOOK, MOVE, SHOW = 500, 50, 900  # milliseconds: before the start, each picture of a move, the end
STAY = 1200  # milliseconds, at the end of a walk on a map
MOST_PICTURES = 1500  # of a film
COLOURS = 255
PAPER, INK, GREY = (250, 250, 250), (34, 34, 34), (119, 119, 119)
COMPOSED = "composed from base tasks, no further learning"


@dataclass(frozen=True, eq=False)
class Walk:
    """An episode: where the agent was, and how that looks."""

    places: NDArray[np.float64]  # [N, 2], row and column
    scene: Callable[[NDArray[np.float64]], Image.Image]  # at a place, perhaps between two cells
    end: Image.Image | None  # in the goal, if one was reached


def write(
    title: str,
    walks: Sequence[Walk],
    ends: Sequence[Image.Image],
    path: Path,
    below: str = COMPOSED,
) -> Path:
    """Write the episodes one after the other, in a loop; `ends` show the colours of each goal."""
    shown = (part for walk in walks for part in _scenes(walk))
    film = [(_titled(scene, title, below), duration) for scene, duration in shown]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_gif(film, _palette(film[0][0], ends), path)
    return path


def write_frames(
    title: str, episodes: Sequence[Sequence[Pixels]], path: Path, below: str = COMPOSED
) -> Path:
    """Write episodes as they were rendered, one image a step, one after the other, in a loop."""
    shown: list[tuple[Image.Image, int]] = []
    for frames in episodes:
        times = [LOOK, *[BETWEEN * MOVE] * (len(frames) - 2), SHOW][: len(frames)]
        shown += [(Image.fromarray(frame), time) for frame, time in zip(frames, times, strict=True)]
    film = [(_titled(scene.convert("RGB"), title, below), time) for scene, time in _few(shown)]
    ends = [Image.fromarray(frames[-1]).convert("RGB") for frames in episodes[:8]]
    write_gif(film, _palette(film[0][0], ends), path)
    return path


def _few(shown: list[tuple[Image.Image, int]]) -> list[tuple[Image.Image, int]]:
    """Every so many of very many pictures, and all ends."""
    step = -(-len(shown) // MOST_PICTURES)
    return [one for k, one in enumerate(shown) if k % step == 0 or one[1] >= SHOW]


def _scenes(walk: Walk) -> Iterator[tuple[Image.Image, int]]:
    yield walk.scene(walk.places[0]), LOOK
    for i, (here, there) in enumerate(pairwise(walk.places), start=2):
        if (here != there).any() or walk.end is None or i < len(walk.places):
            yield from ((walk.scene(place), time) for place, time in between(here, there))
    if walk.end is not None:
        yield walk.end, SHOW


def between(here: NDArray[Any], there: NDArray[Any]) -> list[tuple[NDArray[Any], int]]:
    """Where the agent is shown during a step, and for how long each; one place if it stays."""
    if (here == there).all():
        return [(there, BETWEEN * MOVE)]
    return [(here + (there - here) * k / BETWEEN, MOVE) for k in range(1, BETWEEN + 1)]


def _titled(scene: Image.Image, title: str, below: str) -> Image.Image:
    width, height = (round(SIDE * side / max(scene.size)) for side in scene.size)
    page = Image.new("RGB", (width, BAND + height), PAPER)
    page.paste(scene.resize((width, height), Image.Resampling.LANCZOS), (0, BAND))
    words = ImageDraw.Draw(page)
    size, short = 19, title
    while words.textlength(short, _font(size)) > width - 12:
        size, short = (size - 1, short) if size > 12 else (size, f"{short[:-2]}…")
    words.text((width / 2, 17), short, INK, _font(size), anchor="mm")
    words.text((width / 2, 36), below, GREY, _font(11), anchor="mm")
    return page


def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)


def _palette(page: Image.Image, ends: Sequence[Image.Image]) -> Image.Image:
    """One set of colours for the whole film, so that what stands still does not flicker.

    Half of them come from a page, half from the ends, which show each goal and the agent large, so
    that none of their colours is lost.
    """
    width, height = ends[0].size
    sheet = Image.new("RGB", (width, height * len(ends)))
    for i, end in enumerate(ends):
        sheet.paste(end, (0, i * height))
    scene = page.quantize(COLOURS // 2, method=Image.Quantize.MEDIANCUT)
    bright = sheet.quantize(COLOURS // 2, method=Image.Quantize.MAXCOVERAGE)
    palettes = [part.getpalette() or [] for part in (scene, bright)]
    palette = Image.new("P", (1, 1))
    palette.putpalette([value for part in palettes for value in part[: 3 * (COLOURS // 2)]])
    return palette


def write_gif(film: Sequence[tuple[Image.Image, int]], palette: Image.Image, path: Path) -> None:
    """Write pictures, each with its milliseconds, as a loop in the colours of a palette."""
    first, *others = [
        picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture, _ in film
    ]
    times, out = [duration for _, duration in film], io.BytesIO()
    how = {"save_all": True, "append_images": others, "duration": times, "loop": 0}
    first.save(out, format="GIF", optimize=False, disposal=1, **how)
    files.replace(path, out.getvalue())


class Walked(NamedTuple):
    """An episode on a map."""

    path: NDArray[np.int64]  # [N, 2], row and column
    success: bool
    stages: Sequence[int] = ()  # [N], which figure is the background; by default the first


def map_film(task: Map, walks: Sequence[Walked], file: Path, figures: Mapping[int, Figure]) -> Path:
    """Write the agent walking some paths on the map of its task, in a loop.

    Args:
        task: the map.
        walks: the paths.
        file: to write.
        figures: the map at each stage, as `maps.large` draws it with one scale for all.
    """
    scenes = {}
    for stage, figure in figures.items():
        still = io.BytesIO()
        figure.savefig(still, format="png", dpi="figure")
        scenes[stage] = Image.open(still).convert("RGB")
    first = next(iter(scenes))
    height, shift = scenes[first].height, figures[first].axes[0].transData
    (left, _), (right, _) = shift.transform([(0, 0), (1, 0)])
    radius = max(2.0, 0.36 * abs(float(right - left)))
    shown: list[tuple[Image.Image, int]] = []
    ends: dict[bool, Image.Image] = {}
    for path, success, stages in walks:
        at = [scenes[stage] for stage in stages or [first] * len(path)]
        places = shift.transform((path - task.corner)[:, ::-1]) * (1, -1) + (0, height)
        shown.append((_with_agent(at[0], places[0], radius), LOOK))
        for scene, here, there in zip(at, places, places[1:], strict=False):
            shown += [(_with_agent(scene, place, radius), t) for place, t in between(here, there)]
        ends[success] = _with_agent(at[-1], places[-1], radius, "white" if success else "red")
        shown[-1] = (ends[success], STAY)
    colours = _palette(shown[-1][0], [*scenes.values(), *ends.values()])
    write_gif(_few(shown), colours, file)
    return file


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
