"""`taskalgebra reproduce temporal`: at toy size, and the shipped results."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from taskalgebra.paper.results.record import load
from taskalgebra.showcase import run as showcase
from taskalgebra.showcase.temporal import office
from taskalgebra.showcase.temporal import run as report
from taskalgebra.showcase.temporal.published import PUBLISHED
from taskalgebra.showcase.temporal.record import PLANNED, Entry, Measured
from taskalgebra.showcase.temporal.table import page

SHIPPED = Path(__file__).parents[3] / "results" / "temporal"
SHORT: set[str] = set()
"""Parts whose bar is not reached; the table says so."""


def test_every_part_runs_at_toy_size_and_is_kept(tmp_path, document, monkeypatch):
    arguments = ("reproduce", "temporal", "--quick", "--quiet", "--out", tmp_path)
    first = document(*arguments)
    assert [part["name"] for part in first["parts"]] == [one.name for one in report.chosen([])]
    for part in first["parts"]:
        assert part["ok"], part["name"]
        assert all(task["verdict"] for task in part["tasks"])
    monkeypatch.setattr(report, "_run", None)
    assert document(*arguments)["parts"] == first["parts"]
    text = (tmp_path / "results" / "temporal" / "temporal.md").read_text()
    assert "| Office, few steps |" in text and "DeepLTL" in text
    assert (tmp_path / "results" / "temporal" / "figures" / "temporal.png").stat().st_size > 10_000


def one_part(taken, best, extras=()):
    about = {"world": "W", "task": "1", "formula": "F a", "values": PLANNED}
    return Entry(
        "e", "E", PLANNED, lambda quick: [Measured.of(taken, best, **about)], "all", extras=extras
    )


def test_a_part_that_falls_short_is_said(tmp_path, monkeypatch, run):
    entry = one_part([3.0, 2.0], [2.0, 2.0])
    monkeypatch.setattr(report, "entries", lambda: {"e": entry})
    code, out, _ = run("reproduce", "e", "--out", tmp_path)
    assert code == 0 and "short by 25.0 % more steps" in out
    assert "0 of 1 parts reach their bar" in out
    directory = tmp_path / "results" / "temporal"
    text = (directory / "temporal.md").read_text()
    assert "1 / 2.50, short by 25.0 % more steps" in text and "| short |" in text
    assert json.loads((directory / "e.json").read_text())["config"]["ok"] is False
    assert report.kept(entry, directory).measured[0].task == "1"  # and not the number


def test_unknown_parts_and_missing_extras_are_said(tmp_path, monkeypatch, run):
    with pytest.raises(ValueError, match="Did you mean 'office-planned'"):
        report.chosen(["office-planed"])
    entry = one_part([2.0], [2.0], extras=("deep",))
    monkeypatch.setattr(report, "entries", lambda: {"e": entry})
    code, _, _ = run("reproduce", "e", "--train", "--out", tmp_path)
    assert code == 2
    monkeypatch.setattr(showcase, "find_spec", lambda name: None)
    code, _, err = run("reproduce", "e", "--out", tmp_path)
    assert code == 1 and "taskalgebra[deep]" in err


def test_a_result_at_toy_size_does_not_stand_for_a_whole_one(tmp_path):
    name = "office-planned"
    (quick,) = report.run([name], tmp_path, quick=True)
    (again,) = report.run([name], tmp_path, quick=True)
    (whole,) = report.run([name], tmp_path)
    (kept,) = report.run([name], tmp_path, quick=True)
    assert [shown.kept for shown in (quick, again, whole, kept)] == [False, True, False, True]
    assert sum(row.episodes for row in quick.measured) < 60
    assert sum(row.episodes for row in whole.measured) == 922
    assert load(name, tmp_path / "results" / "temporal").table == load(name, SHIPPED).table


@pytest.mark.parametrize("name", report.entries())
def test_every_part_has_results_and_reaches_its_bar_or_is_named(name):
    entry = report.entries()[name]
    shown = report.kept(entry, SHIPPED)
    assert not shown.quick
    assert load(name, SHIPPED).config["ok"] == shown.ok == (name not in SHORT)
    assert {row.values for row in shown.measured} == {entry.values}


@pytest.mark.parametrize("name", ["office-planned", "office-algorithm-1", "office-few-steps"])
def test_the_office_is_at_the_optimum_in_every_way(name):
    shown = report.kept(report.entries()[name], SHIPPED)
    tasks = {(one.world, one.task): one for one in shown.tasks}
    assert set(tasks) == {(case.world, case.task) for case in office.CASES}
    assert all(one.short == 0 and one.success == one.best_success for one in shown.tasks)
    assert tasks["Office", "Coffee"].steps == pytest.approx(16.28, abs=0.005)
    assert tasks["Office", "Coffee"].score == pytest.approx(25.69, abs=0.005)
    seeds = {row.seed for row in shown.rows}
    assert len(seeds) == (1 if name == "office-planned" else 5)
    assert max(row.learning_steps for row in shown.rows) <= 400_000


def test_how_few_steps_are_enough_in_the_office():
    def taken(name):
        return {row.learning_steps for row in report.kept(report.entries()[name], SHIPPED).rows}

    assert taken("office-algorithm-1") == {120_000}
    assert max(taken("office-few-steps")) < 6_000


def test_letters_are_visited_with_the_fewest_steps_in_1000_layouts():
    shown = report.kept(report.entries()["letter-world-planned"], SHIPPED)
    assert [row.task for row in shown.rows] == list("12345")
    assert all((row.episodes, row.success, row.short) == (1000, 1.0, 0) for row in shown.rows)
    steps = [round(row.steps, 2) for row in shown.rows]
    assert steps == [6.74, 5.24, 8.43, 7.78, 5.36]


def test_letters_are_found_from_observations_within_the_bar():
    shown = report.kept(report.entries()["letter-world-learned"], SHIPPED)
    assert [row.task for row in shown.rows] == list("12345")
    for row in shown.rows:
        assert row.episodes == 1000 and row.success >= 0.99
        assert row.steps <= 1.05 * row.best_steps


def test_all_circles_are_visited_in_no_more_steps_than_published():
    shown = report.kept(report.entries()["flat-world-planned"], SHIPPED)
    theirs = {one.task: one for one in PUBLISHED if one.world == "FlatWorld"}
    assert [row.task for row in shown.rows] == list(theirs) == list("12345")
    for row in shown.rows:
        assert row.episodes == 2500 and row.success >= 0.98
        assert row.success >= theirs[row.task].success and row.steps <= theirs[row.task].steps


def test_buttons_are_pressed_as_few_times_as_possible_by_the_arm_too():
    """The page says how many presses and steps of the simulator there were."""
    rule, arm = (
        report.kept(report.entries()[f"puzzle-{by}"], SHIPPED) for by in ("planned", "arm")
    )
    assert [row.task for row in rule.rows] == [row.task for row in arm.rows]
    assert [row.episodes for row in rule.rows] == [512] * 8 + [1] * 5
    assert [row.episodes for row in arm.rows] == [5] * 13
    assert all(row.success == 1.0 and row.short == 0 for row in (*rule.rows, *arm.rows))
    text = (SHIPPED.parents[1] / "docs" / "how-to" / "temporal-worlds.md").read_text()
    for row in rule.rows[:8]:
        formula = row.formula.replace("|", "\\|")
        assert f"| `{formula}` | {row.steps:.2f} |" in text
    presses = sum(row.episodes * row.steps for row in arm.rows)
    simulated = sum(row.episodes * row.score for row in arm.rows)
    assert f"All 65 episodes succeed, with the fewest presses, {presses:.0f} in all" in text
    assert f"takes {simulated / presses:.1f} steps for each" in text


def test_moving_targets_are_taken_as_often_as_asked_and_published():
    shown = report.kept(report.entries()["moving-targets"], SHIPPED)
    rows = {(row.world, row.task): row for row in shown.rows}
    assert len(rows) == 8 and all(row.episodes == 1000 for row in shown.rows)
    for row in shown.rows:
        assert row.score >= 0.8 * row.best_score > 10
        assert row.success == 1.0 or row.task != "blue ^ square"
    assert {row.task for row in shown.rows if row.bound == "nearest object first"} == {
        "circle | square"
    }
    for one in PUBLISHED:
        if one.world == "Moving targets":
            assert rows[one.world, one.task].score > one.score, (one.task, one.method)


def test_levels_of_babyai_are_obeyed_in_the_fewest_steps():
    shown = report.kept(report.entries()["babyai"], SHIPPED)
    rows = {row.task: row for row in shown.rows}
    assert all(row.episodes + row.refused == 12 for row in shown.rows)
    assert all((row.success, row.short) == (1.0, 0) for row in shown.rows)
    assert {task for task, row in rows.items() if row.refused} == {"SynthS5R2"}
    assert rows["GoToSeqS5R2"].episodes == 12


def test_the_tables_and_the_published_figures_are_those_of_the_results():
    parts = report.all_kept(SHIPPED)
    assert (SHIPPED / report.TABLES).read_text() == page(parts, PUBLISHED)
    stored = load(report.OTHERS, SHIPPED).table.rows()
    for row, one in zip(stored, PUBLISHED, strict=True):
        assert str(row) == str(asdict(one))
    assert (SHIPPED / f"{report.PICTURE}.png").is_file()
