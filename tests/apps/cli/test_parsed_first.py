"""Expressions are read before anything is planned, learned or loaded."""

from __future__ import annotations

import pytest

import taskalgebra as ta
from taskalgebra.skills import making


@pytest.fixture
def nothing_is_made(monkeypatch):
    def made(*_, **__):
        raise AssertionError("something was planned or loaded")

    for name in ("plan", "load", "solve"):
        monkeypatch.setattr(making, name, made)


@pytest.mark.parametrize("command", ["solve", "evaluate"])
@pytest.mark.parametrize("world", ["four-rooms", "forty-goals", "boxman", "saved"])
def test_a_mistake_is_found_at_once(command, world, run, tmp_path, nothing_is_made, monkeypatch):
    if world == "saved":
        monkeypatch.undo()
        ta.solve(ta.FourRooms()).save(tmp_path / "saved")
        monkeypatch.setattr(making, "load", None)
        world = tmp_path / "saved"
    code, out, err = run(command, "true &", "--world", world)
    assert (code, out) == (2, "")
    assert "expected a task name after '&', found the end\n  true &\n        ^" in err


@pytest.mark.parametrize("command", ["solve", "evaluate"])
@pytest.mark.parametrize("world", ["four-rooms", "forty-goals", "boxman"])
def test_so_is_an_unknown_name(command, world, run, nothing_is_made):
    code, out, err = run(command, "true & lft", "--world", world)
    assert (code, out) == (2, "")
    assert "unknown task 'lft'; known: " in err and "\n  true & lft\n         ^" in err


def test_and_a_start_in_a_wall_before_anything_is_played(run, monkeypatch):
    monkeypatch.setattr(ta.Agent, "evaluate", None)
    code, _, err = run("solve", "top", "--start", "0,0")
    assert code == 2 and "--start 0,0 is not a free cell" in err
