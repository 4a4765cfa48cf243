"""The deterministic automaton of a temporal formula on finite traces (LTLf).

A trace is a sequence of letters, one per step; a letter is the set of names that are true at that
step.  The automaton reads a trace letter by letter and is in an accepting state exactly if the
trace read so far satisfies the formula when it ends there.  A state is dead if no trace leads from
it to an accepting one: the formula can no longer be satisfied.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from taskalgebra.arrays import BoolArray, IntArray
from taskalgebra.content import ByContent
from taskalgebra.drawing import html
from taskalgebra.drawing.automata import Drawing, Edge, listing
from taskalgebra.logic.composition import machine_of
from taskalgebra.logic.expression import Constant, Expression, Name
from taskalgebra.logic.formulas import parse
from taskalgebra.logic.guards import guard, matrix
from taskalgebra.logic.minimal import can_reach, minimal
from taskalgebra.logic.progression import MOST_LETTERS, MOST_STATES, all_letters
from taskalgebra.logic.steps import steps
from taskalgebra.logic.text import ExpressionError
from taskalgebra.validation import count

if TYPE_CHECKING:
    from taskalgebra.drawing.plots.paper import Axes

MOST_SHOWN, MOST_EDGES = 100, 400
"""States and edges of an automaton that is listed or drawn."""


@dataclass(frozen=True, eq=False, repr=False)
class Automaton(ByContent):
    """A minimal complete deterministic automaton.

    Attributes:
        formula: What it accepts.
        letters: The distinct sets of names that may be true at a step, the empty set first.
        delta: The next state, `[U, L]`.
        accepting: Whether a trace that ends here satisfies the formula, `[U]`.  Before the first
            step there is no trace yet; there, names, X, F and U count as false and N, G, R and W as
            true, so that `G a` has two states and not three.
        dead: Whether the formula can no longer be satisfied, `[U]`; at most one state is.  A
            formula that no trace satisfies has one state, which is dead.
        start: The state before the first step.
    """

    formula: Expression
    letters: tuple[frozenset[str], ...]
    delta: IntArray
    accepting: BoolArray
    dead: BoolArray
    start: int = 0

    @property
    def n_states(self) -> int:
        """The number of states, U."""
        return len(self.delta)

    @cached_property
    def _places(self) -> dict[frozenset[str], int]:
        return {letter: i for i, letter in enumerate(self.letters)}

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.formula.names)

    def letter(self, names: Collection[str]) -> int:
        """The place of a letter; names that the formula does not mention are left out.

        Raises:
            ExpressionError: If the letter is not one of the alphabet.
        """
        found = self._places.get(_letter(names, self._names))
        if found is None:
            known = ", ".join("{" + ", ".join(sorted(one)) + "}" for one in self.letters[:8])
            raise ExpressionError(
                f"no letter {{{', '.join(sorted(set(names) & self._names))}}}; this automaton was "
                f"made for {known}{' …' * (len(self.letters) > 8)}"
            )
        return found

    def step(self, state: int, letter: int) -> int:
        """The next state; letters are numbers here, `letter(names)`."""
        n_states, n_letters = self.delta.shape
        u = count(state, "state", least=0, most=n_states - 1)
        return int(self.delta[u, count(letter, "letter", least=0, most=n_letters - 1)])

    def run(self, trace: Iterable[Collection[str]]) -> int:
        """The state after a trace, from the start."""
        if not isinstance(trace, Iterable):
            raise TypeError(f"a trace is a list of letters, collections of names; got {trace!r}")
        state = self.start
        for names in trace:
            state = self.step(state, self.letter(names))
        return state

    def accepts(self, trace: Iterable[Collection[str]]) -> bool:
        """Whether a trace satisfies the formula."""
        return bool(self.accepting[self.run(trace)])

    @cached_property
    def running(self) -> BoolArray:
        """The states in which an episode may go on, `[U]`.

        An episode ends at the first step after which the trace so far satisfies the formula, or
        can no longer be made to.  So these are the start, and what is reached from it over such
        states, unless it accepts or is dead.
        """
        ends = self.accepting | self.dead
        found = np.zeros(self.n_states, bool)
        found[self.start] = True
        todo = [self.start]
        while todo:
            for state in np.unique(self.delta[todo.pop()]):
                if not (found[state] or ends[state]):
                    found[state] = True
                    todo.append(int(state))
        return found

    @cached_property
    def still(self) -> BoolArray:
        """Whether a step without any name changes nothing, `[U]`: δ(u, ∅) = u, not accepting."""
        same: BoolArray = self.delta[:, 0] == np.arange(self.n_states)
        return same & ~self.accepting

    @property
    def stutters(self) -> bool:
        """Whether steps without any name change nothing, while an episode goes on."""
        return bool(self.still[self.running].all())

    @cached_property
    def edges(self) -> tuple[tuple[int, int, Expression], ...]:
        """Every edge: from, to, and a short Boolean formula for the letters that take it.

        Only letters of the alphabet occur, so the formulas say no more than tells these apart.
        """
        names = self.formula.names
        letters = matrix(self.letters, names)
        return tuple(
            (state, target, guard(letters, row == target, names))
            for state, row in enumerate(self.delta)
            for target in dict.fromkeys(row.tolist())
        )

    @property
    def _too_large(self) -> str:
        """Why it is not shown, or ""."""
        n_edges = sum(np.unique(row).size for row in self.delta[: MOST_SHOWN + 1])
        if self.n_states <= MOST_SHOWN and n_edges <= MOST_EDGES:
            return ""
        edges = f" and {n_edges:,} edges" if self.n_states <= MOST_SHOWN else ""
        return (
            f"an automaton of {self.n_states:,} states{edges} is too large to be shown; at most "
            f"{MOST_SHOWN} states and {MOST_EDGES} edges"
        )

    def _guards(self) -> list[Edge]:
        """The edges as they are shown: a loop, or else the way of ∅, is "else" if it is long."""
        if self._too_large:
            raise ExpressionError(self._too_large)
        rows = self.delta.tolist()
        shown = []
        for state, target, formula in self.edges:
            usual = state if state in rows[state] else rows[state][0]
            short = isinstance(formula, Name | Constant) or isinstance(formula.operands[0], Name)
            long = target == usual and not (short and len(formula.operands) < 2)
            shown.append(Edge(state, target, "else" if long else str(formula)))
        return sorted(shown, key=lambda edge: (edge.source, self.dead[edge.target]))

    def __str__(self) -> str:
        """The states, and what leads from one to another."""
        if self._too_large:
            return f"{self!r}, too large to be listed"
        marks = self.accepting.tolist(), self.dead.tolist()
        return listing(str(self.formula), self._guards(), *marks)

    def __repr__(self) -> str:
        """The formula and the size."""
        return f"automaton({str(self.formula)!r}): {self.n_states:,} states"

    def svg(self, state: int | None = None) -> str:
        """A picture, as the text of an SVG file or for a web page.

        Accepting states have a double circle; a red cross below a state is the dead one.

        Args:
            state: The current state, which is highlighted.

        Raises:
            ExpressionError: If there are more than 100 states or 400 edges.
        """
        return self._drawing(state).svg(str(self.formula))

    def plot(self, ax: Axes | None = None, *, state: int | None = None) -> Axes:
        """Draw the picture of `svg` with matplotlib.

        Args:
            ax: Where to draw; by default in a new figure.
            state: The current state, which is highlighted.

        Raises:
            ExpressionError: If there are more than 100 states or 400 edges.
        """
        from taskalgebra.drawing.plots.automata import plot_automaton

        return plot_automaton(self._drawing(state), str(self.formula), ax)

    def _drawing(self, state: int | None) -> Drawing:
        """Where everything stands."""
        if state is not None:
            state = count(state, "state", least=0, most=self.n_states - 1)
        return Drawing(self._guards(), self.accepting.tolist(), self.dead.tolist(), state)

    def drawn(self, state: int | None = None) -> str:
        """The picture as a part of a page, or in words what is too large to be drawn."""
        if self._too_large:
            return html.soft(f"{self.n_states:,} states, too large to be drawn")
        return f'<div style="overflow-x:auto">{self.svg(state)}</div>'

    def _repr_html_(self) -> str:
        """The picture, for notebooks."""
        words = html.soft(f"{self.n_states:,} states")
        return html.shown("Automaton", f"{html.code(self.formula)} {words}", self.drawn())

    @property
    def satisfiable(self) -> bool:
        """Whether some trace satisfies the formula."""
        return not self.dead[self.start]


def automaton(
    formula: Expression | str,
    letters: Iterable[Collection[str]] | None = None,
    *,
    most_states: int = MOST_STATES,
) -> Automaton:
    """The minimal automaton of a formula on finite traces.

    Args:
        formula: A temporal formula; a Boolean one speaks of the first step.
        letters: The sets of names that may be true at a step; names that the formula does not
            mention are left out, and the empty set is added.  Default: all sets of its names.
        most_states: An error ends the construction once it needs more.

    Raises:
        ExpressionError: If there are too many letters or states.
    """
    expression = parse(formula) if isinstance(formula, str) else formula
    if not isinstance(expression, Expression):
        raise TypeError(f"a formula must be an Expression or a str, got {formula!r}")
    alphabet = _alphabet(expression.names, letters)
    found = machine_of(steps(expression), alphabet, most_states)
    ends = found.accepting
    if not can_reach(found.delta, ends)[found.delta[0]].any():  # by no trace of one step or more
        ends = np.zeros_like(ends)
    delta, accepting = minimal(found.delta, ends)
    dead = ~can_reach(delta, accepting)
    for array in (delta, accepting, dead):
        array.setflags(write=False)
    return Automaton(expression, alphabet, delta, accepting, dead)


def _alphabet(
    names: tuple[str, ...], letters: Iterable[Collection[str]] | None
) -> tuple[frozenset[str], ...]:
    """The distinct letters over these names, the empty one first."""
    if letters is None:
        return all_letters(names)
    if not isinstance(letters, Iterable):
        raise TypeError(f"letters is {letters!r}, expected a list of collections of names")
    known = frozenset(names)
    found = dict.fromkeys([frozenset(), *(_letter(letter, known) for letter in letters)])
    if len(found) > MOST_LETTERS:
        raise ExpressionError(f"{len(found):,} letters are too many; at most {MOST_LETTERS:,}")
    return tuple(found)


def _letter(names: Collection[str], known: frozenset[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise TypeError(f"a letter is a collection of names, got the string {names!r}")
    if not isinstance(names, Collection) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"a letter is a collection of names, got {names!r}")
    return known.intersection(names)
