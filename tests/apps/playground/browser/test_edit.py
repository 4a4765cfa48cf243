"""Editing the world: walls, goals, base tasks, size, undo and redo."""

from __future__ import annotations

import math

import pytest
from playwright.sync_api import expect

import taskalgebra as ta
from taskalgebra.apps.playground import schema
from taskalgebra.envs.four_rooms import CENTRES, MAP
from taskalgebra.theory.base_tasks import minimal_labels


def message(desk, label):
    """What stands at a field, for eyes and for screen readers."""
    field = desk.page.get_by_label(label, exact=True)
    return desk[field.get_attribute("aria-describedby")].inner_text()


def way(desk):
    """The cells of the drawn path, as (row, column)."""
    drawn = desk.page.locator("#map .ahead").get_attribute("d")
    points = drawn.replace("M", "L").split("L")[1:]
    return [(int(float(y)), int(float(x))) for x, y in (point.split() for point in points)]


def test_a_wall_changes_the_path_and_undo_brings_it_back(desk):
    desk.click(1, 5)
    desk.say("optimum", "1.30")
    before = way(desk)
    assert before[-1] == (3, 9) and (2, 6) in before  # by the upper door
    desk.choose("Wall")
    desk.click(2, 6)
    rows = MAP.split()
    rows[2] = rows[2][:6] + "#" + rows[2][7:]
    world = ta.FourRooms(goals=CENTRES, text=rows)
    best = ta.optimal_v(world.space.task(["top_right", "bottom_left"]))[4]
    desk.say("optimum", f"{best:.2f}")
    desk.say("final", f"{best:.2f}")
    after = way(desk)
    assert after[-1] == (9, 3) and (6, 2) in after  # now by the door below
    desk.shoot("wall")
    desk.page.keyboard.press("Control+z")
    desk.say("optimum", "1.30")
    assert way(desk) == before
    desk["redo"].click()
    desk.say("optimum", f"{best:.2f}")


def test_a_stroke_paints_and_erases_cells_and_is_one_step_of_undo(desk):
    desk.choose("Wall")
    desk.drag((5, 7), (5, 11))
    desk.reads(5, 9, "wall")
    desk.choose("Erase")
    desk.drag((5, 9), (5, 10))
    desk.reads(5, 9, "value")
    desk.reads(5, 11, "wall")
    desk["undo"].click()
    desk["undo"].click()
    expect(desk["undo"]).to_be_disabled()
    desk.reads(5, 11, "value")


def test_goals_and_tasks_of_ones_own(desk):
    desk.choose("Empty room")
    desk.solved("a | b")
    desk.choose("Goal")
    desk.click(1, 5)
    desk.page.get_by_label("Name of goal 3").fill("door")
    desk.page.get_by_label("Name of goal 3").press("Enter")
    desk.page.get_by_role("button", name="Add a base task").click()
    desk.page.get_by_label("Name of base task 3").fill("way out")
    desk.page.get_by_label("Name of base task 3").press("Enter")
    desk.page.get_by_label("way out wants door").check()
    desk.type("'way out' & ~a")
    desk.say("desired", "door")
    desk.page.get_by_label("Name of base task 3").fill("exit")
    desk.page.get_by_label("Name of base task 3").press("Enter")
    expect(desk["expression"]).to_have_value("exit & ~a")
    desk.say("desired", "door")
    desk.choose("Move")
    desk.drag((1, 5), (6, 5))
    desk.reads(6, 5, "goal door, desired")
    desk.shoot("own goals")
    desk.choose("Erase")
    desk.click(6, 5)
    desk.say("desired", "none")
    desk.page.get_by_role("button", name="Remove base task exit").click()
    desk.say("error", "Unknown task 'exit'")


def test_the_map_is_resized_cleared_and_refuses_nonsense(desk):
    desk.page.get_by_label("Rows", exact=True).fill("8")
    desk.page.get_by_label("Rows", exact=True).press("Enter")
    desk.say("caption", "reach top_right. From")
    expect(desk.page.locator("#slices canvas")).to_have_count(2)  # the lower goals fell off
    desk.page.get_by_label("Columns").fill("1000")
    desk.page.get_by_label("Columns").press("Enter")
    assert message(desk, "Columns") == "A map has 3 to 128 columns."
    desk.page.get_by_label("Columns").press("Escape")
    assert message(desk, "Columns") == ""
    expect(desk.page.get_by_label("Columns")).to_have_value("13")
    desk.page.get_by_label("Desired goal r_U").fill("5")
    desk.page.get_by_label("Desired goal r_U").press("Enter")
    desk.say("optimum", "3.90")
    desk.page.get_by_label("Desired goal r_U").fill("1001")
    desk.page.get_by_label("Desired goal r_U").press("Enter")
    assert message(desk, "Desired goal r_U") == "A reward is a number from −1000 to 1000."
    desk["clear"].click()
    desk.say("caption", "Place a goal to begin")
    desk.choose("Goal")
    desk.click(3, 3)
    desk.say("caption", "no goal is desired")
    desk.choose("Wall")
    desk.click(3, 3)
    desk.say("readout", "There is a goal here")


def test_what_is_wrong_with_a_world_is_in_view_where_it_was_typed(desk):
    reward = desk.page.get_by_label("Desired goal r_U")
    reward.fill("-7")
    reward.press("Enter")
    assert message(desk, "Desired goal r_U") == "A desired goal must pay more than any other."
    expect(reward).to_be_in_viewport()
    expect(desk.page.get_by_text("A desired goal must pay more")).to_be_in_viewport(ratio=1)
    expect(desk["notice"]).to_be_hidden()
    desk.say("optimum", "0.90")  # the world is as it was


def test_rewards_that_fit_only_together_are_taken_together(desk):
    for label, value in (("Desired goal r_U", "-3"), ("Other goal r_∅", "-9")):
        desk.page.get_by_label(label).fill(value)
        desk.page.get_by_label(label).press("Enter")
    desk.say("optimum", "−4.10")  # ten steps and the stay, −0.1 each, and −3
    assert message(desk, "Desired goal r_U") == message(desk, "Other goal r_∅") == ""


MISTAKES = {
    "Rows": ("2", "A map has 3 to 128 rows.", "12"),
    "Columns": ("7.5", "A map has 3 to 128 columns.", "14"),
    "Step": ("0", "A step must cost something: write a number below 0.", "-0.2"),
    "Desired goal r_U": ("-0.1", "A desired goal must pay more than any other.", "1"),
    "Other goal r_∅": ("2", "A desired goal must pay more than any other.", "1"),
    "Name of goal 1": ("top_right", "There is already a goal called top_right.", "attic"),
    "Name of goal 2": (" ", "A goal needs a name.", "attic"),
    "Name of base task 1": ("left", "There is already a task called left.", "up"),
    "Name of base task 2": ("", "A task needs a name.", "port"),
}


@pytest.mark.parametrize("label", MISTAKES)
def test_a_message_stands_at_its_field_and_leaves_with_the_mistake(desk, label):
    wrong, sentence, right = MISTAKES[label]
    field = desk.page.get_by_label(label, exact=True)
    before = desk["caption"].inner_text()
    field.fill(wrong)
    field.press("Enter")
    assert message(desk, label) == sentence
    expect(field).to_have_value(wrong)
    expect(field).to_have_attribute("aria-invalid", "true")
    box = desk.page.get_by_text(sentence, exact=True).bounding_box()
    assert 0 <= box["y"] - field.bounding_box()["y"] < 90
    assert desk["caption"].inner_text() == before and desk["readout"].inner_text() == ""
    desk.shoot(f"wrong, {label}")
    field.fill(right)  # before Enter
    assert message(desk, label) == ""
    field.press("Enter")
    expect(desk.page.get_by_label(label, exact=True)).to_have_value(right)
    desk.page.wait_for_selector("body[data-answer]")


def test_what_the_server_refuses_stands_at_its_field(desk):
    field = desk.page.get_by_label("Name of goal 2")
    field.fill("a\u200bb")  # a name of which a letter cannot be seen
    field.press("Enter")
    expect(desk.page.get_by_text("characters that cannot be printed")).to_be_visible()
    assert "cannot be printed" in message(desk, "Name of goal 2")
    expect(desk["notice"]).to_be_hidden()
    desk.page.get_by_label("Name of goal 2").fill("ab")
    desk.page.get_by_label("Name of goal 2").press("Enter")
    desk.say("caption", "reach ab or bottom_left")
    assert message(desk, "Name of goal 2") == ""


def test_a_wrong_seed_and_a_wrong_start_are_named(desk):
    pytest.importorskip("torch")
    desk.visit("#boxman=boxman&task=blue&seed=1")
    desk.page.get_by_label("Seed").fill("-1")
    desk.page.get_by_label("Seed").press("Enter")
    assert message(desk, "Seed") == "A seed is a whole number from 0 to 4294967295."
    desk.page.get_by_label("Seed").fill("2")
    assert message(desk, "Seed") == ""
    desk.page.get_by_label("Seed").press("Enter")
    desk.solved("blue")
    desk.page.locator("#screen img").click(position={"x": 30, "y": 30})
    desk.say("readout", "The agent cannot start at row 0, column 0")


def painted(desk, n):
    """An empty room with n goals of one's own."""
    desk.choose("Empty room")
    desk.solved("a | b")
    desk["clear"].click()
    desk.choose("Goal")
    for i in range(n):
        desk.click(1 + i // 9, 1 + i % 9)
    expect(desk.page.locator("#map .goal")).to_have_count(n)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 40])
def test_new_goals_get_the_minimal_set_of_base_tasks(desk, n):
    painted(desk, n)
    desk.say("notes", "No base task")
    labels = minimal_labels(n)  # of the library, with the names that the button gives
    desk["notes"].get_by_role("button").click()
    desk.solved("x1")
    ticks = desk.page.locator(".ticks tbody tr").evaluate_all(
        "(rows) => rows.map((row) => "
        "[...row.querySelectorAll('[type=checkbox]')].map((one) => one.checked))"
    )
    assert ticks == labels.tolist()
    assert labels.shape[1] == max(1, math.ceil(math.log2(n)))
    expect(desk["notes"]).to_be_empty()
    expressible = {1: "2", 2: "4", 3: "8", 5: "32", 8: "256", 40: "240"}[n]
    desk.say("n-tasks", f"{expressible} of them")
    expect(desk.page.get_by_role("button", name="Minimal set")).to_be_disabled()
    desk.shoot(f"minimal set of {n}")
    desk["undo"].click()
    desk.solved("a | b")
    desk.say("notes", "No base task")


def test_goals_that_no_base_task_tells_apart_are_named(desk):
    desk.choose("Goal")
    desk.click(1, 11)
    desk.say("notes", "No base task tells bottom_right and A apart")
    minimal = desk.page.get_by_role("button", name="Minimal set (3 base tasks)", exact=True)
    minimal.click()
    desk.solved("x1")
    expect(desk["expression"]).to_have_value("x1")
    desk.type("x1 & ~x1 | x2")
    desk.say("desired", "top_right and bottom_left")


def test_the_page_has_the_limits_of_the_server(desk):
    limits = desk.page.evaluate("async () => (await import('/static/world.js')).LIMITS")
    assert limits == {
        "side": schema.MAX_SIDE,
        "goals": schema.MAX_GOALS,
        "tasks": schema.MAX_TASKS,
        "name": schema.MAX_NAME,
        "reward": schema.MAX_REWARD,
        "cost": schema.LEAST_COST,
        "slip": schema.MAX_SLIP,
    }


def test_a_map_too_narrow_for_walls_is_cleared_to_floor(desk):
    cleared = desk.page.evaluate(
        """async () => {
          const { cleared } = await import("/static/world.js");
          return cleared({ map: ["#.."], goals: [], tasks: [] }).map;
        }"""
    )
    assert cleared == ["..."]


def test_a_cell_without_a_path_to_a_goal_says_so(desk):
    desk.choose("Wall")
    desk.drag((1, 2), (2, 2), (2, 1))
    desk.say("caption", "From row 1, column 1 the agent cannot reach a goal.")
    expect(desk["run"]).to_be_disabled()
    desk.reads(1, 1, "no goal can be reached")
