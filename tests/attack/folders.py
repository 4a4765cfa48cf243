"""Damaged folders: whatever is wrong with saved skills, loading them is a StoreError, or harmless.

Saved tables, planned skills, a user's reach, networks and checkpoints are damaged in every way that
disks, programs and forgers have: flipped bits, cuts, foreign members, archives that inflate to a
thousand times their size, deep or huge JSON, pipes and links in place of files.  A forger signs
again what was changed, so that only the checks behind the digests are left.

Each load must raise `StoreError` or give equal contents (a forger's: any contents), in a few
seconds, and the process must never take `MOST_MEMORY` more than before.  `size` is the number of
damaged folders; two manifests are also flipped bit by bit, all bits at full size.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import taskalgebra as ta
from attack.harness import Findings, apart
from taskalgebra.envs.open_env import OpenEnv
from taskalgebra.folder import StoreError, digest_of
from taskalgebra.learning import checkpoint
from taskalgebra.planning import exact
from taskalgebra.skills import store

SIZES = {"ci": 250, "full": 10_000}
MOST_MEMORY = 300e6
MOST_SECONDS = 20
CI_FLIPS = 300
"""Bits flipped in each of two manifests, unless all are: at full size."""
WORLD = "A..B\n.#..\nC..."


class Still(ta.Reach):
    """A user's own reach."""

    def returns(self, observations: Any) -> np.ndarray:
        return np.zeros((len(np.atleast_1d(observations)), 3, 5))


# What is saved


@dataclass(frozen=True)
class Kind:
    """Something saved: how it is read, and what it must hold."""

    name: str
    folder: Path
    read: Callable[[Path], Any]
    contents: str


def _hash(*arrays: Any) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def _of_skills(path: Path, **own: Any) -> str:
    skills = ta.load(path, **own)
    family, space = skills.family, skills.space
    words = {k: v for k, v in store.manifest(path).items() if k not in ("format", "digest", "size")}
    arrays = [space.r_universal, space.r_empty, *(t.goal_reward for t in skills.tasks.values())]
    if space.finite:
        mdp = space.mdp
        arrays += [mdp.successor, mdp.probability, mdp.step_reward, mdp.starts, mdp.goals]
        arrays += [family[name].q_bar(np.arange(mdp.n_states)) for name in skills.tasks]
    for reach in getattr(family, "reaches", ()):
        arrays += [w.numpy() for w in reach.network.state_dict().values()] + [reach.goals]
    return f"{json.dumps(words, sort_keys=True)} {list(skills.tasks)} {_hash(*arrays)}"


def _of_run(path: Path) -> str:
    run = checkpoint.load(path / "0 M_U.npz", "the world")
    return f"{run.n_steps} {run.n_episodes} {run.protocol} {_hash(run.q, run.seen_goals)}"


def saved(below: Path) -> list[Kind]:
    """One folder of each kind."""
    world = ta.from_text(WORLD)
    space = ta.TaskSpace(world)
    tasks = {"a": ["A"], "ab": ["A", "B"]}
    ta.solve(space, tasks).save(below / "tables")
    ta.solve(ta.FourRooms(slip_probability=0.1)).save(below / "rooms")
    largest, exact.LARGEST_TABLE = exact.LARGEST_TABLE, 1
    try:
        ta.solve(space, tasks).save(below / "planned")
    finally:
        exact.LARGEST_TABLE = largest
    still = Still()
    ta.from_reach(still, space, tasks).save(below / "reach")
    kinds = {name: _of_skills for name in ("tables", "rooms", "planned")}
    kinds["reach"] = lambda path: _of_skills(path, reach=still)
    if (networks := _networks()) is not None:
        networks.save(below / "networks")
        kinds["networks"] = _of_skills
        earlier = Path(__file__).parents[1] / "skills" / "format_1"
        shutil.copytree(earlier / "networks", below / "networks 1")
        kinds["networks 1"] = _of_skills
    from taskalgebra.learning.q_learning import Stop, goal_oriented_q_learning

    run = goal_oriented_q_learning(space.task(["A"]), Stop(steps=200))
    checkpoint.save(below / "checkpoint" / "0 M_U.npz", run, "the world")
    kinds["checkpoint"] = _of_run
    return [Kind(n, below / n, read, read(below / n)) for n, read in kinds.items()]


def _networks() -> ta.Skills | None:
    try:
        import torch
    except ModuleNotFoundError:
        return None
    from deep_worlds import corridor_world, short
    from taskalgebra.learning.deep import training
    from taskalgebra.learning.deep.networks import egocentric

    torch.set_num_threads(1)
    env: OpenEnv = corridor_world()
    family, _ = training.train(env, env.tasks, egocentric, short(), score=lambda _: 0.0)
    return ta.Skills(family, env)


# Damage


def _flip(data: bytes, rng: random.Random, n: int = 1) -> bytes:
    changed = bytearray(data)
    for _ in range(n):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def _other(data: bytes, rng: random.Random) -> bytes:
    """Something quite different."""
    return rng.choice(
        [
            b"",
            b"\x00" * len(data),
            rng.randbytes(len(data)),
            data + rng.randbytes(rng.randrange(1, 300)),
            data[rng.randrange(len(data)) :],
            data * 2,
            b"\xff\xfe" + data,
            b"\xef\xbb\xbf" + data,
            b"[" * 200_000,
            b'{"a":' * 100_000,
            b'{"format": 1' + b"0" * 5000 + b"}",
            b"[" + b"[]," * 1_000_000 + b"[]]",
            b"PK\x05\x06" + b"\x00" * 18,
        ]
    )


def _splice(data: bytes, rng: random.Random) -> bytes:
    """Part of the file overwritten by another part, as by a misplaced block."""
    n = rng.randrange(1, max(2, len(data) // 2))
    start, end = rng.randrange(len(data) - n + 1), rng.randrange(len(data) - n + 1)
    return data[:end] + data[start : start + n] + data[end + n :]


_BYTES = [_flip, lambda d, r: _flip(d, r, r.randrange(2, 40)), _cut, _other, _splice]


def damage_bytes(folder: Path, rng: random.Random) -> str:
    """Change the bytes of a file."""
    file = rng.choice(sorted(folder.iterdir()))
    how = rng.randrange(len(_BYTES))
    file.write_bytes(_BYTES[how](file.read_bytes(), rng))
    return f"bytes of {file.name}, way {how}"


def damage_place(folder: Path, rng: random.Random) -> str:
    """Put something else where a file was."""
    file = rng.choice(sorted(folder.iterdir()))
    data = file.read_bytes()
    file.unlink()
    ways: dict[str, Callable[[], Any]] = {
        "missing": lambda: None,
        "directory": file.mkdir,
        "pipe": lambda: os.mkfifo(file),
        "loop": lambda: file.symlink_to(file.name),
        "dangling link": lambda: file.symlink_to("nowhere"),
        "device": lambda: file.symlink_to("/dev/zero"),
        "terminal": lambda: file.symlink_to("/dev/tty"),
        "renamed": lambda: file.with_name(f"x{file.name}").write_bytes(data),
        "sparse": lambda: (file.write_bytes(data), os.truncate(file, 2**40)),
        "link to itself as directory": lambda: file.symlink_to("."),
    }
    way = rng.choice(list(ways))
    ways[way]()
    return f"{file.name}: {way}"


NUMBERS = [0, -1, 1, 2, 2**31, 2**63, 2**70, 10**400, 1e308, -1e308, 5e-324, 0.5, -0.0]
WORDS = ["", "a", "x" * 10_000, "\u0000", "\ud800", "../..", "TaskAlgebra/Boxman-v0", "é"]


def _anything(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(8 if depth < 3 else 5)
    if kind < 2:
        return rng.choice(NUMBERS)
    if kind < 4:
        return rng.choice(WORDS)
    if kind == 4:
        return rng.choice([None, True, False])
    if kind == 5:
        return [_anything(rng, depth + 1) for _ in range(rng.randrange(5))]
    if kind == 6:
        return {str(rng.choice(WORDS)): _anything(rng, depth + 1) for _ in range(rng.randrange(4))}
    nested: Any = []
    for _ in range(rng.choice([10, 300, 900])):
        nested = [nested]
    return nested


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """All containers and keys below a value."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _sign(folder: Path, manifest: Any) -> None:
    for file in folder.iterdir():
        if file.suffix in (".npz", ".safetensors"):
            data = file.read_bytes()
            manifest |= {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    manifest["digest"] = digest_of(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def forge_words(folder: Path, rng: random.Random) -> str:
    """Change entries of a manifest, and sign it."""
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    told = []
    for container, key in rng.choices(list(_places(manifest)), k=rng.choice([1, 1, 2, 4])):
        what = rng.randrange(5)
        if what == 0 and isinstance(container, dict):
            container.pop(key, None)
        elif what == 1 and isinstance(container, list):
            container.append(_anything(rng))
        elif what == 2 and isinstance(container, dict):
            container[rng.choice([*manifest, "extra"])] = _anything(rng)
        elif isinstance(container, list | dict):
            container[key] = _anything(rng)
        told.append(f"{what} at {key!r:.30}")
    try:
        _sign(folder, manifest)
    except (RecursionError, UnicodeEncodeError):
        return ""
    return f"forged words: {', '.join(told)}"


def _arrays(data: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(data)) as found:
        return dict(found)


def _strange(array: np.ndarray, rng: random.Random) -> np.ndarray | None:
    """An array that does not fit."""
    ways: list[Callable[[], np.ndarray | None]] = [
        lambda: None,
        lambda: array[..., :-1] if array.ndim else array,
        lambda: np.concatenate([array, array]) if array.ndim else array,
        lambda: array.reshape(-1),
        lambda: array[None],
        lambda: np.full(array.shape, np.nan),
        lambda: np.full(array.shape, np.inf),
        lambda: np.full(array.shape, -np.inf),
        lambda: np.full(array.shape, 1e300),
        lambda: np.full(array.shape, 2**62),
        lambda: np.full(array.shape, -1),
        lambda: array.astype(np.float16, casting="unsafe"),
        lambda: array.astype(np.int8, casting="unsafe"),
        lambda: array.astype(bool),
        lambda: array.astype("U3"),
        lambda: array.astype("S3"),
        lambda: np.zeros(0),
        lambda: rng.choice([np.zeros((0, 3)), np.array(1.0), np.zeros((1,) * 30)]),
        lambda: array.astype(complex),
    ]
    with np.errstate(all="ignore"):
        return rng.choice(ways)()


def forge_arrays(folder: Path, rng: random.Random) -> str:
    """Change arrays, and sign the manifest."""
    (file,) = (f for f in folder.iterdir() if f.suffix != ".json")
    safetensors = file.suffix == ".safetensors"
    if safetensors:
        from safetensors.numpy import load, save

        arrays = load(file.read_bytes())
    else:
        arrays = _arrays(file.read_bytes())
    name = rng.choice(sorted(arrays))
    try:
        changed = _strange(arrays.pop(name), rng)
        if changed is not None:
            arrays[name] = changed
        if safetensors:
            file.write_bytes(save({n: np.ascontiguousarray(a) for n, a in arrays.items()}))
        else:
            np.savez_compressed(file, **arrays)
    except Exception:
        return ""
    if folder.name != "checkpoint":
        _sign(folder, json.loads((folder / "manifest.json").read_text()))
    shape = None if changed is None else changed.shape
    kind = None if changed is None else changed.dtype
    return f"forged array {name}: {shape} {kind}"


def forge_archive(folder: Path, rng: random.Random) -> str:
    """Make the data file itself strange: bombs, foreign and twofold members, lies about sizes."""
    (file,) = (f for f in folder.iterdir() if f.suffix != ".json")
    data = file.read_bytes()
    if file.suffix == ".safetensors":
        ways = {
            "header": lambda: struct.pack("<Q", rng.choice([0, 2**63, 2**31, 10**8])) + data[8:],
            "flipped": lambda: _flip(data[:400], rng) + data[400:],
            "no tensors": lambda: struct.pack("<Q", 2) + b"{}",
            "many": lambda: struct.pack("<Q", 8 + 2**20) + b" " * (2**20 + 8),
        }
    else:
        ways = {
            "bomb": lambda: _bomb(data, rng, zipfile.ZIP_DEFLATED),
            "bzip": lambda: _bomb(data, rng, zipfile.ZIP_BZIP2),
            "lzma": lambda: _bomb(data, rng, zipfile.ZIP_LZMA),
            "lie": lambda: _lie(data, rng),
            "flipped": lambda: _flip(data, rng, rng.randrange(1, 4)),
            "spliced": lambda: _splice(data, rng),
            "twice": lambda: _with_member(data, "tasks.npy", b"hello"),
            "foreign": lambda: _with_member(data, "../../x.npy", b"hello"),
            "pickle": lambda: _with_member(data, "goals.npy", _npy(np.array([{}, None], object))),
            "header": lambda: _with_member(data, "tasks.npy", _header(rng)),
        }
    way = rng.choice(list(ways))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file.write_bytes(ways[way]())
    if folder.name != "checkpoint":
        _sign(folder, json.loads((folder / "manifest.json").read_text()))
    return f"forged archive: {way}"


_BOMBS: dict[tuple[str, int], bytes] = {}


def _bomb(data: bytes, rng: random.Random, method: int) -> bytes:
    """An archive with one array of 400 MB of zeros, in 400 kB."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [*archive.namelist(), "unknown.npy"]
    name = rng.choice(names)
    n = 3 * 2**27 if method == zipfile.ZIP_DEFLATED else 2**25
    key = ("", method)
    if key not in _BOMBS:  # compressed once, as it takes seconds
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive, archive.open("x", "w") as member:
            member.write(_npy(np.zeros(0)).replace(b"(0,)", f"({n // 8},)".encode())[:128])
            for _ in range(n // 2**20):
                member.write(bytes(2**20))
        _BOMBS[key] = out.getvalue()
    kept = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(kept, "w") as new:
        for other in archive.namelist():
            if other != name:
                new.writestr(other, archive.read(other))
    return _joined(_BOMBS[key], kept.getvalue(), name)


def _joined(bomb: bytes, rest: bytes, name: str) -> bytes:
    """The member of one archive, renamed, among those of another."""
    with zipfile.ZipFile(io.BytesIO(bomb)) as archive:
        (info,) = archive.infolist()
    start = info.header_offset + 30 + len(info.filename)
    packed = bomb[start : start + info.compress_size]
    out = io.BytesIO(rest)
    with zipfile.ZipFile(out, "a") as archive:
        at = archive.start_dir
        made = zipfile.ZipInfo(name)
        made.compress_type, made.CRC = info.compress_type, info.CRC
        made.compress_size, made.file_size = info.compress_size, info.file_size
        made.header_offset = at
        out.seek(at)
        out.write(made.FileHeader(zip64=False) + packed)
        archive.start_dir = out.tell()
        archive.filelist.append(made)
        archive.NameToInfo[name] = made
        archive._didModify = True
    return out.getvalue()


def _lie(data: bytes, rng: random.Random) -> bytes:
    """Other sizes in the directory of an archive."""
    changed = bytearray(data)
    at = changed.find(b"PK\x01\x02", rng.randrange(len(changed)))
    if at < 0:
        at = changed.find(b"PK\x01\x02")
    field = rng.choice([20, 24, 42])  # compressed size, size, place
    struct.pack_into("<I", changed, at + field, rng.choice([0, 1, 2**31, 2**32 - 1, 2**20]))
    return bytes(changed)


def _npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def _header(rng: random.Random) -> bytes:
    """An array whose header does not fit."""
    shape = rng.choice(["(2**40,)", "(1000000000000,)", "(-1,)", "((((1,),),),)", "(" * 5000, "()"])
    kind = rng.choice(["<f8", "|O", "<U1000000000", "<M8[s]", "V0", "[('a', '<f8')]"])
    words = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", min(len(words), 65535)) + words + bytes(64)


def _with_member(data: bytes, name: str, contents: bytes) -> bytes:
    out = io.BytesIO(data)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, contents)
    return out.getvalue()


HONEST = (damage_bytes, damage_bytes, damage_place)
FORGED = (forge_words, forge_words, forge_arrays, forge_archive)


# The attack


def _tried(kind: Kind, folder: Path, forged: bool) -> str | None:
    """What is wrong with reading a damaged folder, if anything."""
    start = time.monotonic()
    signal.alarm(MOST_SECONDS)
    try:
        found = kind.read(folder)
    except StoreError as error:
        found = None if str(error).strip() else "a StoreError without words"
        return found
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:120]}"
    finally:
        signal.alarm(0)
    if not forged and found != kind.contents:
        return "other contents, silently"
    seconds = time.monotonic() - start
    return f"took {seconds:.0f} s" if seconds > MOST_SECONDS / 2 else None


class TooLongError(BaseException):
    """Nothing that a library takes for an error of its own."""


def _too_long(*_: Any) -> None:
    raise TooLongError(f"more than {MOST_SECONDS} s")


def _memory(of: str) -> float:
    """The memory of this process in bytes: `VmRSS` now, `VmHWM` the most since `_forget`."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(float(line.split()[1]) * 1024 for line in lines if line.startswith(of))
    except OSError:  # systems without /proc know the most since the start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def _forget() -> None:
    """Count the most memory from here on."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _damage_all(size: int, seed: int, pipe: Any) -> None:
    """Damage and load; sent to the parent: what broke, then a line of figures."""
    signal.signal(signal.SIGALRM, _too_long)
    warnings.simplefilter("ignore")
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        below = Path(name)
        kinds = saved(below / "saved")
        _forge_bombs(kinds)
        _forget()
        before, most = _memory("VmRSS"), 0.0
        for _ in range(size):
            kind = rng.choice(kinds)
            forged = rng.random() < 0.5
            damage = rng.choice(FORGED if forged else HONEST)
            if kind.name == "checkpoint" and damage is forge_words:
                damage = forge_arrays
            folder = below / "damaged" / kind.folder.name
            shutil.copytree(kind.folder, folder)
            told = damage(folder, rng)
            if told:
                wrong = _tried(kind, folder, forged or kind.name == "networks 1")
                if wrong:
                    pipe.send(f"{kind.name}, {told}: {wrong}")
                more = _memory("VmHWM") - before
                most = max(most, more)
                if more > MOST_MEMORY:
                    pipe.send(f"{kind.name}, {told}: {more / 1e6:.0f} MB more")
                    _forget()
            shutil.rmtree(folder.parent)
        flips = 0
        for kind in kinds:
            if kind.name in ("rooms", "networks"):
                flips += _flip_all(kind, below / "flipped", rng, size >= SIZES["full"], pipe)
        pipe.send((f"{size:,} folders, {flips:,} flips, at most {most / 1e6:.0f} MB more",))


def _forge_bombs(kinds: list[Kind]) -> None:
    """Compress the bombs before memory is measured."""
    (file,) = next(kind for kind in kinds if kind.name == "tables").folder.glob("*.npz")
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        _bomb(file.read_bytes(), random.Random(0), method)


def _flip_all(kind: Kind, folder: Path, rng: random.Random, all_bits: bool, pipe: Any) -> int:
    """Flip single bits of a manifest."""
    shutil.copytree(kind.folder, folder)
    file = folder / "manifest.json"
    data = file.read_bytes()
    bits = range(8 * len(data))
    chosen = bits if all_bits else rng.sample(bits, min(CI_FLIPS, len(bits)))
    for bit in chosen:
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        wrong = _tried(kind, folder, False)
        if wrong:
            pipe.send(f"{kind.name}, bit {bit} of the manifest: {wrong}")
    shutil.rmtree(folder)
    return len(chosen)


def attack(size: int, seed: int) -> Findings:
    """Damage `size` folders in a process of its own, whose memory is measured."""
    return apart(_damage_all, size, seed)
