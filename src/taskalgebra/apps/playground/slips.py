"""How long it takes to plan a world whose moves slip, found before it is planned.

Sweeps over all states go on for about as many steps as an episode has, at worst.  That is the way
to the nearest goal over how much of a move is not undone by slips; and no shorter than the agent
would walk on for what a goal pays.
"""

from __future__ import annotations

import numpy as np

from taskalgebra.apps.playground.schema import WorldDocument
from taskalgebra.arrays import BoolArray

MOST_WORK = 16_000_000
"""Steps of an episode times states times solutions: some four seconds."""


def work(document: WorldDocument) -> float:
    """How much work planning is, for a world whose parts fit together."""
    if not document.slip:
        return 0.0
    free = np.array([list(row) for row in document.map]) == "."
    far = max(1, _farthest(free, [goal.cell for goal in document.goals]))
    ahead = abs(1 - 4 / 3 * document.slip)  # of the share of moves, less that of its opposite
    walked = far / max(ahead, 1 / far)  # without any, episodes are random walks
    span = max(document.r_universal, 0.0) - min(document.step_reward, document.r_other)
    steps = max(walked, span / -document.step_reward)
    return steps * float(free.sum()) * 2 * len(document.goals)


def _farthest(free: BoolArray, goals: list[tuple[int, int]]) -> int:
    """The most moves from a cell to the nearest goal, where there is a way."""
    near = np.zeros_like(free)
    near[tuple(np.array(goals).T)] = True
    moves = 0
    while True:
        more = near.copy()
        more[1:] |= near[:-1]
        more[:-1] |= near[1:]
        more[:, 1:] |= near[:, :-1]
        more[:, :-1] |= near[:, 1:]
        more &= free
        if (more == near).all():
            return moves
        near, moves = more, moves + 1
