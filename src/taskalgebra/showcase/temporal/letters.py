"""LetterWorld: one episode in each of many layouts, from the corner, as published.

Planned for each layout; and learned from observations, in layouts that are new.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import taskalgebra as ta
from taskalgebra.envs.letter_world import FORMULAS, LIMIT
from taskalgebra.showcase.letter_world import ALPHABET, CORNER, board, play
from taskalgebra.showcase.temporal.judge import Episode, Reading, fewest, follow_from, steps_of
from taskalgebra.showcase.temporal.published import LETTERS
from taskalgebra.showcase.temporal.record import NETWORK, PLANNED, Entry, Measured

N_LAYOUTS, QUICK = 1_000, 20


def planned(quick: bool) -> Iterator[Measured]:
    """Solve every layout, and play the five tasks once in each."""
    n_layouts = QUICK if quick else N_LAYOUTS
    taken = {name: np.zeros(n_layouts) for name in FORMULAS}
    least = {name: np.zeros(n_layouts) for name in FORMULAS}
    tasks = {name: Reading.of(formula, ALPHABET) for name, formula in FORMULAS.items()}
    for seed in range(n_layouts):
        world = ta.LetterWorld(seed)
        skills, judged = ta.solve(world), board(world.letters.tolist())
        start = world.space.mdp.starts.tolist()
        for name, formula in FORMULAS.items():
            episode = Episode(judged, tasks[name], CORNER)
            follow_from(skills.for_formula(formula), world, start, [episode], LIMIT)
            taken[name][seed] = steps_of([episode])[0]
            least[name][seed] = fewest(judged, tasks[name], CORNER)
    for name, formula in FORMULAS.items():
        yield Measured.of(
            taken[name], least[name], world=LETTERS, task=name, formula=formula, values=PLANNED
        )


def learned(quick: bool) -> Iterator[Measured]:
    """Play the five tasks with the network that comes with the library."""
    skills = ta.load("letter-world")
    for name, formula in FORMULAS.items():
        taken, least = play(skills, formula, QUICK if quick else N_LAYOUTS)
        yield Measured.of(taken, least, world=LETTERS, task=name, formula=formula, values=NETWORK)


ENTRIES = (
    Entry(
        "letter-world-planned",
        "LetterWorld, planned",
        PLANNED,
        planned,
        f"success 1 and the fewest steps in {N_LAYOUTS:,} layouts",
    ),
    Entry(
        "letter-world-learned",
        "LetterWorld, learned",
        NETWORK,
        learned,
        f"success 0.99 and at most 1.05 times the fewest steps, in {N_LAYOUTS:,} new layouts",
        most_lost=0.01,
        most_steps=1.05,
        extras=("deep",),
    ),
)
