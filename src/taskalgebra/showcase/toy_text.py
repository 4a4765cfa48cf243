"""Gymnasium's toy-text worlds: FrozenLake, Taxi and CliffWalking, played in the real environment.

The optimum comes from the environment's own table `P`, by backward induction over the steps of an
episode: the largest probability of ending in a wanted goal within the limit, and the fewest steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

import taskalgebra as ta
from taskalgebra.arrays import Array
from taskalgebra.showcase.record import Judge, Judged, World
from taskalgebra.showcase.search import fewest_steps
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.skills import Skills

COPIES = 200
LAKES = ("gift", "~gift", "west & ~gift", "gift | west")
TAXI = ("north & west", "north ^ west", "~north", "~(north | west)")
CLIFF = ("north & west", "~north & ~west", "north ^ west", "~north", "north & ~west", "true")


def lake(map_name: str, slippery: bool) -> Skills:
    """FrozenLake: the gift, the holes in the west, and what is composed of them."""
    env = gym.make("FrozenLake-v1", map_name=map_name, is_slippery=slippery)
    world = ta.from_gymnasium(env, step_cost=0.001)
    side = 4 if map_name == "4x4" else 8
    tasks = {
        "gift": [world.goal_names[-1]],
        "west": [name for name in world.goal_names if int(name[1:]) % side < side // 2],
    }
    return ta.solve(world, tasks, horizon=100)


def taxi() -> Skills:
    """Taxi: the passenger is brought to where he wants to go, one of four places."""
    env = gym.make("Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3")
    world = ta.from_gymnasium(env, goal_names=["red", "green", "yellow", "blue"])
    return ta.solve(world, {"north": ["red", "green"], "west": ["red", "yellow"]})


def cliff() -> Skills:
    """CliffWalking: the corners of the map; a fall leads back to the start."""
    among = {"north": [True, False], "west": [True, False]}
    world = ta.wrap("CliffWalking-v1", goals=corner, among=among, max_episode_steps=200)
    return ta.solve(ta.explore(world))


def corner(observation: Any, info: Mapping[str, Any], env: Any) -> dict[str, bool] | None:
    """The corners of the board; the south-western one is the start, to which a fall leads back."""
    row, column = divmod(int(observation), 12)
    if row not in (0, 3) or column not in (0, 11):
        return None
    return {"north": row == 0, "west": column == 0}


def of_table(
    name: str, expressions: tuple[str, ...], skills: Skills, episodes: int, seed: int, **kwargs: Any
) -> Iterator[Judged]:
    """Play a world that has a table, and compare with backward induction over it."""
    env = gym.make(name, **kwargs)
    table = env.unwrapped.P  # type: ignore[attr-defined]
    limit = (env.spec and env.spec.max_episode_steps) or 200
    certain = all(len(a) == 1 for row in table.values() for a in row.values())
    ends = np.unique([s for row in table.values() for a in row.values() for _, s, _, e in a if e])
    for text in expressions:
        agent = skills.for_task(text)
        wanted = {int(s) for s, desired in zip(ends, agent.task.desired, strict=True) if desired}
        chance, steps = best_within(table, wanted, limit)
        if certain:
            yield judged_by_start(agent, env, wanted, steps, episodes, seed)
            continue
        start = np.asarray(env.unwrapped.initial_state_distrib)  # type: ignore[attr-defined]
        copies = gym.make_vec(name, min(episodes, COPIES), vectorization_mode="sync", **kwargs)
        found = agent.play(copies, episodes, seed=seed)
        yield Judged(text, episodes, found.success_rate, float(start @ chance))


def judged_by_start(
    agent: Agent, env: gym.Env[Any, Any], wanted: set[int], fewest: Array, n: int, seed: int
) -> Judged:
    """Play a world without chance from starts from which it can be done; the steps of each."""
    taken, least, n_ended = [], [], 0
    for i in range(n):
        observation, _ = env.reset(seed=seed + i)
        if not np.isfinite(fewest[observation]):
            continue
        least.append(fewest[observation])
        agent.reset()
        over, n_steps = False, 0
        while not over:
            observation, _, terminated, truncated, _ = env.step(agent.act(observation))
            over, n_steps = terminated or truncated, n_steps + 1
        n_ended += bool(terminated) and int(observation) in wanted
        taken.append(n_steps)
    text, success = str(agent.expression), n_ended / len(least)
    return Judged(text, len(least), success, 1.0, float(np.mean(taken)), float(np.mean(least)))


def best_within(
    table: Mapping[int, Mapping[int, Any]], wanted: set[int], limit: int
) -> tuple[Array, Array]:
    """[S], the largest probability of ending in a wanted state within the limit; the fewest steps.

    The steps are those of a world without chance, ∞ where a wanted state cannot be reached.
    """
    n_states = len(table)
    chance, steps = np.zeros(n_states), np.full(n_states, np.inf)
    for _ in range(limit):
        before, way = chance.copy(), steps.copy()
        for s in range(n_states):
            gains, ways = [], []
            for outcomes in table[s].values():
                gains.append(
                    sum(p * ((t in wanted) if end else before[t]) for p, t, _, end in outcomes)
                )
                _, t, _, end = outcomes[0]
                ways.append(1.0 if end and t in wanted else np.inf if end else 1.0 + way[t])
            chance[s], steps[s] = max(gains), min(ways)
        if np.array_equal(before, chance) and np.array_equal(way, steps):
            break
    return chance, steps


def _of_lake(map_name: str, slippery: bool) -> Judge:
    def judge(skills: Skills, episodes: int, seed: int) -> Iterator[Judged]:
        given = {"map_name": map_name, "is_slippery": slippery}
        yield from of_table("FrozenLake-v1", LAKES, skills, episodes, seed, **given)

    return judge


def _of_taxi(skills: Skills, episodes: int, seed: int) -> Iterator[Judged]:
    name = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"
    yield from of_table(name, TAXI, skills, episodes, seed)


def _of_cliff(skills: Skills, episodes: int, seed: int) -> Iterator[Judged]:
    env = gym.make("CliffWalking-v1", max_episode_steps=200)
    table = env.unwrapped.P  # type: ignore[attr-defined]
    corners = {
        "north west": 0,
        "north not west": 11,
        "not north west": 36,
        "not north not west": 47,
    }
    for text in CLIFF:
        agent = skills.for_task(text)
        names = agent.task.space.goal_names
        wanted = {corners[n] for n, d in zip(names, agent.task.desired, strict=True) if d}
        well = {s: s in wanted for s in corners.values()}
        fewest = fewest_steps(36, partial(_moves, table), well.get)
        found = agent.play(env, episodes, seed=seed)
        least = float(fewest or np.nan)
        yield Judged(text, episodes, found.success_rate, 1.0, found.mean_steps, least)


def _moves(table: Mapping[int, Mapping[int, Any]], s: int) -> list[int]:
    """Where the actions of a world without chance lead."""
    return [outcomes[0][1] for outcomes in table[s].values()]


WORLDS = (
    *(
        World(
            f"frozen-lake-{size}{'-slippery' if slippery else ''}",
            f"FrozenLake {size.replace('x', ' × ')}{', slippery' if slippery else ''}",
            partial(lake, size, slippery),
            _of_lake(size, slippery),
            "as good as the best policy within 100 steps",
            most_lost=0.03 if slippery else 0.0,
            episodes=2_000 if slippery else 100,
            loss="slips: Lemma 1 does not hold, so composed agents may lose" if slippery else "",
        )
        for size in ("4x4", "8x8")
        for slippery in (False, True)
    ),
    World("taxi", "Taxi", taxi, _of_taxi, "optimal from every start", episodes=400),
    World("cliff-walking", "CliffWalking", cliff, _of_cliff, "optimal", episodes=20),
)
