"""Games of Boxman without Gymnasium around them; both environments are made of `Games`."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.envs.boxman.art import Frames, Sprites, paint
from taskalgebra.envs.boxman.board import Board, Codes, advance, deal, reappear


@final
class Games:
    """N games on one board.

    Args:
        board: walls and objects.
        sprites: what they look like.
        n_games: N.
        places: the cell of every object; None puts them on random cells at every start.
        by_touch: whether desired objects are collected by stepping on them, without pick-up.
    """

    def __init__(
        self,
        board: Board,
        sprites: Sprites,
        n_games: int,
        *,
        places: NDArray[np.uint8] | None,
        by_touch: bool,
    ) -> None:
        """Lay out the codes; nothing is started yet."""
        self.board = board
        self.sprites = sprites
        self.places = places
        self.by_touch = by_touch
        self.codes: Codes = np.zeros((n_games, 2 + board.n_objects), np.uint8)
        self._collected = np.full(n_games, -1, np.int64)

    def start(self, rows: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Start some games in random states.

        By pick-up the agent starts on any cell.  By touch it starts on none with an object, since
        it could not step on that one.
        """
        uniform = rng.random((rows.size, 1 + self.board.n_objects))
        if self.places is None:
            deal(self.codes, rows, uniform, self.board.n_cells, self.by_touch)
            return
        cells = np.arange(self.board.n_cells)
        if self.by_touch:
            cells = np.setdiff1d(cells, self.places)
        self.codes[rows, 0] = cells[(uniform[:, 0] * cells.size).astype(np.int64)]
        self.codes[rows, 1] = 0
        self.codes[rows, 2:] = self.places

    def step(self, actions: NDArray[np.int64], desired: BoolArray) -> NDArray[np.int64]:
        """Move all games; [N], the object with which a game has just ended, or −1."""
        advance(self.codes, actions, self.board.neighbour, self.by_touch, desired, self._collected)
        return self._collected.copy()

    def go_on(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Let go of what is held, and play on; [N], the object that was just collected, or −1.

        In a random layout it reappears on a random free cell, in a fixed one where it was.
        """
        collected = self.codes[:, 1].astype(np.int64) - 1
        rows = np.flatnonzero(collected >= 0)
        if self.places is None:
            reappear(self.codes, rows, rng.random(rows.size), self.board.n_cells)
        self.codes[:, 1] = 0
        return collected

    def frames(self, codes: ArrayLike | None = None) -> Frames:
        """The screens of some codes, by default of all games."""
        shown, it = self.codes if codes is None else self.board.checked_codes(codes), self.sprites
        out = np.empty((len(shown), *it.ground.shape), np.uint8)
        paint(shown, it.ground, it.tiles, it.frames, it.corners, out)
        return out


def all_cells(codes: Codes, n_cells: int) -> Codes:
    """[N·cells, …], every layout with the agent on every free cell, holding nothing."""
    spread = np.repeat(codes, n_cells, axis=0)
    spread[:, 0] = np.tile(np.arange(n_cells), len(codes))
    spread[:, 1] = 0
    return spread


def follow(
    board: Board,
    codes: Codes,
    actions: NDArray[np.int64],
    desired: BoolArray,
    *,
    by_touch: bool,
    goal_reward: Array,
    step_reward: float,
    max_steps: int,
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Play one game from every code by a table of actions `[N, cells]`, up to `max_steps` steps.

    Returns:
        The return, the object collected or −1, and the number of steps, of every game.
    """
    games = codes.copy()
    n_games = len(games)
    returns = np.zeros(n_games)
    goals = np.full(n_games, -1)
    steps = np.zeros(n_games, np.int64)
    running = np.ones(n_games, np.bool_)
    collected = np.full(n_games, -1, np.int64)
    for _ in range(max_steps):
        chosen = actions[np.arange(n_games), games[:, 0]]
        advance(games, chosen, board.neighbour, by_touch, desired, collected)
        ended = running & (collected >= 0)
        returns[running] += step_reward
        returns[ended] += goal_reward[collected[ended]] - step_reward
        goals[ended] = collected[ended]
        steps += running
        running &= ~ended
        if not running.any():
            break
    return returns, goals, steps
