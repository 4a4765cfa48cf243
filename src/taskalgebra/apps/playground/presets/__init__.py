"""Worlds to start from: Four Rooms with 4 and with 40 goals, and Boxman."""

from __future__ import annotations

from functools import cache
from typing import Any

import taskalgebra as ta
from taskalgebra.apps import desired_names
from taskalgebra.apps.playground.presets import boxman as game
from taskalgebra.skills.catalogue import ENTRIES

__all__ = ["game", "presets"]

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f")
"""Of goals; colour-blind readers can tell them apart: Okabe and Ito's, with grey for black."""

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
    return {
        "map": _map(world.mdp),
        "goals": [
            {"name": goal.name, "cell": goal.cell, "color": COLOURS[i % len(COLOURS)]}
            for i, goal in enumerate(world.space.goals)
        ],
        "tasks": [
            {"name": name, "goals": desired_names(task)} for name, task in world.tasks.items()
        ],
        "step_reward": -0.1,
        "r_universal": 2.0,
        "r_empty": -0.1,
    }


def _map(mdp: ta.FiniteMDP) -> list[str]:
    """The rows of a map with walls around it."""
    assert mdp.cells is not None
    free = {tuple(cell) for cell in mdp.cells.tolist()}
    height, width = mdp.cells.max(axis=0) + 2
    return ["".join(".#"[(r, c) not in free] for c in range(width)) for r in range(height)]
