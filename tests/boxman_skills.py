"""Skills for tests of Boxman: networks that know nothing, and an oracle that knows every way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.finite import finite_world
from taskalgebra.envs.boxman.games import all_cells
from taskalgebra.envs.boxman.recipes import FAST
from taskalgebra.learning.deep.family import NetworkFamily
from taskalgebra.learning.deep.networks import egocentric, make_network
from taskalgebra.learning.deep.uvfa import head_of
from taskalgebra.learning.deep.ways import NetworkReach
from taskalgebra.paper.experiments.boxman.settings import SETTINGS
from taskalgebra.skills import store
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.reach import Reach

LOW, STEP = -2.3, -0.1
WORLDS = {
    "fixed": {},
    "random": {"layout": "random"},
    "touch": {"layout": "random", "collect": "touch"},
}
BASE = {
    "fixed": ("blue", "square", "purple"),
    "random": ("blue", "square", "purple"),
    "touch": ("purple", "blue", "square"),
}


def goal_frames(world):
    n = world.board.n_objects
    codes = np.zeros((n, 2 + n), np.uint8)
    codes[:, 1] = np.arange(1, n + 1)
    return world.games(1).frames(codes)


def untrained(setting, seed=0):
    """Networks as they are before the first step of learning."""
    world, settings = Boxman(**WORLDS[setting]), replace(FAST.settings, threads=1)
    tasks = {name: world.tasks[name] for name in BASE[setting]}
    torch.manual_seed(seed)
    reaches = []
    for task in tasks.values() if world.by_touch else [None]:
        numbers = np.arange(6) if task is None else np.flatnonzero(world.desired_goals(task))
        goals, head = goal_frames(world)[numbers], head_of(settings)
        network = make_network(egocentric, goals.shape[1:], world.space.n_actions, head.n_outputs)
        reaches.append(NetworkReach(network, head, goals, numbers, 6, np.zeros(len(numbers))))
    rewards = np.stack([task.goal_reward for task in tasks.values()])
    return world, NetworkFamily.of(
        world.space,
        tasks,
        egocentric,
        settings,
        tuple(reaches),
        rewards,
        world.shared_absorbing,
    )


def write_untrained(directory, seed=0):
    """Skills of all settings on disk."""
    for name, setting in SETTINGS.items():
        world, family = untrained(name, seed)
        store.write(directory / setting.skills, family, world)


def planned_returns(world, code, wanted=None):
    """[cells, G, A], by value iteration on the finite world of a layout, clamped at LOW."""
    mdp = finite_world(world.board, code[2:], by_touch=world.by_touch, desired=wanted)
    n_cells, n_goals = world.board.n_cells, world.board.n_objects
    next_states = mdp.successor.reshape(mdp.n_states, mdp.n_actions)[:n_cells]
    returns = np.empty((n_cells, n_goals, mdp.n_actions))
    for g in range(n_goals):
        v = np.full(mdp.n_states, LOW)
        v[n_cells + g] = 0.0
        while True:
            q = np.maximum(LOW, STEP + v[next_states])
            if np.array_equal(q.max(axis=1), v[:n_cells]):
                break
            v[:n_cells] = q.max(axis=1)
        returns[:, g] = q
    return returns


class Oracle(Reach):
    """Looks like a network, and knows the planned returns of all screens of some layouts."""

    observation_ndim = 3

    def __init__(self, world, codes, wanted=None):
        self.n_goals = 6
        self.known = {}
        for code in codes:
            screens = world.games(1).frames(all_cells(code[None], world.board.n_cells))
            planned = planned_returns(world, code, wanted)
            self.known |= {s.tobytes(): row for s, row in zip(screens, planned, strict=True)}
            held = np.repeat(code[None], 6, axis=0)  # the next step ends the episode with it
            held[:, 1] = np.arange(1, 7)
            ended = np.where(np.eye(6, dtype=bool), 0.0, LOW)[..., None]
            ended = np.broadcast_to(ended, (6, *planned.shape[1:]))
            screens = world.games(1).frames(held)
            self.known |= {s.tobytes(): row for s, row in zip(screens, ended, strict=True)}

    def returns(self, observations):
        return np.stack([self.known[screen.tobytes()] for screen in np.asarray(observations)])


def oracle_skills(setting, codes):
    """Skills that are perfect on some layouts."""
    world, blank = untrained(setting)
    kinds = (
        [world.desired_goals(task) for task in blank.tasks.values()] if world.by_touch else [None]
    )
    family = NetworkFamily.of(
        world.space,
        blank.tasks,
        blank.network,
        blank.settings,
        tuple(Oracle(world, codes, wanted) for wanted in kinds),
        blank.goal_rewards,
        blank.shared,
    )
    return Skills(family, world)


def untrained_skills(setting, seed=0):
    world, family = untrained(setting, seed)
    return Skills(family, world)
