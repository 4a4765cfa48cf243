"""The table of other people's worlds: records, runs, and the shipped results."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from taskalgebra.paper.results.record import load
from taskalgebra.showcase import run as showcase
from taskalgebra.showcase.record import Judged, World, n_lines
from taskalgebra.showcase.toy_text import best_within


def two_lines():
    """Not counted."""
    # nor is this
    x = used()

    return x


def used():
    return 1


def test_lines_of_code_are_those_of_the_function_and_of_what_it_uses():
    assert n_lines(used) == 2
    assert n_lines(two_lines) == 3 + 2


@pytest.mark.parametrize(
    ("judged", "ok"),
    [
        (Judged("a", 10, 1.0), True),
        (Judged("a", 10, 0.99), False),
        (Judged("a", 10, 0.5, best=0.5), True),
        (Judged("a", 10, 0.4, best=0.5), False),
        (Judged("a", 10, 1.0, 1.0, steps=5.0, best_steps=5.0), True),
        (Judged("a", 10, 1.0, 1.0, steps=5.1, best_steps=5.0), False),
    ],
)
def test_a_bar_can_be_missed(judged, ok):
    assert judged.ok(0.0) is ok


def test_backward_induction_finds_chances_and_steps():
    """0 → 1 → 2 (wanted), each step succeeds with 0.5, else nothing moves; 3 cannot."""
    table = {
        0: {0: [(0.5, 1, 0.0, False), (0.5, 0, 0.0, False)]},
        1: {0: [(0.5, 2, 0.0, True), (0.5, 1, 0.0, False)]},
        2: {0: [(1.0, 2, 0.0, True)]},
        3: {0: [(1.0, 3, 0.0, False)]},
    }
    chance, _ = best_within(table, {2}, 2)
    assert chance[:2].tolist() == [0.25, 0.75]
    assert chance[3] == 0.0
    certain = {s: {a: o[:1] for a, o in row.items()} for s, row in table.items()}
    certain = {s: {a: [(1.0, *o[0][1:])] for a, o in row.items()} for s, row in certain.items()}
    _, steps = best_within(certain, {2}, 5)
    assert steps[:2].tolist() == [2.0, 1.0] and math.isinf(steps[3])


def test_a_world_is_run_saved_and_kept(tmp_path, document, monkeypatch):
    arguments = ("reproduce", "frozen-lake-4x4", "--quick", "--quiet", "--out", tmp_path)
    first = document(*arguments)
    (world,) = first["worlds"]
    assert world["ok"] and world["name"] == "frozen-lake-4x4" and 5 <= world["lines"] <= 12
    assert all(task["success"] == 1.0 for task in world["tasks"])
    monkeypatch.setattr(showcase, "_run", None)
    assert document(*arguments)["worlds"] == first["worlds"]
    text = (tmp_path / "results" / "worlds" / "worlds.md").read_text()
    assert "| FrozenLake 4 × 4 |" in text and "| ok |" in text


def test_a_world_that_falls_short_is_said(tmp_path, monkeypatch):
    short = World("w", "W", used, lambda *_: [Judged("a", 5, 0.5)], "all")
    monkeypatch.setattr(showcase, "worlds", lambda: {"w": short})
    (shown,) = showcase.run(["w"], tmp_path)
    assert not shown.ok and shown.worst.success == 0.5
    assert "| short |" in (tmp_path / "results" / "worlds" / "worlds.md").read_text()
    assert (
        json.loads((tmp_path / "results" / "worlds" / "w.json").read_text())["config"]["ok"]
        is False
    )
    again = load("w", tmp_path / "results" / "worlds").table
    assert np.array_equal(again["success"], [0.5])


def test_unknown_worlds_and_missing_extras_are_said(monkeypatch, tmp_path, run):
    with pytest.raises(ValueError, match="Did you mean 'taxi'"):
        showcase.chosen(["tax"])
    needs = World("w", "W", used, lambda *_: [], "all", extras=("minigrid",))
    monkeypatch.setattr(showcase, "worlds", lambda: {"w": needs})
    monkeypatch.setattr(showcase, "find_spec", lambda name: None)
    code, _, err = run("reproduce", "w", "--out", tmp_path)
    assert code == 1 and 'pip install "taskalgebra[minigrid]"' in err
    code, _, err = run("reproduce", "w", "--train", "--out", tmp_path)
    assert code == 2


def test_a_result_at_toy_size_does_not_stand_for_a_whole_one(tmp_path):
    name = "frozen-lake-4x4"
    (quick,) = showcase.run([name], tmp_path, quick=True)
    (again,) = showcase.run([name], tmp_path, quick=True)
    (whole,) = showcase.run([name], tmp_path)
    (kept,) = showcase.run([name], tmp_path, quick=True)
    assert [shown.kept for shown in (quick, again, whole, kept)] == [False, True, False, True]
    assert {one.episodes for one in quick.judged} == {20}
    assert {one.episodes for one in whole.judged} == {100}
