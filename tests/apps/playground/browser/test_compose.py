"""Typing tasks: the picture follows at once, and a mistake is shown where it is."""

from __future__ import annotations

import re

import numpy as np
from playwright.sync_api import expect

import playground as benchmark
import taskalgebra as ta

ROOMS = ta.FourRooms()


def planned(*goals: str) -> np.ndarray:
    """V* of the task of these goals, planned directly, of every cell that holds no goal."""
    mdp = ROOMS.space.mdp
    cells = mdp.cells[: mdp.n_states - mdp.n_goals].tolist()
    goal_cells = mdp.cells[mdp.goals].tolist()
    task = ROOMS.space.task(list(goals)) if goals else ROOMS.space.empty
    values = ta.optimal_v(task)
    return np.array([values[s] for s, cell in enumerate(cells) if cell not in goal_cells])


def test_a_newcomer_sees_a_live_picture_and_what_it_shows(desk):
    expect(desk["expression"]).to_have_value("top ^ left")
    desk.say("caption", "reach top_right or bottom_left")
    desk.say("desired", "top_right and bottom_left")
    desk.say("n-tasks", "16 of them, from 2 base tasks")
    assert desk.page.locator("#map .goal.desired title").all_text_contents() == [
        "top_right, desired",
        "bottom_left, desired",
    ]
    expect(desk.page.locator("#slices canvas")).to_have_count(4)
    desk.shoot("newcomer")


def test_typing_changes_every_value_to_the_planned_optimum(desk):
    desk.choose("Numbers")
    expected = {
        "top & left": ["top_left"],
        "top nor left": ["bottom_right"],
        "~left": ["top_right", "bottom_right"],
        "false": [],
    }
    for expression, goals in expected.items():
        desk.type(expression)
        np.testing.assert_allclose(desk.numbers(), planned(*goals), atol=0.051)
    desk.type("top -> left")
    desk.shoot("numbers")


def test_the_picture_follows_the_typing(desk):
    """Within 100 ms on a quiet machine, which benchmarks/playground.py measures."""
    took = benchmark.typing_times(desk.page, benchmark.TYPED)
    assert len(took) == len(benchmark.TYPED)
    assert 0 < min(took) < 1000, took


MISTAKES = (
    ("top & (lfet | top)", 7, "lfet", "Unknown task 'lfet'; known: left, top."),
    ("top + left", 4, "+", "write | for or"),
    ("top & (left", 6, "(", "This '(' is never closed"),
    ("top ^ ", 6, " ", "Expected a task name after '^', found the end"),
    ("top | '𝒢' & left", 6, "'𝒢'", "Unknown task '𝒢'"),
)


def test_a_mistake_is_underlined_where_it_is(desk):
    for expression, start, word, sentence in MISTAKES:
        desk["expression"].fill(expression)
        desk.say("error", sentence)
        expect(desk["expression"]).to_have_attribute("aria-invalid", "true")
        mark = desk.page.locator("#mirror mark")
        before = desk.page.evaluate("document.querySelector('#mirror').firstChild.data.length")
        assert (before, mark.text_content()) == (start, word)
        pointer = desk.page.locator("#error .caret").bounding_box()["x"]
        assert abs(pointer - mark.bounding_box()["x"]) < 4
        expect(desk["map"]).to_have_class("map grid-only stale")
        expect(desk["caption"]).to_have_class(re.compile(r"\bstale\b"))
        desk.shoot(f"mistake, {word.strip('& ')} at {start}")
    desk.type("top")
    expect(desk["error"]).to_be_empty()
    expect(desk["map"]).to_have_class("map grid-only")
    expect(desk["caption"]).not_to_have_class(re.compile(r"\bstale\b"))


def test_tasks_are_built_from_buttons_and_examples(desk):
    press = desk.page.locator("#keys button")
    desk["expression"].fill("")
    for key in ("~", "(", "top", "|", "left", ")"):
        press.get_by_text(key, exact=True).click()
    desk.solved("~(top | left) ")
    desk.say("desired", "bottom_right")
    for _ in range(2):
        desk.page.get_by_role("button", name="Delete the last word").click()
    expect(desk["expression"]).to_have_value("~(top | ")
    desk.page.locator("#examples button", has_text="top & left").click()
    desk.solved("top & left")
    desk.say("simplified", "left & top")


def test_forty_goals_have_six_base_tasks_and_forty_slices(desk):
    desk.choose("Four Rooms, 40 goals")
    desk.type("x1 & x4 & x5 & x6")
    desk.say("desired", "top_left")
    desk.say("n-tasks", "240 of them, from 6 base tasks")
    expect(desk.page.locator("#slices canvas")).to_have_count(40)
    expect(desk.page.locator(".truth tbody tr")).to_have_count(64)
    desk.shoot("forty goals")


def test_a_failure_while_an_answer_is_shown_does_not_silence_the_next(desk):
    told = desk.page.evaluate(
        """async () => {
          const { Newest } = await import("/static/api.js");
          addEventListener("unhandledrejection", (event) => event.preventDefault(), { once: true });
          return new Promise((done) => {
            let told = 0;
            const asking = new Newest("/api/solve", null, () => {
              told += 1;
              if (told === 2) return done(told);
              setTimeout(() => asking.ask({}));
              throw new Error("broken");
            });
            asking.ask({});
            setTimeout(() => done(told), 20_000);
          });
        }"""
    )
    assert told == 2


def test_a_server_that_is_gone_is_named_and_found_again(desk):
    desk.page.route("**/api/solve", lambda route: route.abort())
    desk["expression"].fill("top")
    desk.say("notice", "The server does not answer.")
    expect(desk["map"]).to_have_class("map grid-only stale")
    desk.page.unroute("**/api/solve")
    desk.type("left")
    expect(desk["notice"]).to_be_hidden()
    desk.troubles.clear()  # the browser noted the failed request
