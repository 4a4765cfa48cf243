"""The challenge: goals to write a task for, judged by what the task does."""

from __future__ import annotations

import re
from itertools import product

import pytest
from playwright.sync_api import expect

import taskalgebra as ta

ROOMS = ta.FourRooms()
GOALS = list(ROOMS.space.goal_names)
FUNCTIONS = """async ([world, exclusive]) => {
  const { shortest } = await import("/static/shortest.js");
  const found = [...shortest(world, { exclusive }).values()];
  return found.map(({ text, operators }) => [text, operators]);
}"""
DIFFERENCE = """async ([first, second, n]) => {
  const { difference } = await import("/static/orders.js");
  return difference(first, second, n);
}"""


def press(desk, name, key="Enter"):
    """Press a key on a control."""
    desk[name].focus()
    desk.page.keyboard.press(key)


def wanted(desk):
    """The goals that are ringed, by the words that the map has for its cells."""
    titles = desk.page.locator("#map .wanted").count()
    names = desk.page.locator("#challenge-goal b").inner_text()
    listed = re.split(r", | and ", names)
    assert len(listed) == titles
    return set(listed)


def test_every_level_is_solved_by_keyboard(new_desk):
    desk = new_desk().open("#world=four-rooms&task=top&agent=1.1")
    press(desk, "challenge-on")
    expect(desk["expression"]).to_be_focused()
    titles = desk.page.locator("#challenge .levels li")
    assert titles.all_inner_texts() == [
        "One operator",
        "Two operators",
        "Either, not both",
        "In order",
        "In order, and never",
    ]
    for level in range(5):
        expect(titles.nth(level)).to_have_attribute("aria-current", "step")
        expect(desk["challenge-hint"]).to_be_enabled()
        for _ in range(3):
            press(desk, "challenge-hint")
        expect(desk["challenge-hint"]).to_be_disabled()
        given = desk.page.locator("#challenge-hints li").last.inner_text()
        expression = given.removeprefix("The shortest known is ")
        if level < 3:
            task = ta.parse(expression).evaluate(ROOMS.tasks)
            assert wanted(desk) == {g for g, one in zip(GOALS, task.desired, strict=True) if one}
        desk["expression"].focus()
        desk.page.keyboard.press("Control+a")
        desk.page.keyboard.type(f"({expression})")
        desk.say("challenge-verdict", "Right")
        desk.say("challenge-news", "Right")
        expect(titles.nth(level)).to_contain_text("done")
        desk.shoot(f"challenge {level}")
        press(desk, "challenge-next")
        expect(desk["expression"]).to_be_focused()
    expect(desk["challenge-seed"]).to_have_value("2")
    press(desk, "challenge-on")
    expect(desk["challenge"]).to_be_hidden()
    assert desk.page.locator("#map .wanted").count() == 0


def test_verdicts_say_what_is_wrong(new_desk):
    desk = new_desk(390, 844, dark=True).open("#world=four-rooms&task=top&agent=1.1")
    desk["challenge-on"].click()
    ringed = wanted(desk)
    for expression in ("top & left", "~top", "top ^ left", "top"):
        desk.type(expression)
        task = ta.parse(expression).evaluate(ROOMS.tasks)
        mine = {g for g, one in zip(GOALS, task.desired, strict=True) if one}
        for name in ringed - mine:
            expect(desk["challenge-verdict"]).to_have_text(re.compile(f"Missing: .*{name}"))
        for name in mine - ringed:
            expect(desk["challenge-verdict"]).to_have_text(re.compile(f"Too many: .*{name}"))
        assert mine != ringed
    desk.type("top then left")
    desk.say("challenge-verdict", "without operators over time")
    desk["map"].focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        desk.page.keyboard.press(key)
    assert ("wanted by the challenge" in desk["readout"].inner_text()) == ("top_left" in ringed)
    for _ in range(3):
        desk["challenge-next"].click()
    expect(desk.page.locator("#map .turn")).to_have_count(2)
    desk.type("top & left")
    desk.say("challenge-verdict", "write a formula over time")
    desk.type("F top_left & F top_right")
    desk.say("challenge-verdict", "your formula is")
    desk.choose("Boxman")
    expect(desk["challenge"]).to_be_hidden()
    expect(desk["challenge-on"]).to_be_hidden()


def test_a_world_without_base_tasks_has_nothing_to_ask_for(new_desk):
    desk = new_desk().open("#world=empty&task=a&agent=1.1")
    desk["challenge-on"].click()
    desk.say("challenge", "In order")
    desk.page.get_by_label("Remove base task b").click()
    desk.say("challenge", "tick goals for two base tasks that differ")
    desk["undo"].click()
    desk.say("challenge", "In order")


def test_a_seed_says_which_tasks_are_asked_for(new_desk):
    asked = []
    for _ in range(2):
        desk = new_desk().open("#world=forty-goals&task=x1&agent=1.1")
        desk["challenge-on"].click()
        seen = []
        for seed in (3, 4):
            desk["challenge-seed"].fill(str(seed))
            desk["challenge-seed"].press("Enter")
            expect(desk["challenge-seed"]).to_have_value(str(seed))
            seen.append(desk["challenge-goal"].inner_text())
        asked.append(seen)
    assert asked[0] == asked[1]
    assert asked[0][0] != asked[0][1]


def by_size(base, n_goals, largest, exclusive):
    """The least number of operators of every set of goals, size by size from truth tables."""
    every = (1 << n_goals) - 1
    binary = [
        lambda a, b: a & b,
        lambda a, b: a | b,
        lambda a, b: every ^ (a & b),
        lambda a, b: every ^ (a | b),
        lambda a, b: (every ^ a) | b,
    ]
    if exclusive:
        binary += [lambda a, b: a ^ b, lambda a, b: every ^ a ^ b]
    sizes = [set(base)]
    for n in range(1, largest + 1):
        new = {every, 0} if n == 1 else set()
        new |= {every ^ one for one in sizes[n - 1]}
        for i in range(n):
            new |= {f(a, b) for a, b in product(sizes[i], sizes[n - 1 - i]) for f in binary}
        sizes.append(new)
    least = {}
    for n, sets in enumerate(sizes):
        for one in sets:
            least.setdefault(one, n)
    return least


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("labels", [(3, 5), (0b00001111, 0b00110011, 0b01010101)])
def test_the_shortest_expressions_are_the_shortest(desk, labels, exclusive):
    n = max(one.bit_length() for one in labels) + 1
    goals = [{"name": f"g{i}", "cell": [1, 1 + i], "color": "#000000"} for i in range(n)]
    tasks = [
        {"name": f"t{k}", "goals": [f"g{i}" for i in range(n) if one >> i & 1]}
        for k, one in enumerate(labels)
    ]
    world = {"map": ["." * (n + 2)] * 3, "goals": goals, "tasks": tasks}
    found = desk.page.evaluate(FUNCTIONS, [world, exclusive])
    base = {f"t{k}": one for k, one in enumerate(labels)}
    least = by_size(labels, n, max(size for _, size in found), exclusive)
    for text, size in found:
        desired = ta.parse(text).evaluate(base, universal=-1, empty=0) & ((1 << n) - 1)
        assert least[desired] == size, text
    assert {size for _, size in found} >= {0, 1, 2}


FORMULAS = (
    "top then left",
    "F(top & X F left)",
    "F top & F left",
    "top then left & avoid bottom_right",
    "!bottom_right U (top & X(!bottom_right U left))",
    "F top_left",
    "F(top & left)",
    "X X top",
)


def test_orders_are_compared_as_the_library_compares_them(desk):
    letters = [
        (),
        *(
            (g, *(t for t in ("top", "left") if ROOMS.tasks[t].desired[i]))
            for i, g in enumerate(GOALS)
        ),
    ]
    words = [word for n in range(5) for word in product(range(5), repeat=n)]

    def ends(formula):
        """The words that satisfy a formula for the first time."""
        automaton = ta.automaton(formula, letters)
        known = {word: automaton.accepts([letters[one] for one in word]) for word in words}
        return {w for w in words if known[w] and not any(known[w[:k]] for k in range(len(w)))}

    answers = {}
    for formula in FORMULAS:
        with desk.page.expect_response("**/api/solve") as response:
            desk.type(formula)
        answers[formula] = response.value.json()
    accepted = {formula: ends(formula) for formula in FORMULAS}
    for first, second in product(FORMULAS, repeat=2):
        found = desk.page.evaluate(DIFFERENCE, [answers[first], answers[second], len(GOALS)])
        assert (found is None) == (accepted[first] == accepted[second]), (first, second)
        if found:
            word = tuple(one + 1 for one in found["letters"])
            assert (word in accepted[first]) == found["first"]
            assert (word in accepted[second]) != found["first"]
