"""The plane as an image, drawn with numpy alone."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from taskalgebra.arrays import Array, Image
from taskalgebra.envs.flat_world.plane import CIRCLES, HALF

Colour = tuple[int, int, int]

SIDE = 480  # pixels
MARGIN = 0.1
"""Around the square, in units of the plane, to show a path that leaves it."""
GROUND: Colour = (252, 252, 250)
BEYOND: Colour = (225, 225, 222)
INK: Colour = (32, 34, 40)
PAINT: dict[str, Colour] = {
    "aqua": (0, 190, 200),
    "blue": (40, 90, 225),
    "green": (35, 150, 60),
    "magenta": (215, 40, 190),
    "orange": (245, 140, 20),
    "red": (215, 40, 40),
    "yellow": (235, 205, 0),
}
FILL, EDGE = 0.35, 0.9  # opacity

_PIXEL = 2 * (HALF + MARGIN) / SIDE
_AXIS = (np.arange(SIDE) + 0.5) * _PIXEL - (HALF + MARGIN)
_X, _Y = _AXIS[None, :], -_AXIS[:, None]  # rows go down, y goes up


@cache
def _plane() -> Array:
    """The square and its circles."""
    image = np.empty((SIDE, SIDE, 3))
    image[:] = BEYOND
    _blend(image, GROUND, HALF - np.maximum(np.abs(_X), np.abs(_Y)), 1.0)
    for colour, x, y, radius in CIRCLES:
        inside = radius - np.hypot(_X - x, _Y - y)
        _blend(image, PAINT[colour], inside, FILL)
        _blend(image, PAINT[colour], _PIXEL - np.abs(inside), EDGE)
    return image


def draw(path: Array) -> Image:
    """The square, its circles, and a path `[N, 2]` with a ring at its start, a disc at its end."""
    image = _plane().copy()
    _blend(image, INK, 1.2 * _PIXEL - _apart(path), 1.0)
    if len(path):
        _disc(image, path[0], 5.0, (255, 255, 255))
        _disc(image, path[-1], 5.0, INK)
    return np.rint(image).astype(np.uint8)


def _blend(image: Array, colour: Colour, inside: Array, opacity: float) -> None:
    """Paint where `inside`, a distance to an edge in the plane, is above 0, with smooth edges."""
    share = opacity * np.clip(inside / _PIXEL + 0.5, 0.0, 1.0)[..., None]
    image += share * (np.array(colour) - image)


def _around(low: Array, high: Array, pixels: float) -> tuple[slice, slice]:
    """The rows and columns of a part of the plane, with a margin."""
    left, right = (np.array([low[0], high[0]]) + HALF + MARGIN) / _PIXEL + (-pixels, pixels)
    top, bottom = (HALF + MARGIN - np.array([high[1], low[1]])) / _PIXEL + (-pixels, pixels)
    rows, columns = (
        (max(0, int(a)), max(0, int(b) + 1)) for a, b in ((top, bottom), (left, right))
    )
    return slice(*rows), slice(*columns)


def _apart(path: Array) -> Array:
    """[H, W], how far each pixel is from a path, where it is near."""
    apart = np.full((SIDE, SIDE), np.inf)
    for start, end in pairwise(path):
        rows, columns = _around(np.minimum(start, end), np.maximum(start, end), 3.0)
        x, y = _X[:, columns] - start[0], _Y[rows] - start[1]
        along = end - start
        share = (x * along[0] + y * along[1]) / max(float(along @ along), 1e-12)
        share = np.clip(share, 0.0, 1.0)
        near = apart[rows, columns]
        np.minimum(near, np.hypot(x - share * along[0], y - share * along[1]), out=near)
    return apart


def _disc(image: Array, at: Array, pixels: float, colour: Colour) -> None:
    """A disc with a dark rim."""
    rows, columns = _around(at, at, pixels + 3)
    apart = np.hypot(_X[:, columns] - at[0], _Y[rows] - at[1])
    _blend(image[rows, columns], INK, (pixels + 1.5) * _PIXEL - apart, 1.0)
    _blend(image[rows, columns], colour, pixels * _PIXEL - apart, 1.0)
