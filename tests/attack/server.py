"""Hostile clients: what is sent to `taskalgebra play` must never harm it, nor who else asks.

The real server runs as a process.  Batches of hostile clients come at once; then a good request
must be answered in time, with the values of a search by hand.  At the end, nothing may have been
printed, and memory, open files and threads are where they were.  At sizes beyond `LONG`, a soak
follows: the same traffic for ten minutes.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from pathlib import Path

SIZES = {"ci": 60, "full": 1_000}
LONG = 500
SOAK = {False: 3.0, True: 600.0}
"""Seconds of mixed traffic after the batches, by whether the size is a long one."""
BATCH = 20
PATIENCE = 5.0
"""Seconds within which a good request must be answered, on a machine with a core to spare."""
GIVE_UP = 25.0
"""Seconds after which a hostile client leaves by itself: later than any limit of the server."""
GROWTH = 96 * 2**20
"""Bytes by which the memory may grow once the cache of worlds is full: pieces that the allocator
keeps, and answers that nobody has read yet."""

PLAY = [sys.executable, "-m", "taskalgebra.apps.cli", "play", "--no-browser", "--port", "0"]


class Server:
    """The command as a process of its own."""

    def __init__(self):
        self.process = subprocess.Popen(
            PLAY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        line = self.process.stdout.readline()
        self.port = int(line.split("127.0.0.1:")[1].split("/")[0])
        self.proc = Path(f"/proc/{self.process.pid}")

    def memory(self):
        """Bytes in RAM, where the system tells."""
        try:
            return int((self.proc / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            return 0

    def held(self):
        """Open files and threads."""
        try:
            files, threads = (self.proc / name for name in ("fd", "task"))
            return len(list(files.iterdir())), len(list(threads.iterdir()))
        except OSError:
            return 0, 0

    def stop(self):
        """Ctrl-C: the exit code, and all that was printed."""
        self.process.send_signal(signal.SIGINT)
        try:
            out, err = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            return "did not stop", out + err
        return self.process.returncode, out + err


def distances(rows, goals):
    """Steps from every free cell to the nearest of some cells, searched by hand."""
    found = {cell: 0 for cell in goals}
    queue = deque(goals)
    while queue:
        r, c = queue.popleft()
        for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            inside = 0 <= cell[0] < len(rows) and 0 <= cell[1] < len(rows[0])
            if inside and cell not in found and rows[cell[0]][cell[1]] == ".":
                found[cell] = found[r, c] + 1
                queue.append(cell)
    return found


def world(rng, height, width, n_goals, n_tasks):
    """A world with a few walls; every goal is wanted by some task or none."""
    rows = ["".join(rng.choice("....#") for _ in range(width)) for _ in range(height)]
    rows[0] = "." * width
    free = [(r, c) for r in range(height) for c in range(width) if rows[r][c] == "."]
    cells = rng.sample(free, min(n_goals, len(free)))
    goals = [{"name": f"g{i}", "cell": list(cell)} for i, cell in enumerate(cells)]
    tasks = [
        {"name": f"t{k}", "goals": [g["name"] for g in goals if rng.random() < 0.5]}
        for k in range(n_tasks)
    ]
    return {"map": rows, "goals": goals, "tasks": tasks}


def http(body=b"", method="POST", path="/api/solve", host="127.0.0.1", **headers):
    """A request as bytes."""
    named = {"Host": host, "Connection": "close"}
    if body:
        named |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{method} {path} HTTP/1.1", *(f"{n}: {v}" for n, v in named.items() if v is not None)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


async def exchange(port, *parts, pause=0.0, read=True, leave=False, wait=GIVE_UP):
    """Send bytes in parts, and read what comes back until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**16)
    answer = b""
    try:
        async with asyncio.timeout(wait):
            for part in parts:
                writer.write(part)
                await writer.drain()
                if pause:
                    await asyncio.sleep(pause)
            if leave:
                return b""
            if not read:
                writer.transport.pause_reading()
                await asyncio.sleep(wait + 1)
            while got := await reader.read(2**16):
                answer = (answer + got)[-(2**16) :] if len(answer) > 2**22 else answer + got
    except TimeoutError:
        answer = b"OPEN" if read else b""
    except ConnectionError:
        pass
    finally:
        writer.transport.abort()
    return answer


# --- what clients send; each returns the coroutine of one client ------------------------------


def garbage(rng, port):
    """Bytes that are not HTTP."""
    return exchange(port, rng.randbytes(rng.choice([1, 10, 1_000, 100_000])) + b"\r\n\r\n")


def almost_http(rng, port):
    """A good request with a few bytes changed."""
    data = bytearray(http(b"{}", method=rng.choice(["GET", "POST", "CONNECT", "PUT"])))
    for _ in range(rng.randint(1, 6)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return exchange(port, bytes(data))


def huge_head(rng, port):
    """One endless header, many headers, or an endless path; in one piece or in many."""
    size = rng.choice([70_000, 300_000, 3_000_000])
    endless = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * size
    many = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X-A: b\r\n" * (size // 8) + b"\r\n"
    path = b"GET /" + b"a" * size + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    return exchange(port, rng.choice([endless, many, path, endless + b"\r\n\r\n"]))


def slow(rng, port):
    """A head or a body that trickles in, or stops."""
    data = rng.choice([http(b"{}" * 50), http(method="GET", path="/"), b"\r\n" * 40])
    parts = [data[i : i + 1] for i in range(min(len(data) - 1, rng.choice([0, 3, 40])))]
    return exchange(port, *parts, pause=rng.choice([0.05, 0.5, 2.0]))


def hidden(rng, port):
    """A request that begins in the bytes of a whole one, and stops."""
    whole = http(method="GET", path="/api/health", Connection="keep-alive")
    begun = http(b"{" + b" " * 99, Connection="keep-alive")
    return exchange(port, whole * rng.choice([1, 5]) + begun[: rng.randrange(1, len(begun))])


def gone(rng, port):
    """A client that leaves in the middle of a request, or before its answer."""
    body = json.dumps({"world": world(rng, 30, 30, 5, 2), "expression": "t0", "slices": True})
    data = http(body.encode())
    cut = rng.choice([len(data), rng.randrange(len(data)), len(data) - 1])
    return exchange(port, data[:cut], pause=rng.choice([0.0, 0.01]), leave=True)


def wrong_length(rng, port):
    """A length that is not that of the body, or no number."""
    length = rng.choice(["0", "1", "99", "-1", "1e3", "0x10", "9" * 30, "", "2, 3", "+5", "²"])
    data = http(b'{"a": 1}', Content_Length="LENGTH").replace(b"LENGTH", length.encode())
    twice = data.replace(b"Connection", b"Content-Length: 7\r\nConnection")
    return exchange(port, rng.choice([data, twice]))


def chunks(rng, port):
    """Chunks with wrong sizes, endless trailers, a byte each, or no end."""
    head = http(b"{}", Content_Length=None, Transfer_Encoding="chunked")[: -len(b"{}")]
    body = rng.choice(
        [
            b"zz\r\n{}\r\n0\r\n\r\n",
            b"-5\r\n{}\r\n",
            b"f" * 40 + b"\r\n",
            b"2;" + b"x" * 500_000 + b"\r\n{}\r\n0\r\n\r\n",
            b"1\r\n \r\n" * 600_000,
            b"2\r\n{}\r\n0\r\n" + b"T: v\r\n" * 800_000,
            b"2\r\n{}\r\n0\r\nT: " + b"v" * 4_000_000,
            b"2\r\n{}\r\n",
            b"2\r\n{}\r\n0\r\n\r\n",
        ]
    )
    both = head.replace(b"Connection", b"Content-Length: 4\r\nConnection")
    return exchange(port, rng.choice([head, head, both]) + body)


def pipeline(rng, port):
    """Many requests before the first answer, some of them broken, read or not."""
    one = http(method="GET", path="/api/presets", Connection="keep-alive")
    data = one * rng.choice([3, 50, 5_000])
    return exchange(
        port, data + rng.choice([b"", b"\0\0\r\n\r\n", one[:20]]), read=rng.random() < 0.7
    )


def bomb(rng, port):
    """JSON that is deep, huge, doubled, or no text."""
    good = json.dumps({"world": world(rng, 4, 4, 2, 1), "expression": "t0"})
    depth = rng.choice([1_000, 400_000])
    number = rng.choice(["1e400", "-1e400", "NaN", "Infinity", "9" * 5_000, "1e-400", "-0.0"])
    body = rng.choice(
        [
            b"[" * depth,
            b'{"a":' * (depth // 2),
            b'{"world":' + b"[" * depth + b"]" * depth + b"}",
            good.replace("}", f', "step_reward": {number}}}', 1).encode(),
            (good[:-1] + f', "r_universal": {number}}}').encode(),
            (good[:-1] + ', "expression": "t0", "expression": "~t0"}').encode(),
            good.replace("t0", "\\ud800").encode(),
            good.replace("t0", "a\\u0000b").encode(),
            good.encode("utf-16"),
            good.encode()[:-1] + b"\xff\xfe}",
            ('{"' + '":1,"'.join(str(i) for i in range(60_000)) + '":1}').encode(),
            b"\xef\xbb\xbf" + good.encode(),
            b"null",
            b'"' + b"a" * 990_000,
        ]
    )
    return exchange(port, http(body))


def expression(rng, port):
    """Expressions at the limits of length, depth and names."""
    names = [f"t{k}" for k in range(6)]
    text = rng.choice(
        [
            "~" * 9_990 + "t0",
            "(" * 4_990 + "t0" + ")" * 4_990,
            " ^ ".join(rng.choice(names) for _ in range(1_900)),
            " -> ".join(rng.choice(names) for _ in range(1_400)),
            "".join(rng.choice("t0 &|~()^\u2227\u00ac\ud7ff\U0001f600") for _ in range(300)),
            "__import__('os')",
            "",
        ]
    )
    document = {"world": world(rng, 9, 9, 8, 6), "expression": text, "slices": True}
    return exchange(port, http(json.dumps(document).encode()))


def large(rng, port):
    """Worlds at the limits, or just beyond; who asks stays, leaves, or never reads."""
    side = rng.choice([40, 128, 128, 129])
    width, n_goals, n_tasks = rng.choice([1, side]), rng.choice([1, 64, 65]), rng.choice([0, 6, 7])
    text = rng.choice(["true", "t0 ^ t1", "~t0"])
    document = world(rng, side, width, n_goals, n_tasks)
    data = http(json.dumps({"world": document, "expression": text, "slices": True}).encode())
    manner = rng.choice([{"wait": 300}, {"leave": True, "pause": 0.05}, {"read": False}])
    return exchange(port, data, **manner)


def largest(rng):
    """A request with a world of the largest size."""
    document = {"world": world(rng, 128, 128, 64, 6), "expression": "t0", "slices": True}
    return http(json.dumps(document).encode())


def stranger(rng, port):
    """Other hosts, origins, methods, paths, ranges, kinds of content, and upgrades."""
    script = "/static/main.js"
    paths = ["/static/../../../etc/passwd", "/%2e%2e/app.py", "/%00", "/static/%ff%fe", "*", "//a"]
    paths += ["http://x/y", "/\\..", "/?%"]
    websocket = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Key": "x"}
    host = rng.choice(["evil.example", "", "127.0.0.1@x", "[", "²"])
    method = rng.choice(["DELETE", "TRACE", "PATCH", "HEAD", "OPTIONS", "BREW"])
    span = rng.choice(["bytes=9-1", "x", "bytes=-", "bytes=" + "0-0," * 9_000])
    data = rng.choice(
        [
            http(method="GET", path="/", host=host),
            http(b"{}", Origin="http://evil.example", Content_Type="text/plain"),
            http(method="GET", path="/", **websocket),
            http(method="GET", path="/", Connection="Upgrade, HTTP2-Settings", Upgrade="h2c"),
            http(method=method, path="/"),
            http(method="GET", path=rng.choice(paths)),
            http(method="GET", path=rng.choice(paths)),
            http(method="GET", path=script, Range=span),
            http(method="GET", path=script, If_Modified_Since="never", If_None_Match="*"),
            http(b"{}", Expect="100-continue"),
            http(method="GET", path="/openapi.json", Cookie="a=" + "b" * 5_000),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"GET / HTTP/1.0\r\n\r\n",
        ]
    )
    return exchange(port, data)


async def crowd(rng, port):
    """Many connections that say nothing, at once."""

    async def mute():
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return
        try:
            await asyncio.sleep(2)
        finally:
            writer.transport.abort()

    await asyncio.gather(*(mute() for _ in range(rng.choice([50, 700]))))
    return b""


KINDS = (
    garbage, almost_http, huge_head, slow, hidden, gone, wrong_length, chunks, pipeline, bomb,
    expression, large, stranger, crowd,
)  # fmt: skip


def statuses(answer):
    """The status codes in what came back; bodies of the server do not look like status lines."""
    return [int(line[9:12]) for line in answer.split(b"\r\n") if line[:9] == b"HTTP/1.1 "]


async def good(rng, port):
    """A request that must be answered at once and rightly; what is wrong with it, if anything."""
    drawn = world(rng, 8, 9, 3, 1)
    wanted = [tuple(g["cell"]) for g in drawn["goals"] if g["name"] in drawn["tasks"][0]["goals"]]
    start = time.monotonic()
    data = http(json.dumps({"world": drawn, "expression": "t0"}).encode())
    answer, patience = b"", PATIENCE * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    while not answer and time.monotonic() - start < patience:  # a full house may turn one away
        answer = await exchange(port, data, wait=patience)
    seconds = time.monotonic() - start
    body = answer.partition(b"\r\n\r\n")[2]
    try:
        values = json.loads(body)["values"]
    except (ValueError, KeyError):
        return seconds, f"a good request got {answer[:200]!r} after {seconds:.1f} s"
    others = [tuple(g["cell"]) for g in drawn["goals"] if tuple(g["cell"]) not in wanted]
    best = {}
    for cells, pay in ((wanted, 2.0), (others, -0.1)):
        for cell, steps in distances(drawn["map"], cells).items():
            best[cell] = max(best.get(cell, -1e9), pay - 0.1 * (steps + 1))
    for i, value in enumerate(values):
        cell = divmod(i, len(drawn["map"][0]))
        if (value is None) != (cell not in best) or (
            value is not None and abs(value - best[cell]) > 1e-9
        ):
            return seconds, f"the value of cell {cell} is {value}, expected {best.get(cell)}"
    return seconds, None


async def batches(server, size, seed, soak):
    """Send everything; what broke, and figures."""
    rng = random.Random(seed)
    broken, seen, slowest = [], Counter(), 0.0
    used = []
    rest = []
    await exchange(server.port, largest(rng), wait=60)  # fills the cache of worlds
    memory, held = server.memory(), server.held()
    sent, begun = 0, None
    while sent < size or begun is None or time.monotonic() - begun < soak:
        if sent >= size and begun is None:
            begun = time.monotonic()
        clients = []
        for _ in range(BATCH):
            kind = KINDS[sent % len(KINDS)] if sent < len(KINDS) else rng.choice(KINDS)
            clients.append((kind.__name__, asyncio.ensure_future(kind(rng, server.port))))
            sent += 1
        rest += clients
        for _ in range(3):
            seconds, wrong = await good(rng, server.port)
            slowest = max(slowest, seconds)
            if wrong:
                broken.append(f"{wrong}, beside {sorted({name for name, _ in clients})}")
            await asyncio.sleep(0.1)
        used.append((sent, server.memory()))
        done = [(name, task) for name, task in rest if task.done()]
        rest = [(name, task) for name, task in rest if not task.done()]
        broken += _judged(done, seen)
        if len(rest) > 10 * BATCH:
            await asyncio.wait([task for _, task in rest], return_when=asyncio.FIRST_COMPLETED)
        if server.process.poll() is not None:
            broken.append(f"the server died with {server.process.returncode}")
            break
    if size < LONG:  # who is slow on purpose would take longer than there is time
        for _, task in rest:
            task.cancel()
    await asyncio.gather(*(task for _, task in rest), return_exceptions=True)
    broken += _judged([(name, task) for name, task in rest if not task.cancelled()], seen)
    await asyncio.sleep(1.5)
    _, wrong = await good(rng, server.port)
    broken += [wrong] if wrong else []
    left = time.monotonic() + GIVE_UP  # by then, every limit of the server has struck
    while server.held()[0] > held[0] + 3 and time.monotonic() < left:
        await asyncio.sleep(0.5)
    (files, threads), after = server.held(), server.memory()
    if files > held[0] + 3:
        broken.append(f"{files} open files at the end, {held[0]} at the start")
    if threads > held[1] + 45:  # the pool of threads for files and large worlds has 40
        broken.append(f"{threads} threads at the end, {held[1]} at the start")
    # Flat: the least of the last quarter, when nobody is served, is that of the second one.
    quarter = len(used) // 4
    early, late = (
        min([m for _, m in part] or [memory])
        for part in (used[quarter : 2 * quarter], used[3 * quarter :])
    )
    if size >= LONG and late > early + GROWTH:
        broken.append(f"memory grows: at least {early >> 20} MiB, later {late >> 20}")
    if after > memory + GROWTH:
        broken.append(f"{after >> 20} MiB at the end, {memory >> 20} at the start")
    most = max(m for _, m in used)
    figures = f"{sent} requests, answers {dict(sorted(seen.items()))}, good ones within "
    figures += f"{slowest:.2f} s, memory {memory >> 20} → {early >> 20} → {late >> 20} → "
    figures += f"{after >> 20} MiB (most {most >> 20}), "
    return broken, figures + f"files {held[0]} → {files}, threads {held[1]} → {threads}"


def _judged(clients, seen):
    for name, task in clients:
        error = task.exception()
        if error is not None:
            yield f"{name}: the client failed with {error!r}"
            continue
        answer = task.result()
        if answer == b"OPEN":
            yield f"{name}: the connection was still open after {GIVE_UP:g} s"
        for status in statuses(answer):
            seen[status] += 1
            if status >= 500:
                yield f"{name}: {answer[:300]!r}"


def _allow_files():
    """Let this process open as many connections as it needs."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def attack(size, seed):
    """Start the server, send everything, stop it."""
    if sys.platform != "win32":
        _allow_files()
    server = Server()
    try:
        broken, figures = asyncio.run(batches(server, size, seed, SOAK[size >= LONG]))
        yield from broken
    finally:
        code, printed = server.stop()
    if code != 0 or printed.strip():
        yield f"the server ended with {code} and printed: {printed[-2_000:]!r}"
    return figures
