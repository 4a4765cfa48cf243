"""The rules of Boxman, the video game of Section 5, on any board and for any number of objects.

A board is a map of walls and free cells, and a list of objects.  The state of a game is a short row
of bytes, its *code*:

    code[0]   the free cell on which the agent stands
    code[1]   0, or 1 + the number of the object that it holds
    code[2:]  the free cell of every object

The agent moves up, right, down or left; walls stop it.  Objects are collected in one of two ways:

- by *pick-up*, a fifth action: on a cell with an object it collects that object, elsewhere it does
  nothing.  Every task ends with whatever is picked up, so all tasks share their absorbing states.
- by *touch*: the agent collects an object that its task desires by stepping on it, and walks over
  the others.  Tasks then differ in their absorbing states.

Every action costs the step reward.  Once an object is collected the agent holds it, and the screen
shows nothing else; the next action, whatever it is, pays the terminal reward and ends the episode.
From distance d the best return is r(g) + r_step·(d + 1) by pick-up, and r(g) + r_step·d by touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.content import ByContent
from taskalgebra.validation import closest, instance, listed

Codes = NDArray[np.uint8]  # [N, 2 + objects]
Cell = tuple[int, int]  # row, column

MOVES: dict[str, Cell] = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
PICK_UP = "pick up"
SHAPES = ("square", "circle")
COLOURS = ("blue", "beige", "purple")
STEP_REWARD = -0.1
MOST_CELLS = 255

PAPER_MAP = """
##########
#........#
#........#
#....#...#
#...##...#
#..##....#
#...#....#
#........#
#........#
##########
"""
PAPER_OBJECTS: dict[str, Cell] = {
    "beige square": (1, 1),
    "blue square": (8, 1),
    "purple square": (6, 3),
    "beige circle": (1, 7),
    "blue circle": (1, 8),
    "purple circle": (7, 7),
}


@final
@dataclass(frozen=True, eq=False)
class Board(ByContent):
    """Walls, free cells and objects.

    `free[R, C]` tells free cells from walls; the free cells are numbered row by row.  An object is
    named by its colour and shape, `"blue square"`.
    """

    free: BoolArray  # [R, C]
    objects: tuple[str, ...]

    @classmethod
    def of(cls, text: str, objects: Sequence[str]) -> Board:
        """Read a map of `#` for walls and `.` for free cells."""
        lines = instance(text, str, "the map").split()
        if not lines or {len(line) for line in lines} != {len(lines)}:
            lengths = sorted({len(line) for line in lines})
            raise ValueError(
                f"the map has {len(lines)} rows of {listed([str(n) for n in lengths])} "
                f"characters; a board of Boxman is square: as many rows as columns"
            )
        strange = sorted(set("".join(lines)) - set("#."))
        if strange:
            raise ValueError(
                f"the map has {strange[0]!r}; expected '#' for a wall or '.' for a free cell"
            )
        free = np.array([[character == "." for character in line] for line in lines])
        border = free.copy()
        border[1:-1, 1:-1] = False
        if border.any():
            row, column = np.argwhere(border)[0]
            raise ValueError(
                f"({row}, {column}) on the border of the map is free; surround the board by walls"
            )
        names = _object_names(objects)
        n_free = int(free.sum())
        if not len(names) < n_free <= MOST_CELLS:
            raise ValueError(
                f"{len(names)} objects on {n_free} free cells; a board of Boxman has more cells "
                f"than objects, and at most {MOST_CELLS}"
            )
        board = cls(free, names)
        if (board.distance < 0).any():
            here, there = board.cells[np.argwhere(board.distance < 0)[0]].tolist()
            raise ValueError(
                f"there is no path from {tuple(here)} to {tuple(there)}; open one, so that every "
                f"free cell can be reached from every other"
            )
        return board

    @property
    def side(self) -> int:
        """The number of rows, and of columns."""
        return int(self.free.shape[0])

    @property
    def n_cells(self) -> int:
        """The number of free cells."""
        return len(self.cells)

    @property
    def n_objects(self) -> int:
        """The number of objects, which is the number of goals."""
        return len(self.objects)

    def colour(self, number: int) -> str:
        """The colour of an object."""
        return self.objects[number].split()[0]

    def shape(self, number: int) -> str:
        """The shape of an object."""
        return self.objects[number].split()[1]

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """[cells, 2], row and column of every free cell."""
        return np.argwhere(self.free)

    def cell(self, place: Cell) -> int:
        """The number of a free cell."""
        try:
            row, column = (index(i) for i in place)
        except (TypeError, ValueError):
            raise ValueError(f"a cell is (row, column) as integers, got {place!r}") from None
        if not (0 <= row < self.side and 0 <= column < self.side) or not self.free[row, column]:
            raise ValueError(
                f"({row}, {column}) is not a free cell of this board of {self.side} rows and "
                f"columns, counted from 0; choose one that is not a wall"
            )
        return int(self.free[: row + 1].sum() - self.free[row, column:].sum())

    @cached_property
    def neighbour(self) -> IntArray:
        """[cells, 4], the cell that a move leads to; into a wall, the cell itself."""
        number = np.full(self.free.shape, -1, np.int32)
        number[self.free] = np.arange(self.n_cells)
        table = np.empty((self.n_cells, len(MOVES)), np.int32)
        for a, (down, right) in enumerate(MOVES.values()):
            there = number[self.cells[:, 0] + down, self.cells[:, 1] + right]
            table[:, a] = np.where(there >= 0, there, np.arange(self.n_cells))
        return table

    @cached_property
    def distance(self) -> IntArray:
        """[cells, cells], the least number of moves from one cell to another; −1 if none."""
        nobody = np.zeros(self.n_cells, np.bool_)
        columns = [distances_to(self.neighbour, i, nobody) for i in range(self.n_cells)]
        return np.stack(columns, axis=1)

    def checked_codes(self, given: ArrayLike) -> Codes:
        """[N, 2 + objects], checked codes from outside.

        Cells must exist; two objects may lie on one.
        """
        try:
            codes = np.asarray(given)
        except ValueError:
            codes = np.empty(0)
        width = 2 + self.n_objects
        if codes.ndim != 2 or codes.shape[1] != width or codes.dtype.kind not in "iu":
            raise ValueError(
                f"a code is {width} whole numbers: the cell of the agent, what it holds, and the "
                f"cell of each of {listed(self.objects)}; got {given!r}"
            )
        if not codes.size:
            return np.empty((0, width), np.uint8)
        if codes[:, 1].max() > self.n_objects:
            raise ValueError(
                f"code[1] is {codes[:, 1].max()}, expected 0 for nothing in hand or 1 to "
                f"{self.n_objects} for an object"
            )
        if codes.min() < 0 or codes.max() >= self.n_cells:
            wrong = codes[(codes < 0) | (codes >= self.n_cells)][0]
            raise ValueError(f"cells are numbered 0 to {self.n_cells - 1}, got {wrong}")
        return np.ascontiguousarray(codes, np.uint8)


@kernel
def distances_to(neighbour: IntArray, target: int, blocked: BoolArray) -> IntArray:
    """[cells], the least number of moves to a cell without entering a blocked cell; −1 if none.

    Every move can be taken back, so the search starts at the target.  A blocked cell may be left,
    so it has a distance; nothing is reached through it.
    """
    n_cells = neighbour.shape[0]
    distance = np.full(n_cells, -1, np.int32)
    queue = np.empty(n_cells, np.int32)
    queue[0], first, last = target, 0, 1
    distance[target] = 0
    while first < last:
        here = queue[first]
        first += 1
        if blocked[here] and here != target:
            continue
        for a in range(neighbour.shape[1]):
            there = neighbour[here, a]
            if distance[there] < 0:
                distance[there] = distance[here] + 1
                queue[last] = there
                last += 1
    return distance


def _object_names(objects: Sequence[str]) -> tuple[str, ...]:
    """Names of objects that can be drawn, each once."""
    names = tuple(objects)
    if not names:
        raise ValueError("there are no objects; a board of Boxman needs at least one")
    known = [f"{colour} {shape}" for colour in COLOURS for shape in SHAPES]
    for name in names:
        if name not in known:
            hint = closest(name, known) if isinstance(name, str) else ""
            raise ValueError(f"unknown object {name!r}; objects are {listed(known)}{hint}")
    if len(set(names)) != len(names):
        raise ValueError(f"every object may appear only once, got {', '.join(names)}")
    return names


@kernel
def advance(
    codes: Codes,
    actions: NDArray[np.int64],
    neighbour: IntArray,
    by_touch: bool,
    desired: BoolArray,
    collected: NDArray[np.int64],
) -> None:
    """Move every game by one action, in place.

    `collected[N]` becomes the object with which a game has just ended, or −1.  `desired` is read by
    touch only.
    """
    n_objects = codes.shape[1] - 2
    n_moves = neighbour.shape[1]
    for i in range(codes.shape[0]):
        if codes[i, 1] > 0:
            collected[i] = codes[i, 1] - 1
            continue
        collected[i] = -1
        here = codes[i, 0]
        a = actions[i]
        if a < n_moves:
            there = neighbour[here, a]
            codes[i, 0] = there
            if by_touch and there != here:
                for j in range(n_objects):
                    if codes[i, 2 + j] == there and desired[j]:
                        codes[i, 1] = j + 1
        else:
            for j in range(n_objects):
                if codes[i, 2 + j] == here:
                    codes[i, 1] = j + 1


@kernel
def deal(codes: Codes, rows: NDArray[np.int64], uniform: Array, n_cells: int, apart: bool) -> None:
    """Start some games: agent and objects on random cells, no two objects on one.

    `uniform[rows, 1 + objects]` are numbers in [0, 1).  With `apart` the agent starts on none of
    the objects, otherwise on any cell.
    """
    n_objects = codes.shape[1] - 2
    order = np.arange(n_cells)
    for k in range(rows.size):
        i = rows[k]
        codes[i, 1] = 0
        for j in range(n_objects):
            other = j + int(uniform[k, 1 + j] * (n_cells - j))
            order[j], order[other] = order[other], order[j]
            codes[i, 2 + j] = order[j]
        if apart:
            codes[i, 0] = order[n_objects + int(uniform[k, 0] * (n_cells - n_objects))]
        else:
            codes[i, 0] = order[int(uniform[k, 0] * n_cells)]


@kernel
def reappear(codes: Codes, rows: NDArray[np.int64], uniform: Array, n_cells: int) -> None:
    """Put the objects that some games hold on random free cells, in place.

    A cell is free if no object lies on it and the agent does not stand there.  `uniform[rows]` are
    numbers in [0, 1).
    """
    taken = np.zeros(n_cells, np.bool_)
    for k in range(rows.size):
        i = rows[k]
        held = codes[i, 1] + 1  # where its cell is in the code
        taken[:] = False
        taken[codes[i, 0]] = True
        for j in range(2, codes.shape[1]):
            if j != held:
                taken[codes[i, j]] = True
        left = int(uniform[k] * (n_cells - taken.sum()))
        for cell in range(n_cells):
            if not taken[cell]:
                if left == 0:
                    codes[i, held] = cell
                    break
                left -= 1
        codes[i, 1] = 0


def optimal_returns(
    board: Board, codes: Codes, goal_reward: Array, *, by_touch: bool, step_reward: float
) -> Array:
    """[N], the best return from each code: the best over goals of r(g) + r_step·(moves + pick-up).

    By touch only goals that the task desires can be collected, those that pay most; the others are
    walked over, so they are not in the way.  An agent that starts on a desired object has to leave
    it and come back.
    """
    distance = board.distance[codes[:, :1], codes[:, 2:]]
    if by_touch:
        reward = np.where(goal_reward == goal_reward.max(), goal_reward, -np.inf)
        length = np.where(distance == 0, 2, distance)
    else:
        reward, length = goal_reward, distance + 1
    best: Array = (reward + step_reward * length).max(axis=1)
    holding = codes[:, 1].astype(np.int64) - 1
    return np.where(holding >= 0, goal_reward[holding], best)
