"""Films of agents at play, as GIF files: boards on which the agent moves, with words above."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib import font_manager
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from taskalgebra.paper.figures.gif import LOOK, Film, between, write_gif

SIDE, BAND = 336, 46  # pixels: of the longer side of a board, and of the words above it
SHOW = 900  # milliseconds, at the end
COLOURS = 255
PAPER, INK, GREY = (250, 250, 250), (34, 34, 34), (119, 119, 119)
BELOW = "composed from base tasks, no further learning"


@dataclass(frozen=True, eq=False)
class Walk:
    """An episode: where the agent was, and how that looks."""

    places: NDArray[np.float64]  # [N, 2], row and column
    scene: Callable[[NDArray[np.float64]], Image.Image]  # at a place, perhaps between two cells
    end: Image.Image | None  # in the goal, if one was reached


def write(title: str, walks: Sequence[Walk], ends: Sequence[Image.Image], path: Path) -> Path:
    """Write episodes, one after the other, for ever.

    Args:
        title: a line above.
        walks: the episodes.
        ends: what is seen in each goal, for its colours.
        path: of the file.
    """
    film = make(title, walks)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_gif(film, _palette(film[0][0], ends), path)
    return path


def make(title: str, walks: Sequence[Walk]) -> Film:
    """The pictures of all episodes."""
    shown = (part for walk in walks for part in _scenes(walk))
    return [(_titled(scene, title), duration) for scene, duration in shown]


def _scenes(walk: Walk) -> Iterator[tuple[Image.Image, int]]:
    yield walk.scene(walk.places[0]), LOOK
    for i, (here, there) in enumerate(pairwise(walk.places), start=2):
        if (here != there).any() or walk.end is None or i < len(walk.places):
            yield from ((walk.scene(place), time) for place, time in between(here, there))
    if walk.end is not None:
        yield walk.end, SHOW


def _titled(scene: Image.Image, title: str) -> Image.Image:
    width, height = (round(SIDE * side / max(scene.size)) for side in scene.size)
    page = Image.new("RGB", (width, BAND + height), PAPER)
    page.paste(scene.resize((width, height), Image.Resampling.LANCZOS), (0, BAND))
    words = ImageDraw.Draw(page)
    words.text((width / 2, 17), title, INK, _font(19), anchor="mm")
    words.text((width / 2, 36), BELOW, GREY, _font(11), anchor="mm")
    return page


def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)


def _palette(page: Image.Image, ends: Sequence[Image.Image]) -> Image.Image:
    """One set of colours for the whole film, so that what stands still does not flicker.

    Half of them are those of a page; the others are of the ends, which show each goal and the agent
    large, so that none of their colours is lost.
    """
    width, height = ends[0].size
    sheet = Image.new("RGB", (width, height * len(ends)))
    for i, end in enumerate(ends):
        sheet.paste(end, (0, i * height))
    scene = page.quantize(COLOURS // 2, method=Image.Quantize.MEDIANCUT)
    bright = sheet.quantize(COLOURS // 2, method=Image.Quantize.MAXCOVERAGE)
    colours = [
        value
        for part in (scene, bright)
        for value in (part.getpalette() or [])[: 3 * (COLOURS // 2)]
    ]
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours)
    return palette
