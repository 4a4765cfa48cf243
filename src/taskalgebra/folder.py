"""Skills in a directory: a JSON manifest, and one data file named after its contents.

The data file is written first, under a temporary name, and moved into place; then the manifest is
replaced in one step; then the data file of the previous manifest is removed.  Whenever this is
interrupted, the directory holds either the old skills or the new ones.  Writers take turns, and
other files are never touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

from taskalgebra.files import replace

MANIFEST = "manifest.json"
Entries = Mapping[str, Callable[[Any], bool]]


class StoreError(ValueError):
    """Skills that cannot be written, or a directory that does not hold readable ones."""


def format_of(path: Path) -> str | None:
    """The format named by the manifest of a directory, if it has one."""
    try:
        manifest = json.loads((path / MANIFEST).read_text())
    except (OSError, ValueError, RecursionError):
        return None
    found = manifest.get("format") if isinstance(manifest, dict) else None
    return found if isinstance(found, str) else None


def is_names(value: Any) -> bool:
    """Whether a value is a non-empty list of different, non-empty strings."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(name, str) and name for name in value)
        and len(set(value)) == len(value)
    )


@final
class Folder:
    """Directories of one format.

    Args:
        format: the name in their manifests.
        kind: the data file is called `KIND-HASH.SUFFIX`.
        suffix: of the data file.
        entries: the other entries of a manifest, each with a test of its value.
    """

    def __init__(self, format: str, kind: str, suffix: str, entries: Entries) -> None:
        """Define the names of the files."""
        self.format, self.kind, self.suffix = format, kind, suffix
        data = rf"{kind}-[0-9a-f]{{16}}\.{suffix}"
        self._ours = re.compile(rf"{data}|\.{kind}-\w+\.tmp")
        self._entries: Entries = {
            "data": lambda v: isinstance(v, str) and re.fullmatch(data, v) is not None,
            "sha256": lambda v: isinstance(v, str),
            **entries,
        }

    def write(self, path: Path, data: bytes, entries: Mapping[str, Any]) -> None:
        """Write the data and a manifest with these entries."""
        digest = hashlib.sha256(data).hexdigest()
        name = f"{self.kind}-{digest[:16]}.{self.suffix}"
        manifest = {"format": self.format, "data": name, "sha256": digest, **entries}
        try:
            words = (json.dumps(manifest, indent=2) + "\n").encode()
        except (TypeError, ValueError) as error:
            raise StoreError(f"the manifest cannot be written as JSON: {error}") from None
        self.claim(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot create the directory {path}: {error}") from None
        with _only_writer(path):
            before = self.claim(path)
            replace(path / name, data, f"{self.kind}-")
            replace(path / MANIFEST, words, f"{self.kind}-")
            if before is not None and before["data"] != name:
                (path / before["data"]).unlink(missing_ok=True)

    def claim(self, path: Path) -> dict[str, Any] | None:
        """Make sure that a directory may be written to; return the manifest it holds, if any.

        Raises:
            StoreError: it is a file, or holds something else.
        """
        if path.exists() and not path.is_dir():
            raise StoreError(f"{path} is a file; give a directory to save skills in")
        if (path / MANIFEST).exists():
            try:
                return self.manifest(path)
            except StoreError as error:
                raise StoreError(f"{error}; to save here, give a new or empty directory") from None
        # An interrupted first save may have left data files and temporary ones.
        strangers = [f.name for f in path.glob("*") if not self._ours.fullmatch(f.name)]
        if strangers:
            raise StoreError(
                f"{path} holds other files, such as {strangers[0]!r}; give a new or empty directory"
            )
        return None

    def manifest(self, path: Path) -> dict[str, Any]:
        """The manifest of a directory, every entry checked."""
        file = path / MANIFEST
        try:
            manifest = json.loads(file.read_text())
        except OSError:
            raise StoreError(f"no skills at {path}: cannot read {MANIFEST}") from None
        except (ValueError, RecursionError):
            raise StoreError(f"{file} is not valid JSON; this library did not write it") from None
        if not isinstance(manifest, dict) or manifest.get("format") != self.format:
            raise StoreError(f"{file} does not have the format {self.format!r}")
        for key, fits in self._entries.items():
            if key not in manifest or not fits(manifest[key]):
                wrong = f"invalid: {manifest[key]!r}" if key in manifest else "missing"
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
                data = file.read_bytes()
            except OSError as error:
                missing = error
                time.sleep(0.001 * attempt)
                continue
            if hashlib.sha256(data).hexdigest() != manifest["sha256"]:
                raise StoreError(f"{file} is damaged or truncated; save the skills again")
            return manifest, data
        raise StoreError(f"cannot read the data of {path}: {missing}; save the skills again")


@contextmanager
def _only_writer(path: Path) -> Iterator[None]:
    """Hold the lock of a directory where the system has file locks; readers need none."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
