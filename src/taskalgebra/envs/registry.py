"""The environments of the library, by the names that Gymnasium knows them by."""

from __future__ import annotations

from copy import deepcopy
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

if TYPE_CHECKING:
    from taskalgebra.theory.goal_env import GoalEnv
    from taskalgebra.theory.tasks import TaskSpace

NAMESPACE = "TaskAlgebra"
_ENTRY_POINTS = {  # one environment, and a vector of them
    "FourRooms": ("four_rooms:FourRooms", "four_rooms:four_rooms"),
    "Office": ("office:Office", "office:office"),
    "LetterWorld": ("letter_world:LetterWorld", "letter_world:letter_world"),
    "RandomLetterWorld": ("letter_world:RandomLetterWorld", "letter_world:random_letter_world"),
    "Boxman": ("boxman.env:Boxman", "boxman.env:boxman"),
    "FlatWorld": ("flat_world.env:FlatWorld", "flat_world.env:flat_world"),
}
_WORLDS = {"MiniGrid": "minigrid.worlds:world"}  # of others, by a label
NAMES = (*_ENTRY_POINTS, *_WORLDS)
_PLANNED = ("FourRooms", "Office", "FlatWorld", "LetterWorld")


def id_of(name: str) -> str:
    """The name by which Gymnasium knows an environment of the library."""
    return f"{NAMESPACE}/{name}-v0"


def planned_as(name: str) -> str:
    """The class of the world of this name, in any spelling, that is planned at once; or ""."""
    plain = name.casefold().replace("-", "").replace("_", "").replace(" ", "")
    return next((known for known in _PLANNED if known.casefold() == plain), "")


def register() -> None:
    """Make the environments known to Gymnasium; a second call changes nothing."""
    for name, (one, many) in _ENTRY_POINTS.items():
        if id_of(name) not in gym.registry:
            gym.register(
                id_of(name),
                entry_point=f"taskalgebra.envs.{one}",
                vector_entry_point=f"taskalgebra.envs.{many}",
            )


def spec_of(env: object, **arguments: Any) -> EnvSpec | None:
    """Gymnasium's spec of an environment of the library, made with these arguments.

    A subclass is another environment, and has none.
    """
    name = type(env).__name__
    if name not in _ENTRY_POINTS or not type(env).__module__.startswith("taskalgebra.envs."):
        return None
    spec = deepcopy(gym.spec(id_of(name)))
    spec.kwargs = arguments
    return spec


def make(name: str, /, **arguments: Any) -> GoalEnv:
    """An environment of the library, by the name of its class, or a world of others'."""
    if name in _WORLDS:
        module, _, function = _WORLDS[name].partition(":")
        found = getattr(import_module(f"taskalgebra.envs.{module}"), function)
        return cast("GoalEnv", found(**arguments))
    return cast("GoalEnv", gym.make(id_of(name), disable_env_checker=True, **arguments).unwrapped)


def env_of(space: TaskSpace) -> GoalEnv:
    """An environment that plays a finite world."""
    return cast("GoalEnv", import_module("taskalgebra.envs.finite_env").FiniteEnv(space))
