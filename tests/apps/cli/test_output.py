"""What commands print, and when a progress bar appears."""

from __future__ import annotations

import io
import json
import time

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress

from taskalgebra.apps.cli import output as module
from taskalgebra.apps.cli.output import Meter, Output, duration


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


@pytest.fixture
def terminal(monkeypatch):
    """A terminal that is written to a string, and patience for a tenth of a second."""
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    monkeypatch.setattr(module, "LOOK", 0.02)
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def test_quick_work_shows_no_bar():
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80)
    meter = Meter("working", terminal)
    meter(0.5)
    meter(1.0)
    meter.close()
    assert terminal.file.getvalue() == ""


def test_slow_work_shows_a_bar_with_the_time_left_and_clears_it(terminal):
    meter = Meter("working", terminal)
    time.sleep(0.03)
    meter(0.0001, "counting")
    time.sleep(0.15)
    meter.close()
    written = terminal.file.getvalue()
    assert "counting" in written and "left" in written
    assert written.endswith("\x1b[2K")


def test_slow_work_that_reports_nothing_shows_a_bar_all_the_same(terminal):
    meter = Meter("thinking", terminal)
    time.sleep(0.3)
    meter.close()
    assert "thinking" in terminal.file.getvalue()


def test_work_may_report_its_share_while_the_bar_appears(terminal, monkeypatch):
    made = Progress.add_task

    def slowly(bar, *args, **kwargs):
        meter(0.0, "beginning")  # as another thread may, between any two lines
        return made(bar, *args, **kwargs)

    monkeypatch.setattr(Progress, "add_task", slowly)
    meter = Meter("working", terminal)
    time.sleep(0.15)
    meter.close()
    assert "beginning" in terminal.file.getvalue()


def test_without_a_terminal_there_is_never_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    with Output().progress("working") as meter:
        time.sleep(0.05)
        meter(0.1)
    with Output().waiting("waiting"):
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("seconds", "words"), [(7.6, "8 s"), (200, "3 min 20 s"), (3900, "1 h 5 min"), (-3, "0 s")]
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words
