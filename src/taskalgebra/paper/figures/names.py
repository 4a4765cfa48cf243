"""Figures by name: their own, a beginning of it, or the number that the paper gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

PAPER: dict[str, str] = {
    "figure_7": "supplement_algorithm",
    "figure_8": "supplement_composition_dense",
    "figure_9": "supplement_relaxed",
    "figure_10": "supplement_slips",
    "figure_11": "supplement_touch_extended_values",
    "figure_12": "supplement_touch_extended_values",
    "figure_13": "supplement_touch_extended_values",
    "figure_14": "supplement_touch_returns",
    "figure_15": "supplement_touch_composition",
    "figure_16": "supplement_layout",
    "table_1": "supplement_layout",
}
"""The supplement goes on with the numbers of the paper; our files have names instead."""


def find(given: str, known: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """The figures that a name stands for.

    Args:
        given: the name, as in the paper or as one of our files.
        known: the figures that there are.
        others: what else may have been meant, for the question after a wrong name.

    >>> names = ["figure_3a_samples", "figure_3b_n_tasks", "supplement_layout"]
    >>> find("figure-3", names)
    ['figure_3a_samples', 'figure_3b_n_tasks']
    >>> find("Fig. 3b", names), find("figure-16", names)
    (['figure_3b_n_tasks'], ['supplement_layout'])

    Raises:
        ValueError: there is no such figure.
    """
    names = list(known)
    plain = re.sub(r"[^a-z0-9]+", "_", given.lower()).strip("_")
    plain = re.sub(r"^(fig_|figure_)?(?=\d)|^fig(ure)?(?=\d)", "figure_", plain)
    plain = PAPER.get(plain, plain)
    if plain in names:
        return [plain]
    beginning = re.compile(rf"{re.escape(plain)}(_|(?<=\d)[a-z]_)") if plain else None
    found = [name for name in names if beginning is not None and beginning.match(name)]
    if not found:
        near = get_close_matches(plain, [*names, *PAPER, *others], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(
            f"no figure {given!r}{hint} Known: {', '.join(names)}, and those of the paper by "
            f"number, such as figure-3 or figure-10"
        )
    return found
