"""Training the networks of Boxman: one recipe for each setting of the paper, and its supplement.

    python -m taskalgebra.paper.experiments.boxman.training boxman-random --out DIR

trains, keeps checkpoints in DIR, resumes where it was interrupted, and saves skills that
`taskalgebra.load` reads.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.recipes import RECIPES
from taskalgebra.envs.recipe import Recipe
from taskalgebra.learning.deep import training as deep
from taskalgebra.learning.deep.checkpoint import Progress
from taskalgebra.learning.deep.family import NetworkFamily
from taskalgebra.paper.experiments.boxman.settings import SETTINGS
from taskalgebra.paper.experiments.boxman.tables import all_tasks, worst_score
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.skills import SHIPPED_AT, store
from taskalgebra.skills.making import load

COMMAND = "python -m taskalgebra.paper.experiments.boxman.training"
TRAININGS: tuple[str, ...] = tuple(setting.skills for setting in SETTINGS.values())
"""The skills that are trained, in order: a recipe may start from the skills of the one before."""


def train(
    name: str, out: Path, *, recipe: Recipe | None = None, listener: Listener = silent
) -> NetworkFamily:
    """Train a recipe, or resume its training, and save its skills in `out / name`."""
    chosen = RECIPES[name] if recipe is None else recipe
    world = Boxman(**chosen.world)
    start = None
    if chosen.start is not None:
        if not (out / chosen.start).exists():
            train(chosen.start, out, listener=listener)
        start = load(out / chosen.start).family.first  # type: ignore[attr-defined]
    family, went = deep.train(
        world,
        {task: world.tasks[task] for task in chosen.tasks},
        chosen.learner.network,
        chosen.learner.settings,
        seed=chosen.seed,
        folder=out / "training" / name,
        start=start,
        score=worst_score(world, all_tasks(world)),
        listener=listener,
    )
    store.write(out / name, family, world, notes(name, chosen, went))
    return family


def retrain(
    name: str,
    directory: Path,
    *,
    fresh: bool = False,
    quick: bool = False,
    listener: Listener = silent,
) -> None:
    """Train the skills of a setting in a directory, or resume an interrupted training."""
    if fresh:
        for checkpoint in (directory / "training" / name).glob("*.safetensors"):
            checkpoint.unlink()
    recipe = toy(RECIPES[name]) if quick else RECIPES[name]
    train(name, directory, recipe=recipe, listener=listener)


def toy(recipe: Recipe) -> Recipe:
    """A training of seconds, which learns next to nothing, to check that all parts work."""
    learner = recipe.learner.changed(n_updates=2, updates_per_iteration=2)
    return replace(recipe, learner=learner)


def seconds_of(name: str) -> float:
    """How long a training takes, roughly: as long as that of the shipped skills."""
    return float(store.manifest(SHIPPED_AT / name)["training"]["seconds"])


def notes(name: str, recipe: Recipe, went: dict[str, Progress]) -> dict[str, Any]:
    """What the manifest says about a training: how to repeat it, and how it went."""
    return {
        "command": f"{COMMAND} {name}",
        "seed": recipe.seed,
        "seconds": round(sum(progress.seconds for progress in went.values()), 1),
        "threads": recipe.learner.settings.threads,
        "scores": {
            network: {"best": max(score for _, score in progress.scores), "of": progress.scores}
            for network, progress in went.items()
        },
    }


def main(arguments: list[str] | None = None) -> int:
    """Train one recipe from the command line."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Train networks that play Boxman.")
    parser.add_argument("name", choices=list(RECIPES), help="what to train")
    parser.add_argument("--out", type=Path, default=Path("trained"), help="default: %(default)s")
    given = parser.parse_args(arguments)

    def report(event: Event) -> None:
        print(
            f"{event.what}: {event.n_updates:,} updates, {event.n_steps:,} steps, "
            f"loss {event.loss:.3f}, worst score {event.score:.4f}",
            flush=True,
        )

    train(given.name, given.out, listener=report)
    print(f"skills: {given.out / given.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
