"""Short films of composed agents at play, as GIF files, from recorded episodes."""

from __future__ import annotations

from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from taskalgebra.paper.figures import film
from taskalgebra.paper.figures.boxman_board import title_of
from taskalgebra.paper.figures.film import Walk
from taskalgebra.paper.figures.gif import Film
from taskalgebra.paper.results.record import Result, Table

ABOVE = 0.76  # the agent's size on an object
NOTHING = "nothing"


def write(result: Result, setting: str, task: str, path: Path) -> Path:
    """Write the recorded episodes of a task, one after the other, for ever."""
    ends = [Image.fromarray(frame) for frame in result.arrays["goal_frames"]]
    return film.write(title_of(task), _walks(result, setting, task), ends, path)


def make(result: Result, setting: str, task: str) -> Film:
    """The pictures of all recorded episodes of a task."""
    return film.make(title_of(task), _walks(result, setting, task))


def _walks(result: Result, setting: str, task: str) -> list[Walk]:
    steps = result.table.where(setting=setting, task=task)
    episodes = result.tables[f"{result.name}_episodes"].where(setting=setting, task=task)
    if not episodes.n_rows:
        raise ValueError(f"no episode of {task!r} was recorded in the setting {setting!r}")
    return [
        _walk(steps.where(episode=row["episode"]), _Stage(result, row["board"]))
        for row in episodes.rows()
    ]


def _walk(steps: Table, stage: _Stage) -> Walk:
    places = np.column_stack((steps["row"], steps["column"])).astype(np.float64)
    held = steps["held"].tolist()
    n = next((i for i, name in enumerate(held) if i and name != NOTHING), None)
    end = None if n is None else stage.goal_frame(held[n])
    return Walk(places if n is None else places[: n + 1], stage.scene, end)


@final
class _Stage:
    """One board, on which the agent can be put anywhere."""

    def __init__(self, result: Result, board: int) -> None:
        self.result = result
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
        return scene

    def goal_frame(self, held: str) -> Image.Image:
        """What is seen once an object is collected."""
        return Image.fromarray(self.result.arrays["goal_frames"][self.names.index(held)])
