"""Agents that Stable-Baselines3 trains with hindsight replay, composed.

The best possible is here the success of the trained policy when it is told the nearest wanted goal
at the start of each episode, by somebody who knows the map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import taskalgebra as ta
from taskalgebra.arrays import BoolArray
from taskalgebra.evaluation.rollout import play
from taskalgebra.showcase.goal_worlds import WALL_TOP, Grid, Point
from taskalgebra.showcase.record import Judged, World
from taskalgebra.showcase.search import fewest_steps
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.policy import Policy

Place = tuple[float, float]
CELLS: dict[str, Place] = {
    "north-west": (0, 0),
    "north-east": (0, 6),
    "west": (3, 0),
    "inner west": (3, 2),
    "east": (3, 6),
    "south-west": (6, 0),
    "south-east": (6, 6),
}
PLACES: dict[str, Place] = {
    f"{row} {column}": (x, y)
    for row, y in (("low", -0.75), ("middle", 0.0), ("high", 0.75))
    for column, x in (("far left", -0.8), ("left", -0.35), ("right", 0.35), ("far right", 0.8))
}
MAZE: dict[str, Place] = {
    "south-west": (-1.5, -1.0),
    "south": (0.0, -1.0),
    "south-east": (1.5, -1.0),
    "north-west": (-1.5, 1.0),
    "north": (0.0, 1.0),
    "north-east": (1.5, 1.0),
}
GRID_TASKS: dict[str, Any] = {
    "left": lambda point: bool(point[1] < 0),
    "top": lambda point: bool(point[0] < -0.5),
    "corner": [name for name in CELLS if "-" in name],
}
POINT_TASKS: dict[str, Any] = {
    "left": lambda place: bool(place[0] < 0),
    "high": lambda place: bool(place[1] > 0.5),
    "outer": [name for name in PLACES if "far" in name],
}
MAZE_TASKS: dict[str, Any] = {
    "west": lambda place: bool(place[0] < -1),
    "east": lambda place: bool(place[0] > 1),
    "north": lambda place: bool(place[1] > 0),
}


def grid() -> Skills:
    """DQN with HER on a grid of 7 × 7 cells with a wall and a door."""
    from stable_baselines3 import DQN, HerReplayBuffer

    env = Grid()
    model = DQN(
        "MultiInputPolicy",
        env,
        replay_buffer_class=HerReplayBuffer,
        gamma=0.95,
        learning_rate=1e-3,
        learning_starts=500,
        batch_size=128,
        train_freq=1,
        target_update_interval=250,
        exploration_fraction=0.4,
        exploration_final_eps=0.1,
        policy_kwargs={"net_arch": [128, 128]},
        seed=0,
        device="cpu",
    )
    model.learn(12_000)
    goals = {name: env.point(int(row), int(column)) for name, (row, column) in CELLS.items()}
    return ta.from_sb3(model, goals, tasks=GRID_TASKS, avoid=True)


def point() -> Skills:
    """TD3 with HER on a point in a square with a wall; twelve places."""
    from stable_baselines3 import TD3, HerReplayBuffer
    from stable_baselines3.common.noise import NormalActionNoise

    model = TD3(
        "MultiInputPolicy",
        Point(),
        replay_buffer_class=HerReplayBuffer,
        gamma=0.95,
        learning_rate=1e-3,
        learning_starts=1_000,
        batch_size=256,
        action_noise=NormalActionNoise(np.zeros(2), 0.3 * np.ones(2)),
        policy_kwargs={"net_arch": [128, 128]},
        seed=0,
        device="cpu",
    )
    model.learn(12_000)
    return ta.from_sb3(model, PLACES, tasks=POINT_TASKS, avoid=True)


def maze() -> Skills:
    """TD3 with HER on PointMaze_Open of gymnasium-robotics; six places."""
    from stable_baselines3 import TD3, HerReplayBuffer
    from stable_baselines3.common.noise import NormalActionNoise

    gym.register_envs(import_module("gymnasium_robotics"))
    model = TD3(
        "MultiInputPolicy",
        gym.make("PointMaze_Open-v3", max_episode_steps=150),
        replay_buffer_class=HerReplayBuffer,
        gamma=0.98,
        learning_rate=1e-3,
        learning_starts=1_500,
        batch_size=256,
        action_noise=NormalActionNoise(np.zeros(2), 0.3 * np.ones(2)),
        policy_kwargs={"net_arch": [128, 128]},
        seed=0,
        device="cpu",
    )
    model.learn(15_000)
    return ta.from_sb3(model, MAZE, tasks=MAZE_TASKS)


Way = Callable[[Any, Place, set[Place]], float]
"""The length of the way from a point to a place, past the other places."""


def judge(
    expressions: Sequence[str],
    places: dict[str, Place],
    way: Way,
    skills: Skills,
    episodes: int,
    seed: int,
) -> Iterator[Judged]:
    """Play composed agents, and the policy told the nearest wanted goal, from the same starts."""
    env = skills.env
    assert env is not None
    for text in expressions:
        agent = skills[text]
        found = agent.evaluate(episodes, seed=seed)
        copies = env.vector(min(episodes, env.max_copies), task=agent.task)
        limit = env.max_episode_steps or 100
        told = play(
            agent.task,
            copies,
            Told(agent, places, way),
            episodes=episodes,
            max_steps=limit,
            seed=seed,
        )
        copies.close()
        yield Judged(
            text,
            episodes,
            found.success_rate,
            told.success_rate,
        )


class Told(Policy):
    """The trained policy towards the nearest wanted goal, chosen once in each episode."""

    observation_ndim = 1

    def __init__(self, agent: Agent, places: dict[str, Place], way: Way) -> None:
        """Know the map."""
        names = agent.task.space.goal_names
        numbers = np.flatnonzero(agent.task.desired)
        self.wanted = [places[names[i]] for i in numbers]
        self.others, self.way = set(places.values()), way
        self.reach: Any = agent.skills.family.reach  # type: ignore[attr-defined]
        self.points = self.reach.points[numbers]
        self.goals = np.zeros(0, np.int64)
        self.begins: BoolArray | None = None

    def reset(self, begins: BoolArray) -> None:
        """Choose anew where episodes begin."""
        self.begins = begins

    def actions(self, observations: Any) -> NDArray[Any]:
        """The policy's own."""
        from taskalgebra.learning.deep.sb3 import unflattened

        given = unflattened(self.reach._parts, observations)
        if self.begins is not None:
            if self.goals.size != len(observations):
                self.goals = np.zeros(len(observations), np.int64)
            for i in np.flatnonzero(self.begins):
                at = given["achieved_goal"][i]
                ways = [self.way(at, place, self.others - {place}) for place in self.wanted]
                self.goals[i] = int(np.argmin(ways))
            self.begins = None
        given["desired_goal"] = self.points[self.goals]
        return self.reach.policy.predict(given, deterministic=True)[0]  # type: ignore[no-any-return]


def through_grid(at: Any, cell: Place, closed: set[Place]) -> float:
    """Steps on the shortest way through the grid, past closed cells."""
    world = Grid()
    row, column = (round(float(x)) for x in (np.asarray(at) + 1) * (world.size - 1) / 2)

    def after(here: tuple[int, int]) -> Iterator[tuple[int, int]]:
        for down, right in world.MOVES:
            if world.is_free(here[0] + down, here[1] + right):
                yield here[0] + down, here[1] + right

    def ends(here: tuple[int, int]) -> bool | None:
        return True if here == cell else False if here in closed else None

    steps = fewest_steps((row, column), after, ends, at_once=True)
    return float("inf") if steps is None else steps


def round_the_wall(at: Any, place: Place, _: set[Place]) -> float:
    """The length of the way in the square with a wall: past its end, where it is between."""
    straight = float(np.hypot(*np.subtract(at, place)))
    if at[0] * place[0] > 0:
        return straight
    crossing = at[1] + (place[1] - at[1]) * at[0] / (at[0] - place[0])
    if crossing > WALL_TOP:
        return straight
    end = (0.0, WALL_TOP)
    return float(np.hypot(*np.subtract(at, end)) + np.hypot(*np.subtract(end, place)))


def straight(at: Any, place: Place, _: set[Place]) -> float:
    """The distance."""
    return float(np.hypot(*np.subtract(at, place)))


TOLD = "within 0.03 of the policy told the nearest wanted goal"
WORLDS = (
    World(
        "sb3-dqn-grid",
        "Stable-Baselines3 DQN + HER, a grid with a wall",
        grid,
        partial(
            judge,
            ("left", "left & ~top", "top ^ left", "corner & ~left", "left & top"),
            CELLS,
            through_grid,
        ),
        TOLD,
        most_lost=0.03,
        extras=("sb3",),
        episodes=300,
        minutes=5.0,
    ),
    World(
        "sb3-td3-point",
        "Stable-Baselines3 TD3 + HER, a point and a wall",
        point,
        partial(
            judge,
            ("left", "left & ~high", "high ^ left", "(high | outer) & ~left", "high & outer"),
            PLACES,
            round_the_wall,
        ),
        TOLD,
        most_lost=0.03,
        extras=("sb3",),
        episodes=300,
        minutes=10.0,
    ),
    World(
        "sb3-td3-maze",
        "Stable-Baselines3 TD3 + HER, PointMaze_Open-v3",
        maze,
        partial(
            judge,
            ("west", "west & ~north", "north ^ west", "~west & ~east", "east & north"),
            MAZE,
            straight,
        ),
        TOLD,
        most_lost=0.03,
        extras=("sb3", "mazes"),
        episodes=300,
        minutes=10.0,
    ),
)
