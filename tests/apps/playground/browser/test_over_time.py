"""Formulas over time: the automaton beside the map, and its state as the agent walks."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import taskalgebra as ta

ROOMS = ta.Office()
SUCCESS = float(ROOMS.space.r_universal[0])
OFFICE = "#world=office&task=coffee+then+office+%26+avoid+decoration&agent=1.1"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LIT = re.compile(r"\bcurrent\b")
SHOWN = re.compile(r"\bshown\b")


def state(desk, number):
    """A state of the drawing; a dead one may be drawn more than once."""
    return desk.page.locator(f"#automaton .state[data-state='{number}']").first


def arrows(desk):
    """What the arrows on the map look like."""
    paths = desk.page.locator("#map .arrows path")
    return [paths.nth(i).get_attribute("d") for i in range(paths.count())]


def test_a_formula_shows_its_automaton_beside_the_map(desk):
    expect(desk["automaton-part"]).to_be_hidden()
    desk.type("top_left then bottom_right & avoid top_right")
    expect(desk["automaton-part"]).to_be_visible()
    expect(desk.page.locator("#automaton svg")).to_be_visible()
    assert desk.page.locator("#automaton .state:not(.dead)").count() == 3
    expect(state(desk, 0)).to_have_class(LIT)
    desk.say("automaton-state", "State 0: top_left leads on; top_right violates the formula.")
    desk.say("caption", "enters top_left, then bottom_right, satisfies the formula in 22 steps")
    desk.say("certificate", "Yes: composed from the returns to goals")
    assert desk.page.locator("#map .goal.desired title").all_text_contents() == [
        "top_left, leads on"
    ]
    assert desk.page.locator("#map .goal.violating title").all_text_contents() == [
        "top_right, violates"
    ]
    expect(desk["slices"]).to_be_hidden()
    beside, picture = desk["automaton-part"].bounding_box(), desk["map"].bounding_box()
    assert beside["x"] + beside["width"] <= picture["x"]
    desk.type("top")
    expect(desk["automaton-part"]).to_be_hidden()
    expect(desk["slices"]).to_be_visible()


def test_the_state_changes_at_the_coffee_and_the_map_follows(desk):
    desk.choose("Office")
    desk.solved("coffee then office & avoid decoration")
    expect(state(desk, 0)).to_have_class(LIT)
    before = arrows(desk)
    for _ in range(5):
        desk["step"].click()
    expect(state(desk, 0)).to_have_class(LIT)
    assert arrows(desk) == before
    desk["step"].click()
    desk.say("readout", "Step 6: goes down, enters coffee 1, pays −0.10")
    expect(state(desk, 1)).to_have_class(LIT)
    expect(state(desk, 0)).not_to_have_class(LIT)
    desk.say("automaton-state", "State 1: office leads on; decoration violates the formula.")
    desk.say("announce", "Entered coffee 1: the automaton is in state 1.")
    assert arrows(desk) != before
    desk.reads(6, 6, "leads on")
    desk.reads(6, 6, "office")
    desk.shoot("coffee")
    desk["speed"].fill("20")
    desk["run"].click()
    expect(state(desk, 3)).to_have_class(LIT)
    desk.say("automaton-state", "State 3: the formula is satisfied, and the episode ends.")
    desk.say("readout", f"enters office, which satisfies the formula and pays {SUCCESS - 0.1:.2f}")
    for figure in ("so-far", "final", "optimum"):
        expect(desk[figure]).to_have_text(f"{SUCCESS - 1:.2f}")  # ten steps
    desk["reset"].click()
    expect(state(desk, 0)).to_have_class(LIT)
    assert arrows(desk) == before


def test_a_formula_that_cannot_be_satisfied_says_why(desk):
    desk["expression"].fill("F top_left & G !top")
    desk.say("error", "it asks for a goal that is top_left and not top, and this world has none")
    expect(desk["automaton-part"]).to_be_hidden()
    desk.type("F top_left & G !bottom_left")
    desk["expression"].fill("F top_left & G !top_left")
    desk.say("error", "This formula can never be satisfied: it contradicts itself")
    expect(desk["automaton"]).to_have_class(re.compile(r"\bstale\b"))
    expect(desk["run"]).to_be_disabled()


def test_a_start_without_a_way_says_why(desk):
    desk.visit("#world=office&task=F+C+%26+G+!decoration+%26+G+!mail+%26+G+!coffee&agent=1.1")
    desk.say("caption", "satisfies the formula")
    desk.choose("Wall")
    desk.click(8, 2)
    desk.click(8, 14)
    desk.say("notes", "The formula cannot be satisfied from 79 of 118 cells.")
    desk.say("caption", "cannot be satisfied from row 1, column 1: from here there is no way to C")
    expect(desk["run"]).to_be_disabled()
    expect(desk["final"]).to_have_text("none")
    desk.reads(1, 1, "there is no way to C")
    desk.shoot("no way")


def test_a_state_shows_its_map_when_it_is_chosen(desk):
    desk.visit(OFFICE)
    first = arrows(desk)
    state(desk, 1).click()
    expect(state(desk, 1)).to_have_class(SHOWN)
    expect(state(desk, 0)).to_have_class(LIT)
    desk.say("automaton-state", "State 1: office leads on")
    assert arrows(desk) != first
    state(desk, 2).click()
    desk.say("automaton-state", "State 2: the formula is violated")
    expect(desk["automaton-state"]).to_have_class("status violated")
    assert not any(arrows(desk))
    desk["step"].click()  # the map follows the agent again
    expect(state(desk, 0)).to_have_class(SHOWN)
    assert arrows(desk) == first


def test_states_are_chosen_by_keyboard(desk):
    desk.visit(OFFICE)
    desk["automaton-part"].scroll_into_view_if_needed()
    desk["reset"].focus()
    names = []
    for _ in range(60):
        desk.page.keyboard.press("Tab")
        names.append(desk.page.evaluate("document.activeElement.getAttribute('aria-label')"))
        if names[-1] and names[-1].startswith("State 0"):
            break
    assert names[-1] == (
        "State 0, the agent is here: coffee leads on; decoration violates the formula"
    )
    desk.page.keyboard.press("ArrowRight")
    desk.page.keyboard.press("Enter")
    expect(state(desk, 1)).to_be_focused()
    expect(state(desk, 1)).to_have_attribute("aria-pressed", "true")
    expect(state(desk, 0)).to_have_attribute("aria-current", "step")
    desk.say("announce", "State 1: office leads on; decoration violates the formula")
    desk.page.keyboard.press("End")
    desk.page.keyboard.press("Space")
    desk.say("automaton-state", "State 3: the formula is satisfied")


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_laptop_and_a_phone(new_desk, dark):
    desk = new_desk(1366, 768, dark=dark).open(OFFICE)
    for _ in range(6):
        desk["step"].click()
    desk.page.evaluate("scrollTo(0, 0)")
    for part in ("automaton", "automaton-state", "map", "run", "caption"):
        box = desk[part].bounding_box()
        assert box["y"] + box["height"] <= 768, part
    assert desk.page.evaluate(OVERFLOW) <= 0
    shade = "dark" if dark else "light"
    desk.shoot(f"over time, laptop, {shade}")
    phone = new_desk(390, 844, dark=dark, touch=True).open(OFFICE)
    drawing, picture = (phone[one].bounding_box() for one in ("automaton", "map"))
    assert 0 <= drawing["y"] - (picture["y"] + picture["height"]) < 80  # right below the map
    assert phone.page.evaluate(OVERFLOW) <= 0
    phone.page.locator("#automaton .state[data-state='1']").tap()
    phone.say("automaton-state", "State 1")
    size = phone.page.evaluate(
        "parseFloat(getComputedStyle(document.querySelector('#automaton .edge text')).fontSize)"
        " * document.querySelector('#automaton svg').getScreenCTM().a"
    )
    assert size >= 8.5
    phone.shoot(f"over time, phone, {shade}")


def test_a_large_automaton_scrolls_to_the_state_of_the_agent(desk):
    desk.page.set_viewport_size({"width": 390, "height": 844})
    desk.visit("#world=office&task=A+then+B+then+C+then+D+then+A+then+mail&agent=1.1")
    assert desk.page.evaluate(OVERFLOW) <= 0
    assert desk["automaton"].evaluate("(one) => one.scrollWidth > one.clientWidth")
    desk["speed"].fill("20")
    desk["run"].click()
    desk.say("automaton-state", "the formula is satisfied")
    assert desk["automaton"].evaluate("(one) => one.scrollLeft > 0")
    lit = desk.page.locator("#automaton .current").bounding_box()
    assert 0 <= lit["x"] and lit["x"] + lit["width"] <= 390


def test_the_office_is_shared_with_its_touch(new_desk):
    desk = new_desk().open(OFFICE)
    desk.choose("Wall")
    desk.click(1, 5)
    desk.solved("coffee then office & avoid decoration")
    desk.page.wait_for_function("() => location.hash.startsWith('#map=')")
    other = new_desk().open(desk.page.evaluate("location.hash"))
    expect(other.page.get_by_label("Goals are taken by touch")).to_be_checked()
    expect(other["caption"]).to_have_text(desk["caption"].inner_text())
    other.page.get_by_label("Goals are taken by touch").uncheck()
    other.say("caption", "satisfies the formula in 12 steps")  # two of them enter goals
    other["undo"].click()
    other.say("caption", "satisfies the formula in 10 steps")


def test_boolean_tasks_by_touch_are_walked_as_they_are_paid(desk):
    desk.visit("#world=office&task=coffee+%7C+mail&agent=1.1")
    desk.say("caption", f"takes coffee 1 in 7 steps and earns {SUCCESS - 0.6:.2f}, the optimum")
    for _ in range(6):
        desk["step"].click()
    desk.say("readout", "Step 6: goes down, enters coffee 1, pays −0.10")
    desk["step"].click()
    desk.say("readout", f"Step 7: takes coffee 1, pays {SUCCESS:.2f}")


def test_a_goal_is_renamed_in_the_formula(desk):
    desk.type("top_left then bottom_right")
    field = desk.page.get_by_label("Name of goal 1")
    field.fill("then")
    field.press("Enter")
    expect(desk["expression"]).to_have_value("'then' then bottom_right")
    desk.say("automaton-state", "State 0: then leads on.")


def test_mistakes_in_a_formula_have_carets(desk):
    desk["expression"].fill("top_left then bottm_right")
    desk.say("error", "Unknown task 'bottm_right'")
    assert desk.page.locator("#mirror mark").text_content() == "bottm_right"
    desk["expression"].fill("top_left")
    desk.say("error", "This is a goal: write F top_left.")
    desk.type("F top_left")
    expect(desk["error"]).to_be_empty()


def test_formulas_are_built_from_buttons_and_examples(desk):
    desk["expression"].fill("")
    press = desk.page.locator("#keys button")
    for key in ("top", "then", "left", "&", "avoid"):
        press.get_by_text(key, exact=True).click()
    desk.page.keyboard.press("End")
    expect(desk["expression"]).to_have_value("top then left & avoid ")
    desk.page.locator("#examples button", has_text="top then left").click()
    desk.solved("top then left")
    desk.choose("Boxman")
    desk.solved("blue ^ square")
    assert desk.page.locator("#keys button", has_text="then").count() == 0


def test_the_picture_of_a_state_is_downloaded(desk):
    desk.visit(OFFICE)
    with desk.page.expect_download() as download:
        desk["svg"].click()
    assert download.value.suggested_filename == "coffee_then_office_and_avoid_decoration.svg"
    with desk.page.expect_download() as download:
        desk["python"].click()
    desk.page.wait_for_timeout(0)
    assert "touch=True" in download.value.path().read_text()


def test_an_old_state_is_dimmed_while_the_formula_is_wrong(desk):
    desk.type("top_left then bottom_right")
    desk.say("automaton-state", "State 0")
    desk.page.locator("#expression").fill("top_left then nowhere")
    desk.say("error", "Unknown task 'nowhere'")
    expect(desk["automaton-state"]).to_have_class(re.compile(r"\bstale\b"))
    desk.type("top_left then bottom_right")
    expect(desk["automaton-state"]).not_to_have_class(re.compile(r"\bstale\b"))


COLOURS = """() => {
  const state = document.querySelector("#automaton .accepting.current");
  const colour = (one) => getComputedStyle(one).fill.match(/\\d+/g).map(Number);
  return [colour(state.querySelector("circle:not(.hit)")), colour(state.querySelector("text"))];
}"""


def luminance(colour):
    """Relative luminance, as WCAG 2 defines it."""
    parts = [c / 255 for c in colour[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_number_of_the_last_state_can_be_read(desk):
    desk.choose("Office")
    desk.solved("coffee then office & avoid decoration")
    for _ in range(10):
        desk["step"].click()
    desk.say("automaton-state", "the formula is satisfied")
    desk.shoot("satisfied")
    low, high = sorted(map(luminance, desk.page.evaluate(COLOURS)))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_operators_over_time_have_buttons(desk):
    keys = desk.page.locator("#keys .operator")
    assert {"F", "G", "X", "!", "then", "avoid"} <= set(keys.all_text_contents())
