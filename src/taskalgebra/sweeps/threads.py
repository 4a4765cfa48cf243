"""Jobs on a few threads of this process, for what is large, in memory, and frees the lock.

Networks are such: they would have to travel to every other process.  All else is cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from taskalgebra.limits import MOST_THREADS
from taskalgebra.progress import Progress
from taskalgebra.validation import count

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


def on_threads(
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
