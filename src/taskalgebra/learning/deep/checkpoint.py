"""A training on disk: one safetensors file, resumed to the same weights.

The file holds the network, the target network, the averaged one if any, the optimiser, the replay
buffer, the goals met and the best weights so far.  It is written under a temporary name and then
moved, so a kill at any moment leaves the previous checkpoint or the new one.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from taskalgebra import files
from taskalgebra.learning.checkpoint import CheckpointError
from taskalgebra.learning.deep.dqn import Trainer
from taskalgebra.learning.deep.family import header_size, put_weights, weights_of
from taskalgebra.theory.goal_env import goals_reached

FORMAT = "taskalgebra training 2"
_REPLAY = ("states", "next_states", "actions", "rewards", "goals", "telling")
_COUNTERS = ("n_iterations", "n_updates", "n_steps")
_ADDED = {
    "averaging": 0.0,
    "directed": False,
    "pessimism": 0.0,
    "scoring_share": 1.0,
    "device": "auto",
}
"""Settings that earlier files do not name, as they were."""
Arrays = dict[str, NDArray[Any]]


@dataclass
class Progress:
    """The scores of a training so far, and its best weights."""

    scores: list[tuple[int, float]] = field(default_factory=list)
    """(gradient steps, score) at the end of each iteration."""
    best: Arrays = field(default_factory=dict)
    """The weights with the best score."""
    seconds: float = 0.0
    """Of training, without scoring."""

    def add(self, n_updates: int, score: float, weights: Arrays) -> None:
        """Add a score, and keep the weights if they are the best; of equals, the later."""
        if not self.scores or score >= max(past for _, past in self.scores):
            self.best = {name: array.copy() for name, array in weights.items()}
        self.scores.append((n_updates, score))


def _world_of(trainer: Trainer) -> str:
    """The fingerprint of a training's environment, found once."""
    if trainer.fingerprint is None:
        found = fingerprint(trainer.env, trainer.goal_features)
        trainer.fingerprint = f"{found} resumed" if trainer.resumed else found
    return trainer.fingerprint


def fingerprint(env: VectorEnv[Any, Any, Any], goal_features: NDArray[Any] | None = None) -> str:
    """A hash of what a learner sees of the goals, and in a few seeded steps of an environment."""
    digest = hashlib.sha256(b"" if goal_features is None else goal_features.tobytes())
    observations, _ = env.reset(seed=20_20)
    rng = np.random.default_rng(0)
    for _ in range(30):
        digest.update(np.ascontiguousarray(observations).tobytes())
        actions = rng.integers(0, env.single_action_space.n, env.num_envs)  # type: ignore[attr-defined]
        observations, rewards, terminated, _, infos = env.step(actions)
        digest.update(np.asarray(rewards, np.float64).tobytes())
        digest.update(goals_reached(infos, terminated).tobytes())
    return digest.hexdigest()


def save(path: Path, trainer: Trainer, progress: Progress) -> None:
    """Write a training to a file."""
    arrays: Arrays = {}
    networks = {"network": trainer.network, "target": trainer.target}
    if trainer.kept is not trainer.network:
        networks["average"] = trainer.kept
    for name, network in networks.items():
        arrays |= {f"{name}.{key}": array for key, array in weights_of(network).items()}
    arrays |= {f"best.{key}": array for key, array in progress.best.items()}
    for i, parameter in enumerate(trainer.network.parameters()):
        for key, value in trainer.optimiser.state.get(parameter, {}).items():
            arrays[f"optimiser.{i}.{key}"] = value.cpu().numpy()
    for name in _REPLAY:
        arrays[f"replay.{name}"] = getattr(trainer.replay, name)[: trainer.replay.size]
    if trainer.goals.numbers:
        arrays["goals.observations"] = np.stack(trainer.goals.observations)
        arrays["goals.rewards"] = np.stack(trainer.goals.rewards)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    record = {
        "format": FORMAT,
        "network": type(trainer.network).__name__,
        "settings": asdict(trainer.settings),
        "seed": trainer.seed,
        "world": _world_of(trainer),
        "start": trainer.start,
        "goals": trainer.goals.numbers,
        "n_added": trainer.replay.n_added,
        "scores": progress.scores,
        "seconds": progress.seconds,
        **{name: getattr(trainer, name) for name in _COUNTERS},
    }
    record["checksum"] = _checksum(arrays, record)
    arrays["record"] = np.frombuffer(json.dumps(record).encode(), np.uint8)
    files.replace(path, save_arrays(arrays))


def _whole(path: Path) -> bytes:
    """The bytes of a safetensors file, unless it is cut short or extended, perhaps by far."""
    with files.opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(8)
        header = header_size(start, size)
        words = file.read(header)
        tensors = [tensor for name, tensor in json.loads(words).items() if name != "__metadata__"]
        end = max(tensor["data_offsets"][1] for tensor in tensors)
        if size != len(start) + header + end:
            raise ValueError(f"it has {size:,} bytes, expected {len(start) + header + end:,}")
        return start + words + file.read(end)


def _checksum(arrays: Arrays, record: dict[str, Any]) -> int:
    """A CRC of all arrays and the record."""
    result = zlib.crc32(json.dumps(record).encode())
    for name, array in sorted(arrays.items()):
        result = zlib.crc32(f"{name} {array.dtype} {array.shape}".encode(), result)
        result = zlib.crc32(array.tobytes(), result)
    return result


def resume(path: Path, trainer: Trainer) -> Progress:
    """Bring a new trainer to the state of a saved training.

    Raises:
        CheckpointError: the file is damaged, or from another environment, other settings or another
            seed.
    """
    try:
        arrays = load_arrays(_whole(path))
        record = json.loads(arrays.pop("record").tobytes())
    except Exception as error:  # json and safetensors fail in many ways on damaged files
        raise CheckpointError(
            f"{path} does not hold a training: {error}; remove it, and train from the start"
        ) from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not of the format {FORMAT!r}")
    if record.pop("checksum", None) != _checksum(arrays, record):
        raise CheckpointError(f"{path} is damaged; remove it, and train from the start")
    for name in ("world", "seed", "settings"):
        if name not in record or not isinstance(record["settings"], dict):
            raise CheckpointError(f"{path} does not hold a training: {name!r} is missing")
    if record["world"] != _world_of(trainer):
        raise CheckpointError(
            f"{path} is a training in another environment; resume it in its own, or give "
            f"another directory"
        )
    if record["seed"] != trainer.seed:
        raise CheckpointError(f"{path} was started with seed {record['seed']}, not {trainer.seed}")
    own = type(trainer.network).__name__
    if record.get("network") != own:
        raise CheckpointError(f"{path} was started with a {record.get('network')}, not a {own}")
    start = record.get("start")
    if trainer.start not in (None, start):
        raise CheckpointError(f"{path} was started from another network; pass that one, or none")
    started = {**_ADDED, **record["settings"]}
    for name, value in asdict(trainer.settings).items():
        if started.get(name) != value:
            raise CheckpointError(
                f"{path} was started with {name} = {started.get(name)!r}, not {value!r}"
            )
    try:
        return _restore(trainer, arrays, record)
    except Exception as error:  # whatever numpy and torch find wrong
        raise CheckpointError(f"{path} does not hold a consistent training: {error}") from None


def _restore(trainer: Trainer, arrays: Arrays, record: dict[str, Any]) -> Progress:
    put_weights(trainer.network, _below(arrays, "network"))
    put_weights(trainer.target, _below(arrays, "target"))
    if trainer.kept is not trainer.network:
        put_weights(trainer.kept, _below(arrays, "average"))
    for i, parameter in enumerate(trainer.network.parameters()):
        state = _below(arrays, f"optimiser.{i}")
        if state:
            trainer.optimiser.state[parameter] = {
                key: torch.from_numpy(np.array(value)).to(
                    trainer.device if key != "step" else "cpu"
                )
                for key, value in state.items()
            }
    for name in _REPLAY:
        saved = arrays[f"replay.{name}"]
        getattr(trainer.replay, name)[: len(saved)] = saved
    trainer.replay.n_added = record["n_added"]
    if record["goals"]:
        trainer.goals.numbers[:] = record["goals"]
        trainer.goals.observations[:] = list(arrays["goals.observations"])
        trainer.goals.rewards[:] = list(arrays["goals.rewards"])
    for name in _COUNTERS:
        setattr(trainer, name, record[name])
    trainer.start = record.get("start")
    return Progress(
        [(n, score) for n, score in record["scores"]], _below(arrays, "best"), record["seconds"]
    )


def _below(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names begin with a prefix and a dot, without it."""
    start = prefix + "."
    return {name[len(start) :]: a for name, a in arrays.items() if name.startswith(start)}
