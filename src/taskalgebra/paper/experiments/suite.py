"""All experiments in their order, and how to get a result: from disk, or by running.

A module with an experiment is imported when it is needed: networks need torch, tables do not.  A
result of networks belongs to the skills that were evaluated.  Its configuration holds a hash of
their weights, and the experiment is run again for others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from taskalgebra import files
from taskalgebra.paper.results.labels import DEEP, TABULAR
from taskalgebra.paper.results.record import Result, as_json, load
from taskalgebra.sweeps.keeping import CELLS, Keep
from taskalgebra.sweeps.running import ALONE, Sweep

if TYPE_CHECKING:
    from taskalgebra.paper.experiments.boxman.settings import Shelf


@dataclass(frozen=True)
class Experiment:
    """One protocol: the module with its `Config`, its `QUICK` configuration and its `run`."""

    path: str  # of the module, below this package
    seconds: float  # at full scale, roughly; only used to estimate the time left
    skilled: bool = False  # whether `run` also takes skills, by setting

    @property
    def name(self) -> str:
        """The name of its result."""
        return self.path.replace(".", "_")

    @property
    def half(self) -> str:
        """The half of the paper it belongs to, and the directory of its result."""
        return DEEP if self.skilled else TABULAR

    @property
    def module(self) -> ModuleType:
        """The protocol."""
        return import_module(f"taskalgebra.paper.experiments.{self.path}")

    def config(self, *, quick: bool = False) -> Any:
        """The paper's configuration, or one of toy size."""
        return self.module.QUICK if quick else self.module.Config()


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment("theorems", 6),
        Experiment("rewards", 0.1),
        Experiment("layout", 0.1),
        Experiment("composition", 0.5),
        Experiment("samples", 2),
        Experiment("n_tasks", 1),
        Experiment("forty_goals", 10),
        Experiment("efficient", 10),
        Experiment("optimal_sixteen", 1),
        Experiment("optimal_forty", 5),
        Experiment("algorithm", 1),
        Experiment("relaxed", 4),
        Experiment("slips", 30),
        Experiment("baselines", 30),
        Experiment("baselines_forty", 50),
        Experiment("boxman.values", 1, skilled=True),
        Experiment("boxman.trajectories", 3, skilled=True),
        Experiment("boxman.returns", 40, skilled=True),
    )
}


def obtain(
    experiment: Experiment,
    directory: Path,
    *,
    fresh: bool = False,
    quick: bool = False,
    sweep: Sweep = ALONE,
    shelf: Shelf | None = None,
) -> tuple[Result, bool]:
    """The result of an experiment, and whether it was already there.

    A saved result is taken if it is finished and was made with the same configuration, unless
    `fresh` asks for a new one.  Until there is one, finished cells of the sweep are kept.  The
    skills on the shelf are for experiments that take them.
    """
    config = experiment.config(quick=quick)
    full, given = as_json(config), {}
    if experiment.skilled and shelf is not None:
        full["skills"], given["skills"] = dict(shelf.digests), shelf.skills
    saved = None if fresh else kept(experiment.name, full, directory)
    cells = Keep(directory / CELLS / experiment.name)
    if saved is not None:
        cells.clear()  # of a run that was killed when this was finished
        return saved, True
    run: Callable[..., Result] = experiment.module.run
    if fresh:
        cells.clear()
    own = replace(sweep, keep=cells.directory)
    result = replace(run(config, **given, sweep=own), config=full)
    result.save(directory)
    cells.clear()
    return result, False


def kept(name: str, config: Mapping[str, Any], directory: Path) -> Result | None:
    """A saved result that is finished and was made with this configuration, as JSON has it."""
    try:
        saved = load(name, directory)
    except (FileNotFoundError, ValueError):
        return None
    if saved.config != config:
        return None
    files.clear(directory)  # of a writer that was killed when this was finished
    return saved
