"""Four Rooms (Section 4): the grid world of the paper, with 4 or with 40 goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from taskalgebra.arrays import BoolArray
from taskalgebra.envs.dense import PEAK, dense_task
from taskalgebra.envs.finite_env import FiniteEnv, FiniteVectorEnv
from taskalgebra.envs.registry import spec_of
from taskalgebra.logic.expression import Expression
from taskalgebra.theory.base_tasks import minimal_base_tasks
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import flag, listed, number
from taskalgebra.worlds.grid import Cell, from_text

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


class FourRooms(FiniteEnv):
    """Reach the right room; registered with Gymnasium as `TaskAlgebra/FourRooms-v0`.

    The map has 104 free cells.  Actions are up, right, down, left and stay; `stay` on a goal's cell
    leads into that goal's absorbing state, and the next action pays its terminal reward (see
    `taskalgebra.worlds.grid`).  Episodes start in any free cell.

    Observations are the numbers of states: the free cells row by row, then one absorbing state per
    goal.  `info["goal"]` is the number of the goal in which an episode ended, −1 before.

    **Dense rewards** follow the supplement (`taskalgebra.envs.dense`).  The named tasks are then
    dense tasks of their own.  An expression is worked out on the goals that they desire, and its
    task is the dense task of the goals that result, M_U and M_∅ included; it is *not* the minimum
    or maximum of dense rewards.  A `Task` is played as it is.  Since terminal rewards are raised by
    up to 0.1, so is `space.r_universal`; `space.universal` is the upper bound of the space, and
    the dense M_U is `find_task("true")`.

    Args:
        n_goals: 4, the centres of the rooms, with tasks `top` and `left`; or 40, with the further
            goals along the outer walls and six base tasks `x1` … `x6`.  Left out where `text` or
            `goals` is given.
        goals: goals of your own, as {name: (row, column)}, counted from 0 at the top left.  The
            base tasks are then the smallest set that tells the goals apart, `x1`, `x2`, …
        text: a map of your own, in the language of `from_text`; letters on it are goals.
        step_reward: r_{s,a} of every step.
        r_universal: r_U, the reward of a desired goal; "auto" makes every goal worth the way (see
            `TaskSpace`).
        r_empty: r_∅, the reward of any other goal; by default the step reward.
        slip_probability: how often a move goes to one of the other three directions.
        dense: whether steps near desired goals, or near any goal where none is desired, pay a
            bonus; see above.
        shared_absorbing: whether an episode ends in every goal, or only in those that the task
            desires (see `FiniteEnv`).
        task: the task that `step` pays for: a name, an expression, or a `Task` of a world that was
            made with the same arguments; by default M_U.
        render_mode: None, "ansi" or "rgb_array".
    """

    def __init__(
        self,
        n_goals: int | None = None,
        *,
        goals: Mapping[str, Cell] | None = None,
        text: str | Sequence[str] | None = None,
        step_reward: float = -0.1,
        r_universal: float | Literal["auto"] = 2.0,
        r_empty: float | None = None,
        slip_probability: float = 0.0,
        dense: bool = False,
        shared_absorbing: bool = True,
        task: Task | Expression | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Build the world of the paper, or one with its own goals or map."""
        own = goals is not None or text is not None
        if not own and n_goals not in (None, 4, 40):
            raise ValueError(
                f"Four Rooms has 4 or 40 goals, got n_goals = {n_goals}; "
                f"for goals of your own pass goals={{name: (row, column)}}"
            )
        mdp = from_text(
            MAP if text is None else text,
            goals if own else wall_side_goals() if n_goals == 40 else CENTRES,
            step_reward=step_reward,
            slip_probability=slip_probability,
        )
        if n_goals not in (None, mdp.n_goals):
            raise ValueError(
                f"n_goals = {n_goals}, but the map and goals={{...}} have {mdp.n_goals}: "
                f"{listed(mdp.goal_names)}; leave n_goals out"
            )
        dense = flag(dense, "dense")
        low = number(step_reward if r_empty is None else r_empty, "r_empty")
        if r_universal == "auto":
            r_universal = float(TaskSpace(mdp, r_universal=r_universal, r_empty=low).r_universal[0])
        r_universal = number(r_universal, "r_universal", 'a finite number or "auto"')
        if dense and r_universal - low <= PEAK:
            raise ValueError(
                f"dense rewards need r_universal more than {PEAK} above r_empty, got {r_universal} "
                f"and {low}: a goal nearby could pay as much as a desired one"
            )
        self.dense = dense
        self._sparse_rewards = (r_universal, low)
        space = TaskSpace(
            mdp, r_universal=r_universal + PEAK if dense else r_universal, r_empty=low
        )
        if isinstance(task, Task):
            space = _same_space(task.space, space)
        names = ("top", "left") if not own and n_goals != 40 else None
        tasks = minimal_base_tasks(space, names)
        if dense:
            tasks = {name: self._dense_task(space, base.desired) for name, base in tasks.items()}
        super().__init__(
            space, tasks, task, shared_absorbing=shared_absorbing, render_mode=render_mode
        )
        self.spec = spec_of(
            self,
            n_goals=n_goals,
            goals=None if goals is None else {name: [*map(int, at)] for name, at in goals.items()},
            text=text if text is None or isinstance(text, str) else list(text),
            step_reward=float(step_reward),
            r_universal=float(r_universal),
            r_empty=None if r_empty is None else float(r_empty),
            slip_probability=float(slip_probability),
            dense=dense,
            shared_absorbing=self.shared_absorbing,
        )

    def _dense_task(self, space: TaskSpace, desired: BoolArray) -> Task:
        return dense_task(space, desired, *self._sparse_rewards)

    def compose(self, expression: Expression, tasks: Mapping[str, Task]) -> Task:
        """The task of an expression; of dense tasks, the dense task of the goals that result."""
        if not self.dense:
            return super().compose(expression, tasks)
        everything = np.ones(self.space.mdp.n_goals, np.bool_)
        desired = expression.evaluate(
            {name: self.desired_goals(task) for name, task in tasks.items()},
            universal=everything,
            empty=~everything,
        )
        return self._dense_task(self.space, desired)

    def desired_goals(self, task: Task) -> BoolArray:
        """[G], the goals that a task desires; of dense tasks those that pay r_U and a bonus."""
        if not self.dense:
            return super().desired_goals(task)
        desired: BoolArray = task.goal_reward >= self._sparse_rewards[0]
        return desired


def _same_space(given: TaskSpace, built: TaskSpace) -> TaskSpace:
    """The space of a task, if it is the one that the arguments describe."""
    if given != built:
        raise ValueError(
            "the task belongs to another space than this environment; make the environment with "
            "the arguments of the task's own, or give the task as a name or an expression"
        )
    return given


def four_rooms(
    num_envs: int = 1, *, max_episode_steps: int | None = None, **arguments: Any
) -> FiniteVectorEnv:
    """N copies of Four Rooms, for `gym.make_vec`; other arguments are those of `FourRooms`."""
    return FiniteVectorEnv(FourRooms(**arguments), num_envs, max_episode_steps=max_episode_steps)
