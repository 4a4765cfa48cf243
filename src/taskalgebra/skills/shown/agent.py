"""Pictures of an agent for one task: values and actions, slices, and how it is composed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.drawing import html, worlds
from taskalgebra.drawing.board import Map
from taskalgebra.drawing.terminal import picture, print_picture
from taskalgebra.logic.algebra import BooleanElement
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.steps import steps
from taskalgebra.skills.shown.seen import Seen, Source, seen
from taskalgebra.theory.family import Family
from taskalgebra.theory.policy import Policy
from taskalgebra.theory.tables import compose_values
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import ExtendedQ
from taskalgebra.validation import checked_seed, listed

if TYPE_CHECKING:
    from taskalgebra.drawing.plots.paper import Axes, Figure, Panels, SubFigure

MOST_PANELS = 16
"""Goals in a figure, unless they are chosen."""
MOST_COLUMNS = 6
"""Goals in a figure of a composition, unless they are chosen."""
MOST_ROWS = 12
"""Subformulas in a figure of a composition."""


class ShownAgent(BooleanElement):
    """Pictures of an agent for one task."""

    skills: Source
    expression: Expression
    task: Task
    values: ExtendedQ
    policy: Policy
    if TYPE_CHECKING:

        @property
        def v(self) -> Array:
            """[S], in a finite world."""

        @property
        def actions(self) -> LongArray:
            """[S], in a finite world."""

    def picture(self, *, colour: bool = False) -> str:
        """Values and actions on the map, as text."""
        self._require_states("picture()")
        return picture(self.task, self.v, self.actions, colour=colour)

    def show(self) -> None:
        """Print the picture, in colour if the output is a terminal."""
        self._require_states("show()")
        print_picture(str(self.expression), lambda colour: self.picture(colour=colour))

    def _require_states(self, what: str) -> None:
        """Reject what needs a list of all states, in an open world."""
        if not self.task.space.finite:
            raise TypeError(
                f"agent.{what} needs all states of a finite world; this agent acts in an open "
                f"one, known only by playing it: use agent.act(observation) or agent.evaluate()"
            )

    def plot(self, ax: Axes | None = None, *, seed: int = 0, colorbar: bool = True) -> Axes:
        """Draw values as colours and actions as arrows, on the map of the world.

        A small world without a map is drawn as a graph, in which the moves of the agent are bold.
        In a map of more than 60 cells across there are no arrows.

        Args:
            ax: where to draw; by default in a new figure.
            seed: of the layout, in an open world that has one for each episode.
            colorbar: whether to draw the scale of values.

        Raises:
            TypeError: the world is open, and no layout of it is known.
            ValueError: the world has no map, and too many states for a graph.
        """
        found = self._seen(seed)
        return worlds.plot_solved(
            found.mdp,
            str(self.expression),
            found.values,
            found.actions,
            self.task.wanted,
            ax,
            colorbar=colorbar,
        )

    def plot_goals(
        self,
        figure: Figure | SubFigure | None = None,
        *,
        goals: Sequence[str | int] | None = None,
        seed: int = 0,
    ) -> Panels:
        """Draw the slices of the extended values: a map of max_a Q̄(s, g, a) for each goal g.

        ◆ is a goal that the task wants, ◇ any other, and the goal g of a map has a ring.

        Args:
            figure: where to draw; by default in a new figure.
            goals: which, by their names or numbers; by default the first 16.
            seed: of the layout, in an open world.

        Returns:
            The axes of the panels, one for each goal.

        Raises:
            ValueError: the world has no map.
        """
        from taskalgebra.drawing.plots.slices import plot_slices

        found = self._seen(seed)
        chosen = _goals(self.task, goals, MOST_PANELS)
        by_goal, wanted = found.slices(self.values), self.task.wanted
        maps = _slices(found, str(self.expression), by_goal, wanted, chosen)
        title = f"{self.expression}: {_counted(self.task, chosen)}"
        return plot_slices(maps, _names(self.task, chosen), title, figure)

    def plot_composition(
        self,
        figure: Figure | SubFigure | None = None,
        *,
        goals: Sequence[str | int] | None = None,
        seed: int = 0,
    ) -> Panels:
        """Draw how the values are composed: a row for each base task and for each operator.

        Every row shows its slices max_a Q̄(s, g, a), goal by goal, and at its end V and actions.
        Above it stands of which other rows it is made.

        Args:
            figure: where to draw; by default in a new figure.
            goals: which, by their names or numbers; by default up to 6, those first that the
                formula treats differently.
            seed: of the layout, in an open world.

        Returns:
            The axes of the panels, `[rows, goals + 1]`.

        Raises:
            ValueError: the formula has more than 12 different subformulas, or the world has no map.
        """
        from taskalgebra.drawing.plots.slices import plot_nodes

        found = self._seen(seed)
        family, rows = self.skills.family, _rows(self.expression)
        chosen = _telling([_wanted(row, family, found) for row in rows])
        if goals is not None:
            chosen = _goals(self.task, goals, MOST_COLUMNS)
        nodes = _nodes(rows, family, found, chosen)
        return plot_nodes(nodes, _names(self.task, chosen), figure)

    def film(
        self,
        path: str | Path,
        *,
        episodes: int = 3,
        start: int | None = None,
        seed: int = 0,
        max_steps: int | None = None,
    ) -> Path:
        """Write a film of some episodes, a GIF: the agent walks over its values on the map.

        A game is filmed on its own board, and a world without a map as its environment renders it.

        Args:
            path: the file, `.gif`.
            episodes: how many, one after the other.
            start: a state to begin in, on a map.
            seed: equal seeds play equal episodes.
            max_steps: an episode is cut off after this many steps.

        Returns:
            The path of the file.

        Raises:
            TypeError: the world has no map and renders no images.
        """
        from taskalgebra.skills.shown.film import Settings, film_of_agent

        asked = Settings.of(path, episodes, seed, max_steps)
        return film_of_agent(self, seen(self, asked.seed), asked, start)

    def _seen(self, seed: int) -> Seen:
        """All states, or those of a layout."""
        found = seen(self, checked_seed(seed))
        if found is None:
            raise TypeError(
                "this agent acts in an open world, known only by playing it, of which no layout "
                'can be drawn; agent.film("a.gif") films it at play'
            )
        return found

    def _repr_html_(self) -> str:
        """Values, actions and goals, for notebooks."""
        space, drawn = self.task.space, ""
        names = [n for n, one in zip(space.goal_names, self.task.wanted, strict=True) if one]
        if space.finite and space.mdp.n_states * space.n_goals <= worlds.MOST_SOLVED:
            drawn = worlds.solved(
                space.mdp, str(self.expression), self.v, self.actions, self.task.wanted
            )
        known = [
            ["wants", html.names(names) or html.soft("no goal")],
            ["base tasks", html.names(list(self.skills.family.tasks))],
        ]
        if self.task.two_valued is False:
            known.append(["pays", html.text(repr(self.task)[4:])])
        return html.shown("Agent", html.code(self.expression), html.beside(drawn, html.rows(known)))


def _goals(task: Task, given: Sequence[str | int] | None, most: int) -> list[int]:
    """The goals that are drawn, by their numbers."""
    n = task.space.n_goals
    if given is None:
        return list(range(min(n, most)))
    chosen = [given] if isinstance(given, str | int | np.integer) else list(given)
    if not chosen:
        raise ValueError(
            f"goals is empty; name some of {listed(task.space.goal_names)}, or leave it out"
        )
    if len(chosen) > 4 * MOST_PANELS:
        raise ValueError(
            f"{len(chosen)} goals are too many for one figure, at most {4 * MOST_PANELS}; draw "
            f"some of them at a time"
        )
    return list(dict.fromkeys(task.space.world.goal_index(goal) for goal in chosen))


def _counted(task: Task, chosen: Sequence[int]) -> str:
    """What the panels show, in a title."""
    n = task.space.n_goals
    if len(chosen) == n:
        return "V̄(s, g) for each goal g"
    return f"V̄(s, g) for {len(chosen)} of {n} goals"


def _names(task: Task, chosen: Sequence[int]) -> dict[int, str]:
    return {goal: task.space.goal_names[goal] for goal in chosen}


def _slices(
    found: Seen, title: str, values: Array, wanted: BoolArray, chosen: Sequence[int]
) -> tuple[Map, ...]:
    """A map of the values for each goal."""
    mdp = found.mdp
    if mdp.cells is None:
        raise ValueError(
            "slices are drawn on a map, and this world has none; agent.plot() draws a small world "
            "as a graph, and from_arrays(..., cells=...) takes the cells of a map"
        )
    none = np.zeros(mdp.n_states, np.int64)
    return tuple(Map.of(mdp, title, values[:, g], none, wanted) for g in chosen)


def _telling(wanted: Sequence[BoolArray]) -> list[int]:
    """Some goals, of those that the same rows want at least one, in their order."""
    kinds: dict[bytes, int] = {}
    of_goal = np.stack(wanted, axis=1)
    for goal, kind in enumerate(of_goal):
        kinds.setdefault(kind.tobytes(), goal)
    first = list(kinds.values())
    others = [goal for goal in range(len(of_goal)) if goal not in first]
    return sorted([*first, *others][:MOST_COLUMNS])


def _rows(expression: Expression) -> list[Expression]:
    """The subformulas that are rows of a figure, operands first."""
    n = len(steps(expression))
    if n > MOST_ROWS:
        raise ValueError(
            f"{expression} has {n} different subformulas, too many rows for a figure, at most "
            f"{MOST_ROWS}; a shorter formula of the same meaning may be found by "
            f"parse({str(expression)!r}).simplify(), and agent.plot_goals() draws the result alone"
        )
    return _subformulas(expression)


def _nodes(
    order: Sequence[Expression], family: Family, found: Seen, chosen: Sequence[int]
) -> list[Any]:
    """The rows, and of which others each is made."""
    from taskalgebra.drawing.plots.slices import Node

    place = {each: k for k, each in enumerate(order)}
    nodes = []
    for each in order:
        values = compose_values(each, family.named, family.bounds)
        by_goal, best, actions = found.slices(values), *_best(found, family, values)
        wanted = _wanted(each, family, found)
        row = _slices(found, str(each), by_goal, wanted, chosen)
        last = Map.of(found.mdp, str(each), best, actions, wanted)
        nodes.append(Node(each.kind, tuple(place[one] for one in each.operands), last, row))
    return nodes


def _best(found: Seen, family: Family, values: ExtendedQ) -> tuple[Array, LongArray]:
    """V = max_g V̄ and the greedy actions, [S]."""
    live = ~found.mdp.is_goal
    best, actions = np.full(live.size, -np.inf), np.zeros(live.size, np.int64)
    best[live] = values.q_bar(found.observations).max(axis=(1, 2))
    actions[live] = family.policy(values).actions(found.observations)
    return best, actions


def _wanted(expression: Expression, family: Family, found: Seen) -> BoolArray:
    """[G], the goals that a subformula wants."""
    tasks = {name: task.desired for name, task in family.tasks.items()}
    every = np.ones(found.mdp.n_goals, np.bool_)
    wanted: BoolArray = expression.evaluate(tasks, universal=every, empty=~every)
    return wanted


def _subformulas(expression: Expression) -> list[Expression]:
    """The distinct subtrees, operands first."""
    found: dict[Expression, None] = {}

    def visit(one: Expression) -> None:
        if one not in found:
            for operand in one.operands:
                visit(operand)
            found[one] = None

    visit(expression)
    return list(found)
