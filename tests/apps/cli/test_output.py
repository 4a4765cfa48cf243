"""What commands print, and when a progress bar appears."""

from __future__ import annotations

import io
import json
import sys
import time

import numpy as np

from taskalgebra import progress
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
