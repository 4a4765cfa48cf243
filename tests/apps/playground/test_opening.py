"""`ta.playground`: the user's own world on the page, served from a thread of this very process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import types
import zlib
from base64 import urlsafe_b64decode
from http.client import HTTPConnection
from urllib.parse import parse_qs, urlsplit

import gymnasium
import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.apps import opening
from taskalgebra.apps.playground.answers import SolveAnswer


def rooms(**more):
    return ta.solve(ta.FourRooms(**more), ["top", "left"])


def lake():
    world = ta.from_gymnasium(gymnasium.make("FrozenLake-v1"), step_cost=0.01)
    return ta.solve(world, {"gift": ["s15"], "west": ["s5", "s12"]})


def query(page):
    return {key: one for key, (one,) in parse_qs(urlsplit(page.address).fragment).items()}


def ask(page, path, document=None, *, host=None):
    """Status, headers and body of a request to the server of a page."""
    place = urlsplit(page.address)
    connection = HTTPConnection(place.hostname, place.port, timeout=60)
    headers = {"Content-Type": "application/json", "Host": host or place.netloc}
    body = None if document is None else json.dumps(document)
    connection.request("GET" if body is None else "POST", path, body, headers)
    response = connection.getresponse()
    found = response.status, dict(response.getheaders()), response.read().decode()
    connection.close()
    return found


def answer(page, expression):
    """The answer that the page gets for its own world."""
    asked = query(page)
    if "map" in asked:
        world = unpacked(asked["map"])
    else:
        shown = json.loads(ask(page, f"/api/worlds/{asked['table']}")[2])
        world = {"table": asked["table"], "tasks": shown["tasks"]}
    status, _, body = ask(page, "/api/solve", {"world": world, "expression": expression})
    assert status == 200, body
    return json.loads(body)


def unpacked(text):
    """A drawn world out of an address, read as `static/share.js` does."""
    padded = text + "=" * (-len(text) % 4)
    rows, goals, tasks, rewards, *more = json.loads(zlib.decompress(urlsafe_b64decode(padded)))
    touch, slip = (*more, *[False, 0][len(more) :])
    return {
        "map": rows,
        "goals": [{"name": n, "cell": [r, c], "color": "#" + k} for n, r, c, k in goals],
        "tasks": [{"name": n, "goals": [goals[g][0] for g in wanted]} for n, wanted in tasks],
        **dict(zip(("step_reward", "r_universal", "r_empty"), rewards, strict=True)),
        "touch": touch,
        "slip": slip,
    }


DRAWN = {
    "rooms": rooms,
    "slippery rooms": lambda: rooms(slip_probability=0.3),
    "mostly slipping": lambda: rooms(slip_probability=0.8),
    "touch": lambda: ta.solve(ta.from_text("A..\n.#B", touch=True), {"a": ["A"], "none": ["B"]}),
    "a maze": lambda: ta.solve(ta.maze(11, 15, ["über", "b c"], seed=2), {"ü": ["über"]}),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_world_that_can_be_drawn_becomes_a_drawing(name):
    skills = DRAWN[name]()
    task = next(iter(skills.tasks))
    page = ta.playground(skills, f"~'{task}'", open="no")
    asked = query(page)
    assert set(asked) == {"map", "task"} and asked["task"] == f"~'{task}'"
    found = answer(page, asked["task"])
    values = [value for value in found["values"] if value is not None]
    agent = skills[f"~'{task}'"]
    assert np.abs(np.array(values) - agent.v[: len(values)]).max() < 1e-9
    assert len(values) == skills.space.mdp.n_states - skills.space.n_goals


TABLES = {
    "a lake": lake,
    "no edge": lambda: ta.solve(ta.from_text("A..B", torus=True), {"a": ["A"]}),
    "a start": lambda: ta.solve(ta.from_text("A..B", starts=[(0, 1)]), {"a": ["A"]}),
    "no map": lambda: ta.solve(
        ta.from_arrays(np.array([[1, 2], [2, 0], [0, 0]]), -1.0, [2]), {"g": ["g0"]}
    ),
    "a strict penalty": lambda: ta.solve(
        ta.FourRooms(slip_probability=0.3), ["top", "left"], r_bar_min=-50.0
    ),
    "office": lambda: ta.solve(ta.Office()),
    "learned": lambda: ta.learn(ta.FourRooms(), ["top", "left"], seed=1),
}


@pytest.mark.parametrize("name", TABLES)
def test_any_other_world_is_a_table_with_the_very_values(name):
    skills = TABLES[name]()
    task = next(iter(skills.tasks))
    page = ta.playground(skills, open="no")
    asked = query(page)
    assert set(asked) == {"table", "task"} and asked["task"] == task
    found = answer(page, f"~{task}")
    SolveAnswer.model_validate(found)
    agent = skills[f"~{task}"]
    known = np.isfinite(agent.v)
    assert [value is not None for value in found["values"]] == known.tolist()
    assert np.array_equal(np.array(found["values"], float)[known], agent.v[known].round(10))
    assert found["actions"] == [
        int(a) if k else None for a, k in zip(agent.actions, known, strict=True)
    ]
    certificate = agent.certificate()
    assert found["loss"]["optimal"] == certificate.optimal
    assert "ta.playground" in found["python"]
    shown = json.loads(ask(page, f"/api/worlds/{asked['table']}")[2])
    assert (shown["map"] is None) == (skills.space.mdp.cells is None)
    assert shown["remark"].startswith("The values are those of your skills")


def test_other_base_tasks_of_a_table_are_planned_and_it_is_said():
    page = ta.playground(lake(), open="no")
    world = {"table": query(page)["table"], "tasks": [{"name": "east", "goals": ["s7", "s11"]}]}
    status, _, body = ask(page, "/api/solve", {"world": world, "expression": "east"})
    found = json.loads(body)
    assert status == 200 and found["notes"][-1].startswith("These base tasks are not those of")
    space = lake().space
    again = ta.solve(space, {"east": space.task(["s7", "s11"])})["east"]
    assert np.array_equal(found["values"], agent_values(again))


def agent_values(agent):
    return agent.v.round(10).tolist()


def test_of_many_base_tasks_those_that_the_task_names_are_shown():
    skills = ta.solve(ta.from_text("ABCDEFGHIJ"), {c.lower(): [c] for c in "ABCDEFGHIJ"})
    page = ta.playground(skills, "j & ~c | h", open="no")
    shown = json.loads(ask(page, f"/api/worlds/{query(page)['table']}")[2])
    assert [task["name"] for task in shown["tasks"]] == ["a", "b", "c", "d", "h", "j"]
    assert "Of your 10 base tasks 6 are shown." in shown["remark"]
    assert answer(page, "j & ~c | h")["desired"] == ["H", "J"]
    with pytest.raises(ValueError, match="names 7 base tasks, and the playground shows up to 6"):
        ta.playground(skills, "a | b | c | d | e | f | g", open="no")


def test_one_server_serves_all_and_nobody_finds_a_world_without_its_id():
    one, two = (ta.playground(lake(), open="no") for _ in range(2))
    assert urlsplit(one.address).netloc == urlsplit(two.address).netloc
    assert urlsplit(one.address).hostname == "127.0.0.1"
    names = [query(page)["table"] for page in (one, two)]
    assert names[0] != names[1] and min(map(len, names)) > 30
    for path in ("/api/presets", "/openapi.json", "/"):
        body = ask(one, path)[2]
        assert not any(name in body for name in names)
    assert ask(one, "/api/worlds/own-")[0] == 404
    assert ask(one, f"/api/worlds/{names[0]}", host="evil.example")[0] == 400


def test_only_pages_of_this_machine_may_frame_it(client):
    headers = ask(ta.playground(lake(), open="no"), "/")[1]
    allowed = headers["content-security-policy"].split("frame-ancestors ")[1].split()
    assert allowed and all(urlsplit(one).hostname in ("127.0.0.1", "localhost") for one in allowed)
    assert "x-frame-options" not in headers and "access-control-allow-origin" not in headers
    alone = client.get("/").headers
    assert "frame-ancestors 'none'" in alone["content-security-policy"]
    assert alone["x-frame-options"] == "DENY"


def test_what_cannot_be_shown_is_refused_in_words(monkeypatch):
    with pytest.raises(TypeError, match="Skills"):
        ta.playground(ta.FourRooms())
    with pytest.raises(ta.ExpressionError, match="'tpo'"):
        ta.playground(rooms(), "tpo", open="no")
    with pytest.raises(ValueError, match="open"):
        ta.playground(rooms(), open="window")
    timed = ta.solve(ta.FourRooms(), ["top"], horizon=20)
    with pytest.raises(ValueError, match="without horizon"):
        ta.playground(timed, open="no")
    large = ta.from_arrays(np.arange(1, 20_002).clip(max=20_000)[:, None], -1.0, [20_000])
    with pytest.raises(ValueError, match="20,001 states"):
        ta.playground(ta.solve(large, {"g": ["g0"]}), open="no")
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"taskalgebra\[web\]"):
        ta.playground(rooms())


def test_an_open_world_is_refused_with_what_to_do():
    class Nowhere(ta.Reach):
        def returns(self, observations):
            return np.zeros((len(observations), 1, 2))

    skills = ta.from_reach(
        Nowhere(), ta.OpenEnv(lambda n: gymnasium.make_vec("CartPole-v1", n), ["up"], {"a": ["up"]})
    )
    with pytest.raises(TypeError, match=r"ta\.explore"):
        ta.playground(skills, open="no")


def test_a_notebook_gets_a_frame(monkeypatch):
    assert not opening.in_notebook()
    skills = lake()
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    opened = []
    monkeypatch.setattr(opening.webbrowser, "open", opened.append)
    page = ta.playground(skills, "gift & west", height=500)
    assert not opened
    frame = page._repr_html_()
    assert frame.startswith("<iframe ") and 'height="500"' in frame
    assert page.address.replace("&", "&amp;") in frame
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: object()))
    assert not opening.in_notebook()  # a terminal


SCRIPT = """
import taskalgebra as ta
ta.playground(ta.solve(ta.FourRooms(), ["top", "left"]), "top ^ left")
print("goodbye")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_script_says_the_address_opens_the_browser_and_waits(tmp_path):
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part\nmv {opened}.part {opened}\n')
    browser.chmod(0o700)
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"BROWSER": f"{browser} %s"},
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("The playground is at http://127.0.0.1:")
        page = opening.Playground(line.split(" at ")[1].strip(), 100)
        assert answer(page, query(page)["task"])["desired"] == ["top_right", "bottom_left"]
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[0] == "goodbye\n" and process.returncode == 0
        assert opened.read_text().strip() == page.address
    finally:
        process.kill()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_the_command_begins_with_a_map_of_ones_own(tmp_path):
    path = tmp_path / "map.txt"
    path.write_text("#####\n#A.B#\n#####\n")
    command = [sys.executable, "-m", "taskalgebra.apps.cli", "play", str(path), "--no-browser"]
    process = subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        page = opening.Playground(line.split(" at ")[1].split()[0], 100)
        world = unpacked(query(page)["map"])
        assert [row.rstrip("#") for row in world["map"][:2]] == ["", "#..."]
        assert [goal["name"] for goal in world["goals"]] == ["A", "B"]
        assert answer(page, query(page)["task"])["loss"]["optimal"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.stdout.close()
