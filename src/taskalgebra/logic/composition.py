"""Automata of temporal formulas, in one piece or from the automata of their parts.

By progression alone (`logic.progression`), the states of a conjunction of many alternatives can be
sums of very many products, although the automaton is small.  Then the temporal subformulas get
automata of their own, and ∧, ∨, ⊻ and ¬ around them are products of automata, each made minimal
before the next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import and_, or_, xor
from typing import Final

import numpy as np

from taskalgebra.arrays import BoolArray, LongArray
from taskalgebra.logic.minimal import classes, minimal
from taskalgebra.logic.progression import (
    MOST_STATES,
    Machine,
    Work,
    all_letters,
    machine,
    too_large,
)
from taskalgebra.logic.steps import BOOLEAN, Step, names_of, only, operand_places
from taskalgebra.logic.text import ExpressionError

MOST_ENTRIES = 1 << 22
"""Pairs of states × letters of a product, before it is made minimal."""

_JOINS: Final[dict[str, Callable[[BoolArray, BoolArray], BoolArray]]] = {
    "and": and_, "or": or_, "xor": xor
}  # fmt: skip


def machine_of(
    steps: Sequence[Step], letters: Sequence[Collection[str]], most_states: int = MOST_STATES
) -> Machine:
    """The automaton of a formula, not always minimal.

    Args:
        steps: The formula (`logic.steps`).
        letters: What may be true at a step.
        most_states: An error ends the construction once a part of it has more states.

    Raises:
        ExpressionError: If it has more states, or takes too long to find.
    """
    try:
        return machine(steps, letters, most_states, Work())
    except ExpressionError:
        apart = _apart(steps)
        if not apart:
            raise
    return _composed(steps, apart, letters, most_states)


def same_traces(one: Sequence[Step], two: Sequence[Step]) -> bool:
    """Whether two formulas hold of the same non-empty traces."""
    letters = all_letters(list(dict.fromkeys([*names_of(one), *names_of(two)])))
    first, second = machine_of(one, letters), machine_of(two, letters)
    n = len(first.delta)
    both = np.concatenate([first.delta, second.delta + np.int32(n)])
    found = classes(both, np.concatenate([first.accepting, second.accepting]))
    return bool((found[both[0]] == found[both[n]]).all())


def _apart(steps: Sequence[Step]) -> set[int]:
    """The Boolean operators that stand above temporal ones and below none."""
    temporal: list[bool] = []
    for step in steps:
        inside = any(temporal[place] for place in operand_places(step))
        temporal.append(inside or step[0] not in BOOLEAN)
    apart: set[int] = set()
    reached = {len(steps) - 1}
    for place in range(len(steps) - 1, -1, -1):
        if place in reached and temporal[place] and steps[place][0] in BOOLEAN:
            apart.add(place)
            reached.update(operand_places(steps[place]))
    return apart


def _composed(
    steps: Sequence[Step],
    apart: Collection[int],
    letters: Sequence[Collection[str]],
    most_states: int,
) -> Machine:
    """The automaton of a formula from those of the operands of some of its operators."""
    work = Work()
    found: dict[int, Machine] = {}
    operands = {one for place in apart for one in operand_places(steps[place])}
    for place in sorted(operands.union(apart)):
        kind, first, second = steps[place]
        if place not in apart:
            part = machine(only(steps, place), letters, most_states, work)
            found[place] = Machine(*minimal(*part))
        elif kind == "not":
            found[place] = Machine(found[first].delta, ~found[first].accepting)
        else:
            found[place] = _product(found[first], found[second], _JOINS[kind], most_states, work)
    return found[len(steps) - 1]


def _product(
    one: Machine,
    two: Machine,
    join: Callable[[BoolArray, BoolArray], BoolArray],
    most_states: int,
    work: Work,
) -> Machine:
    """The minimal automaton of a Boolean operation on two languages."""
    width = len(two.delta)
    pairs: LongArray = np.zeros(1, np.int64)  # as they are met; (u, v) is u · width + v
    known = {0}
    rows = []
    done = 0
    while done < len(pairs):
        if len(pairs) * one.delta.shape[1] > MOST_ENTRIES:
            raise too_large("takes too much memory to find")
        u, v = np.divmod(pairs[done:], width)
        after = one.delta[u].astype(np.int64) * width + two.delta[v]
        work.spend(after.size // 16)
        rows.append(after)
        done = len(pairs)
        new = [pair for pair in np.unique(after).tolist() if pair not in known]
        known.update(new)
        pairs = np.concatenate([pairs, np.array(new, np.int64)])
    order = np.argsort(pairs)
    places = np.searchsorted(pairs[order], np.concatenate(rows))
    delta = order[places].astype(np.int32)
    u, v = np.divmod(pairs, width)
    found = Machine(*minimal(delta, join(one.accepting[u], two.accepting[v])))
    if len(found.delta) > most_states:
        raise too_large(f"has more than {most_states:,} states")
    return found
