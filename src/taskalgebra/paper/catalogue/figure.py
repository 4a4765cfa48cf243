"""A figure of the paper: its place, its words, its pictures, and how its claims are judged.

A picture names the module of `paper.figures` that draws it.  The module is imported when it draws,
because matplotlib is optional and slow to import.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from taskalgebra.paper.claims.verdicts import Question
from taskalgebra.paper.results.record import Result

FIGURES = "taskalgebra.paper.figures"


@dataclass(frozen=True)
class Picture:
    """A picture or film of ours, and the results from which it is drawn."""

    name: str  # its file, without the ending
    module: str  # of `paper.figures`, with a function `draw`, or `write` for a film
    alt: str  # what is seen, for those who cannot see it
    options: Mapping[str, str] = field(default_factory=dict)  # of the drawing
    film: bool = False
    needs: tuple[str, ...] = ()  # results that are drawn; by default that of the module's name

    def __post_init__(self) -> None:
        """Draw the experiment of the same name, unless told otherwise."""
        object.__setattr__(self, "needs", self.needs or (self.module,))

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of its files."""
        return ("gif",) if self.film else ("png", "pdf")

    def draw(self, results: Mapping[str, Result]) -> Any:
        """A still as a matplotlib figure."""
        drawing = import_module(f"{FIGURES}.{self.module}")
        return drawing.draw(*(results[name] for name in self.needs), **self.options)

    def write(self, results: Mapping[str, Result], directory: Path) -> tuple[Path, ...]:
        """Draw it and write its files to a directory."""
        stem = directory / self.name
        if not self.film:
            return tuple(import_module(f"{FIGURES}.style").save(self.draw(results), stem))
        (name,) = self.needs
        film = import_module(f"{FIGURES}.{self.module}")
        return (film.write(results[name], path=stem.with_suffix(".gif"), **self.options),)


@dataclass(frozen=True)
class Figure:
    """One figure of the paper, or a part of it that has claims and no figure."""

    id: str  # its anchor in the report
    place: str  # as the paper numbers it
    title: str
    words: str  # what was done and what the figure says
    pictures: tuple[Picture, ...] = ()  # the first shows the claims
    questions: tuple[Question, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The files of its pictures."""
        return tuple(picture.name for picture in self.pictures)

    @property
    def asked(self) -> list[Question]:
        """Its questions, each with all figures that show its claims, this one first."""
        return [replace(q, figures=(*self.names[:1], *q.figures)) for q in self.questions]

    @property
    def numbers(self) -> list[str]:
        """What the paper calls it, as in a command.

        >>> Figure("", "Figures 11 to 13", "", "").numbers
        ['figure_11', 'figure_12', 'figure_13']
        >>> Figure("", "Figure 16 and Table 1", "", "").numbers
        ['figure_16', 'table_1']
        """
        numbers: list[str] = []
        for kind, first, last in re.findall(
            r"(Figure|Table)s? (\d+[a-z]?)(?: to (\d+))?", self.place
        ):
            some = range(int(first), int(last) + 1) if last else [first]
            numbers += [f"{kind.lower()}_{number}" for number in some]
        return numbers


def film(name: str, alt: str, **options: str) -> Picture:
    """A film of recorded episodes of Boxman; the options are a setting and a task."""
    return Picture(name, "boxman_film", alt, options, film=True, needs=("boxman_trajectories",))


def figure(place: str, title: str, words: str, *parts: Picture | Question, id: str = "") -> Figure:
    """A figure from its words, followed by its pictures and the questions that it answers.

    >>> figure("Figures 11 to 13", "", "").id, figure("Figure 16 and Table 1", "", "").id
    ('figures-11-13', 'figure-16')
    """
    short = place.lower().partition(" and ")[0].replace(" to ", "-").replace(" ", "-")
    pictures = tuple(part for part in parts if isinstance(part, Picture))
    questions = tuple(part for part in parts if isinstance(part, Question))
    return Figure(id or short, place, title, words, pictures, questions)
