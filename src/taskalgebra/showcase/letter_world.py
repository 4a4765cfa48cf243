"""LetterWorld (LTL2Action, DeepLTL): letters in an order, or never, in layouts that are new.

The optimum is a breadth-first search over cells and the states of the automaton.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import taskalgebra as ta
from taskalgebra.arrays import BoolArray, IntArray, LongArray
from taskalgebra.envs.letter_world import FORMULAS, RandomLetterWorld
from taskalgebra.envs.letters import CORNER, EACH, LETTERS, NEIGHBOUR, Bytes
from taskalgebra.logic.automaton import Automaton
from taskalgebra.showcase.record import Judged, World
from taskalgebra.skills.skills import Skills

UNSEEN = 2**31
"""The first seed of layouts; those of trainings are lower."""
LIMIT = 75
"""Steps of an episode, as published."""
AT_ONCE = 250
"""Episodes that are played side by side."""
DEEP_LTL = {
    "1": (0.999, 9.66),
    "2": (0.982, 7.26),
    "3": (1.000, 12.23),
    "4": (0.969, 12.13),
    "5": (0.997, 9.48),
}
"""Success and steps of DeepLTL, after 15 million steps of training, as published."""


@dataclass(frozen=True)
class Played:
    """Episodes of one formula."""

    success: BoolArray  # [N]
    steps: LongArray  # [N], of the agent
    fewest: LongArray  # [N]


def reading(automaton: Automaton) -> IntArray:
    """[13], what an automaton reads on a cell: with no letter, with a, …, with l."""
    return np.array([automaton.letter(each) for each in ((), *zip(LETTERS, strict=True))])


def fewest_steps(layout: Bytes, automaton: Automaton) -> int | None:
    """Steps from the corner until the formula is satisfied, by breadth-first search.

    None if it cannot be.
    """
    delta = automaton.delta[:, reading(automaton)[layout]].tolist()  # [U, cells]
    start = (CORNER, int(automaton.start))
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        cell, u = state = waiting.popleft()
        for there in NEIGHBOUR[cell].tolist():
            following = (there, delta[u][there])
            if automaton.accepting[following[1]]:
                return steps[state] + 1
            if following not in steps and not automaton.dead[following[1]]:
                steps[following] = steps[state] + 1
                waiting.append(following)
    return None


def play(skills: Skills, formula: str, episodes: int, seed: int = UNSEEN) -> Played:
    """Play a formula in new layouts, from the corner."""
    parts = [
        _play(skills, formula, min(AT_ONCE, episodes - first), seed + first)
        for first in range(0, episodes, AT_ONCE)
    ]
    return Played(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _play(
    skills: Skills, formula: str, n: int, seed: int
) -> tuple[BoolArray, LongArray, LongArray]:
    """Success, steps and the fewest steps, each `[N]`, of episodes side by side."""
    agent = skills.for_formula(formula)
    automaton = agent.automaton
    read = reading(automaton)
    copies = RandomLetterWorld().continuing(n)
    observations, _ = copies.reset(seed=seed)
    agent.reset([True] * n)
    found = [fewest_steps(code[1:], automaton) for code in copies.codes]
    fewest = np.array([LIMIT if steps is None else steps for steps in found])
    states = np.full(n, automaton.start, np.int64)
    steps = np.full(n, LIMIT, np.int64)
    over = np.zeros(n, np.bool_)
    for step in range(1, LIMIT + 1):
        observations, _, _, _, infos = copies.step(agent.act(observations))
        agent.observe(infos)
        letters = infos["goal"] // EACH + 1  # the goal −1 is no letter, 0
        states = np.where(over, states, automaton.delta[states, read[letters]])
        ended = ~over & (automaton.accepting[states] | automaton.dead[states])
        steps[ended] = step
        over |= ended
        if over.all():
            break
    return automaton.accepting[states], steps, fewest


def judge(skills: Skills, episodes: int, seed: int) -> Iterator[Judged]:
    """Play the five published tasks, on layouts that no training has seen."""
    for formula in FORMULAS.values():
        found = play(skills, formula, episodes, UNSEEN + seed)
        steps, fewest = (each[found.success] for each in (found.steps, found.fewest))
        lengths = (float(each.mean()) if len(each) else np.nan for each in (steps, fewest))
        yield Judged(formula, episodes, float(found.success.mean()), 1.0, *lengths)


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
