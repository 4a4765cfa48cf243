"""Kept cells are never the result of other code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from taskalgebra.sweeps.cells import Cell, CellError
from taskalgebra.sweeps.processes import Processes
from taskalgebra.sweeps.running import run


def _run_with(path, command):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), *sys.path])}
    return subprocess.run(
        [sys.executable, "-c", command], env=env, capture_output=True, text=True, timeout=100
    )


def test_functions_and_records_in_the_data_are_known_by_their_code(tmp_path):
    keys = []
    for body in ("x + 1", "x + 2", "x + 1"):
        module = "class Rate(typing.NamedTuple):\n    x: int\n    def of(self, x):\n"
        helper = f"import typing\ndef f(x):\n    return x\n{module}        return {body}\n"
        (tmp_path / "helping.py").write_text(helper)
        command = (
            "import helping, sweep_cells, taskalgebra.sweeps.cells as c\n"
            "print([c.Cell(sweep_cells.square, x).key for x in (helping.f, helping.Rate(1))])"
        )
        keys.append(_run_with(tmp_path, command).stdout)
    assert keys[0] == keys[2] != keys[1]
    assert len(set(keys[0].split())) == 2


def test_code_without_a_file_is_not_kept_and_sent_to_no_process(tmp_path):
    command = (
        "import sys; from taskalgebra.sweeps.cells import Cell\n"
        "from taskalgebra.sweeps.running import run\n"
        "def f(x): return x + 1\n"
        "assert run([Cell(f, 1)]) == [2]\n"
        "for options in ({'keep': sys.argv[1]}, {'engine': 'processes'}):\n"
        "    try: run([Cell(f, 1)], **options)\n"
        "    except (ValueError, RuntimeError) as error: print(error)\n"
    )
    done = _run_with(tmp_path, command.replace("sys.argv[1]", repr(str(tmp_path / "kept"))))
    kept, sent = done.stdout.splitlines()
    assert "in a notebook or at a prompt" in kept and "cannot be kept" in kept
    assert "other processes do not find it" in sent and not done.stderr


def test_sources_that_change_during_a_sweep_stop_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "edited.py"
    module.write_text("def f(x):\n    return x\n")
    import edited

    cells = [Cell(edited.f, x) for x in range(2)]
    with Processes(1) as engine:
        assert run(cells, engine, keep=tmp_path / "kept") == [0, 1]
        module.write_text("def f(x):\n    return -x\n")
        engine._discard()  # as when a process is killed
        with pytest.raises(CellError, match="other sources or versions"):
            run([*cells, Cell(edited.f, 2)], engine, keep=tmp_path / "kept")
