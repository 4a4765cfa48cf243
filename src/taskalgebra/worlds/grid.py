"""Worlds drawn as text: rooms, walls and goals, with the semantics of Four Rooms (Section 4).

    world = from_text('''
        #######
        #A...B#
        ###.###
        #C...D#
        #######
    ''')

`#` is a wall, `.` a free cell; a letter or a digit is a free cell that holds the goal of that name.
The edge of the map is a wall.  Five actions: up, right, down, left, stay.  A move into a wall has
no effect but costs its step.

Absorbing states are separate states, one per goal: `stay` on a goal's cell costs the step reward
and leads there, and the next action pays the terminal reward.  So from d moves away the best return
is r(g) + r_step·(d + 1).  `stay` anywhere else has no effect but costs its step.

**By touch** there is no `stay`: every step that ends on the cell of a goal, a bump into a wall
included, leads into its absorbing state.  From d moves away the best return is r(g) + r_step·d.
The cell itself remains a state, in which episodes may begin, and go on after the goal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from operator import index
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.validation import flag, instance, listed, share
from taskalgebra.worlds.build import from_rows
from taskalgebra.worlds.finite import FiniteMDP

WALL, FREE = "#", "."
NO_GOAL = "the map has no goal"
ACTIONS = ("up", "right", "down", "left", "stay")
MOVES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
Cell = tuple[int, int]


class MapError(ValueError):
    """A mistake on a map: what it is, where, and what to do."""

    def __init__(self, what: str, *cells: tuple[int, int | None], advice: str) -> None:
        """Keep the cells, with rows and columns counted from 0, so that they can be retold."""
        super().__init__(what, cells, advice)
        self.what, self.cells, self.advice = what, cells, advice

    def __str__(self) -> str:
        """In rows and columns of the map."""
        return self.told(lambda row, column: place("row", row, column))

    def told(self, where: Callable[[int, int | None], str]) -> str:
        """The message, with cells in the reader's own terms."""
        places = " and ".join(where(*cell) for cell in self.cells)
        return f"{self.what}{places and f' at {places}'}; {self.advice}"


def place(rows: str, row: int, column: int | None) -> str:
    """A cell in words; None is a whole row."""
    return f"{rows} {row}" if column is None else f"{rows} {row}, column {column}"


def from_text(
    text: str | Sequence[str],
    goals: Mapping[str, Cell | Sequence[Cell]] | None = None,
    *,
    step_reward: float = -0.1,
    slip_probability: float = 0.0,
    starts: Sequence[Cell] | None = None,
    touch: bool = False,
    torus: bool = False,
    traps: Sequence[Cell] = (),
) -> FiniteMDP:
    """Make a world from a map.

    Args:
        text: the map, as one string or as rows; common indentation, blanks at the ends of rows and
            blank lines around it are ignored.
        goals: further goals, by name, with (row, column) counted from 0 at the top left.  A list of
            cells makes several goals, one per cell, with a number after the name: "coffee 1",
            "coffee 2".
        step_reward: r_{s,a}, the same everywhere.
        slip_probability: of a move in one of the other three directions instead.
        starts: cells in which episodes begin; by default every free cell with a way to a goal.
        touch: whether goals are taken by moving onto their cells, rather than by `stay`.
        torus: whether the map has no edge: who leaves it on one side enters on the other.
        traps: cells that no move leaves.
    """
    lines = text.split("\n") if isinstance(text, str) else text
    if not isinstance(lines, Sequence) or not all(isinstance(line, str) for line in lines):
        raise TypeError(f"a map is a string or a list of strings, got {text!r}")
    free, named = _read_map(rows_of(lines)[0])
    if not (goals or named):
        raise MapError(NO_GOAL, advice="put letters on it, or pass goals={'name': (row, column)}")
    return from_free(
        free,
        goals,
        drawn=named,
        step_reward=step_reward,
        slip_probability=slip_probability,
        starts=starts,
        touch=touch,
        torus=torus,
        traps=traps,
    )


def from_free(
    free: BoolArray,
    goals: Mapping[str, Cell | Sequence[Cell]] | None,
    *,
    drawn: Mapping[str, Cell] | None = None,
    step_reward: float = -0.1,
    slip_probability: float = 0.0,
    starts: Sequence[Cell] | None = None,
    touch: bool = False,
    torus: bool = False,
    traps: Sequence[Cell] = (),
) -> FiniteMDP:
    """Make a world from its free cells, `[rows, columns]`.

    `drawn` are goals that are known to be on free cells of their own; the other arguments are those
    of `from_text`.
    """
    named = dict(drawn or {})
    for name, cell in _one_by_one(instance(goals or {}, Mapping, "goals")):  # type: ignore[type-abstract]
        if name in named:
            raise ValueError(f"goal {name!r} is at {named[name]} and is given again")
        named[name] = _free_cell(cell, free, f"goal {name!r}")
    at: dict[Cell, str] = {}
    for name, cell in named.items():
        if at.setdefault(cell, name) != name:
            raise ValueError(
                f"goals {at[cell]!r} and {name!r} are both at {cell}; move one of them"
            )
    slips = share(slip_probability, "slip_probability")
    state_of = np.full(free.shape, -1, np.int32)
    state_of[free] = np.arange(np.count_nonzero(free), dtype=np.int32)
    start_cells = None if starts is None else [_free_cell(c, free, "start") for c in starts]
    moved = _moves(state_of, flag(torus, "torus"))
    for cell in traps:
        here = state_of[_free_cell(cell, free, "trap")]
        moved[here] = here
    return _world(
        state_of, moved, named, step_reward, slips, start_cells, touch=flag(touch, "touch")
    )


def absorbing_only(mdp: FiniteMDP, desired: ArrayLike) -> FiniteMDP:
    """The world of a task that ends only in some of the goals: "different absorbing sets".

    A transition into any other goal stays where it is instead, at the same cost.  States, goals and
    their numbers remain; the absorbing states of the other goals can no longer be entered.  Starts
    from which none of the desired goals can be reached are left out.

    Args:
        mdp: the world in which every goal ends an episode.
        desired: `[G]`, true for the goals to keep, at least one.
    """
    kept = np.asarray(desired)
    if kept.shape != (mdp.n_goals,) or kept.dtype != np.bool_ or not kept.any():
        raise ValueError(
            f"desired must hold true or false for each of the {mdp.n_goals} goals, with at least "
            f"one true, or no episode ends; got {desired!r}"
        )
    if kept.all():
        return mdp
    closed = np.zeros(mdp.n_states, np.bool_)
    closed[mdp.goals[~kept]] = True
    source = np.repeat(np.arange(mdp.n_states), np.diff(mdp.offset[:: mdp.n_actions]))
    world = from_rows(
        mdp.offset,
        np.where(closed[mdp.successor], source, mdp.successor),
        mdp.probability,
        step_reward=mdp.step_reward,
        goals=mdp.goals,
        shape=mdp.step_reward.shape,
        goal_names=mdp.goal_names,
        action_names=mdp.action_names,
        goal_reward=mdp.goal_reward,
        cells=mdp.cells,
        ends=mdp.ends,
        max_episode_steps=mdp.max_episode_steps,
        resumes=mdp.resumes,
    )
    starts = mdp.starts[world.ending[mdp.starts]]
    if not starts.size:
        names = [name for name, one in zip(mdp.goal_names, kept, strict=True) if one]
        raise ValueError(f"no start has a path to {listed(names)}; open a way or keep more goals")
    starts.setflags(write=False)
    return replace(world, starts=starts)


@kernel
def _moves(state_of: IntArray, torus: bool) -> IntArray:
    """[cells, 4], the cell in which each move from each free cell ends: up, right, down, left."""
    rows, columns = state_of.shape
    moved = np.empty((state_of.max() + 1, 4), np.int32)
    for r in range(rows):
        for c in range(columns):
            here = state_of[r, c]
            if here < 0:
                continue
            for direction in range(4):
                to_r, to_c = r + MOVES[direction, 0], c + MOVES[direction, 1]
                if torus:
                    to_r, to_c = to_r % rows, to_c % columns
                there = here
                if 0 <= to_r < rows and 0 <= to_c < columns and state_of[to_r, to_c] >= 0:
                    there = state_of[to_r, to_c]
                moved[here, direction] = there
    return moved


def _world(
    state_of: IntArray,
    moved: IntArray,
    goals: Mapping[str, Cell],
    step_reward: float,
    slip_probability: float,
    starts: Sequence[Cell] | None,
    *,
    touch: bool,
) -> FiniteMDP:
    """The world of a map: its free cells, then one absorbing state per goal."""
    actions = ACTIONS[:4] if touch else ACTIONS
    n_cells, n_goals, n_actions = len(moved), len(goals), len(actions)
    goal_cells = np.array(list(goals.values()))
    goal_states = np.arange(n_cells, n_cells + n_goals, dtype=np.int32)
    taken = np.arange(n_cells, dtype=np.int32)
    taken[state_of[tuple(goal_cells.T)]] = goal_states
    if touch:
        moved = taken[moved].astype(np.int64)

    return from_rows(
        *_rows(moved, taken, goal_states, n_actions, slip_probability),
        step_reward=step_reward,
        goals=goal_states,
        shape=(n_cells + n_goals, n_actions),
        goal_names=list(goals),
        action_names=actions,
        starts=None if starts is None else [int(state_of[cell]) for cell in starts],
        cells=np.concatenate((np.argwhere(state_of >= 0), goal_cells)),
        resumes=state_of[tuple(goal_cells.T)],
    )


def _rows(
    moved: IntArray, taken: IntArray, goal_states: IntArray, n_actions: int, slip_probability: float
) -> tuple[LongArray, IntArray | LongArray, Array]:
    """Offsets, successors and probabilities of a map, goals last."""
    n_cells = len(moved)
    if not slip_probability:
        table = np.empty((n_cells + goal_states.size, n_actions), np.int32)
        table[:n_cells, :4] = moved
        table[:n_cells, 4:] = taken[:, None]  # by touch there is no fifth action
        table[n_cells:] = goal_states[:, None]
        offset = np.arange(table.size + 1)
        offset.setflags(write=False)  # so that it is kept as it is
        return offset, table.ravel(), np.broadcast_to(1.0, table.size)

    # Outcomes of a move: its own direction, then the other three; impossible ones are dropped.
    chances = np.array([1.0 - slip_probability, *[slip_probability / 3] * 3])
    turns = np.flatnonzero(chances > 0)
    directions = (np.arange(4)[:, None] + turns) % 4
    taking = taken[:, None].repeat(n_actions - 4, axis=1)  # by touch there is no fifth action
    ways = moved.astype(np.int32)[:, directions.ravel()]
    outcome = np.concatenate((ways, taking), axis=1)
    chance = np.concatenate((np.tile(chances[turns], 4), np.ones(n_actions - 4)))
    counts = np.array([turns.size] * 4 + [1] * (n_actions - 4))
    at_goals = np.ones(goal_states.size * n_actions)
    per_pair = np.concatenate((np.tile(counts, n_cells), at_goals.astype(np.int64)))
    return (
        np.concatenate(([0], np.cumsum(per_pair))),
        np.concatenate((outcome.ravel(), goal_states.repeat(n_actions))),
        np.concatenate((np.tile(chance, n_cells), at_goals)),
    )


def rows_of(lines: Sequence[str]) -> tuple[list[str], int, int]:
    """The rows of a map, the number of lines above it, and of columns to the left of it."""
    ends = [str(line).rstrip() for line in lines]
    drawn = [i for i, line in enumerate(ends) if line]
    if not drawn:
        return [], 0, 0
    kept = ends[drawn[0] : drawn[-1] + 1]
    indents = [line[: len(line) - len(line.lstrip())] for line in kept if line]
    shared = (len(set(column)) == 1 for column in zip(*indents, strict=False))
    margin = len(list(takewhile(bool, shared)))
    return [line[margin:] for line in kept], drawn[0], margin


def _read_map(rows: Sequence[str]) -> tuple[BoolArray, dict[str, Cell]]:
    """Free cells as `[rows, columns]`, and the goals that are drawn on the map."""
    if not rows or not rows[0]:
        raise MapError("the map is empty", advice="draw at least one free cell '.' and one goal")
    for r, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise MapError(
                f"the map has {len(row)} columns, where its first row has {len(rows[0])},",
                (r, None),
                advice="make the rows equally long",
            )
    named: dict[str, Cell] = {}
    symbols = np.array(rows).view("U1").reshape(len(rows), len(rows[0]))
    free = symbols != WALL
    for r, c in np.argwhere(free & (symbols != FREE)).tolist():
        symbol = rows[r][c]
        if not symbol.isalnum():
            raise MapError(
                "the map has " + ("a tab" if symbol == "\t" else repr(symbol)),
                (r, c),
                advice="expected '#' for a wall, '.' for a free cell, or a letter or digit for a "
                "goal",
            )
        if symbol in named:
            raise MapError(
                f"goal {symbol!r} is drawn twice,",
                named[symbol],
                (r, c),
                advice="each letter is one cell; leave it out and pass "
                f"goals={{{symbol!r}: [{named[symbol]}, {(r, c)}]}}, which makes the goals "
                f"'{symbol} 1' and '{symbol} 2'",
            )
        named[symbol] = (r, c)
    return free, named


def _one_by_one(goals: Mapping[str, Cell | Sequence[Cell]]) -> Iterator[tuple[str, Cell]]:
    """Every goal with its cell; those of a list are numbered from 1."""
    for name, place in goals.items():
        cells = list(place) if isinstance(place, list | tuple) else []
        if cells and all(isinstance(cell, list | tuple) for cell in cells):
            for i, cell in enumerate(cells, 1):
                yield f"{name} {i}", cast(Cell, cell)
        else:
            yield name, cast(Cell, place)


def _free_cell(cell: Cell, free: BoolArray, what: str) -> Cell:
    try:
        row, column = (index(i) for i in cell)
    except (TypeError, ValueError):
        raise ValueError(f"{what} is at {cell!r}, expected (row, column) as integers") from None
    if not (0 <= row < free.shape[0] and 0 <= column < free.shape[1]):
        raise ValueError(
            f"{what} at ({row}, {column}) lies outside the map of {free.shape[0]} rows and "
            f"{free.shape[1]} columns"
        )
    if not free[row, column]:
        raise ValueError(f"{what} at ({row}, {column}) is in a wall; choose a free cell")
    return row, column
