"""The rules of axe-core: no mode of the page breaks one, in light and dark, wide and narrow."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

MODES = {
    "drawn": "#world=four-rooms&task=top+%5E+left&agent=1.1",
    "forty goals": "#world=forty-goals&task=x1&agent=1.1",
    "taxi": "#table=taxi&task=north+%26+west&state=328",
    "minigrid": "#table=minigrid&task=red+%26+~box&state=0",
    "formula": "#world=office&task=coffee+then+office+%26+avoid+decoration&agent=1.1",
}
WIDTHS = {"laptop": (1366, 768), "phone": (390, 844)}
AXE = Axe()


def violations(page):
    """Each broken rule with the elements that break it; none if all is well."""
    found = AXE.run(page).response["violations"]
    return [
        (one["id"], one["help"], [node["html"][:120] for node in one["nodes"][:4]]) for one in found
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_mode_breaks_a_rule(new_desk, width, dark):
    desk = new_desk(*WIDTHS[width], dark=dark).open()
    for mode, hash_ in MODES.items():
        desk.visit(hash_)
        assert violations(desk.page) == [], mode
        if desk["challenge-on"].is_visible():
            desk["challenge-on"].click()
            desk.say("challenge-verdict", ".")
            assert violations(desk.page) == [], f"{mode}, challenge"
            desk["challenge-on"].click()


def test_mistakes_break_no_rule(new_desk):
    desk = new_desk(dark=True).open()
    desk["expression"].fill("top &")
    desk.say("error", "Expected a task name")
    desk.page.get_by_label("Name of goal 1").fill("")
    desk["expression"].focus()
    assert violations(desk.page) == []


def test_a_game_breaks_no_rule_with_its_network_and_without(new_desk):
    desk = new_desk(*WIDTHS["phone"])
    desk.open("#boxman=boxman&task=blue&seed=1")
    assert violations(desk.page) == []
    presets = desk.page.request.get(f"{desk.address}api/presets").json()
    game = next(one for one in presets if one["id"] == "boxman")
    game |= {"available": False, "reason": "Boxman needs torch: install it"}
    desk.page.route("**/api/presets", lambda route: route.fulfill(json=presets))
    desk.open()
    expect(desk.page.get_by_role("radio", name="Boxman")).to_be_disabled()
    assert violations(desk.page) == []
