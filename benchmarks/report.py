"""How every benchmark reports: one line a bar, and exit code 1 when one falls short."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence

RECORDS = "TASKALGEBRA_BENCH_RECORDS"


class Report:
    """Collects bars and prints them as they are measured."""

    def __init__(self) -> None:
        """Start with nothing measured."""
        self.short = False
        print(f"{'measure':<72} {'figure':>12} {'bar':>12}")

    def at_least(self, name: str, figure: float, bar: float, unit: str = "x") -> None:
        """A figure that must not be below the bar."""
        self._line(name, figure, f">= {bar:g}{unit}", figure >= bar, unit)

    def at_most(self, name: str, figure: float, bar: float, unit: str = "x") -> None:
        """A figure that must not be above the bar."""
        self._line(name, figure, f"<= {bar:g}{unit}", figure <= bar, unit)

    def note(self, name: str, figure: float, unit: str) -> None:
        """A figure without a bar, to put the others in proportion."""
        _record({"measure": name.strip(), "figure": figure, "unit": unit})
        print(f"{name:<72} {figure:>10.4g} {unit}")

    def fact(self, name: str, found: str) -> None:
        """Something observed that is not a number."""
        print(f"{name:<72} {found:>12}")

    def exactly(self, name: str, found: object, expected: object) -> None:
        """Something observed that must be as expected."""
        self.short = self.short or found != expected
        verdict = "ok" if found == expected else "short"
        print(f"{name:<72} {found!s:>12} {expected!s:>12}  {verdict}", flush=True)

    def _line(self, name: str, figure: float, bar: str, ok: bool, unit: str) -> None:
        self.short = self.short or not ok
        _record({"measure": name.strip(), "figure": figure, "unit": unit, "bar": bar, "ok": ok})
        print(f"{name:<72} {figure:>11.4g}{unit} {bar:>12}  {'ok' if ok else 'short'}", flush=True)

    def finish(self) -> None:
        """Leave with exit code 1 if any bar fell short."""
        sys.exit(1 if self.short else 0)


def _record(entry: dict[str, object]) -> None:
    """Note a figure where `taskalgebra bench` asked for it, one JSON document a line."""
    place = os.environ.get(RECORDS)
    if place:
        with open(place, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def best_time(function: Callable[[], object], repeat: int = 5) -> float:
    """The shortest of several runs, in seconds, after one to warm up."""
    return best_times([function], repeat)[0]


def best_times(functions: Sequence[Callable[[], object]], repeat: int) -> list[float]:
    """The shortest of several runs of each function, one after the other in turns.

    What else the machine does then hits all of them alike, and their ratios hold.
    """
    for function in functions:
        function()
    best = [math.inf] * len(functions)
    for _ in range(repeat):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best
