"""MiniGrid's Fetch with random layouts: 3 of 12 objects, anywhere, in a room of 6 × 6.

The optimum is that of fixed layouts (`minigrid_fixed.py`), in episodes in which a wanted object can
be fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import gymnasium as gym
import numpy as np

import taskalgebra as ta
from taskalgebra.arrays import BoolArray, LongArray
from taskalgebra.envs import minigrid
from taskalgebra.showcase.minigrid_fixed import at_object, fewest_steps
from taskalgebra.showcase.record import Judged, World
from taskalgebra.skills.skills import Skills

NAME = "MiniGrid-Fetch-8x8-N3-v0"
EXPRESSIONS: dict[str, Callable[[str, str], bool]] = {
    "red": lambda colour, kind: colour == "red",
    "key": lambda colour, kind: kind == "key",
    "yellow & key": lambda colour, kind: colour == "yellow" and kind == "key",
    "purple | grey": lambda colour, kind: colour in ("purple", "grey"),
    "~key & ~red": lambda colour, kind: kind != "key" and colour != "red",
    "blue ^ ball": lambda colour, kind: (colour == "blue") != (kind == "ball"),
    "(red | ball) & ~key": lambda colour, kind: kind == "ball",
    "~(green | blue)": lambda colour, kind: colour not in ("green", "blue"),
    "green & ~ball | grey & ball": lambda colour, kind: (
        (colour, kind) in (("green", "key"), ("grey", "ball"))
    ),
    "key & ~(red | yellow | grey)": lambda colour, kind: (
        kind == "key" and colour in ("green", "blue", "purple")
    ),
}
"""Each with what it wants, written out independently of the library."""
UNSEEN = 2**31
"""The first seed of layouts; those of trainings are lower."""


@dataclass(frozen=True)
class Played:
    """Episodes of one expression, in all of which a wanted object could be fetched."""

    success: BoolArray  # [N]
    steps: LongArray  # [N], of the agent
    fewest: LongArray  # [N]

    @property
    def rate(self) -> float:
        """How often a wanted object was fetched."""
        return float(self.success.mean())


def layouts(wanted: Callable[[str, str], bool], seed: int) -> Iterator[tuple[Any, int]]:
    """Environments in which a wanted object can be fetched, with the fewest steps."""
    for i in count(seed):
        env: Any = gym.make(NAME, disable_env_checker=True).unwrapped
        env.reset(seed=i)
        moves = fewest_steps(env, partial(at_object, wanted, False), things=False, at_once=True)
        if moves is not None:
            yield env, moves + 1  # and it picks up what lies ahead


def play(skills: Skills, expression: str, episodes: int, seed: int = UNSEEN) -> Played:
    """Play an expression in the environment itself, all episodes side by side."""
    wanted, policy = EXPRESSIONS[expression], skills[expression].policy
    envs, fewest = zip(
        *(each for each, _ in zip(layouts(wanted, seed), range(episodes), strict=False)),
        strict=True,
    )
    steps, success = np.zeros(episodes, np.int64), np.zeros(episodes, np.bool_)
    going = list(range(episodes))
    while going:
        seen = np.stack([minigrid.full_grid(None, envs[i]) for i in going])
        for i, action in zip(list(going), policy.actions(seen), strict=True):
            _, _, terminated, truncated, _ = envs[i].step(int(action))
            steps[i] += 1
            if terminated or truncated:
                held = envs[i].carrying
                success[i] = held is not None and wanted(held.color, held.type)
                going.remove(i)
            elif steps[i] >= 100:  # nothing is that far
                going.remove(i)
    return Played(success, steps, np.array(fewest))


def judge(skills: Skills, episodes: int, seed: int) -> Iterator[Judged]:
    """Play all ten expressions, on layouts that no training has seen."""
    for expression in EXPRESSIONS:
        found = play(skills, expression, episodes, UNSEEN + seed)
        steps, fewest = (each[found.success] for each in (found.steps, found.fewest))
        lengths = (float(each.mean()) if len(each) else np.nan for each in (steps, fewest))
        yield Judged(expression, episodes, found.rate, 1.0, *lengths)


def learned() -> Skills:
    """Fetch: six colours of keys and balls."""
    world = minigrid.world("MiniGrid-Fetch-8x8-N3-v0")
    return ta.learn(world)


WORLDS = (
    World(
        "minigrid-fetch",
        "MiniGrid-Fetch-8x8-N3, random layouts",
        learned,
        judge,
        "success 0.95, steps 1.1 times the fewest",
        most_lost=0.05,
        most_steps=1.1,
        extras=("minigrid", "deep"),
        minutes=30.0,
    ),
)
