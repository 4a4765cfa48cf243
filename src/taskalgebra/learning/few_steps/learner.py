"""Learning with few steps as a learner for `taskalgebra.learn`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from taskalgebra.learning import checkpoint
from taskalgebra.learning.few_steps.master import ENOUGH_STEPS, Ideas, master
from taskalgebra.learning.learner import require_shared_absorbing
from taskalgebra.progress import Event, Listener, StopLearning
from taskalgebra.theory.family import TableFamily
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.rewards import checked_r_bar_min
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count, instance, number


@final
@dataclass(frozen=True)
class FewSteps:
    """A learner for `taskalgebra.learn` that takes as few environment steps as it can.

    It learns deterministic finite worlds, exactly, and knows by itself when it is done.
    """

    ideas: Ideas = Ideas()  # noqa: RUF009 (frozen)
    """What to make use of; replay is required, or it could not know when to stop."""
    r_bar_min: float | None = None
    """r̄_MIN; by default the one of Definition 2."""
    max_steps: int = ENOUGH_STEPS
    """Give up after this many environment steps."""
    patience: int | None = None
    """Resets in a row without a new state after which the agent believes that none is left."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense before anything is learned."""
        instance(self.ideas, Ideas, "ideas")
        count(self.max_steps, "max_steps")
        if self.patience is not None:
            count(self.patience, "patience")
        if self.r_bar_min is not None:
            number(self.r_bar_min, "r_bar_min")

    def learn(
        self,
        env: GoalEnv,
        tasks: Mapping[str, Task],
        *,
        seed: int,
        folder: Path | None,
        listener: Listener,
    ) -> TableFamily:
        """Learn the tables of these tasks, and the bounds; the result is kept in `folder`.

        Raises:
            ValueError: the world is not finite and deterministic, tasks end in goals of their own,
                or learning was not finished within `max_steps`.
        """
        require_shared_absorbing(env)
        space = env.space
        if not space.finite:
            raise ValueError(
                f"{env!r} is an open world, known only by playing it, and FewSteps needs a finite "
                f"one; learn with QLearning if observations are numbered, else with DeepQ"
            )
        if self.r_bar_min is not None:
            checked_r_bar_min(self.r_bar_min, space)
        path = None if folder is None else folder / "few-steps.npz"
        if folder is not None:
            checkpoint.claim(folder, r"few-steps\.npz")
        rewards = ", ".join(f"{name}: {task.goal_reward.tolist()}" for name, task in tasks.items())
        of = f"{checkpoint.fingerprint(space.universal)}, {rewards}, {self}, seed {seed}"
        names = ("universal", "empty", *(f"task_{i}" for i in range(len(tasks))))
        if path is not None and path.exists():
            stored = checkpoint.read(path, (*names, "r_bar_min"), of)
            low = float(stored["r_bar_min"])
        else:
            mastery = master(
                space,
                tasks,
                seed=seed,
                ideas=self.ideas,
                r_bar_min=self.r_bar_min,
                max_steps=self.max_steps,
                patience=self.patience,
            )
            if not mastery.finished:
                raise ValueError(
                    f"in {mastery.n_steps:,} steps not everything was tried; raise max_steps"
                )
            family = mastery.family
            bounds, low = family.bounds.tables, family.r_bar_min
            tables = [bounds.universal, bounds.empty, *(q.table for q in family.values)]
            stored = dict(zip(names, tables, strict=True))
            if path is not None:
                checkpoint.write(path, {**stored, "r_bar_min": np.array(low)}, of)
            with suppress(StopLearning):  # it is done
                listener(Event("all tasks", 1.0, n_steps=mastery.n_steps, n_goals=space.n_goals))
        return TableFamily.of(
            space, tasks, [stored[name] for name in names], r_bar_min=low, error_bound=None
        )
