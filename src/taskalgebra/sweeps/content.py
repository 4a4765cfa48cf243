"""What a cell is known by: a digest of its function, its data and the code that it runs.

Equal contents have equal digests, in every process and on every machine.  What has no content that
can be read, such as an open file or an object of an unknown class, is refused.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePath
from typing import Any

import numpy as np

OWN = "taskalgebra"
NUMERICAL = ("numpy", "numba", "torch")
"""Packages whose versions may change the last bit of a result."""
_SOURCES = ".py"


def qualified(thing: Callable[..., Any]) -> str:
    """`module:name` of a function or class of a module.

    Raises:
        ValueError: it is not found there under its name, as lambdas and inner functions are not.
    """
    module = getattr(thing, "__module__", None) or "builtins"
    name = getattr(thing, "__qualname__", None)
    found: Any = sys.modules.get(module)
    for part in (name or "").split("."):
        found = getattr(found, part, None)
    if name is None or found is not thing:
        raise ValueError(
            f"{thing!r} is not a function of a module; write it at the top level of one, and give "
            f"it what it needs as data"
        )
    return f"{module}:{name}"


def digest(value: Any) -> str:
    """The SHA-256 of a value by its contents, in hexadecimal digits.

    >>> digest((1, "a")) == digest((1, "a")), digest((1, "a")) == digest([1, "a"])
    (True, False)

    Raises:
        TypeError: a part of it has no contents that can be read.
    """
    return _digest(value).hex()


def _digest(value: Any) -> bytes:
    found = hashlib.sha256()
    for part in _parts(value):
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.digest()


def _parts(value: Any) -> Iterator[bytes]:
    """The kind of a value, and bytes that tell it from all others of its kind."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        yield from (kind.__name__.encode(), str(value).encode("utf-8", "surrogatepass"))
    elif kind is float:
        yield from (b"float", struct.pack(">d", value))
    elif kind is bytes:
        yield from (b"bytes", value)
    elif kind in (tuple, list):
        yield kind.__name__.encode()
        yield from map(_digest, value)
    elif kind in (set, frozenset):
        yield kind.__name__.encode()
        yield from sorted(map(_digest, value))
    elif isinstance(value, Mapping) and kind is dict:
        yield b"dict"
        yield from sorted(_digest(key) + _digest(item) for key, item in value.items())
    elif isinstance(value, np.ndarray | np.generic) and _plain(value):
        array = np.asarray(value)
        yield from (kind.__name__.encode(), array.dtype.str.encode(), str(array.shape).encode())
        yield array.tobytes()
    elif isinstance(value, PurePath):
        yield from (b"path", os.fspath(value).encode("utf-8", "surrogatepass"))
    elif isinstance(value, Enum):
        yield from (b"enum", *_named(kind), value.name.encode())
    elif isinstance(value, tuple):  # with names
        yield from (b"named tuple", *_named(kind))
        yield from map(_digest, value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from (b"record", *_named(kind))
        for field in dataclasses.fields(value):
            yield field.name.encode()
            yield _digest(getattr(value, field.name))
    elif isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        yield from (b"code", *_named(value))
    else:
        raise TypeError(
            f"{value!r} cannot be told from others by its contents, so that its cell cannot be "
            f"kept; give numbers, words, arrays, tuples, mappings and dataclasses of them"
        )


def _plain(value: np.ndarray[Any, Any] | np.generic) -> bool:
    """Whether an array is its numbers or words, and nothing besides, such as a mask."""
    return value.dtype.kind in "biufcSU" and not isinstance(value, np.ma.MaskedArray)


def _named(thing: Callable[..., Any]) -> tuple[bytes, bytes]:
    """A function or class by its name and its code, perhaps of another package than the cell's."""
    return qualified(thing).encode(), written_code_of(thing).encode()


def written_code_of(thing: Callable[..., Any]) -> str:
    """`code_of` what is written in a file.

    Raises:
        ValueError: it was written in a notebook or at a prompt, where the next one of its name
            cannot be told from it.
    """
    if not is_written(thing):
        raise ValueError(
            f"the code of {thing!r} was written in a notebook or at a prompt, where it cannot be "
            f"known again, so that its cell cannot be kept; write it in a file, and import that"
        )
    return code_of(thing)


def is_written(thing: Callable[..., Any]) -> bool:
    """Whether the code of a function or class is in a file that other processes can read."""
    module = getattr(thing, "__module__", None)
    return module != "__main__" or hasattr(sys.modules[module], "__file__")


def code_of(function: Callable[..., Any]) -> str:
    """A digest of the code that the results of a function depend on.

    That is every source file of this library and of the package of the function, or of its one
    module; and the versions of Python and of the numerical libraries.  So a change of any of these
    runs all cells again.  What other packages hold is not read.
    """
    return _code(getattr(function, "__module__", None) or "builtins")


@cache
def _code(module: str) -> str:
    found: list[Any] = [platform.python_version(), *(_version(package) for package in NUMERICAL)]
    for top in sorted({OWN, module.partition(".")[0]}):
        found += [_sources(path) for path in _roots(top, module)]
    return digest(found)


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


def _roots(top: str, module: str) -> list[Path]:
    """The directories of a package, or the file of a module; nothing where it is built in."""
    package = sys.modules.get(top)
    directories = [Path(each) for each in getattr(package, "__path__", [])]
    file = getattr(package if top == OWN else sys.modules.get(module), "__file__", None)
    return directories or ([Path(file)] if file and file.endswith(_SOURCES) else [])


def _sources(root: Path) -> list[tuple[str, str]]:
    """Names and digests of all sources below a directory, or of one file."""
    paths = sorted(root.rglob(f"*{_SOURCES}")) if root.is_dir() else [root]
    return [
        (path.relative_to(root).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
        for path in paths
    ]
