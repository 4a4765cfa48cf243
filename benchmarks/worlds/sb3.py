"""Agents that Stable-Baselines3 trains, composed: one function per row, which returns its figures.

python benchmarks/worlds/sb3.py grid point maze      # trains each, about 2 CPU minutes

Every row has the success of composed agents, and beside it that of the trained policy when it is
told the nearest wanted goal at the start of each episode, by somebody who knows the map.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from sb3_worlds import WALL_TOP, Grid, Point

import taskalgebra as ta
from taskalgebra.evaluation.rollout import play
from taskalgebra.theory.policy import Policy

EPISODES, COPIES = 300, 30
NETWORK = {"net_arch": [128, 128]}
CELLS = {
    "north-west": (0, 0),
    "north-east": (0, 6),
    "west": (3, 0),
    "inner west": (3, 2),
    "east": (3, 6),
    "south-west": (6, 0),
    "south-east": (6, 6),
}
PLACES = {
    f"{row} {column}": (x, y)
    for row, y in (("low", -0.75), ("middle", 0.0), ("high", 0.75))
    for column, x in (("far left", -0.8), ("left", -0.35), ("right", 0.35), ("far right", 0.8))
}
MAZE = {
    "south-west": (-1.5, -1.0),
    "south": (0.0, -1.0),
    "south-east": (1.5, -1.0),
    "north-west": (-1.5, 1.0),
    "north": (0.0, 1.0),
    "north-east": (1.5, 1.0),
}


def grid(seed: int = 0, steps: int = 12_000, model=None) -> dict:
    """DQN with HER on a grid of 7 × 7 cells with a wall and a door."""
    from stable_baselines3 import DQN

    world = Grid()

    def make():
        return DQN(
            "MultiInputPolicy",
            world,
            **_her(seed, gamma=0.95, learning_starts=500, batch_size=128),
            train_freq=1,
            target_update_interval=250,
            exploration_fraction=0.4,
            exploration_final_eps=0.1,
        )

    def distances(at, wanted):
        return [_steps_in(world, at, set(CELLS.values()) - {cell}, cell) for cell in wanted]

    tasks = {
        "left": lambda point: bool(point[1] < 0),
        "top": lambda point: bool(point[0] < -0.5),
        "corner": [name for name in CELLS if "-" in name],
    }
    expressions = ["left", "left & ~top", "top ^ left", "corner & ~left", "left & top"]
    goals = {name: world.point(*cell) for name, cell in CELLS.items()}
    there = {name: tuple(cell) for name, cell in CELLS.items()}
    return _row(make, model, steps, goals, tasks, expressions, there, distances)


def point(seed: int = 0, steps: int = 12_000, model=None) -> dict:
    """TD3 with HER on a point in a square with a wall; twelve places."""
    from stable_baselines3 import TD3

    def make():
        return TD3(
            "MultiInputPolicy",
            Point(),
            **_her(seed, gamma=0.95, learning_starts=1_000, batch_size=256),
            action_noise=_noise(),
        )

    def distances(at, wanted):
        return [_way_round(at, place) for place in wanted]

    tasks = {
        "left": lambda place: bool(place[0] < 0),
        "high": lambda place: bool(place[1] > 0.5),
        "outer": [name for name in PLACES if "far" in name],
    }
    expressions = ["left", "left & ~high", "high ^ left", "(high | outer) & ~left", "high & outer"]
    return _row(make, model, steps, PLACES, tasks, expressions, PLACES, distances)


def maze(seed: int = 0, steps: int = 15_000, model=None) -> dict:
    """TD3 with HER on PointMaze_Open-v3 of gymnasium-robotics; six places."""
    import gymnasium as gym
    import gymnasium_robotics
    from stable_baselines3 import TD3

    gym.register_envs(gymnasium_robotics)

    def make():
        return TD3(
            "MultiInputPolicy",
            gym.make("PointMaze_Open-v3", max_episode_steps=150),
            **_her(seed, gamma=0.98, learning_starts=1_500, batch_size=256),
            action_noise=_noise(),
        )

    def distances(at, wanted):
        return [float(np.hypot(*np.subtract(at, place))) for place in wanted]

    tasks = {
        "west": lambda place: bool(place[0] < -1),
        "east": lambda place: bool(place[0] > 1),
        "north": lambda place: bool(place[1] > 0),
    }
    expressions = ["west", "west & ~north", "north ^ west", "~west & ~east", "east & north"]
    return _row(make, model, steps, MAZE, tasks, expressions, MAZE, distances)


ROWS: dict[str, Callable[..., dict]] = {"grid": grid, "point": point, "maze": maze}


def _her(seed: int, **settings) -> dict:
    from stable_baselines3 import HerReplayBuffer

    return {
        "replay_buffer_class": HerReplayBuffer,
        "replay_buffer_kwargs": {"n_sampled_goal": 4},
        "learning_rate": 1e-3,
        "policy_kwargs": dict(NETWORK),
        "seed": seed,
        "device": "cpu",
        **settings,
    }


def _noise():
    from stable_baselines3.common.noise import NormalActionNoise

    return NormalActionNoise(np.zeros(2), 0.3 * np.ones(2))


def _row(make, model, steps, goals, tasks, expressions, there, distances) -> dict:
    """Train, compose, play; save, load and play again."""
    import torch

    torch.set_num_threads(1)
    cpu, wall = time.process_time(), time.perf_counter()
    if model is None:
        model = make().learn(steps)
    else:
        model.set_env(make().env)
    figures: dict = {"training": _took(cpu, wall), "steps": steps, "success": {}}
    kinds = {"composed": {}, "avoiding": {"avoid": True}}
    for kind, settings in kinds.items():
        try:
            skills = ta.from_sb3(model, goals, tasks=tasks, **settings)
        except ValueError as error:  # a critic that does not count steps
            figures[kind] = str(error)
            continue
        for expression in expressions:
            found = _success(skills[expression], skills[expression].policy)
            figures["success"].setdefault(expression, {})[kind] = found
    skills = ta.from_sb3(model, goals, tasks=tasks)
    for expression in expressions:
        told = _Told(model, skills[expression], there, distances)
        figures["success"][expression]["told"] = _success(skills[expression], told)
    with tempfile.TemporaryDirectory() as folder:
        skills.save(f"{folder}/skills")
        again = ta.load(f"{folder}/skills", model=model)[expressions[0]]
        played = again.play(again.skills.env.make(), 20, seed=1).success_rate
    return {**figures, "loaded": round(played, 3)}


def _success(agent, policy) -> float:
    """The share of episodes in which a policy ends in a goal that the agent's task wants."""
    env = agent.skills.env
    copies = env.vector(COPIES, task=agent.task)  # not many: a maze takes 20 MB
    limit = env.max_episode_steps
    found = play(agent.task, copies, policy, episodes=EPISODES, max_steps=limit, seed=1)
    copies.close()
    return round(found.success_rate, 3)


def _took(cpu: float, wall: float) -> dict:
    return {
        "cpu_s": round(time.process_time() - cpu, 1),
        "wall_s": round(time.perf_counter() - wall, 1),
    }


class _Told(Policy):
    """The trained policy towards the nearest wanted goal, chosen once in each episode."""

    observation_ndim = 1

    def __init__(self, model, agent, there, distances) -> None:
        self.model, self.task, self.distances = model, agent.task, distances
        wanted = [agent.task.space.goal_names[i] for i in np.flatnonzero(agent.task.desired)]
        self.wanted = [there[name] for name in wanted]
        names = list(agent.task.space.goal_names)
        reach = agent.skills.family.reach
        self.points = reach.points[[names.index(name) for name in wanted]]
        self.parts = reach._parts
        self.begins = None

    def reset(self, begins) -> None:
        self.begins = begins

    def actions(self, observations):
        from taskalgebra.learning.deep.sb3 import unflattened

        given = unflattened(self.parts, observations)
        if self.begins is not None:
            if getattr(self, "goals", None) is None or len(self.goals) != len(observations):
                self.goals = np.zeros(len(observations), int)
            for i in np.flatnonzero(self.begins):
                at = given["achieved_goal"][i]
                self.goals[i] = int(np.argmin(self.distances(at, self.wanted)))
            self.begins = None
        given["desired_goal"] = self.points[self.goals]
        return self.model.predict(given, deterministic=True)[0]


def _steps_in(world: Grid, at, closed, cell) -> float:
    """Steps on the shortest way through a grid, past closed cells; breadth first."""
    start = tuple(round(float(x)) for x in (np.asarray(at) + 1) * (world.size - 1) / 2)
    seen, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        if here == cell:
            return seen[here]
        for move in world.MOVES:
            to = (here[0] + move[0], here[1] + move[1])
            if world.is_free(*to) and to not in seen and (to not in closed or to == cell):
                seen[to] = seen[here] + 1
                queue.append(to)
    return float("inf")


def _way_round(at, place) -> float:
    """The length of the way in the square with a wall: past its end, where it is between."""
    end = (0.0, WALL_TOP)
    straight = float(np.hypot(*np.subtract(at, place)))
    if at[0] * place[0] > 0:
        return straight
    crossing = at[1] + (place[1] - at[1]) * at[0] / (at[0] - place[0])
    if crossing > WALL_TOP:
        return straight
    return float(np.hypot(*np.subtract(at, end)) + np.hypot(*np.subtract(place, end)))


if __name__ == "__main__":
    os.nice(5)
    for name in sys.argv[1:] or list(ROWS):
        print(name, json.dumps(ROWS[name](), indent=1))
