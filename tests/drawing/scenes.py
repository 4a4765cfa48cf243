"""The plots that are compared with stored pictures: python tests/drawing/scenes.py stores them.

Every scene has a twin that differs in its task, state or world, so that the comparison is known to
tell them apart.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from PIL import Image

import taskalgebra as ta

PICTURES = Path(__file__).parent / "pictures"
DPI = 50
FORMULA = "F(coffee & F office) & G !decoration"


@cache
def rooms() -> ta.Skills:
    return ta.solve(ta.FourRooms(), ["top", "left"])


@cache
def slippery() -> ta.Skills:
    return ta.solve(ta.FourRooms(slip_probability=0.3), ["top", "left"])


@cache
def office() -> ta.Skills:
    return ta.solve(ta.Office())


@cache
def graph() -> ta.Skills:
    """A world whose states have no cells."""
    world = replace(ta.from_text("A..B\n.#..\nC..."), cells=None)
    return ta.solve(world, {"a": ["A"], "b": ["B"]})


def evaluated(agent: Any) -> Any:
    return agent.evaluate(500, seed=0).plot()


SCENES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "agent": (lambda: rooms()["top ^ left"].plot(), lambda: rooms()["top | left"].plot()),
    "agent_graph": (lambda: graph()["~a"].plot(), lambda: graph()["a"].plot()),
    "automaton": (
        lambda: office()[FORMULA].automaton.plot(state=1),
        lambda: office()[FORMULA].automaton.plot(state=0),
    ),
    "certificate": (
        lambda: slippery()["top ^ left"].certificate().plot(),
        lambda: slippery()["~top & ~left"].certificate().plot(),
    ),
    "composition": (
        lambda: rooms()["top & ~left"].plot_composition(),
        lambda: rooms()["left & ~top"].plot_composition(),
    ),
    "evaluation": (
        lambda: evaluated(slippery()["top ^ left"]),
        lambda: evaluated(slippery()["top"]),
    ),
    "formula": (lambda: office()[FORMULA].plot(), lambda: office()[FORMULA].plot(state=1)),
    "goals": (
        lambda: rooms().plot_goals("top ^ left"),
        lambda: rooms().plot_goals("top & left"),
    ),
    "world": (
        lambda: ta.Office().plot(),
        lambda: ta.from_text(["." * 9] * 12, {"A": (1, 1), "B": (9, 7)}).plot(),
    ),
    "world_graph": (
        lambda: graph().space.mdp.plot(),
        lambda: replace(ta.from_text("A..B\n....\nC..."), cells=None).plot(),
    ),
    "world_pixels": (lambda: ta.Boxman().plot(), lambda: ta.FlatWorld().plot()),
}


def drawn(draw: Callable[[], Any], style: str = "default") -> np.ndarray:
    """What a scene looks like, `[H, W, 3]`."""
    with mpl.style.context(style):
        axes = np.ravel(draw())[0]
        out = io.BytesIO()
        axes.figure.savefig(out, format="png", dpi=DPI)
    pyplot.close("all")
    return np.asarray(Image.open(out).convert("RGB"))


def stored(name: str) -> np.ndarray:
    """The stored picture of a scene."""
    return np.asarray(Image.open(PICTURES / f"{name}.png").convert("RGB"))


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """The root mean square of the difference, of 255, after blurring what fonts may shift."""
    if one.shape != other.shape:
        return 255.0
    blurred = [np.asarray(Image.fromarray(each).reduce(3), np.float64) for each in (one, other)]
    return float(np.sqrt(((blurred[0] - blurred[1]) ** 2).mean()))


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name, (draw, _) in SCENES.items():
        picture = Image.fromarray(drawn(draw)).quantize(128)
        picture.save(PICTURES / f"{name}.png", optimize=True)
        print(name, (PICTURES / f"{name}.png").stat().st_size)
