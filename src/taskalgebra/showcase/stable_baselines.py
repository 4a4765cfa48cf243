"""Agents that Stable-Baselines3 trains with hindsight replay, composed.

The best possible is here the success of the trained policy when it is told the nearest wanted goal
at the start of each episode, by somebody who knows the map.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import taskalgebra as ta
from taskalgebra.arrays import Array, LongArray
from taskalgebra.showcase.goal_worlds import WALL_TOP, Grid, Point
from taskalgebra.showcase.record import Judged, World
from taskalgebra.showcase.search import fewest_steps
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.skills import Skills
from taskalgebra.worlds.finite import NO_GOAL

COPIES = 25
"""Environments that are played at a time; each holds a simulation of its own."""
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


def grid(seed: int = 0) -> Skills:
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
        seed=seed,
        device="cpu",
    )
    model.learn(12_000)
    goals = {name: env.point(int(row), int(column)) for name, (row, column) in CELLS.items()}
    return ta.from_sb3(model, goals, tasks=GRID_TASKS, avoid=True)


def point(seed: int = 0) -> Skills:
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
        seed=seed,
        device="cpu",
    )
    model.learn(12_000)
    return ta.from_sb3(model, PLACES, tasks=POINT_TASKS, avoid=True)


def maze(seed: int = 0) -> Skills:
    """TD3 with HER on PointMaze_Open of gymnasium-robotics; six places."""
    from stable_baselines3 import TD3, HerReplayBuffer
    from stable_baselines3.common.noise import NormalActionNoise

    gym.register_envs(import_module("gymnasium_robotics"))
    model = TD3(
        "MultiInputPolicy",
        gym.make("PointMaze_Open-v3", max_episode_steps=150),
        replay_buffer_class=HerReplayBuffer,
        gamma=0.95,
        tau=0.02,
        learning_rate=1e-3,
        learning_starts=1_500,
        batch_size=256,
        action_noise=NormalActionNoise(np.zeros(2), 0.3 * np.ones(2)),
        policy_kwargs={"net_arch": [128, 128]},
        seed=seed,
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
    world: Any = skills.env
    reach: Any = skills.family.reach  # type: ignore[attr-defined]
    seeds = [int(each) for each in np.random.SeedSequence(seed).generate_state(episodes)]
    told = told_each(world, reach.policy, reach.points, seeds)
    ways = _ways(world, list(places.values()), way, seeds)
    for text in expressions:
        agent = skills.for_task(text)
        wanted = np.append(agent.task.desired, False)  # the last: no goal
        nearest = np.where(wanted[:-1], ways, np.inf).argmin(axis=1)
        act = partial(_composed, world, agent)
        success = wanted[ends(world, reach.points, act, seeds)].mean()
        best = wanted[told[nearest, np.arange(episodes)]].mean()
        yield Judged(text, episodes, float(success), float(best))


Seen = dict[str, NDArray[Any]]
Act = Callable[[list[Seen], list[int]], NDArray[Any]]
"""From what is seen in some episodes, and their numbers, to an action for each."""


@dataclass
class _Episode:
    number: int
    env: gym.Env[Any, Any]
    seen: Seen
    over: bool = False


def ends(world: Any, points: NDArray[Any], act: Act, seeds: Sequence[int]) -> LongArray:
    """[N], the goal in which each episode ends, or −1.

    The real environment is played, one episode for each seed.  Most are short, some run into the
    limit; those that are over take no more steps.
    """
    found = np.full(len(seeds), NO_GOAL)
    made = [world.make() for _ in range(min(COPIES, len(seeds)))]
    free, waiting, running = list(made), deque(range(len(seeds))), list[_Episode]()
    while waiting or running:
        while waiting and free:
            i, env = waiting.popleft(), free.pop()
            running.append(_Episode(i, env, env.reset(seed=seeds[i])[0]))
        actions = act([one.seen for one in running], [one.number for one in running])
        for one, action in zip(running, actions, strict=True):
            one.seen, _, _, truncated, _ = one.env.step(action)
            found[one.number] = _reached(one, points)
            one.over = truncated or found[one.number] != NO_GOAL
        free += [one.env for one in running if one.over]
        running = [one for one in running if not one.over]
    for env in made:
        env.close()
    return found


def _reached(one: _Episode, points: NDArray[Any]) -> int:
    """The nearest of the goals that pay here as much as being there does; −1 for none."""
    at, pays = one.seen["achieved_goal"], one.env.get_wrapper_attr("compute_reward")
    there = pays(np.repeat(at[None], len(points), axis=0), points, {}) >= pays(at, at, {})
    if not there.any():
        return NO_GOAL
    away = np.linalg.norm(points - at, axis=1)
    return int(np.where(there, away, np.inf).argmin())


def told_each(world: Any, policy: Any, points: NDArray[Any], seeds: Sequence[int]) -> LongArray:
    """[G, N], the goals in which the trained policy ends when it is told each of the goals."""
    told = np.repeat(np.arange(len(points)), len(seeds))

    def act(seen: list[Seen], numbers: list[int]) -> NDArray[Any]:
        given = {key: np.stack([one[key] for one in seen]) for key in seen[0]}
        given["desired_goal"] = points[told[numbers]]
        actions: NDArray[Any] = policy.predict(given, deterministic=True)[0]
        return actions

    found = ends(world, points, act, list(seeds) * len(points))
    return found.reshape(len(points), len(seeds))


def _composed(world: Any, agent: Agent, seen: list[Seen], _: list[int]) -> NDArray[Any]:
    return agent.policy.actions(np.stack([world.see(one) for one in seen]))


def _ways(world: Any, places: list[Place], way: Way, seeds: Sequence[int]) -> Array:
    """[N, G], the lengths of the ways from each start to each place."""
    env = world.make()
    starts = [env.reset(seed=seed)[0]["achieved_goal"] for seed in seeds]
    env.close()
    return np.array([[way(at, to, set(places) - {to}) for to in places] for at in starts])


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
        episodes=1_000,
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
        episodes=1_000,
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
        episodes=1_000,
        minutes=10.0,
    ),
)
