"""What a network sees of Boxman: sprites drawn in code, at any size, and a compiled painter.

The frames are 84 × 84 on the board of the paper, 8 pixels per cell and a border of 2.  Blue, beige
and purple differ in lightness as well as in hue, so that colour-blind readers tell them apart.  The
agent is smaller than an object, so that an object below it is still seen.  Trained networks depend
on every byte of these frames, so they must not change; `picture` is for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.compiled import kernel
from taskalgebra.envs.boxman.board import Board, Codes

Frames = NDArray[np.uint8]  # [N, height, width, 3]
Pairs = NDArray[np.uint16]  # bytes, two at a time
Colour = tuple[int, int, int]

FLOOR: Colour = (38, 42, 52)
WALL: Colour = (98, 106, 122)
OBJECT: dict[str, Colour] = {
    "blue": (86, 180, 233),
    "beige": (242, 226, 184),
    "purple": (170, 68, 190),
}
BODY: Colour = (236, 96, 16)
RING: Colour = (24, 24, 28)
TILE = 8  # pixels of a cell
_TILE_PAIRS = TILE * 3 // 2
_FINER = 8  # samples per pixel and direction, for smooth edges


@final
@dataclass(frozen=True, eq=False)
class Sprites:
    """Everything that can be on the screen, drawn once."""

    ground: NDArray[np.uint8]  # [H, W, 3], walls and floor
    tiles: NDArray[np.uint8]  # [1 + objects, 2, t, t, 3], floor or object, without and with agent
    frames: Frames  # [objects, H, W, 3], the goal frames
    corners: NDArray[np.int64]  # [cells, 2], the upper left pixel of every cell


def draw(board: Board, tile: int = TILE, border: int = 2) -> Sprites:
    """Draw all sprites of a board: `tile` pixels per cell, and a border around; both even."""
    for value, what in ((tile, "tile"), (border, "border")):
        if value % 2:
            raise ValueError(f"{what} is {value}, expected an even number of pixels")
    size = board.side * tile + 2 * border
    ground = np.empty((size, size, 3), np.uint8)
    ground[:] = WALL
    corners = border + tile * board.cells
    floor = _tile(board, 0, agent=0, size=tile)
    for row, column in corners:
        ground[row : row + tile, column : column + tile] = floor
    tiles = np.stack(
        [
            np.stack([_tile(board, thing, agent=agent, size=tile) for agent in (0, 1)])
            for thing in range(1 + board.n_objects)
        ]
    )
    frames = np.stack(
        [_tile(board, 1 + number, agent=0.4, size=size) for number in range(board.n_objects)]
    )
    return Sprites(ground, tiles, frames, corners)


def _tile(board: Board, thing: int, *, agent: float, size: int) -> NDArray[np.uint8]:
    """One square picture: floor, object `thing` − 1 unless `thing` is 0, and agent, of a size."""
    y, x = _samples(size)
    image = np.empty((size, size, 3))
    image[:] = FLOOR
    if thing:
        if board.shape(thing - 1) == "square":
            inside = np.maximum(abs(y), abs(x)) < 0.75
        else:
            inside = y**2 + x**2 < 0.9**2
        _blend(image, OBJECT[board.colour(thing - 1)], inside)
    if agent:
        for radius, colour in ((0.62, RING), (0.48, BODY)):
            _blend(image, colour, y**2 + x**2 < (radius * agent) ** 2)
    return np.rint(image).astype(np.uint8)


def _samples(size: int) -> tuple[Array, Array]:
    """Coordinates from −1 to 1 of the samples of a square picture: a column and a row."""
    at = (np.arange(size * _FINER) + 0.5) / (size * _FINER) * 2 - 1
    return at[:, None], at[None, :]


def _blend(image: Array, colour: Colour, inside: BoolArray) -> None:
    """Cover a picture with a colour where its samples are inside, smoothly at the edge."""
    size = len(image)
    share = inside.reshape(size, _FINER, size, _FINER).mean(axis=(1, 3))[..., None]
    image += share * (np.array(colour) - image)


@kernel
def paint(
    codes: Codes,
    ground: NDArray[np.uint8],
    tiles: NDArray[np.uint8],
    frames: Frames,
    corners: NDArray[np.int64],
    out: Frames,
) -> None:
    """Paint the screen of every code into `out[N, H, W, 3]`, two bytes at a time."""
    n_things, size = tiles.shape[0], tiles.shape[2]
    width = ground.shape[1] * 3 // 2
    floor = ground.reshape(ground.size).view(np.uint16)
    goals = frames.reshape(frames.shape[0], ground.size).view(np.uint16)
    things = tiles.reshape(n_things, 2, size, size * 3).view(np.uint16)
    screens = out.reshape(out.shape[0], ground.size).view(np.uint16)
    for i in range(codes.shape[0]):
        screen = screens[i]
        below = goals[codes[i, 1] - 1] if codes[i, 1] > 0 else floor
        for k in range(below.size):
            screen[k] = below[k]
        if codes[i, 1] > 0:
            continue
        agent = codes[i, 0]
        under = 0
        for thing in range(1, n_things):
            cell = codes[i, 1 + thing]
            if cell == agent:
                under = thing
            else:
                at = corners[cell, 0] * width + corners[cell, 1] * 3 // 2
                _blit(screen, things[thing, 0], at, width)
        at = corners[agent, 0] * width + corners[agent, 1] * 3 // 2
        _blit(screen, things[under, 1], at, width)


@kernel
def _blit(screen: Pairs, tile: Pairs, at: int, width: int) -> None:
    """Copy a tile `[rows, pairs of bytes]` onto a screen of this width."""
    for y in range(tile.shape[0]):
        first = at + y * width
        if tile.shape[1] == _TILE_PAIRS:  # of a known length, which compiles to faster code
            for x in range(_TILE_PAIRS):
                screen[first + x] = tile[y, x]
        else:
            for x in range(tile.shape[1]):
                screen[first + x] = tile[y, x]


def read(frames: Frames, sprites: Sprites) -> Codes:
    """The reverse of `paint`: the codes of some screens on which there is a board.

    Raises:
        ValueError: a screen does not show a board with one agent and every object once.
    """
    size = sprites.tiles.shape[2]
    rows = sprites.corners[:, 0, None, None] + np.arange(size)[:, None]
    columns = sprites.corners[:, 1, None, None] + np.arange(size)
    n_cells, n_things = len(sprites.corners), len(sprites.tiles)
    seen = frames[:, rows, columns].reshape(len(frames), n_cells, -1)
    there = np.stack(  # [N, cells, things · 2], which tile is on which cell
        [(seen == tile).all(axis=2) for tile in sprites.tiles.reshape(2 * n_things, -1)], axis=2
    ).reshape(len(frames), n_cells, n_things, 2)
    agents = np.logical_or.reduce(there[..., 1], axis=2)
    objects = np.logical_or.reduce(there[..., 1:, :], axis=3)
    if (agents.sum(axis=1) != 1).any() or (objects.sum(axis=1) != 1).any():
        raise ValueError(
            "this screen shows no board with the agent and each of the objects once, such as those "
            "of Boxman.reset and Boxman.step"
        )
    held = np.zeros((len(frames), 1))
    cells = (agents.argmax(axis=1)[:, None], held, objects.argmax(axis=1))
    return np.concatenate(cells, axis=1).astype(np.uint8)
