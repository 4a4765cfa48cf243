"""Worlds whose moves slip, solved from their documents alone by value iteration on dense tables."""

from __future__ import annotations

import numpy as np

MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


class Slippery:
    """The tables of a document: free cells first, then one absorbing state per goal."""

    def __init__(self, document):
        rows, slip, touch = document["map"], document.get("slip", 0.0), document.get("touch", False)
        self.step = document.get("step_reward", -0.1)
        self.high = document.get("r_universal", 2.0)
        self.low = self.step if document.get("r_empty") is None else document["r_empty"]
        cells = [(r, c) for r, row in enumerate(rows) for c in range(len(row)) if row[c] == "."]
        self.places = [r * len(rows[0]) + c for r, c in cells]
        number = {cell: i for i, cell in enumerate(cells)}
        self.n, self.goals = len(cells), [tuple(goal["cell"]) for goal in document["goals"]]
        taken = {cell: self.n + g for g, cell in enumerate(self.goals)}
        n_actions = 4 if touch else 5
        self.p = np.zeros((self.n, n_actions, self.n + len(self.goals)))
        for cell in cells:
            for a, other in np.ndindex(4, 4):
                there = cell[0] + MOVES[other][0], cell[1] + MOVES[other][1]
                there = there if there in number else cell
                ends = taken[there] if touch and there in taken else number[there]
                self.p[number[cell], a, ends] += 1 - slip if a == other else slip / 3
            if not touch:
                self.p[number[cell], 4, taken.get(cell, number[cell])] = 1.0

    def values(self, terminal):
        """Q of every state and action, where each goal pays its terminal reward; −∞ for no way."""
        v = np.concatenate((np.zeros(self.n), terminal))
        able = np.isin(np.arange(v.size), np.arange(self.n, v.size))
        for _ in range(self.n):  # undirected moves: what is connected to a goal surely ends there
            able[: self.n] |= (self.p[:, :, able] > 0).any(axis=(1, 2))
        here = able[: self.n]
        usable = ~(self.p[:, :, ~able] > 0).any(axis=2)
        for _ in range(100_000):
            q = np.where(usable, self.step + self.p @ v, -np.inf)
            best = np.where(here, q.max(axis=1), 0.0)
            if np.abs(best - v[: self.n]).max() < 1e-13:
                return np.where(here[:, None], q, -np.inf)
            v[: self.n] = best
        raise AssertionError("value iteration does not end")

    def extended(self, desired):
        """Q̄ `[S, G, A]` of a task, with r̄_MIN = r_∅."""
        return np.stack(
            [
                self.values(
                    np.where(
                        np.arange(len(self.goals)) == g,
                        self.high if desired[g] else self.low,
                        self.low,
                    )
                )
                for g in range(len(self.goals))
            ],
            axis=1,
        )

    def earns(self, actions, desired):
        """The return of a policy from every cell, and how often it ends in a desired goal."""
        chain = self.p[np.arange(self.n), actions]
        inner, out = chain[:, : self.n], chain[:, self.n :]
        ends = (out > 0).any(axis=1)
        for _ in range(self.n):
            ends |= (inner[:, ends] > 0).any(axis=1)
        lost = ~ends
        for _ in range(self.n):
            lost |= (inner[:, lost] > 0).any(axis=1)
        pays = np.where(desired, self.high, self.low)
        returns = np.full(self.n, -np.inf)
        live = ~lost
        matrix = np.eye(live.sum()) - inner[np.ix_(live, live)]
        returns[live] = np.linalg.solve(matrix, self.step + out[live] @ pays)
        reached = np.zeros(self.n)
        for _ in range(100_000):
            more = inner @ reached + out @ np.asarray(desired, float)
            if np.abs(more - reached).max() < 1e-14:
                break
            reached = more
        return returns, reached


class MinMax:
    """An element of the algebra on arrays."""

    def __init__(self, array, total):
        self.array, self.total = array, total

    def __and__(self, other):
        """Pointwise minimum."""
        return MinMax(np.minimum(self.array, other.array), self.total)

    def __or__(self, other):
        """Pointwise maximum."""
        return MinMax(np.maximum(self.array, other.array), self.total)

    def __invert__(self):
        """(U + ∅) − x; −∞ stays."""
        with np.errstate(invalid="ignore"):
            found = self.total - self.array
        return MinMax(np.where(np.isnan(found), -np.inf, found), self.total)

    def __xor__(self, other):
        """As in the paper."""
        return (self | other) & ~(self & other)
