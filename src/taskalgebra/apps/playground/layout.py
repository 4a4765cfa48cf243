"""Places for the states of a world without a map: by their distance from goals.

Goals are at the bottom, and what leads into them above; the states of a row are in the order of the
mean place of those below that they lead to.
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.graph import steps_to

WIDEST = 40
"""States of a row; a longer one is wrapped."""


def positions(mdp: FiniteMDP) -> list[tuple[float, float]]:
    """[S], x and y in the unit square, y downwards."""
    distance = _distance(mdp)
    x: Array = np.full(mdp.n_states, 0.5)
    rows: list[LongArray] = []
    pair = np.repeat(np.arange(mdp.offset.size - 1), np.diff(mdp.offset)) // mdp.n_actions
    for d in range(int(distance.max()) + 1):
        states = np.flatnonzero(distance == d)
        if d:
            leads = (distance[mdp.successor] == d - 1) & (distance[pair] == d)
            total = np.bincount(pair[leads], x[mdp.successor[leads]], minlength=mdp.n_states)
            count = np.bincount(pair[leads], minlength=mdp.n_states)
            aim = np.where(count > 0, total / np.maximum(count, 1), 0.5)
            states = states[np.argsort(aim[states], kind="stable")]
        for part in np.array_split(states, -(-states.size // WIDEST)):
            x[part] = (np.arange(part.size) + 0.5) / part.size
            rows.append(part)
    y = np.empty(mdp.n_states)
    for i, part in enumerate(reversed(rows)):
        y[part] = (i + 0.5) / len(rows)
    return list(zip(x.round(4).tolist(), y.round(4).tolist(), strict=True))


def _distance(mdp: FiniteMDP) -> LongArray:
    """[S], the fewest steps to any goal; one more than the most where there is no way."""
    steps = steps_to(mdp.predecessors, mdp.goals).astype(np.int64)
    known = np.where(steps < 0, np.iinfo(np.int64).max, steps).min(axis=0)
    there = known < np.iinfo(np.int64).max
    found: LongArray = np.where(there, known, known[there].max(initial=0) + 1)
    return found
