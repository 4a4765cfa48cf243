"""Why a formula cannot be satisfied: in no world, in this one, or from some start."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence

import numpy as np

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.logic.automaton import Automaton, automaton
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.text import ExpressionError, known_names, quote
from taskalgebra.planning.temporal import Labelled
from taskalgebra.validation import listed


def never(
    formula: Expression, labelled: Labelled, tasks: Collection[str], goal_names: Sequence[str]
) -> str:
    """Why no trace of this world satisfies a formula over tasks and goals, in a sentence."""
    said = f"{formula} can never be satisfied"
    try:
        free = automaton(formula)
    except ExpressionError:  # too many names for all of their combinations
        return f"{said} with the goals of this world"
    word = _shortest(free)
    if word is None:
        return f"{said}: it contradicts itself"
    there = {labelled.automaton.letters[i] for i in labelled.letter} | {frozenset[str]()}
    missing = next((letter for letter in word if letter not in there), None)
    if missing is None:
        return f"{said} with the goals of this world"
    what = " & ".join([quote(name) for name in sorted(missing)])
    others = [quote(name) for name in free.formula.names if name not in missing]
    only = f" and not {listed(others)}" if others else ""
    return (
        f"{said} here: it asks for a goal that is {what}{only}, and this world has none; "
        f"known: {known_names(tasks, goal_names)}"
    )


def _shortest(free: Automaton) -> list[frozenset[str]] | None:
    """A shortest word that is accepted, with as few labels as possible; None if there is none."""
    order = sorted(range(len(free.letters)), key=lambda i: len(free.letters[i]))
    came: dict[int, tuple[int, int]] = {}
    queue = deque([int(free.start)])
    seen = {int(free.start)}
    while queue:
        u = queue.popleft()
        for letter in order:
            v = int(free.delta[u, letter])
            if free.accepting[v]:
                word = [free.letters[letter]]
                while u != free.start:
                    u, letter = came[u]
                    word.append(free.letters[letter])
                return word[::-1]
            if v not in seen:
                seen.add(v)
                came[v] = (u, letter)
                queue.append(v)
    return None


def from_here(
    place: str, ahead: Array, between: Array, labelled: Labelled, goal_names: Sequence[str]
) -> str:
    """Why a formula that can be satisfied elsewhere cannot be from some place, in a sentence.

    Args:
        place: in words.
        ahead: `[G]`, the returns from there to goals, −∞ where there is no way.
        between: `[G, G]`, those between goals.
        labelled: the automaton.
        goal_names: of the goals.
    """
    if not labelled.automaton.stutters:
        missing = _missing(labelled, _through(ahead, between))
        if missing:
            return f"from {place} there is no way to {listed([goal_names[h] for h in missing], 4)}"
        return f"from {place} no way satisfies it: steps that enter no goal are read as well"
    left = _steps_left(labelled)
    best, state, at, ways = np.inf, int(labelled.automaton.start), "", ahead
    seen: set[tuple[int, int]] = set()
    queue: deque[tuple[int, int]] = deque([(-1, state)])
    while queue:
        g, u = queue.popleft()
        here = ahead if g < 0 else between[g]
        if left[u] < best:
            best, state, ways = left[u], u, here
            at = place if g < 0 else f"goal {goal_names[g]!r}, reached from {place}"
        for h in np.flatnonzero(here > -np.inf).tolist():
            v = int(labelled.at_goal[u, h])
            if not labelled.automaton.dead[v] and (h, v) not in seen:
                seen.add((h, v))
                queue.append((h, v))
    after = labelled.at_goal[state]
    needed = [goal_names[h] for h in np.flatnonzero(left[after] < best).tolist()]
    ahead_of = _through(ways, between)
    if not ahead_of[left[after] < best].any():
        return f"from {at} there is no way to {listed(needed, 4)}"
    closed = labelled.automaton.dead[after] & ahead_of
    others = [goal_names[h] for h in np.flatnonzero(closed).tolist()]
    without = f" without entering {listed(others)}" if others else ""
    alone = " first" if not others else ""
    return f"from {at} there is no way to {listed(needed, 4)}{alone}{without}"


def _missing(labelled: Labelled, reached: BoolArray) -> list[int]:
    """The goals out of reach that lead on, where no order of the others satisfies a formula."""
    automaton = labelled.automaton
    after = np.concatenate((labelled.at_goal[:, reached], labelled.at_none[:, None]), axis=1)
    seen = np.arange(automaton.n_states) == automaton.start
    for _ in range(automaton.n_states):
        seen[after[seen]] = True
    if (seen & automaton.accepting).any():
        return []
    leads = ~(seen | automaton.dead)[labelled.at_goal[seen]]
    return np.flatnonzero(leads.any(axis=0) & ~reached).tolist()


def _through(ways: Array, between: Array) -> BoolArray:
    """[G], the goals to which a way leads, over whichever others."""
    found: BoolArray = ways > -np.inf
    while True:
        more = found | (between[found] > -np.inf).any(axis=0)
        if (more == found).all():
            return found
        found = more


def _steps_left(labelled: Labelled) -> Array:
    """[U], the fewest goals that lead to an accepting state, whatever the way; ∞ for dead ones."""
    automaton = labelled.automaton
    left = np.where(automaton.accepting, 0.0, np.inf)
    after = np.concatenate((labelled.at_goal, labelled.at_none[:, None]), axis=1)
    for _ in range(automaton.n_states):
        nearer = np.minimum(left, left[after].min(axis=1) + 1)
        if np.array_equal(nearer, left):
            break
        left = nearer
    return left
