"""An independent oracle for Boxman: the rules in plain Python, on dictionaries of names.

It shares nothing with the library but the format of codes, in which answers are compared.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}


class State(NamedTuple):
    """Where the agent is, what it holds, where every object lies."""

    agent: tuple[int, int]
    held: str | None
    where: dict[str, tuple[int, int]]


class SlowBoxman:
    """One map and the names of its objects."""

    def __init__(self, text, objects):
        rows = text.split()
        self.objects = list(objects)
        self.cells = [
            (r, c) for r, row in enumerate(rows) for c, sign in enumerate(row) if sign == "."
        ]
        self.number = {cell: i for i, cell in enumerate(self.cells)}

    def state(self, code):
        agent, held, *places = (int(n) for n in code)
        where = {name: self.cells[n] for name, n in zip(self.objects, places, strict=True)}
        return State(self.cells[agent], self.objects[held - 1] if held else None, where)

    def code(self, state):
        held = 0 if state.held is None else 1 + self.objects.index(state.held)
        places = [self.number[state.where[name]] for name in self.objects]
        return [self.number[state.agent], held, *places]

    def step(self, state, action, by_touch, wanted):
        """The next state, and the object with which the episode ends or None."""
        if state.held is not None:
            return state, state.held
        if action == "pick up":
            for name, cell in state.where.items():
                if cell == state.agent:
                    return state._replace(held=name), None
            return state, None
        down, right = MOVES[action]
        there = (state.agent[0] + down, state.agent[1] + right)
        if there not in self.number:
            return state, None
        held = None
        if by_touch:
            for name, cell in state.where.items():
                if cell == there and name in wanted:
                    held = name
        return State(there, held, state.where), None

    def best_return(self, state, by_touch, wanted, goal_reward, step_reward=-0.1):
        """The best return, by a search over whole states, for each object that can be collected."""
        actions = list(MOVES) if by_touch else [*MOVES, "pick up"]
        best = float("-inf")
        seen, queue = {(state.agent, state.held)}, deque([(state, 0)])
        while queue:
            here, steps = queue.popleft()
            if here.held is not None:
                best = max(best, steps * step_reward + goal_reward[here.held])
                continue
            for action in actions:
                there, _ = self.step(here, action, by_touch, wanted)
                if (there.agent, there.held) not in seen:
                    seen.add((there.agent, there.held))
                    queue.append((there, steps + 1))
        return best
