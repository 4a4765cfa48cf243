"""Training the networks of Boxman: one recipe for each setting of the paper, and its supplement.

    python -m taskalgebra.paper.experiments.boxman.training boxman-random --out DIR

trains, keeps checkpoints below DIR, resumes where it was stopped, and saves skills that
`taskalgebra.load` reads.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.learning.deep import training as deep
from taskalgebra.learning.deep.checkpoint import Progress
from taskalgebra.learning.deep.dqn import Chapter
from taskalgebra.learning.deep.settings import DeepSettings, preset
from taskalgebra.paper.experiments.boxman.settings import SETTINGS
from taskalgebra.paper.experiments.boxman.tables import all_tasks, worst_score
from taskalgebra.progress import Event, Listener
from taskalgebra.skills import network_store
from taskalgebra.skills.skills import SHIPPED_AT

COMMAND = "python -m taskalgebra.paper.experiments.boxman.training"


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
        """One for all tasks, or one per task."""
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


TRAININGS: tuple[str, ...] = tuple(setting.skills for setting in SETTINGS.values())
"""The skills that are trained, in order: a recipe may start from the skills of the one before."""


def train(
    name: str, out: Path, *, recipe: Recipe | None = None, listener: Listener | None = None
) -> deep.Networks:
    """Train a recipe, or resume its training, and save its skills in `out / name`."""
    chosen = RECIPES[name] if recipe is None else recipe
    world = chosen.make_world()
    start = None
    if chosen.start is not None:
        if not (out / chosen.start).exists():
            train(chosen.start, out, listener=listener)
        start = network_store.read(out / chosen.start)[0].first
    networks, went = deep.train(
        world,
        {task: world.tasks[task] for task in chosen.tasks},
        chosen.settings,
        seed=chosen.seed,
        folder=out / "training" / name,
        start=start,
        score=worst_score(world, all_tasks(world)),
        listen=None if listener is None else told(chosen, listener),
    )
    network_store.write(out / name, networks, world.describe(), notes(name, chosen, went))
    return networks


def told(recipe: Recipe, listener: Listener) -> deep.Listener:
    """Tells the chapters of a training as events, each with the share of all its networks."""
    begun: set[str] = set()

    def tell(network: str, chapter: Chapter, score: float) -> None:
        begun.add(network)
        done = len(begun) - 1 + chapter.n_updates / recipe.settings.n_updates
        listener(
            Event(
                network,
                done / recipe.n_networks,
                n_steps=chapter.n_steps,
                n_updates=chapter.n_updates,
                n_goals=chapter.n_goals,
                loss=chapter.loss,
                score=score,
            )
        )

    return tell


def retrain(
    name: str,
    directory: Path,
    *,
    fresh: bool = False,
    quick: bool = False,
    listener: Listener | None = None,
) -> None:
    """Train the skills of a setting below a directory, or resume where it was stopped."""
    if fresh:
        for checkpoint in (directory / "training" / name).glob("*.safetensors"):
            checkpoint.unlink()
    recipe = toy(RECIPES[name]) if quick else RECIPES[name]
    train(name, directory, recipe=recipe, listener=listener)


def toy(recipe: Recipe) -> Recipe:
    """A training of seconds, which learns next to nothing, to see that all parts work."""
    return replace(recipe, settings=replace(recipe.settings, n_updates=2, chapter=2))


def seconds_of(name: str) -> float:
    """How long a training takes, roughly: as long as that of the shipped skills."""
    return float(network_store.read_manifest(SHIPPED_AT / name)["training"]["seconds"])


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


def line_of(event: Event) -> str:
    """How a training goes, in a line."""
    return (
        f"{event.what}: {event.n_updates:,} updates, {event.n_steps:,} steps, "
        f"loss {event.loss:.3f}, worst score {event.score:.4f}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Train one recipe from the command line."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Train networks that play Boxman.")
    parser.add_argument("name", choices=list(RECIPES), help="what to train")
    parser.add_argument("--out", type=Path, default=Path("trained"), help="default: %(default)s")
    given = parser.parse_args(arguments)
    train(given.name, given.out, listener=lambda event: print(line_of(event), flush=True))
    print(f"skills: {given.out / given.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
