"""A policy drawn in the terminal: the value of every cell as a colour, the action as an arrow.

    ◆ a desired goal      ◇ another goal      ↑ → ↓ ← the move      · a cell without a way to a goal

Colours run from dark blue (low) to yellow (high), after viridis, which stays readable for
colour-blind readers and in grey.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taskalgebra.algebra import Array
from taskalgebra.mdp import FiniteMDP
from taskalgebra.tasks import Task

ARROWS = {"up": "↑", "right": "→", "down": "↓", "left": "←", "stay": "•"}
WALL = "█"
_VIRIDIS = np.array(
    [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)], np.float64
)


def picture(task: Task, values: Array, actions: NDArray[np.int64], *, colour: bool) -> str:
    """Draw a policy on the map of its world, one cell three columns wide.

    Args:
        task: the task, for the marks of goals.
        values: V(s), `[S]`.
        actions: the policy, `[S]`.
        colour: whether to write colours of the terminal.

    Raises:
        ValueError: the world has no map.
    """
    mdp = task.space.mdp
    if mdp.cells is None:
        raise ValueError(
            "this world has no map to draw on; make it with from_text, or pass cells=... to "
            "from_arrays"
        )
    corner = mdp.cells.min(axis=0) - 1  # one ring of wall around all cells
    states = np.full(mdp.cells.max(axis=0) + 2 - corner, -1)
    live = np.flatnonzero(~mdp.is_goal)
    for drawn in (mdp.goals, live):  # a cell that holds a goal shows the state to act in
        states[tuple((mdp.cells[drawn] - corner).T)] = drawn
    marks = _marks(task)
    shown = values[live][np.isfinite(values[live])]
    low, high = (shown.min(), shown.max()) if shown.size else (0.0, 0.0)
    lines = []
    for row in states:
        line = []
        for s in row:
            if s < 0:
                line.append(_paint(WALL * 3, None) if colour else WALL * 3)
                continue
            symbol = marks.get(int(s)) or _arrow(mdp, int(actions[s]), float(values[s]))
            level = (values[s] - low) / (high - low) if high > low else 1.0
            known = colour and np.isfinite(values[s])
            line.append(_paint(f" {symbol} ", float(level)) if known else f" {symbol} ")
        lines.append("".join(line))
    return "\n".join(lines)


def _marks(task: Task) -> dict[int, str]:
    """The symbol of each cell that holds a goal."""
    mdp = task.space.mdp
    assert mdp.cells is not None
    order = [*mdp.goals, *np.flatnonzero(~mdp.is_goal)]
    state_at = {tuple(mdp.cells[s]): int(s) for s in order}
    best = task.desired if task.two_valued else task.goal_reward == task.goal_reward.max()
    return {
        state_at[tuple(mdp.cells[goal])]: "◆" if wanted else "◇"
        for goal, wanted in zip(mdp.goals, best, strict=True)
    }


def _arrow(mdp: FiniteMDP, action: int, value: float) -> str:
    if not np.isfinite(value):
        return "·"
    name = mdp.action_names[action]
    return ARROWS.get(name, name[:1])


def _paint(text: str, level: float | None) -> str:
    """Colour a cell by its level in [0, 1]; None is a wall."""
    if level is None:
        return f"\x1b[38;2;110;110;110m{text}\x1b[0m"
    place = min(max(level, 0.0), 1.0) * (len(_VIRIDIS) - 1)
    i = min(int(place), len(_VIRIDIS) - 2)
    red, green, blue = (_VIRIDIS[i] + (place - i) * (_VIRIDIS[i + 1] - _VIRIDIS[i])).astype(int)
    ink = "0;0;0" if 0.3 * red + 0.59 * green + 0.11 * blue > 110 else "255;255;255"
    return f"\x1b[48;2;{red};{green};{blue}m\x1b[38;2;{ink}m{text}\x1b[0m"
