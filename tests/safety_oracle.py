"""Fewest violations, then fewest steps, on a board of Boxman: a search written apart.

Only the rules of `boxman_oracle` are used: where moves lead, and on which cells objects lie.
"""

from __future__ import annotations

import heapq

from boxman_oracle import MOVES, SlowBoxman


def cheapest(game: SlowBoxman, code, wanted, avoided, by_touch):
    """(violations, steps) up to collecting a wanted object; None if there is no way.

    Args:
        game: the board.
        code: of the state.
        wanted: names of objects with which an episode ends.
        avoided: names of objects whose touch is a violation.
        by_touch: whether stepping on an object takes it, whatever the task.
    """
    state = game.state(code)
    lies = {cell: name for name, cell in state.where.items()}
    best = {state.agent: (0, 0)}
    queue = [(0, 0, state.agent)]
    ends = []
    while queue:
        wrong, steps, cell = heapq.heappop(queue)
        if best[cell] < (wrong, steps):
            continue
        if not by_touch and lies.get(cell) in wanted:  # picking up is a choice
            ends.append((wrong + (lies[cell] in avoided), steps + 1))
        for down, right in MOVES.values():
            there = (cell[0] + down, cell[1] + right)
            if there not in game.number:
                continue
            name = lies.get(there) if by_touch else None
            found = (wrong + (name in avoided), steps + 1)
            if name in wanted:
                ends.append(found)
            elif found < best.get(there, (10**9, 0)):
                best[there] = found
                heapq.heappush(queue, (*found, there))
    return min(ends, default=None)
