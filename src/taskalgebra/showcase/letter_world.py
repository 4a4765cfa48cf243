"""LetterWorld (LTL2Action, DeepLTL): letters in an order, or never, in layouts that are new.

The optimum, and whether an episode succeeded, are those of the judge of tasks with time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

import taskalgebra as ta
from taskalgebra.arrays import Array
from taskalgebra.envs.letter_world import FORMULAS, LIMIT, RandomLetterWorld
from taskalgebra.envs.letters import LETTERS, SIDE
from taskalgebra.showcase.record import Judged, World
from taskalgebra.showcase.temporal.judge import (
    NONE,
    Board,
    Episode,
    Letters,
    Reading,
    fewest,
    follow,
    steps_of,
)
from taskalgebra.skills.skills import Skills
from taskalgebra.worlds.grid import Cell

UNSEEN = 2**31
"""The first seed of layouts; those of trainings are lower."""
AT_ONCE = 250
"""Episodes that are played side by side."""
CORNER: Cell = (0, 0)
ALPHABET: tuple[Letters, ...] = (NONE, *(frozenset([name]) for name in LETTERS))


def board(layout: Sequence[int]) -> Board:
    """A layout as the judge sees it: `[49]`, 0 for a free cell, 1 for a, 2 for b."""

    @cache
    def moves(cell: Cell) -> list[tuple[Cell, Letters]]:
        row, column = cell
        found = []
        for down, right in ((-1, 0), (0, 1), (1, 0), (0, -1)):
            there = (row + down) % SIDE, (column + right) % SIDE
            found.append((there, ALPHABET[layout[there[0] * SIDE + there[1]]]))
        return found

    return Board(moves, ALPHABET)


def play(skills: Skills, formula: str, episodes: int, seed: int = UNSEEN) -> tuple[Array, Array]:
    """Play a formula in new layouts, from the corner.

    Returns:
        `[N]`, the steps of each episode, ∞ where it failed; and the fewest.
    """
    agent, task = skills.for_formula(formula), Reading.of(formula, ALPHABET)
    taken, least = [], []
    for first in range(0, episodes, AT_ONCE):
        copies = RandomLetterWorld().continuing(min(AT_ONCE, episodes - first))
        seen, _ = copies.reset(seed=seed + first)
        boards = [board(layout) for layout in copies.codes[:, 1:].tolist()]
        played = [Episode(one, task, CORNER) for one in boards]
        follow(agent, copies, seen, played, LIMIT)
        taken.append(steps_of(played))
        least.append([fewest(one, task, CORNER) for one in boards])
    return np.concatenate(taken), np.concatenate(least)


def judge(skills: Skills, episodes: int, seed: int) -> Iterator[Judged]:
    """Play the five published tasks, on layouts that no training has seen."""
    for formula in FORMULAS.values():
        taken, least = play(skills, formula, episodes, UNSEEN + seed)
        won, possible = np.isfinite(taken), np.isfinite(least)
        lengths = (float(each[won].mean()) if won.any() else np.nan for each in (taken, least))
        rates = (float(each.mean()) for each in (won, possible))
        yield Judged(formula, episodes, *rates, *lengths)


def learned() -> Skills:
    """LetterWorld: the way to every letter, from observations."""
    world = ta.RandomLetterWorld()
    return ta.learn(world)


WORLDS = (
    World(
        "letter-world",
        "LetterWorld, random layouts, tasks with time",
        learned,
        judge,
        "success 0.99, steps 1.05 times the fewest",
        most_lost=0.01,
        most_steps=1.05,
        extras=("deep",),
        minutes=60.0,
    ),
)
