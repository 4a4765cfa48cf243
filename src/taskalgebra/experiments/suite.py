"""All tabular experiments in their order, and how to get a result: from disk, or by running."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from taskalgebra.experiments import (
    baselines,
    composition,
    efficient,
    forty_goals,
    layout,
    n_tasks,
    optimal_forty,
    optimal_sixteen,
    relaxed,
    rewards,
    samples,
    slips,
)
from taskalgebra.experiments.parallel import Progress
from taskalgebra.experiments.record import Result, as_json, load


@dataclass(frozen=True)
class Experiment:
    """One protocol: its configurations, and how to run it."""

    config: Any
    quick: Any
    run: Callable[[Any, int, Progress | None], Result]
    seconds: float  # at full scale, roughly; only the time left is estimated from it


def _experiment(module: ModuleType, seconds: float) -> Experiment:
    return Experiment(module.Config(), module.QUICK, module.run, seconds)


TABULAR: dict[str, Experiment] = {
    rewards.NAME: _experiment(rewards, 0.1),
    layout.NAME: _experiment(layout, 0.1),
    composition.NAME: _experiment(composition, 0.5),
    samples.NAME: _experiment(samples, 2),
    n_tasks.NAME: _experiment(n_tasks, 1),
    forty_goals.NAME: _experiment(forty_goals, 10),
    efficient.NAME: _experiment(efficient, 10),
    optimal_sixteen.NAME: _experiment(optimal_sixteen, 1),
    optimal_forty.NAME: _experiment(optimal_forty, 5),
    relaxed.NAME: _experiment(relaxed, 4),
    slips.NAME: _experiment(slips, 16),
    baselines.NAME: _experiment(baselines, 10),
}


def obtain(
    name: str,
    directory: Path,
    *,
    fresh: bool = False,
    quick: bool = False,
    workers: int = 2,
    progress: Progress | None = None,
) -> tuple[Result, bool]:
    """The result of an experiment, and whether it was already there.

    A saved result is taken if it is finished and was made with the same configuration, unless
    `fresh` asks for a new one.
    """
    experiment = TABULAR[name]
    config = experiment.quick if quick else experiment.config
    if not fresh:
        try:
            saved = load(name, directory)
        except (FileNotFoundError, ValueError):
            pass
        else:
            if saved.config == as_json(config):
                return saved, True
    result = experiment.run(config, workers, progress)
    result.save(directory)
    return result, False
