"""Which of the paper's hyperparameters had to change: each change undone, one at a time.

    python -m taskalgebra.paper.experiments.boxman.changes --out DIR

The preset `paper` has the network and the hyperparameters of the supplement except for a few.  Here
the task blue is learned with each of these set back to the paper's value, all else as in the
preset, for the same number of gradient steps; scores are those of the last and the best network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.recipes import PAPER
from taskalgebra.learning.deep import training as deep
from taskalgebra.paper.experiments.boxman.tables import all_tasks, worst_score
from taskalgebra.paper.experiments.command import command
from taskalgebra.paper.results.record import Result

NAME = "boxman_paper_changes"
CHANGES: dict[str, dict[str, Any]] = {
    "none: the preset": {},
    "inputs not centred": {"centred": False},
    "Huber loss on numbers, not distributions": {"categorical": False},
    "learning rate 1e-4, not annealed": {"learning_rate": 1e-4, "annealed": False},
}


@dataclass(frozen=True)
class Config:
    """Learn one task of the fixed layout with the preset `paper`, changed."""

    task: str = "blue"
    """The task."""
    updates: int = 5_000
    """Gradient steps."""
    seed: int = 0
    """Of all random numbers."""


def run(config: Config, out: Path) -> Result:
    """Train with each change undone; checkpoints are kept, so that an interrupted run resumes."""
    world = Boxman()
    rows = []
    for i, (change, undone) in enumerate(CHANGES.items()):
        _, went = deep.train(
            world,
            {config.task: world.tasks[config.task]},
            PAPER.network,
            replace(PAPER.settings, n_updates=config.updates, threads=1, **undone),
            seed=config.seed,
            folder=out / "changes" / str(i),
            score=worst_score(world, all_tasks(world)),
        )
        scores = [score for _, score in went[config.task].scores]
        rows.append((change, scores[-1], max(scores)))
    return Result.of_rows(NAME, config, ("undone", "last_score", "best_score"), rows)


if __name__ == "__main__":
    command(Config, run)
