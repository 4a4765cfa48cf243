"""Editing the world: walls, goals, base tasks, size, undo and redo."""

from __future__ import annotations

from playwright.sync_api import expect

import taskalgebra as ta
from taskalgebra.apps.playground import schema
from taskalgebra.envs.four_rooms import CENTRES, MAP


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
    assert "wall" in desk.read(5, 9)
    desk.choose("Erase")
    desk.drag((5, 9), (5, 10))
    assert "value" in desk.read(5, 9)
    assert "wall" in desk.read(5, 11)
    desk["undo"].click()
    desk["undo"].click()
    expect(desk["undo"]).to_be_disabled()
    assert "value" in desk.read(5, 11)


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
    assert "goal door, desired" in desk.read(6, 5)
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
    desk.say("readout", "A map has 3 to 128 rows and columns.")
    expect(desk.page.get_by_label("Columns")).to_have_value("13")
    desk.page.get_by_label("Desired goal r_U").fill("5")
    desk.page.get_by_label("Desired goal r_U").press("Enter")
    desk.say("optimum", "3.90")
    desk.page.get_by_label("Desired goal r_U").fill("1001")
    desk.page.get_by_label("Desired goal r_U").press("Enter")
    desk.say("readout", "A reward is a number from −1000 to 1000.")
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
    desk.say("notice", "a desired goal must pay more")
    expect(reward).to_be_in_viewport()
    expect(desk["notice"]).to_be_in_viewport(ratio=1)


def test_the_page_has_the_limits_of_the_server(desk):
    limits = desk.page.evaluate("async () => (await import('/static/world.js')).LIMITS")
    assert limits == {
        "side": schema.MAX_SIDE,
        "goals": schema.MAX_GOALS,
        "tasks": schema.MAX_TASKS,
        "name": schema.MAX_NAME,
        "reward": schema.MAX_REWARD,
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
    assert "no goal can be reached" in desk.read(1, 1)
