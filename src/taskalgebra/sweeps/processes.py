"""Cells in a few processes of this machine.

Each process has one thread for linear algebra, networks and planning, so that many do not fight for
the same cores, and ends with the process that began it, however that ends.

When a process is killed, nobody knows which of the cells that were on their way it had: these are
then run one at a time, until each is finished or has been the end of its process too often.
"""

from __future__ import annotations

import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread
from typing import Any, Self, final

from taskalgebra.limits import MOST_THREADS
from taskalgebra.progress import LOGGER
from taskalgebra.sweeps.cells import (
    RETRIES,
    Cell,
    CellError,
    Done,
    Failed,
    failure,
    perform,
    words_of,
)
from taskalgebra.sweeps.content import code_of, is_written
from taskalgebra.sweeps.serial import here
from taskalgebra.threads import cores, thread_variables
from taskalgebra.validation import count

ONE_THREAD = thread_variables(1)
"""What numpy, numba, torch and the planner read."""
AT_HAND = 2
"""Cells on their way for each process, so that none waits for the next one."""


@final
class Processes:
    """Local processes, which are begun with the first cell and live until the engine is closed."""

    def __init__(self, workers: int | None = None) -> None:
        """Choose how many; by default as many as there are cores."""
        self.workers = cores() if workers is None else count(workers, "workers", most=MOST_THREADS)
        self.cpu_seconds = 0.0
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        """Use it for some sweeps."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def outcomes(self, cells: Sequence[Cell], retries: int = RETRIES) -> Iterator[tuple[int, Done]]:
        """Run the cells, a few at once."""
        waiting, suspects = deque(range(len(cells))), deque[int]()
        killed: Counter[int] = Counter()
        flying: dict[Future[Done | Failed], int] = {}
        try:
            while waiting or suspects or flying:
                room = 1 if suspects else AT_HAND * self.workers
                while len(flying) < room and (queue := suspects or waiting):
                    i = queue.popleft()
                    flying[self._begin(cells[i])] = i
                finished, _ = wait(flying, return_when=FIRST_COMPLETED)
                if any(_killed(future) for future in finished):
                    finished, _ = wait(flying)  # a process that is killed takes them all along
                lost = []
                for future in finished:
                    i = flying.pop(future)
                    if _killed(future):
                        lost.append(i)
                    else:
                        yield i, self._result(cells[i], future)
                if lost:
                    self._discard()
                    killed.update(lost)
                    _say_lost(cells, lost, killed, retries)
                    suspects.extend(sorted(lost))
        finally:
            if flying:
                self._discard()  # whose cells nobody waits for

    def _begin(self, cell: Cell) -> Future[Done | Failed]:
        if not is_written(cell.function):
            raise CellError(
                f"the function of the cell {cell} was written in a notebook or at a prompt, where "
                f"other processes do not find it; write it in a file, and import that"
            )
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.workers, _Context(), _prepare)
        try:
            return self._pool.submit(_perform, cell.function, cell.data, code_of(cell.function))
        except BrokenProcessPool as error:  # it was killed while it had nothing to do
            found: Future[Done | Failed] = Future()
            found.set_exception(error)
            return found

    def _result(self, cell: Cell, future: Future[Done | Failed]) -> Done:
        try:
            done = future.result()
        except Exception as error:  # on the way there or back
            raise CellError(
                f"the cell {cell} cannot travel between processes: {words_of(error)}"
            ) from error
        if isinstance(done, Failed):
            raise failure(cell, done)
        self.cpu_seconds += done.cpu_seconds
        return done

    def _discard(self) -> None:
        """End the processes at once."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(cancel_futures=True)


def _killed(future: Future[Done | Failed]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _say_lost(
    cells: Sequence[Cell], lost: Sequence[int], killed: Counter[int], retries: int
) -> None:
    for i in lost:
        if killed[i] > retries:
            raise CellError(
                f"the cell {cells[i]}: its process was killed {killed[i]} times, perhaps for lack "
                f"of memory; run again with fewer workers, or with smaller cells; or, if errors of "
                f"new processes are printed above, call run below `if __name__ == '__main__':`"
            )
    LOGGER.warning(
        "a process was killed; what it may have been at is run again, one at a time: %s",
        ", ".join(str(cells[i]) for i in sorted(lost)),
    )


def _perform(function: Callable[[Any], Any], data: Any, code: str) -> Done | Failed:
    return perform(function, data, here(), code)


def _prepare() -> None:
    """In a new process: Ctrl-C is for the one that began it, with which this one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, name="end with parent", daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Process(SpawnProcess):
    """A process that is begun with one thread for each library."""

    def start(self) -> None:
        """Begin it."""
        with _environment(ONE_THREAD):
            super().start()


class _Context(SpawnContext):
    """New processes, with nothing of this one in them."""

    Process = _Process


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
