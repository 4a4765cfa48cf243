"""Every figure of the paper, in its order: one record each, from which all else follows.

It says what can be reproduced under which names, which experiments that needs, which files are
drawn, which claims are judged, and what the report says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from taskalgebra.paper.catalogue.figure import Figure, Picture
from taskalgebra.paper.catalogue.paper import MAIN, THEORY
from taskalgebra.paper.catalogue.supplement import OURS, SUPPLEMENT
from taskalgebra.paper.claims.verdicts import Question

__all__ = ["FIGURES", "MAIN", "OURS", "PICTURES", "QUESTIONS", "SUPPLEMENT", "THEORY", "find"]

FIGURES: tuple[Figure, ...] = (THEORY, *MAIN, *SUPPLEMENT, *OURS)
PICTURES: dict[str, Picture] = {p.name: p for figure in FIGURES for p in figure.pictures}
QUESTIONS: tuple[Question, ...] = tuple(
    sorted((q for figure in FIGURES for q in figure.asked), key=lambda question: question.ours)
)
"""In the order of the paper; those that go beyond it come last."""


def find(given: str, others: Iterable[str] = ()) -> list[str]:
    """The pictures that a name stands for: their own, a prefix of it, or the paper's number.

    Args:
        given: the name, as in the paper or of one of our files.
        others: what else may have been meant, for the hint after a wrong name.

    >>> find("figure-3")
    ['figure_3a_samples', 'figure_3b_n_tasks', 'figure_3c_forty_goals']
    >>> find("Fig. 3b"), find("figure-16")
    (['figure_3b_n_tasks'], ['supplement_layout'])

    Raises:
        ValueError: there is no such figure.
    """
    known = {name: [name] for name in PICTURES}
    for figure in FIGURES:  # a number means what is in the paper, which has no films
        stills = [picture.name for picture in figure.pictures if not picture.film]
        known |= {number: stills for number in figure.numbers}
    plain = re.sub(r"[^a-z0-9]+", "_", given.lower()).strip("_")
    plain = re.sub(r"^(fig_|figure_)?(?=\d)|^fig(ure)?(?=\d)", "figure_", plain)
    if plain in known:
        return known[plain]
    prefix = re.compile(rf"{re.escape(plain)}(_|(?<=\d)[a-z]_)")
    found = [name for name in PICTURES if plain and prefix.match(name)]
    if not found:
        near = get_close_matches(plain, [*known, *others], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(
            f"no figure {given!r}{hint} Known: {', '.join(PICTURES)}, and those of the paper by "
            f"number, such as figure-3 or figure-10"
        )
    return found
