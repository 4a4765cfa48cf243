"""MiniGrid and BabyAI with fixed layouts: explored, planned exactly, played in the environment.

The optimum is a breadth-first search (`search.py`) over a model of the rules, written out here: the
agent turns, walks, picks up, drops, and opens doors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import taskalgebra as ta
from taskalgebra.envs import minigrid
from taskalgebra.showcase import search
from taskalgebra.showcase.record import Judged, World
from taskalgebra.skills.skills import Skills

FETCH, LOCAL, KEY = "MiniGrid-Fetch-8x8-N3-v0", "BabyAI-GoToLocal-v0", "MiniGrid-DoorKey-8x8-v0"
SEEDS = range(5)
"""Layouts of Fetch and GoToLocal."""
OBJECTS: dict[str, Callable[[str, str], bool]] = {
    "red | ball": lambda colour, kind: colour == "red" or kind == "ball",
    "~key": lambda colour, kind: kind != "key",
    "blue ^ key": lambda colour, kind: (colour == "blue") != (kind == "key"),
    "~(red | green) & ~ball": lambda colour, kind: (
        colour not in ("red", "green") and kind != "ball"
    ),
    "(purple | grey) & key | ball & ~yellow": lambda colour, kind: (
        (colour in ("purple", "grey") and kind == "key") or (kind == "ball" and colour != "yellow")
    ),
}
"""Each with what it wants, written out independently of the library."""
HANDS: dict[str, Callable[[bool], bool]] = {
    "key": lambda carried: carried,
    "~key": lambda carried: not carried,
    "true": lambda carried: True,
}
THINGS = ("key", "ball", "box")
AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))


def fetch() -> Skills:
    """Fetch: pick up an object."""
    world = minigrid.world("MiniGrid-Fetch-8x8-N3-v0")
    return ta.solve(ta.explore(world, seeds=range(5)))


def go_to() -> Skills:
    """GoToLocal: face an object."""
    world = minigrid.world("BabyAI-GoToLocal-v0")
    return ta.solve(ta.explore(world, seeds=range(5)))


def door_key() -> Skills:
    """DoorKey: the green square behind a locked door, with the key in hand or without."""
    world = minigrid.world("MiniGrid-DoorKey-8x8-v0", goals=arrived, among={"key": [True, False]})
    return ta.solve(ta.explore(world))


def arrived(observation: Any, info: Mapping[str, Any], env: Any) -> dict[str, bool] | None:
    """Whether the key is in hand on the green square."""
    there = env.grid.get(*env.agent_pos)
    on_goal = there is not None and there.type == "goal"
    return {"key": env.carrying is not None} if on_goal else None


class State(NamedTuple):
    """Where the agent stands, and what it has changed."""

    x: int
    y: int
    heading: int
    hand: bool = False  # whether the key is carried
    key: tuple[int, int] | None = None  # where it lies
    door: str = ""  # locked, closed or open; "" where there is none


Ends = Callable[[State, Any], bool | None]
"""Of a state and what lies ahead: whether an episode ends well or badly there, or goes on."""


def fewest_steps(env: Any, ends: Ends, *, things: bool, at_once: bool = False) -> int | None:
    """The steps of the shortest episode that ends well; None if none does.

    Args:
        env: unwrapped, at the start of an episode.
        ends: asked after every action.
        things: whether keys and doors can be used; all else never moves.
        at_once: whether it is asked at the start too.
    """
    grid = {
        (x, y): env.grid.get(x, y)
        for x in range(env.width)
        for y in range(env.height)
        if env.grid.get(x, y) is not None
    }
    keys = [at for at, one in grid.items() if one.type == "key"] if things else []
    doors = [at for at, one in grid.items() if one.type == "door"] if things else []
    start = State(
        int(env.agent_pos[0]),
        int(env.agent_pos[1]),
        int(env.agent_dir),
        key=keys[0] if keys else None,
        door="locked" if doors else "",
    )
    return search.fewest_steps(
        start,
        lambda state: _actions(state, grid, keys, doors),
        lambda state: ends(state, grid.get(_ahead(state))),
        at_once=at_once,
    )


def _ahead(state: State) -> tuple[int, int]:
    dx, dy = AHEAD[state.heading]
    return state.x + dx, state.y + dy


def _actions(
    state: State, grid: Mapping[Any, Any], keys: list[Any], doors: list[Any]
) -> Iterator[State]:
    yield state._replace(heading=(state.heading + 1) % 4)
    yield state._replace(heading=(state.heading - 1) % 4)
    at = _ahead(state)
    there = grid.get(at)
    empty = (there is None or at in keys) and at != state.key
    if at in doors:
        if state.door == "open":
            yield state._replace(x=at[0], y=at[1])
            yield state._replace(door="closed")
        elif state.door == "closed" or state.hand:
            yield state._replace(door="open")
        return
    if empty or (there is not None and there.type == "goal"):
        yield state._replace(x=at[0], y=at[1])
    else:
        yield state  # it walks into something, and stays
    if at == state.key and not state.hand:
        yield state._replace(hand=True, key=None)
    if state.hand and empty:
        yield state._replace(hand=False, key=at)


def _steps(agent: Any, env: gym.Env[Any, Any], seed: int, end: Callable[[Any], Any]) -> Any:
    """Play one episode by hand, until `end(env)` gives something; its steps, and that."""
    observation, _ = env.reset(seed=seed)
    over, n, found = False, 0, None
    while not over:
        observation, _, terminated, truncated, _ = env.step(agent.act(observation, env))
        n, found = n + 1, end(env.unwrapped)
        over = terminated or truncated or found is not None
    return n, found


def _held(env: Any) -> Any:
    return env.carrying


def _faced(env: Any) -> Any:
    there = env.grid.get(*env.front_pos)
    return there if there is not None and there.type in THINGS else None


def of_objects(
    name: str, skills: Skills, episodes: int, seed: int, *, pick_up: bool
) -> Iterator[Judged]:
    """Every expression from every layout in which it can be done."""
    env = gym.make(name)
    for text, wanted in OBJECTS.items():
        steps, fewest, done = [], [], 0
        for layout in SEEDS:
            env.reset(seed=layout)
            ends = partial(at_object, wanted, not pick_up)
            least = fewest_steps(env.unwrapped, ends, things=False, at_once=pick_up)
            if least is None:
                continue
            n, found = _steps(skills[text], env, layout, _held if pick_up else _faced)
            done += found is not None and wanted(found.color, found.type)
            steps.append(n)
            fewest.append(least + pick_up)
        success = done / len(steps)
        yield Judged(text, len(steps), success, 1.0, float(np.mean(steps)), float(np.mean(fewest)))


def at_object(wanted: Callable[[str, str], bool], faced: bool, _: State, there: Any) -> bool | None:
    """Before a wanted object; before others, episodes end badly where facing them is a goal."""
    if there is None or there.type not in THINGS:
        return None
    return wanted(there.color, there.type) or (False if faced else None)


def of_door(skills: Skills, episodes: int, seed: int) -> Iterator[Judged]:
    """The green square, with the key in hand, without it, or either."""
    env = gym.make(KEY)
    for text, wanted in HANDS.items():
        env.reset(seed=0)
        inner: Any = env.unwrapped
        fewest = fewest_steps(inner, partial(_on_goal, inner.grid, wanted), things=True)
        n, found = _steps(skills[text], env, 0, lambda env: arrived(None, {}, env))
        success = float(found is not None and wanted(found["key"]))
        yield Judged(text, 1, success, 1.0, float(n), float(fewest or np.nan))


def _on_goal(grid: Any, wanted: Callable[[bool], bool], state: State, _: Any) -> bool | None:
    there = grid.get(state.x, state.y)
    return wanted(state.hand) if there is not None and there.type == "goal" else None


WORLDS = (
    World(
        "minigrid-fetch-fixed",
        "MiniGrid-Fetch-8x8-N3, five fixed layouts",
        fetch,
        partial(of_objects, FETCH, pick_up=True),
        "optimal, in 30 s",
        extras=("minigrid",),
    ),
    World(
        "babyai-go-to-local",
        "BabyAI-GoToLocal, five fixed layouts",
        go_to,
        partial(of_objects, LOCAL, pick_up=False),
        "optimal, in 30 s",
        extras=("minigrid",),
    ),
    World(
        "minigrid-door-key",
        "MiniGrid-DoorKey-8x8, a fixed layout",
        door_key,
        of_door,
        "optimal, in 30 s",
        extras=("minigrid",),
    ),
)
