"""Which label, actions and settings an environment of MiniGrid or BabyAI needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, final

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from taskalgebra.envs.labels import GoalLabel
from taskalgebra.envs.minigrid import recipes
from taskalgebra.envs.minigrid.labels import Carried, Faced, at_goal, opened
from taskalgebra.envs.minigrid.views import full_grid, without_partial_view
from taskalgebra.envs.registry import id_of
from taskalgebra.envs.wrap import Wrapped, wrap
from taskalgebra.extras import missing
from taskalgebra.validation import closest

ACTIONS = {"left": 0, "right": 1, "forward": 2, "pick up": 3, "drop": 4, "toggle": 5}
MOVES = ("left", "right", "forward")


@final
@dataclass(frozen=True)
class Kind:
    """Environments that are played alike."""

    names: str  # a regular expression
    label: GoalLabel
    actions: tuple[str, ...]
    one_room: bool = False  # without anything to open


KINDS = (
    Kind(r"MiniGrid-Fetch-.*", Carried(("key", "ball")), (*MOVES, "pick up"), True),
    Kind(r"MiniGrid-GoToObject-.*", Faced(), MOVES, True),
    Kind(r"BabyAI-GoTo(Obj|Local).*", Faced(), MOVES, True),
    Kind(r"BabyAI-PickupLoc-.*", Carried(), (*MOVES, "pick up"), True),
    Kind(r"BabyAI-OpenDoor(Color|Debug|Loc)?-.*", opened, (*MOVES, "toggle")),
    Kind(r"MiniGrid-DoorKey-.*", at_goal, tuple(ACTIONS)),
    Kind(r"MiniGrid-KeyCorridor.*", Carried(("ball",)), tuple(ACTIONS)),
)


def world(name: str, **changes: Any) -> Wrapped:
    """A registered environment of MiniGrid or BabyAI as a goal environment.

    Args:
        name: as Gymnasium knows it, such as "MiniGrid-Fetch-8x8-N3-v0".
        changes: other arguments of `taskalgebra.wrap`, or other values for `goals`, `actions` and
            `observation`.

    Raises:
        ValueError: there is no such environment, or it is none of these kinds.
        ModuleNotFoundError: MiniGrid is not installed.
    """
    require_minigrid()
    kind = kind_of(name)
    arguments: Mapping[str, Any] = {
        "goals": kind.label,
        "actions": {action: ACTIONS[action] for action in kind.actions},
        "observation": full_grid,
        **changes,
    }
    seen = arguments["observation"]
    made = wrap(partial(_made, name, whole=seen is full_grid), **arguments)
    cost = made.rules.step_reward
    size = made.observation_space.shape
    if kind.one_room and seen is full_grid and cost and size:
        made.learner = recipes.in_a_room(size[0], -cost)
    if not changes:
        made.spec = EnvSpec(id_of("MiniGrid"), kwargs={"name": name})
    return made


def kind_of(name: str) -> Kind:
    """How an environment is played."""
    found = next((kind for kind in KINDS if re.fullmatch(kind.names, str(name))), None)
    known = [each for each in gym.registry if any(re.fullmatch(k.names, each) for k in KINDS)]
    if found is None or name not in gym.registry:
        raise ValueError(
            f"no world {name!r}; expected an environment such as MiniGrid-Fetch-8x8-N3-v0 or "
            f"BabyAI-GoToLocal-v0; others become worlds by ta.wrap(name, goals=label), with a "
            f"label of {__package__}{closest(str(name), known)}"
        )
    return found


def _made(name: str, *, whole: bool, **changes: Any) -> gym.Env[Any, Any]:
    env = gym.make(name, disable_env_checker=True, **changes)
    return without_partial_view(env) if whole else env


def require_minigrid() -> None:
    """Refuse in words where MiniGrid is not installed; else its environments are registered."""
    try:
        import_module("minigrid")
    except ModuleNotFoundError as error:
        if error.name != "minigrid":
            raise
        raise ModuleNotFoundError(
            missing("MiniGrid", "minigrid", "minigrid"), name="minigrid"
        ) from None
