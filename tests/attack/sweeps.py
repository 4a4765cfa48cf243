"""Sweeps that are killed and damaged: the same bits in the end, and no kept cell is run again.

A sweep runs in a process of its own, serially or in processes.  At a random moment it is killed by
SIGKILL, or one of its workers is; then, perhaps, a kept cell is damaged or removed.  This goes on
until the sweep is finished.  The results must equal those of `[function(data) for data in cells]`
bit for bit; cells that were kept must not have been run again, unless they were damaged; and no
worker may outlive its sweep.  `size` is the number of kills.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sweep_cells
from attack.harness import Findings
from taskalgebra.sweeps.cells import Cell
from taskalgebra.sweeps.running import run

SIZES = {"ci": 4, "full": 60}
CELLS = 24
SECONDS = 0.02
MOST_SECONDS = 120
SCRIPT = """
import sys, sweep_cells
from taskalgebra.sweeps.cells import Cell
from taskalgebra.sweeps.running import run
if __name__ == "__main__":
    below, engine = sys.argv[1:]
    cells = [Cell(sweep_cells.noted, (below, i, {seconds})) for i in range({cells})]
    run(cells, engine, keep=below + "/kept")
"""


def attack(size: int, seed: int) -> Findings:
    """Kill sweeps, again and again."""
    rng = random.Random(seed)
    n_kills = n_workers = n_damaged = n_late = n_sweeps = 0
    expected = [np.random.default_rng(i).random(4).tobytes() for i in range(CELLS)]
    while n_kills < size:
        n_sweeps += 1
        with tempfile.TemporaryDirectory() as name:
            below = Path(name)
            (below / "sweep.py").write_text(SCRIPT.format(seconds=SECONDS, cells=CELLS))
            over = False
            while not over and n_kills < size:
                may_not_run = _numbers(below)
                engine = rng.choice(["serial", "processes"])
                one_worker = engine == "processes" and rng.random() < 0.4
                code, left = _killed(below, engine, one_worker, rng.uniform(0, 0.3))
                over = code == 0
                n_late += over and not one_worker
                n_kills += not over
                n_workers += one_worker
                if code not in (0, -signal.SIGKILL):
                    yield f"{engine}, worker killed: {one_worker}: it ended with {code}"
                if left:
                    yield f"{engine}: {left} workers outlive their sweep"
                if again := may_not_run & set(_runs(below)):
                    yield f"kept cells are run again: {sorted(again)}"
                if rng.random() < 0.5:
                    n_damaged += _damaged(below, rng)
            cells = [Cell(sweep_cells.noted, (str(below), i, SECONDS)) for i in range(CELLS)]
            found = [result.tobytes() for result in run(cells, keep=below / "kept")]
            if found != expected:
                wrong = [i for i in range(CELLS) if found[i] != expected[i]]
                yield f"other results than without kills: cells {wrong}"
    return (
        f"{n_kills} kills in {n_sweeps} sweeps, {n_workers} kills of a worker, {n_damaged} cells "
        f"damaged, {n_late} too late"
    )


def _killed(below: Path, engine: str, one_worker: bool, after: float) -> tuple[int, int]:
    """Run the sweep and kill it, or a worker of it; how it ended, and how many workers are left."""
    (below / "runs").unlink(missing_ok=True)
    path = os.pathsep.join([str(Path(sweep_cells.__file__).parent), *sys.path])
    command = [sys.executable, str(below / "sweep.py"), str(below), engine]
    process = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + MOST_SECONDS
    while not _runs(below) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(after)
    workers = _workers(process.pid)
    for pid in workers[:1] if one_worker else [process.pid]:
        if process.poll() is None:
            os.kill(pid, signal.SIGKILL)
    code = process.wait(MOST_SECONDS)
    while any(map(_lives, workers)) and time.monotonic() < end:
        time.sleep(0.01)
    return code, sum(map(_lives, workers))


def _workers(pid: int) -> list[int]:
    """The processes that work for a sweep; not the one that tracks its semaphores."""
    found = []
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for child in children:
            if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
                found.append(int(child))
    except OSError:
        pass
    return found


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _runs(below: Path) -> list[int]:
    """The cells that were run since the last kill."""
    path = below / "runs"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def _numbers(below: Path) -> set[int]:
    """The cells that are kept, intact."""
    found = set()
    for path in below.glob("kept/*/*.json"):
        try:
            name = json.loads(path.read_text())["cell"]
            if path.with_suffix(".npz").exists():
                found.add(int(name.split(", ")[1].split(" of ")[0]) - 1)
        except (ValueError, KeyError, OSError):
            continue
    return found - _harmed(below)


def _harmed(below: Path) -> set[int]:
    path = below / "harmed"
    return {int(line) for line in path.read_text().split()} if path.exists() else set()


def _damaged(below: Path, rng: random.Random) -> int:
    """Flip a bit of a kept cell, cut it, or remove a file of it; it may be run again then."""
    paths = sorted(below.glob("kept/*/*.json"))
    if not paths:
        return 0
    path = rng.choice(paths)
    try:
        number = int(json.loads(path.read_text())["cell"].split(", ")[1].split(" of ")[0]) - 1
    except (ValueError, KeyError):
        return 0
    with open(below / "harmed", "a", encoding="utf-8") as file:
        file.write(f"{number}\n")
    path = rng.choice([path, path.with_suffix(".npz")])
    if not path.exists():
        return 0
    data = bytearray(path.read_bytes())
    how = rng.randrange(3)
    if how == 0:
        path.unlink()
    elif how == 1:
        path.write_bytes(data[: rng.randrange(len(data) + 1)])
    else:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
    return 1
