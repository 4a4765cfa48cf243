"""The smallest automaton with the same language.

Two states are the same if no trace tells them apart, that is, if both accept or both do not, after
every trace.  The partition by acceptance is refined until no letter splits a class.  Of its parts
the largest keeps the number of a class, so a state gets a new one at most log₂ U times, and only
states before those that got one are looked at again (after Hopcroft).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taskalgebra.arrays import BoolArray, IntArray, LongArray


def minimal(delta: IntArray, accepting: BoolArray) -> tuple[IntArray, BoolArray]:
    """The minimal complete automaton; states are numbered as a breadth-first search meets them.

    Args:
        delta: The next states, `[U, L]`; the start is state 0, and all states can be reached.
        accepting: Which states accept, `[U]`.
    """
    found = classes(delta, accepting)
    n_classes = int(found.max()) + 1
    first = np.unique(found, return_index=True)[1]
    order = _by_breadth(found[delta[first]], int(found[0]))
    number = np.empty(n_classes, np.int32)
    number[order] = np.arange(n_classes, dtype=np.int32)
    kept = first[order]
    return number[found[delta[kept]]], accepting[kept]


def classes(delta: IntArray, accepting: BoolArray) -> IntArray:
    """The states, numbered so that those that no trace tells apart share a number, `[U]`."""
    columns = _distinct(delta.T)
    needed = delta[:, np.unique(columns, return_index=True)[1]]
    before = _Before(needed)
    found = np.zeros(len(delta), np.int32)
    members = [set(range(len(delta)))]
    changed = _split(0, [np.flatnonzero(~accepting), np.flatnonzero(accepting)], members, found)
    todo = np.arange(len(delta)) if changed else np.empty(0, np.int64)
    while len(todo):
        parts: dict[int, dict[bytes, list[int]]] = {}
        for state, row in zip(todo.tolist(), found[needed[todo]], strict=True):
            parts.setdefault(int(found[state]), {}).setdefault(row.tobytes(), []).append(state)
        changed = []
        for number, groups in parts.items():
            changed += _split(number, list(groups.values()), members, found)
        todo = before.of(changed)
    return found


class _Before:
    """The states from which a letter leads to given ones."""

    def __init__(self, delta: IntArray) -> None:
        targets = delta.ravel()
        order = np.argsort(targets, kind="stable")
        self._sources = order // max(1, delta.shape[1])
        self._first = np.searchsorted(targets[order], np.arange(len(delta) + 1))

    def of(self, states: Sequence[int]) -> LongArray:
        found = [self._sources[self._first[state] : self._first[state + 1]] for state in states]
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)


def _split(
    number: int,
    groups: Sequence[Sequence[int] | LongArray],
    members: list[set[int]],
    found: IntArray,
) -> list[int]:
    """Split a class into groups and the rest; the states that get a new number.

    All get one but the largest part; the rest is looked at only if it is smaller than another.
    """
    parts = sorted((set(map(int, group)) for group in groups if len(group)), key=len)
    rest = len(members[number]) - sum(map(len, parts))
    if rest < len(parts[-1]):
        parts[-1:] = [members[number].difference(*parts)] if rest else []
    changed: list[int] = []
    for part in parts:
        members[number] -= part
        found[list(part)] = len(members)
        members.append(part)
        changed += part
    return changed


def _distinct(rows: IntArray) -> IntArray:
    """The rows, numbered so that equal ones share a number."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], np.int32)


def _by_breadth(delta: IntArray, start: int) -> list[int]:
    """The states in the order in which a breadth-first search from the start meets them."""
    order = [start]
    seen = {start}
    for state in order:  # which grows
        for found in dict.fromkeys(delta[state].tolist()):
            if found not in seen:
                seen.add(found)
                order.append(found)
    return order


def can_reach(delta: IntArray, targets: BoolArray) -> BoolArray:
    """The states from which some trace, possibly the empty one, leads to a target."""
    reached = targets.copy()
    while True:
        more = reached | reached[delta].any(axis=1)
        if (more == reached).all():
            return reached
        reached = more
