"""Presets that are no drawings: FrozenLake and Taxi by Gymnasium's own tables, and MiniGrid."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import gymnasium as gym
import numpy as np

import taskalgebra as ta
from taskalgebra.apps.playground.scene import scene
from taskalgebra.apps.playground.subject import Table

NAME, N_OBJECTS, SEED = "minigrid:MiniGrid-GoToObject-8x8-N2-v0", 5, 0
ACTIONS = {"left": 0, "right": 1, "forward": 2}
EXPLORED = Path(__file__).parent / "go_to_object.json"
"""Made by `python -m taskalgebra.apps.playground.presets.exploring`."""


@cache
def frozen_lake() -> Table:
    """FrozenLake 4 × 4, slippery: holes and a gift."""
    goals = ["hole 1", "hole 2", "hole 3", "hole 4", "gift"]
    actions = ["left", "down", "right", "up"]
    env = gym.make("FrozenLake-v1")
    mdp = ta.from_gymnasium(env, goal_names=goals, action_names=actions, step_cost=0.01)
    space = ta.TaskSpace(mdp)
    tasks = {
        "gift": space.task(["gift"]),
        "west": space.task(["hole 1", "hole 4"]),
        "hole": space.task(goals[:4]),
    }
    shown = scene(
        "frozen-lake",
        "FrozenLake",
        space,
        tasks,
        cells=np.stack(np.divmod(np.arange(16), 4), axis=1),
        colours=(*["#56b4e9"] * 4, "#e69f00"),
        layers=["the lake"],
        arrows=[(0, -1), (1, 0), (0, 1), (-1, 0)],
        remark="The ice is slippery: a move goes where it should in one of three cases, and else "
        "to either side. Each step costs 0.01, which Gymnasium's own does not.",
    )
    lines = f"""import gymnasium
import taskalgebra as ta

world = ta.from_gymnasium(
    gymnasium.make("FrozenLake-v1"),
    goal_names={goals!r},
    action_names={actions!r},
    step_cost=0.01,
)
space = ta.TaskSpace(world)
"""
    return Table(shown, space, lines)


@cache
def taxi() -> Table:
    """Taxi: the passenger is brought to where they want to go."""
    name = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"
    goals = ["red", "green", "yellow", "blue"]
    actions = ["south", "north", "east", "west", "pick up", "drop off"]
    mdp = ta.from_gymnasium(gym.make(name), goal_names=goals, action_names=actions)
    space = ta.TaskSpace(mdp)
    tasks = {"north": space.task(["red", "green"]), "west": space.task(["red", "yellow"])}
    state, own = np.arange(mdp.n_states), np.arange(mdp.n_states) < 500
    cells = np.stack((state // 100, state // 20 % 5), axis=1)
    cells[~own] = -1  # the ends of episodes: the passenger is there
    waits = [f"waits at {goal}" for goal in goals] + ["in the taxi"]
    places = np.array([(0, 0), (0, 4), (4, 0), (4, 3)])
    colours = ("#d55e00", "#009e73", "#f0e442", "#0072b2")
    thin = [(0, 1), (1, 1), (3, 0), (4, 0), (3, 2), (4, 2)]
    shown = scene(
        "taxi",
        "Taxi",
        space,
        tasks,
        cells=cells,
        layer=np.where(own, state // 4 % 5 * 4 + state % 4, 0),
        layers=[f"{at}, wants to {goal}" for at in waits for goal in goals],
        goal_cells=places,
        colours=colours,
        walls=[(5 * r + c, 5 * r + c + 1) for r, c in thin],
        things=[
            {"name": goal, "color": colour, "cell": int(5 * r + c)}
            for goal, colour, (r, c) in zip(goals, colours, places, strict=True)
        ],
        first=(2 * 5 + 2) * 20 + 3 * 4 + 0,  # in the middle; the passenger goes from blue to red
        remark="A layer is where the passenger is and wants to go. A passenger is brought to no "
        "other place, so that each start has one goal.",
    )
    lines = f"""import gymnasium
import taskalgebra as ta

world = ta.from_gymnasium(
    gymnasium.make({name!r}),
    goal_names={goals!r},
    action_names={actions!r},
)
space = ta.TaskSpace(world)
"""
    return Table(shown, space, lines)


@cache
def go_to_object() -> Table:
    """A level of MiniGrid, explored: go to one of five objects."""
    kept = json.loads(EXPLORED.read_text("utf-8"))
    goals, objects = kept["goals"], kept["objects"]
    mdp = ta.from_arrays(
        kept["next"],
        kept["step_reward"],
        list(range(len(kept["next"]) - len(goals), len(kept["next"]))),
        goal_names=goals,
        action_names=list(ACTIONS),
        starts=kept["starts"],
        resumes=kept["resumes"],
    )
    space = ta.TaskSpace(mdp, r_universal=kept["r_universal"], r_empty=kept["r_empty"])
    tasks = {
        word: space.task([goal for goal in goals if word in goal.split()])
        for word in ("red", "box", "key")
    }
    paint = {"purple": "#cc79a7", "red": "#d55e00", "grey": "#7f7f7f", "green": "#009e73"}
    paint |= {"blue": "#0072b2", "yellow": "#f0e442"}
    columns = len(kept["map"][0])
    shown = scene(
        "minigrid",
        "MiniGrid",
        space,
        tasks,
        cells=np.array(kept["cells"] + [(-1, -1)] * len(goals)),
        layer=np.array(kept["headings"] + [0] * len(goals)),
        layers=["facing right", "facing down", "facing left", "facing up"],
        rows=kept["map"],
        colours=[paint[goal.split()[0]] for goal in goals],
        things=[
            {"name": one["name"], "color": paint[one["name"].split()[0]], "cell": r * columns + c}
            for one in objects
            for r, c in [one["cell"]]
        ],
        remark="The agent turns or walks on, and the layers are its headings. A goal is to face an "
        "object, from one of its sides.",
    )
    lines = f"""from functools import partial

import gymnasium
import taskalgebra as ta
from taskalgebra.envs import minigrid

level = ta.wrap(
    partial(gymnasium.make, {NAME!r}, numObjs={N_OBJECTS}),
    goals=minigrid.faced,
    actions={ACTIONS!r},
)
world = ta.explore(level, seeds=[{SEED}], continuing=True)
space = world.space
"""
    return Table(shown, space, lines)


WORLDS: dict[str, Callable[[], Table]] = {
    "frozen-lake": frozen_lake,
    "taxi": taxi,
    "minigrid": go_to_object,
}
