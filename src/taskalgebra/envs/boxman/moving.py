r"""How good an agent can be at moving targets: the optimum, and the agent that goes to the nearest.

Collected objects reappear at random, so the best that an agent can expect is a matter of planning:
V_t(a, S) is the expected number of pick-ups in t steps by an agent on cell a, with wanted objects
on the cells S.

    V_0(a, S) = 0
    V_t(a, S) = max( max_a' V_{t−1}(a', S),  1 + E_z V_{t−1}(a, S \ {a} ∪ {z})  if a ∈ S )

where a' is a cell that a move leads to, and z is drawn from the cells that are neither a nor in S.
By touch, a move to a' ∈ S is itself the pick-up.

Objects that are not wanted only take away some of the cells z.  They are left out: which ones they
take away is random, and an agent that knew them would hardly do better.
"""

from __future__ import annotations

from math import comb
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.envs.boxman.board import MOVES, Board, Codes
from taskalgebra.envs.boxman.vector import ContinuingBoxman
from taskalgebra.theory.policy import Policy
from taskalgebra.validation import count

Units = NDArray[np.uint16]  # pick-ups, in units of which `_SCALE` are as many as there are steps
_SCALE = np.iinfo(np.uint16).max
MOST_STATES = 2**32


def most_pick_ups(board: Board, n_wanted: int, steps: int, *, by_touch: bool = False) -> float:
    """The expected number of pick-ups of the best agent, over random layouts.

    Every state is held in two bytes, so that the answer is off by `steps` / 131,070 at most for
    every pick-up.  On the board of the paper three wanted objects take 2 million states and a few
    seconds, six take 2,350 million, 5.2 GB and about half an hour.

    Args:
        board: of which walls are read, not objects.
        n_wanted: how many objects are wanted.
        steps: of an episode.
        by_touch: whether an object is collected by stepping on it; the agent then starts on none.

    Raises:
        ValueError: there are more states than `MOST_STATES`, or no room for the objects.
    """
    n_cells = board.n_cells
    n_wanted = count(n_wanted, "n_wanted", most=n_cells - 1)
    steps = count(steps, "steps", most=_SCALE)
    n_sets, n_states = comb(n_cells, n_wanted), comb(n_cells, n_wanted) * n_cells
    if n_states > MOST_STATES:
        raise ValueError(
            f"{n_wanted} wanted objects on {n_cells} cells are {n_states:.2g} states, more than "
            f"{MOST_STATES:.2g}; plan for fewer objects"
        )
    unit = _SCALE // steps
    values = np.zeros((n_sets, n_cells), np.uint16)
    after = np.zeros((comb(n_cells, n_wanted - 1), n_cells), np.uint16)
    choose = np.array([[comb(n, k) for k in range(n_wanted + 1)] for n in range(n_cells)], np.int64)
    for _ in range(steps):
        _land(values, n_wanted, choose, after)
        _improve(values, n_wanted, choose, after, board.neighbour, by_touch, unit)
    total, n_starts = _total(values, n_wanted, by_touch)
    return float(total / n_starts / unit)


@kernel
def _next_set(cells: LongArray) -> None:
    """The next set of cells, in the order of their numbers: Σ_i C(cells[i], i + 1)."""
    i = 0
    while i + 1 < cells.size and cells[i] + 1 == cells[i + 1]:
        i += 1
    cells[i] += 1
    for j in range(i):
        cells[j] = j


@kernel
def _land(values: Units, n_wanted: int, choose: LongArray, after: Units) -> None:
    """after[R, a] = E_z V(a, R ∪ {z}), for sets R of one object less than there are."""
    n_cells = values.shape[1]
    others = np.arange(n_wanted - 1)
    total = np.empty(n_cells, np.uint32)
    for r in range(after.shape[0]):
        total[:] = 0
        below, above, k = 0, 0, 0  # parts of the number of R ∪ {z}: cells before and after z
        for i in range(others.size):
            above += choose[others[i], i + 2]
        for z in range(n_cells):
            if k < others.size and others[k] == z:
                below += choose[z, k + 1]
                above -= choose[z, k + 2]
                k += 1
                continue
            row = values[below + choose[z, k + 1] + above]
            for a in range(n_cells):
                total[a] += row[a]
            total[z] -= row[z]  # not where the agent stands
        n = n_cells - n_wanted
        for a in range(n_cells):
            after[r, a] = (total[a] + n // 2) // n
        for i in range(others.size):
            after[r, others[i]] = 0
        if r + 1 < after.shape[0]:
            _next_set(others)


@kernel
def _improve(
    values: Units,
    n_wanted: int,
    choose: LongArray,
    after: Units,
    neighbour: IntArray,
    by_touch: bool,
    unit: int,
) -> None:
    """From V_{t−1} to V_t, in place: only `after` looks at other sets."""
    n_cells = values.shape[1]
    wanted = np.arange(n_wanted)
    collected = np.empty(n_wanted, np.uint16)
    ahead = np.empty(n_cells, np.uint16)
    for s in range(values.shape[0]):
        row = values[s]
        ahead[:] = row
        for i in range(n_wanted):
            r = 0
            for j in range(n_wanted):
                if j != i:
                    r += choose[wanted[j], j + 1 if j < i else j]
            collected[i] = unit + after[r, wanted[i]]
            if by_touch:
                ahead[wanted[i]] = collected[i]
        for a in range(n_cells):
            best = ahead[neighbour[a, 0]]
            for k in range(1, neighbour.shape[1]):
                best = max(best, ahead[neighbour[a, k]])
            row[a] = best
        if not by_touch:
            for i in range(n_wanted):
                row[wanted[i]] = max(row[wanted[i]], collected[i])
        if s + 1 < values.shape[0]:
            _next_set(wanted)


@kernel
def _total(values: Units, n_wanted: int, by_touch: bool) -> tuple[float, int]:
    """The sum of values over all starts, and their number; by touch none is on an object."""
    total, n_starts = 0.0, values.size
    wanted = np.arange(n_wanted)
    for s in range(values.shape[0]):
        for a in range(values.shape[1]):
            total += values[s, a]
        if by_touch:
            n_starts -= n_wanted
            for i in range(n_wanted):
                total -= values[s, wanted[i]]
        if s + 1 < values.shape[0]:
            _next_set(wanted)
    return total, n_starts


def towards_nearest(board: Board, codes: Codes, wanted: BoolArray, *, by_touch: bool) -> LongArray:
    """[N], the action of an agent that knows all distances, and goes to the nearest wanted object.

    On its cell it picks it up.  Of equal distances the first object counts, and the first move.
    """
    here = codes[:, 0].astype(np.int64)
    distance = board.distance[here[:, None], codes[:, 2:]]
    target = np.where(wanted, distance, board.n_cells).argmin(axis=1)
    rows = np.arange(len(codes))
    place = codes[rows, 2 + target].astype(np.int64)
    ahead = board.distance[board.neighbour[here], place[:, None]]
    moves: LongArray = ahead.argmin(axis=1).astype(np.int64)
    return moves if by_touch else np.where(here == place, len(MOVES), moves)


@final
class NearestFirst(Policy):
    """The agent of `towards_nearest`; it looks at the games themselves, not at their screens."""

    observation_ndim = 3

    def __init__(self, games: ContinuingBoxman, wanted: ArrayLike) -> None:
        """Take the games that are played, and `[G]`, the wanted objects."""
        self._games, self._wanted = games, np.asarray(wanted, np.bool_)

    def actions(self, observations: object) -> LongArray:
        """The actions for all games."""
        world, codes = self._games.world, self._games.codes
        return towards_nearest(world.board, codes, self._wanted, by_touch=world.by_touch)
