"""Networks on disk: weights in one safetensors file, words in a JSON manifest, never pickle.

A directory holds `manifest.json` and `networks-HASH.safetensors`, named after its contents.  As in
`store`, the data file is written first and the manifest is replaced in one step, so the directory
holds either the old skills or the new ones.  Weights are kept in half precision.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from taskalgebra.deep import Networks
from taskalgebra.files import replace
from taskalgebra.learning.dqn import DeepSettings
from taskalgebra.learning.dqn_checkpoint import put_weights, weights_of
from taskalgebra.learning.network_values import GoalReturns
from taskalgebra.learning.uvfa import make_network
from taskalgebra.open_world import OpenWorld
from taskalgebra.store import MANIFEST, StoreError
from taskalgebra.store import NETWORKS as FORMAT
from taskalgebra.tasks import TaskSpace
from taskalgebra.validation import listed

_DATA = re.compile(r"networks-[0-9a-f]{16}\.safetensors")
_OURS = re.compile(r"networks-[0-9a-f]{16}\.safetensors|\.networks-\w+\.tmp")


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
            arrays[f"{i}.weights.{name}"] = weight.astype(np.float16)
        arrays[f"{i}.goals"] = network.goals
        arrays[f"{i}.numbers"] = network.numbers
        arrays[f"{i}.included"] = network.included
    space = networks.space
    arrays["r_universal"], arrays["r_empty"] = space.r_universal, space.r_empty
    arrays["tasks"] = np.stack([task.goal_reward for task in networks.tasks.values()])
    arrays["goal_rewards"] = networks.goal_rewards
    data = save_arrays({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    digest = hashlib.sha256(data).hexdigest()
    manifest = {
        "format": FORMAT,
        "data": f"networks-{digest[:16]}.safetensors",
        "sha256": digest,
        "tasks": list(networks.tasks),
        "goals": list(space.goal_names),
        "actions": list(space.world.action_names),
        "n_networks": len(networks.networks),
        "shared": networks.shared,
        "world": world,
        "settings": asdict(networks.settings),
        "training": dict(training),
    }
    before = _claim(path)
    path.mkdir(parents=True, exist_ok=True)
    replace(path / str(manifest["data"]), data, "networks-")
    replace(path / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode(), "networks-")
    if before is not None and before["data"] != manifest["data"]:
        (path / before["data"]).unlink(missing_ok=True)


def _claim(path: Path) -> dict[str, Any] | None:
    """Make sure that a directory is ours to write to; return the manifest it holds, if any."""
    if path.exists() and not path.is_dir():
        raise StoreError(f"{path} is a file; give a directory to save skills in")
    if (path / MANIFEST).exists():
        try:
            return read_manifest(path)
        except StoreError as error:
            raise StoreError(f"{error}; to save here, give a new or empty directory") from None
    strangers = [file.name for file in path.glob("*") if not _OURS.fullmatch(file.name)]
    if strangers:
        raise StoreError(
            f"{path} holds other files, such as {strangers[0]!r}; give a new or empty directory"
        )
    return None


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a directory with networks."""
    file = path / MANIFEST
    try:
        manifest = json.loads(file.read_text())
    except OSError:
        raise StoreError(f"no skills at {path}: {MANIFEST} is missing or not readable") from None
    except ValueError:
        raise StoreError(f"{file} is not valid JSON; it was not written by this library") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{file} is not of the format {FORMAT!r}; it belongs to something else")
    if not isinstance(manifest.get("data"), str) or not _DATA.fullmatch(manifest["data"]):
        raise StoreError(f"{file} names no data file; save the skills again")
    return manifest


def read(path: Path, space: TaskSpace | None = None) -> tuple[Networks, dict[str, Any]]:
    """Load what `write` saved, and its manifest, or raise a StoreError that says what is wrong.

    The tasks belong to the given space, which must have the same goals and actions.
    """
    manifest = read_manifest(path)
    file = path / manifest["data"]
    try:
        data = file.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read the data of {path}: {error}") from None
    if hashlib.sha256(data).hexdigest() != manifest.get("sha256"):
        raise StoreError(f"{file} is damaged or truncated; save the skills again")
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
    settings = DeepSettings(**manifest["settings"])
    networks = []
    for i in range(manifest["n_networks"]):
        goals, head = arrays[f"{i}.goals"], settings.head()
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
