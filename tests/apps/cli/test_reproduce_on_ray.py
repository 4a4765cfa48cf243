"""`taskalgebra reproduce tabular --engine ray`: the bits of one process, whatever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'taskalgebra[cluster]'")

COMMAND = [sys.executable, "-m", "taskalgebra.apps.cli", "reproduce", "tabular", "--quick"]
WORKS = b"ray::_perform"
"""How a worker of Ray is called while it runs a cell."""


def descendants(pid):
    """The processes that a process started, and those that they started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def kill_a_worker(run, seconds):
    """Kill a worker of Ray that is at work below a process; whether there was one in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and run.poll() is None:
        for pid in descendants(run.pid):
            try:
                if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(WORKS):
                    os.kill(pid, signal.SIGKILL)
                    return True
            except OSError:
                continue
        time.sleep(0.005)  # cells take longer, and they want the processor
    return False


def contents(out):
    """All files of the results, but for what says when and where they were made."""
    folder = out / "results" / "tabular"
    files = [path for path in folder.rglob("*") if path.is_file() and path.stem != "provenance"]
    return {path.relative_to(folder): path.read_bytes() for path in files}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found in /proc")
def test_results_on_ray_are_those_of_one_process_though_a_worker_is_killed(tmp_path):
    here, on_ray = tmp_path / "here", tmp_path / "on_ray"
    command = [*COMMAND, "--engine", "ray", "--out", str(on_ray)]
    with (
        (tmp_path / "said").open("w") as said,
        subprocess.Popen(command, stdout=said, stderr=said) as run,
    ):
        killed = kill_a_worker(run, 180)
        code = run.wait(600)
    assert killed
    assert code == 0, (tmp_path / "said").read_text()
    command = [*COMMAND, "--engine", "serial", "--out", str(here)]
    subprocess.run(command, check=True, capture_output=True)
    expected, found = contents(here), contents(on_ray)
    assert len(expected) > 20 and found.keys() == expected.keys()
    assert [path for path in expected if found[path] != expected[path]] == []
