"""Through the public API alone: a user's own network, critic, actor, environment and learner.

Each is learned or wrapped, composed, saved, loaded in a fresh process, and evaluated there.
"""

import json
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

import taskalgebra as ta

GOALS, MOVES = np.array([0, 3, 6]), np.array([-1, 1])


class Corridor(gym.Env):
    """Seven cells in a row; an episode ends in cell 0, 3 or 6.  There is no table."""

    action_space = gym.spaces.Discrete(2)

    def __init__(self, vectors=False):
        self.vectors = vectors
        vector = gym.spaces.Box(0.0, 1.0, (7,))
        self.observation_space = vector if vectors else gym.spaces.Discrete(7)

    def seen(self):
        return np.eye(7, dtype=np.float32)[self.cell] if self.vectors else self.cell

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = int(self.np_random.choice([1, 2, 4, 5]))
        return self.seen(), {}

    def step(self, action):
        self.cell += int(MOVES[action])
        at_goal = self.cell in GOALS
        info = {"goal": self.cell // 3 if at_goal else -1}
        return self.seen(), -0.1, at_goal, False, info


def corridor(vectors=False):
    def make(n):
        return gym.vector.SyncVectorEnv([lambda: Corridor(vectors)] * n)

    tasks = {"outer": ["left", "right"], "west": ["left", "middle"]}
    return ta.OpenEnv(make, ["left", "middle", "right"], tasks, max_episode_steps=20)


def returns_from(cells):
    """[B, G], −0.1 for each step that is left; other goals are in the way."""
    cells = np.asarray(cells)[:, None]
    beyond = ((cells < 3) & (GOALS == 6)) | ((cells > 3) & (GOALS == 0))
    return -0.1 * np.abs(cells - GOALS) - 5.0 * beyond


class Critic(ta.Reach):
    """G(s:g, a) of every action."""

    def returns(self, observations):
        ahead = [np.clip(np.asarray(observations) + move, 0, 6) for move in MOVES]
        return np.stack([returns_from(cells) - 0.1 for cells in ahead], axis=2)


class Actor(ta.DirectedReach):
    """How far goals are, and the way there; no values of single actions."""

    def values(self, observations):
        return returns_from(observations)

    def act(self, observations, goal):
        return (GOALS[goal] > np.asarray(observations)).astype(np.int64)


class Module(nn.Module):
    """Two layers over state and goal."""

    def __init__(self, shape, n_actions, n_outputs):
        super().__init__()
        self.sizes = (n_actions, n_outputs)
        self.hidden = nn.Linear(2 * shape[0], 64)
        self.last = nn.Linear(64, n_actions * n_outputs)

    def forward(self, states, goals):
        pairs = [states[:, None].expand(-1, len(goals), -1), goals.expand(len(states), -1, -1)]
        x = self.last(torch.relu(self.hidden(torch.cat(pairs, 2))))
        return x.view(len(states), len(goals), *self.sizes)


class ByHeart:
    """A learner: this one knows the table already."""

    def learn(self, env, tasks, *, seed, folder, listener):
        listener(ta.Event("all", 1.0))
        table, space = Critic().returns(np.arange(7)), env.space
        rewards = [space.r_universal, space.r_empty, *(t.goal_reward for t in tasks.values())]
        tables = [table + reward[:, None] for reward in rewards]
        return ta.TableFamily.of(space, tasks, tables, r_bar_min=-5.0, error_bound=None)


NETWORK = ta.DeepQ(
    Module,
    n_updates=400,
    updates_per_iteration=200,
    n_envs=8,
    steps_per_update=8.0,
    learning_starts=800,
    learning_rate=5e-3,
    tau=0.2,
    threads=1,
    score=lambda family: 0.0,
)
MAKE = {
    "network": lambda: ta.learn(corridor(vectors=True), learner=NETWORK),
    "critic": lambda: ta.from_reach(Critic(), corridor()),
    "actor": lambda: ta.from_reach(Actor(), corridor()),
    "environment": lambda: ta.learn(corridor(), learner=ta.QLearning(steps=3_000)),
    "learner": lambda: ta.learn(corridor(), learner=ByHeart()),
}
LOAD = {
    "network": lambda path: ta.load(path, corridor(vectors=True), network=Module),
    "critic": lambda path: ta.load(path, corridor(), reach=Critic()),
    "actor": lambda path: ta.load(path, corridor(), reach=Actor()),
    "environment": lambda path: ta.load(path, corridor()),
    "learner": lambda path: ta.load(path, corridor()),
}
TASKS = {"outer & west": [0], "outer ^ west": [1, 2], "west & ~outer": [1]}
"""Expressions over the base tasks, and the goals that they want."""


def best_goal(wanted, cell):
    """The goal that pays best from a cell: one of the two beside it, without passing another."""
    beside = [g for g in range(3) if abs(GOALS[g] - cell) < 3]
    return max(beside, key=lambda g: (2.0 if g in wanted else -0.1) - 0.1 * abs(GOALS[g] - cell))


def walk(agent, vectors, cell):
    """The goal in which an agent ends, and its steps, played in the environment itself."""
    env = Corridor(vectors)
    env.reset(seed=0)
    env.cell = cell
    for step in range(1, 10):
        _, _, ended, _, info = env.step(agent.act(env.seen()))
        if ended:
            return info["goal"], step
    return None


def found(skills):
    """What the agents earn."""
    return [str(skills[text].evaluate(episodes=100, seed=3)) for text in TASKS]


@pytest.fixture(scope="module")
def made():
    return {kind: make() for kind, make in MAKE.items()}


@pytest.fixture(scope="module")
def found_afresh(made, tmp_path_factory):
    """What the agents of every kind earn when they are loaded in another process."""
    place = tmp_path_factory.mktemp("mine")
    for kind, skills in made.items():
        skills.save(place / kind)
    command = [sys.executable, __file__, str(place)]
    fresh = subprocess.run(command, capture_output=True, text=True)
    assert fresh.returncode == 0, fresh.stderr
    return json.loads(fresh.stdout)


@pytest.mark.parametrize("kind", MAKE)
def test_what_a_user_plugs_in_is_learned_composed_saved_loaded_and_evaluated(
    kind, made, found_afresh
):
    skills = made[kind]
    for text, wanted in TASKS.items():
        for cell in (1, 2, 4, 5):
            goal = best_goal(wanted, cell)
            best = goal, abs(GOALS[goal] - cell)
            assert walk(skills[text], kind == "network", cell) == best, (text, cell)
    assert found_afresh[kind] == found(skills)


if __name__ == "__main__":
    saved = Path(sys.argv[1])
    print(json.dumps({kind: found(load(saved / kind)) for kind, load in LOAD.items()}))
