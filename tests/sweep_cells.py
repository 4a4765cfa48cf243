"""Functions for cells of tests: other processes import them from here."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np


def square(x):
    return x * x


def drawn(seed):
    """A result with every kind of part that can be kept."""
    rng = np.random.default_rng(seed)
    table = rng.random((3, 2))
    return {
        "table": table,
        "mean": float(table.mean()),
        "numpy mean": table.mean(),
        "odd": (None, True, 2**70, -0.0, float("nan"), float("-inf"), "ä\n", np.int32(3)),
        "empty": [(), [], {}, np.zeros((0, 4), np.uint8)],
        3: np.array(["a", "bcd"]),
    }


def noted(cell):
    """Leave a line in a file for every time that this is run."""
    folder, number, seconds = cell
    with open(Path(folder) / "runs", "a", encoding="utf-8") as file:
        file.write(f"{number}\n")
    time.sleep(seconds)
    return np.random.default_rng(number).random(4)


def refuses(x):
    if x == 1:
        raise ValueError(f"no {x}")
    return x


def leaves(x):
    """End the process in good order, as scripts do."""
    sys.exit(x)


def killed(cell):
    """End the process of cell 2, the first so many times."""
    folder, number, times = cell
    for i in range(times):
        path = Path(folder) / f"killed {i}"
        if number == 2 and not path.exists():
            path.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return number


def nothing_kept(x):
    return {x}


def threads(_):
    """How many threads numerical libraries and the planner use here."""
    import numba
    import torch

    from taskalgebra.threads import n_threads

    of_numpy = os.environ["OPENBLAS_NUM_THREADS"]
    return torch.get_num_threads(), numba.get_num_threads(), of_numpy, n_threads()


def slow(x):
    time.sleep(0.1)
    return x


def variables(names):
    return {name: os.environ.get(name) for name in names}
