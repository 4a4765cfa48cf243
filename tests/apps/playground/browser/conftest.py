"""A real browser before a real server: `desk` is an open page of the playground, with hands.

The browser lives as long as one test module.  Playwright's synchronous interface keeps an event
loop running in this thread; other tests start loops of their own, and must not find it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

import chromium

WAIT = 120_000  # milliseconds; the first episode waits for kernels and torch, on a busy machine
expect.set_options(timeout=WAIT)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of the playground, started as a user starts it, on a free port."""
    command = [sys.executable, "-m", "taskalgebra.apps.cli", "play", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/", line)
            assert found, f"the server said {line!r}"
            yield found[0]
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium.find()
    if path is None:
        if chromium.required():
            pytest.fail("CI needs Chromium, and none was found")
        pytest.skip(chromium.MISSING)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


class Desk:
    """A page of the playground, and what a person does with it."""

    def __init__(self, page: Page, address: str, shots: Path) -> None:
        self.page, self.address, self.shots = page, address, shots
        self.troubles: list[str] = []
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        # Browsers note every refused request; a wrong expression is one.
        refused = "status of 422" in message.text and "/api/" in message.location["url"]
        if message.type in ("error", "warning") and not refused:
            self.troubles.append(message.text)

    def open(self, hash_: str = "") -> Desk:
        self.page.goto("about:blank")
        self.page.goto(self.address + hash_)
        self.page.wait_for_selector("body[data-answer]")
        return self

    def visit(self, hash_: str) -> None:
        """Go to another state of the open page, as a link on the page would."""
        self.page.evaluate(
            """(hash) => {
              delete document.body.dataset.answer;
              if (location.hash === hash) dispatchEvent(new PopStateEvent("popstate"));
              else location.hash = hash;
            }""",
            hash_,
        )
        self.page.wait_for_selector("body[data-answer]")

    def __getitem__(self, name: str) -> Any:
        """An element by its id."""
        return self.page.locator(f"#{name}")

    def type(self, expression: str) -> None:
        """Write a task, and wait until it is solved."""
        self["expression"].fill(expression)
        self.solved(expression)

    def solved(self, expression: str) -> None:
        expect(self.page.locator("body")).to_have_attribute("data-answer", expression)

    def say(self, name: str, words: str) -> None:
        """What an element must say, sooner or later."""
        expect(self[name]).to_contain_text(words)

    def choose(self, label: str) -> None:
        """Choose a world, a tool or skills by the words on it."""
        self.page.locator(".segments label", has_text=re.compile(f"^{label}$")).click()

    def at(self, row: int, column: int) -> tuple[float, float]:
        """The middle of a cell on the page."""
        self["map"].scroll_into_view_if_needed()
        return tuple(
            self.page.evaluate(
                """([row, column]) => {
                  const svg = document.querySelector("#map > svg");
                  const middle = new DOMPoint(column + 0.5, row + 0.5);
                  const { x, y } = middle.matrixTransform(svg.getScreenCTM());
                  return [x, y];
                }""",
                [row, column],
            )
        )

    def click(self, row: int, column: int) -> None:
        self.page.mouse.click(*self.at(row, column))

    def drag(self, *cells: tuple[int, int]) -> None:
        self.page.mouse.move(*self.at(*cells[0]))
        self.page.mouse.down()
        for cell in cells[1:]:
            self.page.mouse.move(*self.at(*cell))
        self.page.mouse.up()

    def reads(self, row: int, column: int, words: str) -> None:
        """What the page must say of a cell under the pointer, once the newest answer is there."""
        self.page.mouse.move(*self.at(row, column))
        self.say("readout", words)

    def numbers(self) -> list[float]:
        """The values that the picture shows, row by row, without the cells of goals."""
        texts = self.page.locator("#map .numbers text").all_text_contents()
        return [float(text.replace("−", "-")) for text in texts]

    def shoot(self, name: str) -> None:
        self.page.screenshot(path=self.shots / f"{name}.png", full_page=True)


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the screenshots of the tests go: `--basetemp` says where that is."""
    return tmp_path_factory.mktemp("screenshots", numbered=False)


def _new_desk(
    browser: Browser,
    address: str,
    shots: Path,
    width: int = 1280,
    height: int = 900,
    *,
    dark: bool = False,
    touch: bool = False,
    clipboard: bool = False,
) -> Desk:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        has_touch=touch,
        permissions=["clipboard-read", "clipboard-write"] if clipboard else [],
    )
    context.set_default_timeout(WAIT)
    return Desk(context.new_page(), address, shots)


@pytest.fixture
def new_desk(browser: Browser, address: str, shots: Path) -> Iterator[Any]:
    """Make desks: `new_desk(width=360, dark=True)`; whatever the page complained of fails."""
    made: list[Desk] = []

    def make(*size: int, **options: Any) -> Desk:
        made.append(_new_desk(browser, address, shots, *size, **options))
        return made[-1]

    yield make
    for desk in made:
        desk.page.context.close()
    assert [desk.troubles for desk in made] == [[]] * len(made)


@pytest.fixture(scope="module")
def _home(browser: Browser, address: str, shots: Path) -> Iterator[Desk]:
    home = _new_desk(browser, address, shots).open()
    yield home
    home.page.context.close()


@pytest.fixture
def desk(_home: Desk) -> Iterator[Desk]:
    """Four Rooms and `top ^ left`, on a page that a module opens once: opening takes long."""
    _home.page.unroute_all()
    _home.visit("#world=four-rooms&task=top+%5E+left&agent=1.1")
    _home.page.set_viewport_size({"width": 1280, "height": 900})
    for choice in ("agent", "arrows"):
        _home.page.evaluate("(value) => document.querySelector(`[value=${value}]`).click()", choice)
    yield _home
    assert _home.troubles == []
