"""`taskalgebra reproduce` makes every result of the paper anew.

`reproduce tabular` does so for the tabular ones, `reproduce deep` for those with networks.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Literal, TextIO, final

import typer

from taskalgebra.cli import FAILED, OK

if TYPE_CHECKING:
    from taskalgebra.experiments.claims import Claim
    from taskalgebra.learning.dqn import Chapter

FULL, QUICK = Path("results/tabular"), Path("results/quick")
DEEP_FULL, DEEP_QUICK = Path("results/deep"), Path("results/quick-deep")
EXTRAS = {"matplotlib": "figures", "torch": "deep", "safetensors": "deep"}
EXAMPLES = (
    ("reproduce tabular", "the Four Rooms experiments, figures and claims"),
    ("reproduce deep --out results/deep", "those with networks, from the shipped ones"),
)


@dataclass(frozen=True)
class _Given:
    out: Path | None
    fresh: bool
    quick: bool
    workers: int
    train: bool
    skills: Path | None


def reproduce(
    what: Annotated[
        Literal["tabular", "deep"],
        typer.Argument(help="The Four Rooms experiments, or those with networks in Boxman."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            metavar="DIR",
            help=f"Results go there, figures below it (default: {FULL} or {DEEP_FULL}; with "
            f"--quick: {QUICK} or {DEEP_QUICK}).",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run again what is already there, too.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Toy size: a look at the whole in seconds.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Threads; results do not depend on it.")] = 2,
    train: Annotated[
        bool,
        typer.Option(
            "--train",
            help="Deep: train the networks first, below the directory of results, and evaluate "
            "them instead of those that come with the library; a training that was stopped goes "
            "on.",
        ),
    ] = False,
    skills: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            metavar="DIR",
            help="Deep: evaluate the skills in DIR instead of those that come with the library.",
        ),
    ] = None,
) -> int:
    """Run the paper's experiments, draw its figures, and check its claims."""
    if what == "tabular" and (train or skills):
        raise typer.BadParameter("--train and --skills belong to: reproduce deep")
    if train and skills:
        raise typer.BadParameter("--train makes skills and --skills takes others; give one of them")
    for package in ("matplotlib",) if what == "tabular" else tuple(EXTRAS):
        if find_spec(package) is None:
            need, extra = "figures" if package == "matplotlib" else "networks", EXTRAS[package]
            print(f'{need} need {package}: pip install "taskalgebra[{extra}]"', file=sys.stderr)
            return FAILED
    given = _Given(out, fresh, quick, workers, train, skills)
    try:
        return _tabular(given) if what == "tabular" else _deep(given)
    except KeyError as error:
        print(
            f"taskalgebra: a saved result is damaged ({error.args[0]}); run again with --fresh",
            file=sys.stderr,
        )
        return FAILED


def _tabular(given: _Given) -> int:
    # The experiments and matplotlib take a second to import; --help should not.
    from taskalgebra.experiments import claims
    from taskalgebra.experiments.suite import TABULAR, obtain
    from taskalgebra.figures import gallery

    out: Path = given.out or (QUICK if given.quick else FULL)
    seconds = {name: experiment.seconds for name, experiment in TABULAR.items()}
    meter = Meter({**seconds, "figures": 14.0})
    results = {}
    for name in TABULAR:
        meter.begin(name)
        results[name], kept = obtain(
            name,
            out,
            fresh=given.fresh,
            quick=given.quick,
            workers=given.workers,
            progress=meter.advance,
        )
        meter.end("kept" if kept else "")
    meter.begin("figures")
    n_figures = len(gallery.FIGURES)
    written = gallery.draw_all(
        results,
        out / "figures",
        drawn=lambda n_drawn: meter.advance(n_drawn / n_figures),
    )
    meter.end(f"{len(written)} files")
    found = claims.judge(results)
    claims.save(found, out)
    _print_claims(found, "Four Rooms", out, toy_size=given.quick)
    return OK


def _deep(given: _Given) -> int:
    from taskalgebra.experiments import claims, deep_claims, deep_suite
    from taskalgebra.experiments.boxman_settings import digests, load_skills
    from taskalgebra.figures import deep_gallery
    from taskalgebra.folder import StoreError

    out: Path = given.out or (DEEP_QUICK if given.quick else DEEP_FULL)
    where: Path | None = given.skills
    if given.train:
        where = out / "skills"
        deep_suite.train_all(where, fresh=given.fresh, quick=given.quick, listen=_tell_chapter)
    try:
        skills, hashes = load_skills(where), digests(where)
    except StoreError as error:
        print(f"taskalgebra: {error}", file=sys.stderr)
        print("train them with: taskalgebra reproduce deep --train", file=sys.stderr)
        return FAILED
    seconds = {name: experiment.seconds for name, experiment in deep_suite.DEEP.items()}
    meter = Meter({**seconds, "figures": 15.0})
    results = {}
    for name in deep_suite.DEEP:
        meter.begin(name)
        results[name], kept = deep_suite.obtain(
            name,
            out,
            skills,
            hashes,
            fresh=given.fresh,
            quick=given.quick,
            workers=given.workers,
            progress=meter.advance,
        )
        meter.end("kept" if kept else "")
    meter.begin("figures")
    n_figures = len(deep_gallery.FIGURES) + len(deep_gallery.FILMS)
    written = deep_gallery.draw_all(
        results,
        out / "figures",
        drawn=lambda n_drawn: meter.advance(n_drawn / n_figures),
    )
    meter.end(f"{len(written)} files")
    found = deep_claims.judge(results)
    claims.save(found, out)
    _print_claims(found, "Boxman", out, toy_size=given.quick)
    return OK


def _tell_chapter(network: str, chapter: Chapter, score: float) -> None:
    print(
        f"{network}: {chapter.n_updates:,} updates, {chapter.n_steps:,} steps, "
        f"loss {chapter.loss:.3f}, worst score {score:.4f}",
        file=sys.stderr,
        flush=True,
    )


def _print_claims(found: Sequence[Claim], about: str, out: Path, *, toy_size: bool) -> None:
    print(f"\nThe paper's claims about {about}{', at toy size' if toy_size else ''}\n")
    for claim in found:
        _print_claim(claim)
    holding = sum(claim.holds for claim in found)
    print(f"{holding} of {len(found)} claims hold as stated.")
    print(f"Results: {out}   figures: {out / 'figures'}   claims: {out / 'claims.csv'}")


def _print_claim(claim: Claim) -> None:
    verdict = "holds" if claim.holds else "DOES NOT HOLD"
    print(f"{claim.where}: {verdict}")
    for label, text in (("claim", claim.claim), ("measured", claim.measured)):
        print(fill(text, 96, initial_indent=f"  {label + ':':<10}", subsequent_indent=" " * 12))
    print()


@final
class Meter:
    """Says how long each part took and, on a terminal, how much time is left."""

    def __init__(self, seconds: dict[str, float], out: TextIO | None = None) -> None:
        """Take the expected seconds of each part, in order."""
        self.seconds = seconds
        self.out = sys.stderr if out is None else out
        self.live = self.out.isatty()
        self._width = max(18, *(len(name) + 2 for name in seconds))
        self._done = 0.0  # expected seconds of the parts that are over
        self._spent = 0.0  # real seconds that they took, and expected ones of those that were run
        self._planned = 0.0
        self._shown = 0.0
        self._name = ""
        self._start = 0.0

    def begin(self, name: str) -> None:
        """Begin a part."""
        self._name, self._start = name, time.perf_counter()
        self._show(0.0)

    def advance(self, fraction: float) -> None:
        """Part of the current part is done."""
        if time.perf_counter() - self._shown > 0.1:
            self._show(fraction)

    def end(self, note: str) -> None:
        """The current part is done; print a line that stays."""
        took = time.perf_counter() - self._start
        if note != "kept":
            self._spent += took
            self._planned += self.seconds[self._name]
        self._done += self.seconds[self._name]
        clear = "\r\033[K" if self.live else ""
        text = note if note == "kept" else f"{took:.1f} s" + (f", {note}" if note else "")
        print(f"{clear}{self._name:<{self._width}}{text}", file=self.out, flush=True)

    def left(self, fraction: float) -> float:
        """Estimated seconds left, at the pace of this machine so far."""
        spent = self._spent + time.perf_counter() - self._start
        here = self.seconds[self._name]
        planned = self._planned + fraction * here
        pace = spent / planned if planned > 1.0 else 1.0
        return pace * (sum(self.seconds.values()) - self._done - fraction * here)

    def _show(self, fraction: float) -> None:
        if not self.live:
            return
        self._shown = time.perf_counter()
        print(
            f"\r\033[K{self._name:<{self._width}}{100 * fraction:3.0f} %   about "
            f"{self.left(fraction):.0f} s left in all",
            end="",
            file=self.out,
            flush=True,
        )
