"""The command `taskalgebra play` as a process: where it listens, what it survives, how it stops."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from playground_client import CORRIDOR

PLAY = [sys.executable, "-m", "taskalgebra.apps.cli", "play", "--no-browser", "--port"]
ALIVE = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def start(port="0"):
    process = subprocess.Popen(
        [*PLAY, port], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    line = process.stdout.readline()
    assert "http://127.0.0.1:" in line, process.communicate(timeout=30)
    return process, int(line.split("127.0.0.1:")[1].split("/")[0])


SLOW = """
import sys, time
from taskalgebra.apps.cli import main
from taskalgebra.apps.playground import serve
def slow(port, announce, **_):
    time.sleep(3)
    announce("http://127.0.0.1:1/")
serve.serve = slow
sys.exit(main(["play", "--no-browser"]))
"""


def test_a_terminal_sees_that_a_slow_start_is_under_way_until_there_is_an_address():
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(theirs)
    seen = b""
    try:
        while b"stops it" not in seen:
            seen += os.read(ours, 65536)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert 0 <= seen.find(b"starting") < seen.find(b"The playground is at")
    assert b"starting" not in seen[seen.find(b"The playground is at") :]


@pytest.fixture(scope="module")
def port():
    """A running server, which must end well when it is interrupted."""
    process, number = start()
    yield number
    assert ask(number, ALIVE).startswith(b"HTTP/1.1 200")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Traceback" not in out + err and "Exception" not in out + err


def ask(port, request):
    """Send bytes and read the answer to its end."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        try:
            connection.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all was sent
        answer = b""
        try:
            while part := connection.recv(2**16):
                answer += part
        except ConnectionResetError:
            pass
    return answer


def posted(body, head=""):
    lines = (
        "POST /api/solve HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\n{head or f'Content-Length: {len(body)}'}\r\n\r\n"
    )
    return lines.encode() + body


def error_of(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]["message"]


def test_it_listens_to_this_machine_alone(port):
    tables = [Path(f"/proc/net/{name}") for name in ("tcp", "tcp6")]
    rows = [row.split() for t in tables if t.exists() for row in t.read_text().splitlines()[1:]]
    pairs = {tuple(row[1].split(":")) for row in rows if row[3] == "0A"}  # listening
    assert [address for address, number in pairs if int(number, 16) == port] == ["0100007F"]


def test_ten_megabytes_are_refused(port):
    status, message = error_of(ask(port, posted(b" " * 10_000_000)))
    assert status == 413 and "1,000,000 bytes" in message


def test_ten_megabytes_in_pieces_are_refused(port):
    piece = b"2710\r\n" + b" " * 10_000 + b"\r\n"
    request = posted(piece * 1_000 + b"0\r\n\r\n", "Transfer-Encoding: chunked")
    status, _ = error_of(ask(port, request))
    assert status == 413


def test_a_world_of_ten_thousand_rows_and_columns_is_refused(port):
    world = CORRIDOR | {"map": ["." * 10_000] * 10_000}
    body = json.dumps({"world": world, "expression": "top"}).encode()
    request = posted(body[:10_000], f"Content-Length: {len(body)}")  # refused before the rest
    assert len(body) > 10**8 and error_of(ask(port, request))[0] == 413
    small = json.dumps({"world": world | {"map": ["."] * 10_000}, "expression": "top"}).encode()
    status, message = error_of(ask(port, posted(small)))
    assert status == 422 and "10000 entries, expected at most 128" in message


def test_an_expression_of_a_megabyte_is_refused(port):
    body = json.dumps({"world": CORRIDOR, "expression": "~" * 999_000 + "top"}).encode()
    status, message = error_of(ask(port, posted(body)))
    assert status == 422 and "at most 10,000" in message


@pytest.mark.parametrize(
    "path", ["/static/../../etc/passwd", "/static/%2e%2e/%2e%2e/app.py", "/static/%00", "//etc"]
)
def test_paths_lead_nowhere_else(port, path):
    answer = ask(port, ALIVE.replace(b"/api/health", path.encode()))
    assert error_of(answer)[0] == 404


@pytest.mark.parametrize(
    "garbage", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9\r\n\r\n"]
)
def test_garbage_is_not_answered_with_success(port, garbage):
    assert not ask(port, garbage).startswith(b"HTTP/1.1 2")


def test_many_at_once_are_all_answered(port):
    texts = ["top", "left", "top ^ left", "~top", "top | left"] * 8
    bodies = [json.dumps({"world": CORRIDOR, "expression": text}).encode() for text in texts]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda body: ask(port, posted(body)), bodies))
    for text, answer in zip(texts, answers, strict=True):
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["expression"] == text


def test_an_open_connection_does_not_keep_it_running():
    process, number = start()
    with socket.create_connection(("127.0.0.1", number), timeout=30) as idle:
        idle.sendall(ALIVE.replace(b"Connection: close\r\n", b""))
        assert idle.recv(100).startswith(b"HTTP/1.1 200")
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert time.monotonic() - begin < 15
    process.communicate()


LARGE = {
    "map": ["." * 128] * 128,
    "goals": [{"name": f"g{i}", "cell": [i, i]} for i in range(64)],
    "tasks": [{"name": f"t{k}", "goals": ["g1"]} for k in range(6)],
}
BODY = json.dumps({"world": LARGE, "expression": "t0", "slices": True}).encode()


@pytest.mark.parametrize("request_", [posted(BODY)[:-1], posted(BODY)], ids=["arriving", "planned"])
def test_what_is_under_way_when_it_is_stopped_is_given_up_in_silence(request_):
    process, number = start()
    clients = [socket.create_connection(("127.0.0.1", number), timeout=30) for _ in range(8)]
    for client in clients:
        client.sendall(request_)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    for client in clients:
        client.close()
    assert process.returncode == 0 and err == ""


WARM = """
import gc
from threading import Event
from numba.core.registry import CPUDispatcher
from taskalgebra.apps.playground import serve
from taskalgebra.apps.playground.presets import presets
from taskalgebra.apps.playground.refusals import RefusedError

def loaded():
    kernels = [one for one in gc.get_objects() if isinstance(one, CPUDispatcher)]
    return {str(one): len(one.signatures) for one in kernels if one.signatures}

serve._warm_up()
first = loaded()
serve._warm_up_all(Event())
warm, cache = loaded(), serve.SkillsCache()
for preset in presets():
    if "skills" in preset:
        continue
    world = preset.get("world") or serve._table(preset["scene"])
    for text in (preset["expression"], *preset.get("examples", ())):
        for improve in (False, True):
            panels = {"slices": True, "composition": True, "others": True, "improve": improve}
            try:
                serve._warm({"world": world, "expression": text, **panels}, cache)
            except RefusedError:
                pass
late = {name: n for name, n in loaded().items() if n > warm.get(name, 0)}
print(len(first), len(warm), late)
"""


def test_every_kernel_is_warm_before_someone_needs_it():
    done = subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, timeout=300)
    first, warm, late = done.stdout.split(maxsplit=2)
    assert 0 < int(first) < int(warm) and late.strip() == "{}", done.stdout + done.stderr


def test_a_taken_port_is_named(port):
    done = subprocess.run([*PLAY, str(port)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and not done.stdout
    assert f"port {port} cannot be used" in done.stderr and "--port" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_does_not_exist_is_wrong_usage():
    done = subprocess.run([*PLAY, "70000"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2


def test_without_a_port_the_next_free_one_is_taken():
    from taskalgebra.apps.playground import serve

    one = serve.listen(None)
    other = serve.listen(None)
    try:
        assert other.getsockname()[1] > one.getsockname()[1] >= serve.FIRST_PORT
        assert one.getsockname()[0] == "127.0.0.1"
    finally:
        one.close()
        other.close()


def test_the_browser_is_opened_at_the_address(monkeypatch):
    from taskalgebra.apps.playground import serve

    opened, announced = [], []
    monkeypatch.setattr(serve.webbrowser, "open", opened.append)
    monkeypatch.setattr(serve.uvicorn.Server, "main_loop", lambda self: asyncio.sleep(0.2))
    serve.serve(0, announced.append, browser=True)
    assert opened == announced and announced[0].startswith("http://127.0.0.1:")


def children(process):
    """The processes that a process has forked."""
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_one_process_answers_and_frees_the_port_when_it_ends(ending):
    process, number = start()
    assert listens(number)
    if sys.platform == "linux":
        assert not children(process)
    process.send_signal(ending)
    _, err = process.communicate(timeout=30)
    assert not listens(number) and not err
