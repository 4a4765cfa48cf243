"""Sweeps: the same results in the same order from every engine, kept by content."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest

import sweep_cells
from taskalgebra import files
from taskalgebra.sweeps.cells import Cell, CellError, Done, seed_of
from taskalgebra.sweeps.content import code_of, digest
from taskalgebra.sweeps.keeping import Keep
from taskalgebra.sweeps.packing import pack, unpack
from taskalgebra.sweeps.processes import ONE_THREAD, Processes
from taskalgebra.sweeps.running import Sweep, engine_of, run
from taskalgebra.sweeps.serial import Serial
from taskalgebra.sweeps.threads import on_threads


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as engine:
        yield engine
    assert not active_children()


@pytest.fixture(params=["serial", "processes"])
def engine(request, processes):
    return processes if request.param == "processes" else Serial()


def same(one, other):
    """Whether two results have the same types and bits all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[k], other[k]) for k in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray | np.generic):
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and (one.tobytes() == other.tobytes())
        )
    return one.hex() == other.hex() if isinstance(one, float) else one == other


def test_results_come_in_the_order_of_the_cells(engine):
    heard = []
    cells = [Cell(sweep_cells.square, x) for x in range(7)]
    assert run(cells, engine, listener=heard.append) == [x * x for x in range(7)]
    assert [event.share for event in heard] == pytest.approx([(i + 1) / 7 for i in range(7)])
    assert run([], engine) == []


def test_a_result_is_kept_bit_for_bit_and_not_run_again(engine, tmp_path):
    cells = [Cell(sweep_cells.drawn, seed) for seed in (1, 2)]
    first = run(cells, engine, keep=tmp_path)
    assert all(map(same, first, [sweep_cells.drawn(seed) for seed in (1, 2)]))

    class Broken:
        def outcomes(self, cells, retries):
            raise AssertionError("a kept cell was run again")

    heard = []
    again = run(cells, Broken(), keep=tmp_path, listener=heard.append)
    assert all(map(same, first, again))
    assert all(event.kept for event in heard)
    with pytest.raises(AssertionError):
        run([Cell(sweep_cells.drawn, 3)], Broken(), keep=tmp_path)


def test_an_error_names_the_cell_and_what_is_finished_is_kept(engine, tmp_path):
    cells = [Cell(sweep_cells.refuses, x, f"number {x}") for x in range(2)]
    assert run(cells[:1], engine, keep=tmp_path) == [0]
    with pytest.raises(CellError, match="cell number 1 failed: ValueError: no 1; 1 of 2 cells"):
        run(cells, engine, keep=tmp_path)
    with pytest.raises(CellError, match="refuses, 2 of 3 failed"):
        run([Cell(sweep_cells.refuses, x) for x in range(3)], engine)


def test_a_cell_that_exits_does_not_end_the_sweep_as_if_all_were_well(engine):
    with pytest.raises(CellError, match="cell number 0 failed: SystemExit: 0"):
        run([Cell(sweep_cells.leaves, 0, "number 0")], engine)


def test_a_killed_process_is_survived(tmp_path, processes, caplog):
    cells = [Cell(sweep_cells.killed, (str(tmp_path), x, 2), f"{x}") for x in range(6)]
    assert run(cells, processes) == list(range(6))
    assert (tmp_path / "killed 1").exists()
    assert "a process was killed" in caplog.text


def test_a_cell_that_always_kills_its_process_is_named(tmp_path, processes):
    cells = [Cell(sweep_cells.killed, (str(tmp_path), x, 9), f"number {x}") for x in range(4)]
    with pytest.raises(CellError, match="number 2: its process was killed 2 times"):
        run(cells, processes, keep=tmp_path / "kept", retries=1)
    rest = [cell for cell in cells if cell.name != "number 2"]
    assert run(rest, processes, keep=tmp_path / "kept") == [0, 1, 3]


def test_processes_have_one_thread_each_and_leave_the_environment_alone(processes):
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    assert run([Cell(sweep_cells.threads, None)], processes) == [(1, 1, "1", 1)]
    assert before == {name: os.environ.get(name) for name in ONE_THREAD}


def test_who_stops_early_does_not_wait():
    engine, before = Processes(2), set(active_children())
    outcomes = engine.outcomes([Cell(time.sleep, x) for x in (0, 60, 60)])
    next(outcomes)
    start = time.monotonic()
    outcomes.close()
    assert time.monotonic() - start < 30  # a cell would take 60
    assert set(active_children()) <= before


SCRIPT = """
import sys, sweep_cells
from taskalgebra.sweeps.cells import Cell
from taskalgebra.sweeps.running import run
if __name__ == "__main__":
    folder, seconds = sys.argv[1], float(sys.argv[2])
    cells = [Cell(sweep_cells.noted, (folder, i, seconds)) for i in range(12)]
    run(cells, sys.argv[3], keep=folder + "/kept")
"""


def test_a_killed_sweep_resumes_and_its_workers_end_with_it(tmp_path):
    script = tmp_path / "sweep.py"
    script.write_text(SCRIPT)
    path = os.pathsep.join([*sys.path, str(Path(sweep_cells.__file__).parent)])
    command = [sys.executable, str(script), str(tmp_path), "0.2", "processes"]
    started = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path})
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("kept/*/*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    children = _children(started.pid)
    started.send_signal(signal.SIGKILL)
    started.wait()
    kept = len(list(tmp_path.glob("kept/*/*.json")))
    assert 3 <= kept < 12 and children
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < deadline, "workers outlive their sweep"
        time.sleep(0.02)
    (tmp_path / "runs").rename(tmp_path / "before")
    cells = [Cell(sweep_cells.noted, (str(tmp_path), i, 0.2)) for i in range(12)]
    result = run(cells, keep=tmp_path / "kept")
    assert all(map(same, result, [np.random.default_rng(i).random(4) for i in range(12)]))
    assert len((tmp_path / "runs").read_text().splitlines()) == 12 - kept


def _children(pid):
    tasks = Path(f"/proc/{pid}/task/{pid}/children")
    return tasks.read_text().split() if tasks.exists() else []


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "other"])
def test_a_damaged_cell_is_said_and_run_again(tmp_path, caplog, ending, harm):
    cells = [Cell(sweep_cells.drawn, seed, f"seed {seed}") for seed in (1, 2)]
    first = run(cells, keep=tmp_path)
    path, other = (Keep(tmp_path).path(cell.key).with_suffix(f".{ending}") for cell in cells)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    harms = {"flip": data, "cut": data[:-9], "empty": b"", "other": other.read_bytes()}
    path.write_bytes(harms[harm])
    heard = []
    assert all(map(same, run(cells, keep=tmp_path, listener=heard.append), first))
    assert [event.kept for event in heard] == [True, False]
    assert "is damaged" in caplog.text and "seed 1 is run again" in caplog.text
    caplog.clear()
    run(cells, keep=tmp_path)
    assert not caplog.text


def test_missing_arrays_are_said(tmp_path, caplog):
    (cell,) = cells = [Cell(sweep_cells.drawn, 1)]
    run(cells, keep=tmp_path)
    Keep(tmp_path).path(cell.key).with_suffix(".npz").unlink()
    run(cells, keep=tmp_path)
    assert "its arrays are missing" in caplog.text


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path, monkeypatch):
    cells = [Cell(sweep_cells.square, x) for x in range(3)]
    run(cells[:1], keep=tmp_path)
    write = os.write

    def full(handle, data):
        if b'"value": 4' in bytes(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data)

    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(OSError, match=r"No space left.*2 of 3 cells") as caught:
        run(cells, keep=tmp_path)
    assert caught.value.filename == str(Keep(tmp_path).path(cells[2].key))
    monkeypatch.undo()
    heard = []
    assert run(cells, keep=tmp_path, listener=heard.append) == [0, 1, 4]
    assert [event.kept for event in heard] == [True, True, False]


def test_what_cannot_be_kept_or_known_is_refused(tmp_path):
    with pytest.raises(TypeError, match=r"the cell one: \{1\} cannot be kept"):
        run([Cell(sweep_cells.nothing_kept, 1, "one")], keep=tmp_path)
    with pytest.raises(TypeError, match="by its contents"):
        run([Cell(sweep_cells.square, np.ma.array([1], mask=[True]))], keep=tmp_path)
    assert run([Cell(sweep_cells.nothing_kept, 1)]) == [{1}]
    with pytest.raises(TypeError, match="by its contents"):
        run([Cell(sweep_cells.square, object())], keep=tmp_path)
    with pytest.raises(ValueError, match="top level"):
        Cell(lambda x: x, 1)
    with pytest.raises(TypeError, match="a function of its data"):
        Cell(3, 1)
    with pytest.raises(TypeError, match="list of cells"):
        run([3])
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="is a file; give a directory"):
        run([Cell(sweep_cells.square, 1)], keep=tmp_path / "file")


def test_where_nothing_can_be_kept_nothing_is_run(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(OSError, match="No space left") as caught:
        run([Cell(sweep_cells.noted, (str(tmp_path), 1, 0))], keep=tmp_path / "kept")
    assert caught.value.filename == str(tmp_path / "kept")
    assert not list(tmp_path.iterdir())


def test_data_that_does_not_travel_names_its_cell(processes):
    with pytest.raises(CellError, match="cell bad cannot travel"):
        run(
            [Cell(sweep_cells.square, 2), Cell(sweep_cells.square, (x for x in ()), "bad")],
            processes,
        )
    assert run([Cell(sweep_cells.square, 2)], processes) == [4]


@dataclass(frozen=True)
class Data:
    """Settings of a cell."""

    seed: int
    rate: float = 0.5
    shape: tuple[int, ...] = (1, 2)


def test_equal_contents_are_known_again_and_others_are_told_apart():
    values = [
        *(None, True, 1, 1.0, -0.0, 0.0, "1", b"1", (1,), [1], {1: 2}, {2: 1}, {1}, frozenset({1})),
        *(np.arange(3), np.arange(3.0), np.arange(3).reshape(1, 3), np.float64(1.0), Path("1")),
        *(
            Data(1),
            Data(2),
            Data(1, 0.25),
            (1, (2,)),
            ((1,), 2),
            (1, 2),
            "",
            (),
            sweep_cells.square,
        ),
    ]
    found = [digest(value) for value in values]
    assert len(set(found)) == len(values)
    assert digest({1: 2, 3: 4}) == digest({3: 4, 1: 2})
    assert digest(Data(1)) == digest(replace(Data(2), seed=1))
    assert Cell(sweep_cells.square, 1, "a").key == Cell(sweep_cells.square, 1, "b").key
    assert Cell(sweep_cells.square, 1).key != Cell(sweep_cells.refuses, 1).key


def test_other_code_runs_cells_again(tmp_path, monkeypatch):
    module = tmp_path / "changing.py"
    monkeypatch.syspath_prepend(tmp_path)
    keys = []
    for body in ("x + 1", "x + 2", "x + 1"):
        module.write_text(f"def f(x):\n    return {body}\n")
        command = "import changing, taskalgebra.sweeps.cells as c; print(c.Cell(changing.f, 1).key)"
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        done = subprocess.run([sys.executable, "-c", command], env=env, capture_output=True)
        keys.append(done.stdout)
    assert keys[0] == keys[2] != keys[1]
    assert code_of(sweep_cells.square) == code_of(sweep_cells.refuses) != code_of(abs)


def test_packing_refuses_what_it_would_not_give_back():
    for value in (1j, {1}, object(), Done(1, 0.0, 0.0, ""), np.array([object()], object)):
        with pytest.raises(TypeError, match="cannot be kept"):
            pack([value], {})
    with pytest.raises(ValueError, match="unknown kind"):
        unpack({"code": "os.system"}, {})


def test_a_kept_cell_is_json_that_says_what_it_is(tmp_path):
    cell = Cell(sweep_cells.square, 3, "three")
    run([cell], keep=tmp_path)
    found = json.loads(Keep(tmp_path).path(cell.key).read_text())
    assert (found["value"], found["cell"]) == (9, "three")
    assert found["function"] == "sweep_cells:square"
    Keep(tmp_path).clear()
    assert not tmp_path.exists() or not list(tmp_path.iterdir())


def test_engines_have_names():
    assert isinstance(engine_of("serial"), Serial)
    assert engine_of("processes", 3).workers == 3
    with pytest.raises(ValueError, match="Did you mean 'processes'"):
        engine_of("proceses")
    with pytest.raises(ValueError, match="an address is for the engine 'ray'"):
        engine_of("processes", address="127.0.0.1:6379")
    with pytest.raises(ValueError, match="1 worker"):
        engine_of("serial", 2)
    with pytest.raises(ValueError, match="workers"):
        engine_of("processes", 0)
    with pytest.raises(ValueError, match="the address of Ray is empty"):
        engine_of("ray", address="")
    for wrong in (None, 3, Processes):
        with pytest.raises(TypeError, match="the engine is"):
            run([Cell(abs, 1)], wrong)
    with pytest.raises(ValueError, match="retries is -1"):
        run([Cell(abs, 1)], retries=-1)


def test_parts_of_a_sweep_share_its_progress():
    seen = []
    sweep = Sweep(progress=seen.append)
    assert sweep.part(0.5, 1.0).map(sweep_cells.square, [1, 2]) == [1, 4]
    assert seen == [0.75, 1.0]


def test_threads_keep_the_order_and_drop_the_rest_on_an_error():
    assert on_threads(lambda x: -x, range(5), workers=3) == [0, -1, -2, -3, -4]
    begun = Counter()

    def fails(i):
        begun[i] += 1
        time.sleep(0.005)
        raise RuntimeError(f"job {i}")

    with pytest.raises(RuntimeError, match="job 0"):
        on_threads(fails, range(100), workers=2)
    assert len(begun) < 20
    with pytest.raises(ValueError, match="workers"):
        on_threads(abs, [1], workers=0)


def test_seeds_of_different_cells_differ():
    seeds = {seed_of(seed, i, j) for seed in range(3) for i in range(30) for j in range(30)}
    assert len(seeds) == 2700
    assert all(0 <= seed < 2**64 for seed in seeds)
