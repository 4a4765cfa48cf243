"""A task space and its base tasks as words and arrays, and back: what every family on disk shares.

A finite world is packed whole, as its table of outcomes; of an open one there are only names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.theory.family import Arrays, Words
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import listed
from taskalgebra.worlds.build import from_outcomes
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.open_world import OpenWorld

_WORLD_ARRAYS = ("offset", "successor", "probability", "step_reward", "goals", "starts")


def pack(
    space: TaskSpace, tasks: Mapping[str, Task]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The names, and all numbers of the world and of the tasks."""
    arrays: dict[str, NDArray[Any]] = {}
    if space.finite:
        mdp = space.mdp
        arrays = {name: getattr(mdp, name) for name in _WORLD_ARRAYS}
        if mdp.goal_reward is not None:
            arrays["goal_reward"] = mdp.goal_reward
        if mdp.cells is not None:
            arrays["cells"] = mdp.cells
    arrays["r_universal"], arrays["r_empty"] = space.r_universal, space.r_empty
    arrays["tasks"] = np.stack([task.goal_reward for task in tasks.values()])
    for i, task in enumerate(tasks.values()):
        if task.step_reward is not None:
            arrays[f"steps_{i}"] = task.step_reward
    words = {
        "tasks": list(tasks),
        "goals": list(space.goal_names),
        "actions": list(space.action_names),
    }
    return words, arrays


def unpack(
    words: Words, arrays: Arrays, space: TaskSpace | None = None
) -> tuple[TaskSpace, dict[str, Task]]:
    """The task space and the tasks.

    Args:
        words: as `pack` made them.
        arrays: as `pack` made them.
        space: a space that the tasks should belong to; it must be the one that was packed.

    Raises:
        ValueError: words and arrays do not fit together, or are of another space.
    """
    world = _world(words, arrays)
    rewards = {name: arrays[name] for name in ("r_universal", "r_empty")}
    if space is None:
        space = TaskSpace(world, **rewards)
    else:
        _require_same(space, world, rewards)
    if len(arrays["tasks"]) != len(words["tasks"]):
        raise ValueError(f"{len(words['tasks'])} task names, {len(arrays['tasks'])} tasks")
    tasks = {
        name: space.from_rewards(arrays["tasks"][i], arrays.get(f"steps_{i}"))
        for i, name in enumerate(words["tasks"])
    }
    return space, tasks


def _world(words: Words, arrays: Arrays) -> FiniteMDP | OpenWorld:
    if not any(name in arrays for name in _WORLD_ARRAYS):
        return OpenWorld(tuple(words["goals"]), tuple(words["actions"]))
    n_states, n_actions = arrays["step_reward"].shape
    return from_outcomes(
        arrays["offset"],
        arrays["successor"],
        arrays["probability"],
        step_reward=arrays["step_reward"],
        goals=arrays["goals"],
        shape=(n_states, n_actions),
        goal_names=words["goals"],
        action_names=words["actions"],
        starts=arrays["starts"],
        goal_reward=arrays.get("goal_reward"),
        cells=arrays.get("cells"),
    )


def _require_same(space: TaskSpace, world: FiniteMDP | OpenWorld, rewards: Arrays) -> None:
    """Refuse a space with other goals, actions, dynamics or rewards."""
    same_names = (space.goal_names, space.action_names) == (world.goal_names, world.action_names)
    if not same_names:
        raise ValueError(
            f"they are of a world with the goals {listed(world.goal_names)} and the actions "
            f"{listed(world.action_names)}, not of the world given"
        )
    if not all(np.array_equal(array, getattr(space, name)) for name, array in rewards.items()):
        raise ValueError("its goals pay other rewards r_U and r_∅ than those of the world given")
    if isinstance(world, FiniteMDP) and not (
        space.finite
        and all(
            np.array_equal(getattr(world, name), getattr(space.mdp, name)) for name in _WORLD_ARRAYS
        )
    ):
        raise ValueError("they are of a world with other transitions or rewards than the one given")
