"""What a learner is: the signature behind `taskalgebra.learn`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from taskalgebra.progress import Listener
from taskalgebra.theory.family import Family
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.tasks import Task


@runtime_checkable
class Learner(Protocol):
    """Learns the extended values of base tasks by interaction with a goal environment.

    The library's own are `QLearning`, `FewSteps`, `Hindsight` and `DeepQ`; any object with this
    method will do.
    """

    def learn(
        self,
        env: GoalEnv,
        tasks: Mapping[str, Task],
        *,
        seed: int,
        folder: Path | None,
        listener: Listener,
    ) -> Family:
        """Learn the tasks of `env.space` and return their values.

        Args:
            env: where to learn; `env.vector(n, task=…)` makes copies to act in.
            tasks: the base tasks, by name.
            seed: equal seeds learn equal values.
            folder: a directory for checkpoints, or None.  A run that was stopped resumes from
                there, and ends with the same values as one that was not.
            listener: called with reports of progress.

        Raises:
            ValueError: it cannot learn this environment or these tasks; the message says why.
        """


def require_shared_absorbing(env: GoalEnv) -> None:
    """Refuse an environment whose tasks end in goals of their own, and share no values."""
    if not env.shared_absorbing:
        raise ValueError(
            "the tasks of this environment end in goals of their own (shared_absorbing=False), "
            "which breaks Assumption 1: goals that a task does not desire have no values to "
            "learn; make it with shared_absorbing=True"
        )
