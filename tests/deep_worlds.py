"""Small worlds and short trainings for the tests of networks."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import SyncVectorEnv

from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.recipes import FAST, PAPER
from taskalgebra.envs.open_env import OpenEnv
from taskalgebra.learning.deep import networks
from taskalgebra.learning.deep.dqn import Trainer
from taskalgebra.learning.deep.learner import DeepQ

torch.set_num_threads(1)

BOARD = "#######\n" + "#.....#\n" * 5 + "#######"
OBJECTS = {"blue square": (1, 1), "beige circle": (4, 5)}


def small_boxman(**options):
    """Boxman on 5 × 5 free cells with two objects; images of 60 × 60 pixels."""
    return Boxman(**{"board": BOARD, "objects": OBJECTS, **options})


class Corridor(gym.Env):
    """Seven cells in a row, seen as a one-hot vector: left, right, and take.

    Goals lie at the left end, in the middle and at the right end.  Taking one leads to a terminal
    state of its own, which looks like nothing else.  Every step costs 0.1, taking nothing as well.
    """

    CELLS, GOALS = 7, (0, 3, 6)
    observation_space = gym.spaces.Box(0.0, 1.0, (10,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = int(self.np_random.integers(self.CELLS))
        return self.seen(), {}

    def seen(self):
        return np.eye(10, dtype=np.float32)[self.state]

    def step(self, action):
        if action == 2 and self.state in self.GOALS:
            goal = self.GOALS.index(self.state)
            self.state = self.CELLS + goal
            return self.seen(), -0.1, True, False, {"goal": goal}
        if action < 2:
            self.state = min(max(self.state + (-1, 1)[action], 0), self.CELLS - 1)
        return self.seen(), -0.1, False, False, {}


def corridors(n, **options):
    return SyncVectorEnv([Corridor] * n, **options)


def corridor_world(make=corridors, **options):
    """The corridor as an open world with two base tasks."""
    return OpenEnv(
        make,
        goals=["west", "middle", "east"],
        tasks={"edge": ["west", "east"], "early": ["west", "middle"]},
        actions=["left", "right", "take"],
        **options,
    )


NETWORKS = {"fast": networks.egocentric, "paper": networks.paper}


def short(name="fast", **changes):
    """Settings of a training that takes less than a second, and learns next to nothing."""
    tiny = {
        "n_updates": 20,
        "updates_per_iteration": 8,
        "n_envs": 8,
        "learning_starts": 320,
        "replay_size": 300,
        "batch_size": 8,
        "threads": 1,
        "steps_per_update": 8.0,
        "epsilon_steps": 100,
    }
    recipe = {"fast": FAST, "paper": PAPER}[name]
    return replace(recipe.settings, **{**tiny, **changes})


def short_learner(name="fast", network=None, start=None, score=None, **changes):
    """The same as a learner."""
    made = NETWORKS[name] if network is None else network
    return DeepQ(made, settings=short(name, **changes), start=start, score=score)


def short_trainer(env, settings=None, seed=0, network=None, n_goals=None):
    """A network in training; by default the one that goes with the settings."""
    settings = short() if settings is None else settings
    network = network or NETWORKS["paper" if settings.own_rewards else "fast"]
    return Trainer(env, network, settings, seed, n_goals)


def digest(arrays):
    """A hash of some weights by name; equal hashes mean equal bits."""
    result = hashlib.sha256()
    for name in sorted(arrays):
        result.update(name.encode())
        result.update(np.ascontiguousarray(arrays[name]).tobytes())
    return result.hexdigest()
