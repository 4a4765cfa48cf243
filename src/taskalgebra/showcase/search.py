"""The breadth-first search by which judges find the fewest steps, which is not the library's."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import count
from typing import TypeVar

State = TypeVar("State", bound=Hashable)


def fewest_steps(
    start: State,
    after: Callable[[State], Iterable[State]],
    ends: Callable[[State], bool | None],
    *,
    at_once: bool = False,
) -> int | None:
    """The steps of the shortest episode that ends well; None if none does.

    Args:
        start: the state in which it begins.
        after: the states that one step leads to.
        ends: whether an episode that has reached a state ends well there, or badly; None where it
            goes on.
        at_once: whether it is asked at the start too.
    """
    if at_once and ends(start):
        return 0
    seen: set[State] = set()
    near = [start]
    for n in count(1):
        new = dict.fromkeys(there for here in near for there in after(here) if there not in seen)
        seen.update(new)
        ended = {there: ends(there) for there in new}
        if any(ended.values()):
            return n
        near = [there for there, well in ended.items() if well is None]
        if not near:
            return None
    raise AssertionError("count does not end")
