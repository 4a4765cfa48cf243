"""A finite world as a Gymnasium environment whose `step` reads the table that the planner reads.

Observations are states (`Discrete(S)`), actions are numbers (`Discrete(A)`).  The environment keeps
the contract of a goal environment: `info["goal"]` is the number of the goal reached when
`terminated`, and −1 before.  There is no step limit; a limit is not a termination.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from taskalgebra.expression import Expression, parse
from taskalgebra.tasks import Task, TaskSpace
from taskalgebra.validation import listed

NO_GOAL = -1


class World(gym.Env[Any, Any]):
    """A task space with named tasks, and one of its tasks to play.

    Args:
        space: the task space; it holds the dynamics.
        tasks: tasks with names, for expressions.
        task: the task that `step` pays for: a `Task`, a name or an expression; by default M_U.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (Gymnasium's contract)

    def __init__(
        self,
        space: TaskSpace,
        tasks: Mapping[str, Task] | None = None,
        task: Task | Expression | str | None = None,
    ) -> None:
        """Set the spaces of Gymnasium from the sizes of the world."""
        self.space = space
        self.tasks = dict(tasks or {})
        for name, named in self.tasks.items():
            if named.space is not space:
                raise ValueError(f"task {name!r} belongs to another space than this world")
        self.observation_space = gym.spaces.Discrete(space.mdp.n_states)
        self.action_space = gym.spaces.Discrete(space.mdp.n_actions)
        self.task = self.find_task(space.universal if task is None else task)
        self.state: int | None = None

    def find_task(self, task: Task | Expression | str) -> Task:
        """A task by name or expression over the named tasks."""
        if isinstance(task, Task):
            if task.space is not self.space:
                raise ValueError("the task belongs to another space than this world")
            return task
        expression = parse(task, self.tasks) if isinstance(task, str) else task
        return expression.evaluate(
            self.tasks, universal=self.space.universal, empty=self.space.empty
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Start in a random state, or in `options["state"]`."""
        super().reset(seed=seed)
        mdp = self.space.mdp
        start = (options or {}).get("state")
        if start is None:
            start = self.np_random.choice(mdp.starts)
        elif (
            not isinstance(start, int | np.integer)
            or not 0 <= start < mdp.n_states
            or not mdp.ending[start]
        ):
            raise ValueError(
                f"cannot start in state {start}: expected one of 0 to {mdp.n_states - 1} with a "
                f"path to some goal"
            )
        self.state = int(start)
        return self.state, {"goal": NO_GOAL}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move by the table; in a goal, pay its terminal reward and end, whatever the action."""
        mdp = self.space.mdp
        if self.state is None:
            raise gym.error.ResetNeeded("call reset() before step()")
        if not 0 <= action < mdp.n_actions:
            raise ValueError(
                f"action {action} does not exist; actions are {listed(mdp.action_names)}"
            )
        s = self.state
        if mdp.is_goal[s]:
            goal = int(np.flatnonzero(mdp.goals == s)[0])
            self.state = None
            return s, float(self.task.goal_reward[goal]), True, False, {"goal": goal}
        first, last = mdp.offset[s * mdp.n_actions + action : s * mdp.n_actions + action + 2]
        k = first
        if last - first > 1:
            k = first + self.np_random.choice(last - first, p=mdp.probability[first:last])
        self.state = int(mdp.successor[k])
        return self.state, float(self.task.steps[s, action]), False, False, {"goal": NO_GOAL}
