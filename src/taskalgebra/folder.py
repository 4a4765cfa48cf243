"""What is kept in a directory: a JSON manifest, and one data file named after its contents.

The data file is written first, under a temporary name, and moved into place; then the manifest is
replaced in one step; then the data file of the manifest before is removed.  Whatever is
interrupted, the directory holds either the old skills or the new ones.  Writers take turns, and
files of others are never touched.
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
    """The format that the manifest of a directory names, if there is one."""
    try:
        manifest = json.loads((path / MANIFEST).read_text())
    except (OSError, ValueError):
        return None
    return manifest.get("format") if isinstance(manifest, dict) else None


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
        format: what their manifests name.
        kind: the data file is called `KIND-HASH.SUFFIX`.
        suffix: of the data file.
        entries: what else a manifest holds, and whether a value is sensible.
    """

    def __init__(self, format: str, kind: str, suffix: str, entries: Entries) -> None:
        """Say what the files are called."""
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
            raise StoreError(f"cannot make the directory {path}: {error}") from None
        with _only_writer(path):
            before = self.claim(path)
            replace(path / name, data, f"{self.kind}-")
            replace(path / MANIFEST, words, f"{self.kind}-")
            if before is not None and before["data"] != name:
                (path / before["data"]).unlink(missing_ok=True)

    def claim(self, path: Path) -> dict[str, Any] | None:
        """Make sure that a directory is ours to write to; return the manifest it holds, if any.

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
        # Data files and temporary ones may be left from a first save that was interrupted.
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
            raise StoreError(
                f"no skills at {path}: {MANIFEST} is missing or not readable"
            ) from None
        except ValueError:
            raise StoreError(
                f"{file} is not valid JSON; it was not written by this library"
            ) from None
        if not isinstance(manifest, dict) or manifest.get("format") != self.format:
            raise StoreError(
                f"{file} is not of the format {self.format!r}; it belongs to something else"
            )
        for key, fits in self._entries.items():
            if key not in manifest or not fits(manifest[key]):
                raise StoreError(
                    f"{file} has {manifest.get(key)!r} for {key!r}, which is missing or not "
                    f"sensible; save the skills again"
                )
        return manifest

    def read(self, path: Path) -> tuple[dict[str, Any], bytes]:
        """The manifest and the data, which is as it was written."""
        manifest, data = self._both(path)
        if hashlib.sha256(data).hexdigest() != manifest["sha256"]:
            raise StoreError(
                f"{path / manifest['data']} is damaged or truncated; save the skills again"
            )
        return manifest, data

    def _both(self, path: Path) -> tuple[dict[str, Any], bytes]:
        """Both files; if someone saves between the two looks, look again."""
        for patience in range(20):
            manifest = self.manifest(path)
            try:
                return manifest, (path / manifest["data"]).read_bytes()
            except OSError as error:
                missing = error
                time.sleep(0.001 * patience)
        raise StoreError(f"cannot read the data of {path}: {missing}; save the skills again")


@contextmanager
def _only_writer(path: Path) -> Iterator[None]:
    """Hold the lock of a directory, where the system has locks; readers need none."""
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
