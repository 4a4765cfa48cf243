"""Worlds to start from: drawings, tables of Gymnasium and MiniGrid, and the game of Boxman."""

from __future__ import annotations

from functools import cache
from typing import Any

import taskalgebra as ta
from taskalgebra.apps import desired_names
from taskalgebra.apps.playground.presets import boxman as game
from taskalgebra.apps.playground.presets.worlds import WORLDS
from taskalgebra.apps.playground.scene import COLOURS
from taskalgebra.apps.playground.schema import MAX_SIDE
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.skills.catalogue import ENTRIES

__all__ = ["game", "presets"]

OFFICE = {
    "coffee": "#d55e00",
    "office": "#0072b2",
    "decoration": "#cc79a7",
    "mail": "#e69f00",
}
"""The base tasks of Office here, with the colours of their goals; A to D are goals by name."""

TABLES = {
    "frozen-lake": ["gift | west", "gift", "hole", "~(gift | west)"],
    "taxi": ["north & west", "north ^ west", "~north", "~(north | west)"],
    "minigrid": [
        "red & ~box",
        "red ^ key",
        "key then box",
        "F(red & box) & F key & G !'yellow ball 1'",
    ],
}
"""Tasks to try, by world; the first is the one to start with."""

SKILLS = {
    "boxman": "the layout of the paper",
    "boxman-random": "objects anywhere",
    "boxman-touch": "objects anywhere, collected by touch",
}
"""What the shipped networks play."""


@cache
def presets() -> list[dict[str, Any]]:
    """The presets of the page, as JSON documents."""
    playable = game.available()
    goals = ta.Boxman().space.goal_names
    return [
        {
            "id": "four-rooms",
            "title": "Four Rooms",
            "expression": "top ^ left",
            "world": _four_rooms(4),
        },
        {
            "id": "forty-goals",
            "title": "Four Rooms, 40 goals",
            "expression": "x1 & ~x2 | x3 & x6",
            "world": _four_rooms(40),
        },
        {
            "id": "office",
            "title": "Office",
            "expression": "coffee then office & avoid decoration",
            "examples": [
                "coffee then office",
                "F coffee & F mail",
                "coffee | mail",
                "A then B then C then D",
                "(coffee | mail) then office",
            ],
            "world": _office(),
        },
        {
            "id": "maze",
            "title": "Maze",
            "expression": "north & ~west",
            "examples": ["north ^ west", "~north", "cheese then exit", "F cheese & F door"],
            "world": _maze(),
        },
        *(
            {
                "id": name,
                "title": table().scene["title"],
                "expression": TABLES[name][0],
                "examples": TABLES[name][1:],
                "scene": table().scene,
            }
            for name, table in WORLDS.items()
        ),
        {
            "id": "boxman",
            "title": "Boxman",
            "expression": "blue ^ square",
            "skills": [
                {"name": name, "title": title, "tasks": ENTRIES[name].tasks, "goals": goals}
                for name, title in SKILLS.items()
            ],
            "available": playable,
            **({} if playable else {"reason": game.MISSING_TORCH}),
        },
    ]


def _four_rooms(n_goals: int) -> dict[str, Any]:
    """Four Rooms with its tasks and its rewards, as a document."""
    world = ta.FourRooms(n_goals)
    colours = [COLOURS[i % len(COLOURS)] for i in range(n_goals)]
    return {**_document(world, list(world.tasks), colours), "r_universal": 2.0, "r_empty": -0.1}


def _office() -> dict[str, Any]:
    """Office, in which goals are taken by touch, as a document."""
    world = ta.Office()
    colours = [OFFICE.get(goal.name.split()[0], "#009e73") for goal in world.space.goals]
    high, low = (float(each.max()) for each in (world.space.r_universal, world.space.r_empty))
    document = _document(world, list(OFFICE), colours)
    return {**document, "r_universal": high, "r_empty": low, "touch": True}


def _maze() -> dict[str, Any]:
    """A maze of nearly the largest size, with a goal near each corner."""
    n = MAX_SIDE - 1
    near = {"cheese": (1, 1), "door": (1, n - 2), "exit": (n - 2, 1), "bed": (n - 2, n - 2)}
    world = ta.maze(n, n, near, seed=7, loops=0.03, kind="wilson")
    wanted = {"north": ["cheese", "door"], "west": ["cheese", "exit"]}
    return {
        "map": _map(world),
        "goals": [
            {"name": name, "cell": cell, "color": colour}
            for (name, cell), colour in zip(near.items(), COLOURS, strict=False)
        ],
        "tasks": [{"name": name, "goals": goals} for name, goals in wanted.items()],
        "step_reward": -0.01,
        "r_universal": 10.0,
        "r_empty": -0.1,
    }


def _document(world: FiniteEnv, tasks: list[str], colours: list[str]) -> dict[str, Any]:
    """A world with some of its tasks."""
    return {
        "map": _map(world.mdp),
        "goals": [
            {"name": goal.name, "cell": goal.cell, "color": colour}
            for goal, colour in zip(world.space.goals, colours, strict=True)
        ],
        "tasks": [{"name": name, "goals": desired_names(world.tasks[name])} for name in tasks],
        "step_reward": -0.1,
    }


def _map(mdp: ta.FiniteMDP) -> list[str]:
    """The rows of a map with walls around it."""
    assert mdp.cells is not None
    free = {tuple(cell) for cell in mdp.cells.tolist()}
    height, width = mdp.cells.max(axis=0) + 2
    return ["".join(".#"[(r, c) not in free] for c in range(width)) for r in range(height)]
