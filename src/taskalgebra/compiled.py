"""One way to compile a numerical kernel, and a cache of machine code that cannot get in the way.

Numba chooses the directory of the cache: `NUMBA_CACHE_DIR`, else `__pycache__` beside the module,
else the user's cache.  Its own files have an index that two processes can tear, no digest, and
stay valid when a kernel that is called from another module changes; damaged ones end in
tracebacks or worse.  So each kernel and signature has one file here: a digest, then a pickle.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import njit
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from taskalgebra import files

F = TypeVar("F", bound=Callable[..., object])

DIGEST = hashlib.sha256().digest_size
"""Bytes at the start of a file, over all the others."""


def kernel(function: F) -> F:
    """Compile with numba: cached on disk, without the interpreter lock, no fast-math.

    Fast-math would let the compiler reorder sums and assume that infinities do not occur, and
    exact planning allows neither.  Without a directory to write to, or with a cache that is
    damaged or full, kernels are compiled as if there were none; one line in the log says so.
    """
    compiled: Any = njit(nogil=True)(function)
    if compiled is not function:  # NUMBA_DISABLE_JIT leaves it as it is
        try:
            compiled._cache = _Cache(function)
        except (RuntimeError, OSError):
            _say(
                "kernels are compiled anew at every start, as there is no directory to cache them "
                "in; set NUMBA_CACHE_DIR to one that can be written"
            )
    result: F = compiled
    return result


class _Cache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, with files that are checked before they are used."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        self._cache_file = _Files(Path(self.cache_path), self._impl.filename_base, function)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature, or None where it must be compiled."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a pickle that is intact can still be of code that is gone
            self._cache_file.damaged()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, if that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            reason = getattr(error, "strerror", None) or error
            _say(
                f"the cache of kernels in {self.cache_path} cannot be written ({reason}); what is "
                f"missing there is compiled anew at every start"
            )
            self.disable()


class _Files:
    """The files of one function, one per signature: what numba asks of its own index and data."""

    def __init__(self, directory: Path, name: str, function: Callable[..., object]) -> None:
        self._directory, self._name, self._function = directory, name, function

    def load(self, key: Any) -> Any:
        """What was saved with a key; None where that is missing, out of date or damaged."""
        path = self._path(key)
        if not path.is_file():
            return None
        content = memoryview(path.read_bytes())
        if hashlib.sha256(content[DIGEST:]).digest() != content[:DIGEST]:
            self.damaged()
            return None
        stamp, saved_key, data = pickle.loads(content[DIGEST:])
        return data if (stamp, saved_key) == (self._stamp(), key) else None

    def save(self, key: Any, data: Any) -> None:
        """Write a file in one move, so that no other process sees half of it."""
        content = dumps((self._stamp(), key, data))
        files.replace(self._path(key), hashlib.sha256(content).digest() + content)

    def damaged(self) -> None:
        """Say so; the file is replaced as soon as the kernel is compiled."""
        _say(f"the cache of kernels in {self._directory} is damaged; what is, is compiled anew")

    def flush(self) -> None:
        """Forget everything, which numba does when it compiles a function again."""
        for path in self._directory.glob(f"{self._name}.*.kernel"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        signature, machine, _ = key
        number = hashlib.sha256(repr((signature, machine)).encode()).hexdigest()[:16]
        return self._directory / f"{self._name}.{number}.kernel"

    def _stamp(self) -> str:
        """A digest of all that the machine code is made of, besides its signature."""
        made_of = sorted(set(_ingredients(self._function, set())))
        return hashlib.sha256(repr((numba.__version__, made_of)).encode()).hexdigest()


def _ingredients(function: Any, seen: set[Any]) -> Iterator[tuple[str, str]]:
    """The source of a kernel, the constants that it reads, and those of all that it calls."""
    seen.add(function)
    code = function.__code__
    status = os.stat(code.co_filename)
    yield code.co_filename, _digest(code.co_filename, status.st_mtime_ns, status.st_size)
    for name in code.co_names:
        value = function.__globals__.get(name)
        called = getattr(value, "py_func", None)
        if called is not None:
            if called not in seen:
                yield from _ingredients(called, seen)
        elif isinstance(value, bool | int | float | complex | str | tuple):
            yield name, repr(value)


@cache
def _digest(path: str, modified: int, size: int) -> str:
    """The digest of a source file; when and how large tell `cache` that it has changed."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


_said = False


def _say(sentence: str) -> None:
    """Log one line, once per process: a hundred kernels share the cause."""
    global _said
    if not _said:
        _said = True
        logging.getLogger("taskalgebra").warning(sentence)
