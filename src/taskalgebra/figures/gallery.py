"""Every figure of the tabular experiments, by file name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from taskalgebra.experiments.record import Result
from taskalgebra.figures import (
    composition,
    forty_goals,
    layout,
    n_tasks,
    relaxed,
    rewards,
    samples,
    slips,
)
from taskalgebra.figures.style import save

FIGURES: dict[str, tuple[str, Callable[[Result], Figure]]] = {
    "figure_1_rewards": ("rewards", rewards.draw),
    "figure_2_composition": ("composition", composition.draw),
    "figure_3a_samples": ("samples", samples.draw),
    "figure_3b_n_tasks": ("n_tasks", n_tasks.draw),
    "figure_3c_forty_goals": ("forty_goals", forty_goals.draw),
    "supplement_composition_dense": ("composition", partial(composition.draw, rewards="dense")),
    "supplement_layout": ("layout", layout.draw),
    "supplement_relaxed": ("relaxed", relaxed.draw),
    "supplement_slips": ("slips", slips.draw),
}
"""File name: the experiment, and what draws its result."""


def draw_all(
    results: Mapping[str, Result],
    directory: Path,
    *,
    drawn: Callable[[int], None] | None = None,
) -> list[Path]:
    """Draw and write every figure; `drawn` is told how many are done."""
    written = []
    for i, (name, (experiment, draw)) in enumerate(FIGURES.items()):
        result = results[experiment]
        ours = results.get("efficient") if experiment == "forty_goals" else None
        figure = draw(result) if ours is None else forty_goals.draw(result, ours)
        written += save(figure, directory / name)
        if drawn is not None:
            drawn(i + 1)
    return written
