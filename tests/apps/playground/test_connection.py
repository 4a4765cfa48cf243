"""Limits of a connection, shortened: what is too slow, too large, too much or never read."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from contextlib import ExitStack

import pytest
import uvicorn

from playground_client import CORRIDOR
from taskalgebra.apps.playground import connection
from taskalgebra.apps.playground.app import create_app

HEALTH = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
POST = b"POST /api/solve HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
SHORT = 0.6
LARGE = {
    "map": ["." * 100] * 100,
    "goals": [{"name": f"g{i}", "cell": [i, i]} for i in range(40)],
}


@pytest.fixture(params=["asyncio", "uvloop"])
def server(request, monkeypatch, caplog):
    """The application behind uvicorn, with short limits; it must log nothing."""
    if request.param == "uvloop":
        pytest.importorskip("uvloop")
    monkeypatch.setattr(connection, "REQUEST_SECONDS", SHORT)
    monkeypatch.setattr(connection, "ANSWER_SECONDS", SHORT)
    monkeypatch.setattr(connection, "SETTLED", 0.1)
    monkeypatch.setattr(connection, "MAX_CONNECTIONS", 8)
    running = uvicorn.Server(
        uvicorn.Config(
            create_app(),
            http=connection.Connection,
            loop=request.param,
            log_config=None,
            log_level="error",
            timeout_graceful_shutdown=2,
            ws="none",
        )
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running.port = listener.getsockname()[1]
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        until(lambda: running.started)
        yield running
        assert answer(running, HEALTH).startswith(b"HTTP/1.1 200")
        running.should_exit = True
        thread.join(20)
    assert not thread.is_alive()
    assert not [r for r in caplog.records if r.name.startswith(("uvicorn", "asyncio"))]
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)


def until(holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def opened(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def rest(client):
    """All that comes until the server closes the connection."""
    data = b""
    try:
        while part := client.recv(2**16):
            data += part
    except ConnectionResetError:
        pass
    return data


def answer(server, request):
    """What a client gets that waits for the end of the connection."""
    with opened(server) as client:
        client.sendall(request.replace(b"Host:", b"Connection: close\r\nHost:"))
        return rest(client)


@pytest.mark.parametrize("begun", [b"GET /", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: "])
def test_a_head_that_never_ends_in_time_is_refused(server, begun):
    with opened(server) as client:
        client.sendall(begun)
        got = rest(client)
    assert got.startswith(b"HTTP/1.1 408 ") and b"nosniff" in got
    assert "seconds" in json.loads(got.partition(b"\r\n\r\n")[2])["error"]["message"]


@pytest.mark.parametrize(
    "sent", [b"Content-Length: 9\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n"]
)
def test_a_body_that_never_ends_in_time_is_refused(server, sent):
    with opened(server) as client:
        client.sendall(POST + sent)
        assert rest(client).startswith(b"HTTP/1.1 408 ")


def test_bytes_that_trickle_in_do_not_stop_the_clock(server):
    begin = time.monotonic()
    with opened(server) as client:
        with pytest.raises(OSError):
            for _ in range(400):
                client.sendall(b"\r\n")
                time.sleep(0.05)
    assert time.monotonic() - begin < 10


def test_a_connection_without_a_word_is_closed_without_a_word(server):
    with opened(server) as client:
        assert rest(client) == b""


def test_a_second_request_has_its_own_clock(server):
    with opened(server) as client:
        for _ in range(3):
            client.sendall(HEALTH)
            got = b""
            while not got.endswith(b"}"):
                got += client.recv(2**16)
            assert got.startswith(b"HTTP/1.1 200")
            time.sleep(SHORT / 2)
        client.sendall(HEALTH[:9])
        assert rest(client).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    "begun",
    [POST + b"Content-Length: 100\r\n\r\n{", POST + b"Content-Le", b"G"],
    ids=["in the body", "in the head", "one byte"],
)
@pytest.mark.parametrize("n_before", [1, 3])
def test_a_request_that_begins_in_the_bytes_of_another_has_its_clock_too(server, begun, n_before):
    with opened(server) as client:
        client.sendall(HEALTH * n_before + begun)
        got = rest(client)
    assert got.count(b"HTTP/1.1 200") == n_before
    assert got.count(b"HTTP/1.1 408 ") == 1


def test_who_leaves_a_body_open_makes_room(server, monkeypatch):
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 60)
    with ExitStack() as stack:
        for _ in range(8):
            client = stack.enter_context(opened(server))
            client.sendall(HEALTH + POST + b"Content-Length: 100\r\n\r\n{")
        until(lambda: len(server.server_state.connections) == 8)
        until(lambda: all(c._settled for c in list(server.server_state.connections)))
        assert answer(server, HEALTH).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
@pytest.mark.parametrize("line", [b"X: " + b"a" * 100_000, b"X: y\r\n" * 20_000])
def test_a_large_head_is_refused(server, line, end):
    got = answer(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + line + end)
    assert got.startswith(b"HTTP/1.1 431 ") and b"65,536 bytes" in got


@pytest.mark.parametrize(
    "body",
    [
        b"2\r\n{}\r\n0\r\nT: " + b"v" * 5_000_000,
        b"2\r\n{}\r\n0\r\n" + b"T: v\r\n" * 900_000,
        b"1;" + b"x" * 5_000_000,
    ],
)
def test_what_surrounds_a_body_is_limited(server, body):
    with opened(server) as client:
        with pytest.raises(OSError):
            client.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n" + body)
            rest(client)
            for _ in range(100):
                client.sendall(b"x" * 10_000)
                time.sleep(0.02)


def test_too_many_requests_at_once_on_a_connection_are_cut_off(server):
    slow = POST + b"Content-Length: 9\r\n\r\n"
    with opened(server) as client:
        client.sendall(slow + b"{}       " + HEALTH * 2_000)
        assert rest(client).count(b"HTTP/1.1 200") <= connection.MAX_PIPELINED


def test_what_is_not_http_gets_an_answer_of_the_same_shape(server):
    got = answer(server, b"\x16\x03\x01Host:\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 400 ")
    assert json.loads(got.partition(b"\r\n\r\n")[2])["error"]["message"]


def test_the_longest_mute_connection_makes_room(server, monkeypatch):
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 60)
    with ExitStack() as stack:
        first = stack.enter_context(opened(server))
        until(lambda: len(server.server_state.connections) == 1)
        time.sleep(0.05)  # clocks of event loops count milliseconds
        for _ in range(7):
            stack.enter_context(opened(server))
        until(lambda: len(server.server_state.connections) == 8)
        until(lambda: all(c._settled for c in list(server.server_state.connections)))
        assert answer(server, HEALTH).startswith(b"HTTP/1.1 200")
        assert rest(first) == b""
        assert len(server.server_state.connections) <= 8


def test_who_comes_to_a_full_house_of_newcomers_is_turned_away(server, monkeypatch):
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 60)
    monkeypatch.setattr(connection, "SETTLED", 600)
    with ExitStack() as stack:
        early = [stack.enter_context(opened(server)) for _ in range(8)]
        until(lambda: len(server.server_state.connections) == 8)
        assert answer(server, HEALTH) == b""
        early[0].sendall(HEALTH)
        assert early[0].recv(100).startswith(b"HTTP/1.1 200")


def asked(world):
    body = json.dumps({"world": world, "expression": "true", "slices": True}).encode()
    return POST + b"Content-Length: %d\r\n\r\n" % len(body) + body


@pytest.fixture
def mute_reader(server, monkeypatch):
    """A client that asks for a large answer, larger than sockets hold, and takes nothing of it."""
    from taskalgebra.apps.playground import app

    monkeypatch.setattr(app, "solve", lambda *_: b" " * 30_000_000)
    with opened(server) as client:
        yield lambda: client.sendall(asked(CORRIDOR))


def unread(server):
    return [c for c in list(server.server_state.connections) if c._unread is not None]


def test_an_answer_that_is_not_read_in_time_is_dropped(server, mute_reader):
    mute_reader()
    until(lambda: unread(server))
    assert answer(server, HEALTH).startswith(b"HTTP/1.1 200")
    until(lambda: not server.server_state.connections)


def test_unread_answers_have_a_limit_together(server, mute_reader, monkeypatch):
    monkeypatch.setattr(connection, "ANSWER_SECONDS", 600)
    monkeypatch.setattr(connection, "MAX_UNREAD", 1_000_000)
    mute_reader()
    until(lambda: server.server_state.total_requests)
    until(lambda: not server.server_state.connections)


@pytest.mark.parametrize("part", [0.2, 0.99, 1.0])
def test_a_client_that_goes_away_is_no_failure(server, part):
    request = asked(CORRIDOR)
    for _ in range(5):
        with opened(server) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.sendall(request[: int(part * len(request))])
            time.sleep(0.05)
    until(lambda: not server.server_state.connections)


def test_no_world_is_planned_for_who_has_left(server, monkeypatch):
    from taskalgebra.apps.playground import app

    planned, go_on = [], threading.Event()

    def slow(request, cache):
        planned.append(request)
        assert go_on.wait(20)
        return b"{}"

    monkeypatch.setattr(app, "solve", slow)
    with opened(server) as first:
        first.sendall(asked(LARGE))
        until(lambda: planned)
        for _ in range(3):
            with opened(server) as client:
                client.sendall(asked(LARGE))
                time.sleep(0.1)
        until(lambda: len(server.server_state.connections) == 1)
        go_on.set()
        assert first.recv(100).startswith(b"HTTP/1.1 200")
    until(lambda: not server.server_state.tasks)
    assert len(planned) == 1


def test_only_so_many_wait_for_a_large_world(server, monkeypatch):
    from taskalgebra.apps.playground import app, door

    planned, go_on = [], threading.Event()

    def slow(request, cache):
        planned.append(request)
        assert go_on.wait(20)
        return b"{}"

    monkeypatch.setattr(app, "solve", slow)
    monkeypatch.setattr(door, "MAX_WAITING", 2)
    with ExitStack() as stack:
        clients = [stack.enter_context(opened(server)) for _ in range(3)]
        for client in clients:
            client.sendall(asked(LARGE))
        until(lambda: len(server.server_state.tasks) == 3 and planned)
        got = answer(server, asked(LARGE))
        assert got.startswith(b"HTTP/1.1 429 ")
        assert "again" in json.loads(got.partition(b"\r\n\r\n")[2])["error"]["message"]
        clients.pop().close()  # who leaves makes room, though the first is not done
        until(lambda: len(server.server_state.tasks) == 2)
        late = stack.enter_context(opened(server))
        late.sendall(asked(LARGE))
        until(lambda: len(server.server_state.tasks) == 3)
        go_on.set()
        for client in (*clients, late):
            assert client.recv(100).startswith(b"HTTP/1.1 200")
    assert len(planned) == 3
