"""The planner in the page answers as Python does; the exported page shows what the served one does.

Hundreds of questions are put to the planner in one page at once.
"""

from __future__ import annotations

import base64
import json
import zlib
from urllib.parse import urlencode

import numpy as np
import pytest

import engine_questions as questions
from taskalgebra.apps.playground import export
from taskalgebra.apps.playground.presets import presets
from taskalgebra.apps.playground.presets.worlds import WORLDS

ASK = """(requests) => {
  const { makeEngine, presets, programs } = playgroundExport;
  const scenes = {};
  for (const { id, scene } of presets) if (scene) scenes[id] = { ...scene, program: programs[id] };
  const engine = makeEngine()(scenes);
  return JSON.stringify(requests.map((request) => engine.solve(request)));
}"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The address of an exported page, on this disk."""
    return export.write(tmp_path_factory.mktemp("export") / "page").as_uri()


@pytest.fixture(scope="module")
def ask(browser, exported):
    """Put questions to the planner of the exported page."""
    page = browser.new_page()
    page.goto(exported)
    page.wait_for_selector("body[data-answer]")

    def asked(requests):
        found = json.loads(page.evaluate(ASK, requests))
        for one in found:
            one.pop("milliseconds", None)
        return found

    yield asked
    page.close()


def link(world, expression):
    """The address of a drawn world whose moves slip, after the #."""
    goals = [[one["name"], *one["cell"], "0072b2"] for one in world["goals"]]
    names = [one["name"] for one in world["goals"]]
    tasks = [[one["name"], [names.index(goal) for goal in one["goals"]]] for one in world["tasks"]]
    rewards = [world.get(key) for key in ("step_reward", "r_universal", "r_empty")]
    packed = json.dumps([world["map"], goals, tasks, rewards, False, world["slip"]]).encode()
    text = base64.urlsafe_b64encode(zlib.compress(packed)).decode().rstrip("=")
    return "#" + urlencode({"map": text, "task": expression, "agent": "1.1"})


ALL = {"slices": True, "composition": True, "others": True}


def same(ask, requests, *, within=0.0):
    """Both answer the same: to the last digit, or within a number, which is then no more than that.

    Where actions are as good as each other, rounding decides, and what they lead to may differ.
    What it took to improve an agent is counted by Python only, in sweeps.
    """
    pairs = zip(requests, ask(requests), questions.answers_of_python(requests), strict=True)
    for request, own, theirs in pairs:
        if "improvement" in own:
            assert own["improvement"].pop("sweeps") is None
            theirs["improvement"].pop("sweeps")
        if not within:
            assert own == theirs, request
            continue
        different = questions.differences(own, theirs, within)
        assert not [path for path in different if not questions.is_tied(path, own, theirs)], request


def test_boolean_tasks_of_deterministic_worlds(ask):
    rng = np.random.default_rng(0)
    requests = []
    for i in range(160):
        world = questions.random_world(rng)
        names = [task["name"] for task in world["tasks"]]
        text = questions.random_expression(rng, names, int(rng.integers(0, 4)))
        more = {"slices": True} if i % 2 else ALL | {"improve": i % 3 == 0}
        requests.append({"world": world, "expression": text, **more})
    same(ask, requests)


def test_formulas_over_time_in_deterministic_worlds(ask):
    rng = np.random.default_rng(3)
    requests = []
    for i in range(120):
        world = questions.random_world(rng)
        names = [one["name"] for one in (*world["goals"], *world["tasks"])]
        text = questions.random_formula(rng, names)
        requests.append({"world": world, "expression": text, "improve": i % 5 == 0})
    same(ask, requests)


def test_slippery_worlds(ask):
    rng = np.random.default_rng(4)
    requests = []
    for i in range(140):
        world = questions.random_world(rng) | {
            "slip": float(rng.choice([0.05, 0.2, 0.5, 0.75, 0.9]))
        }
        tasks, goals = ([one["name"] for one in world[what]] for what in ("tasks", "goals"))
        text = questions.random_expression(rng, tasks, int(rng.integers(0, 4)))
        if i % 3 == 0:
            text = questions.random_formula(rng, [*goals, *tasks])
        requests.append({"world": world, "expression": text, **ALL, "improve": i % 4 == 0})
    same(ask, requests, within=1e-9)


def test_tables(ask):
    rng = np.random.default_rng(5)
    requests = [{"world": {"table": "nowhere", "tasks": []}, "expression": "true"}]
    for name in ("TRUE", "false", "constructor"):  # two of them mean other tasks
        tasks = [{"name": name, "goals": ["red"]}]
        requests.append({"world": {"table": "taxi", "tasks": tasks}, "expression": "true"})
        world = questions.random_world(rng) | {"tasks": [{"name": name, "goals": []}]}
        requests.append({"world": world, "expression": "true"})
    for i in range(18):
        name = list(WORLDS)[i % len(WORLDS)]
        shown = WORLDS[name]().scene
        goals = [goal["name"] for goal in shown["goals"]]
        made = [{"name": n, "goals": [g for g in goals if rng.random() < 0.5]} for n in "abc"]
        tasks = shown["tasks"] if i % 2 else made
        text = questions.random_expression(rng, [task["name"] for task in tasks], 3)
        if i % 5 == 0:
            text = questions.random_formula(rng, [*goals, *(task["name"] for task in tasks)])
        world = {"table": name, "tasks": tasks}
        requests.append({"world": world, "expression": text, **ALL, "improve": i % 4 == 0})
    same(ask, requests, within=1e-9)


def test_six_tasks_and_long_expressions(ask):
    rng = np.random.default_rng(1)
    requests = []
    for _ in range(30):
        world = questions.random_world(rng, most_side=5, most_goals=8)
        names = [f"t{k}" for k in range(6)]
        goals = [goal["name"] for goal in world["goals"]]
        world["tasks"] = [
            {"name": n, "goals": [g for g in goals if rng.random() < 0.5]} for n in names
        ]
        text = questions.random_expression(rng, names, int(rng.integers(3, 6)))
        requests.append({"world": world, "expression": text})
    same(ask, requests)


def test_wrong_expressions(ask):
    rng = np.random.default_rng(2)
    world = questions.random_world(rng)
    requests = []
    while len(requests) < 240:
        world["tasks"] = [{"name": n, "goals": []} for n in rng.permutation(questions.NAMES)[:4]]
        text = questions.random_mistake(rng, [task["name"] for task in world["tasks"]])
        requests.append({"world": dict(world), "expression": text})
    theirs = questions.answers_of_python(requests)
    wrong = [(r, t) for r, t in zip(requests, theirs, strict=True) if "error" in t]
    assert len(wrong) >= 200
    assert ask([request for request, _ in wrong]) == [error for _, error in wrong]


@pytest.mark.parametrize(
    "change",
    [
        {"step_reward": 0.0},
        {"step_reward": -2000},
        {"r_universal": -0.1},
        {"r_universal": -0.5, "r_empty": -0.25},
        {"map": ["...", ".."]},
        {"goals": [{"name": " A", "cell": [0, 0]}]},
        {"goals": [{"name": "A", "cell": [0, 0]}, {"name": "A", "cell": [0, 1]}]},
        {"goals": [{"name": "A", "cell": [0, 0]}, {"name": "B's", "cell": [0, 0]}]},
        {"goals": [{"name": "A", "cell": [5, 0]}]},
        {"map": ["#.."]},
        {"tasks": [{"name": "t", "goals": ["B"]}]},
        {"tasks": [{"name": "t", "goals": ["A", "A"]}]},
        {"slip": 0.95},
        {"map": ["." * 120] * 100, "slip": 0.7},
    ],
)
def test_worlds_that_are_refused(ask, change):
    world = {"map": ["..."], "goals": [{"name": "A", "cell": [0, 0]}], "tasks": []} | change
    request = {"world": world, "expression": "true"}
    refused = questions.answers_of_python([request])
    assert list(refused[0]) == ["error"]
    assert ask([request]) == refused


SEEN = """(walks) => {
  const shown = ["#map .values", "#map .arrows", "#automaton", "#slices", "#meaning", "#legend"];
  const found = [...shown, "#certificate", "#lines", ...(walks ? ["#map .way", "#caption"] : [])];
  return found.map((one) => document.querySelector(one)?.innerHTML ?? "");
}"""


@pytest.mark.parametrize(
    "hash_",
    [
        "#world=four-rooms&task=top+%5E+left&agent=1.1",
        "#world=office&task=coffee+then+office+%26+avoid+decoration&agent=1.1",
        "#world=forty-goals&task=x1+%26+~x2+%7C+x3&agent=2.2",
        link(presets()[0]["world"] | {"slip": 0.3}, "top ^ left"),
    ],
)
def test_the_exported_page_shows_what_the_served_one_does(new_desk, exported, hash_):
    served, own = new_desk().open(hash_), new_desk()
    own.address = exported
    own.open(hash_)
    walks = "map=" not in hash_  # where moves slip, walks are drawn at random
    pictures = [desk.page.evaluate(SEEN, walks) for desk in (served, own)]
    assert pictures[0] == pictures[1]
    assert len(pictures[0][0]) > 300 and len(pictures[0][1]) > 300
    own.shoot("exported-" + hash_[7:13])


def test_an_exported_page_works_in_a_frame_and_without_workers(new_desk, exported, tmp_path):
    desk = new_desk()
    desk.address = exported
    desk.page.add_init_script("delete globalThis.Worker")
    desk.open("#world=four-rooms&task=top&agent=1.1").type("left ^ top")
    slides = tmp_path / "slides.html"
    slides.write_text(f'<iframe src="{exported}#world=office&task=F+mail" width=900></iframe>')
    page = desk.page.context.new_page()
    page.goto(slides.as_uri())
    page.frame_locator("iframe").locator('body[data-answer="F mail"]').wait_for()


def test_an_exported_page_says_what_it_leaves_out(new_desk, exported):
    desk = new_desk()
    desk.address = exported
    desk.open()
    game = desk.page.locator("#presets label[title]")
    assert game.locator("input").is_disabled()
    assert "Python" in game.get_attribute("title")


def test_an_export_replaces_only_a_page(tmp_path):
    page = export.write(tmp_path / "page")
    with pytest.raises(export.ExportError, match="--force"):
        export.write(page.parent)
    page.write_text("old")
    assert export.write(page.parent, force=True).read_text("utf-8").startswith("<!doctype html>")
    assert [one.name for one in page.parent.iterdir()] == ["index.html"]
    (page.parent / "notes.txt").touch()
    with pytest.raises(export.ExportError, match=r"notes\.txt"):
        export.write(page.parent, force=True)
    with pytest.raises(export.ExportError, match="is a file"):
        export.write(page)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ('import x from "./b.js";\n', "does not understand"),
        ("export { b };\n", "does not understand"),
        ('import { a } from "./main.js";\n', "imports itself"),
    ],
)
def test_modules_that_cannot_be_joined_are_refused(tmp_path, lines, complaint):
    (tmp_path / "main.js").write_text(lines)
    with pytest.raises(export.ExportError, match=complaint):
        export.joined("main.js", tmp_path)
