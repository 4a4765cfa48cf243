"""Skills on disk: arrays in one data file, words in a JSON manifest, never pickle.

Every kind of family has a format, named by its `FORMAT`; `FORMATS` says how each is read.  What all
formats share, the task space and the environment, is packed here.  A file never names code: an
environment is made again only if it is one of the library's own, and the user's own networks or
agents are passed again on loading.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra import files, npz
from taskalgebra.envs import registry
from taskalgebra.extras import missing
from taskalgebra.folder import Folder, StoreError, is_names, read_manifest
from taskalgebra.theory.family import (
    Family,
    ReachFamily,
    TableFamily,
    names_of,
    pack_tasks,
    unpack_tasks,
)
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.reach import Reach
from taskalgebra.theory.tasks import Task, TaskSpace

Arrays = dict[str, NDArray[Any]]
NETWORKS = "taskalgebra networks 2"
"""The format of `NetworkFamily`, whose module needs torch."""
HORIZONS = "taskalgebra horizon 2"
"""The format of `HorizonFamily`."""
NOT_DESCRIBED = ("task", "render_mode")
_OF_GYMNASIUM = ("max_episode_steps", "disable_env_checker")
"""Arguments of an environment on which skills do not depend."""


@final
@dataclass(frozen=True)
class Format:
    """How a directory holds families of one kind."""

    folder: Folder
    encode: Callable[[Arrays], bytes]
    decode: Callable[[bytes, Mapping[str, Any]], Arrays]  # the known ones, by the words
    unpack: Callable[..., Family]  # (words, arrays, space, tasks, **the user's own)


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) <= sys.float_info.max


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_NAMES = {"tasks": is_names, "goals": is_names, "actions": is_names}


def _tables() -> Format:
    from taskalgebra.planning.exact import unpack
    from taskalgebra.planning.vectors import NAMES as VECTORS

    entries = {
        **_NAMES,
        "tables": lambda v: isinstance(v, bool),
        "r_bar_min": _is_number_or_none,
        "error_bound": _is_number_or_none,
    }

    def decode(data: bytes, words: Mapping[str, Any]) -> Arrays:
        own = {"q_universal", "q_empty", *(f"q_{i}" for i in range(len(words["tasks"])))}
        own.add("observations")  # of tables whose states have no numbers
        own.update(VECTORS)  # of large stochastic worlds
        return npz.read(BytesIO(data), {*names_of(words), *own}.__contains__)

    return Format(Folder(TableFamily.FORMAT, "skills", "npz", entries), npz.write, decode, unpack)


def _networks() -> Format:
    safetensors = torch_module("safetensors.numpy")
    family = torch_module("taskalgebra.learning.deep.family")
    entries = {
        **_NAMES,
        "n_networks": _is_count,
        "shared": lambda v: isinstance(v, bool),
        "world": lambda v: v is None or isinstance(v, dict),
        "settings": lambda v: isinstance(v, dict),
    }
    folder = Folder(family.NetworkFamily.FORMAT, "networks", "safetensors", entries)

    def decode(data: bytes, words: Mapping[str, Any]) -> Arrays:
        family.header_size(data[:8], len(data))
        arrays: Arrays = safetensors.load(data)
        return arrays

    return Format(folder, safetensors.save, decode, family.unpack)


def _reaches() -> Format:
    def unpack(
        words: Any, arrays: Any, space: TaskSpace, tasks: Mapping[str, Task], reach: Reach
    ) -> Family:
        return ReachFamily.of(space, tasks, reach)

    def decode(data: bytes, words: Mapping[str, Any]) -> Arrays:
        return npz.read(BytesIO(data), names_of(words).__contains__)

    entries = {**_NAMES, "reach": lambda v: isinstance(v, str)}
    return Format(Folder(ReachFamily.FORMAT, "skills", "npz", entries), npz.write, decode, unpack)


def _horizons() -> Format:
    from taskalgebra.planning.horizon import HorizonFamily, unpack

    def decode(data: bytes, words: Mapping[str, Any]) -> Arrays:
        return npz.read(BytesIO(data), names_of(words).__contains__)

    entries = {**_NAMES, "horizon": _is_count, "r_bar_min": _is_number}
    folder = Folder(HorizonFamily.FORMAT, "skills", "npz", entries)
    return Format(folder, npz.write, decode, unpack)


FORMATS: Mapping[str, Callable[[], Format]] = {
    TableFamily.FORMAT: _tables,
    HORIZONS: _horizons,
    ReachFamily.FORMAT: _reaches,
    NETWORKS: _networks,
}
"""What a manifest may name as its format, in this version of it or an earlier one."""


def torch_module(name: str) -> Any:
    """Import a module that needs torch, on demand."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("torch", "safetensors"):
            raise
        raise ModuleNotFoundError(
            missing("networks", error.name, "deep"), name=error.name
        ) from None


def write(
    path: Path, family: Family, env: GoalEnv | None, notes: Mapping[str, Any] | None = None
) -> None:
    """Save a family, its task space and how to make its environment.

    Args:
        path: a directory: new, empty, or with saved skills of the same kind.
        family: the family to save.
        env: where its agents act; saved only if it is one of the library's own.
        notes: about the training, such as the command, the seeds and the scores.

    Raises:
        StoreError: the family cannot be saved, or not in this directory.
    """
    if family.FORMAT not in FORMATS:
        raise StoreError(
            f"cannot save a {type(family).__name__}: it has no known format; learners of your own "
            f"must return a TableFamily or a ReachFamily"
        )
    kept = FORMATS[family.FORMAT]()
    shared_words, arrays = pack_tasks(family.space, family.tasks)
    try:
        words, own = family.pack()
    except ValueError as error:
        raise StoreError(str(error)) from None
    data = kept.encode({n: np.ascontiguousarray(a) for n, a in {**arrays, **own}.items()})
    described = {"world": describe(env), "training": dict(notes or {})}
    kept.folder.write(path, data, {**shared_words, **words, **described})


def read(path: Path, env: GoalEnv | None = None, **own: Any) -> tuple[Family, GoalEnv | None]:
    """Load what `write` saved, with its environment if there is one.

    Args:
        path: the directory.
        env: the environment, if it is not one of the library's own.
        own: the user's own `network=` or `reach=`, which a file must not name.

    Raises:
        StoreError: the directory does not hold readable skills; the message says what is wrong.
    """
    try:
        return _read(path, env, own)
    except (StoreError, ModuleNotFoundError):
        raise
    except Exception as error:  # whatever numpy, zlib, torch or an environment find wrong
        raise StoreError(f"{path} does not hold consistent skills: {_reason(error)}") from error


def _read(path: Path, env: GoalEnv | None, own: Mapping[str, Any]) -> tuple[Family, GoalEnv | None]:
    kept = _format(path)
    words, data = kept.folder.read(path)
    _check_own(path, kept.folder.format, words, own)
    arrays = kept.decode(data, words)
    if env is None and words.get("world") is not None:
        env = _made(words["world"], len(arrays.get("step_reward", ())))
    space, tasks = unpack_tasks(words, arrays, None if env is None else env.space)
    return kept.unpack(words, arrays, space, tasks, **own), env


def manifest(path: Path) -> dict[str, Any]:
    """The manifest of a directory with skills, every entry checked."""
    return _format(path).folder.manifest(path)


def renew(path: Path) -> None:
    """Write skills of an earlier version in the present format; their data stays as it is."""
    folder = _format(path).folder
    words, data = folder.read(path)
    about = ("format", "data", "size", "sha256", "digest")
    folder.write(path, data, {key: value for key, value in words.items() if key not in about})


def _format(path: Path) -> Format:
    """The format named by a manifest; any other is read as tables, which report what is wrong."""
    found = read_manifest(path).get("format")
    named = found.rpartition(" ")[0] if isinstance(found, str) else ""
    kinds = {format.rpartition(" ")[0]: kept for format, kept in FORMATS.items()}
    return kinds.get(named, _tables)()


def claim(path: Path, family_format: str) -> bool:
    """Make sure, before learning, that skills can be saved in a directory.

    Returns:
        Whether there are skills that would be replaced.

    Raises:
        StoreError: it holds other things, or cannot be written to.
    """
    held = FORMATS[family_format]().folder.claim(path) is not None
    try:
        files.require_writable(path)
    except OSError as error:
        raise StoreError(f"cannot write to {path}: {error.strerror or error}") from None
    return held


def describe(env: GoalEnv | None) -> dict[str, Any] | None:
    """The name and the arguments of an environment of the library, to make it again."""
    spec = None if env is None else env.spec
    if spec is None or spec.namespace != registry.NAMESPACE:
        return None
    arguments = {n: v for n, v in spec.kwargs.items() if n not in NOT_DESCRIBED}
    return {"id": spec.id, "arguments": arguments}


def _made(description: Any, n_states: int) -> GoalEnv:
    """One of the library's own environments, from its name and arguments.

    A map with more free cells than the data has states is not of these skills, and is not built.
    """
    known = {registry.id_of(name): name for name in registry.NAMES}
    name = known.get(str(description.get("id"))) if isinstance(description, dict) else None
    if name is None:
        given = reprlib.repr(description)
        raise StoreError(f"unknown environment {given}; give it as load(path, env=...)")
    arguments = description.get("arguments")
    if not isinstance(arguments, dict) or {*NOT_DESCRIBED, *_OF_GYMNASIUM} & set(arguments):
        raise StoreError(f"the environment {name} has arguments that are never saved")
    drawn = "".join(map(str, arguments.get("text") or ()))
    n_cells = len(drawn) - sum(map(drawn.count, "# \n"))
    if n_cells > n_states:
        raise StoreError(f"the map of {name} has {n_cells:,} cells, and the data {n_states} states")
    try:
        return registry.make(name, **arguments)
    except Exception as error:
        why = _reason(error)
        raise StoreError(f"the environment {name} cannot be made: {why}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error) or type(error).__name__


def model_of(path: Path) -> dict[str, Any]:
    """What saved skills hold of the model that others trained.

    Raises:
        StoreError: they are not of such a model.
    """
    kept = manifest(path).get("model")
    if not isinstance(kept, dict):
        raise StoreError(f"{path} holds skills that need no model; leave out model=")
    return kept


def _check_own(path: Path, format: str, words: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    if format == ReachFamily.FORMAT:
        if "model" in words and "reach" not in own:
            raise StoreError(
                f"{path} holds skills of a model that others trained, which is not saved with "
                f"them; load it yourself, and pass it: load(path, model=model)"
            )
        if not isinstance(own.get("reach"), Reach):
            if words["reach"].startswith("_"):
                raise StoreError(
                    f"{path} holds skills of functions, code of your own; pass it again: "
                    f"load(path, world, reach=from_policy(world, ...)), or from_values(...); got "
                    f"{own.get('reach')!r}"
                )
            raise StoreError(
                f"{path} holds skills whose reach is code of your own, {words['reach']!r}; pass "
                f"it, load(path, reach={words['reach']}()); got {own.get('reach')!r}"
            )
    elif "reach" in own:
        raise StoreError(f"{path} holds skills without a reach; leave out reach=")
    if "network" in own and format != NETWORKS:
        raise StoreError(f"{path} holds skills without networks; leave out network=")
