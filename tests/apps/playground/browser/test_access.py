"""For everybody: by keyboard, with a screen reader, on phones and on walls, in light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from page_checks import CONTRAST, NAMELESS, OVERFLOW, SMALL

WORLDS = {
    "four rooms": "#world=four-rooms&task=top+%5E+left",
    "forty goals": "#world=forty-goals&task=x1",
    "boxman": "#boxman=boxman&task=blue&seed=1",
}


def test_no_page_scrolls_sideways(desk):
    for name, hash_ in WORLDS.items():
        desk.visit(hash_)
        for width in (360, 768, 1024, 1440, 1920):
            desk.page.set_viewport_size({"width": width, "height": 800})
            assert desk.page.evaluate(OVERFLOW) <= 0, (name, width)
            if width in (360, 1920):
                desk.shoot(f"{name}, {width} wide")
    desk.page.set_viewport_size({"width": 360, "height": 800})
    desk["expression"].fill(" | ".join(["left"] * 40))
    assert desk.page.evaluate(OVERFLOW) <= 0


def test_a_phone_has_large_targets_and_a_picture_on_the_first_screen(new_desk):
    desk = new_desk(360, 740, touch=True).open()
    assert desk["map"].bounding_box()["y"] < 560
    assert desk.page.evaluate(SMALL) == []
    desk.visit(WORLDS["boxman"])
    assert desk.page.evaluate(SMALL) == []


@pytest.mark.parametrize("dark", [False, True])
def test_texts_have_contrast_and_controls_have_names(new_desk, dark):
    desk = new_desk(dark=dark).open()
    for hash_ in WORLDS.values():
        desk.visit(hash_)
        assert desk.page.evaluate(CONTRAST) == []
        assert desk.page.evaluate(NAMELESS) == []
    desk["expression"].fill("blue &")
    desk.say("error", "Expected a task name")
    assert desk.page.evaluate(CONTRAST) == []


def test_dark_follows_the_system_and_the_reader(new_desk):
    desk = new_desk(dark=True).open()
    ground = "getComputedStyle(document.body).backgroundColor"
    night = desk.page.evaluate(ground)
    desk.shoot("dark")
    desk.page.get_by_role("button", name="Use light colours").click()
    assert desk.page.evaluate(ground) != night
    desk.open()
    expect(desk.page.get_by_role("button", name="Use dark colours")).to_be_visible()


def test_everything_works_by_keyboard(new_desk):
    desk = new_desk().open()
    press = desk.page.keyboard.press
    press("Tab")
    press("Enter")  # skip to the expression
    expect(desk["expression"]).to_be_focused()
    press("Control+a")
    desk.page.keyboard.type("top & ~left")
    desk.solved("top & ~left")
    desk["map"].focus()
    for _ in range(4):
        press("ArrowDown")
    press("Enter")
    desk.say("caption", "From row 5, column 1 the agent takes top_right")
    press("w")
    press("ArrowUp")
    press("ArrowRight")
    press("Space")
    desk.say("readout", "Row 4, column 2: wall")
    assert desk["map"].get_attribute("aria-activedescendant") == "cell-4-2"
    expect(desk.page.get_by_role("gridcell")).to_have_text("Row 4, column 2: wall")
    desk.shoot("keyboard")
    press("m")
    for key in (
        "PageUp",
        "Home",
        "ArrowDown",
        "ArrowDown",
        "ArrowDown",
        "ArrowRight",
        "ArrowRight",
    ):
        press(key)
    press("ArrowRight")
    press("Enter")
    desk.say("readout", "Row 3, column 3: goal top_left")
    press("ArrowUp")
    press("Enter")
    desk.say("readout", "Row 2, column 3: goal top_left")
    press("Control+z")
    desk.say("readout", "Row 2, column 3")
    desk["expression"].focus()
    press("Enter")
    expect(desk["run"]).to_have_text("Pause")


def test_every_control_is_reached_by_tab(new_desk):
    desk = new_desk().open()
    reached = set()
    for _ in range(80):
        desk.page.keyboard.press("Tab")
        name = desk.page.evaluate(
            "(document.activeElement.id || document.activeElement.name || "
            "document.activeElement.textContent.trim())"
        )
        reached.add(name)
    controls = {"share", "theme", "preset", "expression", "tool", "map", "run", "step", "speed"}
    assert controls | {"show", "png", "svg", "python", "clear", "Add a base task"} <= reached


def test_the_picture_is_described_in_words(desk):
    page = desk.page
    for role, name in (
        ("region", "Picture"),
        ("region", "What the task means"),
        ("region", "Goals and base tasks"),
        ("grid", "Map"),
    ):
        expect(page.get_by_role(role, name=name, exact=True)).to_be_attached()
    expect(page.get_by_role("main")).to_be_attached()
    assert desk["map"].get_attribute("aria-describedby") == "caption map-help"
    desk.type("top")
    desk.say("announce", "Task top: reach top_left or top_right.")
    label = page.get_by_role("img", name="Values for ending in top_left, desired")
    expect(label).to_be_attached()
