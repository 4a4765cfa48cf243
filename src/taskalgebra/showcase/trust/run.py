"""Run the report: measure each part, keep its result, judge the claims, and write the page.

Below `out/results/trust` each part has a result of its own, which is kept as long as its
configuration is the same.  `trust.md` has the tables and verdicts of all parts that are there,
`claims.csv` the verdicts alone, and `figures/` a picture of each part.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import final

from taskalgebra import files
from taskalgebra.paper.claims import verdicts
from taskalgebra.paper.claims.verdicts import Claim, Question, answer
from taskalgebra.paper.experiments.suite import kept
from taskalgebra.paper.results.record import Result, as_json, load
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.showcase.trust.table import page
from taskalgebra.sweeps.keeping import CELLS, Keep
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.validation import closest, listed

PAGE = "trust.md"


@final
@dataclass(frozen=True)
class Part:
    """A part of the report; its module has the same name."""

    name: str
    title: str
    drawn: bool = True
    """Whether there is a picture of it."""

    @property
    def module(self) -> ModuleType:
        """The module that measures and judges."""
        return import_module(f"taskalgebra.showcase.trust.{self.name}")

    @property
    def question(self) -> Question:
        """What is asked of its result."""
        figures = (self.name,) if self.drawn else ()
        return Question((self.name,), self.module.judge, figures, ours=True)


PARTS = {
    part.name: part
    for part in (
        Part("lakes", "Slippery lakes, dense rewards, different goals", drawn=False),
        Part("slips", "Slips from 0 to .9"),
        Part("noise", "Noise on base tasks"),
        Part("lifelong", "Streams of tasks"),
    )
}
"""In the order of the page."""
PREFIX = "trust-"
"""Of the names of parts in the command, such as `trust-slips`: the paper has slips too."""


@final
@dataclass(frozen=True)
class Shown:
    """A part that was run."""

    part: Part
    result: Result
    claims: tuple[Claim, ...]
    seconds: float
    kept: bool

    @property
    def ok(self) -> bool:
        """Whether every claim holds as stated."""
        return all(claim.holds for claim in self.claims)


def chosen(names: Sequence[str]) -> list[Part]:
    """Parts by name, or all.

    Raises:
        ValueError: there is no such part.
    """
    for name in names:
        if name not in PARTS:
            known = list(PARTS)
            raise ValueError(
                f"unknown part {name!r}; there are {listed(known)}{closest(name, known)}"
            )
    return [PARTS[name] for name in names] or list(PARTS.values())


def run(
    names: Sequence[str] = (),
    out: Path = Path(),
    *,
    fresh: bool = False,
    quick: bool = False,
    sweep: Sweep = ALONE,
    listener: Listener = silent,
) -> Iterator[Shown]:
    """Run parts one after the other, and write the page and, with matplotlib, the pictures.

    Raises:
        ValueError: there is no such part, or a result cannot be judged.
    """
    picked = chosen(names)
    directory = out / "results" / "trust"
    for i, part in enumerate(picked):

        def tell(fraction: float, before: int = i, title: str = part.title) -> None:
            listener(Event(title, (before + fraction) / len(picked)))

        tell(0.0)
        config = part.module.QUICK if quick else part.module.Config()
        start = time.perf_counter()
        result = None if fresh else kept(part.name, as_json(config), directory)
        there = result is not None
        cells = Keep(directory / CELLS / part.name)
        if fresh or there:
            cells.clear()
        if result is None:
            own = replace(sweep, keep=cells.directory, progress=tell)
            result = part.module.run(config, sweep=own)
            result.save(directory)
            cells.clear()
        claims = tuple(answer([part.question], {part.name: result}))
        shown = Shown(part, result, claims, time.perf_counter() - start, there)
        listener(Event(part.title, (i + 1) / len(picked), seconds=shown.seconds, kept=there))
        yield shown
    write(directory)


def results(directory: Path) -> dict[str, Result]:
    """The results that are there, in the order of the page.

    Raises:
        ValueError: a result cannot be read.
    """
    found = {}
    for name in PARTS:
        try:
            found[name] = load(name, directory)
        except FileNotFoundError:
            continue
    return found


def judged(found: dict[str, Result]) -> dict[str, list[Claim]]:
    """The claims of each part whose result is there."""
    return {name: answer([PARTS[name].question], found) for name in found}


def write(directory: Path) -> list[Path]:
    """Write what follows from the results that are there; returns the files to look at."""
    found = results(directory)
    claims = judged(found)
    verdicts.save([claim for each in claims.values() for claim in each], directory)
    titles = {name: PARTS[name].title for name in found}
    drawn = [name for name in found if PARTS[name].drawn and find_spec("matplotlib") is not None]
    files.replace(directory / PAGE, page(found, claims, titles, drawn).encode())
    written = [directory / PAGE]
    for name in drawn:
        from taskalgebra.paper.figures.style import save

        drawing = import_module(f"taskalgebra.showcase.trust.figures.{name}")
        written += save(drawing.draw(found[name]), directory / "figures" / name)
    return written
