"""The three settings in which Boxman is evaluated, their tasks, and the skills that play them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import taskalgebra.skills.skills as shipped
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.skills.network_store import read_manifest
from taskalgebra.skills.skills import Skills

FIXED, RANDOM, TOUCH = "fixed", "random", "touch"
OR, AND, XOR = "blue | square", "blue & square", "blue ^ square"


@dataclass(frozen=True)
class Setting:
    """One setting: where its skills are, and which tasks the paper asks of it."""

    skills: str
    base: tuple[str, ...]
    composed: tuple[str, ...]
    shown: tuple[str, ...]  # the composed tasks that figures show
    subsets: bool  # whether tasks share their absorbing states, so that any goal set is a task

    @property
    def tasks(self) -> tuple[str, ...]:
        """Base tasks, then composed ones."""
        return self.base + self.composed


SETTINGS: dict[str, Setting] = {
    FIXED: Setting("boxman", ("blue", "square"), (OR, AND, XOR), (OR, AND, XOR), True),
    RANDOM: Setting(
        "boxman-random",
        ("blue", "square", "purple"),
        (
            "beige",
            "circle",
            OR,
            AND,
            XOR,
            "~blue",
            "~square",
            "blue & ~square",
            "~(blue | square)",
        ),
        ("~(blue | square)",),
        True,
    ),
    TOUCH: Setting(
        "boxman-touch",
        ("purple", "blue", "square"),
        ("purple | blue", AND, XOR),
        ("purple | blue", AND, XOR),
        False,
    ),
}
"""Section 5; the same with random layouts; the supplement."""
EXPRESSIONS = {"beige": "~(blue | purple)", "circle": "~square"}
"""Tasks with a name that are no base tasks, as what they are composed of."""


def expression_text(task: str) -> str:
    """A task as an expression over base tasks."""
    return EXPRESSIONS.get(task, task)


def world_of(skills: Skills) -> Boxman:
    """The world that skills are played in."""
    if not isinstance(skills.world, Boxman) or skills.networks is None:
        raise ValueError(f"{skills!r} are no networks that play Boxman")
    return skills.world


def directory_of(setting: str, directory: Path | None) -> Path:
    """Where the skills of a setting are: below a directory, or those that come with the library."""
    return (shipped.SHIPPED_AT if directory is None else directory) / SETTINGS[setting].skills


def load_skills(directory: Path | None = None) -> dict[str, Skills]:
    """The skills of all settings.

    Raises:
        StoreError: some are missing or damaged.
    """
    return {name: shipped.load(directory_of(name, directory)) for name in SETTINGS}


def digests(directory: Path | None = None) -> Mapping[str, str]:
    """For each setting a hash of its skills: results are of these weights and no others."""
    return {
        name: str(read_manifest(directory_of(name, directory))["sha256"])[:16] for name in SETTINGS
    }
