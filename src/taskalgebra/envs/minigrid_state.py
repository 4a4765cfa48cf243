"""The state of a MiniGrid environment, to save and to restore.

It is where the agent stands and looks, what it carries, what lies in each cell, doors as they are
and boxes with their contents, and the mission.  The number of steps is none of it: restoring sets
it to 0.  What an instruction of BabyAI keeps in mind about earlier steps is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

Code = tuple[Any, ...] | None
"""An object: its type, its colour, and what may change of it; None for nothing."""
State = tuple[int, int, int, str, Code, tuple[Code, ...]]
"""Column, row and direction of the agent, the mission, what is carried, and all cells."""


def is_minigrid(env: Any) -> bool:
    """Whether an environment, unwrapped, is one of MiniGrid or BabyAI."""
    return any(
        kind.__name__ == "MiniGridEnv" and kind.__module__.startswith("minigrid.")
        for kind in type(env).__mro__
    )


def save(env: Any) -> State:
    """The state of an environment, unwrapped; equal states of two environments are equal."""
    x, y = env.agent_pos
    cells = tuple([each and _code(each) for each in env.grid.grid])
    return int(x), int(y), int(env.agent_dir), env.mission, _code(env.carrying), cells


def restore(env: Any, saved: State) -> None:
    """Put an environment, unwrapped, into a state that it or its like was in."""
    x, y, direction, _, carried, cells = saved
    env.agent_pos, env.agent_dir, env.step_count = (x, y), direction, 0
    now = tuple([each and _code(each) for each in env.grid.grid])
    if now != cells or _code(env.carrying) != carried:
        _rearrange(env, now, cells, carried)


def _code(thing: Any) -> Code:
    if thing is None:
        return None
    kind = thing.type
    if kind == "door":
        return kind, thing.color, thing.is_open, thing.is_locked
    if kind == "box":
        return kind, thing.color, _code(thing.contains)
    return kind, thing.color


def _rearrange(env: Any, now: tuple[Code, ...], wanted: tuple[Code, ...], carried: Code) -> None:
    """Move objects to where they are wanted; only those that are missing are created.

    Instructions of BabyAI know objects by identity.
    """
    grid, width = env.grid.grid, env.grid.width
    free: dict[Code, list[Any]] = {}
    if env.carrying is not None:
        free.setdefault(_code(env.carrying), []).append(env.carrying)
    changed = [k for k, (one, other) in enumerate(zip(now, wanted, strict=True)) if one != other]
    for k in changed:
        before, after = now[k], wanted[k]
        if before and after and before[:2] == after[:2] and before[0] == "door":
            grid[k].is_open, grid[k].is_locked = after[2], after[3]
        elif before:
            free.setdefault(before, []).append(grid[k])
    for k in changed:
        after = wanted[k]
        if after and grid[k] is not None and _code(grid[k]) == after and after[0] == "door":
            continue
        grid[k] = _taken(after, free)
        if grid[k] is not None:
            grid[k].cur_pos = (k % width, k // width)
    env.carrying = _taken(carried, free)
    if env.carrying is not None:
        env.carrying.cur_pos = np.array([-1, -1])
    if hasattr(env, "update_objs_poss"):
        env.update_objs_poss()


def _taken(code: Code, free: dict[Code, list[Any]]) -> Any:
    """An object of this code: one that is free, or a new one."""
    if code is None:
        return None
    if free.get(code):
        return free[code].pop()
    from minigrid.core import world_object

    kind, colour = code[:2]
    make = getattr(world_object, kind.capitalize())
    if kind == "door":
        return make(colour, *code[2:])
    if kind == "box":
        return make(colour, _taken(code[2], free))
    return make() if kind in ("goal", "lava") else make(colour)


class _Unseen(Mapping[str, Any]):
    """An observation that is made when somebody looks at it."""

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._make = make
        self._seen: dict[str, Any] | None = None

    def _look(self) -> dict[str, Any]:
        if self._seen is None:
            self._seen = self._make()
        return self._seen

    def __getitem__(self, key: str) -> Any:
        return self._look()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._look())

    def __len__(self) -> int:
        return len(self._look())


@contextmanager
def unseen(env: Any) -> Iterator[None]:
    """Make observations only where they are looked at: most of a step is spent on them."""
    own = env.gen_obs
    env.gen_obs = lambda: _Unseen(own)
    try:
        yield
    finally:
        del env.gen_obs
