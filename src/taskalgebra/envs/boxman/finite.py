"""One layout of Boxman as a finite world, for planning and for exact answers.

States are the free cells by their numbers, then one absorbing state per goal frame.  Objects do not
move, so only the cell of the agent and what it holds change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import BoolArray
from taskalgebra.envs.boxman.board import MOVES, PICK_UP, STEP_REWARD, Board
from taskalgebra.validation import listed
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.finite import FiniteMDP


def finite_world(
    board: Board, places: ArrayLike, *, by_touch: bool, desired: ArrayLike | None = None
) -> FiniteMDP:
    """The world of a layout, by the rules of `board`.

    By pick-up it is one world for all tasks.  By touch every task has one of its own: the goal
    frames of objects that it does not desire are never entered.

    Args:
        board: walls and objects.
        places: `[objects]`, the number of the cell of every object, as in `code[2:]`.
        by_touch: whether desired objects are collected by stepping on them, without pick-up.
        desired: `[objects]`, true for the objects to collect by touch, of which there must be one;
            by default all of them.  By pick-up every object is collected, and this is not read.
    """
    at = _checked_places(places, board)
    cells, frames = np.arange(board.n_cells), board.n_cells + np.arange(board.n_objects)
    if by_touch:
        entered = cells.copy()
        collected = _checked_desired(desired, board)
        entered[at[collected]] = frames[collected]
        stays = board.neighbour == cells[:, None]
        dynamics = np.where(stays, cells[:, None], entered[board.neighbour])
        names, starts = tuple(MOVES), np.setdiff1d(cells, at)
    else:
        picked = cells.copy()
        picked[at] = frames
        dynamics = np.column_stack((board.neighbour, picked))
        names, starts = (*MOVES, PICK_UP), cells
    absorbing = np.repeat(frames[:, None], len(names), axis=1)
    return from_arrays(
        np.concatenate((dynamics, absorbing)),
        STEP_REWARD,
        frames,
        goal_names=board.objects,
        action_names=names,
        starts=starts,
        cells=np.concatenate((board.cells, board.cells[at])),
        resumes=at,
    )


def _checked_places(places: ArrayLike, board: Board) -> NDArray[np.int64]:
    at = np.asarray(places)
    fits = at.shape == (board.n_objects,) and at.dtype.kind in "iu"
    if not fits or at.min() < 0 or at.max() >= board.n_cells:
        raise ValueError(
            f"places must be cells, 0 to {board.n_cells - 1}, one for each of "
            f"{listed(board.objects)}; got {places!r}"
        )
    if np.unique(at).size != at.size:
        raise ValueError(f"two objects lie on one cell: {at.tolist()}; give each one of its own")
    return at.astype(np.int64)


def _checked_desired(desired: ArrayLike | None, board: Board) -> BoolArray:
    chosen = np.ones(board.n_objects, np.bool_) if desired is None else np.asarray(desired)
    if chosen.shape != (board.n_objects,) or chosen.dtype != np.bool_ or not chosen.any():
        raise ValueError(
            f"desired must hold true or false for each of {listed(board.objects)}, with at least "
            f"one true, or no episode ends; got {desired!r}"
        )
    return chosen
