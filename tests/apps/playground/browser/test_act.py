"""Watching agents act: on the map, and in Boxman."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import taskalgebra as ta

pytest.importorskip("torch")


def test_the_agent_runs_to_its_goal_and_earns_the_optimum(desk):
    desk.click(11, 11)
    best = ta.solve(ta.FourRooms(), ["top", "left"])["top ^ left"].v[103]
    desk.say("optimum", f"{best:.2f}")
    expect(desk["so-far"]).to_have_text("0.00")
    desk["speed"].fill("20")
    desk["run"].click()
    expect(desk["run"]).to_have_text("Pause")
    expect(desk["so-far"]).to_have_text(f"{best:.2f}")
    expect(desk["final"]).to_have_text(f"{best:.2f}")
    desk.say("readout", "takes ")
    expect(desk["run"]).to_have_text("Again")
    place = desk.page.locator("#map .agent").get_attribute("transform")
    assert place in ("translate(9.5 3.5)", "translate(3.5 9.5)")
    desk.shoot("arrived")
    desk["reset"].click()
    expect(desk.page.locator("#map .agent")).to_have_attribute("transform", "translate(11.5 11.5)")


def test_steps_are_taken_one_by_one_and_pay_what_they_cost(desk):
    desk.click(3, 8)
    for earned in ("−0.10", "−0.20", "1.80"):  # a move, the stay that enters the goal, and its pay
        desk["step"].click()
        expect(desk["so-far"]).to_have_text(earned)
    expect(desk["step"]).to_be_disabled()


def test_the_agent_follows_a_drag_and_refuses_walls(desk):
    desk.drag((1, 1), (3, 8))
    desk.say("optimum", "1.80")
    desk.click(0, 0)
    desk.say("readout", "The agent cannot be in a wall.")


def test_boxman_acts_on_its_pixels(desk):
    desk.choose("Boxman")
    desk.solved("blue ^ square")
    image = desk.page.locator("#screen img")
    assert image.evaluate("(image) => [image.naturalWidth, image.naturalHeight]") == [84, 84]
    desk.type("blue & square")
    desk.say("desired", "blue square")
    box = image.bounding_box()
    row, column = 8, 6  # five cells right of the blue square
    at = {side: (2 + 8 * cell + 4) / 84 for side, cell in (("height", row), ("width", column))}
    image.click(position={"x": at["width"] * box["width"], "y": at["height"] * box["height"]})
    desk.say("final", "1.40")  # five moves, the pick-up, then 2
    desk.say("optimum", "1.40")
    rows = desk.page.locator("#choice [role=listitem]").all_inner_texts()
    values = {row.split("\n")[0]: float(row.split("\n")[1].replace("−", "-")) for row in rows}
    assert max(values, key=values.get) == "left"
    expect(desk.page.locator("#choice .chosen")).to_contain_text("left")
    desk.shoot("boxman")
    desk["speed"].fill("20")
    first = image.get_attribute("src")
    desk["run"].click()
    expect(desk["so-far"]).to_have_text("1.40")
    assert image.get_attribute("src") != first
    desk.say("caption", "The network collects blue square")
    desk.say("readout", "Any action ends the episode here, and pays 2.00 for blue square")
    desk.say("choice", "A goal pays when the agent acts in it, whatever it does there")
    desk.shoot("boxman, the end")
    desk["screen"].focus()
    desk.page.keyboard.press("ArrowUp")  # start one cell further
    desk.say("final", "1.30")
    desk.choose("Four Rooms")
    desk.say("final", "0.90")
    desk["step"].click()
    desk.say("readout", "Step 1: goes ")


def test_boxman_has_other_skills_and_layouts(desk):
    desk.open("#boxman=boxman-random&task=blue&seed=3")
    desk.say("caption", "collects blue")
    image = desk.page.locator("#screen img")
    first = image.get_attribute("src")
    desk.page.get_by_role("button", name="New layout").click()
    expect(image).not_to_have_attribute("src", first)
    desk.choose("Objects anywhere, collected by touch")
    desk.type("purple | blue")
    desk.say("caption", "Task purple | blue")
    desk["expression"].fill("purple | red")
    desk.say("error", "Unknown task 'red'")
    expect(desk["screen"]).to_have_class("screen boxman-only stale")
    expect(desk["run"]).to_be_disabled()


def test_the_last_steps_of_boxman_are_explained(desk):
    """Collecting and ending are two actions: the screen between them needs a word."""
    endings = {
        "boxman": ("#boxman=boxman&task=blue+%26+square&seed=0&agent=8.4", "pick up"),
        "boxman-touch": ("#boxman=boxman-touch&task=blue+%26+square&seed=3", None),
    }
    for skills, (hash_, collects) in endings.items():
        desk.visit(hash_)
        desk.say("caption", "(the last one ends the episode)")
        said = []
        while desk["step"].is_enabled():
            desk["step"].click()
            said.append(desk["readout"].inner_text())
        assert all(one.count(".") == 1 for one in said[:-2]), skills  # moves explain themselves
        assert said[-2].endswith(
            "The agent holds blue square and sees nothing else; its next action ends the episode."
        )
        assert collects is None or f": {collects}." in said[-2]
        assert said[-1].endswith("Any action ends the episode here, and pays 2.00 for blue square.")


def test_an_episode_without_an_end_says_so(desk):
    def cut(route):
        answer = route.fetch().json()
        route.fulfill(json={**answer, "collected": None})

    desk.page.route("**/api/boxman/play", cut)
    desk.visit("#boxman=boxman&task=blue&seed=0")
    while desk["step"].is_enabled():
        desk["step"].click()
    desk.say("readout", "The episode is cut off after")
    desk.say("choice", "The agent collected nothing, and was stopped after")
    assert "ends the episode" not in desk["caption"].inner_text()
