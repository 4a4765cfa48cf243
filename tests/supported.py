"""Which spaces the library takes: an environment of five places in a row, in any of them.

The goals are its ends.  `row` tries a space of observations and `taken` a space of actions, and
both return what the table of `docs/supported.md` says.
"""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium.spaces import (
    Box,
    Dict,
    Discrete,
    Graph,
    MultiBinary,
    MultiDiscrete,
    Sequence,
    Text,
    Tuple,
)

import taskalgebra as ta
from taskalgebra.skills.making import default_learner

PLACES = 5
NAMES = {
    "Box": Box,
    "Dict": Dict,
    "Discrete": Discrete,
    "Graph": Graph,
    "MultiBinary": MultiBinary,
    "MultiDiscrete": MultiDiscrete,
    "Sequence": Sequence,
    "Text": Text,
    "Tuple": Tuple,
    "np": np,
}


def space_of(text):
    """The space that a row of the table names."""
    return eval(text, dict(NAMES))


def seen(space, place):
    """How a place looks in a space."""
    if isinstance(space, Discrete):
        return int(space.start) + place
    if isinstance(space, MultiDiscrete | Box):
        found = np.zeros(space.shape, space.dtype)
        found.flat[: min(found.size, PLACES)] = place / 4 if space.dtype.kind == "f" else place
        return found
    if isinstance(space, MultiBinary):
        found = np.zeros(space.shape, space.dtype)
        found.flat[place] = 1
        return found
    if isinstance(space, Dict):
        return {key: seen(part, place) for key, part in space.spaces.items()}
    if isinstance(space, Tuple):
        return tuple(seen(part, place) for part in space.spaces)
    if isinstance(space, Text):
        return "abcde"[place]
    space.seed(place)
    return space.sample()


class Row(gym.Env):
    """Five places; an agent goes left or right."""

    def __init__(self, observations, actions=None):
        self.observation_space = observations
        self.action_space = actions or Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 1 + int(self.np_random.integers(3))
        return seen(self.observation_space, self.place), {}

    def step(self, action):
        right = float(np.asarray(action, float).ravel()[0]) > 0
        self.place = min(max(self.place + (1 if right else -1), 0), PLACES - 1)
        return seen(self.observation_space, self.place), 0.0, False, False, {}


def end(observation, info, env):
    return {0: "first", PLACES - 1: "last"}.get(env.place)


def wrapped(env, **options):
    return ta.wrap(lambda: env, goals=end, among=["first", "last"], max_episode_steps=20, **options)


def learns(world, learner):
    """Whether a learner takes a world."""
    try:
        ta.learn(world, learner=learner)
    except (ValueError, TypeError):
        return "no"
    return "yes"


def row(text):
    """What becomes of observations: what the agent sees, the learner by default, who takes it."""
    try:
        world = wrapped(Row(space_of(text)))
    except (ValueError, TypeError):
        return ["–", "–", "no", "no"]
    default = "tables" if isinstance(default_learner(world), ta.QLearning) else "a network"
    kind = type(world.observation_space).__name__
    shape = world.observation_space.shape
    sees = "numbers of states" if kind == "Discrete" else f"arrays {shape}".replace(",)", ")")
    return [
        sees,
        default,
        learns(world, ta.QLearning(steps=300)),
        learns(world, ta.DeepQ(n_updates=2)),
    ]


def taken(text):
    """What becomes of actions."""
    try:
        world = wrapped(Row(Discrete(5), space_of(text)))
    except (ValueError, TypeError):
        return ["choose some"]
    return [str(world.action_space)]
