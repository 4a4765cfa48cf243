"""Small worlds without a map, as graphs: a place for every state, by stress majorization.

States stand about as far apart as the number of moves between them (Kamada and Kawai's stress),
so that a grid without cells still looks like a grid.  Nothing is random: equal worlds get equal
pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.drawing.board import World

MOST_STATES = 300
"""Of a world that is drawn as a graph."""
MOST_NUMBERED = 40
"""States that carry their numbers."""
_ROUNDS = 120


@final
@dataclass(frozen=True, eq=False)
class Graph:
    """A world as a graph, and on it a solved task, if values are given."""

    title: str
    places: Array  # [S, 2], x and y, about one apart where one move leads
    edges: LongArray  # [E, 2], from and to
    chosen: BoolArray  # [E], whether the policy may take it
    labels: tuple[str, ...]  # [S], what is written in a state
    goals: LongArray  # [G], states
    desired: BoolArray  # [G]
    values: Array | None = None  # [S]

    @classmethod
    def of(
        cls,
        mdp: World,
        title: str,
        desired: BoolArray,
        values: Array | None = None,
        actions: LongArray | None = None,
    ) -> Graph:
        """The graph of a world, with values and actions of all its states, `[S]`.

        Raises:
            ValueError: it has too many states to be seen.
        """
        n = mdp.is_goal.size
        if n > MOST_STATES:
            raise ValueError(
                f"this world has no map, and its {n:,} states are too many to be drawn as a graph; "
                f"at most {MOST_STATES}. Give its states cells: from_arrays(..., cells=...)"
            )
        source, target, action = _transitions(mdp)
        moving = (source != target) & ~mdp.is_goal[source]
        taken = np.zeros(source.size, np.bool_) if actions is None else action == actions[source]
        pairs, first = np.unique(
            np.stack((source, target), axis=1)[moving], axis=0, return_inverse=True
        )
        chosen = np.bincount(first.ravel(), taken[moving], minlength=len(pairs)) > 0
        labels = [str(s) if n <= MOST_NUMBERED else "" for s in range(n)]
        for state, name in zip(mdp.goals.tolist(), mdp.goal_names, strict=True):
            labels[state] = name
        return cls(
            title,
            positions(n, pairs),
            pairs,
            chosen,
            tuple(labels),
            mdp.goals.astype(np.int64),
            desired,
            values,
        )


def _transitions(mdp: World) -> tuple[LongArray, LongArray, LongArray]:
    """The state, the successor and the action of each outcome."""
    row = np.repeat(np.arange(mdp.offset.size - 1), np.diff(mdp.offset))
    n_actions = len(mdp.action_names)
    return row // n_actions, mdp.successor.astype(np.int64), row % n_actions


def positions(n: int, edges: LongArray) -> Array:
    """[n, 2], places that minimise Σ w_ij (‖x_i − x_j‖ − d_ij)², with w_ij = 1/d_ij².

    By majorization from classical scaling of the distances d_ij, counted in edges either way.
    """
    if n < 2:
        return np.zeros((n, 2))
    apart = _distances(n, edges)
    weight = 1.0 / (apart + np.eye(n)) ** 2 * (1 - np.eye(n))
    x = _scaled(apart)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    for _ in range(_ROUNDS):
        far = np.linalg.norm(x[:, None] - x[None], axis=2)
        ratio = weight * apart / np.where(far > 1e-9, far, np.inf)
        moved = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ x)
        if np.abs(moved - x).max() < 1e-4:
            break
        x = moved
    return _turned(x)


def _distances(n: int, edges: LongArray) -> Array:
    """[n, n], edges on the shortest way, either way; parts that do not meet stand apart."""
    near = np.eye(n, dtype=np.bool_)
    near[edges[:, 0], edges[:, 1]] = near[edges[:, 1], edges[:, 0]] = True
    apart = np.where(np.eye(n, dtype=np.bool_), 0.0, np.inf)
    reached = np.eye(n, dtype=np.bool_)
    steps = near.astype(np.float32)
    for d in range(1, n):
        grown = (reached.astype(np.float32) @ steps) > 0
        if (grown == reached).all():
            break
        apart[grown & ~reached] = d
        reached = grown
    longest = apart[np.isfinite(apart)].max()
    return np.where(np.isfinite(apart), apart, longest + 2)


def _scaled(apart: Array) -> Array:
    """[n, 2], classical scaling; a little apart where two states would fall together."""
    n = len(apart)
    centred = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centred @ apart**2 @ centred)
    x: Array = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 1e-3))
    angle = 2.399963 * np.arange(n)  # the golden angle
    return x + 0.05 * np.stack((np.cos(angle), np.sin(angle)), axis=1)


def _turned(x: Array) -> Array:
    """The same, wider than high, with the first state at the left and in the upper half."""
    x = x - x.mean(axis=0)
    _, _, axes = np.linalg.svd(x, full_matrices=False)
    x = x @ axes.T
    x = x * np.where(x[0] > 1e-9, -1.0, 1.0)
    return np.round(x, 6)
