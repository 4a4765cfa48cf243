"""Finished cells on disk: a file of JSON each, and one of arrays where the result has any.

    KEEP/ab/ab12….json      what was run, where, and its result; with a digest of all that
    KEEP/ab/ab12….npz       the arrays of the result; their SHA-256 is in the other file

The name is the key of the cell (`Cell.key`).  Both are written under temporary names and moved, the
arrays first: a cell that can be read is finished.  One that is damaged is said to be, and run
again.
"""

from __future__ import annotations

import hashlib
import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any, final

from taskalgebra import files, npz
from taskalgebra.folder import DIGEST, digest_of
from taskalgebra.progress import LOGGER
from taskalgebra.sweeps.cells import Cell, Done
from taskalgebra.sweeps.content import qualified
from taskalgebra.sweeps.packing import pack, unpack

FORMAT = "taskalgebra cell 1"
CELLS = "cells"
"""The directory of an experiment's cells, beside its results."""
LARGEST = 2**33
"""Bytes of one file: 8 GB."""


@final
class Keep:
    """A directory of finished cells."""

    def __init__(self, directory: str | Path) -> None:
        """Name the directory; it is made when the first cell is finished.

        Raises:
            ValueError: it is a file.
        """
        self.directory = files.at(directory)
        if self.directory.is_file():
            raise ValueError(f"{directory} is a file; give a directory to keep cells in")

    def path(self, key: str) -> Path:
        """The file of a cell."""
        return self.directory / key[:2] / f"{key}.json"

    def clear(self) -> None:
        """Remove all cells, and the directory and its parent where nothing else is in them."""
        for part in self.directory.glob("[0-9a-f]" * 2):
            for path in part.glob("[0-9a-f]" * 64 + ".*"):
                if path.suffix in (".json", ".npz"):
                    path.unlink(missing_ok=True)
            files.clear(part)
            with suppress(OSError):
                part.rmdir()
        for directory in (self.directory, self.directory.parent):
            with suppress(OSError):
                directory.rmdir()

    def get(self, key: str, cell: Cell) -> Done | None:
        """A finished cell; None where it is not there, or damaged, which the log then says."""
        path = self.path(key)
        try:
            return _read(path, key)
        except FileNotFoundError as error:
            if Path(error.filename) == path:
                return None
            why = "its arrays are missing"
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            why = str(error)
        LOGGER.warning("%s is damaged (%s); the cell %s is run again", path, why, cell)
        return None

    def put(self, key: str, cell: Cell, done: Done) -> None:
        """Keep a finished cell.

        Raises:
            OSError: there is no room, or no right to write; it names the file.
            TypeError: the result is not of a kind that can be kept.
        """
        arrays: npz.Arrays = {}
        entries: dict[str, Any] = {
            "format": FORMAT,
            "key": key,
            "function": qualified(cell.function),
            "cell": cell.name,
            "where": done.where,
            "seconds": done.seconds,
            "cpu_seconds": done.cpu_seconds,
        }
        try:
            entries["value"] = pack(done.value, arrays)
        except TypeError as error:
            raise TypeError(f"the cell {cell}: {error}") from None
        path = self.path(key)
        contents = {}
        if arrays:
            data = npz.write(arrays)
            contents[path.with_suffix(".npz")] = data
            entries["sha256"] = hashlib.sha256(data).hexdigest()
        entries[DIGEST] = digest_of(entries)
        contents[path] = (json.dumps(entries, allow_nan=False) + "\n").encode()
        with files.made(path.parent):
            files.replace_all(contents)


def _read(path: Path, key: str) -> Done:
    entries = json.loads(files.read(path, LARGEST))
    if not isinstance(entries, dict) or entries.get(DIGEST) != digest_of(entries):
        raise ValueError("its digest does not fit it")
    if (entries["format"], entries["key"]) != (FORMAT, key):
        raise ValueError("it is another cell")
    arrays: npz.Arrays = {}
    if "sha256" in entries:
        data = files.read(path.with_suffix(".npz"), LARGEST)
        if hashlib.sha256(data).hexdigest() != entries["sha256"]:
            raise ValueError("the digest of its arrays does not fit them")
        arrays = npz.read(io.BytesIO(data))
    value = unpack(entries["value"], arrays)
    return Done(value, entries["seconds"], entries["cpu_seconds"], entries["where"])
