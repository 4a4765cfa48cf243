"""For everybody: by keyboard, with a screen reader, on phones and on walls, in light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

# Texts that are seen and too weak against the colour behind them.
CONTRAST = """() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = channels(getComputedStyle(at).backgroundColor);
      if (alpha === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const apart = "svg, .mirror, .hidden, :disabled, :disabled + span, noscript";
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility() || element.closest(apart)) continue;
    const ink = light(channels(getComputedStyle(element).color).slice(0, 3));
    const ground = light(behind(element));
    const ratio = Math.max(ink, ground) / Math.min(ink, ground);
    if (ratio < 4.5) weak.push([element.className, text, ratio.toFixed(2)]);
  }
  return weak;
}"""

# Controls for which a screen reader has no name.
NAMELESS = """() => {
  const controls = "button, input, textarea, select, summary, [tabindex='0']";
  const named = (one) =>
    one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") ||
    one.labels?.[0]?.textContent.trim() || one.textContent.trim();
  const seen = [...document.querySelectorAll(controls)].filter((one) => one.checkVisibility());
  return seen.filter((one) => !named(one)).map((one) => one.outerHTML);
}"""

# Controls that are too small for a finger.
SMALL = """() => {
  const controls =
    "button, .segments label, .ticks td > label, textarea, select, " +
    "input:not([type=radio], [type=checkbox])";
  const seen = [...document.querySelectorAll(controls)].filter((one) => one.checkVisibility());
  return seen
    .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
    .filter(([, box]) => box.width < 40 || box.height < 40)
    .map(([what, box]) => `${what} ${box.width} x ${box.height}`);
}"""

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
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
