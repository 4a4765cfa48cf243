"""How figures of large worlds are taken: seconds, CPU seconds and peaks of memory, as rows.

A figure is taken in a process of its own (`apart`), after all kernels are compiled, so that its
peak of memory is its own.  Rows are kept in `results/scaling/`, with the machine and the versions.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from taskalgebra import files
from taskalgebra.paper.results import provenance
from taskalgebra.paper.results.record import Table

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results" / "scaling"
COLUMNS = ("what", "library", "size", "states", "goals", "seconds", "cpu_seconds", "peak_bytes")


def cpu():
    """CPU seconds of this process, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak():
    """Peak memory of this process in bytes; `ru_maxrss` may be that of the one that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(function):
    """Wall seconds, CPU seconds and the result."""
    wall, used = time.perf_counter(), cpu()
    result = function()
    return time.perf_counter() - wall, cpu() - used, result


def best(function, enough=0.3, most=7):
    """`timed`, the shortest of several runs: until they took so many seconds, or so many runs."""
    wall, used, result = timed(function)
    total, n = wall, 1
    while n < most and total < enough:
        again, cpu_again, result = timed(function)
        total, n = total + again, n + 1
        if again < wall:
            wall, used = again, cpu_again
    return wall, used, result


def row(what, library, world, n_goals, function, *, size=None, measure=timed):
    """One row, and what the function returned: the world itself, if none is given."""
    wall, used, result = measure(function)
    states = (world or result).n_states
    size = states if size is None else size
    figures = (what, library, size, states, n_goals, wall, used, peak())
    return dict(zip(COLUMNS, figures, strict=True)), result


def apart(module, part, *arguments, patience=None):
    """What a function of a benchmark returns in a process of its own; [] if it takes too long.

    Raises:
        ModuleNotFoundError: a library is not installed.
        RuntimeError: the process failed.
    """
    code = (
        f"import json, sys, {module}\n"
        "part, arguments = json.loads(sys.argv[1])\n"
        f"print(json.dumps(getattr({module}, part)(*arguments)))"
    )
    path = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, json.dumps([part, arguments])],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=patience,
        )
    except subprocess.TimeoutExpired:
        return []
    if "ModuleNotFoundError" in done.stderr:
        raise ModuleNotFoundError(done.stderr.splitlines()[-1])
    if done.returncode:
        raise RuntimeError(f"{module}.{part} {arguments}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def keep(name, rows, seconds, cpu_seconds, folder=RESULTS):
    """Write rows as a table, and beside it on what machine and with which versions it was made."""
    folder.mkdir(parents=True, exist_ok=True)
    files.replace(folder / f"{name}.csv", Table.of_dicts(rows).to_csv().encode())
    provenance.note(folder, name, seconds, cpu_seconds, MEASURED)


def kept(name, folder=RESULTS):
    """The rows that `keep` wrote."""
    return Table.from_csv((folder / f"{name}.csv").read_text(encoding="utf-8"))


MEASURED = ("scipy", "networkit", "python-graphblas", "quantecon", "mdpsolver", "stormpy")
"""Packages whose versions are kept too."""
