"""A world as an image: walls, floor, goals and the agent, drawn with numpy alone.

A desired goal is a filled blue diamond, any other an orange outline, like ◆ and ◇ in text; they
differ in shape and in colours that colour-blind readers can tell apart.  The agent is a dark disc
with a light ring.  In an absorbing state the cell is filled with the colour of its goal.
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array, BoolArray, Image
from taskalgebra.drawing.board import NOTHING, World, layout

Colour = tuple[int, int, int]

CELL, LEAST_CELL, LONGEST_SIDE = 24, 4, 1024  # pixels
WALL: Colour = (60, 66, 80)
FLOOR: Colour = (247, 246, 242)
LINE: Colour = (228, 226, 219)
SHADE: Colour = (205, 203, 197)
DESIRED: Colour = (0, 114, 178)
DESIRED_FLOOR: Colour = (207, 228, 240)
OTHER: Colour = (213, 94, 0)
OTHER_FLOOR: Colour = (249, 227, 209)
AGENT: Colour = (32, 34, 40)
RING: Colour = (255, 255, 255)
_FINER = 8  # samples per pixel and direction, for smooth edges


class Drawing:
    """The map of a world with the goals of a task, on which the agent is drawn."""

    def __init__(self, mdp: World, desired: BoolArray) -> None:
        """Draw everything but the agent."""
        self._mdp = mdp
        self._desired = desired
        states, self._corner = layout(mdp)
        self._cell = max(LEAST_CELL, min(CELL, LONGEST_SIDE // max(states.shape)))
        self._axes = self._samples()
        self._still = self._ground(states == NOTHING)
        for number in np.argsort(desired, kind="stable"):  # of goals on one cell, a desired one
            self._diamond(self._at(self._still, int(mdp.goals[number])), bool(desired[number]))

    def frame(self, state: int | None) -> Image:
        """The picture with the agent in a state, or without an agent."""
        image = self._still.copy()
        if state is not None:
            tile = self._at(image, state)
            here = self._desired[self._mdp.goals == state]
            if here.size:
                tile[1:, 1:] = DESIRED if here[0] else OTHER
            y, x = self._axes
            for radius, colour in ((0.6, RING), (0.48, AGENT)):
                self._blend(tile, colour, y**2 + x**2 < radius**2)
        return image

    def _ground(self, wall: BoolArray) -> Image:
        """Walls and floor, with lines between cells and the shadow of the wall above."""
        p = self._cell
        image = np.empty((wall.shape[0] * p, wall.shape[1] * p, 3), np.uint8)
        image[:] = WALL
        for row, column in np.argwhere(~wall):
            tile = image[row * p : (row + 1) * p, column * p : (column + 1) * p]
            tile[:] = LINE
            tile[1:, 1:] = FLOOR
            if row and wall[row - 1, column]:
                tile[: max(1, p // 8)] = SHADE
        return image

    def _at(self, image: Image, state: int) -> Image:
        """The part of an image that shows the cell of a state."""
        assert self._mdp.cells is not None
        row, column = (self._mdp.cells[state] - self._corner) * self._cell
        return image[row : row + self._cell, column : column + self._cell]

    def _diamond(self, tile: Image, desired: bool) -> None:
        """A goal; its floor is tinted, which the agent does not hide."""
        tile[1:, 1:] = tint = DESIRED_FLOOR if desired else OTHER_FLOOR
        y, x = np.abs(self._axes[0]), np.abs(self._axes[1])
        self._blend(tile, DESIRED if desired else OTHER, y + x < 0.9)
        if not desired:
            self._blend(tile, tint, y + x < 0.58)

    def _samples(self) -> tuple[Array, Array]:
        """Points of a cell, several per pixel, down and across; the cell extends from −1 to 1.

        The line of a cell is its first row and column of pixels; the rest is centred at 0.
        """
        pixel = (np.arange(self._cell * _FINER) + 0.5) / _FINER
        axis = (pixel - (self._cell + 1) / 2) / ((self._cell - 1) / 2)
        return axis[:, None], axis[None, :]

    def _blend(self, tile: Image, colour: Colour, inside: BoolArray) -> None:
        """Paint a shape onto a cell, in place, with smooth edges."""
        p = self._cell
        share = inside.reshape(p, _FINER, p, _FINER).mean(axis=(1, 3))[:, :, None]
        tile[:] = np.rint(tile * (1 - share) + np.array(colour) * share).astype(np.uint8)
