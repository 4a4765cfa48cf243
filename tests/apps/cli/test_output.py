"""What commands print, and when a progress bar appears."""

from __future__ import annotations

import io
import json
import re
import sys
import time

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from taskalgebra import progress
from taskalgebra.apps.cli import main
from taskalgebra.apps.cli.output import Output
from taskalgebra.progress import Event


def everything(output):
    output.line("a line")
    output.table({"name": "left", "n": "right"}, [["[one]", "1"]], title="A table")
    output.ansi("\x1b[31mred\x1b[0m")
    output.figures({"x": np.array([1.0, np.nan]), "y": (np.int64(2), float("inf"), None)})


def test_text_is_for_people(capsys):
    everything(Output())
    out = capsys.readouterr().out
    assert "a line" in out and "A table" in out and "[one]" in out and "red" in out
    assert "\x1b" not in out and "{" not in out
    assert not any(line.endswith(" ") for line in out.splitlines())


def test_json_is_one_document_and_nothing_else(capsys):
    everything(Output(json=True))
    assert json.loads(capsys.readouterr().out) == {"x": [1.0, None], "y": [2, None, None]}


def test_quiet_prints_nothing_or_the_document(capsys):
    everything(Output(quiet=True))
    Output(quiet=True).note("by the way")
    assert capsys.readouterr() == ("", "")
    everything(Output(json=True, quiet=True))
    assert capsys.readouterr().out.startswith("{")


def test_without_a_terminal_there_is_never_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with Output().progress("working") as meter:
        time.sleep(0.05)
        meter(Event("", 0.1))
    assert capsys.readouterr() == ("", "")


def test_a_remark_clears_the_line_of_a_meter(monkeypatch):
    class Stream(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr("sys.stderr", Stream())
    output = Output()
    with output.progress("working"):
        time.sleep(0.05)
        output.note("by the way")
    text = sys.stderr.getvalue()
    assert text.startswith("\r\x1b[Kworking: 0 s so far\r\x1b[Kby the way")


@pytest.fixture
def narrow(monkeypatch):
    """A terminal of some width; `lines()` are what it shows."""

    def of(width):
        stream = io.StringIO()

        def console(**options):
            return Console(**{**options, "file": stream, "force_terminal": True, "width": width})

        monkeypatch.setattr("taskalgebra.apps.cli.output.Console", console)
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setattr("sys.stdout", stream)
        return lambda: re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()

    return of


@pytest.mark.parametrize("width", [40, 50, 60, 72, 80, 100, 120, 160, 200])
@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "top & left", "top ^ left", "--episodes", "10"),
        ("check",),
        ("list",),
        ("list", "tasks"),
        ("solve", "top & (left | ~left)", "--start", "1,1"),
    ],
    ids=lambda given: " ".join(given[:2]),
)
def test_tables_and_maps_fit_the_terminal(arguments, width, narrow):
    lines = narrow(width)
    assert main(list(arguments)) == 0
    assert max(cell_len(line) for line in lines()) <= width
    words = {word for line in lines() for word in line.split()}
    whole = {
        "evaluate": {"1.2000", "100.0", "success", "optimum", "steps"},
        "check": {"deterministic", "holds", "assumption"},
        "list": {"left"},
        "solve": {"optimum", "steps,", "top_left", "not"},
    }
    assert whole[arguments[0]] <= words  # no word and no number is broken


def test_long_work_off_a_terminal_tells_of_itself_now_and_then(run, monkeypatch):
    monkeypatch.setattr(progress, "LOGGED_EVERY", 0.1)
    given = ("evaluate", "top", "--slip", "0.1", "--episodes", "1000000")
    code, out, err = run(*given)
    assert code == 0 and re.search(r"playing top: \d+ %, about \d+ s left\n", err), err
    code, out, err = run(*given, "--quiet")
    assert (code, out, err) == (0, "", "")
