"""Worlds to start from: Four Rooms with 4 and with 40 goals, and Boxman."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

from taskalgebra.apps.playground.worlds import four_rooms
from taskalgebra.envs.boxman.board import PAPER_OBJECTS
from taskalgebra.skills.catalogue import ENTRIES

MISSING_TORCH = 'Boxman needs torch: pip install "taskalgebra[deep]"'

SKILLS = {
    "boxman": "the layout of the paper",
    "boxman-random": "objects anywhere",
    "boxman-touch": "objects anywhere, collected by touch",
}
"""What the shipped networks play."""


@cache
def presets() -> list[dict[str, Any]]:
    """What the page can start from, as JSON documents."""
    return [
        {
            "id": "four-rooms",
            "title": "Four Rooms",
            "expression": "top ^ left",
            "world": four_rooms(4).model_dump(mode="json"),
        },
        {
            "id": "forty-goals",
            "title": "Four Rooms, 40 goals",
            "expression": "x1 & ~x2 | x3 & x6",
            "world": four_rooms(40).model_dump(mode="json"),
        },
        _boxman(),
    ]


def boxman_available() -> bool:
    """Whether the packages that networks need are installed."""
    return find_spec("torch") is not None and find_spec("safetensors") is not None


def _boxman() -> dict[str, Any]:
    preset: dict[str, Any] = {
        "id": "boxman",
        "title": "Boxman",
        "expression": "blue ^ square",
        "skills": [
            {
                "name": name,
                "title": title,
                "tasks": list(ENTRIES[name].tasks),
                "goals": list(PAPER_OBJECTS),
            }
            for name, title in SKILLS.items()
        ],
        "available": boxman_available(),
    }
    if not preset["available"]:
        preset["reason"] = MISSING_TORCH
    return preset
