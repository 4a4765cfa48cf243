"""`taskalgebra solve`."""

from __future__ import annotations

from collections import deque

import pytest
from PIL import Image

from taskalgebra.apps.cli import solve as module
from taskalgebra.envs.four_rooms import CENTRES, MAP


def moves_to(goals):
    """The least number of moves from each free cell to a goal, by an independent search."""
    rows = MAP.split()
    free = {(r, c) for r, row in enumerate(rows) for c, sign in enumerate(row) if sign == "."}
    found, queue = dict.fromkeys(goals, 0), deque(goals)
    while queue:
        r, c = queue.popleft()
        for there in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            if there in free and there not in found:
                found[there] = found[r, c] + 1
                queue.append(there)
    return found


def test_values_are_those_of_the_nearest_desired_goal(document):
    found = document("solve", "top ^ left", "--episodes", "50")
    assert found["desired"] == ["top_right", "bottom_left"]
    assert found["simplified"] == found["expression"] == "top ^ left"
    assert (found["optimal_starts"], found["starts"]) == (104, 104)
    assert found["mean_return"] == pytest.approx(found["optimal_return"])
    assert found["success_rate"] == 1.0
    distance = moves_to([CENTRES["top_right"], CENTRES["bottom_left"]])
    values = {tuple(c): v for c, v in zip(found["cells"], found["values"], strict=True)}
    assert values == pytest.approx({cell: 2 - 0.1 * (d + 1) for cell, d in distance.items()})


def test_text_shows_the_map_the_goals_and_the_return(run):
    code, out, err = run("solve", "top ^ left", "--start", "1,1")
    assert (code, err) == (0, "")
    assert "wants     top_right, bottom_left" in out
    assert out.count("◆") == 3 and out.count("◇") == 3  # two goals each, and the legend
    assert "optimal   from every start" in out
    assert "from 1,1 to top_right in 12 steps, return 0.9000, optimum 0.9000" in out


def test_an_episode_from_a_start_is_reported(document):
    episode = document("solve", "top & left", "--start", "11,11", "--episodes", "5")["episode"]
    steps = moves_to([CENTRES["top_left"]])[11, 11]
    assert episode["goal"] == "top_left"
    assert len(episode["actions"]) == episode["steps"] == steps + 2
    assert episode["return"] == pytest.approx(2 - 0.1 * (steps + 1)) == episode["optimum"]
    assert episode["cells"][0] == [11, 11]


def test_maps_and_tasks_of_your_own(document, maze):
    named = document("solve", "upper & west", "--world", maze, "--episodes", "5")
    assert named["desired"] == ["A"]
    own = document("solve", "x -> y", "-w", maze, "-t", "x=A,B", "-t", "y=D", "--episodes", "5")
    assert own["desired"] == ["C", "D"]


def test_where_moves_slip_the_optimum_may_be_missed(document):
    found = document("solve", "top ^ left", "--slip", "0.3", "--episodes", "200")
    assert found["optimal_starts"] < found["starts"]


@pytest.mark.parametrize(
    ("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_pictures(kind, start, run, tmp_path):
    path = tmp_path / "new" / f"out.{kind}"
    code, out, _ = run("solve", "~top", "--save", path, "--start", "1,1", "--episodes", "5")
    assert code == 0 and f"saved     {path}" in out
    assert path.read_bytes().startswith(start)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_film_shows_every_step(run, tmp_path):
    path = tmp_path / "out.gif"
    assert run("solve", "top", "--save", path, "--start", "3,1", "--quiet") == (0, "", "")
    with Image.open(path) as film:
        assert film.n_frames > 3 * 2  # two moves, three pictures each, and the start
    first = path.read_bytes()
    run("solve", "top", "--save", path, "--start", "3,1")
    assert path.read_bytes() == first


def test_boxman_from_pixels(document, run, tmp_path):
    arguments = ("solve", "blue ^ square", "--world", "boxman", "--episodes", "4")
    found = document(*arguments, "--start", "4,2", "--save", tmp_path / "out.png")
    assert found["episode"]["goal"] == "purple square"
    assert found["episode"]["actions"][:-1] == ["down", "down", "right", "pick up"]
    assert found["episode"]["steps"] == 5
    assert (found["optimal_starts"], found["starts"]) == (58, 58)
    assert (tmp_path / "out.png").stat().st_size > 20_000
    assert run(*arguments, "--save", tmp_path / "out.gif", "--quiet") == (0, "", "")
    with Image.open(tmp_path / "out.gif") as film:
        assert film.n_frames > 6


def test_wrong_expressions_have_a_caret(run):
    code, out, err = run("solve", "top & (lfet | top)")
    assert (code, out) == (2, "")
    assert err == (
        "taskalgebra: unknown task 'lfet'; known: left, top. Did you mean 'left'?\n"
        "  top & (lfet | top)\n"
        "         ^\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["top", "--world", "four-room"], "Did you mean 'four-rooms'?"),
        (["top", "--start", "0,0"], "--start 0,0 is not a free cell; free cells are in rows 1 to"),
        (["top", "--start", "99,3"], "free cells are in rows 1 to 11 and columns 1 to 11"),
        (["top", "--start", "here"], "ROW,COLUMN"),
        (["top", "--save", "out.jpg"], ".png, .svg, .pdf or .gif"),
        (["top", "--episodes", "0"], "--episodes"),
        (["top", "--seed", "-1"], "--seed"),
        (["top", "--episodes", str(10**15)], "--episodes"),
        (["top", "--slip", "2"], "--slip"),
        (["top", "--tasks", "tpo"], "Did you mean 'top'?"),
        (["x", "--tasks", "x=nowhere"], "unknown goal 'nowhere'"),
        (["x", "--tasks", "x="], "NAME=GOAL,GOAL"),
        (["blue", "--world", "boxman", "--slip", "0.1"], "boxman has no slip probability"),
        (["blue", "--world", "boxman", "--tasks", "blue"], "base tasks blue"),
    ],
)
def test_wrong_usage_is_refused_in_words(arguments, words, run):
    code, out, err = run("solve", *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err


def test_a_picture_that_cannot_be_written_is_named(run, maze):
    for place in (f"{maze}/out.png", f"{maze}/below/out.gif", "/proc/out.png"):
        code, out, err = run("solve", "top", "--save", place)
        assert (code, out) == (1, "")
        assert err.startswith(f"taskalgebra: cannot write {place}: ")
        assert "Errno" not in err and ".tmp" not in err


def test_without_matplotlib_saving_names_the_extra(run, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    code, _, err = run("solve", "top", "--save", tmp_path / "out.png")
    assert code == 1 and "taskalgebra[figures]" in err


def test_a_map_too_wide_for_the_terminal_is_not_torn(run, tmp_path, monkeypatch):
    path = tmp_path / "wide.txt"
    path.write_text("#" * 60 + "\n#A" + "." * 56 + "B#\n" + "#" * 60)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run("solve", "A", "--world", path, "--episodes", "5")
    assert code == 0 and "180 columns wide, the terminal 80" in out


def test_too_little_memory_is_told_in_words(run, monkeypatch):
    def too_much(*_, **__):
        raise MemoryError("of 8 TB")

    monkeypatch.setattr("taskalgebra.skills.walks.rollouts", too_much)
    code, out, err = run("solve", "top")
    assert (code, out) == (1, "") and "not enough memory; ask for less (of 8 TB)" in err
