"""What can be drawn on a map: worlds whose states have cells, and tasks solved on them.

Drawing knows worlds and tasks only by what it needs of them, so that whatever has a picture can
import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, final

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray

NOTHING = -1  # in a layout: a wall
DESIRED, OTHER, VIOLATES = "◆", "◇", "×"
MOST_ARROWS = 60
"""Cells across; beyond that, arrows are too small to be seen."""


class World(Protocol):
    """A finite world."""

    @property
    def goals(self) -> IntArray:
        """[G], states."""

    @property
    def goal_names(self) -> tuple[str, ...]:
        """Of the goals."""

    @property
    def action_names(self) -> tuple[str, ...]:
        """Of the actions."""

    @property
    def is_goal(self) -> BoolArray:
        """[S], whether a state is absorbing."""

    @property
    def cells(self) -> LongArray | None:
        """[S, 2], row and column of each state on a map."""

    @property
    def offset(self) -> LongArray:
        """[S·A + 1], where the outcomes of each state and action begin."""

    @property
    def successor(self) -> IntArray:
        """Of each outcome."""


class Space(Protocol):
    """What all tasks of a world share."""

    @property
    def mdp(self) -> World:
        """The world."""


class Wanting(Protocol):
    """A task."""

    @property
    def space(self) -> Space:
        """Where it is done."""

    @property
    def wanted(self) -> BoolArray:
        """[G], the goals in which an episode succeeds."""


@final
@dataclass(frozen=True, eq=False)
class Map:
    """A solved task, or a world without one: one entry per free cell, and the goals."""

    title: str
    cells: LongArray  # [C, 2], row and column
    values: Array  # [C]
    actions: tuple[str, ...]  # [C]
    goals: LongArray  # [G, 2]
    desired: BoolArray  # [G]
    note: str = ""
    crossed: BoolArray | None = None  # [G], goals that are drawn as ×
    legend: str = ""  # what the signs mean, if not whether goals are desired
    letters: tuple[str, ...] = ()  # [C], for actions that are no moves

    @classmethod
    def of(
        cls,
        mdp: World,
        title: str,
        values: Array,
        actions: LongArray,
        desired: BoolArray,
        note: str = "",
    ) -> Map:
        """The map of a world, from values and actions of all its states, `[S]`."""
        if mdp.cells is None:
            raise ValueError("this world has no map to draw on")
        live = on_cells(mdp)
        names, every = mdp.action_names, letters_of(mdp.action_names)
        return cls(
            title,
            mdp.cells[live],
            values[live],
            tuple(names[a] for a in actions[live]),
            mdp.cells[mdp.goals],
            desired,
            note,
            letters=tuple(every[a] for a in actions[live]),
        )

    def signed(self, signs: Sequence[str], legend: str) -> Map:
        """The same with a sign for each goal, `[G]`, and what the signs mean."""
        given = np.array(signs)
        return replace(self, desired=given == DESIRED, crossed=given == VIOLATES, legend=legend)

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns, with the surrounding wall."""
        far = np.maximum(self.cells.max(axis=0), self.goals.max(axis=0))
        rows, columns = far - self.corner + 2
        return int(rows), int(columns)

    @property
    def corner(self) -> LongArray:
        """The cell at the top left, part of the surrounding wall."""
        return np.asarray(np.minimum(self.cells.min(axis=0), self.goals.min(axis=0)) - 1)

    @property
    def unknown(self) -> LongArray:
        """[N, 2], free cells without a value: no way leads from there, or an episode ends there."""
        return np.concatenate((self.cells[~np.isfinite(self.values)], self._ends))

    @property
    def _ends(self) -> LongArray:
        """[N, 2], cells of goals in which no other state is."""
        columns = self.size[1]
        numbers = [(at - self.corner) @ np.array([columns, 1]) for at in (self.goals, self.cells)]
        return self.goals[~np.isin(*numbers)]

    @property
    def with_arrows(self) -> bool:
        """Whether arrows are large enough to be seen."""
        return max(self.size) <= MOST_ARROWS

    @property
    def moving(self) -> BoolArray:
        """[C], where an arrow is drawn: the value is known, and no goal is in its place."""
        on_goal = (self.cells[:, None] == self.goals[None]).all(axis=2).any(axis=1)
        found: BoolArray = ~on_goal & np.isfinite(self.values)
        return found

    @property
    def signs(self) -> str:
        """What the signs of goals mean, in a line."""
        if self.legend:
            return self.legend
        return "◆ desired" if self.desired.all() else "◆ desired   ◇ not desired"


def letters_of(names: Sequence[str]) -> tuple[str, ...]:
    """For each action the first letter of its name, or two where another begins with it, too.

    >>> letters_of(["up", "pickup", "drop"]), letters_of(["a0", "a1"])
    (('U', 'P', 'D'), ('A0', 'A1'))
    """
    firsts = [name[:1] for name in names]
    return tuple(name[: min(2, firsts.count(name[:1]))].upper() for name in names)


def layout(mdp: World) -> tuple[LongArray, LongArray]:
    """The map: `[rows, columns]` of states, and the cell at its corner.

    One ring of wall surrounds all cells.  The cell of a goal shows the state to act in there; of
    several states on one cell, the first one is shown.
    """
    if mdp.cells is None:
        raise ValueError(
            "this world has no map to draw on; make it with from_text, or pass cells=... to "
            "from_arrays"
        )
    corner = mdp.cells.min(axis=0) - 1
    states = np.full(mdp.cells.max(axis=0) + 2 - corner, NOTHING)
    drawn = drawn_last(mdp)
    states[tuple((mdp.cells[drawn] - corner).T)] = drawn
    return states, corner


def on_cells(mdp: World) -> LongArray:
    """The states that have values on a map: all but goals, and of several on one cell the first."""
    assert mdp.cells is not None
    live = np.flatnonzero(~mdp.is_goal)
    at = mdp.cells[live] - mdp.cells.min(axis=0)
    _, first = np.unique(at @ np.array([at[:, 1].max() + 1, 1]), return_index=True)
    return live[np.sort(first)]


def drawn_last(mdp: World) -> LongArray:
    """[S], all states, those that are shown last: goals, then the others from last to first."""
    return np.concatenate((mdp.goals, np.flatnonzero(~mdp.is_goal)[::-1]))
