"""Nothing old stays: after Clear, while another world loads, when answers come late."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

ROOMS = "#world=four-rooms&task=top+%5E+left&agent=1.1"
FORTY = "#world=forty-goals&task=x1&agent=1.1"
EMPTY = "#world=empty&task=a+%7C+b&agent=1.1"
BOXMAN = "#boxman=boxman&task=blue&seed=1"
SOON = 20_000  # milliseconds; what is awaited comes before an answer that is held back

# Everything that only an answer can have put on the page.
OF_ANSWER = """() => {
  const text = (id) => document.getElementById(id).textContent.trim();
  const figures = ["so-far", "final", "optimum"].map(text);
  return {
    values: document.querySelectorAll("#map .values, #map .arrows, #map .numbers").length,
    desired: document.querySelectorAll("#map .goal.desired").length,
    way: document.querySelector("#map .ahead")?.getAttribute("d").includes("L") ?? false,
    frame: document.querySelector("#screen img").hasAttribute("src"),
    slices: document.querySelectorAll("#slices canvas").length,
    legends: text("legend") + text("slices-legend"),
    meaning: document.querySelectorAll("#meaning dl, #meaning table").length,
    choice: document.querySelectorAll("#choice [role=listitem]").length,
    lines: text("lines"),
    notes: text("notes"),
    readout: text("readout"),
    error: text("error"),
    numbers: figures.some((one) => one !== "none"),
    enabled: ["run", "step", "reset", "png", "svg", "python", "copy"].filter(
      (id) => !document.getElementById(id).disabled),
    answer: document.body.dataset.answer ?? null,
  };
}"""
NOTHING = {
    "values": 0,
    "desired": 0,
    "way": False,
    "frame": False,
    "slices": 0,
    "legends": "",
    "meaning": 0,
    "choice": 0,
    "lines": "",
    "notes": "",
    "readout": "",
    "error": "",
    "numbers": False,
    "enabled": [],
    "answer": None,
}


class Slow:
    """A server whose answers arrive when the test says so."""

    def __init__(self, desk: Any) -> None:
        self.desk, self.held, self.open = desk, [], False
        for path in ("**/api/solve", "**/api/boxman/play"):
            desk.page.route(path, self.hear)

    def hear(self, route: Any) -> None:
        if self.open:
            route.continue_()
        else:
            self.held.append(route)

    def wait_for(self, n: int) -> None:
        for _ in range(100):
            if len(self.held) >= n:
                return
            self.desk.page.wait_for_timeout(50)
        raise AssertionError(f"{len(self.held)} requests arrived, expected {n}")

    def release(self) -> None:
        """Answer everything from now on, and what was held."""
        self.open = True
        for route in self.held:
            route.continue_()


def test_after_clear_nothing_of_the_old_world_stays(desk):
    desk["step"].click()
    desk.say("readout", "Step 1")
    desk["clear"].click()
    assert desk.page.evaluate(OF_ANSWER) == NOTHING
    for name in ("top_left", "top_right", "bottom_left", "bottom_right"):
        assert name not in desk.page.locator("main").inner_text()
    expect(desk.page.locator("#presets input:checked")).to_have_count(0)
    desk.page.wait_for_function("() => location.hash.startsWith('#map=')", timeout=SOON)
    desk.shoot("cleared")
    desk.page.wait_for_timeout(300)
    assert desk.page.evaluate(OF_ANSWER) == NOTHING
    desk["undo"].click()
    desk.solved("top ^ left")
    desk.say("caption", "reach top_right or bottom_left")
    expect(desk.page.locator("#slices canvas")).to_have_count(4)
    expect(desk["python"]).to_be_enabled()


CHANGES = {
    "to forty goals": (ROOMS, "Four Rooms, 40 goals"),
    "back to four": (FORTY, "Four Rooms"),
    "to the empty room": (ROOMS, "Empty room"),
    "to boxman": (ROOMS, "Boxman"),
    "from boxman": (BOXMAN, "Four Rooms"),
    "other skills": (BOXMAN, "Objects anywhere"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_while_another_world_loads_nothing_old_stays(desk, change):
    hash_, label = CHANGES[change]
    desk.visit(hash_)
    desk["step"].click()
    slow = Slow(desk)
    desk.choose(label)
    slow.wait_for(1)
    assert desk.page.evaluate(OF_ANSWER) == NOTHING
    desk.shoot(f"loading, {change}")
    slow.release()
    desk.page.wait_for_selector("body[data-answer]")
    expect(desk["run"]).to_be_enabled()


def test_another_layout_of_boxman_hides_the_old_one(desk):
    desk.visit("#boxman=boxman-random&task=blue&seed=1")
    slow = Slow(desk)
    desk.page.get_by_role("button", name="New layout").click()
    slow.wait_for(1)
    assert desk.page.evaluate(OF_ANSWER) == NOTHING
    slow.release()
    desk.page.wait_for_selector("body[data-answer]")


def test_back_and_forward_hide_the_old_world_at_once(desk):
    desk.choose("Four Rooms, 40 goals")
    desk.page.wait_for_function("() => location.hash.startsWith('#world=forty')")
    desk.page.wait_for_selector("body[data-answer]")
    slow = Slow(desk)
    desk.page.go_back()
    slow.wait_for(1)
    assert desk.page.evaluate(OF_ANSWER) == NOTHING
    slow.release()
    desk.solved("top ^ left")


def test_a_hanging_request_delays_no_other_world_and_its_answer_is_dropped(desk):
    slow = Slow(desk)
    desk["expression"].fill("top")
    slow.wait_for(1)
    slow.open = True  # for every other request
    desk.choose("Empty room")
    desk.solved("a | b")
    desk.choose("Boxman")
    desk.solved("blue ^ square")
    slow.release()
    desk.page.wait_for_timeout(300)
    desk.solved("blue ^ square")
    desk.say("caption", "Task blue ^ square")


def test_quick_changes_of_worlds_end_with_the_last(desk):
    for label in ("Boxman", "Empty room", "Four Rooms, 40 goals", "Boxman", "Four Rooms"):
        desk.choose(label)
    desk.solved("top ^ left")
    desk.page.wait_for_timeout(500)
    desk.solved("top ^ left")
    desk.say("meaning", "top_right and bottom_left")
    expect(desk.page.locator("#slices canvas")).to_have_count(4)
    desk.page.wait_for_function("() => location.hash.startsWith('#world=four-rooms')", timeout=SOON)


def test_a_slow_answer_dims_the_old_one_and_enter_waits_for_it(desk):
    slow = Slow(desk)
    desk["expression"].fill("top & left")
    slow.wait_for(1)
    expect(desk["map"]).to_have_class(re.compile(r"\bstale\b"), timeout=SOON)
    expect(desk["run"]).to_be_disabled()
    expect(desk["python"]).to_be_disabled()
    assert desk.page.evaluate("document.body.dataset.answer ?? null") is None
    desk["expression"].press("Enter")
    slow.release()
    desk.solved("top & left")
    expect(desk["run"]).to_have_text("Pause")
    expect(desk["map"]).not_to_have_class(re.compile(r"\bstale\b"))


def test_a_mended_expression_loses_its_message_before_the_answer(desk):
    desk["expression"].fill("top & lfet")
    desk.say("error", "Unknown task 'lfet'")
    slow = Slow(desk)
    desk["expression"].fill("top & left")
    slow.wait_for(1)
    expect(desk["error"]).to_be_empty(timeout=SOON)
    expect(desk["expression"]).to_have_attribute("aria-invalid", "false")
    assert desk.page.locator("#mirror mark").count() == 0
    slow.release()
    desk.solved("top & left")


def test_a_mistake_leaves_nothing_to_download_and_no_message_in_another_world(desk):
    desk["expression"].fill("top &")
    desk.say("error", "Expected a task name")
    for button in ("run", "png", "svg", "python", "copy"):
        expect(desk[button]).to_be_disabled()
    desk.choose("Wall")
    desk.click(2, 2)  # the picture of another map is not shown, not even dimmed
    expect(desk.page.locator("#map .values")).to_have_count(0)
    desk.choose("Empty room")
    desk.solved("a | b")
    expect(desk["error"]).to_be_empty()


def test_going_back_in_the_middle_of_typing_keeps_the_older_entry(desk):
    desk.choose("Empty room")
    desk.page.wait_for_function("() => location.hash.startsWith('#world=empty')")
    desk["expression"].fill("a & b")
    desk.page.evaluate("history.back()")
    desk.solved("top ^ left")
    desk.page.wait_for_timeout(500)
    assert desk.page.evaluate("location.hash").startswith("#world=four-rooms&task=top")


def test_visits_in_quick_succession_end_with_the_last(desk):
    """Compressed worlds take longer to read than presets; the last visit counts all the same."""
    desk.choose("Wall")
    desk.click(2, 2)
    desk.page.wait_for_function("() => location.hash.startsWith('#map=')", timeout=SOON)
    painted = desk.page.evaluate("location.hash")
    desk.page.evaluate(
        """([first, last]) => { location.hash = first; location.hash = last; }""",
        [painted, EMPTY],
    )
    desk.solved("a | b")
    desk.page.wait_for_timeout(500)
    expect(desk["expression"]).to_have_value("a | b")


def test_a_goal_in_hand_is_put_down_when_its_world_leaves(desk):
    desk.choose("Move")
    desk.click(3, 3)
    desk.say("readout", "Holding top_left")
    desk["clear"].click()
    expect(desk.page.locator("#map .cursor.held")).to_have_count(0)
    desk.click(5, 5)
    desk.say("readout", "Choose a goal to move.")


def test_a_reload_shows_the_same(desk):
    desk.type("top & ~left")
    desk.choose("Wall")
    desk.click(2, 2)
    desk.page.wait_for_function("() => location.hash.startsWith('#map=')", timeout=SOON)
    desk.solved("top & ~left")
    caption = desk["caption"].inner_text()
    desk.page.reload()
    desk.solved("top & ~left")
    expect(desk["caption"]).to_have_text(caption)
    desk.reads(2, 2, "wall")


def test_notes_of_the_answer_are_shown_and_leave_with_it(desk):
    note = "from row 1, column 1 the wanted goal is not worth the way"

    def with_note(route):
        answer = route.fetch().json()
        route.fulfill(json={**answer, "notes": [note]})

    desk.page.route("**/api/solve", with_note)
    desk.type("top")
    desk.say("notes", note[1:])
    desk.page.unroute("**/api/solve")
    desk.type("left")
    expect(desk["notes"]).to_be_empty()
