"""How many threads one process uses, so that several workers do not crowd each other out.

With W workers on C cores each should use C / W threads; left alone, each uses C.  Numerical
libraries read their number of threads from the environment when they are loaded:

- start workers with `thread_variables(n)` in their environment, and all libraries keep to it;
- call `limit_threads(n)` first in a worker for what was loaded already.
"""

from __future__ import annotations

import os
import sys

from taskalgebra.limits import MOST_THREADS

VARIABLES = (
    "OMP_NUM_THREADS",  # torch, and whatever else uses OpenMP
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
OWN = "TASKALGEBRA_NUM_THREADS"
"""Of the threads on which goals are searched; workers of workers inherit it."""


def thread_variables(n: int) -> dict[str, str]:
    """Environment variables for a process that is to use n threads.

    >>> thread_variables(2)["OMP_NUM_THREADS"]
    '2'
    """
    return dict.fromkeys((*VARIABLES, OWN), str(_checked(n)))


def limit_threads(n: int) -> None:
    """Let this process use n threads, as far as libraries allow it after they were loaded.

    Planning obeys at once, and so does torch, loaded or not.  The linear algebra of numpy keeps
    the number of threads with which it was loaded.
    """
    variables = thread_variables(n)
    if "numba" in sys.modules:  # which refuses another number once its threads run
        del variables["NUMBA_NUM_THREADS"]
    os.environ.update(variables)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(n)


def n_threads() -> int:
    """How many threads this process may use: the limit, or one per core that it may run on."""
    given = os.environ.get(OWN, "")
    if given:
        if not given.isdecimal():
            raise ValueError(
                f"{OWN} is {given!r}, expected a whole number from 1 to {MOST_THREADS}"
            )
        return _checked(int(given))
    return cores()


def cores() -> int:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):  # not every system can tell
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _checked(n: int) -> int:
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError(f"the number of threads is {n!r}, expected a whole number")
    if not 1 <= n <= MOST_THREADS:
        raise ValueError(f"the number of threads is {n}, expected 1 to {MOST_THREADS}")
    return n
