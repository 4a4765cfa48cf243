"""`taskalgebra evaluate`, `check`, `list` and `bench`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import taskalgebra as ta
from taskalgebra.apps.cli import bench

ROOT = Path(__file__).parents[3]


def test_evaluate_plays_the_tasks_that_are_given(document):
    found = document("evaluate", "top & left", "~top", "--episodes", "300", "--seed", "3")
    skills = ta.solve(ta.FourRooms())
    for task, expression in zip(found["tasks"], ("top & left", "~top"), strict=True):
        expected = skills[expression].evaluate(episodes=300, seed=3)
        assert task["expression"] == expression
        assert task["mean_return"] == pytest.approx(expected.mean_return)
        assert task["standard_error"] == pytest.approx(expected.standard_error)
        assert task["optimal_return"] == pytest.approx(task["mean_return"])
        assert task["success_rate"] == 1.0


def test_evaluate_all_plays_every_task_once(document):
    tasks = document("evaluate", "--all", "--episodes", "20")["tasks"]
    assert len({frozenset(task["desired"]) for task in tasks}) == len(tasks) == 16


def test_evaluate_shows_a_table_of_the_base_tasks(run, maze):
    code, out, err = run("evaluate", "--world", maze, "--episodes", "20")
    assert (code, err) == (0, "")
    table, certificates = out.strip().split("\n\n")
    head, _, *rows = table.splitlines()
    assert head.split() == ["task", "wants", "return", "±", "s.e.", "optimum", "success", "steps"]
    assert [row.split()[0] for row in rows] == ["upper", "west"]
    lines = certificates.splitlines()
    assert [line.partition(": optimal from all")[0] for line in lines] == ["upper", "west"]


def test_equal_seeds_play_equal_episodes_and_others_do_not(document):
    def played(seed):
        return document("evaluate", "top", "--episodes", "30", "--seed", seed)["tasks"]

    assert played(1) == played(1) != played(2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["top", "--all"], "leave the expressions out"),
        (["--all", "--world", "forty-goals"], "1,099,511,627,776 tasks; --all plays at most 256"),
        (["top", "left &&"], "write & for and"),
    ],
)
def test_evaluate_refuses_in_words(arguments, words, run):
    code, out, err = run("evaluate", *arguments)
    assert (code, out) == (2, "") and words in err


def test_four_rooms_keeps_every_assumption(run, document):
    code, out, _ = run("check")
    assert code == 0
    assert out.count("holds") == 10 and "FAILS" not in out
    assert "Theorems 1 to 3 apply" in out
    assert document("check")["zero_shot_optimal"] is True


@pytest.mark.parametrize(
    ("arguments", "broken"),
    [
        (["four-rooms", "--slip", "0.1"], "deterministic"),
        (["boxman-touch"], "shared dynamics"),
    ],
)
def test_a_broken_assumption_is_named_and_the_code_is_1(arguments, broken, run):
    code, out, _ = run("check", *arguments)
    assert code == 1
    failed = [line for line in out.splitlines() if "FAILS" in line]
    assert len(failed) == 1 and broken in failed[0]


def test_boxman_keeps_every_assumption_where_the_paper_says_so(run):
    assert run("check", "boxman")[0] == 0
    code, out, _ = run("check", "boxman-random", "--seed", "4")
    assert code == 0 and "layout of seed 4" in out


def test_a_goal_behind_a_wall_is_found(run, tmp_path):
    (tmp_path / "walled.txt").write_text("#######\n#A..#B#\n#######\n")
    code, out, _ = run("check", tmp_path / "walled.txt")
    assert code == 1 and "goal 'A' cannot be reached from cell (1, 5)" in out


def test_a_world_that_does_not_exist_is_not_a_failed_check(run):
    assert run("check", "nowhere")[0] == 2


def test_list_names_worlds_skills_and_figures(document, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ta.solve(ta.FourRooms()).save("mine")
    found = document("list")
    assert {world["name"] for world in found["worlds"]} >= {"four-rooms", "boxman"}
    assert "mine" in [skill["name"] for skill in found["skills"]]
    assert "figure_2_composition" in found["figures"]["tabular"]
    out = run("list")[1]
    assert all(name in out for name in ("forty-goals", "boxman-touch", "mine", "figure_6_returns"))


def test_list_tasks_shows_what_each_wants(document, maze):
    assert document("list", "tasks")["tasks"]["top"] == ["top_left", "top_right"]
    found = document("list", "tasks", "--world", maze)
    assert found["tasks"] == {"upper": ["A", "B"], "west": ["A", "C"]}
    boxman = document("list", "tasks", "--world", "boxman")
    assert boxman["base_tasks"] == ["blue", "square", "purple"]
    assert boxman["tasks"]["circle"] == ["beige circle", "blue circle", "purple circle"]


BENCHMARK = """
from report import Report

if __name__ == "__main__":
    report = Report()
    report.note("a distance", 3.0, "m")
    report.at_most("a time", {time}, 2.0, "s")
    report.finish()
"""


@pytest.fixture
def clone(tmp_path):
    """A clone with two small benchmarks, of which one falls short."""
    place = tmp_path / "clone" / "benchmarks"
    place.mkdir(parents=True)
    shutil.copy(ROOT / "benchmarks" / "report.py", place)
    (place / "run_all.py").write_text("")
    (place / "fast.py").write_text(BENCHMARK.format(time=1.0))
    (place / "slow.py").write_text(BENCHMARK.format(time=3.0))
    return place.parent


def test_bench_runs_what_there_is_and_fails_when_a_bar_falls_short(clone, run, document):
    assert run("bench", "fast", "--clone", clone)[0] == 0
    assert run("bench", "--clone", clone, "--quiet") == (1, "", "")
    found = document("bench", "fast", "--clone", clone)
    assert found["short"] == []
    assert found["benchmarks"]["fast"][1] == {
        "measure": "a time",
        "figure": 1.0,
        "unit": "s",
        "bar": "<= 2s",
        "ok": True,
    }


def test_bench_names_a_package_that_a_chosen_benchmark_needs(clone, run, monkeypatch):
    source = (clone / "benchmarks" / "fast.py").read_text()
    (clone / "benchmarks" / "drawn.py").write_text(f"def late():\n    import pygame\n\n{source}")
    monkeypatch.setattr(bench, "find_spec", lambda package: None)
    assert run("bench", "fast", "--clone", clone)[0] == 0
    code, _, error = run("bench", "fast", "drawn", "--clone", clone)
    assert code == 1 and "drawn needs pygame" in error and "taskalgebra[bench]" in error


def test_bench_knows_the_benchmarks_of_this_clone():
    assert {"imports", "planning", "algebra"} <= set(bench.names(ROOT / "benchmarks"))
    assert not {"run_all", "report", "maze"} & set(bench.names(ROOT / "benchmarks"))


def test_bench_says_where_benchmarks_are(run, tmp_path, clone):
    code, _, err = run("bench", "--clone", tmp_path)
    assert code == 1 and "not of the package" in err and "--clone" in err
    code, _, err = run("bench", "nothing", "--clone", clone)
    assert code == 2 and "fast, slow" in err


@pytest.fixture
def corridor(tmp_path):
    path = tmp_path / "corridor.txt"
    path.write_text("A" + 38 * "." + "B\n")
    return str(path)


def test_commands_say_where_a_goal_is_not_worth_the_way(run, corridor):
    for command in (["solve", "A", "-w", corridor], ["evaluate", "A", "-w", corridor]):
        code, out, _ = run(*command)
        assert code == 0
        words = " ".join(out.split())
        assert "does not desire from 10 of 40 starts" in words
        assert "r_U above 3.8 mends it" in words
        code, out, _ = run(*command, "--goal-reward", "auto")
        assert code == 0 and "may end" not in out
    code, out, _ = run("check", corridor)
    assert code == 1 and out.count("FAILS") == 1
    code, out, _ = run("check", corridor, "--goal-reward", "auto")
    assert code == 0


def test_a_goal_reward_that_is_none_is_refused_in_words(run, corridor):
    code, _, err = run("solve", "A", "-w", corridor, "--goal-reward", "much")
    assert code != 0 and "'much'" in err and "auto" in err
    code, _, err = run("solve", "top", "--goal-reward", "nan")
    assert code != 0 and "Traceback" not in err
    code, _, err = run("solve", "blue", "-w", "boxman", "--goal-reward", "3")
    assert code != 0 and "its own goal reward" in err


def test_what_a_slippery_world_costs_is_said_and_mended(run, document, maze):
    """The advice of a command is an option of the same command."""
    given = ("upper | west", "--world", maze, "--slip", "0.4", "--episodes", "200")
    for command in ("evaluate", "solve"):
        _, out, _ = run(command, *given)
        assert "loses" in out and "--improve mends it" in out and "agent." not in out
        code, out, err = run(command, *given, "--improve")
        assert (code, err) == (0, "") and "loses" not in out
    task = document("evaluate", *given, "--improve")["tasks"][0]
    skills = ta.solve(
        ta.from_file(maze, slip_probability=0.4), {"upper": ["A", "B"], "west": ["A", "C"]}
    )
    optimal = skills["upper | west"].improve().evaluate(200)
    assert task["mean_return"] == pytest.approx(optimal.mean_return)
    _, out, _ = run("evaluate", "F(upper & F west)", *given[1:], "--improve")
    assert "optimal from" in out
    code, _, err = run("evaluate", "blue", "--world", "boxman", "--improve")
    assert code != 0 and "--improve plans, which needs a world that is finite" in err
