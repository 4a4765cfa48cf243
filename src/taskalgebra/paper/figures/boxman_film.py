"""Short films of composed agents at play, from recorded episodes."""

from __future__ import annotations

from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from taskalgebra.drawing.plots import film
from taskalgebra.drawing.plots.film import Walk
from taskalgebra.paper.figures.boxman_board import title_of
from taskalgebra.paper.results.record import Result, Table

ABOVE = 0.76  # the agent's size on an object
NOTHING = "nothing"


def write(result: Result, setting: str, task: str, path: Path) -> Path:
    """Write the recorded episodes of a task, one after the other, in a loop."""
    steps = result.table.where(setting=setting, task=task)
    episodes = result.tables[f"{result.name}_episodes"].where(setting=setting, task=task)
    if not episodes.n_rows:
        raise ValueError(f"no episode of {task!r} was recorded in the setting {setting!r}")
    walks = [
        _walk(steps.where(episode=row["episode"]), _Stage(result, row["board"]))
        for row in episodes.rows()
    ]
    ends = [Image.fromarray(frame) for frame in result.arrays["goal_frames"]]
    return film.write(title_of(task), walks, ends, path)


def _walk(steps: Table, stage: _Stage) -> Walk:
    places = np.column_stack((steps["row"], steps["column"])).astype(np.float64)
    held = steps["held"].tolist()
    n = next((i for i, name in enumerate(held) if i and name != NOTHING), None)
    if n is None:
        return Walk(places, stage.scene, None)
    return Walk(places[: n + 1], stage.scene, stage.goal_frame(held[n]))


@final
class _Stage:
    """A board on which the agent can be put anywhere."""

    def __init__(self, result: Result, board: int) -> None:
        self.goal_frames = result.arrays["goal_frames"]
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
        size = ABOVE + (1 - ABOVE) * min(near, 1.0)  # smaller on an object, which stays visible
        side = round(self.cell * size)
        body = self.agent.resize((side, side), Image.Resampling.LANCZOS)
        row, column = self.border + self.cell * (place + 0.5) - side / 2
        scene.paste(body, (round(column), round(row)), body)
        return scene

    def goal_frame(self, held: str) -> Image.Image:
        """What is seen once an object is collected."""
        return Image.fromarray(self.goal_frames[self.names.index(held)])
