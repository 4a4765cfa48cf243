"""`ta.playground` in a frame of another page, as a notebook shows it, and as a page of its own."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import gymnasium
import pytest
from playwright.sync_api import expect

import taskalgebra as ta


@pytest.fixture
def notebook():
    """Serve a page with a frame, at another name of this machine: another site to the browser."""
    servers = []

    def shown(page):
        class Notebook(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page._repr_html_().encode())

            def log_message(self, *_):
                pass

        servers.append(HTTPServer(("127.0.0.1", 0), Notebook))
        Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://localhost:{servers[-1].server_port}/"

    yield shown
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_drawn_world_is_shown_in_the_frame_of_a_notebook(browser, notebook):
    skills = ta.solve(ta.from_text("A..\n.#.\n..B", slip_probability=0.1), {"a": ["A"], "b": ["B"]})
    page, troubles = browser.new_page(), []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(notebook(ta.playground(skills, "a ^ b", open="notebook")))
    frame = page.frame_locator("iframe")
    expect(frame.locator("#expression")).to_have_value("a ^ b")
    expect(frame.locator("#certificate")).to_contain_text("starts")
    frame.locator("#theme").click()
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
    assert troubles == []
    page.close()


def test_a_table_is_shown_with_its_own_goals(browser):
    world = ta.from_gymnasium(gymnasium.make("FrozenLake-v1"), step_cost=0.01)
    skills = ta.solve(world, {"gift": ["s15"], "west": ["s5", "s12"]})
    page = browser.new_page()
    page.goto(ta.playground(skills, "gift | west", open="no").address)
    expect(page.locator("#expression")).to_have_value("gift | west")
    expect(page.locator("#certificate")).to_contain_text("0.010 on average")
    page.close()
