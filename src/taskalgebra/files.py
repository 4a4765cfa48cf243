"""Files that a reader never sees half-written, and reading that never waits.

A file is written under a temporary name beside its own, and renamed in one step.  Its writer holds
a lock on the temporary file while it lives, so that the next writer in a directory can tell which
ones are left over from writers that were killed, and remove them.
"""

from __future__ import annotations

import os
import re
import stat
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # systems without file locks
    fcntl = None

TEMPORARY = re.compile(r"\.taskalgebra-[0-9a-f]{32}\.tmp")
"""The names of temporary files."""
PROBE = 4096
"""Bytes that are written to see whether there is room for any."""


def at(path: str | Path) -> Path:
    """The path that a user gave, where ~ is the home, if it is known."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def replace(path: Path, data: bytes | memoryview) -> None:
    """Write a file, or replace it in one step; OSErrors name it."""
    replace_all({path: data})


def replace_all(
    contents: Mapping[Path, bytes | memoryview], before: Callable[[], None] = lambda: None
) -> None:
    """Write several files: all under temporary names first, then renamed in their order.

    So a full disk leaves all of them as they were.  `before` is called before the first is renamed.
    """
    for directory in dict.fromkeys(path.parent for path in contents):
        clear(directory)
    with ExitStack() as stack:
        written = [stack.enter_context(_temporary(p, data)) for p, data in contents.items()]
        before()
        for temporary, path in zip(written, contents, strict=True):
            with _naming(path):
                os.replace(temporary, path)


def clear(directory: Path) -> None:
    """Remove temporary files that no living writer holds."""
    if fcntl is None:
        return
    with suppress(OSError):
        for name in filter(TEMPORARY.fullmatch, os.listdir(directory)):
            with suppress(OSError), open(directory / name, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                (directory / name).unlink()


@contextmanager
def made(directory: Path, *, keep: bool = True) -> Iterator[None]:
    """Make a directory and its parents; on an error, remove those that were made.

    Without `keep` they are removed in any case, unless something was put into them.
    """
    missing = [p for p in (directory, *directory.parents) if not os.path.lexists(p)]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        keep = False
        raise
    finally:
        for path in [] if keep else missing:
            with suppress(OSError):  # it was not made, or is not empty
                path.rmdir()


def require_writable(directory: Path) -> None:
    """Try to write a file in a directory, or in a new one at its place, before a long work.

    Raises:
        OSError: it cannot be made or written to, or there is no room; nothing is left behind.
    """
    clear(directory)
    with made(directory, keep=False), _temporary(directory / "probe", bytes(PROBE), of=directory):
        pass


def read(path: Path, most: int = 2**28) -> bytes:
    """The contents of a file of at most so many bytes.

    Raises:
        OSError: it cannot be read, is larger, or is no regular file: a pipe is not waited for.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(f"{path} has {size:,} bytes, expected at most {most:,}")
        return file.read(most)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file, open for reading."""
    at_once = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    handle = os.open(path, os.O_RDONLY | at_once | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is not a regular file")
        file = os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise
    with file:
        yield file


@contextmanager
def _temporary(path: Path, data: bytes | memoryview, of: Path | None = None) -> Iterator[Path]:
    """A locked temporary file beside a path, with its data; removed unless it is renamed."""
    with _naming(of or path):
        temporary, handle = _locked(path.parent)
    keep = fcntl is not None  # elsewhere an open file cannot be renamed
    try:
        try:
            with _naming(of or path):
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(handle, rest) :]
                os.fsync(handle)
        finally:
            if not keep:
                os.close(handle)
        yield temporary
    finally:
        if keep:
            os.close(handle)
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _locked(directory: Path) -> tuple[Path, int]:
    """A new temporary file, and its handle with the lock."""
    while True:
        path = directory / f".taskalgebra-{uuid.uuid4().hex}.tmp"
        handle = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
        )
        if fcntl is not None:
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink or fcntl is None:
            return path, handle
        os.close(handle)  # another writer took it for a leftover before it was locked


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Give OSErrors the path that a user knows, not that of a temporary file or none at all."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename == str(path):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None
