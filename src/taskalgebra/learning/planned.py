"""Planning as a learner: for what takes any `Learner`, in worlds that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from taskalgebra.learning.learner import require_shared_absorbing
from taskalgebra.planning.exact import plan
from taskalgebra.progress import Event, Listener
from taskalgebra.theory.family import Family
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.tasks import Task


@final
@dataclass(frozen=True)
class Planner:
    """A learner that plans exactly, as `taskalgebra.solve` does; it takes no step in the world."""

    r_bar_min: float | None = None
    """The penalty for a wrong goal; see `taskalgebra.solve`."""
    tolerance: float | None = None
    """For stochastic worlds, the error to stop at; see `taskalgebra.solve`."""

    def learn(
        self,
        env: GoalEnv,
        tasks: Mapping[str, Task],
        *,
        seed: int,
        folder: Path | None,
        listener: Listener,
    ) -> Family:
        """Plan the tasks; there is nothing random in it, and nothing to resume.

        Raises:
            TypeError: the world is open.
        """
        require_shared_absorbing(env)
        family = plan(env.space, tasks, r_bar_min=self.r_bar_min, tolerance=self.tolerance)
        listener(Event("all tasks", 1.0))
        return family
