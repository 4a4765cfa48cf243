"""`taskalgebra solve` for formulas over time: files, options, and messages."""

from __future__ import annotations

import pytest
from PIL import Image

import taskalgebra as ta

FORMULA = "(coffee then office) & avoid decoration"


@pytest.mark.parametrize("kind", ["png", "pdf", "gif", "svg"])
def test_every_kind_of_file_that_help_promises_is_written(kind, run, tmp_path):
    path = tmp_path / f"out.{kind}"
    command = ("solve", FORMULA, "-w", "office", "--episodes", "10", "--save", path)
    assert run(*command, "--start", "1,1", "--quiet") == (0, "", "")
    start = {"png": b"\x89PNG", "pdf": b"%PDF", "gif": b"GIF8", "svg": b"<svg"}[kind]
    assert path.read_bytes().startswith(start)
    if kind == "gif":
        with Image.open(path) as film:
            assert film.n_frames > 10  # the episode has ten steps
        assert run(*command, "--quiet") == (0, "", "")  # from a start at random
    if kind == "svg":
        agent = ta.solve(ta.Office())[FORMULA]
        assert path.read_text() == agent.automaton.svg()


def test_where_there_is_no_map_this_is_wrong_usage(run, tmp_path):
    for more, words in (
        (("--save", tmp_path / "out.gif"), "no map to draw on; save the automaton"),
        (("--start", "1,1"), "no map; --start needs one"),
        (("--slip", "0.1"), "flat-world has no slip probability; four-rooms"),
        (("--touch",), "--touch is for files with a map"),
    ):
        code, out, err = run("solve", "F aqua", "-w", "flat-world", "--episodes", "5", *more)
        assert (code, out) == (2, "") and words in err
    assert not list(tmp_path.iterdir())


def test_how_cells_are_counted_is_said(run):
    code, _, err = run("solve", "coffee then office", "-w", "office", "--start", "0,0")
    assert code == 2
    assert "rows 1 to 11 and columns 1 to 15, counted from 0,0 at the top left" in err
    assert "walls included" in err


def test_slips_and_goal_rewards_reach_the_office(document):
    command = ("solve", "coffee then office", "-w", "office", "--episodes", "50")
    plain, rich = document(*command), document(*command, "--goal-reward", "10")
    assert rich["optimal_return"] == pytest.approx(plain["optimal_return"] + 6)  # r_U is 4
    slips = document(*command, "--slip", "0.1")
    assert slips["certificate"]["method"].startswith("planned on the product")


def test_goals_of_a_map_are_taken_by_touch(tmp_path, document):
    path = tmp_path / "row.txt"
    path.write_text("A.B.C")
    command = ("solve", "A then C", "-w", path, "--start", "0,1", "--episodes", "5")
    stays, touches = document(*command), document(*command, "--touch")
    assert stays["episode"]["goals"] == ["A", "C"] and stays["episode"]["steps"] == 7
    assert touches["episode"]["goals"] == ["A", "B", "C"] and touches["episode"]["steps"] == 5
    found = document("evaluate", "A", "-w", path, "--touch")["tasks"][0]
    assert found["success_rate"] < 1  # B is in the way


def test_figures_of_episodes_are_said_to_be_sampled(document):
    found = document("solve", "coffee then office", "-w", "office", "--episodes", "10")
    assert found["certificate"]["optimal"] is True
    assert found["sampled"] is True and "exact" not in found
