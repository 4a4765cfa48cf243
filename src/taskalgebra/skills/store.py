"""Skills on disk: numbers in one data file, words in a JSON manifest, never pickle.

Every kind of family has a format, named by its `FORMAT`; `FORMATS` says how each is read.  What all
formats share, the task space and the environment, is packed here.  A file never names code: an
environment is made again only if it is one of the library's own, and networks or agents of the
user's are handed over again when they are loaded.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, final

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from taskalgebra import envs
from taskalgebra.folder import Folder, StoreError, format_of, is_names
from taskalgebra.theory import packing
from taskalgebra.theory.family import Family, ReachFamily, TableFamily
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.reach import Reach
from taskalgebra.theory.tasks import Task, TaskSpace

Arrays = dict[str, NDArray[Any]]
NOT_DESCRIBED = ("task", "render_mode")
"""Arguments of an environment that skills do not depend on."""


@final
@dataclass(frozen=True)
class Format:
    """How families of one kind are kept in a directory."""

    folder: Folder
    encode: Callable[[Arrays], bytes]
    decode: Callable[[bytes], Arrays]
    unpack: Callable[..., Family]  # (words, arrays, space, tasks, **handed over)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_NAMES = {"tasks": is_names, "goals": is_names, "actions": is_names}


def _tables() -> Format:
    from taskalgebra.planning.packing import unpack

    entries = {
        **_NAMES,
        "tables": lambda v: isinstance(v, bool),
        "r_bar_min": _is_number,
        "error_bound": lambda v: v is None or _is_number(v),
    }
    return Format(Folder(TableFamily.FORMAT, "skills", "npz", entries), _to_npz, _from_npz, unpack)


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
    return Format(folder, safetensors.save, safetensors.load, family.unpack)


def _reaches() -> Format:
    def unpack(
        words: Any, arrays: Any, space: TaskSpace, tasks: Mapping[str, Task], reach: Reach
    ) -> Family:
        return ReachFamily.of(space, tasks, reach)

    entries = {**_NAMES, "reach": lambda v: isinstance(v, str)}
    return Format(Folder(ReachFamily.FORMAT, "skills", "npz", entries), _to_npz, _from_npz, unpack)


FORMATS: Mapping[str, Callable[[], Format]] = {
    TableFamily.FORMAT: _tables,
    ReachFamily.FORMAT: _reaches,
    "taskalgebra networks 1": _networks,
}
"""What a manifest may name as its format."""


def torch_module(name: str) -> Any:
    """Import a module that needs torch, when it is needed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("torch", "safetensors"):
            raise
        raise ModuleNotFoundError(
            f'networks need {error.name}: pip install "taskalgebra[deep]"', name=error.name
        ) from None


def write(
    path: Path, family: Family, env: GoalEnv | None, notes: Mapping[str, Any] | None = None
) -> None:
    """Save a family, its task space and how to make its environment.

    Args:
        path: a directory: new, empty, or with skills of the same kind that were saved before.
        family: what to save.
        env: where its agents act; kept only if it is one of the library's own.
        notes: what else to note about a training, such as the command, the seeds and the scores.

    Raises:
        StoreError: it cannot be saved, or not there.
    """
    if family.FORMAT not in FORMATS:
        raise StoreError(
            f"cannot save a {type(family).__name__}: no format is known for it; learners of your "
            f"own return a TableFamily, or a ReachFamily"
        )
    kept = FORMATS[family.FORMAT]()
    shared_words, arrays = packing.pack(family.space, family.tasks)
    try:
        words, own = family.pack()
    except ValueError as error:
        raise StoreError(str(error)) from None
    data = kept.encode({n: np.ascontiguousarray(a) for n, a in {**arrays, **own}.items()})
    described = {"world": describe(env), "training": dict(notes or {})}
    kept.folder.write(path, data, {**shared_words, **words, **described})


def read(
    path: Path, env: GoalEnv | None = None, **handed_over: Any
) -> tuple[Family, GoalEnv | None]:
    """Load what `write` saved, with its environment if there is one.

    Args:
        path: the directory.
        env: the environment, if it is not one of the library's own.
        handed_over: what a file must not name: `network=` or `reach=` of the user's own.

    Raises:
        StoreError: it does not hold readable skills; the message says what is wrong.
    """
    kept = _format(path)
    words, data = kept.folder.read(path)
    _check_handed_over(path, words, handed_over)
    if env is None and words.get("world") is not None:
        env = _made(words["world"])
    try:
        arrays = kept.decode(data)
        space, tasks = packing.unpack(words, arrays, None if env is None else env.space)
        return kept.unpack(words, arrays, space, tasks, **handed_over), env
    except StoreError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path} does not hold consistent skills: {error}") from error
    except Exception as error:
        if type(error).__name__ != "SafetensorError":
            raise
        raise StoreError(f"{path} does not hold consistent skills: {error}") from error


def manifest(path: Path) -> dict[str, Any]:
    """The manifest of a directory with skills, every entry checked."""
    return _format(path).folder.manifest(path)


def _format(path: Path) -> Format:
    """The format that a manifest names; that of tables says what is wrong with any other."""
    return FORMATS.get(format_of(path) or "", _tables)()


def claim(path: Path, family_format: str) -> None:
    """Make sure that skills can be saved in a directory, before they are learned."""
    FORMATS[family_format]().folder.claim(path)


def describe(env: GoalEnv | None) -> dict[str, Any] | None:
    """How to make an environment of the library again: its name and arguments."""
    spec = None if env is None else env.spec
    if spec is None or spec.namespace != envs.NAMESPACE:
        return None
    arguments = {n: v for n, v in spec.kwargs.items() if n not in NOT_DESCRIBED}
    return {"id": spec.id, "arguments": arguments}


def _made(description: Any) -> GoalEnv:
    """One of the library's own environments, from its name and arguments."""
    known = {envs.id_of(name): name for name in envs.NAMES}
    if not isinstance(description, dict) or description.get("id") not in known:
        raise StoreError(f"unknown world {description!r}; give it as load(path, env=...)")
    try:
        return envs.make(known[description["id"]], **description["arguments"])
    except (KeyError, TypeError, ValueError, gym.error.Error) as error:
        raise StoreError(f"the world {description!r} cannot be made: {error}") from None


def _check_handed_over(path: Path, words: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    if words["format"] == ReachFamily.FORMAT:
        reach = given.get("reach")
        if not isinstance(reach, Reach):
            raise StoreError(
                f"{path} holds skills whose way to goals is code of your own, "
                f"{words['reach']!r}; hand it over: load(path, reach=...)"
            )
    elif "reach" in given:
        raise StoreError(f"{path} holds skills that need no reach; leave it out")
    if "network" in given and words["format"] != "taskalgebra networks 1":
        raise StoreError(f"{path} holds no networks; leave network out")


def _to_npz(arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _from_npz(data: bytes) -> Arrays:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return dict(arrays)
