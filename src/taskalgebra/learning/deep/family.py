"""Networks as a reach, and families of values read from them; torch stops here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from taskalgebra.arrays import Array
from taskalgebra.folder import StoreError
from taskalgebra.learning.deep.networks import KNOWN, Network, make_network, name_of
from taskalgebra.learning.deep.settings import DeepSettings
from taskalgebra.learning.deep.uvfa import UVFA, head_of
from taskalgebra.learning.deep.ways import JoinedWays, KnownWays, NetworkReach
from taskalgebra.theory.family import Arrays, Family, Words
from taskalgebra.theory.reach import ExtremeBounds, MeanReach, Reach, ReachBounds, ReachQ
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import ValueBounds
from taskalgebra.validation import finite

LARGEST_HEADER = 2**20
"""Bytes of names and shapes in a safetensors file."""
Weights = dict[str, NDArray[Any]]
_RENAMED = {
    "chapter": "updates_per_iteration",
    "target_rate": "tau",
    "target_every": "target_interval",
    "low": "v_min",
    "high": "v_max",
}
"""Settings with other names in files of version 0.1."""


def header_size(start: bytes, size: int) -> int:
    """The bytes of the header of a safetensors file, from its first 8 bytes and its size.

    Raises:
        ValueError: it is longer than can be right.
    """
    header = int.from_bytes(start, "little")
    if header > min(size, LARGEST_HEADER):
        raise ValueError(f"its header has {header:,} bytes, more than can be right")
    return header


def weights_of(network: torch.nn.Module) -> Weights:
    """The weights of a network as arrays."""
    return {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}


def put_weights(network: torch.nn.Module, weights: Weights) -> None:
    """Give a network its weights."""
    network.load_state_dict(
        {name: torch.from_numpy(np.array(array)).float() for name, array in weights.items()}
    )


@final
@dataclass(frozen=True, eq=False, repr=False)
class NetworkFamily(Family):
    """Trained networks, and the tasks that they serve."""

    FORMAT = "taskalgebra networks 2"

    network: Network
    settings: DeepSettings
    reaches: tuple[NetworkReach, ...]  # one for all tasks, or one per task
    goal_rewards: Array  # [K, G], what each base task was seen to pay for each goal
    shared: bool  # whether the tasks share their absorbing states

    @classmethod
    def of(
        cls,
        space: TaskSpace,
        tasks: Mapping[str, Task],
        network: Network,
        settings: DeepSettings,
        reaches: tuple[NetworkReach, ...],
        goal_rewards: Array,
        shared: bool,
    ) -> NetworkFamily:
        """The value functions of the base tasks, with their bounds.

        Several networks of tasks that share their absorbing states are estimates of one G; the
        bounds take their mean.
        """
        bounds: ValueBounds
        each = reaches * (len(tasks) if len(reaches) == 1 else 1)
        if shared:
            one: Reach = reaches[0] if len(reaches) == 1 else MeanReach(reaches)
            bounds = ReachBounds(space, one)
        else:
            bounds = ExtremeBounds(space, each, goal_rewards)
        values = tuple(
            ReachQ(reach, reward, bounds) for reach, reward in zip(each, goal_rewards, strict=True)
        )
        low = settings.returns[0] + (0.0 if settings.own_rewards else space.r_empty.min())
        of_family = (space, dict(tasks), values, bounds, float(low), None)
        return cls(*of_family, network, settings, reaches, goal_rewards, shared)

    @property
    def first(self) -> UVFA:
        """The first or only network; others may start from it."""
        return self.reaches[0].network

    @property
    def can_negate(self) -> bool:
        """False for one or two tasks that end in goals of their own.

        `~` is then taken between the largest and the smallest value of the base tasks, so that with
        two of them ~a is b.
        """
        return self.shared or len(self.tasks) >= 3

    def to_goals(self) -> Reach:
        """The network, or the mean of several estimates; no way where that is "never".

        Where tasks end in goals of their own, each network is asked about its own.
        """
        if not self.shared:
            return JoinedWays(self.reaches, self.settings)
        one = self.reaches[0] if len(self.reaches) == 1 else MeanReach(self.reaches)
        return KnownWays(one, self.settings)

    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Weights, in half precision where that is precise enough, and the goals met."""
        arrays: dict[str, NDArray[Any]] = {"goal_rewards": self.goal_rewards}
        for i, reach in enumerate(self.reaches):
            for name, weight in weights_of(reach.network).items():
                arrays[f"{i}.weights.{name}"] = _rounded(name, weight, reach)
            arrays[f"{i}.goals"] = reach.goals
            arrays[f"{i}.numbers"] = reach.numbers
            arrays[f"{i}.included"] = reach.included
        words = {
            "n_networks": len(self.reaches),
            "shared": self.shared,
            "settings": {"network": name_of(self.network), **asdict(self.settings)},
            "observations": _packed_like(self.reaches[0].like),
        }
        return words, arrays


def unpack(
    words: Words,
    arrays: Arrays,
    space: TaskSpace,
    tasks: Mapping[str, Task],
    network: Network | None = None,
) -> NetworkFamily:
    """The reverse of `pack`; a network of the user's own must be given again.

    Raises:
        ValueError: words and arrays do not match, or the network is missing.
    """
    n_networks = words["n_networks"]
    if f"{n_networks - 1}.goals" not in arrays or f"{n_networks}.goals" in arrays:
        raise ValueError(f"the data does not hold {n_networks} networks")
    given = {_RENAMED.get(name, name): value for name, value in words["settings"].items()}
    kind = _kind(given.pop("network"), network)
    settings = DeepSettings(**given)
    head = head_of(settings)
    like = _unpacked_like(words.get("observations"))
    reaches = []
    for i in range(n_networks):
        goals = arrays[f"{i}.goals"]
        shape = goals.shape[1:] if like is None else like.shape[1:]
        start = f"{i}.weights."
        weights = {n[len(start) :]: a for n, a in arrays.items() if n.startswith(start)}
        sizes = (shape, space.n_actions, head.n_outputs, goals.shape[1:])
        _add_scales(weights)
        _check_weights(weights, kind if network is None else None, sizes)
        module = make_network(kind, *sizes)
        put_weights(module, weights)
        numbers, included = _known_goals(arrays, i, space.n_goals)
        reaches.append(NetworkReach(module, head, goals, numbers, space.n_goals, included, like))
    rewards = finite(arrays["goal_rewards"], "goal_rewards", (len(tasks), space.n_goals))
    return NetworkFamily.of(space, tasks, kind, settings, tuple(reaches), rewards, words["shared"])


def _packed_like(like: NDArray[Any]) -> dict[str, Any]:
    return {"shape": list(like.shape[1:]), "dtype": like.dtype.str}


def _unpacked_like(words: Any) -> NDArray[Any] | None:
    """A batch of no observations; None for files in which goals are observations.

    Raises:
        ValueError: these are not shape and type of an array of numbers.
    """
    if words is None:
        return None
    shape, dtype = words["shape"], np.dtype(words["dtype"])
    if dtype.kind not in "biuf" or not all(isinstance(n, int) and n > 0 for n in shape):
        raise ValueError(f"observations of {dtype} of shape {shape} are not arrays of numbers")
    return np.empty((0, *shape), dtype)


def _add_scales(weights: Weights) -> None:
    """Add scales of 1 to vector networks and users' own of files that have none."""
    scaled = "of_state.weight" in weights or any(name.startswith("module.") for name in weights)
    for of in ("state", "goal") if scaled else ():
        if f"{of}_mean" in weights:
            weights.setdefault(f"{of}_scale", np.ones(weights[f"{of}_mean"].shape, np.float32))


def _check_weights(
    weights: Weights, own: Network | None, sizes: tuple[tuple[int, ...], int, int, tuple[int, ...]]
) -> None:
    """Refuse weights that are not numbers, or not those of one of the library's own networks.

    That network is made without memory first: a file must not ask for more than it holds.
    """
    for name, weight in weights.items():
        if weight.dtype.kind != "f" or not np.isfinite(weight).all():
            raise ValueError(f"the weights of {name!r} are not finite numbers")
    if own is None:
        return
    with torch.device("meta"):
        expected = {n: tuple(w.shape) for n, w in make_network(own, *sizes).state_dict().items()}
    found = {name: weight.shape for name, weight in weights.items()}
    if found != expected:
        name = next(n for n in {**expected, **found} if expected.get(n) != found.get(n))
        raise ValueError(
            f"the weights of {name!r} have shape {found.get(name)}, expected {expected.get(name)}"
        )


def _known_goals(arrays: Arrays, i: int, n_goals: int) -> tuple[NDArray[np.int64], Array]:
    """Which goals a network knows, and what it has learned that they pay."""
    goals, numbers = arrays[f"{i}.goals"], arrays[f"{i}.numbers"]
    if goals.dtype.kind not in "biuf" or not np.isfinite(goals).all():
        raise ValueError("the goals of a network are not finite observations")
    fits = numbers.dtype.kind in "iu" and numbers.shape == goals.shape[:1] and numbers.size > 0
    if not (fits and set(numbers.tolist()) <= set(range(n_goals))) or np.unique(
        numbers
    ).size != len(numbers):
        raise ValueError(f"the goals of a network must be different ones of {n_goals}")
    return numbers, finite(arrays[f"{i}.included"], "included", numbers.shape)


def _kind(name: str | None, given: Network | None) -> Network:
    """The network that a file names, if it is the library's own, else the one that was given."""
    if name is None:
        if given is None:
            raise StoreError(
                "the network of these skills is not one of the library's; pass it: "
                "load(path, network=...)"
            )
        return given
    if given is not None:
        raise StoreError(
            f"the network of these skills is the library's own, {name!r}; leave network out"
        )
    if name not in KNOWN:
        raise StoreError(f"it names the network {name!r}, expected one of {', '.join(KNOWN)}")
    return KNOWN[name]


def _rounded(name: str, weight: NDArray[Any], reach: NetworkReach) -> NDArray[Any]:
    """A weight in half precision, or unchanged if that would be too coarse.

    The mean of observations may be large compared to their differences, unless they are pictures
    of bytes, and half precision ends at 65,504.
    """
    if not np.isfinite(weight).all():
        raise ValueError(f"the weights of {name!r} are not finite; nothing was saved")
    shown = reach.goals if name.startswith("goal_") else reach.like
    of_bytes = weight.ndim > 1 and shown.dtype == np.uint8
    coarse = name.endswith(("_mean", "_scale")) and not of_bytes
    if coarse or np.abs(weight).max() > np.finfo(np.float16).max:
        return weight
    return weight.astype(np.float16)
