"""The panels that teach: sliders, certificate and repair, step by step, other methods, learning."""

from __future__ import annotations

import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import taskalgebra as ta
from page_checks import CONTRAST, NAMELESS, OVERFLOW, SMALL

ROOMS = "#world=four-rooms&agent=1.1&task="
XOR = "#world=four-rooms&task=top+%5E+left&agent=1.1"  # as the page itself writes it
LESSONS = ("composition", "others", "learning")
ASK = """async (body) => {
  const { world } = (await (await fetch("/api/presets")).json())[0];
  const headers = { "Content-Type": "application/json" };
  const sent = JSON.stringify({ ...body, world: { ...world, ...body.world } });
  return (await fetch("/api/solve", { method: "POST", headers, body: sent })).json();
}"""


@pytest.fixture
def desk(desk):
    """The open page, on which each test opens the panels that it needs."""
    yield desk
    desk.page.evaluate("for (const one of document.querySelectorAll('.lesson')) one.open = false")


def slide(desk, name, times, key="ArrowRight"):
    """Move a slider by keyboard, and wait for the answer."""
    desk[name].focus()
    for _ in range(times):
        desk.page.keyboard.press(key)
    desk.page.wait_for_selector("body[data-answer]")


def open_(desk, name):
    """Open a panel by keyboard."""
    desk.page.locator(f"#{name} > summary").focus()
    desk.page.keyboard.press("Enter")


def number(text):
    return float(text.replace("−", "-"))


def planned(slip, *goals):
    """V* of every cell without a goal, planned directly."""
    space = ta.FourRooms(slip_probability=slip).space
    mdp = space.mdp
    values = ta.optimal_v(space.task(list(goals)))
    cells, goal_cells = mdp.cells.tolist(), mdp.cells[mdp.goals].tolist()
    return np.array([values[s] for s in range(mdp.n_states) if cells[s] not in goal_cells])


def test_sliders_work_by_keyboard_and_links_carry_them(new_desk):
    desk = new_desk(clipboard=True).open(XOR)
    slide(desk, "slip", 30)
    expect(desk["slip"]).to_have_attribute("aria-valuetext", "30 %")
    slide(desk, "step-cost", 5)
    expect(desk["step-cost-value"]).to_have_text("0.15")
    slide(desk, "goal-reward", 3, "ArrowLeft")
    expect(desk["goal-reward-value"]).to_have_text("1.70")
    expect(desk.page.get_by_label("Step", exact=True)).to_have_value("-0.15")
    expect(desk.page.get_by_label("Other goal r_∅")).to_have_value("-0.15")
    desk.say("caption", "drawn at random, as moves slip")
    desk["share"].click()
    expect(desk["share"]).to_have_text("Link copied")
    other = new_desk()
    other.page.goto(desk.page.evaluate("navigator.clipboard.readText()"))
    expect(other["slip-value"]).to_have_text("30 %")
    expect(other["caption"]).to_have_text(desk["caption"].inner_text())  # the same first walk
    for _ in range(3):
        desk["undo"].focus()
        desk.page.keyboard.press("Enter")
    expect(desk["slip-value"]).to_have_text("0 %")
    desk.page.wait_for_function("(hash) => location.hash === hash", arg=XOR)


OLD = """async () => {
  const { decode, encode } = await import("/static/share.js");
  const { world } = (await (await fetch("/api/presets")).json())[0];
  const again = async (patch) => {
    const state = { mode: "grid", world: { ...world, ...patch }, expression: "top", agent: null };
    return (await decode(await encode(state, []), [])).world;
  };
  const [plain, touch] = [await again({}), await again({ touch: true })];
  const slip = await again({ slip: 0.25 });
  return [plain.slip ?? null, plain.touch ?? null, touch.slip ?? null, touch.touch, slip.slip];
}"""


# A room of two cells, as a link held it when no moves slipped.
WRITTEN_BEFORE = (
    "eJyLjlZSBgIlHSVlPT0wBeLF6kRHKzkq6RgCoZKBgblRkhFITMkJJGSko5RiappqYKAUC1aXqKQTbRALYueV5uTo"
    "wInYWACMUBbh"
)


def test_links_without_slips_are_as_before(desk):
    assert desk.page.evaluate(OLD) == [None, None, None, True, 0.25]
    desk.page.evaluate("(hash) => { location.hash = hash; }", f"#map={WRITTEN_BEFORE}&task=a")
    desk.solved("a")
    desk.say("desired", "A")
    expect(desk["notice"]).to_be_hidden()


def test_walks_are_drawn_anew_and_earn_the_optimum_on_average(desk):
    slide(desk, "slip", 30)
    ways = set()
    for _ in range(6):
        ways.add(desk.page.locator("#map .ahead").get_attribute("d"))
        desk["reset"].click()
    assert len(ways) > 3
    answer = desk.page.evaluate(
        ASK, {"world": {"slip": 0.3}, "expression": "top ^ left", "improve": True}
    )
    returns = desk.page.evaluate(
        """async (answer) => {
          const { episode, total } = await import("/static/walk.js");
          const { generator } = await import("/static/random.js");
          const { world } = (await (await fetch("/api/presets")).json())[0];
          const one = (seed) => episode({ ...world, slip: 0.3 }, answer, [1, 1], generator(seed));
          return Array.from({ length: 4000 }, (_, seed) => total(one(seed).rewards));
        }""",
        answer,
    )
    optimum = answer["optimum"][1 * 13 + 1]
    assert abs(np.mean(returns) - optimum) < 4 * np.std(returns) / len(returns) ** 0.5


def test_an_agent_that_loses_is_repaired_until_the_task_changes(desk):
    desk.choose("Numbers")
    desk.say("certificate", "Yes: optimal from all 104 starts.")
    expect(desk["repair"]).to_be_hidden()
    slide(desk, "slip", 40)
    desk.say("certificate", "No: it loses 0.00044 on average, because moves slip")
    best = planned(0.4, "top_right", "bottom_left")
    assert np.abs(np.array(desk.numbers()) - best).max() > 0.055
    desk["repair"].focus()
    desk.page.keyboard.press("Enter")
    desk.say("certificate", "Yes: optimal from all 104 starts.")
    assert re.match(r"Optimal after \d+ rounds? of improvement", desk["repaired"].inner_text())
    np.testing.assert_allclose(desk.numbers(), best, atol=0.051)
    expect(desk["repair"]).to_be_focused()
    desk.shoot("repaired")
    desk.page.keyboard.press("Enter")  # back to the composed agent
    desk.say("certificate", "No: it loses")
    desk.page.keyboard.press("Enter")
    desk.say("certificate", "Yes: optimal")
    desk.type("top ^ left ")
    desk.say("certificate", "No: it loses")
    expect(desk["repaired"]).to_be_empty()


def test_links_carry_the_step_and_the_repair(new_desk):
    desk = new_desk().open(XOR)
    slide(desk, "slip", 40)
    desk["repair"].click()
    desk.say("certificate", "Yes: optimal")
    open_(desk, "composition")
    desk.page.locator("#composition .chips button").nth(1).click()
    desk.page.wait_for_function("() => location.hash.endsWith('&step=2&repaired=1')")
    other = new_desk()
    other.page.goto(desk.page.url)
    other.say("composition-node", "Step 2 of 3: left")
    other.say("repaired", "The map shows the repaired agent")
    assert other.numbers() == desk.numbers()
    other.type("left ^ top")  # another task: its first step, and the composed agent
    other.say("composition-node", "Step 1 of 3: left")
    other.say("certificate", "No: it loses")
    other.page.wait_for_function("() => location.hash.endsWith('&step=1')")
    other.page.locator("#composition > summary").click()
    other.page.wait_for_function("() => !location.hash.includes('step')")
    desk["undo"].click()
    desk.page.wait_for_function("() => !location.hash.includes('repaired')")


def rows(desk):
    """The numbers of the rows of a step, without that of the best goal."""
    lines = desk.page.locator("#composition .composed tbody tr").all()
    return [
        [number(text) for text in line.locator("canvas + .number").all_inner_texts()]
        for line in lines
    ]


def test_a_formula_is_stepped_through_by_keyboard(desk):
    desk.visit(ROOMS + "%7E%28top+%26+left%29+%26+%28top+%7C+left%29")
    open_(desk, "composition")
    desk.say("composition-node", "Step 1 of 6: top (base task)")
    desk["composition-next"].focus()
    seen = {}
    for step in range(1, 7):
        desk.say("composition-node", f"Step {step} of 6")
        words = desk["composition-node"].inner_text()
        seen[words.split(": ")[1].rsplit(" (", 1)[0]] = rows(desk)
        assert desk.page.locator("#composition canvas").count() == 4 * len(rows(desk))
        desk.page.keyboard.press("ArrowRight")
    expect(desk["composition-next"]).to_be_focused()
    for node, join in (("top & left", np.minimum), ("top | left", np.maximum)):
        result, one, two = np.array(seen[node])
        np.testing.assert_allclose(result, join(one, two))
    result, universal, empty, one = np.array(seen["~(top & left)"])
    np.testing.assert_allclose(result, universal + empty - one, atol=0.011)
    space = ta.FourRooms().space  # V̄(s, g) of a desired goal is the optimum of it alone
    best = [ta.optimal_v(space.task([goal]))[0] for goal in space.goal_names]
    np.testing.assert_allclose(universal, best, atol=0.0051)
    result = seen["~(top & left) & (top | left)"][0]
    desk.say("so-far", "0.00")
    assert max(result) == number(desk["optimum"].inner_text())
    desk.shoot("step by step")
    desk.page.keyboard.press("Home")
    desk.say("composition-node", "Step 1 of 6")
    desk["composition-back"].focus()
    desk.page.keyboard.press("Enter")
    desk.say("composition-node", "Step 1 of 6")
    desk.page.locator("#composition .chips button").nth(4).click()
    desk.say("composition-node", "Step 5 of 6: top | left (∨, the maximum)")
    before = rows(desk)
    desk.click(8, 2)
    desk.say("composition", "row 8, column 2")
    assert rows(desk) != before


def test_one_task_forty_goals_and_time_have_their_steps(desk):
    open_(desk, "composition")
    desk.type("top")
    desk.say("composition-node", "Step 1 of 1: top (base task)")
    desk.visit("#world=forty-goals&task=x1+%26+%7Ex2&agent=1.1")
    desk.say("composition-node", "Step 1 of 4: x1 (base task)")
    desk.say("composition", "4 goals of 40 are shown")
    expect(desk.page.locator("#composition canvas")).to_have_count(4)
    desk.visit("#world=office&task=F+mail+%26+G+%21decoration&agent=1.1")
    desk.say("composition", "A formula over time is no single composition")
    desk.page.locator("#composition button").click()
    desk.solved("mail | decoration")  # no goal is both
    desk.say("composition-node", "Step 1 of 3: mail (base task)")


def test_others_fail_where_ours_does_not(desk):
    desk.visit(ROOMS + "top+%26+left")
    open_(desk, "others")
    cards = desk.page.locator("#others .method")
    expect(cards).to_have_count(3)
    answer = desk.page.evaluate(ASK, {"expression": "top & left", "others": True})
    for card, method in zip(cards.all(), answer["others"], strict=True):
        assert method["title"] in card.inner_text()
        fails = float(card.locator("dd").first.inner_text().removesuffix("%"))
        assert abs(fails / 100 - method["failures"]) < 0.001
        assert (fails > 0) == (method["id"] != "extended")
        expect(card.locator("svg .arrows")).to_have_count(1)
    desk.say("others", "A plain value does not say which goal it leads to")
    desk.shoot("others")
    desk.type("top ^ left")
    desk.say("others", "plain values have no negation")
    desk.page.locator("#others button", has_text="top & left").click()
    desk.solved("top & left")
    expect(cards).to_have_count(3)
    desk.visit("#world=forty-goals&task=x5+%26+%7Ex3&agent=1.1")  # its own base tasks are offered
    desk.page.locator("#others button").click()
    desk.solved("x5 & x3")
    expect(cards).to_have_count(3)


LEARN = """async ([world, expression, steps]) => {
  const learning = await import("/static/learning.js");
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ world, expression, composition: true });
  const answer = await (await fetch("/api/solve", { method: "POST", headers, body })).json();
  const starts = new Set(answer.values.flatMap((value, i) => (value === null ? [] : [i])));
  const run = learning.begin(world, 7, starts);
  learning.learn(run, steps);
  const { slices } = learning.shown(run, learning.composed(run, answer.composition.nodes));
  const planned = answer.composition.nodes.at(-1).slices.map((one) => one.values);
  return { slices, planned, met: run.met.length, episodes: run.episodes };
}"""
SMALL_ROOM = {
    "map": ["#######", "#..#..#", "#.....#", "#..#..#", "#######"],
    "goals": [
        {"name": name, "cell": cell, "color": "#0072b2"}
        for name, cell in {"A": [1, 1], "B": [1, 5], "C": [3, 4]}.items()
    ],
    "tasks": [{"name": "up", "goals": ["A", "B"]}, {"name": "a b", "goals": ["A"]}],
}


@pytest.mark.parametrize("touch", [False, True])
@pytest.mark.parametrize("expression", ["up ^ 'a b'", "~up", "up & true | false"])
def test_what_is_learned_is_what_is_planned(desk, touch, expression):
    room = SMALL_ROOM | {"touch": touch}
    found = desk.page.evaluate(LEARN, [room, expression, 40_000])
    assert found["met"] == 3 and found["episodes"] > 100
    for slice_, planned_ in zip(found["slices"], found["planned"], strict=True):
        known = [i for i, value in enumerate(planned_) if value is not None]
        assert len(known) == 15 - 2
        got, expected = (np.array([one[i] for i in known]) for one in (slice_, planned_))
        np.testing.assert_allclose(got, expected, atol=1e-9)
    early = desk.page.evaluate(LEARN, [room, expression, 300])
    assert early["slices"] != found["slices"]


def test_slippery_worlds_are_learned_nearly(desk):
    found = desk.page.evaluate(LEARN, [SMALL_ROOM | {"slip": 0.2}, "up", 400_000])
    slices, planned_ = (
        np.array([value for one in found[key] for value in one if value is not None])
        for key in ("slices", "planned")
    )
    assert slices.shape == planned_.shape
    assert np.abs(slices - planned_).mean() < 0.05


def test_learning_is_watched_paused_and_used(desk):
    desk.visit("#world=empty&task=a+%7C+b&agent=1.1")
    open_(desk, "learning")
    desk.say("learn-far", "Nothing is learned yet")
    desk["learn-use"].click()
    desk.say("caption", "With the values learned so far.")
    desk.say("caption", "reach")
    expect(desk["run"]).to_be_disabled()  # it goes nowhere
    desk["learn-run"].focus()
    desk.page.keyboard.press("Enter")
    expect(desk["learn-run"]).to_have_text("Pause")
    expect(desk.page.locator("#learn-figures dd").first).not_to_have_text("0")
    desk.page.keyboard.press("Enter")
    expect(desk["learn-run"]).to_have_text("Run")
    desk.say("learn-far", "values are equal to the planned ones")
    steps = desk.page.locator("#learn-figures dd").first.inner_text()
    desk.page.wait_for_timeout(300)
    assert desk.page.locator("#learn-figures dd").first.inner_text() == steps  # it has stopped
    desk["learn-speed"].focus()
    desk.page.keyboard.press("End")
    expect(desk["learn-speed"]).to_have_attribute("aria-valuetext", "1,000,000 steps per second")
    desk["learn-run"].click()
    desk.say("learn-far", "values are equal to the planned ones.")
    desk.say("learn-figures", "100 %")
    expect(desk["learn-run"]).to_have_text("Run")  # nothing is left to learn
    desk.say("caption", "the optimum")
    expect(desk["run"]).to_be_enabled()
    desk.shoot("learned")
    desk["learn-use"].click()
    expect(desk["caption"]).not_to_contain_text("learned so far")
    desk["learn-reset"].click()
    desk.say("learn-far", "Nothing is learned yet")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_panels_are_for_everybody(new_desk, size, dark):
    desk = new_desk(*size, dark=dark, touch=size[0] < 400).open(ROOMS + "top+%26+left")
    slide(desk, "slip", 40)
    for name in LESSONS:
        open_(desk, name)
    expect(desk.page.locator("#others .method")).to_have_count(3)
    desk.page.locator("#composition canvas").first.wait_for()
    desk["composition"].evaluate("(one) => one.scrollIntoView()")
    desk["composition-next"].focus()
    for _ in range(2):
        desk.page.keyboard.press("ArrowRight")
    desk.say("composition-node", "Step 3 of 3")
    expect(desk.page.locator("#composition .result")).to_be_in_viewport(ratio=1)
    desk["learn-run"].focus()
    for _ in range(2):
        desk.page.keyboard.press("Enter")
        desk.page.wait_for_timeout(100)
    assert desk.page.evaluate(OVERFLOW) <= 0
    assert desk.page.evaluate(CONTRAST) == []
    assert desk.page.evaluate(NAMELESS) == []
    assert [one["id"] for one in Axe().run(desk.page).response["violations"]] == []
    if size[0] < 400:
        assert desk.page.evaluate(SMALL) == []
    else:  # the map stays in view beside the panels
        desk["learn-far"].scroll_into_view_if_needed()
        expect(desk["map"]).to_be_in_viewport(ratio=0.95)
    desk.shoot(f"lessons, {size[0]}, {'dark' if dark else 'light'}")
