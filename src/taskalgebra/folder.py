"""Skills in a directory: a JSON manifest, and one data file named after its contents.

Both are written under temporary names; then the data file is moved into place, and then the
manifest; then the data file of the previous manifest is removed.  Whenever this is interrupted,
the directory holds either the old skills or the new ones.  Writers take turns, the next one removes
what a killed one left, and other files are never touched.

The manifest holds the size and the SHA-256 of the data file, and a digest of its own other entries,
as `digest_of` finds it: no file with a flipped bit is taken for another.  Manifests of format 1,
which versions 0.1 and 0.2 wrote, have neither size nor digest, and can be read as well.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import reprlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, final

from taskalgebra import files

MANIFEST = "manifest.json"
DIGEST = "digest"
LARGEST_MANIFEST = 2**22
"""Bytes: 4 MB, some 200,000 names of goals."""
MOST_LISTS = 100_000
"""Lists and mappings of a manifest; millions take seconds to read."""
LARGEST_DATA = 2**33
"""Bytes: 8 GB."""
Entries = Mapping[str, Callable[[Any], bool]]
_FORMAT = re.compile(r"(taskalgebra \w+) ([1-9]\d{0,5})")
_CHUNK = 2**20


class StoreError(ValueError):
    """Skills that cannot be written, or a directory that does not hold readable ones."""


def is_names(value: Any) -> bool:
    """Whether a value is a non-empty list of different, non-empty strings."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(name, str) and name for name in value)
        and len(set(value)) == len(value)
    )


def digest_of(manifest: Mapping[str, Any]) -> str:
    """The SHA-256 of all entries but the digest, as JSON with sorted keys and without spaces."""
    entries = {key: value for key, value in manifest.items() if key != DIGEST}
    return hashlib.sha256(
        json.dumps(entries, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a directory, whose digest is checked; its entries are not.

    Raises:
        StoreError: there is none, or it is damaged; the message says what is there.
    """
    file = path / MANIFEST
    try:
        words = files.read(file, LARGEST_MANIFEST)
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        raise StoreError(f"no skills at {path}: {_what_is_there(path, error)}") from None
    try:
        if _n_lists(words) > MOST_LISTS:
            raise ValueError
        manifest = json.loads(
            words.decode(),
            object_pairs_hook=_distinct,
            parse_constant=_refused,
            parse_float=_finite,
        )
        signed = isinstance(manifest, dict) and DIGEST in manifest
        intact = not signed or manifest[DIGEST] == digest_of(manifest)
    except (ValueError, RecursionError, MemoryError):
        raise StoreError(f"{file} is not valid JSON; this library did not write it") from None
    if not intact:
        raise StoreError(f"{file} is damaged: its digest does not fit it; save the skills again")
    return manifest if isinstance(manifest, dict) else {}


def _n_lists(words: bytes) -> int:
    """Lists and mappings, and brackets in names."""
    return words.count(b"[") + words.count(b"{")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    if not math.isfinite(float(number)):
        raise ValueError(f"{number} is too large")
    return float(number)


def _what_is_there(path: Path, error: Exception) -> str:
    """Why a manifest cannot be read, and the way out."""
    unreadable = f"cannot read {MANIFEST}: {getattr(error, 'strerror', None) or error}"
    if not isinstance(error, FileNotFoundError):
        return unreadable
    try:
        names = sorted(os.listdir(path))
    except FileNotFoundError:
        return "there is no such directory"
    except OSError:
        return unreadable
    if not names:
        return f"the directory is empty, without a {MANIFEST}; save skills there first"
    below = [name for name in names if os.path.isfile(path / name / MANIFEST)]
    if below:
        return f"it has no {MANIFEST}, but the directory {below[0]!r} in it has; load that one"
    if all(Path(name).suffix in (".npz", ".safetensors", ".tmp") for name in names):
        return (
            f"it has no {MANIFEST}, but checkpoints, such as {names[-1]!r}; learn with this folder "
            f"to resume, then save the skills elsewhere"
        )
    return f"it has no {MANIFEST}, but other files, such as {names[0]!r}"


@final
class Folder:
    """Directories of one format.

    Args:
        format: the name in their manifests, which ends with the number of its version.
        kind: the data file is called `KIND-HASH.SUFFIX`.
        suffix: of the data file.
        entries: the other entries of a manifest, each with a test of its value.
    """

    def __init__(self, format: str, kind: str, suffix: str, entries: Entries) -> None:
        """Define the names of the files."""
        self.format, self.kind, self.suffix = format, kind, suffix
        data = rf"{kind}-[0-9a-f]{{16}}\.{suffix}"
        self._ours = re.compile(rf"{data}|\.{kind}-\w+\.tmp|{files.TEMPORARY.pattern}")
        self._entries: Entries = {
            "data": lambda v: isinstance(v, str) and re.fullmatch(data, v) is not None,
            "sha256": lambda v: isinstance(v, str),
            **entries,
        }

    def write(self, path: Path, data: bytes, entries: Mapping[str, Any]) -> None:
        """Write the data and a manifest with these entries.

        Raises:
            StoreError: that is impossible, here or at all; what was there is still there.
        """
        if len(data) > LARGEST_DATA:
            raise StoreError(f"{len(data):,} bytes cannot be saved, only {LARGEST_DATA:,}")
        sha256 = hashlib.sha256(data).hexdigest()
        name = f"{self.kind}-{sha256[:16]}.{self.suffix}"
        about = {"format": self.format, "data": name, "size": len(data), "sha256": sha256}
        words = _encoded({**about, **entries})
        self.claim(path)
        try:
            with files.made(path), _only_writer(path) as alone:
                before = self.claim(path)
                try:
                    files.replace_all({path / name: data, path / MANIFEST: words})
                finally:
                    old = [] if before is None else [before["data"]]
                    self._clear(path, os.listdir(path) if alone else old)
        except OSError as error:
            why = error.strerror or str(error)
            if error.filename in map(str, (path, *path.parents)) and not os.path.isdir(path):
                raise StoreError(f"cannot create the directory {path}: {why}") from error
            raise StoreError(
                f"cannot write {error.filename or path}: {why}; what was there is unchanged"
            ) from error

    def _clear(self, path: Path, names: Sequence[str]) -> None:
        """Remove those of our files that the manifest does not name: their writers are done."""
        with suppress(OSError, StoreError):
            held = self.claim(path)
            keep = None if held is None else held["data"]
            for name in filter(self._ours.fullmatch, names):
                if name != keep and not files.TEMPORARY.fullmatch(name):
                    (path / name).unlink(missing_ok=True)

    def claim(self, path: Path) -> dict[str, Any] | None:
        """Make sure that a directory may be written to; return the manifest it holds, if any.

        Raises:
            StoreError: it is a file, or holds something else.
        """
        if os.path.exists(path) and not os.path.isdir(path):
            raise StoreError(f"{path} is a file; give a directory to save skills in")
        if os.path.lexists(path / MANIFEST):
            try:
                return self.manifest(path)
            except StoreError as error:
                raise StoreError(f"{error}; to save here, give a new or empty directory") from None
        # An interrupted first save may have left data files and temporary ones.
        strangers = [name for name in _names(path) if not self._ours.fullmatch(name)]
        if strangers:
            raise StoreError(
                f"{path} holds other files, such as {strangers[0]!r}; give a new or empty directory"
            )
        return None

    def manifest(self, path: Path) -> dict[str, Any]:
        """The manifest of a directory, every entry checked."""
        return self.checked(path, read_manifest(path))

    def checked(self, path: Path, manifest: dict[str, Any]) -> dict[str, Any]:
        """The manifest itself, if it has this format and all its entries."""
        file, found = path / MANIFEST, manifest.get("format")
        own = _FORMAT.fullmatch(self.format)
        given = _FORMAT.fullmatch(found) if isinstance(found, str) else None
        assert own is not None
        if given is None or given[1] != own[1] or int(given[2]) > int(own[2]):
            newer = given is not None and int(given[2]) > int(own[2])
            way_out = "; a newer version of taskalgebra wrote it: upgrade" if newer else ""
            raise StoreError(
                f"{file} does not have the format {self.format!r}, but "
                f"{reprlib.repr(found) if found is not None else 'none'}{way_out}"
            )
        for key, fits in {**self._entries, **(_SIGNED if given[2] != "1" else {})}.items():
            if key not in manifest or not fits(manifest[key]):
                wrong = f"invalid: {reprlib.repr(manifest[key])}" if key in manifest else "missing"
                raise StoreError(f"{file}: the entry {key!r} is {wrong}; save the skills again")
        return manifest

    def read(self, path: Path) -> tuple[dict[str, Any], bytes]:
        """The manifest and the data, whose hash is checked.

        A writer may replace both between the two reads, so a missing data file is tried again.
        """
        for attempt in range(20):
            manifest = self.manifest(path)
            file = path / manifest["data"]
            try:
                data = _intact(file, manifest.get("size"), manifest["sha256"])
            except FileNotFoundError as error:
                missing: OSError = error
                time.sleep(0.001 * attempt)
                continue
            except OSError as error:
                missing = error
                break
            if data is None:
                raise StoreError(f"{file} is damaged or truncated; save the skills again")
            return manifest, data
        why = missing.strerror or missing
        raise StoreError(f"cannot read the data of {path}: {why}; save the skills again")


def _names(path: Path) -> list[str]:
    """What is in a directory, which may be missing."""
    try:
        return os.listdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot write to {path}: {error}") from None


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_SIGNED: Entries = {"size": _is_size, DIGEST: lambda v: isinstance(v, str)}
"""Entries that format 1 does not have."""


def _encoded(manifest: dict[str, Any]) -> bytes:
    """A manifest with its digest as text."""
    try:
        # What JSON changes, such as tuples, is changed before the digest is taken.
        entries = json.loads(json.dumps(manifest, allow_nan=False))
        words = json.dumps({**entries, DIGEST: digest_of(entries)}, indent=2) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"the manifest cannot be written as JSON: {error}") from None
    data = words.encode()
    if len(data) > LARGEST_MANIFEST or _n_lists(data) > MOST_LISTS:
        raise StoreError(
            f"names, settings and notes take {len(data):,} bytes and {_n_lists(data):,} lists of a "
            f"manifest, which has at most {LARGEST_MANIFEST:,} and {MOST_LISTS:,}; shorten them"
        )
    return data


def _intact(path: Path, size: int | None, sha256: str) -> bytes | None:
    """The contents of a file, or None if they are others than these; only good ones are kept."""
    with files.opened(path) as file:
        found_size = os.fstat(file.fileno()).st_size
        if found_size > LARGEST_DATA or size not in (None, found_size):
            return None
        found = hashlib.sha256()
        while chunk := file.read(_CHUNK):
            found.update(chunk)
        if found.hexdigest() != sha256:
            return None
        file.seek(0)
        return file.read()


@contextmanager
def _only_writer(path: Path) -> Iterator[bool]:
    """Hold the lock of a directory, where the system has file locks; readers need none.

    Yields whether it is held.
    """
    if files.fcntl is None:
        yield False
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        try:
            files.fcntl.flock(handle, files.fcntl.LOCK_EX)
            held = True
        except OSError:  # some file systems have no locks
            held = False
        yield held
    finally:
        os.close(handle)
