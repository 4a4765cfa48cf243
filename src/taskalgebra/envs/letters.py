"""The rules of LetterWorld: layouts, moves, goals and what is seen.

The board is a 7 × 7 torus: who leaves it on one side enters on the other.  Each of the letters a to
l lies on two cells.  The corner (0, 0), where published episodes start, has none, and every cell
can be reached from there without crossing a letter.

Cells are numbered row by row, 0 to 48.  A *layout* is `[49]`, 0 for a free cell and 1 to 12 for the
letters a to l.  An *observation* is `[7, 7, 13]`, ones and zeros: a plane for each letter, and the
last one for the agent.  It holds the layout and the agent's cell, so that it is the whole state.  A
*code* is the same in 50 bytes: the agent's cell, then the layout.

The goals are the cells with letters, by letter and row by row for each: "a 1", "a 2", …, "l 2".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import LongArray
from taskalgebra.compiled import kernel
from taskalgebra.validation import checked_seed
from taskalgebra.worlds.finite import NO_GOAL
from taskalgebra.worlds.grid import ACTIONS, FREE, MOVES, rows_of

Bytes = NDArray[np.uint8]

SIDE, LETTERS, EACH = 7, tuple("abcdefghijkl"), 2
N_CELLS, N_LETTERED = SIDE * SIDE, EACH * len(LETTERS)
CORNER = 0
AT_CORNER, ANYWHERE = "corner", "anywhere"
ACTION_NAMES = ACTIONS[:4]
GOAL_NAMES = tuple(f"{letter} {i}" for letter in LETTERS for i in range(1, EACH + 1))
SHAPE = (SIDE, SIDE, len(LETTERS) + 1)
AGENT = len(LETTERS)  # the plane of the agent

_cells = np.stack(np.divmod(np.arange(N_CELLS), SIDE), axis=1)
NEIGHBOUR: LongArray = ((_cells[:, None] + MOVES) % SIDE) @ np.array([SIDE, 1])
"""[cells, actions], where each move leads."""
_ONE_HOT = np.eye(len(LETTERS) + 1, dtype=np.uint8)[:, 1:]  # [1 + letters, letters]

_ALL = (1 << N_CELLS) - 1
_LEFT = sum(1 << (SIDE * row) for row in range(SIDE))
_RIGHT = _LEFT << (SIDE - 1)
_LAST_ROW = N_CELLS - SIDE


def layout_of(seed: int) -> Bytes:
    """[49], the layout with this number."""
    layout: Bytes = np.zeros(N_CELLS, np.uint8)
    deal(np.random.default_rng(checked_seed(seed)), layout[None])
    return layout


def read_layout(rows: str | Sequence[str]) -> Bytes:
    """[49], a layout drawn as text: seven rows of seven letters, or `.` for a free cell.

    Raises:
        ValueError: it is no layout; the message says why.
    """
    lines = rows.split("\n") if isinstance(rows, str) else rows
    drawn = rows_of(lines)[0]
    if len(drawn) != SIDE or any(len(row) != SIDE for row in drawn):
        raise ValueError(f"a layout has {SIDE} rows of {SIDE} symbols, got {drawn}")
    text = "".join(drawn)
    known = {FREE: 0} | {letter: 1 + i for i, letter in enumerate(LETTERS)}
    unknown = sorted(set(text) - set(known))
    if unknown:
        raise ValueError(
            f"the layout has {unknown[0]!r}, expected '.' for a free cell or a letter from a to l"
        )
    layout = np.array([known[symbol] for symbol in text], np.uint8)
    check_layouts(layout[None])
    return layout


def check_layouts(layouts: Bytes) -> None:
    """Refuse what is no layout: `[N, 49]`.

    Raises:
        ValueError: letters are missing or too many, or some cell is out of reach.
    """
    for layout in layouts:
        counts = np.bincount(layout, minlength=len(LETTERS) + 1)
        for i, letter in enumerate(LETTERS, 1):
            if counts.size > len(LETTERS) + 1 or counts[i] != EACH:
                raise ValueError(
                    f"the letter {letter!r} lies on {counts[i]} cells, expected {EACH}: every "
                    f"letter from a to l lies on two cells, 0 stands for a free one"
                )
        if layout[CORNER]:
            raise ValueError("a letter lies in the corner (0, 0), where episodes start; move it")
        taken = 0
        for cell in np.flatnonzero(layout).tolist():
            taken |= 1 << cell
        if not _open(taken):
            raise ValueError(
                "some cell cannot be reached from the corner (0, 0) without crossing a letter; "
                "move letters apart"
            )


def drawn(code: ArrayLike) -> str:
    """A state as text: letters, `.` for free cells, and `@` for the agent."""
    given = np.asarray(code, np.uint8)
    symbols = np.array([FREE, *LETTERS])[given[1:]]
    symbols[given[0]] = "@"
    return "\n".join("".join(row) for row in symbols.reshape(SIDE, SIDE))


def observations_of(codes: ArrayLike) -> Bytes:
    """[N, 7, 7, 13], the observations of some codes, `[N, 50]`."""
    given = np.asarray(codes, np.uint8)
    seen = np.zeros((len(given), N_CELLS, SHAPE[2]), np.uint8)
    seen[:, :, :AGENT] = _ONE_HOT[given[:, 1:]]
    seen[np.arange(len(given)), given[:, 0], AGENT] = 1
    return seen.reshape(-1, *SHAPE)


def codes_of(observations: ArrayLike) -> Bytes:
    """[N, 50], the codes of some observations, `[N, 7, 7, 13]`."""
    seen = np.asarray(observations).reshape(-1, N_CELLS, SHAPE[2])
    codes = np.zeros((len(seen), 1 + N_CELLS), np.uint8)
    codes[:, 0] = seen[:, :, AGENT].argmax(axis=1)
    codes[:, 1:] = seen[:, :, :AGENT] @ np.arange(1, 1 + len(LETTERS), dtype=np.uint8)
    return codes


def goal_cells(codes: ArrayLike) -> LongArray:
    """[N, 24], the cell of every goal in some codes: by letter, and row by row for each."""
    layouts = np.asarray(codes, np.int64)[:, 1:]
    order = np.argsort(np.where(layouts > 0, layouts, len(LETTERS) + 1), axis=1, kind="stable")
    return order[:, :N_LETTERED]


def goals_entered(codes: Bytes) -> LongArray:
    """[N], the goal on whose cell the agent is, −1 where it has no letter."""
    cells, layouts = codes[:, 0], codes[:, 1:]
    own = layouts[np.arange(len(codes)), cells]
    before = (layouts == own[:, None]) & (np.arange(N_CELLS) < cells[:, None])
    return np.where(own > 0, EACH * (own.astype(np.int64) - 1) + before.sum(axis=1), NO_GOAL)


def standing(observations: ArrayLike, cells: ArrayLike) -> Bytes:
    """[N, K, 7, 7, 13], the same layouts with the agent on other cells, `[K]` or `[N, K]`."""
    seen = np.asarray(observations, np.uint8).reshape(-1, N_CELLS, SHAPE[2])
    there = np.asarray(cells, np.int64)
    there = np.broadcast_to(there, (len(seen), there.shape[-1]))
    moved = np.repeat(seen[:, None], there.shape[1], axis=1)
    moved[..., AGENT] = there[..., None] == np.arange(N_CELLS)
    return moved.reshape(*there.shape, *SHAPE)


@kernel
def _around(cells: int) -> int:
    """The neighbours of a set of cells; bit i stands for cell i."""
    up = (cells >> SIDE) | (cells << _LAST_ROW)
    down = (cells << SIDE) | (cells >> _LAST_ROW)
    left = ((cells & ~_LEFT) >> 1) | ((cells & _LEFT) << (SIDE - 1))
    right = ((cells & ~_RIGHT) << 1) | ((cells & _RIGHT) >> (SIDE - 1))
    return (up | down | left | right) & _ALL


@kernel
def _open(taken: int) -> bool:
    """Whether every cell can be reached from the corner without crossing a cell that is taken."""
    free = _ALL & ~taken
    seen, grown = 0, 1 << CORNER
    while grown != seen:
        seen = grown
        grown = seen | (_around(seen) & free)
    return (seen | _around(seen)) == _ALL


@kernel
def deal(rng: np.random.Generator, layouts: Bytes) -> None:
    """Fill `[N, 49]` with random layouts, all equally likely: shuffled until one is open.

    One in 68 is.
    """
    order = np.arange(1, N_CELLS)
    for i in range(len(layouts)):
        taken = -1
        while taken < 0 or not _open(taken):
            taken = 0
            for j in range(N_LETTERED):
                other = j + int(rng.random() * (order.size - j))
                order[j], order[other] = order[other], order[j]
                taken |= 1 << order[j]
        layouts[i] = 0
        for j in range(N_LETTERED):
            layouts[i, order[j]] = 1 + j // EACH
