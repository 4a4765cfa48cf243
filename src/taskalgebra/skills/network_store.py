"""Networks on disk: weights in one safetensors file, words in a JSON manifest, never pickle.

Weights are kept in half precision, where that is precise enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from taskalgebra.learning.deep.checkpoint import put_weights, weights_of
from taskalgebra.learning.deep.heads import head_of
from taskalgebra.learning.deep.networks import make_network
from taskalgebra.learning.deep.settings import DeepSettings
from taskalgebra.learning.deep.training import Networks
from taskalgebra.learning.deep.values import GoalReturns
from taskalgebra.skills.folder import NETWORKS, Folder, StoreError, is_names
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.validation import listed
from taskalgebra.worlds.open_world import OpenWorld


def write(
    path: Path, networks: Networks, world: Mapping[str, Any] | None, training: Mapping[str, Any]
) -> None:
    """Save networks.

    Args:
        path: a directory: new, empty, or with networks that were saved before.
        networks: what to save.
        world: how to make the world again, as `describe` of the world tells; None if it cannot say.
        training: what else to note, such as the command, the seeds, the time and the scores.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for i, network in enumerate(networks.networks):
        for name, weight in weights_of(network.network).items():
            arrays[f"{i}.weights.{name}"] = _rounded(name, weight)
        arrays[f"{i}.goals"] = network.goals
        arrays[f"{i}.numbers"] = network.numbers
        arrays[f"{i}.included"] = network.included
    space = networks.space
    arrays["r_universal"], arrays["r_empty"] = space.r_universal, space.r_empty
    arrays["tasks"] = np.stack([task.goal_reward for task in networks.tasks.values()])
    arrays["goal_rewards"] = networks.goal_rewards
    data = save_arrays({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    FOLDER.write(
        path,
        data,
        {
            "tasks": list(networks.tasks),
            "goals": list(space.goal_names),
            "actions": list(space.world.action_names),
            "n_networks": len(networks.networks),
            "shared": networks.shared,
            "world": world,
            "settings": asdict(networks.settings),
            "training": dict(training),
        },
    )


def _rounded(name: str, weight: NDArray[Any]) -> NDArray[Any]:
    """A weight in half precision; as it is, where that would be too coarse.

    The mean of observations that are vectors may be large beside their differences, and weights
    beyond 65,504 have no half.
    """
    if not np.isfinite(weight).all():
        raise StoreError(f"the weights {name!r} are no longer numbers; nothing was saved")
    coarse = name.endswith("_mean") and weight.ndim == 1
    if coarse or np.abs(weight).max() > np.finfo(np.float16).max:
        return weight
    return weight.astype(np.float16)


FOLDER = Folder(
    NETWORKS,
    "networks",
    "safetensors",
    {
        "tasks": is_names,
        "goals": is_names,
        "actions": is_names,
        "n_networks": lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 1,
        "shared": lambda v: isinstance(v, bool),
        "world": lambda v: v is None or isinstance(v, dict),
        "settings": lambda v: isinstance(v, dict),
    },
)


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a directory with networks."""
    return FOLDER.manifest(path)


def read(path: Path, space: TaskSpace | None = None) -> tuple[Networks, dict[str, Any]]:
    """Load what `write` saved, and its manifest, or raise a StoreError that says what is wrong.

    The tasks belong to the given space, which must have the same goals and actions.
    """
    manifest, data = FOLDER.read(path)
    try:
        return _restore(manifest, load_arrays(data), space), manifest
    except (KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        raise StoreError(f"{path} does not hold consistent networks: {error}") from error


def _restore(
    manifest: dict[str, Any], arrays: dict[str, NDArray[Any]], space: TaskSpace | None
) -> Networks:
    world = OpenWorld(tuple(manifest["goals"]), tuple(manifest["actions"]))
    if space is None:
        space = TaskSpace(world, r_universal=arrays["r_universal"], r_empty=arrays["r_empty"])
    elif space.world != world:
        raise ValueError(
            f"they are of a world with the goals {listed(world.goal_names)} and the actions "
            f"{listed(world.action_names)}, not of the world given"
        )
    else:
        saved = (arrays["r_universal"], arrays["r_empty"])
        if not all(map(np.array_equal, saved, (space.r_universal, space.r_empty))):
            raise ValueError(
                "its goals pay other rewards r_U and r_∅ than those of the world given"
            )
    n_networks = manifest["n_networks"]
    if f"{n_networks - 1}.goals" not in arrays or f"{n_networks}.goals" in arrays:
        raise ValueError(f"the data does not hold {n_networks} networks")
    settings = DeepSettings(**manifest["settings"])
    networks = []
    for i in range(n_networks):
        goals, head = arrays[f"{i}.goals"], head_of(settings)
        network = make_network(settings.network, goals.shape[1:], world.n_actions, head.n_outputs)
        start = f"{i}.weights."
        weights = {n[len(start) :]: a for n, a in arrays.items() if n.startswith(start)}
        put_weights(network, weights)
        networks.append(
            GoalReturns(
                network,
                head,
                goals,
                arrays[f"{i}.numbers"],
                world.n_goals,
                arrays[f"{i}.included"],
            )
        )
    tasks = {
        name: space.from_rewards(rewards)
        for name, rewards in zip(manifest["tasks"], arrays["tasks"], strict=True)
    }
    return Networks(
        space, tasks, settings, tuple(networks), arrays["goal_rewards"], manifest["shared"]
    )
