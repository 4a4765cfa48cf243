"""Every figure of the tabular experiments, by file name."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from taskalgebra.paper.experiments.record import Result
from taskalgebra.paper.figures import (
    algorithm,
    composition,
    forty_goals,
    layout,
    n_tasks,
    relaxed,
    rewards,
    samples,
    slips,
)
from taskalgebra.paper.figures.drawings import Drawing, Still


def _of(experiment: str, draw: Callable[[Result], Figure]) -> Still:
    return Still((experiment,), lambda results: draw(results[experiment]))


FIGURES: dict[str, Drawing] = {
    "figure_1_rewards": _of("rewards", rewards.draw),
    "figure_2_composition": _of("composition", composition.draw),
    "figure_3a_samples": _of("samples", samples.draw),
    "figure_3b_n_tasks": _of("n_tasks", n_tasks.draw),
    "figure_3c_forty_goals": Still(
        ("forty_goals", "efficient"),
        lambda results: forty_goals.draw(results["forty_goals"], results["efficient"]),
    ),
    "supplement_algorithm": _of("algorithm", algorithm.draw),
    "supplement_composition_dense": _of(
        "composition", lambda result: composition.draw(result, rewards="dense")
    ),
    "supplement_relaxed": _of("relaxed", relaxed.draw),
    "supplement_slips": _of("slips", slips.draw),
    "supplement_layout": _of("layout", layout.draw),
}
"""File name: what draws it from the results of its experiments."""
