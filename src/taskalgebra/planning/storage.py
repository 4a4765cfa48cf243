"""Returns to goals in a directory: one file per block of goals, memory-mapped.

`prepare` writes what the searches need: the graph of a deterministic world, and what steps cost.
`plan_block` searches from the goals of one block and writes its file.  It needs the directory and
the number of the block only, so that blocks can be made by any process that sees the directory, in
any order; `plan_numbered` takes both as one argument, as cells of sweeps do.  `stored_returns`
plans the blocks that are missing and maps all of them.

Every file is written under a temporary name and moved.  Beside a block lies its record, with its
size and SHA-256, which is written last: a block without an intact record is not there.  A damaged
block is named in the log and planned again.  The manifest holds the digest of the world, and a
directory of another world is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra import files
from taskalgebra.folder import DIGEST, StoreError, digest_of
from taskalgebra.planning.to_goals import ReturnToGoal, cycle_error
from taskalgebra.progress import LOGGER
from taskalgebra.validation import count, instance
from taskalgebra.worlds import graph
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.held import Block, Held
from taskalgebra.worlds.returns import Searches, keep_returns, pricing
from taskalgebra.worlds.search import Costs, n_blocks, width_of

FORMAT = "taskalgebra returns 2"
MANIFEST = "returns.json"
LARGEST_RECORD = 2**16
"""Bytes of a manifest or a record."""
TYPES = ("uint8", "uint16", "uint32", "float64")
_CHUNK = 2**22


def prepare(directory: str | Path, mdp: FiniteMDP) -> None:
    """Write what planning the blocks of a deterministic world needs, unless it is there, intact.

    Raises:
        PositiveCycleError: some cycle has a positive sum of rewards.
        StoreError: the directory belongs to another world, or cannot be written to.
    """
    place = files.at(directory)
    if not instance(mdp, FiniteMDP, "the world").deterministic:
        raise ValueError("the world has random outcomes; only deterministic worlds are planned so")
    if os.path.exists(place) and not place.is_dir():
        raise StoreError(f"{place} is a file; give a directory to keep returns in")
    world = _digest(mdp)
    if os.path.lexists(place / MANIFEST):
        kept = _manifest(place)
        if kept["world"] != world:
            raise StoreError(
                f"{place} holds returns of another world; give a new or empty directory"
            )
        if all(_undamaged(place, name, about) for name, about in kept["arrays"].items()):
            return
    elif strangers := [name for name in _names(place) if not _OURS.fullmatch(name)]:
        raise StoreError(
            f"{place} holds other files, such as {strangers[0]!r}; give a new or empty directory"
        )
    step, costs, cycle = pricing(mdp, mdp.step_reward)
    if cycle:
        raise cycle_error(mdp, cycle)
    arrays: dict[str, NDArray[Any]] = {"next_state": mdp.next_state, "goals": mdp.goals}
    if costs is not None:
        arrays.update(costs._asdict())
    words: dict[str, Any] = {"format": FORMAT, "world": world, "step": step}
    words["shape"] = [mdp.n_states, mdp.n_goals]
    words["width"] = width_of(mdp.n_goals, costs is None)
    words["blocks"] = n_blocks(mdp.n_goals, costs is None)
    words["arrays"] = {}
    with _writing(place):
        for name, array in arrays.items():
            data = _npy(array)
            files.replace(place / f"{name}.npy", data)
            words["arrays"][name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        _write_words(place / MANIFEST, words)


def plan_block(directory: str | Path, number: int) -> str:
    """Search from the goals of one block of a directory that `prepare` made, and write the block.

    Returns the SHA-256 of the block: the same bytes, whoever plans it.

    Raises:
        StoreError: the directory is not prepared or damaged, or there is no room.
    """
    place = files.at(directory)
    words = _manifest(place)
    number = count(number, "the number of the block", least=0, most=words["blocks"] - 1)
    hashes: list[str] = []

    def write(number: int, block: Block) -> None:
        hashes.append(_write_block(place, words["world"], number, block))

    _searches(str(place), words["world"]).blocks([number], write)
    return hashes[0]


def plan_numbered(block: tuple[str | Path, int]) -> str:
    """`plan_block` of a directory and a number in one argument: the function of a sweep's cells."""
    return plan_block(*block)


def missing_blocks(directory: str | Path) -> list[int]:
    """The numbers of blocks that are missing or damaged; damaged ones are named in the log."""
    place = files.at(directory)
    words = _manifest(place)
    return [k for k in range(words["blocks"]) if _intact(place, words, k) is None]


def stored_returns(mdp: FiniteMDP, directory: str | Path) -> ReturnToGoal:
    """The returns of a world, mapped from a directory; blocks that are missing are planned first.

    Raises:
        PositiveCycleError: some cycle has a positive sum of rewards.
        StoreError: the directory belongs to another world or is damaged, or there is no room; what
            is complete is kept.
    """
    place = files.at(directory)
    prepare(place, mdp)
    words = _manifest(place)
    world, numbers = words["world"], range(words["blocks"])
    blocks = {k: _intact(place, words, k) for k in numbers}
    missing = [k for k in numbers if blocks[k] is None]
    if missing:
        step, costs, _ = pricing(mdp, mdp.step_reward)

        def write(number: int, block: Block) -> None:
            _write_block(place, world, number, block)
            blocks[number] = _mapped(place, words, number, _record(place, number))

        Searches.of(mdp.predecessors, mdp.goals, step, costs).blocks(missing, write)
    mapped = [block for k in numbers if (block := blocks[k]) is not None]
    held = Held(tuple(mapped), words["step"])
    keep_returns(mdp, held)
    return ReturnToGoal(mdp, mdp.step_reward, held)


_OURS = re.compile(
    r"(next_state|goals|cost|potential)\.npy|block-\d{6,}\.(bin|json)|" + files.TEMPORARY.pattern
)
"""The names of files that may be there before the manifest is."""


def _write_block(place: Path, world: str, number: int, block: Block) -> str:
    data = _bytes(block)
    sha256 = hashlib.sha256(data).hexdigest()
    words = {
        "format": FORMAT,
        "world": world,
        "block": number,
        "type": str(block.dtype),
        "shape": list(block.shape),
        "size": len(data),
        "sha256": sha256,
    }
    with _writing(place):
        files.replace(place / _file(number), data)
        _write_words(place / _record_file(number), words)
    return sha256


@lru_cache(maxsize=1)
def _searches(directory: str, world: str) -> Searches:
    """What `prepare` wrote, kept for the next block of the same world."""
    place = Path(directory)
    words = _manifest(place)
    arrays = {name: _array(place, name, about) for name, about in words["arrays"].items()}
    costs = Costs(arrays["cost"], arrays["potential"]) if "cost" in arrays else None
    reversed_graph = graph.predecessors(arrays["next_state"], with_edges=costs is not None)
    return Searches.of(reversed_graph, arrays["goals"], words["step"], costs)


def _array(place: Path, name: str, about: Any) -> NDArray[Any]:
    file = place / f"{name}.npy"
    try:
        data = files.read(file, about["size"])
    except OSError as error:
        raise StoreError(f"cannot read {file}: {error.strerror or error}") from None
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        raise StoreError(f"{file} is damaged; call prepare(directory, world), which writes it anew")
    array: NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
    return array


def _undamaged(place: Path, name: str, about: Any) -> bool:
    """Whether an array that `prepare` wrote is as it was; if not, the log says so."""
    file = place / f"{name}.npy"
    try:
        if _hash(file) == about["sha256"]:
            return True
        why = "its hash does not fit it"
    except OSError as error:
        why = error.strerror or str(error)
    LOGGER.warning("%s is damaged (%s); it is written anew", file, why)
    return False


def _hash(file: Path) -> str:
    found = hashlib.sha256()
    with files.opened(file) as opened:
        while chunk := opened.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


def _intact(place: Path, manifest: dict[str, Any], number: int) -> Block | None:
    """A block, mapped, if it is complete and undamaged."""
    file = place / _file(number)
    if not os.path.lexists(place / _record_file(number)):
        return None
    try:
        words = _record(place, number)
        if (words["world"], words["block"]) != (manifest["world"], number):
            raise StoreError("its record is of another block or world")
        if os.path.getsize(file) != words["size"]:
            raise StoreError("it has another size")
        if _hash(file) != words["sha256"]:
            raise StoreError("its hash does not fit it")
        return _mapped(place, manifest, number, words)
    except (StoreError, OSError, KeyError, TypeError, ValueError) as error:
        LOGGER.warning("%s is damaged (%s); it is planned again", file, error)
        return None


def _mapped(place: Path, manifest: dict[str, Any], number: int, words: dict[str, Any]) -> Block:
    if words["type"] not in TYPES:
        raise StoreError(f"unknown type {words['type']!r}")
    n_states, n_goals = manifest["shape"]
    first = number * manifest["width"]
    shape = n_states, min(manifest["width"], n_goals - first)
    if tuple(words["shape"]) != shape:
        raise StoreError(f"its shape is {words['shape']}, expected {list(shape)}")
    return np.asarray(np.memmap(place / _file(number), words["type"], "r", shape=shape))


def _manifest(place: Path) -> dict[str, Any]:
    return _words(place / MANIFEST, f"{place} holds no returns; call prepare(directory, world)")


def _record(place: Path, number: int) -> dict[str, Any]:
    return _words(place / _record_file(number), f"block {number} has no record")


def _words(file: Path, missing: str) -> dict[str, Any]:
    try:
        words = json.loads(files.read(file, LARGEST_RECORD))
    except FileNotFoundError:
        raise StoreError(missing) from None
    except (OSError, ValueError, RecursionError) as error:
        why = f"{file} cannot be read: {error}; remove it, and prepare again"
        raise StoreError(why) from None
    if not isinstance(words, dict) or words.get(DIGEST) != digest_of(words):
        raise StoreError(
            f"{file} is damaged: its digest does not fit it; remove it, and prepare again"
        )
    if words.get("format") != FORMAT:
        raise StoreError(f"{file} has the format {words.get('format')!r}, expected {FORMAT!r}")
    return words


def _write_words(file: Path, words: dict[str, Any]) -> None:
    text = json.dumps({**words, DIGEST: digest_of(words)}, indent=2) + "\n"
    files.replace(file, text.encode())


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    """Make the directory, and turn what the system says into a StoreError that names the file."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {error.filename or place}: {error.strerror or error}; blocks that are "
            f"complete are kept, and the same call goes on from there"
        ) from error


def _digest(mdp: FiniteMDP) -> str:
    found = hashlib.sha256()
    for array in (mdp.next_state, mdp.step_reward, mdp.goals):
        found.update(f"{array.dtype} {array.shape}".encode())
        found.update(_bytes(array))
    return found.hexdigest()


def _bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of an array, without a copy if it is contiguous."""
    return np.ascontiguousarray(array).data.cast("B")


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _names(place: Path) -> list[str]:
    return sorted(os.listdir(place)) if place.is_dir() else []


def _file(number: int) -> str:
    return f"block-{number:06d}.bin"


def _record_file(number: int) -> str:
    return f"block-{number:06d}.json"
