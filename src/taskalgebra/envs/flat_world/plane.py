"""The plane of FlatWorld: a square with circles in it, and the moves of an agent.

Circles, moves, starts and the limit are those of the environment in which DeepLTL was measured
(Jackermeier and Abate, ICLR 2025, github.com/mathiasj33/deep-ltl; the world is that of Voloshin et
al. 2023, github.com/clvoloshin/RL-LTL).  All eight moves have the same length, also the diagonal
ones, so that the positions of an episode lie on no grid.

Positions are (x, y), with y upwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.compiled import kernel

HALF = 2.0
"""The square extends from −HALF to HALF."""
STEP = 0.08
"""The length of a move."""
MAX_STEPS = 500
"""After which an episode of the published evaluation is cut off."""

CIRCLES: tuple[tuple[str, float, float, float], ...] = (  # colour, centre, radius
    ("red", -1.4, 0.55, 0.4),
    ("magenta", -1.1, 1.1, 0.5),
    ("yellow", -1.0, -1.2, 0.3),
    ("orange", -1.53, -0.5, 0.32),
    ("blue", 0.1, 0.0, 0.8),
    ("red", 0.5, -1.3, 0.35),
    ("green", 0.7, 0.7, 0.5),
    ("green", 1.5, -0.75, 0.4),
    ("aqua", 0.8, 0.2, 0.3),
)
COLOURS = tuple(sorted({colour for colour, *_ in CIRCLES}))

FORMULAS = {
    "1": "F ((red & magenta) & F ((blue & green) & F yellow))",
    "2": "F (orange & (!red U magenta))",
    "3": "(!red U (green & blue & aqua)) & F (orange & (F (red & magenta)))",
    "4": "(((!yellow & !orange) U (green & blue)) & (!green U magenta))",
    "5": "(blue => F magenta) U (yellow | ((green & blue) & F orange))",
}
"""The five tasks with published figures (DeepLTL)."""

_CENTRE = np.array([[x, y] for _, x, y, _ in CIRCLES])
_RADIUS = np.array([radius for *_, radius in CIRCLES])
_BIT = np.array([1 << COLOURS.index(colour) for colour, *_ in CIRCLES])

DIRECTIONS: dict[str, tuple[int, int]] = {
    "up": (0, 1),
    "right": (1, 0),
    "down": (0, -1),
    "left": (-1, 0),
    "stay": (0, 0),
    "up_right": (1, 1),
    "down_right": (1, -1),
    "down_left": (-1, -1),
    "up_left": (-1, 1),
}
"""The actions, in the order of their numbers; the first five are those of a grid."""
ACTIONS = tuple(DIRECTIONS)
STRAIGHT = ACTIONS[:5]
STAY = ACTIONS.index("stay")
MOVES: Array = np.array([(x, y) for x, y in DIRECTIONS.values()], np.float64)
MOVES *= STEP / np.maximum(np.sqrt((MOVES**2).sum(axis=1, keepdims=True)), 1.0)


@kernel
def code_at(x: float, y: float) -> int:
    """The colours at a point, one bit each in the order of `COLOURS`; 0 for none.

    A point is in a circle if it is nearer to its centre than the radius.
    """
    code = 0
    for k in range(_BIT.size):
        across, up = x - _CENTRE[k, 0], y - _CENTRE[k, 1]
        if np.sqrt(across * across + up * up) < _RADIUS[k]:
            code |= _BIT[k]
    return code


def codes_at(points: ArrayLike) -> LongArray:
    """The colours at some points `[..., 2]`, as `code_at` gives them."""
    given = np.ascontiguousarray(points, np.float64)
    return _codes(given.reshape(-1, 2)).reshape(given.shape[:-1])


@kernel
def _codes(points: Array) -> LongArray:
    codes = np.empty(len(points), np.int64)
    for i in range(len(points)):
        codes[i] = code_at(points[i, 0], points[i, 1])
    return codes


def colours_of(codes: ArrayLike) -> BoolArray:
    """[..., 7], which colours some codes stand for."""
    found: BoolArray = (np.asarray(codes)[..., None] >> np.arange(len(COLOURS))) & 1 == 1
    return found


def names_of(code: int) -> tuple[str, ...]:
    """The colours that a code stands for, by name."""
    return tuple(colour for bit, colour in enumerate(COLOURS) if code >> bit & 1)


def outside(points: ArrayLike) -> BoolArray:
    """[...], whether points `[..., 2]` have left the square."""
    found: BoolArray = (np.abs(np.asarray(points)) > HALF).any(axis=-1)
    return found


def random_starts(rng: np.random.Generator, count: int) -> Array:
    """[N, 2], uniform over the square without the circles."""
    points = np.empty((count, 2))
    missing = np.arange(count)
    while missing.size:
        points[missing] = rng.uniform(-HALF, HALF, (missing.size, 2))
        missing = missing[codes_at(points[missing]) != 0]
    return points


def checked_positions(given: object, shape: tuple[int, ...], name: str) -> Array:
    """Positions in the square, as an array of this shape, or a ValueError."""
    try:
        points: NDArray[np.float64] = np.array(np.broadcast_to(np.asarray(given, float), shape))
    except (TypeError, ValueError):
        points = np.full(shape, np.nan)
    if not (np.abs(points) <= HALF).all():  # false for NaN, too
        raise ValueError(
            f"{name} is {given!r}, expected x and y between {-HALF:g} and {HALF:g}"
            + (f", one pair for all or one for each of {shape[0]} copies" if shape[1:] else "")
        )
    return points
