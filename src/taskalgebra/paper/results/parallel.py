"""Many independent jobs on a few threads, or in a few processes.

The learners' kernels run without the interpreter lock, so threads are enough.  A job is given
all that it needs, its seed included, so that its result does not depend on the thread that runs it.
Results come back in the order of the jobs.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

import numpy as np

from taskalgebra.limits import MOST_THREADS
from taskalgebra.validation import count

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")
Progress = Callable[[float], None]
"""Called at intervals with the fraction of the work that is done."""


def spread(
    function: Callable[[Job], Outcome],
    jobs: Iterable[Job],
    *,
    workers: int = 2,
    progress: Progress | None = None,
) -> list[Outcome]:
    """`[function(job) for job in jobs]`, on several threads.

    Ctrl-C, and an error in any job, drop the jobs that have not begun.
    """
    todo = list(jobs)
    done: list[Outcome] = []
    pool = ThreadPoolExecutor(count(workers, "workers", most=MOST_THREADS))
    try:
        for outcome in pool.map(function, todo):
            done.append(outcome)
            if progress is not None:
                progress(len(done) / len(todo))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return done


def in_processes(
    function: Callable[[Job], Outcome], jobs: Iterable[Job], workers: int = 2
) -> Iterator[Outcome]:
    """`map(function, jobs)`, in several processes: for what holds the interpreter lock.

    Ctrl-C is for this process, which then ends the others.

    Raises:
        ChildProcessError: one of them was killed.
    """
    if workers <= 1:
        yield from map(function, jobs)
        return
    ignored = (signal.SIGINT, signal.SIG_IGN)
    pool = ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, ignored)
    try:
        yield from pool.map(function, jobs)
    except BaseException as error:
        for process in list(pool._processes.values()):  # whose jobs nobody waits for
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise ChildProcessError(
                "a process that worked for this one was killed, perhaps for lack of memory; run "
                "again, with fewer workers"
            ) from None
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def part(progress: Progress | None, start: float, end: float) -> Progress | None:
    """The progress of a part of the work that lies between two fractions of the whole."""
    if progress is None:
        return None
    whole = progress
    return lambda fraction: whole(start + (end - start) * fraction)


def seed_of(*numbers: int) -> int:
    """A seed for one job: a 64-bit mix of the experiment's seed and the numbers of the job.

    >>> seed_of(0, 1) == seed_of(0, 1), seed_of(0, 1) == seed_of(1, 0)
    (True, False)
    """
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])
