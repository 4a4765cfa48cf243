"""Which of the paper's hyperparameters had to change: each change undone, one at a time.

    python -m taskalgebra.paper.experiments.boxman_changes --out DIR

The preset `paper` has the network and the hyperparameters of the supplement but for a few.  Here
the task blue is learned with each of these put back to what the paper has, all else as in the
preset, for the same number of gradient steps; scores are those of the last and the best network.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.learning.deep import training as deep
from taskalgebra.learning.deep.settings import preset
from taskalgebra.paper.experiments.boxman_tables import all_tasks, worst_score
from taskalgebra.paper.experiments.record import Result, Table, as_json

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


def run_one(config: Config, change: str, out: Path) -> tuple[str, float, float]:
    """Train with one change undone; checkpoints are kept, so a second call is quick."""
    world = Boxman()
    settings = replace(preset("paper", n_updates=config.updates, threads=1), **CHANGES[change])
    folder = out / "changes" / str(list(CHANGES).index(change))
    _, went = deep.train(
        world,
        {config.task: world.tasks[config.task]},
        settings,
        seed=config.seed,
        folder=folder,
        score=worst_score(world, all_tasks(world)),
    )
    scores = [score for _, score in went[config.task].scores]
    return change, scores[-1], max(scores)


def run(config: Config, out: Path) -> Result:
    """All changes, one after the other."""
    rows = [run_one(config, change, out) for change in CHANGES]
    table = Table.of_rows(("undone", "last_score", "best_score"), rows)
    return Result(NAME, as_json(config), {NAME: table})


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; with `--only N`, train one change and stop."""
    parser = argparse.ArgumentParser(description="Undo each change of the preset `paper`.")
    parser.add_argument("--out", type=Path, default=Path("trained"))
    parser.add_argument("--only", type=int, choices=range(len(CHANGES)))
    given = parser.parse_args(arguments)
    if given.only is not None:
        print(run_one(Config(), list(CHANGES)[given.only], given.out))
        return 0
    result = run(Config(), given.out)
    result.save(given.out)
    print(result.table.to_csv())
    return 0


if __name__ == "__main__":
    sys.exit(main())
