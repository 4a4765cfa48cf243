"""Checks of arguments, made once, where they enter the library.

Every message says what was given, what was expected and, where it helps, what to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from inspect import signature
from math import inf, nan
from operator import index
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, LongArray
from taskalgebra.limits import MOST, MOST_SEED

T = TypeVar("T")


def finite(values: ArrayLike, name: str, shape: tuple[int, ...]) -> Array:
    """A float64 array of this shape without NaN or infinity, or a ValueError that says where."""
    array = np.array(numbers(values, name))
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    finite_here = np.isfinite(array)
    if not finite_here.all():
        at = np.unravel_index(int(np.argmin(finite_here)), shape)
        where = [int(i) for i in at] if shape else ""
        raise ValueError(f"{name}{where} is {array[at]}, expected a finite number")
    return array


def numbers(values: ArrayLike, name: str) -> Array:
    """A float64 array of real numbers: text, truth values and complex numbers are none."""
    try:
        given = np.asarray(values)
        others = given.dtype.kind not in "iufO" or (
            given.dtype.kind == "O"
            and any(isinstance(one, str | bytes | bool | complex) for one in given.flat)
        )
        array = None if others else np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise ValueError(f"{name} must hold numbers, got {_brief(values)}")
    return array


def number(
    value: object, name: str, what: str = "a finite number", *, least: float = -inf
) -> float:
    """One finite number of at least the least; `what` says in a message what was expected."""
    try:
        found = float(finite(value, name, ()))  # type: ignore[arg-type]
    except ValueError:
        found = nan
    if not found >= least:
        raise ValueError(f"{name} is {_brief(value)}, expected {what}")
    return found


def share(value: object, name: str) -> float:
    """A number from 0 to 1, such as a probability."""
    what = "a number in [0, 1]"
    found = number(value, name, what, least=0.0)
    if found > 1.0:
        raise ValueError(f"{name} is {value!r}, expected {what}")
    return found


def per_goal(reward: ArrayLike, name: str, n_goals: int) -> Array:
    """[G], read-only: one finite number for every goal, given once or for each."""
    given = np.asarray(reward)
    if given.ndim == 0:
        given = np.broadcast_to(given, (n_goals,))
    rewards = finite(given, name, (n_goals,))
    rewards.setflags(write=False)
    return rewards


def flag(value: object, name: str) -> bool:
    """True or False; a word such as "no" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {value!r}, expected True or False")
    return bool(value)


def takes(function: Callable[..., Any], n: int) -> bool:
    """Whether a function can be called with n arguments; compiled code may not say."""
    try:
        signature(function).bind(*range(n))
    except ValueError:
        return True
    except TypeError:
        return False
    return True


def unique_names(
    given: Sequence[str] | None, what: str, prefix: str, count: int
) -> tuple[str, ...]:
    """`count` distinct, non-empty names; by default the prefix and a number."""
    if isinstance(given, str | bytes) or not (given is None or isinstance(given, Iterable)):
        raise TypeError(f"the {what} names are {given!r}, expected a list of names")
    names = tuple(given) if given is not None else tuple(f"{prefix}{i}" for i in range(count))
    if len(names) != count:
        raise ValueError(f"{len(names)} {what} names for {count} {what}s: {names}")
    for name in names:
        if not isinstance(name, str) or not name:
            a = "an" if what[0] in "aeiou" else "a"
            raise ValueError(f"{a} {what} name must be a non-empty string, got {name!r}")
    if len(set(names)) != count:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two {what}s are named {twice!r}; names must differ")
    return names


def checked_options(options: object, known: str) -> Any:
    """The value of the one option that a reset knows, or None."""
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(
            f"options are {options!r}, expected a dictionary such as {{{known!r}: ...}}"
        )
    unknown = set(options or {}) - {known}
    if unknown:
        raise ValueError(f"unknown options {sorted(map(str, unknown))}; this reset knows {known!r}")
    return (options or {}).get(known)


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names for a message, cut when there are many."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"


def counted(n: int, what: str) -> str:
    """A number of things for a message.

    >>> counted(1, "goal"), counted(2, "goal")
    ('1 goal', '2 goals')
    """
    return f"{n} {what}{'' if n == 1 else 's'}"


def closest(name: str, names: Sequence[str]) -> str:
    """A suggestion for a misspelt name, or nothing; the search is slow for long names or lists."""
    if len(name) > 72 or len(names) > 1000:
        return ""
    folded = {known.casefold(): known for known in names if len(known) <= 72}
    close = get_close_matches(name.casefold(), folded, 1)
    return f". Did you mean {folded[close[0]]!r}?" if close else ""


def goal_index(goal: str | int, names: Sequence[str]) -> int:
    """The position of a goal among the names of all goals, by its name or by its position."""
    if isinstance(goal, str):
        if goal not in names:
            raise ValueError(
                f"unknown goal {goal!r}; this world has {listed(names)}{closest(goal, names)}"
            )
        return names.index(goal)
    if isinstance(goal, bool | np.bool_):
        raise ValueError(
            "goals are given by name or number, got true and false; "
            "for one truth value per goal use space.from_desired"
        )
    if int(goal) != goal or not 0 <= goal < len(names):
        raise ValueError(
            f"goal {goal!r} does not exist; give a name or a whole number from 0 to "
            f"{len(names) - 1}"
        )
    return int(goal)


def goals_named(goal: str | int, names: Sequence[str]) -> list[int]:
    """The positions of the goals that are meant: one, or all of a kind that is numbered.

    >>> goals_named("rock", ["rock 1", "tree", "rock 2", "rock garden 3"])
    [0, 2]
    >>> goals_named("rock 2", ["rock 1", "tree", "rock 2"])
    [2]
    """
    if isinstance(goal, str) and goal not in names:
        numbered = re.compile(re.escape(goal) + r" \d+")
        alike = [i for i, name in enumerate(names) if numbered.fullmatch(name)]
        if alike:
            return alike
    return [goal_index(goal, names)]


def instance(value: object, kind: type[T], what: str) -> T:
    """The value itself if it has this type, else a TypeError that says what was expected."""
    if not isinstance(value, kind):
        raise TypeError(f"{what} must be a {kind.__name__}, got {value!r}")
    return value


def count(value: object, what: str, *, least: int = 1, most: int = MOST) -> int:
    """A whole number from 1, or another least one, to the most that makes sense."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or int(value) < least:  # type: ignore[call-overload]
        raise ValueError(f"{what} is {_brief(value)}, expected a whole number of at least {least}")
    if int(value) > most:  # type: ignore[call-overload]
        raise ValueError(f"{what} is {_brief(value)}, expected at most {most:,}")
    return int(value)  # type: ignore[call-overload, no-any-return]


def checked_seed(value: object) -> int:
    """A seed: a whole number of up to 64 bits."""
    return count(value, "seed", least=0, most=MOST_SEED)


def _brief(value: object) -> str:
    """A value for a message; Python refuses to write a number of thousands of digits."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"a number of about {int(value.bit_length() * 0.30103) + 1:,} digits"
    return repr(value)


def one_of(value: T, known: Sequence[T], what: str) -> T:
    """The value itself if it is one of the known ones."""
    if value not in known:
        *others, last = map(repr, known)
        either = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{what} is {value!r}, expected {either}")
    return value


def checked_action(action: object, names: Sequence[str]) -> int:
    """The number of an existing action."""
    try:
        a = index(action)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(
            f"action is {action!r}, expected a whole number from 0 to {len(names) - 1} "
            f"for {listed(names)}"
        ) from None
    _refuse_unknown_action(a, a, names)
    return a


def checked_actions(actions: ArrayLike, n_copies: int, names: Sequence[str]) -> LongArray:
    """[N], the numbers of existing actions, one for each copy of an environment."""
    given = np.asarray(actions)
    if given.shape != (n_copies,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"actions must be {n_copies} whole numbers, one per copy; got shape {given.shape} of "
            f"{given.dtype}"
        )
    _refuse_unknown_action(given.min(), given.max(), names)
    return given.astype(np.int64)


def _refuse_unknown_action(least: int, most: int, names: Sequence[str]) -> None:
    if least < 0 or most >= len(names):
        raise ValueError(
            f"action {least if least < 0 else most} does not exist; actions are {listed(names)}, "
            f"numbered from 0 to {len(names) - 1}"
        )
