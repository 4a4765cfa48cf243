"""What all attacks share: a size, a seed, and a report of what broke.

An attack is a module of this directory with a function `attack(size, seed)`.  It yields one line
for each thing that broke, and returns one line of figures.  `SIZES` holds its size in CI and at
full size.  The seed is a fresh one unless it is given, and is part of every report, so that
whatever is found can be found again.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from types import ModuleType
from typing import Any

NAMES: tuple[str, ...] = (
    *("expressions", "temporal", "automata", "products", "trust"),
    *("inference", "verdicts", "worlds", "folders", "kills", "server", "sweeps"),
)
"""The attacks: modules beside this one."""
CI, FULL = "ci", "full"
MOST_SHOWN = 20
"""Of the things that broke, how many a report lists."""

Findings = Generator[str, None, str]
"""Yields what broke, returns a line of figures."""


@dataclass(frozen=True)
class Report:
    """What became of one attack."""

    name: str
    size: int
    seed: int
    seconds: float
    figures: str
    broken: tuple[str, ...]

    def __str__(self) -> str:
        """A line of figures, then what broke."""
        verdict = f"{len(self.broken)} BROKEN" if self.broken else "ok"
        line = f"{self.name:12} {verdict:>9}  {self.figures}  ({self.seconds:.0f} s, "
        line += f"--size {self.size} --seed {self.seed})"
        return "\n".join([line, *(f"    {one}" for one in self.broken[:MOST_SHOWN])])


def module_of(name: str) -> ModuleType:
    """The module of an attack."""
    return import_module(f"attack.{name}")


def run(name: str, size: int | None = None, seed: int | None = None, at: str = CI) -> Report:
    """Run an attack, at its size in CI unless told otherwise."""
    module = module_of(name)
    size = module.SIZES[at] if size is None else size
    seed = secrets.randbits(32) if seed is None else seed
    start = time.monotonic()
    findings: Findings = module.attack(size, seed)
    broken: list[str] = []
    while True:
        try:
            broken.append(next(findings))
        except StopIteration as end:
            return Report(
                name, size, seed, time.monotonic() - start, end.value or "", tuple(broken)
            )


def apart(work: Callable[[int, int, Any], None], size: int, seed: int) -> Findings:
    """Run an attack in a process of its own, whose memory can be measured and which can fork.

    Args:
        work: a function of the attack's module, `work(size, seed, pipe)`; it sends a string for
            each thing that broke, and at last a tuple with a line of figures.
        size: of the attack.
        seed: of the attack.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=work, args=(size, seed, theirs))
    child.start()
    theirs.close()
    figures = "nothing was measured"
    try:
        while True:
            try:
                told = ours.recv()
            except EOFError:
                break
            if isinstance(told, tuple):
                (figures,) = told
            else:
                yield told
    finally:
        child.join(10)
        child.kill()
    if child.exitcode != 0:
        yield f"the process ended with {child.exitcode}"
    return figures
