"""All experiments with networks in their order, and the training of these networks.

A result belongs to the skills that were evaluated.  Its configuration holds a hash of their weights
and it is run again for others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from taskalgebra.learning.deep.dqn import Chapter
from taskalgebra.learning.deep.training import Listener
from taskalgebra.paper.experiments import (
    boxman_returns,
    boxman_training,
    boxman_trajectories,
    boxman_values,
)
from taskalgebra.paper.experiments.boxman_settings import SETTINGS
from taskalgebra.paper.experiments.boxman_training import RECIPES, Recipe
from taskalgebra.paper.experiments.parallel import Progress
from taskalgebra.paper.experiments.record import Result
from taskalgebra.paper.experiments.suite import Experiment
from taskalgebra.skills.catalogue import SHIPPED_AT
from taskalgebra.skills.network_store import read_manifest
from taskalgebra.skills.skills import Skills

Run = Callable[[Any, Mapping[str, Skills], int, Progress | None], Result]


@dataclass(frozen=True)
class DeepExperiment:
    """One protocol: its configurations, and how to run it on skills."""

    name: str
    config: Any
    quick: Any
    run: Run
    seconds: float  # at full scale, roughly; only the time left is estimated from it

    def on(self, skills: Mapping[str, Skills], digests: Mapping[str, str]) -> Experiment:
        """The experiment on some skills, whose hashes join the configuration of its result."""

        def run(config: Any, workers: int, progress: Progress | None) -> Result:
            return self.run(config, skills, workers, progress)

        about = {"skills": dict(digests)}
        return Experiment(self.name, self.config, self.quick, run, self.seconds, about)


def _experiment(module: ModuleType, seconds: float) -> DeepExperiment:
    return DeepExperiment(module.NAME, module.Config(), module.QUICK, module.run, seconds)


DEEP: dict[str, DeepExperiment] = {
    experiment.name: experiment
    for experiment in (
        _experiment(boxman_values, 1),
        _experiment(boxman_trajectories, 3),
        _experiment(boxman_returns, 40),
    )
}


TRAININGS: tuple[str, ...] = tuple(setting.skills for setting in SETTINGS.values())
"""The skills that are trained, in order: a recipe may start from the skills of the one before."""


def seconds_of(training: str, *, quick: bool = False) -> float:
    """How long a training takes, roughly: as long as that of the shipped skills."""
    told = read_manifest(SHIPPED_AT / training)["training"]["seconds"]
    return 1.0 if quick else float(told)


def train(
    name: str,
    directory: Path,
    *,
    fresh: bool = False,
    quick: bool = False,
    listen: Listener | None = None,
    progress: Progress | None = None,
) -> None:
    """Train skills below a directory, or go on where it was stopped."""
    if fresh:
        for checkpoint in (directory / "training" / name).glob("*.safetensors"):
            checkpoint.unlink()
    recipe = toy(RECIPES[name]) if quick else RECIPES[name]
    begun: set[str] = set()

    def told(network: str, chapter: Chapter, score: float) -> None:
        if listen is not None:
            listen(network, chapter, score)
        if progress is not None:
            begun.add(network)
            done = len(begun) - 1 + chapter.n_updates / recipe.settings.n_updates
            progress(done / recipe.n_networks)

    boxman_training.train(name, directory, recipe=recipe, listen=told)


def toy(recipe: Recipe) -> Recipe:
    """A training of seconds, which learns next to nothing, to see that all parts work."""
    return replace(recipe, settings=replace(recipe.settings, n_updates=2, chapter=2))
