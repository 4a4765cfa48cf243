"""A policy drawn in the terminal: the value of every cell as a colour, the action as an arrow.

    ◆ a desired goal      ◇ another goal      ↑ → ↓ ← the move      · a cell without a way to a goal

A snapshot has no policy: it shows the goals, and the agent as @.  On the cell of a goal that is @◆,
in the absorbing state of the goal ◆@◆.

Colours run from dark blue (low) to yellow (high), like viridis, which is readable for colour-blind
readers and in greyscale.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from os import environ

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.drawing.board import DESIRED, NOTHING, OTHER, Wanting, World, drawn_last, layout
from taskalgebra.drawing.colours import viridis
from taskalgebra.signs import shown_in

ARROWS = {"up": "↑", "right": "→", "down": "↓", "left": "←", "stay": "•"}
WALL = "█"
AGENT = "@"


def picture(task: Wanting, values: Array, actions: LongArray, *, colour: bool) -> str:
    """Draw a policy on the map of its world, one cell three columns wide.

    Args:
        task: the task, for the marks of goals.
        values: V(s), `[S]`.
        actions: the policy, `[S]`.
        colour: whether to use terminal colours.

    Raises:
        ValueError: the world has no map.
    """
    mdp = task.space.mdp
    return map_of_policy(mdp, _signs(task.wanted), values, actions, colour=colour)


def print_picture(title: str, drawn: Callable[[bool], str]) -> None:
    """Print a picture below its title, `drawn(True)` in colour if the output is a terminal."""
    colour = sys.stdout.isatty() and "NO_COLOR" not in environ
    print(shown_in(f"{title}\n{drawn(colour)}", sys.stdout.encoding))


def map_of_policy(
    mdp: World, signs: Sequence[str], values: Array, actions: LongArray, *, colour: bool
) -> str:
    """The same with one sign for each goal, `[G]`."""
    states, _ = layout(mdp)
    live = np.flatnonzero(~mdp.is_goal)
    marks = _marks(mdp, signs)
    shown = values[live][np.isfinite(values[live])]
    low, high = (shown.min(), shown.max()) if shown.size else (0.0, 0.0)
    lines = []
    for row in states:
        line = []
        for s in row:
            if s == NOTHING:
                line.append(_paint(WALL * 3, None) if colour else WALL * 3)
                continue
            symbol = marks.get(int(s)) or _arrow(mdp, int(actions[s]), float(values[s]))
            level = (values[s] - low) / (high - low) if high > low else 1.0
            known = colour and np.isfinite(values[s])
            line.append(_paint(f" {symbol} ", float(level)) if known else f" {symbol} ")
        lines.append("".join(line))
    return "\n".join(lines)


def legend(low: float, high: float, *, colour: bool, steps: int = 24) -> str:
    """A line that explains the symbols and, in colour, the scale of values."""
    signs = f"◆ desired   ◇ not desired   value {low:.2f}"
    if not colour:
        return f"{signs} to {high:.2f}"
    ramp = "".join(_paint(" ", i / (steps - 1)) for i in range(steps))
    return f"{signs} {ramp} {high:.2f}"


def snapshot(mdp: World, desired: BoolArray, agent: int | None) -> str:
    """Draw the map with its goals and the agent, one cell three columns wide, without colour.

    Args:
        mdp: the world.
        desired: `[G]`, the goals to mark as desired.
        agent: the state of the agent; None draws none.

    Raises:
        ValueError: the world has no map.
    """
    states, corner = layout(mdp)
    marks = _marks(mdp, _signs(desired))
    lines = [
        [WALL * 3 if s == NOTHING else f" {marks.get(s, ' ')} " for s in row] for row in states
    ]
    if agent is not None:
        assert mdp.cells is not None
        row, column = mdp.cells[agent] - corner
        mark = lines[row][column][1]
        lines[row][column] = f"{mark if mdp.is_goal[agent] else ' '}{AGENT}{mark}"
    return "\n".join("".join(line) for line in lines)


def _signs(desired: BoolArray) -> list[str]:
    return [DESIRED if one else OTHER for one in desired]


def _marks(mdp: World, signs: Sequence[str]) -> dict[int, str]:
    """The sign of each cell that holds a goal; of several goals, a desired one or the first."""
    assert mdp.cells is not None
    state_at = {tuple(mdp.cells[s]): int(s) for s in drawn_last(mdp)}
    order = sorted(range(mdp.goals.size - 1, -1, -1), key=lambda goal: signs[goal] == DESIRED)
    return {state_at[tuple(mdp.cells[mdp.goals[goal]])]: signs[goal] for goal in order}


def _arrow(mdp: World, action: int, value: float) -> str:
    if not np.isfinite(value):
        return "·"
    name = mdp.action_names[action]
    return ARROWS.get(name, name[:1])


def _paint(text: str, level: float | None) -> str:
    """Colour a cell by its level in [0, 1]; None is a wall."""
    if level is None:
        return f"\x1b[38;2;110;110;110m{text}\x1b[0m"
    red, green, blue = viridis(np.array(level)).tolist()
    ink = "0;0;0" if 0.3 * red + 0.59 * green + 0.11 * blue > 110 else "255;255;255"
    return f"\x1b[48;2;{red};{green};{blue}m\x1b[38;2;{ink}m{text}\x1b[0m"
