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

from taskalgebra.deep import Listener
from taskalgebra.experiments import (
    boxman_returns,
    boxman_training,
    boxman_trajectories,
    boxman_values,
)
from taskalgebra.experiments.boxman_settings import SETTINGS
from taskalgebra.experiments.boxman_training import RECIPES, Recipe
from taskalgebra.experiments.parallel import Progress
from taskalgebra.experiments.record import Result
from taskalgebra.experiments.suite import Experiment
from taskalgebra.skills import Skills

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


def train_all(
    directory: Path, *, fresh: bool = False, quick: bool = False, listen: Listener | None = None
) -> None:
    """Train the skills of all settings below a directory, or go on where it was stopped.

    They are trained in their order: a recipe may start from the skills of the one before.
    """
    for name in (setting.skills for setting in SETTINGS.values()):
        if fresh:
            for checkpoint in (directory / "training" / name).glob("*.safetensors"):
                checkpoint.unlink()
        recipe = toy(RECIPES[name]) if quick else RECIPES[name]
        boxman_training.train(name, directory, recipe=recipe, listen=listen)


def toy(recipe: Recipe) -> Recipe:
    """A training of seconds, which learns next to nothing, to see that all parts work."""
    return replace(recipe, settings=replace(recipe.settings, n_updates=2, chapter=2))
