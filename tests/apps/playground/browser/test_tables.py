"""Worlds that are not drawn: layers, letters for actions, walks by their transitions."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import taskalgebra as ta
from taskalgebra.apps.playground import tables

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
TAXI = "#table=taxi&task=north+%26+west&state=328"


def scene(desk, name):
    """The scene that the server sends."""
    return desk.page.request.get(f"{desk.address}api/worlds/{name}").json()


def layer(desk):
    """The layer that the map shows, in words."""
    return desk["layer"].locator("option:checked").inner_text()


def test_the_taxi_is_followed_from_layer_to_layer(new_desk):
    desk = new_desk().open(TAXI)
    shown = scene(desk, "taxi")
    table = tables.find("taxi")
    agent = ta.solve(table.space, _tasks(table))["north & west"]
    state, passed = 328, []
    seen = []
    expect(desk["final"]).to_have_text(re.compile(r"−?\d"))
    while state not in table.space.mdp.goals:
        passed.append(shown["layers"][shown["layer"][state]])
        seen.append(layer(desk))
        action = int(agent.actions[state])
        desk["step"].click()
        desk.say("readout", f"does {shown['actions'][action]}")
        state = int(
            table.space.mdp.successor[
                table.space.mdp.offset[state * len(shown["actions"]) + action]
            ]
        )
    assert seen == passed
    assert len(set(seen)) == 2  # the passenger waits, and is in the taxi
    desk["step"].click()
    desk.say("readout", "takes")
    expect(desk["so-far"]).to_have_text(desk["optimum"].inner_text())
    assert float(desk["optimum"].inner_text().replace("−", "-")) == pytest.approx(agent.v[328])
    assert desk.page.locator("#map .letters text").count()  # pick up and drop off have no arrow


def _tasks(table):
    return {one["name"]: table.space.task(one["goals"]) for one in table.scene["tasks"]}


def test_a_layer_is_chosen_and_the_agent_put_there(new_desk):
    desk = new_desk(390, 844, dark=True).open("#table=minigrid&task=red+%26+~box&state=0")
    shown = scene(desk, "minigrid")
    for part in ("tools", "clear", "dynamics", "learning"):
        expect(desk[part]).to_be_hidden()
    assert desk.page.evaluate(OVERFLOW) <= 0
    desk["layer"].focus()
    desk.page.keyboard.press("Home")
    name = layer(desk)
    desk.solved("red & ~box")
    desk["map"].focus()
    state = next(
        s
        for s, (at, k) in enumerate(zip(shown["cell"], shown["layer"], strict=True))
        if k == shown["layers"].index(name) and at >= 0
    )
    row, column = divmod(shown["cell"][state], shown["columns"])
    desk.page.keyboard.press("PageUp")
    desk.page.keyboard.press("Home")
    for key in ["ArrowDown"] * row + ["ArrowRight"] * column:
        desk.page.keyboard.press(key)
    desk.page.keyboard.press("Enter")
    desk.say("caption", f"From row {row}, column {column}, {name}, the agent takes red key")
    desk.page.wait_for_function("(s) => location.hash.endsWith(`state=${s}`)", arg=str(state))
    desk.shoot("minigrid, phone")


def test_base_tasks_are_edited_over_given_goals_and_shared(new_desk):
    desk = new_desk().open("#table=frozen-lake&task=gift&state=0")
    desk.page.get_by_label("west wants gift").check()
    desk.type("west & ~hole")
    expect(desk["desired"]).to_have_text("gift")
    desk.say("caption", "which is drawn at random, as the world is")
    assert desk.page.get_by_label("Name of goal 1").count() == 0
    desk.page.wait_for_function("() => location.hash.includes('west+%26')")
    other = new_desk().open(desk.page.evaluate("location.hash"))
    expect(other.page.get_by_label("west wants gift")).to_be_checked()
    expect(other["desired"]).to_have_text("gift")
    expect(other["undo"]).to_be_disabled()
    desk["undo"].click()
    expect(desk.page.get_by_label("west wants gift")).not_to_be_checked()


def test_worlds_are_chosen_and_left_again(desk):
    for name, world in (("FrozenLake", "gift"), ("Taxi", ""), ("MiniGrid", ""), ("Maze", "")):
        desk.choose(name)
        desk.page.wait_for_selector("body[data-answer]")
        assert world in desk["expression"].input_value()
        desk.shoot(f"preset {name}")
    desk.choose("Taxi")
    desk.page.wait_for_selector("body[data-answer]")
    desk.page.locator("#composition summary").click()
    desk.say("composition-node", "Step 1")
    desk.page.locator("#composition summary").click()
    desk.choose("Four Rooms")
    desk.solved("top ^ left")
    expect(desk["tools"]).to_be_visible()
    expect(desk["layer"]).to_be_hidden()


def test_a_damaged_link_to_a_table_says_so(new_desk):
    desk = new_desk().open("#table=taxi&task=north&state=99999")
    desk.say("notice", "state is '99999', expected the number of a state on the map")
    desk.solved("north")


def test_a_link_to_a_world_whose_program_has_ended_says_so(new_desk):
    desk = new_desk()
    gone = "status of 404"
    desk.open("#table=own-gone&task=a")
    desk.say("notice", "the world of a program that has ended")
    desk.solved("top ^ left")
    desk.troubles[:] = [trouble for trouble in desk.troubles if gone not in trouble]
