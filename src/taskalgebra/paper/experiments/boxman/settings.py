"""The three settings in which Boxman is evaluated, their tasks, and the skills that play them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from taskalgebra.envs.boxman.board import Codes
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.learning.deep.family import NetworkFamily
from taskalgebra.learning.deep.networks import name_of
from taskalgebra.paper.experiments.boxman.exact import ExactSkills
from taskalgebra.paper.results.labels import FIXED, RANDOM, TOUCH
from taskalgebra.skills import SHIPPED_AT, store
from taskalgebra.skills.making import load
from taskalgebra.skills.skills import Skills

OR, AND, XOR = "blue | square", "blue & square", "blue ^ square"


@dataclass(frozen=True)
class Setting:
    """One setting: where its skills are, and which tasks the paper asks of it."""

    skills: str
    base: tuple[str, ...]
    composed: tuple[str, ...]
    shown: tuple[str, ...]  # the composed tasks that figures show

    @property
    def tasks(self) -> tuple[str, ...]:
        """Base tasks, then composed ones."""
        return self.base + self.composed


SETTINGS: dict[str, Setting] = {
    FIXED: Setting("boxman", ("blue", "square"), (OR, AND, XOR), (OR, AND, XOR)),
    RANDOM: Setting(
        "boxman-random",
        ("blue", "square", "purple"),
        ("beige", "circle", OR, AND, XOR, "~blue", "~square", "blue & ~square", "~(blue | square)"),
        ("~(blue | square)",),
    ),
    TOUCH: Setting(
        "boxman-touch",
        ("purple", "blue", "square"),
        ("purple | blue", AND, XOR),
        ("purple | blue", AND, XOR),
    ),
}
"""Section 5; the same with random layouts; the supplement."""


def expression_text(task: str) -> str:
    """A task as an expression over base tasks."""
    return {"beige": "~(blue | purple)", "circle": "~square"}.get(task, task)


def world_of(skills: Skills) -> Boxman:
    """The environment that skills are played in."""
    if not isinstance(skills.env, Boxman):
        raise ValueError(f"{skills!r} are not networks that play Boxman")
    return skills.env


def network_name(skills: Skills) -> str:
    """The name of the network that skills are read from."""
    assert isinstance(skills.family, NetworkFamily)
    return name_of(skills.family.network) or "a network of the user's own"


def exact_skills(skills: Skills, codes: Codes) -> ExactSkills:
    """Exact values of the same base tasks on some layouts, clamped as the networks clamp theirs."""
    assert isinstance(skills.family, NetworkFamily)
    v_min = skills.family.settings.returns[0]
    return ExactSkills(world_of(skills), skills.tasks, codes, v_min)


@dataclass(frozen=True)
class Shelf:
    """The skills of all settings, and hashes of the weights that results belong to."""

    skills: Mapping[str, Skills]
    digests: Mapping[str, str]

    @classmethod
    def load(cls, directory: Path | None = None) -> Shelf:
        """The skills in a directory, or those that come with the library.

        Raises:
            StoreError: some are missing or damaged.
        """
        below = SHIPPED_AT if directory is None else directory
        places = {name: below / setting.skills for name, setting in SETTINGS.items()}
        return cls(
            {name: load(place) for name, place in places.items()},
            {name: str(store.manifest(place)["sha256"])[:16] for name, place in places.items()},
        )
