"""Every figure and film of the experiments with networks, by file name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.figure import Figure

from taskalgebra.experiments.record import Result
from taskalgebra.figures import (
    boxman_composition,
    boxman_film,
    boxman_returns,
    boxman_subsets,
    boxman_values,
)
from taskalgebra.figures.style import save

Results = Mapping[str, Result]
VALUES, TRAJECTORIES, RETURNS = "boxman_values", "boxman_trajectories", "boxman_returns"


def _values(setting: str) -> Callable[[Results], Figure]:
    return lambda results: boxman_values.draw(results[VALUES], setting)


def _composition(setting: str) -> Callable[[Results], Figure]:
    return lambda results: boxman_composition.draw(results[VALUES], results[TRAJECTORIES], setting)


def _returns(setting: str) -> Callable[[Results], Figure]:
    return lambda results: boxman_returns.draw(results[RETURNS], setting)


FIGURES: dict[str, Callable[[Results], Figure]] = {
    "figure_4_extended_values": _values("fixed"),
    "figure_5_composition": _composition("fixed"),
    "figure_6_returns": _returns("fixed"),
    "supplement_random_returns": _returns("random"),
    "supplement_touch_extended_values": _values("touch"),
    "supplement_touch_composition": _composition("touch"),
    "supplement_touch_returns": _returns("touch"),
    "all_63_tasks": lambda results: boxman_subsets.draw(results[RETURNS]),
}
"""File name: what draws it from the results."""
FILMS: dict[str, tuple[str, str]] = {
    "boxman_blue_xor_square": ("fixed", "blue ^ square"),
    "boxman_random_not_blue_or_square": ("random", "~(blue | square)"),
    "boxman_touch_purple_or_blue": ("touch", "purple | blue"),
}
"""File name: setting and task."""


def draw_all(
    results: Results, directory: Path, *, drawn: Callable[[int], None] | None = None
) -> list[Path]:
    """Draw and write every figure and film; `drawn` is told how many are done."""
    written: list[Path] = []
    for i, (name, draw) in enumerate(FIGURES.items()):
        written += save(draw(results), directory / name)
        if drawn is not None:
            drawn(i + 1)
    for i, (name, (setting, task)) in enumerate(FILMS.items()):
        path = directory / f"{name}.gif"
        written.append(boxman_film.write(results[TRAJECTORIES], setting, task, path))
        if drawn is not None:
            drawn(len(FIGURES) + i + 1)
    return written
