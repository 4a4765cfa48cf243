"""The door: which requests pass, and which headers every answer has."""

from __future__ import annotations

import asyncio
import json
import threading

import httpx
import pytest

from playground_client import CORRIDOR
from taskalgebra.apps.playground.schema import MAX_BODY

ASKED = {"world": CORRIDOR, "expression": "top"}


def raw_get(app, path):
    """Ask for a path as it is: clients tidy paths up, attackers do not."""
    messages = []

    async def ask():
        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            messages.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "scheme": "http",
            "headers": [(b"host", b"127.0.0.1")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8765),
        }
        await app(scope, receive, send)

    asyncio.run(ask())
    body = b"".join(message.get("body", b"") for message in messages)
    return messages[0]["status"], body


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../etc/passwd",
        "/static/../app.py",
        "/static/..//..//app.py",
        "/static//etc/passwd",
        "/static/%2e%2e/app.py",
        "/static/..\\app.py",
        "/static/\x00",
        "/static/index.html\x00.js",
        "/static/" + "a" * 5_000,
        "/static/",
        "/static",
        "/../app.py",
        "/app.py",
        "/nothing\ud800".encode("utf-8", "replace").decode(),
    ],
)
def test_only_files_of_the_page_are_served(client, path):
    status, body = raw_get(client.app, path)
    assert 400 <= status < 500
    assert json.loads(body)["error"]["message"]
    assert b"root:" not in body and b"import" not in body


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "LOCALHOST", "127.0.0.1", "[::1]:80"])
def test_names_of_this_machine_are_answered(client, host):
    assert client.get("/api/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["example.org", "127.0.0.1.example.org", "example.org:8765", "", "localhost:x", "[::1"]
)
def test_other_names_are_refused(client, host):
    response = client.get("/api/health", headers={"Host": host})
    assert response.status_code == 400
    assert "127.0.0.1" in response.json()["error"]["message"]


def test_a_body_that_says_it_is_too_large_is_not_read(client):
    response = client.request(
        "POST", "/api/solve", content=b"x" * (MAX_BODY + 1), headers={"Content-Type": "text/plain"}
    )
    assert response.status_code == 413
    assert "1,000,000 bytes" in response.json()["error"]["message"]
    assert response.headers["connection"] == "close"


def test_a_body_that_does_not_say_so_is_read_up_to_the_limit(client):
    sent = 0

    async def stream():
        nonlocal sent
        for _ in range(1_000):
            sent += 10_000
            yield b" " * 10_000

    response = client.request(
        "POST", "/api/solve", content=stream(), headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 413
    assert sent <= MAX_BODY + 20_000


def test_a_body_just_below_the_limit_is_read(client):
    body = json.dumps(ASKED).encode()
    response = client.request(
        "POST",
        "/api/solve",
        content=body + b" " * (MAX_BODY - len(body)),
        headers={"Content-Type": "application/json; charset=utf-8"},
    )
    assert response.status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "json"])
def test_what_a_form_can_send_is_refused(client, kind):
    response = client.request(
        "POST", "/api/solve", content=json.dumps(ASKED), headers={"Content-Type": kind}
    )
    assert response.status_code == 415
    assert "application/json" in response.json()["error"]["message"]


def test_unknown_paths_and_methods_are_refused_in_the_same_shape(client):
    missing = client.get("/api/nothing")
    assert missing.status_code == 404
    assert missing.json() == {"error": {"message": "there is nothing at '/api/nothing'"}}
    wrong = client.get("/api/solve")
    assert wrong.status_code == 405 and wrong.headers["allow"] == "POST"
    assert wrong.json() == {"error": {"message": "GET is not possible here; use POST"}}
    assert client.request("DELETE", "/api/presets").status_code == 405


@pytest.mark.parametrize("path", ["/", "/api/health", "/api/nothing", "/static/index.html"])
def test_every_answer_is_marked(client, path):
    headers = client.get(path).headers
    assert "script-src" not in headers["content-security-policy"]  # so default-src 'self' holds
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == ("no-store" if path.startswith("/api") else "no-cache")
    assert "access-control-allow-origin" not in headers


def test_refusals_are_marked_too(client):
    response = client.get("/", headers={"Host": "example.org"})
    assert response.headers["x-content-type-options"] == "nosniff"


def test_the_page_is_served(client):
    page = client.get("/")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert "<title>" in page.text


def test_many_games_at_once_leave_threads_for_the_page(monkeypatch):
    from taskalgebra.apps.playground import app

    begun, go_on = [], threading.Event()

    def slow(asked):
        begun.append(asked)
        assert go_on.wait(30)
        return b"{}"

    monkeypatch.setattr(app.game, "play", slow)

    async def ask():
        transport = httpx.ASGITransport(app.create_app())
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as asking:
            asked = {"expression": "blue"}
            games = [
                asyncio.create_task(asking.post("/api/boxman/play", json=asked)) for _ in range(60)
            ]
            try:
                page = await asyncio.wait_for(asking.get("/static/main.js"), 20)
                at_once = len(begun)
            finally:
                go_on.set()
                answers = await asyncio.gather(*games)
        return page, at_once, answers

    page, at_once, answers = asyncio.run(ask())
    assert page.status_code == 200 and at_once <= 1
    assert [answer.status_code for answer in answers] == [200] * 60


def test_a_failure_of_the_server_has_the_shape_of_errors(client, monkeypatch):
    from taskalgebra.apps.playground import app

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(app, "solve", broken)

    async def ask(raised=False):
        transport = httpx.ASGITransport(app.create_app(), raise_app_exceptions=raised)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as asking:
            return await asking.post("/api/solve", json=ASKED)

    response = asyncio.run(ask())
    assert response.status_code == 500
    assert "ZeroDivisionError" in response.json()["error"]["message"]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "no-store"
    with pytest.raises(ZeroDivisionError):  # and the terminal shows it
        asyncio.run(ask(raised=True))
