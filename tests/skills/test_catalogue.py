"""Worlds and skills by name."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import taskalgebra as ta
from taskalgebra.skills import catalogue
from taskalgebra.skills.catalogue import (
    ENTRIES,
    SHIPPED,
    base_tasks,
    completions,
    open_skills,
    open_world,
)

MAP = "#####\n#A.B#\n#.#.#\n#C..#\n#####\n"


def test_entries_say_what_their_worlds_are():
    for name, entry in ENTRIES.items():
        world = open_world(name)
        assert world.space.n_goals == entry.n_goals
        assert set(entry.tasks) <= set(world.tasks)
    assert tuple(name for name, entry in ENTRIES.items() if entry.networks) == SHIPPED
    assert catalogue.DEFAULT in ENTRIES


@pytest.mark.parametrize("name", SHIPPED)
def test_base_tasks_of_networks_are_those_of_the_shipped_ones(name):
    skills = open_skills(name)
    assert tuple(skills) == ENTRIES[name].tasks
    opened, played = open_world(name), skills.env
    for of_game in ("layout", "collect"):
        assert getattr(opened, of_game, None) == getattr(played, of_game, None)
    assert opened.spec.id == played.spec.id
    assert opened.space.goal_names == played.space.goal_names


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_networks_have_a_recipe_for_their_world_and_tasks(name):
    recipe = import_module(ENTRIES[name].recipes).RECIPES[name]
    learner, start = catalogue.recipe(name)
    assert learner is recipe.learner
    assert start is None or start in SHIPPED
    assert recipe.tasks == ENTRIES[name].tasks
    assert recipe.world == ENTRIES[name].arguments
    if recipe.paper is not None:
        assert catalogue.recipe(name, paper=True) == (recipe.paper, None)
    else:
        with pytest.raises(ValueError, match="not in the paper"):
            catalogue.recipe(name, paper=True)


def test_worlds_without_networks_have_no_recipe():
    assert catalogue.recipe("four-rooms") is catalogue.recipe("maze.txt") is None


def test_a_map_has_a_task_for_each_goal(tmp_path):
    path = tmp_path / "map.txt"
    path.write_text(MAP)
    skills = open_skills(str(path))
    assert list(skills) == ["A", "B", "C"]
    assert skills["A | ~B"].task == skills.space.task(["A", "C"])


def test_a_byte_order_mark_is_no_part_of_a_map(tmp_path):
    path = tmp_path / "map.txt"
    path.write_text(MAP, encoding="utf-8-sig")  # as some editors save text
    assert list(open_skills(str(path))) == ["A", "B", "C"]


def test_lines_under_a_map_name_tasks(tmp_path):
    path = tmp_path / "map.txt"
    path.write_text(MAP + "\nnorth = A, B\nwest=A,C\n")
    skills = open_skills(str(path))
    assert {n: t.desired.tolist() for n, t in skills.tasks.items()} == {
        "north": [True, True, False],
        "west": [True, False, True],
    }
    assert list(open_skills(str(path), tasks=["west"])) == ["west"]


def test_tasks_are_chosen_by_name_or_defined():
    world = open_world("four-rooms")
    chosen = base_tasks("four-rooms", world, ["left,top", "corner = top_left"])
    assert list(chosen) == ["left", "top", "corner"]
    assert chosen["corner"] == world.space.task(["top_left"])
    assert chosen["left"] == world.tasks["left"]


def test_saved_skills_are_opened_from_their_directory(tmp_path):
    ta.solve(ta.FourRooms(), ["top"]).save(tmp_path / "mine")
    assert list(open_skills(str(tmp_path / "mine"))) == ["top"]


def test_a_folder_of_the_same_name_does_not_stand_before_the_library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "boxman").mkdir()
    assert tuple(open_skills("boxman")) == ENTRIES["boxman"].tasks


def test_slips_reach_the_world():
    assert not open_world("four-rooms", slip_probability=0.1).space.mdp.deterministic


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the map is empty"),
        ("#####\n#...#\n#####", "no goal; put letters"),
        ("##A##\n#A..#", "drawn twice"),
        (MAP + "north = Z", "unknown goal 'Z'"),
        (MAP + "north = ", "no name or no goals"),
        (MAP + "a = A\na = B", "given twice"),
        ("#A?B#", "'?'"),
    ],
)
def test_what_is_wrong_with_a_map_is_told_with_the_file(text, words, tmp_path):
    path = tmp_path / "map.txt"
    path.write_text(text)
    with pytest.raises(ValueError) as error:
        open_world(str(path))
    assert str(error.value).startswith(f"{path}: ") and words in str(error.value)


def test_other_things_than_worlds_are_refused(tmp_path):
    binary, large = tmp_path / "binary", tmp_path / "large"
    binary.write_bytes(b"\xff\xfe\x00")
    large.write_text("#" * 2_000_000)
    for name, words in (
        (binary, "not a text file"),
        (large, "more than 1,000,000 bytes"),
        (tmp_path, "is a directory"),
        ("boxmann", "Did you mean 'boxman'?"),
    ):
        with pytest.raises(ValueError, match=words):
            open_world(str(name))
    with pytest.raises(ta.StoreError, match="no skills at"):
        open_skills(str(tmp_path))


def test_completions_are_worlds_maps_and_saved_skills(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fox.txt").write_text(MAP)
    (tmp_path / "folder").mkdir()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "map.txt").write_text(MAP)
    ta.solve(ta.FourRooms(), ["top"]).save("found")
    names = [name for name, _ in completions("fo")]
    assert names == ["four-rooms", "forty-goals", "fox.txt", "found"]
    assert [name for name, _ in completions("deep/")] == ["deep/map.txt"]
    assert completions("nowhere/") == []


def test_names_are_completed_without_numpy():
    code = (
        "import sys, taskalgebra.skills.catalogue as c;"
        "c.completions(''); print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
