"""One cell after the other, in this process; and what every engine is."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from os import getpid
from types import TracebackType
from typing import Protocol, Self, final

from taskalgebra.sweeps.cells import ERRORS, RETRIES, Cell, CellError, Done, words_of


class Engine(Protocol):
    """Where cells are run.  It may be used for many sweeps, in a `with` statement."""

    @property
    def workers(self) -> int:
        """How many cells run at once."""

    @property
    def cpu_seconds(self) -> float:
        """What cells have taken so far in other processes than this one."""

    def outcomes(self, cells: Sequence[Cell], retries: int = RETRIES) -> Iterator[tuple[int, Done]]:
        """The cells with their numbers, in the order in which they are finished.

        Raises:
            SweepError: a cell failed, or cannot be run.
        """

    def __enter__(self) -> Self:
        """Use it."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release what it holds."""


def here() -> str:
    """This machine and process."""
    return f"{socket.gethostname()}:{getpid()}"


@final
class Serial:
    """One cell after the other, in this process."""

    workers = 1
    cpu_seconds = 0.0

    def outcomes(self, cells: Sequence[Cell], retries: int = RETRIES) -> Iterator[tuple[int, Done]]:
        """Run the cells in their order."""
        for i, cell in enumerate(cells):
            wall, cpu = time.perf_counter(), time.process_time()
            try:
                value = cell.function(cell.data)
            except ERRORS as error:
                raise CellError(f"the cell {cell} failed: {words_of(error)}") from error
            done = Done(value, time.perf_counter() - wall, time.process_time() - cpu, here())
            yield i, done

    def __enter__(self) -> Self:
        """Nothing to begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""
