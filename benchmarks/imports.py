"""How long a fresh process takes to import the package, to show help, and to solve a first world.

python benchmarks/imports.py
"""

from __future__ import annotations

import subprocess
import sys
import time

from report import Report, best_time

SOLVE = "import taskalgebra as ta; ta.solve(ta.FourRooms())['top ^ left'].act(0)"
CACHED = (
    SOLVE
    + """
import sys
kernels = {
    id(one): one.stats
    for name, module in list(sys.modules.items()) if name.startswith("taskalgebra")
    for one in vars(module).values() if type(one).__name__ == "CPUDispatcher"
}
print(*(sum(sum(getattr(one, which).values()) for one in kernels.values())
        for which in ("cache_hits", "cache_misses")))
"""
)
"""How many kernels that needed, from the disk cache and compiled."""


def run(code: str) -> str:
    """Run some code in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def main() -> None:
    """Run all bars."""
    report = Report()
    run(SOLVE)
    bare = best_time(lambda: run("pass"))
    report.note("start Python and stop", bare, "s")
    report.at_most(
        "import taskalgebra in a fresh process",
        best_time(lambda: run("import taskalgebra")),
        0.6,
        "s",
    )
    help_page = [sys.executable, "-m", "taskalgebra.apps.cli", "--help"]
    report.at_most(
        "taskalgebra --help",
        best_time(lambda: subprocess.run(help_page, capture_output=True, check=True)),
        0.5,
        "s",
    )
    everything = "import taskalgebra as ta; [getattr(ta, name) for name in ta.__all__]"
    report.at_most("  and touch every public name", best_time(lambda: run(everything)), 1.5, "s")
    start = time.perf_counter()
    run(SOLVE)
    report.note("  and solve, compose and act in Four Rooms", time.perf_counter() - start, "s")
    loaded, compiled = map(float, run(CACHED).split())
    report.at_least("  kernels loaded for that from the disk cache", loaded, 1, "")
    report.at_most("  kernels compiled for that", compiled, 0, "")
    report.finish()


if __name__ == "__main__":
    main()
