"""How surely learning succeeds: a recipe trained with several seeds, judged exactly.

    python -m taskalgebra.paper.experiments.boxman.seeds --recipe boxman --seeds 5 --out DIR
    python -m taskalgebra.paper.experiments.boxman.seeds --recipe boxman-paper --seeds 1 --out DIR

The layout is fixed, so every task is judged from all 58 starts.  Only the column
`seconds` differs between runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.recipes import RECIPES
from taskalgebra.learning.deep.family import NetworkFamily
from taskalgebra.logic.formulas import parse
from taskalgebra.paper.experiments.boxman.tables import (
    all_tasks,
    play_table,
    returns_on_cells,
    starts,
)
from taskalgebra.paper.experiments.boxman.training import train
from taskalgebra.paper.experiments.command import command
from taskalgebra.paper.results.record import Result
from taskalgebra.progress import Listener, silent
from taskalgebra.skills import store
from taskalgebra.theory.tables import compose_values

FIVE = ("blue", "square", "blue | square", "blue & square", "blue ^ square")


@dataclass(frozen=True)
class Config:
    """Train a recipe with several seeds."""

    recipe: str = "boxman"
    """The recipe, one with the fixed layout."""
    seeds: int = 5
    """Seeds 0, 1, …"""


def judge(world: Boxman, family: NetworkFamily) -> dict[str, float]:
    """Scores and success of the paper's five tasks, composed, and of all goal sets.

    The figures of all goal sets are NaN unless one network serves all tasks.
    """
    codes = starts(world, 0, 0)
    values = family.named
    screens = world.games(1).frames(codes)
    five, subsets = [], []
    for text in FIVE:
        q_bar = compose_values(parse(text, values), values, family.bounds).q_bar(screens)
        five.append(play_table(world, codes, world.find_task(text), q_bar[None]))
    if len(family.reaches) == 1:
        table = returns_on_cells(world, family.reaches[0], codes)
        subsets = [
            play_table(world, codes, task, table + task.goal_reward[:, None])
            for task in all_tasks(world)
        ]
    return {
        "five_worst_score": min(outcome.score for outcome in five),
        "five_success": min(float(outcome.success.mean()) for outcome in five),
        "five_optimal": float(all(outcome.n_optimal == len(codes) for outcome in five)),
        "all_worst_score": min((outcome.score for outcome in subsets), default=np.nan),
        "all_success": min((float(o.success.mean()) for o in subsets), default=np.nan),
    }


def run(config: Config, out: Path, listener: Listener = silent) -> Result:
    """Train with each seed below `out / seeds`, and judge."""
    recipe, name = RECIPES[config.recipe], config.recipe
    rows = []
    for seed in range(config.seeds):
        directory = out / "seeds" / str(seed)
        family = train(name, directory, recipe=replace(recipe, seed=seed), listener=listener)
        seconds = store.manifest(directory / name)["training"]["seconds"]
        found = judge(Boxman(**recipe.world), family)
        rows.append((seed, recipe.learner.settings.n_updates, seconds, *found.values()))
    columns = ("seed", "updates", "seconds", *found)
    return Result.of_rows(f"{name.replace('-', '_')}_seeds", config, columns, rows)


if __name__ == "__main__":
    command(Config, run)
