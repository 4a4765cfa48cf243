"""Writers and learners that are killed: nothing is torn, and running again gives the same bytes.

Three kinds of work are killed by SIGKILL at random moments: saving skills over skills while a
reader loads them, `taskalgebra learn` with frequent checkpoints, and experiments whose results are
kept.  Then the work is run again, perhaps killed again, and at last to its end.  A reader must see
the old or the new, the end must equal, byte for byte, what a run without kills leaves, and no
temporary file may be left.  `size` is the number of kills.

The work is done in forks of a process that has imported and compiled everything.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import taskalgebra as ta
from attack.harness import Findings, apart
from taskalgebra.apps.cli import main
from taskalgebra.folder import StoreError
from taskalgebra.learning import tabular
from taskalgebra.paper.experiments.suite import EXPERIMENTS, obtain
from taskalgebra.paper.results import provenance
from taskalgebra.paper.results.record import as_json, load

SIZES = {"ci": 6, "full": 200}
MAZE = "#######\n#A...B#\n#.#.#.#\n#C...D#\n#######\n"
MOST_SECONDS = 120
Contents = dict[str, bytes]


def contents(directory: Path) -> Contents:
    """All files below a directory; times are not part of a result."""
    return {
        str(file.relative_to(directory)): file.read_bytes()
        for file in sorted(directory.rglob("*"))
        if file.is_file() and file.name != provenance.FILE
    }


def temporary(found: Contents) -> list[str]:
    return [name for name in found if name.endswith(".tmp")]


# Work that is killed


class Work:
    """Something that leaves files in a directory."""

    name: str

    def run(self, directory: Path) -> None:
        """Do the work."""

    def check(self, directory: Path) -> str | None:
        """What is wrong with the directory while the work is done or after a kill, if anything."""


class Saving(Work):
    """Skills are saved over others again and again."""

    name = "save"

    def __init__(self) -> None:
        self.skills = [
            ta.solve(ta.from_text("A...B", step_reward=-0.25), {"a": ["A"], "b": ["B"]}),
            ta.solve(ta.from_text("A.#\n..B"), {"x": ["A"]}),
        ]

    def run(self, directory: Path) -> None:
        for i in range(40):
            self.skills[i % 2].save(directory / "skills")
        self.skills[0].save(directory / "skills")

    def check(self, directory: Path) -> str | None:
        if not (directory / "skills" / "manifest.json").exists():
            return None  # killed before the first save was done
        try:
            found = ta.load(directory / "skills")
        except StoreError as error:
            return f"torn skills: {error}"
        for skills in self.skills:
            if list(found) == list(skills):
                same = (
                    np.array_equal(found[n].values.table, skills[n].values.table) for n in found
                )
                return None if all(same) else "other values than were saved"
        return f"skills that nobody saved: {found}"


class Learning(Work):
    """The command that learns, keeps checkpoints and saves skills."""

    name = "learn"

    def run(self, directory: Path) -> None:
        tabular.SAVED_EVERY = 0.0
        maze = directory.parent / "maze.txt"
        arguments = ["learn", str(maze), "--out", str(directory / "maze"), "--steps", "400000"]
        code = main([*arguments, "--seed", "3", "-t", "x=A,D", "--force", "--quiet"])
        if code != 0:
            os._exit(code)

    def check(self, directory: Path) -> str | None:
        if not (directory / "maze" / "manifest.json").exists():
            return None
        try:
            ta.load(directory / "maze")
        except StoreError as error:
            return f"torn skills: {error}"
        return None


class Experimenting(Work):
    """Experiments at toy size, whose finished results are kept."""

    name = "results"
    NAMES = ("layout", "rewards", "composition")

    def __init__(self) -> None:
        self.whole = {}
        for name in self.NAMES:
            config = EXPERIMENTS[name].config(quick=True)
            result = EXPERIMENTS[name].module.run(config)
            self.whole[name] = replace(result, config=as_json(config))

    def run(self, directory: Path) -> None:
        for name in self.NAMES:
            _, kept = obtain(EXPERIMENTS[name], directory, quick=True)
            if not kept:
                provenance.note(directory, name, 1.0, 1.0)

    def check(self, directory: Path) -> str | None:
        for name in self.NAMES:
            try:
                found = load(name, directory)
            except FileNotFoundError:
                continue
            except ValueError as error:
                return f"a torn result: {error}"
            if found != self.whole[name]:
                return f"another result of {name}"
        return None


# Killing


def fork(work: Work, directory: Path) -> int:
    """Do the work in a fork; returns its process."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            signal.alarm(MOST_SECONDS)
            work.run(directory)
            code = 0
        finally:
            os._exit(code)
    return process


def killed(work: Work, directory: Path, after: float) -> tuple[bool, str | None]:
    """Do the work in a fork and kill it, reading meanwhile; whether that was before its end."""
    process = fork(work, directory)
    end = time.monotonic() + after
    wrong = None
    while time.monotonic() < end and wrong is None:
        wrong = work.check(directory)
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    return os.WIFSIGNALED(status), wrong


def finished(work: Work, directory: Path) -> str | None:
    """Do the work to its end."""
    _, status = os.waitpid(fork(work, directory), 0)
    return (
        None if status == 0 else f"running it again ends with {os.waitstatus_to_exitcode(status)}"
    )


def _kill_all(size: int, seed: int, pipe: Any) -> None:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        below = Path(name)
        (below / "maze.txt").write_text(MAZE)
        works: list[Work] = [Saving(), Learning(), Experimenting()]
        expected: dict[str, Contents] = {}
        seconds: dict[str, float] = {}
        for work in works:
            work.run(below / "warm")  # imports and compiles
            shutil.rmtree(below / "warm")
            start = time.monotonic()
            if wrong := finished(work, below / work.name):
                pipe.send(f"{work.name} without kills: {wrong}")
            seconds[work.name] = time.monotonic() - start
            expected[work.name] = contents(below / work.name)
        n_kills, n_late, n_left = 0, 0, 0
        while n_kills < size:
            work = works[(n_kills + n_late) % len(works)]
            directory = below / "killed"
            for _ in range(rng.choice([1, 1, 2, 3])):
                early, wrong = killed(work, directory, rng.uniform(0, 1.1 * seconds[work.name]))
                n_kills, n_late = n_kills + early, n_late + (not early)
                n_left += len(temporary(contents(directory)))
                wrong = wrong or work.check(directory)
                if wrong:
                    pipe.send(f"{work.name}: {wrong}")
            wrong = finished(work, directory)
            found = contents(directory)
            if wrong is None and found != expected[work.name]:
                names = {*found, *expected[work.name]}
                differ = sorted(n for n in names if found.get(n) != expected[work.name].get(n))
                wrong = f"other files than without kills: {', '.join(differ)}"
            if wrong:
                pipe.send(f"{work.name}: {wrong}")
            shutil.rmtree(directory)
        pipe.send((f"{n_kills} kills, {n_late} too late, {n_left} temporary files cleared",))


def attack(size: int, seed: int) -> Findings:
    """Kill, in forks of a process of its own."""
    return apart(_kill_all, size, seed)
