"""Mazes, generated: corridors between walls, with goals spread over them.

    world = maze(21, 41, goals=["cheese", "exit"], seed=3)

On the map of a maze, rooms are the cells of odd rows and odd columns.  Between two neighbouring
rooms there is a wall or a way.  The ways form a spanning tree of the rooms, so that exactly one
path leads from any cell to any other: R rooms have R − 1 ways.  `loops` opens further walls.

Three kinds of random spanning trees:

- **depth-first**: walk into a neighbouring room that is new, back up where there is none.  Long,
  winding corridors.
- **kruskal**: open walls in random order wherever that joins two parts.  Many short dead ends.
- **wilson**: random walks with their loops erased (Wilson 1996).  All spanning trees are equally
  likely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from taskalgebra.arrays import BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.limits import MOST_SEED
from taskalgebra.validation import count, one_of, share, unique_names
from taskalgebra.worlds.chance import State, seeded, uniform
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.grid import Cell, from_free

KINDS = ("depth-first", "kruskal", "wilson")
PLACES = ("random", "far apart")
MOST_CELLS = 2**28
"""Of a map: 16,384 × 16,384."""
MOST_FAR_APART = 1_000
"""Goals that are put far apart: each takes a search of the whole maze."""


def maze(
    rows: int,
    columns: int,
    goals: int | Sequence[str] | Mapping[str, Cell | Sequence[Cell]] = 4,
    *,
    seed: int = 0,
    loops: float = 0.0,
    kind: str = "depth-first",
    place: str = "random",
    step_reward: float = -0.1,
    slip_probability: float = 0.0,
    starts: Sequence[Cell] | None = None,
    touch: bool = False,
) -> FiniteMDP:
    """Generate a maze; equal arguments give equal mazes.

    Args:
        rows: of the map, walls included, at least 3.  Odd numbers fit; an even one has a wall twice
            as thick at the bottom.
        columns: of the map, likewise.
        goals: how many, named `g0`, `g1`, …; or their names; both are put on rooms, no two on
            one.  Or names and cells, as for `from_text`.
        seed: of the walls and of where goals are.
        loops: the share of the walls between two rooms that is opened beyond the spanning tree, so
            that there are several ways; 1 leaves only pillars.
        kind: of the spanning tree: "depth-first", "kruskal" or "wilson".
        place: of goals: "random", or "far apart", each as many steps as possible from those before
            it.
        step_reward: r_{s,a}, the same everywhere.
        slip_probability: of a move in one of the other three directions instead.
        starts: cells in which episodes begin; by default all.
        touch: whether goals are taken by moving onto their cells, rather than by `stay`.

    >>> maze(7, 9, 2, seed=1)
    <deterministic world: 25 states, 2 goals, 5 actions>
    """
    free = maze_map(rows, columns, seed=seed, loops=loops, kind=kind)
    one_of(place, PLACES, "place")
    if not isinstance(goals, Mapping):
        rooms = np.argwhere(free[1::2, 1::2])
        n_goals = _number(goals)
        if n_goals > len(rooms):
            raise ValueError(
                f"{n_goals:,} goals for the {len(rooms)} rooms of a maze of {rows} × {columns} "
                f"cells; make it larger, or give fewer goals"
            )
        given = None if isinstance(goals, int | np.integer) else list(goals)
        names = unique_names(given, "goal", "g", n_goals)
        if place == "random":
            chosen = np.random.default_rng([seed, 1]).permutation(len(rooms))[: len(names)]
        else:
            chosen = _spread(free, len(names), seed)
        cells = 2 * rooms[chosen] + 1
        goals = {name: (r, c) for name, (r, c) in zip(names, cells.tolist(), strict=True)}
    if not goals:
        raise ValueError("goals is empty; a maze needs at least one goal")
    return from_free(
        free,
        goals,
        step_reward=step_reward,
        slip_probability=slip_probability,
        starts=starts,
        touch=touch,
    )


def maze_map(
    rows: int, columns: int, *, seed: int = 0, loops: float = 0.0, kind: str = "depth-first"
) -> BoolArray:
    """The free cells of a maze, `[rows, columns]`; the arguments are those of `maze`."""
    count(rows, "rows", least=3, most=MOST_CELLS)
    count(columns, "columns", least=3, most=MOST_CELLS)
    if rows * columns > MOST_CELLS:
        raise ValueError(
            f"a maze of {rows:,} × {columns:,} cells is too large; {MOST_CELLS:,} are the most"
        )
    count(seed, "seed", least=0, most=MOST_SEED)
    one_of(kind, KINDS, "kind")
    extra = share(loops, "loops")
    height, width = (rows - 1) // 2, (columns - 1) // 2
    stream = seeded(seed)
    grow = {"depth-first": _depth_first, "kruskal": _kruskal, "wilson": _wilson}[kind]
    ways = grow(height, width, stream)
    closed = _closed(ways)
    opened = round(extra * len(closed))
    if opened:
        _shuffle(closed, opened, stream)
        ways[closed[:opened, 0], closed[:opened, 1], closed[:opened, 2]] = True
    free = np.zeros((rows, columns), np.bool_)
    inner = free[1 : 2 * height, 1 : 2 * width]
    inner[::2, ::2] = True
    inner[::2, 1::2] = ways[:, :-1, 0]
    inner[1::2, ::2] = ways[:-1, :, 1]
    return free


def _number(goals: int | Sequence[str]) -> int:
    """Of goals; their names come later, as a mistake in the number might make too many."""
    if isinstance(goals, str) or not isinstance(goals, int | np.integer | Sequence):
        raise TypeError(f"goals must be a number, names or {{name: cell}}, got {goals!r}")
    return count(goals, "goals") if isinstance(goals, int | np.integer) else len(goals)


# The ways between rooms: `ways[r, c, 0]` to the right, `ways[r, c, 1]` downwards.  In the last
# column and the last row these lead nowhere and stay closed.


@kernel
def _below(n: int, stream: State) -> int:
    """A whole number from 0 to n − 1."""
    return min(int(uniform(stream) * n), n - 1)


@kernel
def _neighbours(room: int, height: int, width: int, found: LongArray) -> int:
    """Fill in the rooms next to a room, and count them."""
    r, c = room // width, room % width
    n = 0
    if r > 0:
        found[n] = room - width
        n += 1
    if c < width - 1:
        found[n] = room + 1
        n += 1
    if r < height - 1:
        found[n] = room + width
        n += 1
    if c > 0:
        found[n] = room - 1
        n += 1
    return n


@kernel
def _open(ways: BoolArray, one: int, other: int) -> None:
    """Open the wall between two neighbouring rooms."""
    width = ways.shape[1]
    first, down = min(one, other), abs(one - other) == width  # in one column, also where width is 1
    ways[first // width, first % width, 1 if down else 0] = True


@kernel
def _depth_first(height: int, width: int, stream: State) -> BoolArray:
    ways = np.zeros((height, width, 2), np.bool_)
    met = np.zeros(height * width, np.bool_)
    stack = np.empty(height * width, np.int32)
    around = np.empty(4, np.int64)
    stack[0] = _below(height * width, stream)
    met[stack[0]] = True
    size = 1
    while size > 0:
        room = int(stack[size - 1])
        n = 0
        for k in range(_neighbours(room, height, width, around)):
            if not met[around[k]]:
                around[n] = around[k]
                n += 1
        if n == 0:
            size -= 1
            continue
        chosen = int(around[_below(n, stream)])
        met[chosen] = True
        _open(ways, room, chosen)
        stack[size] = chosen
        size += 1
    return ways


@kernel
def _kruskal(height: int, width: int, stream: State) -> BoolArray:
    ways = np.zeros((height, width, 2), np.bool_)
    walls = _closed(ways)
    _shuffle(walls, len(walls), stream)
    root = np.arange(height * width).astype(np.int32)
    for i in range(len(walls)):
        one = walls[i, 0] * width + walls[i, 1]
        other = one + (1 if walls[i, 2] == 0 else width)
        a, b = one, other
        while root[a] != a:  # path halving
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        if a != b:
            root[max(a, b)] = min(a, b)
            ways[walls[i, 0], walls[i, 1], walls[i, 2]] = True
    return ways


@kernel
def _wilson(height: int, width: int, stream: State) -> BoolArray:
    ways = np.zeros((height, width, 2), np.bool_)
    inside = np.zeros(height * width, np.bool_)
    after = np.empty(height * width, np.int32)  # where a walk left each room for the last time
    around = np.empty(4, np.int64)
    inside[_below(height * width, stream)] = True
    for start in range(height * width):
        room = start
        while not inside[room]:
            after[room] = around[_below(_neighbours(room, height, width, around), stream)]
            room = int(after[room])
        room = start
        while not inside[room]:
            inside[room] = True
            _open(ways, room, int(after[room]))
            room = int(after[room])
    return ways


@kernel
def _closed(ways: BoolArray) -> IntArray:
    """[N, 3], the walls between two rooms that are closed: row, column, 0 right or 1 down."""
    height, width = ways.shape[0], ways.shape[1]
    found = np.empty((2 * height * width, 3), np.int32)
    n = 0
    for r in range(height):
        for c in range(width):
            for d in range(2):
                last = c == width - 1 if d == 0 else r == height - 1
                if not last and not ways[r, c, d]:
                    found[n, 0], found[n, 1], found[n, 2] = r, c, d
                    n += 1
    return found[:n].copy()


@kernel
def _shuffle(walls: IntArray, n: int, stream: State) -> None:
    """Bring n walls, chosen at random, to the front, in random order (Fisher and Yates)."""
    for i in range(n):
        k = i + _below(len(walls) - i, stream)
        for column in range(3):
            walls[i, column], walls[k, column] = walls[k, column], walls[i, column]


def _spread(free: BoolArray, n: int, seed: int) -> LongArray:
    """Rooms far apart, by their numbers: the first at random, each next one furthest from all."""
    count(n, "the number of goals that are far apart", most=MOST_FAR_APART)
    nearest = np.full(free.shape, np.iinfo(np.int32).max, np.int32)
    width = (free.shape[1] - 1) // 2
    n_rooms = (free.shape[0] - 1) // 2 * width
    room = int(np.random.default_rng([seed, 1]).integers(n_rooms))
    chosen = np.empty(n, np.int64)
    for i in range(n):
        chosen[i] = room
        _nearer(free, nearest, 2 * (room // width) + 1, 2 * (room % width) + 1)
        distance = np.where(free, nearest, -1)[1::2, 1::2][: n_rooms // width, :width]
        room = int(distance.argmax())
    return chosen


@kernel
def _nearer(free: BoolArray, nearest: IntArray, row: int, column: int) -> None:
    """Lower `nearest` to the steps from a cell, wherever that is nearer than before."""
    rows, columns = free.shape
    queue = np.empty(rows * columns, np.int64)
    queue[0], head, tail = row * columns + column, 0, 1
    nearest[row, column] = 0
    while head < tail:
        here = queue[head]
        head += 1
        steps = nearest[here // columns, here % columns] + 1
        for there in (here - columns, here + 1, here + columns, here - 1):
            r, c = there // columns, there % columns  # the edge of a maze is a wall
            if free[r, c] and nearest[r, c] > steps:
                nearest[r, c] = steps
                queue[tail] = there
                tail += 1
