"""Messages speak of options and of what was given; nothing that was saved is lost in an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import taskalgebra as ta
from taskalgebra.folder import StoreError

CORRIDOR = "#" * 42 + "\n#A" + "." * 38 + "B#\n" + "#" * 42
FULL = Path("/dev/full")


def said(err):
    return " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve", "top", "--goal-reward", "nan"], ["--goal-reward is nan"]),
        (["solve", "top", "--goal-reward=-5"], ["--goal-reward -5", "other goals, -0.1,"]),
        (["check", "--goal-reward", "inf"], ["--goal-reward is inf"]),
        (["evaluate", "--goal-reward", "auto", "--slip", "0.1"], ["--goal-reward auto compares"]),
        (["solve", "top", "--goal-reward", "much"], ["--goal-reward", "'much'"]),
        (["solve", "top", "--slip", "nan"], ["--slip", "nan"]),
        (["solve", "top", "--slip=3"], ["--slip", "3"]),
        (["solve", "top", "--episodes", "1e3"], ["--episodes", "1e3"]),
        (["solve", "top", "--seed", str(2**64)], ["--seed", str(2**64)]),
        (["play", "--port", "99999"], ["--port", "99999"]),
        (["solve", "top", "--start", "1;1"], ["--start", "1;1"]),
        (["solve", "top", "^", "left"], ["quotes"]),
        (["evaluate", "top", "^", "left"], ["quotes"]),
        (["solve", "-> top"], ["an expression begins with"]),
        (["solve", "x", "-t", "true=top_left"], ["'true' is a word of expressions", "true_task"]),
    ],
)
def test_wrong_usage_names_the_option_and_what_was_given(arguments, words, run):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert [word for word in words if word not in said(err)] == []
    assert "r_universal" not in err and "slip_probability" not in err


@pytest.mark.parametrize("command", [["solve", "A", "--world"], ["evaluate", "--world"], ["check"]])
def test_notes_name_the_option_that_mends_it(command, run, tmp_path):
    (tmp_path / "map.txt").write_text(CORRIDOR)
    assert '"auto" (--goal-reward auto)' in said(run(*command, tmp_path / "map.txt")[1])


def test_the_home_may_be_written_in_every_path(run, tmp_path, monkeypatch, maze):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    skills = ta.solve(ta.FourRooms(), ["top", "left"])
    skills.save("~/rooms")
    assert list(ta.load("~/rooms")) == ["top", "left"]
    assert run("learn", "~/maze.txt", "--out", "~/learned", "--steps", "20000")[0] == 0
    assert run("solve", "upper", "--world", "~/learned", "--save", "~/out.svg")[0] == 0
    assert run("check", "~/rooms")[0] == 0
    assert {"rooms", "learned", "out.svg"} <= {path.name for path in tmp_path.iterdir()}
    assert not (tmp_path / "~").exists()
    for refused in (skills.save, ta.load):
        with pytest.raises(StoreError, match="the path is empty"):
            refused("")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_standard_output_is_named(more, maze, tmp_path):
    def to_full(*arguments):
        command = [sys.executable, "-m", "taskalgebra", *arguments, *more]
        with FULL.open("w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        return done.returncode, done.stderr

    why = "taskalgebra: cannot write to standard output: No space left on device\n"
    assert to_full("list", "worlds") == (1, why)
    saved = tmp_path / "saved"
    code, err = to_full("learn", maze, "--out", str(saved), "--steps", "20000")
    assert code == 1 and f"the skills are saved in {saved}\n{why}" in err
    assert list(ta.load(saved)) == ["upper", "west"]


def test_where_results_cannot_be_written_out_is_recommended(run, monkeypatch):
    monkeypatch.chdir("/proc")
    code, out, err = run("reproduce", "figure-3")
    assert (code, out) == (1, "") and "choose a directory with --out DIR" in err
    assert "Errno" not in err
