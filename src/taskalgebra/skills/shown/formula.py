"""Pictures of an agent for a formula over time, one for each state of its automaton."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.drawing import html, worlds
from taskalgebra.drawing.board import DESIRED, Map
from taskalgebra.drawing.terminal import map_of_policy, print_picture
from taskalgebra.logic.algebra import BooleanElement
from taskalgebra.logic.automaton import Automaton
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.temporal import FormulaPolicy
from taskalgebra.skills.plans import Plan
from taskalgebra.skills.walks import signs_of, table_of
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.validation import count

if TYPE_CHECKING:
    from taskalgebra.drawing.plots.paper import Axes

LEGEND = "◆ leads on   × violates   ◇ neither"


class ShownFormula(BooleanElement):
    """Pictures of an agent for a formula."""

    skills: Any
    expression: Expression
    plan: Plan
    policy: FormulaPolicy

    @property
    def automaton(self) -> Automaton:
        """The formula as an automaton over the labels of this world."""
        return self.plan.labelled.automaton

    def table(self, state: int | None = None) -> tuple[Array, LongArray]:
        """[S] values and [S] actions in a finite world, with the automaton in one state.

        Args:
            state: of the automaton, by default the first.
        """
        return table_of(self._finite("table"), self.plan, self._state(state))

    def signs(self, state: int | None = None) -> list[str]:
        """[G], what entering each goal does with the automaton in one state.

        ◆ leads on, × violates the formula, ◇ changes nothing.
        """
        return signs_of(self.plan, self._state(state))

    def _state(self, state: int | None) -> int:
        """A state of the automaton, by default the first."""
        automaton = self.automaton
        if state is None:
            return int(automaton.start)
        return count(state, "state", least=0, most=automaton.n_states - 1)

    def _finite(self, what: str) -> TaskSpace:
        space: TaskSpace = self.skills.family.space
        if not space.finite:
            raise TypeError(
                f"agent.{what} needs the states of a finite world; this agent acts in an open one: "
                f"use agent.act(observation) or agent.evaluate(), or explore(world, "
                f"continuing=True), which makes a finite world where states can be restored"
            )
        return space

    def picture(self, state: int | None = None, *, colour: bool = False) -> str:
        """Values and actions on the map as text, with the automaton in one state."""
        values, actions = self.table(state)
        mdp = self._finite("picture").mdp
        return map_of_policy(mdp, self.signs(state), values, actions, colour=colour)

    def show(self, state: int | None = None) -> None:
        """Print the picture, in colour if the output is a terminal."""
        print_picture(str(self.expression), lambda colour: self.picture(state, colour=colour))

    def plot(
        self, ax: Axes | None = None, *, state: int | None = None, colorbar: bool = True
    ) -> Axes:
        """Draw values as colours and actions as arrows, with the automaton in one state.

        ◆ are goals that lead on, × violate the formula, ◇ change nothing.

        Args:
            ax: where to draw; by default in a new figure.
            state: of the automaton, by default the first; `agent.automaton.plot()` shows them.
            colorbar: whether to draw the scale of values.

        Raises:
            TypeError: the world is open.
            ValueError: the world has no map, and too many states for a graph.
        """
        space, u = self._finite("plot()"), self._state(state)
        if space.mdp.cells is not None:
            return worlds.plot_map(self.map_in(u), ax, colorbar=colorbar)
        values, actions = self.table(u)
        leads = np.array(self.signs(u)) == DESIRED
        title = str(self.expression)
        return worlds.plot_solved(space.mdp, title, values, actions, leads, ax, colorbar=colorbar)

    def map_in(self, state: int) -> Map:
        """Values, actions and signs of goals on the map, with the automaton in one state."""
        space = self._finite("map_in()")
        values, actions = self.table(state)
        note = "" if self.automaton.n_states < 3 else f"automaton in state {state}"
        nothing = np.zeros(space.n_goals, np.bool_)
        drawn = Map.of(space.mdp, str(self.expression), values, actions, nothing, note)
        return drawn.signed(self.signs(state), LEGEND)

    def film(
        self,
        path: str | Path,
        *,
        episodes: int = 3,
        start: int | None = None,
        seed: int = 0,
        max_steps: int | None = None,
    ) -> Path:
        """Write a film of some episodes, a GIF; the map changes with the state of the automaton.

        A world without a map is filmed as its environment renders it.

        Args:
            path: the file, `.gif`.
            episodes: how many, one after the other; they begin where the formula can be satisfied.
            start: a state of the world to begin in, on a map.
            seed: equal seeds play equal episodes.
            max_steps: an episode is cut off after this many steps.

        Returns:
            The path of the file.
        """
        from taskalgebra.skills.shown.film import Settings, film_of_formula

        return film_of_formula(self, Settings.of(path, episodes, seed, max_steps), start)

    def _repr_html_(self) -> str:
        """The automaton, and values and actions in its first state, for notebooks."""
        space, parts = self.skills.family.space, []
        if space.finite and space.mdp.n_states * space.n_goals <= worlds.MOST_SOLVED:
            values, actions = self.table()
            nothing = np.zeros(space.n_goals, np.bool_)
            drawn = worlds.solved(
                space.mdp, str(self.expression), values, actions, nothing, signs=self.signs()
            )
            parts = [html.labelled(drawn, html.soft("at the start; " + LEGEND))] if drawn else []
        counts = "" if self.plan.toll is None else html.soft(", fewest violations")
        name = html.code(self.expression) + counts
        return html.shown("Agent", name, html.beside(*parts, self.automaton.drawn()))
