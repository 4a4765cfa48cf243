"""The report in a real browser: it fits a phone, loads nothing, and can be read and printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

import chromium
from taskalgebra.paper import report
from taskalgebra.paper.experiments.suite import EXPERIMENTS

RESULTS = Path(__file__).parents[3] / "results"
WAIT = 60_000  # milliseconds


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The page of the shipped results, and what it asks the network for."""
    path = chromium.find()
    if path is None:
        if chromium.required():
            pytest.fail("CI needs Chromium, and none was found")
        pytest.skip(chromium.MISSING)
    place = tmp_path_factory.mktemp("report") / "index.html"
    halves = ("tabular", "deep")
    names = {half: [n for n, e in EXPERIMENTS.items() if e.half == half] for half in halves}
    report.write(RESULTS, place, names)
    asked = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 360, "height": 740})
        page.set_default_timeout(WAIT)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: asked.append(message.text))
        page.goto(place.as_uri())
        yield page, asked
        browser.close()


def test_it_asks_the_network_for_nothing(opened):
    page, asked = opened
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    broken = "[...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.alt)"
    assert page.evaluate(broken) == []


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_sticks_out_sideways(opened, width):
    page, _ = opened
    page.set_viewport_size({"width": width, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sticking_out = """[...document.querySelectorAll('body *')].filter(e =>
        !e.closest('.scroll, .skip, thead') && e.getBoundingClientRect().right > innerWidth + 1
    ).map(e => e.outerHTML.slice(0, 80))"""
    assert page.evaluate(sticking_out) == []


def test_a_verdict_leads_to_its_claim(opened):
    page, _ = opened
    page.set_viewport_size({"width": 1440, "height": 900})
    page.locator(".verdicts td a", has_text="holds in part").first.click()
    target = page.locator(".claim:target")
    assert "Lemma 2" in target.inner_text() and target.is_visible()
    assert page.evaluate("scrollY") > 500
