"""The playground's server under load: many solve requests at once, in one run on one machine.

python benchmarks/playground.py

The server runs as a user starts it, in one process.  The client shares its cores, opens a
connection for each request, and sends all requests at once; a request's time runs from its sending
to the last byte of its answer.
What a person sees is measured in a real browser, from a change of the expression to the next frame
after the picture has changed.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from report import Report

N_REQUESTS = 200
SIDE, N_GOALS, N_TASKS = 60, 8, 3


def world(seed):
    """A world of 60 x 60 cells, a fifth of them walls, with 8 goals and 3 base tasks."""
    rng = np.random.default_rng(seed)
    free = rng.random((SIDE, SIDE)) > 0.2
    cells = np.argwhere(free)
    chosen = cells[rng.choice(len(cells), N_GOALS, replace=False)].tolist()
    return {
        "map": ["".join("." if one else "#" for one in row) for row in free],
        "goals": [{"name": f"g{i}", "cell": cell} for i, cell in enumerate(chosen)],
        "tasks": [
            {"name": f"t{k}", "goals": [f"g{i}" for i in range(N_GOALS) if i >> k & 1]}
            for k in range(N_TASKS)
        ],
    }


def expressions(n):
    """N different formulas over the base tasks."""
    rng = np.random.default_rng(0)
    found = {}
    while len(found) < n:
        names = [("~" if rng.random() < 0.4 else "") + f"t{k}" for k in rng.integers(0, N_TASKS, 5)]
        signs = rng.choice(["&", "|", "^"], 4)
        found["".join(f"{a} {b} " for a, b in zip(names, [*signs, ""], strict=True)).strip()] = None
    return list(found)


class Server:
    """The command `taskalgebra play`, on any free port."""

    def __enter__(self):
        """Start it and wait for its address."""
        command = [
            sys.executable,
            "-m",
            "taskalgebra.apps.cli",
            "play",
            "--no-browser",
            "--port",
            "0",
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.port = int(line.split("127.0.0.1:")[1].split("/")[0])
        return self

    def __exit__(self, *_):
        """Stop it."""
        self.process.terminate()
        self.process.wait(10)

    def ask(self, documents):
        """Send all documents at once; the statuses, the seconds and the answers of each."""
        requests = [self._request(json.dumps(document).encode()) for document in documents]
        return asyncio.run(self._all(requests))

    def _request(self, body):
        head = (
            f"POST /api/solve HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    async def _all(self, requests):
        return await asyncio.gather(*(self._one(request) for request in requests))

    async def _one(self, request):
        start = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**24)
        writer.write(request)
        answer = await reader.read()
        seconds = time.perf_counter() - start
        writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1]), seconds, body


def measured(report, name, answers, bar=None):
    """Report failures and the 95th percentile of some answers."""
    failed = sum(status != 200 or not json.loads(body)["values"] for status, _, body in answers)
    times = 1e3 * np.array([seconds for _, seconds, _ in answers])
    report.exactly(f"{name}: failed", failed, 0)
    report.note(f"{name}: median", np.median(times), "ms")
    if bar is None:
        report.note(f"{name}: 95 % are faster than", np.percentile(times, 95), "ms")
    else:
        report.at_most(f"{name}: 95 % are faster than", np.percentile(times, 95), bar, " ms")


TYPED = (
    "top",
    "top ^ left",
    "top | left",
    "top & left",
    "left nor top",
    "left -> top",
    "~(top ^ left)",
)
WATCH = """async (expressions) => {
  const input = document.getElementById("expression");
  const answered = (expression) => new Promise((done) => {
    const watch = new MutationObserver(() => {
      if (document.body.dataset.answer === expression) done(watch.disconnect());
    });
    watch.observe(document.body, { attributes: true });
  });
  const took = [];
  for (const expression of expressions) {
    const start = performance.now();
    input.value = expression;
    input.dispatchEvent(new Event("input"));
    await answered(expression);
    await new Promise(requestAnimationFrame);
    took.push(performance.now() - start);
  }
  return took;
}"""


def typing_times(page, expressions):
    """Milliseconds from typing each expression, another than before, to the frame that shows it."""
    return page.evaluate(WATCH, list(expressions))


def typed(report, server):
    """What a person waits for who types an expression, in a real browser.

    On the served page, and on an exported one, which plans in the browser.
    """
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from playwright.sync_api import sync_playwright

    import chromium
    from taskalgebra.apps.playground.export import write

    path = chromium.find()
    if path is None:
        report.exactly("a browser to type in", chromium.MISSING, "one")
        return
    with sync_playwright() as playwright, TemporaryDirectory() as directory:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        exported = write(Path(directory) / "page").as_uri()
        for name, address in (
            ("Four Rooms", f"http://127.0.0.1:{server.port}/"),
            ("Four Rooms on an exported page", exported),
        ):
            times = _typed(browser, address, TYPED)
            report.at_most(f"{name}, from typing to the picture: slowest", max(times), 100, " ms")
        times = _typed(
            browser, f"http://127.0.0.1:{server.port}/", TYPED, ("composition", "others")
        )
        name = "Four Rooms with the panels that teach open"
        report.at_most(f"{name}, from typing to the picture: slowest", max(times), 100, " ms")
        address = f"{exported}#world=office&task=F+mail"
        times = _typed(browser, address, MISSIONS)
        report.at_most("Office on an exported page, over time: slowest", max(times), 250, " ms")
        browser.close()


def _typed(browser, address, expressions, panels=()):
    """Milliseconds from typing to the picture, each expression three times, with panels open."""
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("body[data-answer]")
    for panel in panels:
        page.click(f"#{panel} summary")
    typing_times(page, expressions)
    times = typing_times(page, expressions * 3)
    page.close()
    return times


MISSIONS = (
    "coffee then office & avoid decoration",
    "F mail & F coffee & F office & avoid decoration",
    "A then B then C then D & avoid decoration",
    "(!office until coffee) & F office",
    "(mail | coffee) then office",
    "X X coffee | F office",
)


def over_time(report, server):
    """Formulas over time in Office, each for the first time and then again."""
    from taskalgebra.apps.playground.presets import presets

    world = next(one["world"] for one in presets() if one["id"] == "office")
    answers = [server.ask([{"world": world, "expression": e}])[0] for e in MISSIONS * 4]
    shown = [
        (status, seconds, json.dumps({"values": json.loads(body).get("states")}).encode())
        for status, seconds, body in answers
    ]
    measured(report, "Office, a formula over time, one after the other", shown, 100)


def concurrent(report, server):
    """200 requests at once: one world and 200 expressions, then 200 worlds."""
    formulas = expressions(N_REQUESTS)
    one = [{"world": world(0), "expression": e} for e in formulas]
    measured(report, "60 x 60, 8 goals, 200 expressions at once", server.ask(one), 1000)
    sliced = server.ask([r | {"slices": True} for r in one])
    measured(report, "the same with the slices of all goals", sliced)
    worlds = [{"world": world(1000 + i), "expression": e} for i, e in enumerate(formulas)]
    measured(report, "60 x 60, 8 goals, 200 worlds at once", server.ask(worlds))


def alone(report, server):
    """What one user waits for: Four Rooms, and a wall painted in a large world."""
    from taskalgebra.apps.playground.presets import presets

    rooms = presets()[0]["world"]
    texts = ["top ^ left", "top & left", "~top", "top | ~left", "true", "~(top & left)"]
    answers = [server.ask([{"world": rooms, "expression": e, "slices": True}])[0] for e in texts]
    measured(report, "Four Rooms with slices, one request after the other", answers, 20)
    painted = [
        server.ask([{"world": world(2000 + i), "expression": "t0 ^ t1", "slices": True}])[0]
        for i in range(20)
    ]
    measured(report, "a new world of 60 x 60 with slices, one after the other", painted, 100)


def main():
    """Run all bars."""
    report = Report()
    start = time.perf_counter()
    with Server() as server:
        report.note("from the command to the address", time.perf_counter() - start, "s")
        first = server.ask([{"world": world(99), "expression": "t0 ^ t1"}])
        measured(report, "the very first request", first, 100)
        alone(report, server)
        over_time(report, server)
        typed(report, server)
        concurrent(report, server)
    report.finish()


if __name__ == "__main__":
    main()
