"""FlatWorld, planned: the 2,500 starts of DeepLTL's evaluation.

Positions lie on no grid, so that the fewest steps are not searched for here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import taskalgebra as ta
from taskalgebra.arrays import Array
from taskalgebra.envs.flat_world.plane import CIRCLES, FORMULAS, MAX_STEPS
from taskalgebra.showcase.temporal.judge import Letters, Reading
from taskalgebra.showcase.temporal.published import FLAT, PUBLISHED
from taskalgebra.showcase.temporal.record import PLANNED, Entry, Measured
from taskalgebra.skills.temporal import TemporalAgent

SEEDS, EPISODES, QUICK = range(1, 6), 500, 2
NAMES = tuple(dict.fromkeys(name for name, *_ in CIRCLES))
SETS: list[Letters] = [
    frozenset(name for i, name in enumerate(NAMES) if code >> i & 1)
    for code in range(2 ** len(NAMES))
]
"""All sets of colours; bit i of the number of one stands for the i-th colour."""


def starts(world: ta.FlatWorld, episodes: int) -> Array:
    """[N, 2], the starts of the published evaluation: after a reset with a seed, the next ones."""
    found = []
    for seed in SEEDS:
        world.reset(seed=seed)
        found += [world.reset()[0] for _ in range(episodes)]
    return np.array(found)


def colours(points: Array) -> list[Letters]:
    """The colours of the circles around each of some points, `[N, 2]`."""
    inside = np.zeros((len(points), len(NAMES)), np.bool_)
    for name, x, y, radius in CIRCLES:
        inside[:, NAMES.index(name)] |= np.hypot(points[:, 0] - x, points[:, 1] - y) < radius
    codes = inside @ (1 << np.arange(len(NAMES)))
    return [SETS[code] for code in codes.tolist()]


def steps_taken(agent: TemporalAgent, world: ta.FlatWorld, formula: str, points: Array) -> Array:
    """[N], the steps after which the formula holds of each path; ∞ where it never does."""
    n = len(points)
    task = Reading.of(formula, SETS)
    states, taken = [task.start] * n, np.full(n, math.inf)
    on = np.ones(n, np.bool_)
    copies = world.continuing(n)
    seen, _ = copies.reset(options={"position": points})
    agent.reset(on)
    for step in range(1, MAX_STEPS + 1):
        seen, _, gone, _, infos = copies.step(agent.act(seen))
        agent.observe(infos)
        on &= ~gone  # it left the square
        for i, letters in zip(np.flatnonzero(on), colours(seen[on]), strict=True):
            states[i] = task.after[states[i]][letters]
            well = task.well[states[i]]
            if well is not None:
                on[i], taken[i] = False, step if well else math.inf
        if not on.any():
            break
    copies.close()
    return taken


def planned(quick: bool) -> Iterator[Measured]:
    """Solve the world once, and play the five tasks from the published starts."""
    world = ta.FlatWorld()
    skills, points = ta.solve(world), starts(world, QUICK if quick else EPISODES)
    for name, formula in FORMULAS.items():
        taken = steps_taken(skills.for_formula(formula), world, formula, points)
        yield Measured.of(taken, None, world=FLAT, task=name, formula=formula, values=PLANNED)


ENTRIES = (
    Entry(
        "flat-world-planned",
        "FlatWorld, planned",
        PLANNED,
        planned,
        "success 0.98 and no more steps than DeepLTL, from its 2,500 starts",
        most_lost=0.02,
        no_more_steps={one.task: one.steps for one in PUBLISHED if one.world == FLAT},
    ),
)
