"""The smallest automaton with the same language.

Two states are the same if no trace tells them apart, that is, if both accept or both do not, after
every trace.  Moore's algorithm refines the partition by acceptance until no letter splits a class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def minimal(
    delta: NDArray[np.int32], accepting: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
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


def classes(delta: NDArray[np.int32], accepting: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The states, numbered so that those that no trace tells apart share a number, `[U]`."""
    columns = _distinct(np.ascontiguousarray(delta.T))
    needed = delta[:, np.unique(columns, return_index=True)[1]]
    found = accepting.astype(np.int32)
    n_classes = len(np.unique(found))
    while True:
        found = _distinct(np.column_stack([found, found[needed]]))
        if int(found.max()) + 1 == n_classes:
            return found
        n_classes = int(found.max()) + 1


def _distinct(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """The rows, numbered so that equal ones share a number."""
    numbers: dict[bytes, int] = {}
    rows = np.ascontiguousarray(rows)
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], np.int32)


def _by_breadth(delta: NDArray[np.int32], start: int) -> list[int]:
    """The states in the order in which a breadth-first search from the start meets them."""
    order = [start]
    seen = {start}
    for state in order:  # which grows
        for found in dict.fromkeys(delta[state].tolist()):
            if found not in seen:
                seen.add(found)
                order.append(found)
    return order


def can_reach(delta: NDArray[np.int32], targets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The states from which some trace, possibly the empty one, leads to a target."""
    reached = targets.copy()
    while True:
        more = reached | reached[delta].any(axis=1)
        if (more == reached).all():
            return reached
        reached = more
