"""Experiments → figures → claims → report: the paper's results, made anew.

`reproduce` is one loop over the two halves of the paper's experiments, tabular and deep, or over as
much of them as a single figure needs.  Finished results are taken as they are unless a fresh start
is asked for; each is written whole when it is done, so a run that was stopped goes on where it was.

Below `Options.out`:

    results/tabular/  results/deep/     tables, claims.csv, claims.json, provenance.json
    results/…/figures/                  every figure as PNG and PDF, films as GIF
    report/index.html                   all of it on one page, for `reproduce("all", …)`
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taskalgebra.learning.deep.dqn import Chapter
    from taskalgebra.paper.experiments.suite import Experiment
    from taskalgebra.paper.experiments.verdicts import Claim, Question
    from taskalgebra.paper.figures.drawings import Drawing

TABULAR, DEEP, ALL = "tabular", "deep", "all"
EXTRAS = {"matplotlib": "figures", "torch": "deep", "safetensors": "deep"}
SECONDS_A_FIGURE = 1.5  # roughly; only the time left is estimated from it


@dataclass(frozen=True)
class Options:
    """Where to, and how."""

    out: Path = Path()
    """`results/` and `report/` are below it."""
    fresh: bool = False
    """Run again what is already there, too."""
    quick: bool = False
    """Toy size: a look at the whole in seconds."""
    workers: int = 2
    """Threads; results do not depend on it."""
    train: bool = False
    """Train the networks first, in `results/deep/skills`, and evaluate those."""
    skills: Path | None = None
    """Evaluate the skills in this directory instead of those that come with the library."""

    def __post_init__(self) -> None:
        """Refuse two sources of skills."""
        if self.train and self.skills is not None:
            raise ValueError("train makes skills and skills takes others; give one of them")

    def results(self, half: str) -> Path:
        """Where the results of a half go."""
        return self.out / "results" / half

    @property
    def trained(self) -> Path:
        """Where networks are trained."""
        return self.results(DEEP) / "skills"

    @property
    def report(self) -> Path:
        """Where the page goes."""
        return self.out / "report" / "index.html"


@dataclass(frozen=True)
class Part:
    """An experiment, the figures of a half, or the report, when it is done."""

    name: str
    seconds: float
    kept: bool = False  # a result that was already there
    written: tuple[Path, ...] = ()


class Listener:
    """Is told how far a reproduction is; this one does nothing with it."""

    def plan(self, seconds: Mapping[str, float]) -> None:
        """These parts come, in this order, and take roughly so many seconds.

        Trainings are planned on their own, before all else.
        """

    def begin(self, part: str) -> None:
        """A part begins."""

    def advance(self, fraction: float) -> None:
        """This much of the current part is done."""

    def end(self, part: Part) -> None:
        """A part is done."""

    def chapter(self, network: str, chapter: Chapter, score: float) -> None:
        """A training has come a chapter further."""


@dataclass(frozen=True)
class Outcome:
    """What a reproduction leaves behind."""

    claims: dict[str, list[Claim]]  # of each half
    parts: list[Part]
    report: Path | None = None


@dataclass(frozen=True)
class _Work:
    """What is to be done of one half."""

    half: str
    directory: Path
    experiments: Sequence[Experiment]
    drawings: Mapping[str, Drawing]
    questions: Sequence[Question]
    whole: bool  # all of the half, so that its claims can be written down

    @property
    def figures(self) -> str:
        """The name of the part in which figures are drawn."""
        return f"{self.half} figures"

    @property
    def seconds(self) -> dict[str, float]:
        """What comes, and how long it takes, roughly."""
        experiments = {experiment.name: experiment.seconds for experiment in self.experiments}
        return {**experiments, self.figures: SECONDS_A_FIGURE * len(self.drawings)}


def figures_of(what: str) -> dict[str, list[str]]:
    """Which figures of each half are meant.

    Raises:
        ValueError: by none of the names.
    """
    from taskalgebra.paper.figures import deep_gallery, gallery
    from taskalgebra.paper.figures.names import find

    known = {TABULAR: list(gallery.FIGURES), DEEP: list(deep_gallery.FIGURES)}
    if what == ALL:
        return known
    if what in known:
        return {what: known[what]}
    try:
        found = find(what, known[TABULAR] + known[DEEP], others=(TABULAR, DEEP, ALL))
    except ValueError as error:
        raise ValueError(f"{error}; or {TABULAR}, {DEEP}, {ALL}") from None
    chosen = {half: [name for name in names if name in found] for half, names in known.items()}
    return {half: names for half, names in chosen.items() if names}


def reproduce(what: str, options: Options, listener: Listener | None = None) -> Outcome:
    """Run what is missing, draw the figures, judge the claims; for "all", write the report.

    Args:
        what: "tabular", "deep", "all", or a figure: by its file name, a beginning of it, or as the
            paper numbers it, such as "figure-3".
        options: where to, and how.
        listener: is told how far it is.

    Raises:
        ModuleNotFoundError: figures need matplotlib, networks need torch.
        StoreError: the skills are missing or damaged.
        ValueError: there is no such figure, or a saved result is damaged.
    """
    listening = Listener() if listener is None else listener
    _require("matplotlib")
    wanted = figures_of(what)
    if DEEP in wanted:
        _require("torch", "safetensors")
    elif options.train or options.skills is not None:
        raise ValueError(f"{what} needs no networks; training and skills belong to {DEEP}")
    parts: list[Part] = []
    if options.train:
        _train(options, listening, parts)
    works = [
        _work(half, names, options, whole=what in (half, ALL)) for half, names in wanted.items()
    ]
    seconds = {name: s for work in works for name, s in work.seconds.items()}
    listening.plan({**seconds, "report": 1.0} if what == ALL else seconds)
    claims = {work.half: _do(work, options, listening, parts) for work in works}
    if what != ALL:
        return Outcome(claims, parts)
    from taskalgebra.paper import report

    with _Timed("report", listening, parts) as timed:
        names = {work.half: [e.name for e in work.experiments] for work in works}
        report.write(options.out / "results", options.report, names, quick=options.quick)
        timed.written = (options.report,)
    return Outcome(claims, parts, options.report)


def _require(*packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            need, extra = "figures" if package == "matplotlib" else "networks", EXTRAS[package]
            raise ModuleNotFoundError(f'{need} need {package}: pip install "taskalgebra[{extra}]"')


def _train(options: Options, listener: Listener, parts: list[Part]) -> None:
    """Train the networks of all settings, or go on with it."""
    from taskalgebra.paper.experiments import deep_suite

    names = {f"training {name}": name for name in deep_suite.TRAININGS}
    listener.plan(
        {part: deep_suite.seconds_of(name, quick=options.quick) for part, name in names.items()}
    )
    for part, name in names.items():
        with _Timed(part, listener, parts):
            deep_suite.train(
                name,
                options.trained,
                fresh=options.fresh,
                quick=options.quick,
                listen=listener.chapter,
                progress=listener.advance,
            )


def _work(half: str, names: list[str], options: Options, *, whole: bool) -> _Work:
    """What these figures of a half need; of a whole half, everything."""
    experiments: dict[str, Experiment]
    if half == TABULAR:
        from taskalgebra.paper.experiments import suite
        from taskalgebra.paper.experiments.claims import QUESTIONS
        from taskalgebra.paper.figures.gallery import FIGURES

        experiments, questions, figures = suite.TABULAR, QUESTIONS, FIGURES
    else:
        from taskalgebra.paper.experiments import deep_claims
        from taskalgebra.paper.figures import deep_gallery

        questions, figures = deep_claims.QUESTIONS, deep_gallery.FIGURES
        experiments = _deep_experiments(options)
    asked = [q for q in questions if whole or set(q.figures) & set(names)]
    drawings = {name: figures[name] for name in names}
    needs = [drawing.needs for drawing in drawings.values()] + [q.needs for q in asked]
    needed: set[str] = set().union(*needs)
    chosen = [e for name, e in experiments.items() if whole or name in needed]
    return _Work(half, options.results(half), chosen, drawings, asked, whole)


def _deep_experiments(options: Options) -> dict[str, Experiment]:
    """The experiments with networks, on the skills that were asked for."""
    from taskalgebra.paper.experiments import deep_suite
    from taskalgebra.paper.experiments.boxman_settings import digests, load_skills

    where = options.trained if options.train else options.skills
    skills, hashes = load_skills(where), digests(where)
    return {name: e.on(skills, hashes) for name, e in deep_suite.DEEP.items()}


def _do(work: _Work, options: Options, listener: Listener, parts: list[Part]) -> list[Claim]:
    """Results, figures and claims of one half."""
    from taskalgebra.paper.experiments import provenance, suite, verdicts

    results = {}
    for experiment in work.experiments:
        with _Timed(experiment.name, listener, parts) as timed:
            results[experiment.name], timed.kept = suite.obtain(
                experiment,
                work.directory,
                fresh=options.fresh,
                quick=options.quick,
                workers=options.workers,
                progress=listener.advance,
            )
        if not timed.kept:
            provenance.note(work.directory, experiment.name, timed.seconds, timed.cpu_seconds)
    try:
        with _Timed(work.figures, listener, parts) as timed:
            for i, (name, drawing) in enumerate(work.drawings.items()):
                timed.written += tuple(drawing.write(results, work.directory / "figures" / name))
                listener.advance((i + 1) / len(work.drawings))
        claims = verdicts.answer(work.questions, results)
    except KeyError as error:
        raise ValueError(
            f"a saved result in {work.directory} is damaged ({error.args[0]}); run again with "
            f"--fresh"
        ) from error
    if work.whole:
        provenance.note(work.directory, "figures", timed.seconds, timed.cpu_seconds)
        verdicts.save(claims, work.directory)
    return claims


class _Timed:
    """Measures a part and tells the listener."""

    def __init__(self, name: str, listener: Listener, parts: list[Part]) -> None:
        self.name, self.listener, self.parts = name, listener, parts
        self.kept = False
        self.written: tuple[Path, ...] = ()
        self.seconds = self.cpu_seconds = 0.0

    def __enter__(self) -> _Timed:
        self.listener.begin(self.name)
        self._start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.seconds = time.perf_counter() - self._start[0]
        self.cpu_seconds = time.process_time() - self._start[1]
        if kind is None:
            part = Part(self.name, self.seconds, self.kept, self.written)
            self.parts.append(part)
            self.listener.end(part)
