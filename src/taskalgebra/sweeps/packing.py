"""Results of cells as JSON and arrays, and back: the same types, the same bits.

A result is None, a truth value, a number, a word, an array of numbers or words, or tuples, lists
and mappings of such.  Anything else is refused when it is packed: a file never names code that
would have to be imported to read it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.npz import Arrays

KINDS = "biufU"
TUPLE, DICT, ARRAY, SCALAR, FLOAT = "tuple", "dict", "array", "scalar", "float"


def pack(value: Any, arrays: Arrays) -> Any:
    """A value as JSON has it; its arrays are added to `arrays`, and named there.

    Raises:
        TypeError: a part of it is of another kind.
    """
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {FLOAT: repr(value)}
    if kind is list:
        return [pack(each, arrays) for each in value]
    if kind is tuple:
        return {TUPLE: [pack(each, arrays) for each in value]}
    if kind is dict:
        return {DICT: [[pack(k, arrays), pack(v, arrays)] for k, v in value.items()]}
    if kind is np.ndarray and value.dtype.kind in KINDS:
        return {ARRAY: _added(value, arrays)}
    if isinstance(value, np.generic) and value.dtype.kind in KINDS:
        return {SCALAR: _added(np.asarray(value), arrays)}
    raise TypeError(
        f"{value!r} cannot be kept; a cell returns numbers, words, arrays, and plain tuples, lists "
        f"and mappings of them"
    )


def _added(array: NDArray[Any], arrays: Arrays) -> str:
    name = f"a{len(arrays)}"
    arrays[name] = array
    return name


def unpack(packed: Any, arrays: Arrays) -> Any:
    """What was packed.

    Raises:
        ValueError, KeyError, TypeError: it is not what `pack` makes.
    """
    if isinstance(packed, list):
        return [unpack(each, arrays) for each in packed]
    if not isinstance(packed, dict):
        return packed
    ((kind, value),) = packed.items()
    if kind == TUPLE:
        return tuple(unpack(each, arrays) for each in value)
    if kind == DICT:
        return {unpack(k, arrays): unpack(v, arrays) for k, v in value}
    if kind == ARRAY:
        return arrays[value]
    if kind == SCALAR:
        return arrays[value][()]
    if kind == FLOAT:
        return float(value)
    raise ValueError(f"unknown kind {kind!r}")
