"""Boxman as people see it: a large picture with bricks, light and a face.

Networks see the small frames of `art`.  The colours are the same; light falls from the upper left.
Shapes are signed distances: how far a point lies outside, negative inside, where half a cell is 1.
Rows run down, columns to the right.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array
from taskalgebra.envs.boxman.art import BODY, FLOOR, OBJECT, RING, WALL, Colour, Frames
from taskalgebra.envs.boxman.board import Board, Codes

CELL, BORDER = 48, 12  # pixels
WHITE: Colour = (255, 255, 255)
BLACK: Colour = (0, 0, 0)
AGENT_ABOVE, AGENT_IN_FRAME = 0.76, 0.4  # size of the agent on an object, and before its goal

Pixels = NDArray[np.int64]
Shape = Callable[[Array, Array], Array]  # signed distance from rows and columns


class Picture:
    """The board drawn once, and stamps of all that can lie on it."""

    def __init__(self, board: Board) -> None:
        """Draw what does not change."""
        self._board = board
        self._corners = BORDER + CELL * board.cells
        self._ground = _ground(board)
        self._agent = _Stamp(draw_agent)
        self._agent_above = _Stamp(lambda image: draw_agent(image, AGENT_ABOVE))
        self._objects = [
            _Stamp(lambda image, i=i: draw_object(image, board.colour(i), board.shape(i)))  # type: ignore[misc]
            for i in range(board.n_objects)
        ]
        self._goal_frames: dict[int, Frames] = {}  # drawn when first seen

    def frames(self, codes: Codes, *, agent: bool = True) -> Frames:
        """[N, H, W, 3], the pictures of some codes, with or without the agent."""
        images = np.empty((len(codes), *self._ground.shape), np.uint8)
        for image, code in zip(images, codes.tolist(), strict=True):
            image[:] = self._frame(code, agent)
        return images

    def _frame(self, code: list[int], with_agent: bool) -> Frames:
        agent, held, *places = code
        if held:
            return self._goal_frame(held - 1)
        image = self._ground.copy()
        body = self._agent_above if agent in places else self._agent
        stamps = list(zip([*self._objects, body], [*places, agent], strict=True))
        for stamp, cell in stamps if with_agent else stamps[:-1]:
            stamp.press(image, *self._corners[cell])
        return _bytes(image)

    def between(self, code: list[int], place: tuple[float, float]) -> Frames:
        """[H, W, 3], the agent on its way between two cells of the board of a code.

        Near an object it is smaller, so that the object is seen.
        """
        _, _, *places = code
        image = self._frame(code, with_agent=False).astype(np.float64)
        near = float(np.abs(self._board.cells[places] - place).sum(axis=1).min())
        size = AGENT_ABOVE + (1 - AGENT_ABOVE) * min(near, 1.0)
        row, column = (round(BORDER + CELL * at) for at in place)
        body = _Stamp(lambda drawn: draw_agent(drawn, size))
        body.press(image, row, column)
        return _bytes(image)

    def _goal_frame(self, number: int) -> Frames:
        if number not in self._goal_frames:
            board, size = self._board, len(self._ground)
            frame = _goal_frame(size, board.colour(number), board.shape(number))
            self._goal_frames[number] = frame
        return self._goal_frames[number]


class _Stamp:
    """A drawing that may be partly transparent, made once and put on any ground.

    Blending is linear in the ground: what is drawn on black is what the drawing adds, and what is
    drawn on white tells how much of the ground shines through.
    """

    def __init__(self, draw: Callable[[Array], None]) -> None:
        on_black, on_white = np.zeros((CELL, CELL, 3)), np.full((CELL, CELL, 3), 255.0)
        draw(on_black)
        draw(on_white)
        self._adds, self._keeps = on_black, (on_white - on_black) / 255

    def press(self, image: Array, row: int, column: int) -> None:
        ground = image[row : row + CELL, column : column + CELL]
        ground *= self._keeps
        ground += self._adds


def draw_object(image: Array, colour: str, shape: str, scale: float = 1.0) -> None:
    """An object with an outline, a shadow and a highlight, in the middle of a square image."""
    y, x, pixel = _axes(len(image), scale)
    outline: Shape = square(0.7, 0.16) if shape == "square" else disc(0.78)
    paint = np.array(OBJECT[colour], float)
    _lay(image, BLACK, 0.5 * _soft(outline(y - 0.13, x - 0.08), 0.3))
    edge = outline(y, x)
    _lay(image, paint * 0.42, _sharp(edge, pixel))
    inner = edge + min(0.085, 11 * pixel)
    lit = (-y - 0.6 * x) / 1.6  # from −1 in the shade to 1 in the light
    shaded = paint * (0.93 + 0.13 * lit)[..., None]
    _lay(image, np.minimum(shaded, 255), _sharp(inner, pixel))
    rim = _sharp(inner, pixel) * _soft(np.abs(inner + 0.06) - 0.03, 0.05)
    _lay(image, WHITE, 0.6 * rim * np.clip(lit * 2.2, 0, 1))
    _lay(image, BLACK, 0.22 * rim * np.clip(-lit * 2.2, 0, 1))
    if shape == "square":
        gleam = 0.22 * _sharp(inner + 0.1, pixel) * _soft(np.abs(y + x + 0.42) - 0.14, 0.06)
    else:
        gleam = 0.5 * _soft(ellipse(0.15, 0.24)(*_turned(y + 0.36, x + 0.3, -0.7)), 0.16)
    _lay(image, WHITE, gleam)


def draw_agent(image: Array, scale: float = 1.0) -> None:
    """The agent, with a face, in the middle of a square image."""
    y, x, pixel = _axes(len(image), 1.14 * scale)
    _lay(image, BLACK, 0.55 * _soft(ellipse(0.16, 0.5)(y - 0.53, x - 0.03), 0.2))
    body = square(0.53, 0.34)(y, x)
    _lay(image, RING, _sharp(body, pixel))
    inner = body + 0.085
    lit = np.clip(0.55 - 0.75 * y - 0.3 * x, 0, 1)[..., None]
    base = np.array(BODY, float)
    _lay(image, base * 0.78 + lit * (np.array((255, 142, 58)) - base * 0.78), _sharp(inner, pixel))
    rim = _sharp(inner, pixel) * _soft(np.abs(inner + 0.05) - 0.02, 0.045)
    _lay(image, (255, 226, 190), 0.75 * rim * np.clip(-1.6 * y - 0.9 * x, 0, 1))
    for side in (-1, 1):
        eye = ellipse(0.16, 0.125)(y + 0.09, x - 0.185 * side)
        _lay(image, (70, 24, 6), _sharp(eye - 0.03, pixel))
        _lay(image, WHITE, _sharp(eye, pixel))
        _lay(image, RING, _sharp(disc(0.085)(y + 0.065, x - 0.185 * side - 0.015), pixel))
        _lay(image, WHITE, _sharp(disc(0.032)(y + 0.1, x - 0.185 * side + 0.015), pixel))
    smile = np.maximum(np.abs(np.hypot(y - 0.08, x) - 0.16) - 0.028, 0.15 - y)
    _lay(image, (70, 24, 6), _sharp(smile, pixel))


def disc(radius: float) -> Shape:
    """A disc around the origin."""
    return lambda y, x: np.hypot(y, x) - radius


def square(half: float, corner: float) -> Shape:
    """A square around the origin, with rounded corners."""

    def distance(y: Array, x: Array) -> Array:
        down, right = np.abs(y) - half + corner, np.abs(x) - half + corner
        outside = np.hypot(np.maximum(down, 0), np.maximum(right, 0))
        return outside + np.minimum(np.maximum(down, right), 0) - corner

    return distance


def ellipse(down: float, right: float) -> Shape:
    """An ellipse around the origin; its distances are nearly right close to its edge."""
    return lambda y, x: (np.hypot(y / down, x / right) - 1) * min(down, right)


def _ground(board: Board) -> Array:
    """Walls of bricks, and a floor with a faint grid on which the walls throw their shadow."""
    size = board.side * CELL + 2 * BORDER
    inside = np.arange(size) - BORDER
    cell = np.clip(inside // CELL, 0, board.side - 1)
    free = board.free[cell[:, None], cell[None, :]]
    image = np.where(free[..., None], _floor(inside, cell), _bricks(inside))
    wall = (~free).astype(float)
    shade = _blurred(_moved(wall, 7, 4), 5) * free
    _lay(image, BLACK, 0.62 * shade)
    for down, right, colour, alpha in (
        (1, 0, WHITE, 0.28),
        (0, 1, WHITE, 0.16),
        (-1, 0, BLACK, 0.5),
        (0, -1, BLACK, 0.34),
    ):
        thick = 2
        edge = wall * _moved(free.astype(float), down * thick, right * thick)
        _lay(image, colour, alpha * edge)
    return image


def _floor(inside: Pixels, cell: Pixels) -> Array:
    """Tiles in two shades that hardly differ, with thin joints."""
    even = ((cell[:, None] + cell[None, :]) % 2)[..., None]
    image: Array = np.array(FLOOR, float) + 2.5 * even + np.array((1, 1, 2))
    at = inside % CELL
    first, last = at == 0, at == CELL - 1
    _lay(image, BLACK, 0.22 * (last[:, None] | last[None, :]))
    _lay(image, WHITE, 0.035 * (first[:, None] | first[None, :]))
    return image


def _bricks(inside: Pixels) -> Array:
    """Rows of bricks, every second one shifted by half, each with a shade of its own."""
    high, long = CELL // 4, CELL // 2
    course = inside // high
    across = inside[None, :] + (course[:, None] % 2) * (long // 2)
    down, along = inside[:, None] % high, across % long
    shades = np.random.default_rng(7).uniform(-1, 1, (course.max() + 9, across.max() // long + 9))
    shade = shades[course[:, None], across // long]
    image: Array = np.array(WALL, float) * (0.92 + 0.07 * shade)[..., None]
    _lay(image, WHITE, 0.16 * ((down == 1) | (along == 1)))
    _lay(image, BLACK, 0.16 * ((down == high - 1) | (along == long - 1)))
    _lay(image, (44, 48, 58), 0.85 * ((down == 0) | (along == 0)))
    return image


def _goal_frame(size: int, colour: str, shape: str) -> Frames:
    """What is seen when an object was collected: nothing but it, and the agent before it."""
    image = np.empty((size, size, 3))
    image[:] = FLOOR
    y, x, _ = _axes(size, 1.0)
    far = np.hypot(y, x)
    rays = 0.5 + 0.5 * np.cos(12 * np.arctan2(y, x))
    glow = np.clip(1.25 - far, 0, 1)
    _lay(image, OBJECT[colour], glow * (0.16 + 0.16 * _step(rays, 0.4, 0.6)))
    _lay(image, BLACK, 0.5 * np.clip(far - 0.75, 0, 1))
    draw_object(image, colour, shape, 1.02)
    draw_agent(image, AGENT_IN_FRAME)
    return _bytes(image)


def _axes(size: int, scale: float) -> tuple[Array, Array, float]:
    """Rows and columns of the pixels of a square image, and the size of a pixel."""
    at = ((np.arange(size) + 0.5) / size * 2 - 1) / scale
    y, x = np.meshgrid(at, at, indexing="ij")
    return y, x, 2 / size / scale


def _turned(y: Array, x: Array, angle: float) -> tuple[Array, Array]:
    return np.cos(angle) * y - np.sin(angle) * x, np.sin(angle) * y + np.cos(angle) * x


def _sharp(distance: Array, pixel: float) -> Array:
    """How much of each pixel a shape covers."""
    return np.clip(0.5 - distance / pixel, 0, 1)


def _soft(distance: Array, width: float) -> Array:
    """Like `_sharp`, with an edge that fades over a width."""
    return _step(-distance, -width / 2, width / 2)


def _step(values: Array, low: float, high: float) -> Array:
    """From 0 to 1 between two values, smoothly."""
    t = np.clip((values - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def _lay(image: Array, colour: Colour | Array, alpha: Array) -> None:
    """Blend a colour into an image, in place."""
    image += alpha[..., None] * (np.asarray(colour, float) - image)


def _moved(mask: Array, down: int, right: int) -> Array:
    """A mask shifted by some pixels; the edge is repeated."""
    rows = np.clip(np.arange(len(mask)) - down, 0, len(mask) - 1)
    columns = np.clip(np.arange(mask.shape[1]) - right, 0, mask.shape[1] - 1)
    return mask[np.ix_(rows, columns)]


def _blurred(mask: Array, radius: int) -> Array:
    """The mean over a square around each pixel, twice; the edge is repeated."""
    window = 2 * radius + 1
    for axis in (0, 1, 0, 1):
        n = mask.shape[axis]
        wide = np.pad(mask, [(radius + 1, radius) if i == axis else (0, 0) for i in (0, 1)], "edge")
        total = np.cumsum(wide, axis=axis)
        mask = (total.take(range(window, window + n), axis) - total.take(range(n), axis)) / window
    return mask


def _bytes(image: Array) -> Frames:
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)
