"""Experiments → figures → claims → report: the paper's results, reproduced.

`reproduce` is one loop over the two halves of the paper's experiments, tabular and deep, or over as
much of them as a single figure needs.  Finished results are kept unless a fresh start is asked
for; each is written as a whole when it is done, so that an interrupted run resumes.

Below `Options.out`:

    results/tabular/  results/deep/     tables, claims.csv, claims.json, provenance.json
    results/…/figures/                  every figure as PNG and PDF, films as GIF
    report/index.html                   all of it on one page, for `reproduce("all", …)`
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from taskalgebra.extras import missing
from taskalgebra.paper.results.labels import DEEP, TABULAR
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.sweeps.engines import PROCESSES, SERIAL

if TYPE_CHECKING:
    from taskalgebra.paper.catalogue.figure import Picture
    from taskalgebra.paper.claims.verdicts import Claim, Question
    from taskalgebra.paper.experiments.boxman.settings import Shelf
    from taskalgebra.paper.experiments.suite import Experiment
    from taskalgebra.paper.results.record import Result
    from taskalgebra.sweeps.serial import Engine

ALL = "all"
ABOUT = {TABULAR: "theory and Four Rooms", DEEP: "Boxman"}
EXTRAS = {"matplotlib": "figures", "torch": "deep", "safetensors": "deep"}
REPORT = "report"
SECONDS_PER_FIGURE = 1.5  # roughly; only used to estimate the time left


@dataclass(frozen=True)
class Options:
    """Where to, and how."""

    out: Path = Path()
    """The directory of `results/` and `report/`."""
    fresh: bool = False
    """Also run again what is already there."""
    quick: bool = False
    """Toy size: a look at the whole in seconds."""
    workers: int = 2
    """Cells of experiments that run at once; results do not depend on it."""
    train: bool = False
    """Train the networks first, in `results/deep/skills`, and evaluate those."""
    skills: Path | None = None
    """Evaluate the skills in this directory instead of those that come with the library."""
    engine: str | None = None
    """Where cells run: "serial", "processes" or "ray"; results do not depend on it.  By default
    processes, and at toy size or with one worker this process alone."""
    address: str | None = None
    """Of a Ray cluster; without one, Ray is started on this machine."""

    def __post_init__(self) -> None:
        """Refuse two sources of skills."""
        if self.train and self.skills is not None:
            raise ValueError("train makes skills and skills takes others; give one of them")

    def open(self) -> Engine:
        """The engine that cells run on.

        Raises:
            ValueError: there is no such engine, or it takes no address.
            ModuleNotFoundError: Ray is not installed.
        """
        from taskalgebra.sweeps.running import engine_of

        few = self.quick or self.workers == 1
        name = self.engine or (SERIAL if few and self.address is None else PROCESSES)
        return engine_of(name, None if name == SERIAL else self.workers, self.address)

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
class Outcome:
    """What a reproduction leaves behind."""

    claims: dict[str, list[Claim]]  # of each half
    parts: list[Event]  # what was reported of each part when it was done
    report: Path | None = None


@dataclass(frozen=True)
class _Work:
    """What is to be done for one half."""

    half: str
    experiments: Sequence[Experiment]
    pictures: Sequence[Picture]
    questions: Sequence[Question]
    whole: bool  # all of the half, so that its claims are saved

    @property
    def figures(self) -> str:
        """The name of the part that draws figures."""
        return f"{self.half} figures"


@dataclass
class _Part:
    """A part of the work that is being done."""

    advance: Listener  # takes events whose share is that of the part
    kept: bool = False
    written: tuple[Path, ...] = ()
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def progress(self, share: float) -> None:
        """This much of the part is done."""
        self.advance(Event("", share))


@dataclass
class _Run:
    """A reproduction: its parts, how long each takes, and who hears of them."""

    listener: Listener
    seconds: dict[str, float]  # expected; 0 for results that were kept
    over: list[Event] = field(default_factory=list)

    def share(self, name: str, share: float) -> float:
        """The share of all work that is done when this much of a part is."""
        done = sum(self.seconds[event.what] for event in self.over)
        return (done + share * self.seconds[name]) / (sum(self.seconds.values()) or 1.0)

    @contextmanager
    def part(self, name: str) -> Iterator[_Part]:
        """Report a part when it begins, as it advances, and when it is done."""

        def advance(event: Event) -> None:
            what = f"{name}, {event.what}" if event.what else name
            self.listener(replace(event, what=what, share=self.share(name, event.share)))

        part = _Part(advance)
        part.progress(0.0)
        wall, cpu = time.perf_counter(), time.process_time()
        yield part
        part.seconds = time.perf_counter() - wall
        part.cpu_seconds = time.process_time() - cpu
        if part.kept:
            self.seconds[name] = 0.0
        event = Event(name, self.share(name, 1.0), seconds=part.seconds)
        self.over.append(replace(event, kept=part.kept, written=part.written))
        self.listener(self.over[-1])


def figures_of(what: str) -> dict[str, list[str]]:
    """Which pictures of each half are meant.

    Raises:
        ValueError: nothing has this name.
    """
    from taskalgebra.paper.catalogue import PICTURES, find
    from taskalgebra.paper.experiments.suite import EXPERIMENTS

    known: dict[str, list[str]] = {TABULAR: [], DEEP: []}
    for name, picture in PICTURES.items():
        known[EXPERIMENTS[picture.needs[0]].half].append(name)
    if what == ALL:
        return known
    if what in known:
        return {what: known[what]}
    try:
        found = find(what, others=(TABULAR, DEEP, ALL))
    except ValueError as error:
        raise ValueError(f"{error}; or {TABULAR}, {DEEP}, {ALL}") from None
    chosen = {half: [name for name in names if name in found] for half, names in known.items()}
    return {half: names for half, names in chosen.items() if names}


def reproduce(what: str, options: Options, listener: Listener = silent) -> Outcome:
    """Run what is missing, draw the figures, judge the claims; for "all", write the report.

    Args:
        what: "tabular", "deep", "all", or a figure: by its file name, a beginning of it, or as the
            paper numbers it, such as "figure-3".
        options: where to, and how.
        listener: hears of the progress.

    Raises:
        ModuleNotFoundError: figures need matplotlib, networks need torch.
        StoreError: the skills are missing or damaged.
        ValueError: there is no such figure, or a saved result is damaged.
    """
    _require("matplotlib")
    figures = figures_of(what)
    if DEEP in figures:
        _require("torch", "safetensors")
    elif options.train or options.skills is not None:
        raise ValueError(f"{what} needs no networks; training and skills belong to {DEEP}")
    works = [_work(half, names, whole=what in (half, ALL)) for half, names in figures.items()]
    trainings = _trainings(options) if options.train else {}
    run = _Run(listener, dict(trainings))
    for work in works:
        run.seconds |= {experiment.name: experiment.seconds for experiment in work.experiments}
        run.seconds[work.figures] = SECONDS_PER_FIGURE * len(work.pictures)
    if what == ALL:
        run.seconds[REPORT] = 1.0
    shelf = _skills(options, run, trainings) if DEEP in figures else None
    with options.open() as engine:
        claims = {work.half: _do(work, options, run, shelf, engine) for work in works}
    if what != ALL:
        return Outcome(claims, run.over)
    from taskalgebra.paper import report

    with run.part(REPORT) as part:
        names = {work.half: [e.name for e in work.experiments] for work in works}
        report.write(options.out / "results", options.report, names, quick=options.quick)
        part.written = (options.report,)
    return Outcome(claims, run.over, options.report)


def _require(*packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            need, extra = "figures" if package == "matplotlib" else "networks", EXTRAS[package]
            raise ModuleNotFoundError(missing(need, package, extra))


def _work(half: str, names: list[str], *, whole: bool) -> _Work:
    """What these figures of a half need; of a whole half, everything."""
    from taskalgebra.paper.catalogue import PICTURES, QUESTIONS
    from taskalgebra.paper.experiments.suite import EXPERIMENTS

    own = {name: e for name, e in EXPERIMENTS.items() if e.half == half}
    about = [q for q in QUESTIONS if set(q.needs) <= set(own)]
    asked = [q for q in about if whole or set(q.figures) & set(names)]
    pictures = [PICTURES[name] for name in names]
    needed = {n for p in pictures for n in p.needs} | {n for q in asked for n in q.needs}
    chosen = [e for name, e in own.items() if whole or name in needed]
    return _Work(half, chosen, pictures, asked, whole)


def _trainings(options: Options) -> dict[str, float]:
    """The parts that train networks, and how long each takes, roughly."""
    from taskalgebra.paper.experiments.boxman import training

    return {
        f"training {name}": 1.0 if options.quick else training.seconds_of(name)
        for name in training.TRAININGS
    }


def _skills(options: Options, run: _Run, trainings: dict[str, float]) -> Shelf:
    """The skills to evaluate, trained first where that was asked for."""
    from taskalgebra.paper.experiments.boxman import training
    from taskalgebra.paper.experiments.boxman.settings import Shelf

    for name in trainings:
        with run.part(name) as part:
            training.retrain(
                name.removeprefix("training "),
                options.trained,
                fresh=options.fresh,
                quick=options.quick,
                listener=part.advance,
            )
    return Shelf.load(options.trained if options.train else options.skills)


def _do(
    work: _Work, options: Options, run: _Run, shelf: Shelf | None, engine: Engine
) -> list[Claim]:
    """Results, figures and claims of one half."""
    from taskalgebra.paper.claims import verdicts
    from taskalgebra.paper.experiments import suite
    from taskalgebra.paper.results import provenance
    from taskalgebra.sweeps.on_ray import Ray
    from taskalgebra.sweeps.processes import Processes
    from taskalgebra.sweeps.running import Sweep

    directory, results = options.results(work.half), {}
    for experiment in work.experiments:
        with run.part(experiment.name) as part:
            before = engine.cpu_seconds
            results[experiment.name], part.kept = suite.obtain(
                experiment,
                directory,
                fresh=options.fresh,
                quick=options.quick,
                sweep=Sweep(engine, progress=part.progress),
                shelf=shelf,
            )
        if not part.kept:
            cpu_seconds = part.cpu_seconds + engine.cpu_seconds - before
            provenance.note(directory, experiment.name, part.seconds, cpu_seconds)
    try:
        with run.part(work.figures) as part:
            jobs = [
                (picture, {name: results[name] for name in picture.needs}, directory / "figures")
                for picture in work.pictures
            ]
            # On a cluster, other machines need not see this directory.
            local = Processes(options.workers) if isinstance(engine, Ray) else engine
            before = local.cpu_seconds
            with local if local is not engine else nullcontext():
                drawn = Sweep(local, progress=part.progress).map(_write, jobs)
            part.written = tuple(path for paths in drawn for path in paths)
            in_others = local.cpu_seconds - before
        claims = verdicts.answer(work.questions, results)
    except KeyError as error:
        raise _damaged(directory, error) from error
    if work.whole:
        provenance.note(directory, "figures", part.seconds, part.cpu_seconds + in_others)
        verdicts.save(claims, directory)
    return claims


def _write(job: tuple[Picture, Mapping[str, Result], Path]) -> tuple[Path, ...]:
    picture, results, directory = job
    try:
        return picture.write(results, directory)
    except KeyError as error:
        raise _damaged(directory.parent, error) from error


def _damaged(directory: Path, error: KeyError) -> ValueError:
    return ValueError(
        f"a saved result in {directory} is damaged ({error.args[0]}); run again with --fresh"
    )
