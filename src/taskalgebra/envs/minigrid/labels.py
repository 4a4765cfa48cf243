"""What is reached in MiniGrid, as labels for `taskalgebra.wrap`.

Each is called as `label(observation, info, env)` with the environment unwrapped, gives the
predicates of what was just reached, or None, and knows in `among` which values there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, final

COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
THINGS = ("key", "ball", "box")


class Predicated(Protocol):
    """A label whose goals are told apart by predicates."""

    @property
    def among(self) -> Mapping[str, tuple[Any, ...]]:
        """The values of each predicate."""

    def __call__(
        self, observation: Any, info: Mapping[str, Any], env: Any
    ) -> dict[str, Any] | None:
        """The predicates of what was just reached."""


@final
@dataclass(frozen=True)
class Carried:
    """What the agent has picked up, by colour and, if there is more than one, by type."""

    types: tuple[str, ...] = THINGS

    @property
    def among(self) -> Mapping[str, tuple[str, ...]]:
        """All colours, and these types."""
        return _among(self.types)

    def __call__(
        self, observation: Any, info: Mapping[str, Any], env: Any
    ) -> dict[str, str] | None:
        """Colour and type of what is carried; None for other types."""
        return _described(env.carrying, self.types)


@final
@dataclass(frozen=True)
class Faced:
    """What is in front of the agent, as BabyAI means "go to"."""

    types: tuple[str, ...] = THINGS

    @property
    def among(self) -> Mapping[str, tuple[str, ...]]:
        """All colours, and these types."""
        return _among(self.types)

    def __call__(
        self, observation: Any, info: Mapping[str, Any], env: Any
    ) -> dict[str, str] | None:
        """Colour and type of what is in front; None for other types."""
        return _described(env.grid.get(*env.front_pos), self.types)


@final
@dataclass(frozen=True)
class Opened:
    """The door in front of the agent, once it is open, by colour."""

    @property
    def among(self) -> Mapping[str, tuple[str, ...]]:
        """All colours."""
        return _among(("door",))

    def __call__(
        self, observation: Any, info: Mapping[str, Any], env: Any
    ) -> dict[str, str] | None:
        """The colour of the open door."""
        door = env.grid.get(*env.front_pos)
        return _described(door, ("door",)) if getattr(door, "is_open", False) else None


@final
@dataclass(frozen=True)
class AtGoal:
    """The agent on the goal square: with a key in its hands or not, all doors shut or not."""

    @property
    def among(self) -> Mapping[str, tuple[bool, ...]]:
        """Both truth values of both."""
        return {"key": (True, False), "shut": (True, False)}

    def __call__(
        self, observation: Any, info: Mapping[str, Any], env: Any
    ) -> dict[str, bool] | None:
        """How the goal square was reached; None elsewhere."""
        here = env.grid.get(*env.agent_pos)
        if here is None or here.type != "goal":
            return None
        is_open = any(getattr(thing, "is_open", False) for thing in env.grid.grid)
        return {"key": getattr(env.carrying, "type", None) == "key", "shut": not is_open}


carried, faced, opened, at_goal = Carried(), Faced(), Opened(), AtGoal()


def _among(types: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    return {"colour": COLOURS, "type": types} if len(types) > 1 else {"colour": COLOURS}


def _described(thing: Any, types: tuple[str, ...]) -> dict[str, str] | None:
    if thing is None or thing.type not in types:
        return None
    found = {"colour": thing.color, "type": thing.type}
    return {key: found[key] for key in _among(types)}
