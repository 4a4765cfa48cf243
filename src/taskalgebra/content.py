"""Objects that are what they hold: equal by content, and the same after travelling.

Workers in other processes get their objects by pickle, in memory.  Of an object that `Travels`,

- arrays that were read-only are read-only again, which numpy itself forgets;
- what `functools.cached_property` computed stays behind and is computed anew where it is needed.

`ByContent` is for objects that do not change: two are equal if they are of one class and hold the
same.  Environments and policies are somewhere in an episode, so they only travel.

An object keeps sharing parts with others that were pickled together with it.  Of two that were
pickled apart, each has parts of its own, which are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from taskalgebra.arrays import Array

State = tuple[dict[str, Any], tuple[str, ...]]
"""Fields, and the names of those whose arrays are read-only."""


class Travels:
    """Pickled and copied with read-only arrays, and without what was computed from the rest."""

    __slots__ = ()

    def __getstate__(self) -> State:
        """All fields that were not computed, and the names of those that are read-only."""
        fields = own_fields(self)
        return fields, tuple(name for name, value in fields.items() if _read_only(value))

    def __setstate__(self, state: State) -> None:
        """Take the fields, with arrays read-only as they were."""
        fields, read_only = state
        vars(self).update(fields)
        for name in read_only:
            _protect(fields[name])


class ByContent(Travels):
    """Equality and hash by what an object holds, too."""

    __slots__ = ()

    _held: ClassVar[tuple[str, ...]] = ()
    """The fields that make an object what it is; all that were not computed, if none are named."""

    def _content(self) -> dict[str, Any]:
        """What makes the object what it is, by name."""
        fields = own_fields(self)
        return {name: fields[name] for name in self._held} if self._held else fields

    def __eq__(self, other: object) -> bool:
        """Whether both are of one class and hold the same."""
        if self is other:
            return True
        if not isinstance(other, ByContent) or type(self) is not type(other):
            return NotImplemented
        return same(self._content(), other._content())

    def __hash__(self) -> int:
        """A hash of the class and of the sizes of what it holds, which are quick to read."""
        return hash((type(self), tuple((n, _size(value)) for n, value in self._content().items())))


def own_fields(thing: object) -> dict[str, Any]:
    """The fields of an object that are not cached properties."""
    kind: Any = type(thing)
    computed = _computed(kind)
    return {name: value for name, value in vars(thing).items() if name not in computed}


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal: arrays in type and every number, NaN equal to NaN."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return (
            isinstance(one, np.ndarray)
            and isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        )
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other)
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def number_bytes(array: Array) -> bytes:
    """The numbers of an array for a hash: 0 and −0 are equal, so they are the same bytes."""
    return (array + 0.0).tobytes()


@cache
def _computed(kind: Any) -> frozenset[str]:
    """The names of the cached properties of a class."""
    return frozenset(
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if isinstance(value, cached_property)
    )


def _size(value: Any) -> Any:
    if isinstance(value, str | int | float | bool):
        return None if value != value else value
    if isinstance(value, np.ndarray):
        return value.shape
    return len(value) if isinstance(value, tuple | list | Mapping) else None


def _read_only(value: Any) -> bool:
    """Whether it is a read-only array, or holds only such."""
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    if isinstance(value, tuple | list):
        return any(isinstance(one, np.ndarray) for one in value) and all(
            not one.flags.writeable for one in value if isinstance(one, np.ndarray)
        )
    return False


def _protect(value: Any) -> None:
    for array in value if isinstance(value, tuple | list) else (value,):
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
