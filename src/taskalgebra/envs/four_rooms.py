"""Four Rooms (Section 4): the grid world of the paper, with 4 or with 40 goals."""

from __future__ import annotations

from taskalgebra.base_tasks import minimal_base_tasks
from taskalgebra.envs.world import World
from taskalgebra.grid import Cell, from_text
from taskalgebra.tasks import Task, TaskSpace

MAP = """
#############
#.....#.....#
#...........#
#.....#.....#
#.....#.....#
#.....#.....#
##.####.....#
#.....####.##
#.....#.....#
#.....#.....#
#...........#
#.....#.....#
#############
"""

CENTRES: dict[str, Cell] = {
    "top_left": (3, 3),
    "top_right": (3, 9),
    "bottom_left": (9, 3),
    "bottom_right": (9, 9),
}


def wall_side_goals() -> dict[str, Cell]:
    """The four centres and the 36 free cells along the outer walls: 40 goals."""
    rows = MAP.split()
    last = len(rows) - 1
    sides = [
        (r, c)
        for r, row in enumerate(rows)
        for c, symbol in enumerate(row)
        if symbol == "." and (r in (1, last - 1) or c in (1, last - 1))
    ]
    return CENTRES | {f"cell_{r}_{c}": (r, c) for r, c in sides}


class FourRooms(World):
    """Reach the right room.

    The map has 104 free cells.  Actions are up, right, down, left and stay; `stay` on a goal's cell
    leads into that goal's absorbing state, and the next action pays its terminal reward (see
    `taskalgebra.grid`).  Episodes start in any free cell.

    Args:
        n_goals: 4, the centres of the rooms, with tasks `top` and `left`; or 40, with the further
            goals along the outer walls and six base tasks `x1` … `x6`.
        step_reward: r_{s,a} of every step.
        r_universal: r_U, the reward of a desired goal.
        r_empty: r_∅, the reward of any other goal; by default the step reward.
        slip_probability: how often a move goes to one of the other three directions.
        task: the task that `step` pays for: a `Task`, a name or an expression.
    """

    def __init__(
        self,
        n_goals: int = 4,
        *,
        step_reward: float = -0.1,
        r_universal: float = 2.0,
        r_empty: float | None = None,
        slip_probability: float = 0.0,
        task: Task | str | None = None,
    ) -> None:
        """Build the world of the paper."""
        if n_goals not in (4, 40):
            raise ValueError(f"Four Rooms has 4 or 40 goals, got n_goals = {n_goals}")
        mdp = from_text(
            MAP,
            CENTRES if n_goals == 4 else wall_side_goals(),
            step_reward=step_reward,
            slip_probability=slip_probability,
        )
        space = TaskSpace(
            mdp, r_universal=r_universal, r_empty=step_reward if r_empty is None else r_empty
        )
        names = ("top", "left") if n_goals == 4 else None
        super().__init__(space, minimal_base_tasks(space, names), task)
