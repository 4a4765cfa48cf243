"""The table of other people's worlds: records, runs, and the shipped results."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path

import gymnasium as gym
import minigrid  # noqa: F401 (registers its environments)
import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.paper.results.record import load
from taskalgebra.showcase import minigrid_fixed, stable_baselines
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


SHIPPED = Path(__file__).parents[3] / "results" / "worlds"
SHORT: set[str] = set()
"""Worlds whose bar is not reached; the table says so."""


def test_the_table_of_the_page_is_that_of_the_results():
    assert (SHIPPED / showcase.TABLE).read_text() == showcase.table(SHIPPED)


@pytest.mark.parametrize("name", sorted(showcase.worlds()))
def test_every_world_has_results_and_reaches_its_bar_or_is_named(name):
    world = showcase.worlds()[name]
    result = load(name, SHIPPED)
    shown = showcase._kept(world, SHIPPED)
    assert result.config["lines"] == world.n_lines
    assert result.config["ok"] == shown.ok == (name not in SHORT)
    assert all(one.episodes <= world.episodes for one in shown.judged)


@pytest.mark.parametrize(
    ("wanted", "fewest"), [(lambda carried: carried, 17), (lambda carried: not carried, 20)]
)
def test_the_search_over_keys_and_doors_counts_steps(wanted, fewest):
    env = gym.make(minigrid_fixed.KEY).unwrapped
    env.reset(seed=0)
    ends = partial(minigrid_fixed._on_goal, env.grid, wanted)
    assert minigrid_fixed.fewest_steps(env, ends, things=True) == fewest


def test_a_search_that_cannot_end_well_says_so():
    env = gym.make(minigrid_fixed.FETCH).unwrapped
    env.reset(seed=0)
    assert minigrid_fixed.fewest_steps(env, lambda *_: None, things=False) is None


def test_ways_past_walls_are_longer():
    assert stable_baselines.round_the_wall((0.5, 0.0), (0.5, 0.5), set()) == 0.5
    assert stable_baselines.round_the_wall((-0.4, 0.0), (0.4, 0.0), set()) == pytest.approx(1.0)
    grid = stable_baselines.Grid()
    west, east = grid.point(3, 0), (3, 6)
    assert stable_baselines.through_grid(west, (3, 2), set()) == 2
    assert stable_baselines.through_grid(west, east, set()) == 2 + 6 + 2
    assert stable_baselines.through_grid(west, east, {(1, 3)}) == math.inf


def test_episodes_end_in_the_first_goal_reached_or_at_the_limit():
    """Always to the left in a grid: into the first of the cells of the row, or against the wall."""
    cells = [(3, 0), (3, 5), (6, 4)]
    size = stable_baselines.Grid().size
    points = np.stack([stable_baselines.Grid().point(*cell) for cell in cells])
    world = ta.wrap(stable_baselines.Grid, lambda *_: None, among=["a", "b", "c"])
    seeds = list(range(150))
    asked = []

    def left(seen, numbers):
        asked.extend(numbers)
        return np.full(len(seen), 2)

    found = stable_baselines.ends(world, points, left, seeds)
    assert {-1, 0, 1, 2} == set(found.tolist())
    for seed in seeds:
        env = stable_baselines.Grid()
        env.reset(seed=seed)
        row, column = env.at
        wall = size // 2 if column > size // 2 and row != 1 else -1
        stop = max(wall + 1, 0)
        passed = [(row, c) for c in range(max(column - 1, stop), stop - 1, -1)]
        first = next((cells.index(cell) for cell in passed if cell in cells), -1)
        assert found[seed] == first, (seed, env.at)
        steps = column - cells[first][1] if first >= 0 else env.max_steps
        assert asked.count(seed) == max(steps, 1)
