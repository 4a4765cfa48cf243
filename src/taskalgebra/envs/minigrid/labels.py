"""What is reached in MiniGrid, as labels for `taskalgebra.wrap`.

Each is called as `label(observation, info, env)` with the environment unwrapped, gives the
predicates of what was just reached, or None, and knows in `among` which values there are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from taskalgebra.envs.labels import GoalLabel

COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
THINGS = ("key", "ball", "box")


@dataclass(frozen=True)
class _Thing(GoalLabel):
    """Something of these types, by colour and, if there is more than one, by type."""

    types: tuple[str, ...] = THINGS

    @property
    def among(self) -> Mapping[str, tuple[str, ...]]:
        """All colours, and these types."""
        return _among(self.types)

    def __call__(
        self, observation: Any, info: Mapping[str, Any], env: Any
    ) -> dict[str, str] | None:
        """Its colour and type; None for other types."""
        return _described(self.found(env), self.types)

    @abstractmethod
    def found(self, env: Any) -> Any:
        """The object, or None."""


@final
class Carried(_Thing):
    """What the agent has picked up."""

    def found(self, env: Any) -> Any:
        """What is carried."""
        return env.carrying


@final
class Faced(_Thing):
    """What is in front of the agent, as BabyAI means "go to"."""

    def found(self, env: Any) -> Any:
        """What is in front."""
        return env.grid.get(*env.front_pos)


@final
@dataclass(frozen=True)
class Opened(GoalLabel):
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
class AtGoal(GoalLabel):
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
