"""Short films of composed agents at play, as GIF files, from recorded episodes."""

from __future__ import annotations

from pathlib import Path
from typing import final

import numpy as np
from matplotlib import font_manager
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from taskalgebra.paper.figures.boxman_board import title_of
from taskalgebra.paper.figures.gif import LOOK, Film, between, write_gif
from taskalgebra.paper.results.record import Result, Table

SIDE, BAND = 336, 46  # pixels: of the board, and of the words above it
SHOW = 900  # milliseconds, at the end
ABOVE = 0.76  # the agent's size on an object
COLOURS = 255
PAPER, INK, GREY = (250, 250, 250), (34, 34, 34), (119, 119, 119)
NOTHING = "nothing"
BELOW = "composed from base tasks, no further learning"


def write(result: Result, setting: str, task: str, path: Path) -> Path:
    """Write the recorded episodes of a task, one after the other, for ever."""
    film = make(result, setting, task)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_gif(film, _palette(result, film[0][0]), path)
    return path


def make(result: Result, setting: str, task: str) -> Film:
    """The pictures of all recorded episodes of a task."""
    steps = result.table.where(setting=setting, task=task)
    episodes = result.tables[f"{result.name}_episodes"].where(setting=setting, task=task)
    if not episodes.n_rows:
        raise ValueError(f"no episode of {task!r} was recorded in the setting {setting!r}")
    film: Film = []
    for row in episodes.rows():
        film += _episode(result, steps.where(episode=row["episode"]), row["board"], task)
    return film


def _episode(result: Result, steps: Table, board: int, task: str) -> Film:
    stage = _Stage(result, board, task)
    at = np.column_stack((steps["row"], steps["column"])).astype(np.float64)
    film: Film = [(stage.scene(at[0]), LOOK)]
    for i, held in enumerate(steps["held"].tolist()[1:], start=1):
        if held == NOTHING or (at[i] != at[i - 1]).any():
            film += [(stage.scene(place), time) for place, time in between(at[i - 1], at[i])]
        if held != NOTHING:
            film.append((stage.goal_frame(held), SHOW))
            break
    return film


@final
class _Stage:
    """One board, on which the agent can be put anywhere."""

    def __init__(self, result: Result, board: int, task: str) -> None:
        self.result, self.task = result, task
        self.picture = Image.fromarray(result.arrays["boards"][board])
        self.agent = Image.fromarray(result.arrays["agent"])
        self.cell = int(result.arrays["cell"])
        self.border = self.picture.width % self.cell / 2
        objects = result.tables[f"{result.name}_objects"].where(board=board)
        self.names: list[str] = objects["object"].tolist()
        self.places = np.column_stack((objects["row"], objects["column"]))

    def scene(self, place: NDArray[np.float64]) -> Image.Image:
        """The agent at a place, which may lie between two cells."""
        scene = self.picture.copy()
        near = float(np.abs(self.places - place).sum(axis=1).min())
        size = ABOVE + (1 - ABOVE) * min(near, 1.0)  # smaller on an object, which stays seen
        side = round(self.cell * size)
        body = self.agent.resize((side, side), Image.Resampling.LANCZOS)
        row, column = self.border + self.cell * (place + 0.5) - side / 2
        scene.paste(body, (round(column), round(row)), body)
        return self._titled(scene)

    def goal_frame(self, held: str) -> Image.Image:
        """What is seen once an object is collected."""
        return self._titled(
            Image.fromarray(self.result.arrays["goal_frames"][self.names.index(held)])
        )

    def _titled(self, scene: Image.Image) -> Image.Image:
        page = Image.new("RGB", (SIDE, BAND + SIDE), PAPER)
        page.paste(scene.resize((SIDE, SIDE), Image.Resampling.LANCZOS), (0, BAND))
        words = ImageDraw.Draw(page)
        words.text((SIDE / 2, 17), title_of(self.task), INK, _font(19), anchor="mm")
        words.text((SIDE / 2, 36), BELOW, GREY, _font(11), anchor="mm")
        return page


def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)


def _palette(result: Result, picture: Image.Image) -> Image.Image:
    """One set of colours for the whole film, so that what stands still does not flicker.

    Half of them are those of a scene; the others are of goal frames, which show each object and the
    agent large, so that none of their colours is lost.
    """
    frames = [Image.fromarray(frame) for frame in result.arrays["goal_frames"]]
    side = frames[0].width
    sheet = Image.new("RGB", (side, side * len(frames)))
    for i, frame in enumerate(frames):
        sheet.paste(frame, (0, i * side))
    scene = picture.quantize(COLOURS // 2, method=Image.Quantize.MEDIANCUT)
    bright = sheet.quantize(COLOURS // 2, method=Image.Quantize.MAXCOVERAGE)
    colours = [
        value
        for part in (scene, bright)
        for value in (part.getpalette() or [])[: 3 * (COLOURS // 2)]
    ]
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours)
    return palette
