"""The button puzzle: formulas from all 512 boards, and some episodes played by OGBench's arm.

A step is one press.  The judge sees a board as a number whose bit i is button i, and a press as the
bits that it switches.  On the arm, what is read after a press are the buttons of the simulator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.envs.explore import Explored
from taskalgebra.showcase.puzzle import LIMIT, Arm, Buttons, exactly, solved
from taskalgebra.showcase.temporal.judge import (
    Board,
    Episode,
    Letters,
    Reading,
    fewest,
    follow_from,
    steps_of,
)
from taskalgebra.showcase.temporal.record import PLANNED, Entry, Measured
from taskalgebra.skills.skills import Skills
from taskalgebra.skills.temporal import TemporalAgent

PUZZLE = "Puzzle"
N_BUTTONS, N_BOARDS = 9, 512
FORMULAS = {
    "1": "F(full & X F dark)",
    "2": "F(corners & X F(cross & X F dark))",
    "3": "F cross & F corners & G !dark",
    "4": "(!b4 U (b0 & b2)) & F full",
    "5": "F dark & G !(b0 & b1) & G !(b7 & b8)",
    "6": "F corners & G(b0 | b4 | b8)",
    "7": "F full & G(b4 => N !b4)",
    "8": "F(dark & X(cross & X dark))",
}
"""In 7 and 8 it matters what the very next press does."""
OGBENCH = {
    "task1": ("000 000 000", "110 101 011"),
    "task2": ("111 111 111", "011 111 111"),
    "task3": ("010 111 010", "101 010 101"),
    "task4": ("010 101 010", "111 111 111"),
    "task5": ("111 111 111", "101 101 101"),
}
"""The tasks of OGBench's evaluation: the first board, and the board to make."""
SEEDS = range(5)
QUICK = 64  # at toy size, one board in so many
QUICK_ARM = ("8", "task2")  # at toy size, with one seed each


def switches(i: int) -> int:
    """What a press of button i switches, as bits."""
    row, column = divmod(i, 3)
    beside = [(row, column), (row - 1, column), (row + 1, column), (row, column - 1)]
    beside.append((row, column + 1))
    return sum(1 << 3 * r + c for r, c in beside if 0 <= r < 3 and 0 <= c < 3)


SWITCHES = tuple(switches(i) for i in range(N_BUTTONS))
PATTERNS = {0: "dark", 0b111111111: "full", 0b101000101: "corners", 0b010111010: "cross"}


def letters(board: int) -> Letters:
    """What is true of a board."""
    on = [f"b{i}" for i in range(N_BUTTONS) if board >> i & 1]
    return frozenset([*on, PATTERNS[board]] if board in PATTERNS else on)


LETTERS = tuple(letters(board) for board in range(N_BOARDS))
JUDGED = Board(
    lambda board: [(board ^ switched, LETTERS[board ^ switched]) for switched in SWITCHES], LETTERS
)


def number(buttons: Any) -> int:
    """A board as the judge sees it."""
    return sum(int(one) << i for i, one in enumerate(buttons))


def buttons(board: int) -> list[int]:
    """A board as the environment sees it."""
    return [board >> i & 1 for i in range(N_BUTTONS)]


def drawn(text: str) -> list[int]:
    """A board from its rows."""
    return [int(one) for one in text.replace(" ", "")]


def tasks() -> dict[str, tuple[str, list[int] | None]]:
    """Formulas by name; those of OGBench with the board that they begin with."""
    own: dict[str, tuple[str, list[int] | None]] = {
        name: (formula, None) for name, formula in FORMULAS.items()
    }
    theirs = {name: (f"F({exactly(drawn(b))})", drawn(a)) for name, (a, b) in OGBENCH.items()}
    return own | theirs


@cache
def skills() -> Skills:
    """Planned once."""
    return solved()


def planned(quick: bool) -> Iterator[Measured]:
    """Play every formula from every board, by the rule; and the tasks of OGBench."""
    env = skills().env
    assert isinstance(env, Explored)
    for name, (formula, start) in tasks().items():
        task = Reading.of(formula, LETTERS)
        boards = range(0, N_BOARDS, QUICK if quick else 1) if start is None else [number(start)]
        episodes = [Episode(JUDGED, task, board) for board in boards]
        states = [int(env.see(np.array(buttons(board), np.int8))) for board in boards]
        follow_from(skills().for_formula(formula), env, states, episodes, LIMIT)
        yield _measured(name, formula, steps_of(episodes), task, list(boards))


def by_arm(quick: bool) -> Iterator[Measured]:
    """Let the arm press; the score is the mean number of steps of the simulator in an episode."""
    arm = Arm()
    for name, (formula, start) in tasks().items():
        if quick and name not in QUICK_ARM:
            continue
        task, boards, taken, simulated = Reading.of(formula, LETTERS), [], [], []
        for seed in SEEDS[:1] if quick else SEEDS:
            options = None if start is None else {"buttons": start}
            first, _ = arm.reset(seed=seed, options=options)
            presses, steps = play(skills().for_formula(formula), arm, task, first)
            boards.append(number(first))
            taken.append(presses)
            simulated.append(steps)
        found = _measured(name, formula, np.array(taken), task, boards)
        yield replace(found, score=float(np.mean(simulated)))
    arm.close()


def play(agent: TemporalAgent, env: Buttons, task: Reading, seen: Any) -> tuple[float, int]:
    """One episode in the environment from what is seen; its presses, and steps of the simulator.

    The judge reads the buttons that are seen, whatever the press should have done.  There are
    infinitely many presses where the formula was not satisfied.
    """
    world = agent.skills.env
    assert isinstance(world, Explored)
    agent.reset()
    state, simulated = task.start, 0
    for press in range(1, LIMIT + 1):
        seen, _, _, _, info = env.step(agent.act(seen))
        agent.observe(world.entered(seen, info, env))
        simulated += info.get("simulator_steps", 0)
        state = task.after[state][LETTERS[number(seen)]]
        well = task.well[state]
        if well is not None:
            return press if well else math.inf, simulated
    return math.inf, simulated


def _measured(name: str, formula: str, taken: Array, task: Reading, boards: list[int]) -> Measured:
    least = [fewest(JUDGED, task, board) for board in boards]
    return Measured.of(taken, least, world=PUZZLE, task=name, formula=formula, values=PLANNED)


ENTRIES = (
    Entry(
        "puzzle-planned",
        "Puzzle, planned",
        PLANNED,
        planned,
        "success 1 and the fewest presses from every board",
    ),
    Entry(
        "puzzle-arm",
        "Puzzle, by the arm",
        PLANNED,
        by_arm,
        "success 1 and the fewest presses, by the simulated arm, 5 seeds",
        extras=("ogbench",),
        aside=True,
    ),
)
