"""Cells: what a sweep consists of, and what becomes of them."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from taskalgebra.sweeps.content import code_of, digest, qualified, written_code_of

RETRIES = 3
"""How often a cell is run again whose worker was killed."""


class SweepError(RuntimeError):
    """A sweep that cannot be finished; what is finished is kept, if it is kept at all."""


@final
class CellError(SweepError):
    """A cell failed, or its worker was killed time and again."""


@final
class LostError(SweepError):
    """The machines that cells run on are gone."""


@final
@dataclass(frozen=True)
class Cell:
    """One piece of work: `function(data)`.

    The data is frozen and travels by pickle.  It holds all that the result depends on, the seed of
    every random number included: a cell gives the same bits wherever it runs.
    """

    function: Callable[[Any], Any]  # of a module
    data: Any
    name: str = ""  # for messages; by default that of the function, and its place in the sweep

    def __post_init__(self) -> None:
        """Refuse functions that another process cannot find."""
        if not callable(self.function):
            raise TypeError(f"a cell calls a function of its data, got {self.function!r}")
        qualified(self.function)

    def __str__(self) -> str:
        """The name for messages."""
        return self.name or qualified(self.function)

    @property
    def key(self) -> str:
        """The digest of the function's name, the data and the code that matters (`code_of`)."""
        function = qualified(self.function)
        return digest(("cell 1", function, self.data, written_code_of(self.function)))


@final
@dataclass(frozen=True)
class Done:
    """A cell that was run."""

    value: Any
    seconds: float
    cpu_seconds: float
    where: str  # the machine and the process


@final
@dataclass(frozen=True)
class Failed:
    """A cell that raised an error, in words: not every error survives the way between processes."""

    error: str
    trace: str


ERRORS = (Exception, SystemExit)
"""What fails a cell: one that calls `sys.exit` must not end the sweep as if all were well."""
_SCRIPTS = ("__main__", "__mp_main__")


def perform(function: Callable[[Any], Any], data: Any, where: str, code: str) -> Done | Failed:
    """On a worker: run a cell, if the code is that of the process that asks."""
    if function.__module__ not in _SCRIPTS and code_of(function) != code:
        return Failed(
            f"the worker on {where} has other sources or versions than the process that asks; "
            f"install the same ones on all machines, and leave them alone while a sweep runs",
            "",
        )
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        value = function(data)
    except ERRORS as error:
        return Failed(words_of(error), traceback.format_exc())
    return Done(value, time.perf_counter() - wall, time.process_time() - cpu, where)


def words_of(error: BaseException) -> str:
    """An error in words: its class and its message."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def failure(cell: Cell, failed: Failed) -> CellError:
    """The error of a cell that failed in another process; the trace from there is its cause."""
    found = CellError(f"the cell {cell} failed: {failed.error}")
    found.__cause__ = _Elsewhere(failed.trace)
    return found


class _Elsewhere(Exception):
    """The trace of an error in another process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def seed_of(*numbers: int) -> int:
    """A seed for one cell: a 64-bit mix of the sweep's seed and the numbers of the cell.

    >>> seed_of(0, 1) == seed_of(0, 1), seed_of(0, 1) == seed_of(1, 0)
    (True, False)
    """
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])
