"""`run`: the one function behind which engines are chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

from taskalgebra import files
from taskalgebra.progress import Event, Listener, Progress, part, silent
from taskalgebra.sweeps.cells import RETRIES, Cell, Done, SweepError
from taskalgebra.sweeps.engines import ENGINES, PROCESSES, RAY, SERIAL
from taskalgebra.sweeps.keeping import Keep
from taskalgebra.sweeps.on_ray import Ray
from taskalgebra.sweeps.processes import Processes
from taskalgebra.sweeps.serial import Engine, Serial
from taskalgebra.validation import closest, count, listed


def engine_of(name: str, workers: int | None = None, address: str | None = None) -> Engine:
    """The engine with a name: "serial", "processes" or "ray".

    Args:
        name: which.
        workers: cells at once; by default one for each core of the machine, or of the cluster.
        address: of a Ray cluster; without one, Ray is started on this machine.

    Raises:
        ValueError: there is no such engine, or it has no address or workers.
    """
    if name not in ENGINES:
        raise ValueError(
            f"unknown engine {name!r}; there are {listed(ENGINES)}{closest(name, ENGINES)}"
        )
    if address is not None and name != RAY:
        raise ValueError(f"an address is for the engine 'ray', not for {name!r}")
    if name == RAY:
        return Ray(address, workers)
    if name == PROCESSES:
        return Processes(workers)
    if workers not in (None, 1):
        raise ValueError(f"the engine 'serial' has 1 worker, got {workers}")
    return Serial()


def run(
    cells: Iterable[Cell],
    engine: str | Engine = SERIAL,
    *,
    keep: str | Path | None = None,
    listener: Listener = silent,
    retries: int = RETRIES,
) -> list[Any]:
    """`[cell.function(cell.data) for cell in cells]`, wherever cells are run.

    Results come in the order of the cells, the same bits from every engine and every number of
    workers.

    Args:
        cells: the sweep.
        engine: where cells are run: "serial", "processes" or "ray", or an engine that is used for
            several sweeps.
        keep: a directory in which finished cells are kept and found again.  Results are then of
            the kinds that `taskalgebra.sweeps.packing` names.
        listener: hears of every cell that is finished or found.
        retries: how often a cell is run again whose worker was killed.

    Raises:
        SweepError: a cell failed or cannot be run; the message names it.  What was finished is
            kept, and the same call continues from there.
        OSError: finished cells cannot be written; the message names the file or the directory.
    """
    if not isinstance(engine, str) and not callable(getattr(engine, "outcomes", None)):
        raise TypeError(
            f"the engine is {engine!r}, expected one of {listed(ENGINES)}, or an Engine"
        )
    if isinstance(engine, type):
        raise TypeError(f"the engine is the class {engine.__name__}; make one: {engine.__name__}()")
    count(retries, "retries", least=0)
    todo = _numbered(list(cells))
    kept = None if keep is None else Keep(keep)
    results: dict[int, Any] = {}

    def finished(i: int, done: Done, *, found: bool) -> None:
        results[i] = done.value
        share = len(results) / len(todo)
        listener(Event(str(todo[i]), share, seconds=done.seconds, kept=found))

    keys = [] if kept is None else [cell.key for cell in todo]
    if kept is not None:
        for i, (key, cell) in enumerate(zip(keys, todo, strict=True)):
            if (done := kept.get(key, cell)) is not None:
                finished(i, done, found=True)
    left = [i for i in range(len(todo)) if i not in results]
    if not left:
        return [results[i] for i in range(len(todo))]
    if kept is not None:
        files.require_writable(kept.directory)  # before a cell is run that could not be kept
    chosen = engine_of(engine) if isinstance(engine, str) else engine
    try:
        if isinstance(engine, str):
            with chosen:
                _run(todo, left, chosen, kept, keys, retries, finished)
        else:
            _run(todo, left, chosen, kept, keys, retries, finished)
    except SweepError as error:
        if kept is not None:
            error.args = (f"{error}; {_so_far(results, todo, kept)}",)
        raise
    except OSError as error:
        if kept is None or error.errno is None:
            raise
        why = f"{error.strerror}; {_so_far(results, todo, kept)}"
        raise OSError(error.errno, why, error.filename) from None
    return [results[i] for i in range(len(todo))]


def _run(
    cells: Sequence[Cell],
    left: Sequence[int],
    engine: Engine,
    kept: Keep | None,
    keys: Sequence[str],
    retries: int,
    finished: Callable[..., None],
) -> None:
    for number, done in engine.outcomes([cells[i] for i in left], retries):
        i = left[number]
        if kept is not None:
            kept.put(keys[i], cells[i], done)
        finished(i, done, found=False)


def _numbered(cells: Sequence[Cell]) -> list[Cell]:
    """The cells, with names that tell those without one apart."""
    for cell in cells:
        if not isinstance(cell, Cell):
            raise TypeError(f"a sweep is a list of cells, got {cell!r}")
    return [
        cell if cell.name else replace(cell, name=f"{cell}, {i + 1} of {len(cells)}")
        for i, cell in enumerate(cells)
    ]


def _so_far(results: dict[int, Any], cells: Sequence[Cell], kept: Keep) -> str:
    return (
        f"{len(results)} of {len(cells)} cells are finished and kept in {kept.directory}, and the "
        f"same sweep continues from there"
    )


@final
@dataclass(frozen=True)
class Sweep:
    """How the cells of an experiment are run, which does not change its results."""

    engine: Engine = field(default_factory=Serial)
    keep: Path | None = None
    progress: Progress | None = None

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """`[function(item) for item in items]`; the function is one of a module."""
        tell = self.progress

        def heard(event: Event) -> None:
            if tell is not None:
                tell(event.share)

        cells = [Cell(function, item) for item in items]
        return run(cells, self.engine, keep=self.keep, listener=heard)

    def part(self, start: float, end: float) -> Sweep:
        """For a part of the work that lies between two fractions of the whole."""
        return replace(self, progress=part(self.progress, start, end))


ALONE = Sweep()
"""Here, one cell after the other, and nothing is kept."""
