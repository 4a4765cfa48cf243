"""Every figure and film of the experiments with networks, by file name."""

from __future__ import annotations

from taskalgebra.paper.figures import (
    boxman_composition,
    boxman_returns,
    boxman_subsets,
    boxman_values,
)
from taskalgebra.paper.figures.drawings import Drawing, Film, Still

VALUES, TRAJECTORIES, RETURNS = "boxman_values", "boxman_trajectories", "boxman_returns"


def _values(setting: str) -> Still:
    return Still((VALUES,), lambda results: boxman_values.draw(results[VALUES], setting))


def _composition(setting: str) -> Still:
    return Still(
        (VALUES, TRAJECTORIES),
        lambda results: boxman_composition.draw(results[VALUES], results[TRAJECTORIES], setting),
    )


def _returns(setting: str) -> Still:
    return Still((RETURNS,), lambda results: boxman_returns.draw(results[RETURNS], setting))


FIGURES: dict[str, Drawing] = {
    "figure_4_extended_values": _values("fixed"),
    "figure_5_composition": _composition("fixed"),
    "figure_6_returns": _returns("fixed"),
    "supplement_random_returns": _returns("random"),
    "supplement_touch_extended_values": _values("touch"),
    "supplement_touch_returns": _returns("touch"),
    "supplement_touch_composition": _composition("touch"),
    "all_63_tasks": Still((RETURNS,), lambda results: boxman_subsets.draw(results[RETURNS])),
    "boxman_blue_xor_square": Film((TRAJECTORIES,), "fixed", "blue ^ square"),
    "boxman_random_not_blue_or_square": Film((TRAJECTORIES,), "random", "~(blue | square)"),
    "boxman_touch_purple_or_blue": Film((TRAJECTORIES,), "touch", "purple | blue"),
}
"""File name: what draws it from the results of its experiments."""
