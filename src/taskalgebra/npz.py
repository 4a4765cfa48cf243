"""Arrays in an npz file, read with care: by name, without pickle, and within sane sizes.

An archive may claim, or inflate to, a thousand times its own size.  So sizes are checked in its
directory before anything is inflated, and an array takes no more than its header says.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
ALWAYS, PER_BYTE = 2**25, 64
"""Bytes that any archive may hold, and how many more for each of its own; ours have 10 to 30."""
_KINDS = "biufU"
_CHUNK = 2**20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def write(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """An archive of these arrays; compressed, unless `read` would take it for a bomb."""
    data = _archive(np.savez_compressed, arrays)
    if sum(array.nbytes for array in arrays.values()) <= _most(len(data)) // 2:
        return data
    return _archive(np.savez, arrays)


def _archive(save: Callable[..., None], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    buffer = io.BytesIO()
    save(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def read(file: BinaryIO, known: Callable[[str], bool] = lambda name: True) -> Arrays:
    """The arrays with known names; others are left alone.

    Raises:
        ValueError: it is not an archive of arrays, is damaged, or is larger than can be right.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            return _arrays(archive, known, _most(file.seek(0, io.SEEK_END)))
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        KeyError,
        NotImplementedError,
        OSError,
        OverflowError,
        RecursionError,
        RuntimeError,
        SyntaxError,
        TypeError,
    ) as error:
        raise ValueError(f"not an archive of arrays: {error or type(error).__name__}") from None


def _most(size: int) -> int:
    return ALWAYS + PER_BYTE * size


def _arrays(archive: zipfile.ZipFile, known: Callable[[str], bool], most: int) -> Arrays:
    members = {
        member.filename.removesuffix(".npy"): member
        for member in archive.infolist()
        if member.filename.endswith(".npy") and known(member.filename.removesuffix(".npy"))
    }
    size = sum(member.file_size for member in members.values())
    if size > most:
        raise ValueError(f"its arrays take {size:,} bytes, more than can be right")
    return {name: _array(archive, name, member) for name, member in members.items()}


def _array(archive: zipfile.ZipFile, name: str, member: zipfile.ZipInfo) -> NDArray[Any]:
    if member.compress_type not in _METHODS:
        raise ValueError(f"{name!r} is compressed in an unknown way")
    with archive.open(member) as file:
        versions = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        version = npy.read_magic(file)
        if version not in versions:
            raise ValueError(f"{name!r} has the unknown format {version}")
        shape, fortran, dtype = versions[version](file)
        if dtype.kind not in _KINDS:
            raise ValueError(f"{name!r} holds {dtype}, expected numbers or words")
        n, left = math.prod(shape), member.file_size - file.tell()
        if min(shape, default=0) < 0 or n * dtype.itemsize != left:
            raise ValueError(f"{name!r} has {left:,} bytes, which do not fit the shape {shape}")
        array = np.empty(n, dtype)
        rest = memoryview(array.view(np.uint8))  # type: ignore[arg-type]
        while rest:
            chunk = file.read(min(len(rest), _CHUNK))
            if not chunk:
                raise ValueError(f"{name!r} is truncated")
            rest[: len(chunk)] = chunk
            rest = rest[len(chunk) :]
        if file.read(1):  # reading to the end compares the checksum
            raise ValueError(f"{name!r} is longer than its header says")
    return array.reshape(shape, order="F" if fortran else "C")
