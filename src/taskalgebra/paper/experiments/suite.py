"""All tabular experiments in their order, and how to get a result: from disk, or by running."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from taskalgebra.paper.experiments import (
    algorithm,
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
    theorems,
)
from taskalgebra.paper.experiments.parallel import Progress
from taskalgebra.paper.experiments.record import Result, as_json, load


@dataclass(frozen=True)
class Experiment:
    """One protocol: its configurations, and how to run it."""

    name: str
    config: Any
    quick: Any
    run: Callable[[Any, int, Progress | None], Result]
    seconds: float  # at full scale, roughly; only the time left is estimated from it
    about: Mapping[str, Any] = field(default_factory=dict)  # joins the configuration of a result


def _experiment(module: ModuleType, seconds: float) -> Experiment:
    return Experiment(module.NAME, module.Config(), module.QUICK, module.run, seconds)


TABULAR: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        _experiment(theorems, 6),
        _experiment(rewards, 0.1),
        _experiment(layout, 0.1),
        _experiment(composition, 0.5),
        _experiment(samples, 2),
        _experiment(n_tasks, 1),
        _experiment(forty_goals, 10),
        _experiment(efficient, 10),
        _experiment(optimal_sixteen, 1),
        _experiment(optimal_forty, 5),
        _experiment(algorithm, 1),
        _experiment(relaxed, 4),
        _experiment(slips, 16),
        _experiment(baselines, 10),
    )
}


def obtain(
    experiment: Experiment,
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
    config = experiment.quick if quick else experiment.config
    full = {**as_json(config), **experiment.about}
    if not fresh:
        try:
            saved = load(experiment.name, directory)
        except (FileNotFoundError, ValueError):
            pass
        else:
            if saved.config == full:
                return saved, True
    result = replace(experiment.run(config, workers, progress), config=full)
    result.save(directory)
    return result, False
