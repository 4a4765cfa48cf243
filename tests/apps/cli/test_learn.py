"""`taskalgebra learn`, and what Ctrl-C leaves behind."""

from __future__ import annotations

import errno
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import taskalgebra as ta


def test_learned_skills_are_saved_and_can_be_solved_with(run, document, tmp_path):
    rooms = tmp_path / "rooms"
    found = document("learn", "--out", rooms, "--steps", "60000", "--seed", "1")
    assert [task["success_rate"] for task in found["tasks"]] == [1.0, 1.0]
    assert found["n_expressible"] == 16
    learned = ta.learn(ta.FourRooms(), learner=ta.QLearning(steps=60_000), seed=1)
    saved = ta.load(rooms)
    assert (saved["top"].values.table == learned["top"].values.table).all()
    solved = document("solve", "top ^ left", "--world", rooms, "--episodes", "20")
    assert solved["optimal_starts"] == 104
    assert [path.name for path in tmp_path.iterdir()] == ["rooms"]


def test_text_says_where_the_skills_are_and_what_to_do_with_them(run, tmp_path, maze):
    code, out, _ = run("learn", maze, "--out", tmp_path / "m", "--steps", "5000", "-t", "x=A,D")
    assert code == 0
    assert f'try: taskalgebra solve "~x" --world {tmp_path / "m"}' in out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["four-rooms"], 2, "--out"),
        (["--out", "{file}"], 1, "is a file"),
        (["--out", "{full}"], 1, "holds other files"),
        (["--out", "{new}", "--steps", "3"], 1, "learn longer"),
        (["--out", "{new}", "--updates", "3"], 2, "--steps"),
        (["boxman", "--out", "{new}", "--steps", "3"], 2, "--updates"),
        (["boxman", "--out", "{full}"], 1, "holds other files"),
        (["{full}", "--out", "{new}"], 2, "is a directory"),
    ],
)
def test_what_cannot_be_learned_or_saved_is_refused_before_anything_is_written(
    arguments, code, words, run, tmp_path
):
    places = {"file": tmp_path / "file", "full": tmp_path / "full", "new": tmp_path / "new"}
    places["full"].mkdir()
    for path in (places["file"], places["full"] / "other"):
        path.write_text("")
    given = [argument.format(**places) for argument in arguments]
    found, out, err = run("learn", *given)
    assert (found, out) == (code, "")
    assert words in " ".join(err.replace("│", " ").split())
    assert not places["new"].exists()
    assert [path.name for path in places["full"].iterdir()] == ["other"]


@pytest.mark.parametrize("more", [[], ["--fresh"]])
def test_a_directory_with_other_files_is_not_taken_for_a_training(more, run, tmp_path):
    notes = tmp_path / "game.training" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    code, out, err = run("learn", "boxman", "--out", tmp_path / "game", "--updates", "1", *more)
    assert (code, out) == (1, "") and "holds other files, such as 'notes.txt'" in err
    assert notes.read_text() == "mine"


def test_a_training_of_networks_is_stopped_and_resumes(run, document, tmp_path, monkeypatch):
    from taskalgebra.apps.cli import learn
    from taskalgebra.learning.deep import training as deep

    toy = ta.DeepQ(
        n_updates=4,
        updates_per_iteration=2,
        n_envs=32,
        learning_starts=3200,
        batch_size=4,
        threads=1,
    )
    monkeypatch.setattr(learn.catalogue, "recipe", lambda name, paper: (toy, None))
    monkeypatch.setattr(learn, "usual_episodes", lambda skills: 2)
    arguments = ("learn", "boxman", "--out", tmp_path / "game")
    run_training = deep.Training.run

    def stopped(self, path, score, told):
        def told_once(*given):
            raise KeyboardInterrupt

        return run_training(self, path, score, told_once)

    monkeypatch.setattr(deep, "base_score", lambda world, episodes: lambda networks: 0.0)
    monkeypatch.setattr(deep.Training, "run", stopped)
    code, _, err = run(*arguments)
    assert code == 130 and "game.training" in err and "the same command resumes" in err
    assert [path.name for path in tmp_path.iterdir()] == ["game.training"]
    monkeypatch.setattr(deep.Training, "run", run_training)
    code, _, err = run(*arguments, "--quiet")
    assert (code, err) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["game"]
    assert list(ta.load(tmp_path / "game")) == ["blue", "square", "purple"]


def test_a_training_stopped_before_its_first_checkpoint_says_so(run, tmp_path, monkeypatch):
    from taskalgebra.learning.deep import training as deep

    def stopped(self, *_):
        raise KeyboardInterrupt

    monkeypatch.setattr(deep.Training, "run", stopped)
    code, _, err = run("learn", "boxman", "--out", tmp_path / "game", "--updates", "50")
    assert code == 130 and "stopped before the first checkpoint; run the same command" in err


def test_short_trainings_have_checkpoints_too():
    from taskalgebra.apps.cli.learn import _networks
    from taskalgebra.apps.cli.output import Output

    for name, preset, updates, iteration in (
        ("boxman", "fast", 50, 10),
        ("boxman-touch", "fast", 3, 1),
        ("boxman", "paper", 40, 16),
        ("boxman-random", "fast", 100_000, 500),
    ):
        settings = _networks(Output(quiet=True), name, preset, updates).learner.settings
        assert (settings.n_updates, settings.updates_per_iteration) == (updates, iteration)


def test_too_few_updates_are_refused_by_number(run, tmp_path):
    wrong = ("learn", "boxman", "--settings", "paper", "--updates", "2", "--out", tmp_path / "x")
    code, _, err = run(*wrong)
    assert code == 2 and "--updates must be at least 16 with --settings paper" in err


def test_by_touch_a_training_starts_from_what_boxman_random_sees(run, tmp_path, monkeypatch):
    from taskalgebra.apps.cli import learn
    from taskalgebra.envs.boxman.recipes import RECIPES
    from taskalgebra.learning.deep import networks
    from taskalgebra.learning.deep import training as deep

    monkeypatch.setattr(learn, "usual_episodes", lambda skills: 2)
    monkeypatch.setattr(deep, "base_score", lambda world, episodes: lambda networks: 0.0)
    out = tmp_path / "game"
    code, told, err = run(
        "learn", "boxman-touch", "--out", out, "--tasks", "blue", "--updates", "2"
    )
    assert 'try: taskalgebra solve "blue" --world' in told
    code, told, _ = run("evaluate", "--all", "--world", out, "--episodes", "2")
    assert code == 0 and "~" not in told and "blue" in told
    assert "starting from the network of the skills boxman-random" in err
    ours, theirs = ta.load(out).family, ta.load("boxman-random").family
    assert ours.network is RECIPES["boxman-touch"].learner.network is networks.planning
    for name in ("state_mean", "patches.weight", "agent.bias", "goal_vectors.weight"):
        assert (ours.first.state_dict()[name] == theirs.first.state_dict()[name]).all(), name


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_skills_are_not_replaced_without_force(run, maze, tmp_path):
    arguments = ("learn", maze, "--out", tmp_path / "m", "--steps", "5000", "--quiet")
    assert run(*arguments)[0] == 0
    before = contents(tmp_path / "m")
    for more in ([], ["--fresh"], ["--seed", "1"]):
        code, out, err = run(*arguments, *more)
        assert (code, out) == (1, "") and "holds skills; --force replaces them" in err
        assert contents(tmp_path / "m") == before
    assert run(*arguments, "--seed", "1", "--force") == (0, "", "")
    assert contents(tmp_path / "m") != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "maze.txt"]


def test_skills_of_another_kind_are_not_replaced_at_all(run, maze, tmp_path):
    boxman = Path(ta.__file__).parent / "skills" / "shipped" / "boxman"
    shutil.copytree(boxman, tmp_path / "m")
    before = contents(tmp_path / "m")
    code, _, err = run("learn", maze, "--out", tmp_path / "m", "--steps", "5000", "--force")
    assert code == 1 and "does not have the format" in err
    assert contents(tmp_path / "m") == before


@pytest.mark.parametrize("out", ["{tmp}/" + "x" * 250, "{tmp}/file/below", "/proc/x", "/"])
def test_where_nothing_can_be_written_nothing_is_learned(run, maze, tmp_path, monkeypatch, out):
    from taskalgebra.learning import tabular

    def learned(*_):
        raise AssertionError("it should not have come to this")

    monkeypatch.setattr(tabular.QLearning, "learn", learned)
    (tmp_path / "file").write_text("")
    code, told, err = run("learn", maze, "--out", out.format(tmp=tmp_path), "--quiet")
    assert (code, told) == (1, "") and err.startswith("taskalgebra: ") and err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "maze.txt"]


@pytest.mark.parametrize("fails_at", [1, 3, 5, 8])
def test_a_full_disk_is_one_line_and_keeps_what_was_learned(
    run, maze, tmp_path, monkeypatch, fails_at
):
    calls, write = [], os.write

    def full(handle, data):
        calls.append(handle)
        if len(calls) >= fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data)

    arguments = ("learn", maze, "--out", tmp_path / "m", "--steps", "5000", "-t", "x=A", "--quiet")
    with monkeypatch.context() as patched:
        patched.setattr("taskalgebra.files.os.write", full)
        code, out, err = run(*arguments)
    assert (code, out) == (1, "") and "No space left on device" in err and err.count("\n") == 1
    assert str(tmp_path / "m") in err and not (tmp_path / "m").exists()
    assert not list(tmp_path.rglob("*.tmp"))
    assert run(*arguments) == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "maze.txt"]


def test_here_is_a_place_for_skills_as_well(run, maze, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert run("learn", maze, "--out", ".", "--steps", "5000", "--quiet") == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "maze.txt"]
    assert list(ta.load(tmp_path / "here")) == ["upper", "west"]


def test_a_terminal_sees_a_bar_and_what_ctrl_c_stops_resumes(tmp_path, run):
    command = [sys.executable, "-m", "taskalgebra.apps.cli", "learn", "--slip", "0.1"]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*command, "--steps", "2000000000", "--out", str(tmp_path / "rooms")],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(theirs)
    seen = b""
    try:
        while b"learning" not in seen or b"left" not in seen:
            seen += os.read(ours, 65536)
        process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + 60
        while b"stopped" not in seen and time.monotonic() < deadline:
            seen += os.read(ours, 65536)
        assert process.wait(60) == 130
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        os.close(ours)
    assert b"the same command resumes" in b" ".join(seen.split())
    assert [path.name for path in tmp_path.iterdir()] == ["rooms.training"]
    assert [path.suffix for path in (tmp_path / "rooms.training").iterdir()] == [".npz"]
    again = ("learn", "--slip", "0.1", "--steps", "60000", "--out", tmp_path / "rooms")
    code, _, err = run(*again, "--seed", "1")
    assert code == 1 and "another task" in err and "--fresh starts from scratch" in err
    code, _, err = run(*again)
    assert code == 1 and f"resuming from {tmp_path / 'rooms.training'}" in err
    assert "more than the 60,000 asked for" in " ".join(err.split())
    code, _, err = run(*again, "--fresh")
    assert code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["rooms"]


def test_learning_that_was_too_short_resumes_as_if_it_had_not_stopped(run, tmp_path):
    arguments = ("learn", "--out", tmp_path / "rooms", "--seed", "1", "--steps")
    code, _, err = run(*arguments, "3")
    assert code == 1 and "learn longer" in err and f"in {tmp_path / 'rooms.training'}" in err
    assert run(*arguments, "60000", "--quiet") == (0, "", "")
    learned = ta.learn(ta.FourRooms(), learner=ta.QLearning(steps=60_000), seed=1)
    saved = ta.load(tmp_path / "rooms")
    for name in learned:
        assert (saved[name].values.table == learned[name].values.table).all()


def test_a_fresh_start_forgets_what_was_stopped(document, tmp_path):
    checkpoint = tmp_path / "rooms.training" / "0 M_U.npz"
    checkpoint.parent.mkdir()
    checkpoint.write_bytes(b"of another time")
    document("learn", "--fresh", "--steps", "60000", "--out", tmp_path / "rooms")
    assert [path.name for path in tmp_path.iterdir()] == ["rooms"]
