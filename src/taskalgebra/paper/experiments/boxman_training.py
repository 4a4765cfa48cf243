"""Training the networks of Boxman: one recipe for each setting of the paper, and its supplement.

    python -m taskalgebra.paper.experiments.boxman_training boxman-random --out DIR

trains, keeps checkpoints below DIR, goes on where it was stopped, and saves skills that
`taskalgebra.load` reads.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.learning.deep import training as deep
from taskalgebra.learning.deep.checkpoint import Progress
from taskalgebra.learning.deep.dqn import Chapter
from taskalgebra.learning.deep.settings import DeepSettings, preset
from taskalgebra.paper.experiments.boxman_tables import all_tasks, worst_score
from taskalgebra.skills import network_store

COMMAND = "python -m taskalgebra.paper.experiments.boxman_training"


@dataclass(frozen=True)
class Recipe:
    """What to train: a world, base tasks, and how."""

    tasks: tuple[str, ...]
    settings: DeepSettings
    world: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    start: str | None = None  # the skills whose network to start from

    def make_world(self) -> Boxman:
        """The world to train in."""
        return Boxman(**self.world)

    @property
    def n_networks(self) -> int:
        """One for all tasks, or one a task."""
        shared = self.make_world().shared_absorbing and not self.settings.own_rewards
        return 1 if shared else len(self.tasks)


RECIPES: dict[str, Recipe] = {
    "boxman": Recipe(("blue", "square", "purple"), preset("fast", n_updates=2_500, threads=1)),
    "boxman-random": Recipe(
        ("blue", "square", "purple"),
        preset("fast", n_updates=14_000, threads=1),
        {"layout": "random"},
    ),
    "boxman-touch": Recipe(
        ("purple", "blue", "square"),
        preset(
            "fast",
            network="planning",
            n_updates=6_000,
            learning_rate=2e-3,
            target_rate=0.05,
            threads=1,
        ),
        {"layout": "random", "collect": "touch"},
        start="boxman-random",
    ),
    "boxman-paper": Recipe(("blue", "square"), preset("paper", threads=1)),
}
"""The three that come with the library, and the paper's own network and hyperparameters."""


def train(
    name: str, out: Path, *, recipe: Recipe | None = None, listen: deep.Listener | None = None
) -> deep.Networks:
    """Train a recipe, or go on with it, and save its skills in `out / name`."""
    chosen = RECIPES[name] if recipe is None else recipe
    world = chosen.make_world()
    start = None
    if chosen.start is not None:
        if not (out / chosen.start).exists():
            train(chosen.start, out, listen=listen)
        start = network_store.read(out / chosen.start)[0].first
    networks, went = deep.train(
        world,
        {task: world.tasks[task] for task in chosen.tasks},
        chosen.settings,
        seed=chosen.seed,
        folder=out / "training" / name,
        start=start,
        score=worst_score(world, all_tasks(world)),
        listen=listen,
    )
    network_store.write(out / name, networks, world.describe(), notes(name, chosen, went))
    return networks


def notes(name: str, recipe: Recipe, went: dict[str, Progress]) -> dict[str, Any]:
    """What the manifest says about a training: how to repeat it, and how it went."""
    return {
        "command": f"{COMMAND} {name}",
        "seed": recipe.seed,
        "seconds": round(sum(progress.seconds for progress in went.values()), 1),
        "threads": recipe.settings.threads,
        "scores": {
            network: {"best": max(score for _, score in progress.scores), "of": progress.scores}
            for network, progress in went.items()
        },
    }


def chapter_line(network: str, chapter: Chapter, score: float) -> str:
    """How a training goes, in a line."""
    return (
        f"{network}: {chapter.n_updates:,} updates, {chapter.n_steps:,} steps, "
        f"loss {chapter.loss:.3f}, worst score {score:.4f}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Train one recipe from the command line."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Train networks that play Boxman.")
    parser.add_argument("name", choices=list(RECIPES), help="what to train")
    parser.add_argument("--out", type=Path, default=Path("trained"), help="default: %(default)s")
    given = parser.parse_args(arguments)

    def listen(network: str, chapter: Chapter, score: float) -> None:
        print(chapter_line(network, chapter, score), flush=True)

    train(given.name, given.out, listen=listen)
    print(f"skills: {given.out / given.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
