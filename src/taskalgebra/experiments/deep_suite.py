"""All experiments with networks in their order, and how to get a result: from disk, or by running.

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
from taskalgebra.experiments.record import Result, as_json, load
from taskalgebra.skills import Skills

Run = Callable[[Any, Mapping[str, Skills], int, Progress | None], Result]


@dataclass(frozen=True)
class DeepExperiment:
    """One protocol: its configurations, and how to run it on skills."""

    config: Any
    quick: Any
    run: Run
    seconds: float  # at full scale, roughly; only the time left is estimated from it


def _experiment(module: ModuleType, seconds: float) -> DeepExperiment:
    return DeepExperiment(module.Config(), module.QUICK, module.run, seconds)


DEEP: dict[str, DeepExperiment] = {
    boxman_values.NAME: _experiment(boxman_values, 1),
    boxman_trajectories.NAME: _experiment(boxman_trajectories, 3),
    boxman_returns.NAME: _experiment(boxman_returns, 40),
}


def obtain(
    name: str,
    directory: Path,
    skills: Mapping[str, Skills],
    digests: Mapping[str, str],
    *,
    fresh: bool = False,
    quick: bool = False,
    workers: int = 2,
    progress: Progress | None = None,
) -> tuple[Result, bool]:
    """The result of an experiment on some skills, and whether it was already there."""
    experiment = DEEP[name]
    config = experiment.quick if quick else experiment.config
    full = {**as_json(config), "skills": dict(digests)}
    if not fresh:
        try:
            saved = load(name, directory)
        except (FileNotFoundError, ValueError):
            pass
        else:
            if saved.config == full:
                return saved, True
    result = replace(experiment.run(config, skills, workers, progress), config=full)
    result.save(directory)
    return result, False


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
