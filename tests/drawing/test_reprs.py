"""What objects show in a notebook: well-formed, escaped, readable on any paper, quick, bounded."""

import io
import re
import subprocess
import sys
import time
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

import taskalgebra as ta

TAGS = {
    *("div", "b", "span", "code", "table", "tbody", "tr", "td", "th", "img"),
    *("svg", "title", "image", "path", "g", "circle", "text", "style"),
}
VOID = {"img"}
EVIL = "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "]]>&amp;<!-- \x00\u202e"


class Reader(HTMLParser):
    """Elements, their attributes and all text; ends must match."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text = [], set(), set(), ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {(name, value) for name, value in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")


def read(thing):
    page = thing._repr_html_()
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert reader.tags <= TAGS
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    links = {value for name, value in reader.attributes if name in ("src", "href")}
    assert all(value.startswith("data:image/png;base64,") for value in links)
    return reader, page


def everything(skills, world, text, formula):
    agent, over_time = skills[text], skills[formula]
    return {
        "env": world,
        "mdp": world.space.mdp,
        "task": agent.task,
        "expression": agent.expression,
        "formula": over_time.expression,
        "skills": skills,
        "agent": agent,
        "over time": over_time,
        "automaton": over_time.automaton,
        "report": world.space.check(),
        "evaluation": agent.evaluate(50),
        "continuing": ta.ContinuingEvaluation(
            *(np.array([-1.0, 3.0, 4.5]), np.full(3, 20)),
            *(np.array([[0, 1], [2, 0], [3, 0]]), np.array([True, False])),
            np.array([False, True]),
        ),
        "certificate": agent.certificate(),
    }


@pytest.fixture(scope="module")
def rooms():
    world = ta.FourRooms()
    skills = ta.solve(world, ["top", "left"])
    return everything(skills, world, "top ^ left", "F top & G !left")


KINDS = (
    *("env", "mdp", "task", "expression", "formula", "skills", "agent", "over time"),
    *("automaton", "report", "evaluation", "continuing", "certificate"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_is_well_formed_and_takes_the_colours_of_the_page(rooms, kind):
    assert set(rooms) == set(KINDS)
    reader, page = read(rooms[kind])
    assert reader.text.strip()
    plain = re.sub(r"<style>.*?</style>", "", page, flags=re.S)  # of the automaton's own file
    assert not re.search(r"background(-color)?:(?!transparent)", plain)
    assert not re.search(r"[^-]color:(?!inherit|#1a9e6e|#e0552b|#b8860b)", plain)
    assert len(page) < 60_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_waits_less_than_50_ms(rooms, kind):
    rooms[kind]._repr_html_()
    took = []
    for _ in range(5):
        begun = time.process_time()
        rooms[kind]._repr_html_()
        took.append(time.process_time() - begun)
    assert min(took) < 0.05


def test_words_are_those_of_the_object(rooms):
    assert "top ^ left" in read(rooms["agent"])[0].text
    assert "top_right, bottom_left" in read(rooms["agent"])[0].text
    assert "108 states" in read(rooms["mdp"])[0].text
    assert "16 tasks" in read(rooms["skills"])[0].text
    assert rooms["report"].verdict in read(rooms["report"])[0].text
    assert f"{rooms['evaluation'].mean_return:.4g}" in read(rooms["evaluation"])[0].text
    assert "3 (quartiles 1 to 3.75)" in read(rooms["continuing"])[0].text
    assert "optimal from all 104 starts" in read(rooms["certificate"])[0].text
    assert "⊻" in read(rooms["expression"])[0].text


def test_findings_that_fail_have_a_word_and_a_sign_not_only_a_colour():
    report = ta.FourRooms(slip_probability=0.1).space.check()
    text = read(report)[0].text
    assert "✗ FAILS" in text and "✓ holds" in text


@pytest.mark.parametrize("evil", EVIL)
def test_names_cannot_become_markup(evil):
    world = ta.from_text("A..B\n....", {evil: (1, 2)}, touch=True)
    space = ta.TaskSpace(world)
    env = ta.FiniteEnv(space, {evil: space.task([evil]), "b": space.task(["B"])})
    skills = ta.solve(env)
    key = str(skills[env.tasks[evil]].expression)
    for thing in everything(skills, env, f"{key} & ~b", f"F {key} & G !b").values():
        read(thing)
    shown = read(skills)[0].text
    assert "".join(c if c.isprintable() else "\ufffd" for c in evil)[:40] in shown
    open_world = ta.OpenWorld((evil, "other"), (evil, "stay"))
    read(open_world)


def pixels(page):
    """The image of the map, and how large one cell is in it."""
    data = re.search(r'href="data:image/png;base64,([^"]+)"', page).group(1)
    return np.asarray(Image.open(io.BytesIO(b64decode(data))).convert("RGBA"))


def test_the_colours_of_a_map_are_in_the_order_of_the_values(rooms):
    agent = rooms["agent"]
    mdp = agent.task.space.mdp
    image = pixels(agent._repr_html_())
    side = image.shape[0] // 13
    live = np.flatnonzero(~mdp.is_goal)
    colours = image[tuple((mdp.cells[live] * side + side // 2).T)].astype(float)
    assert (colours[:, 3] == 255).all()
    order = np.argsort(agent.v[live], kind="stable")
    green = colours[order, 1]  # viridis: green grows with the value
    assert (np.diff(green) >= 0).all() and green[-1] > 200 > 50 > green[0]
    assert (image[0, 0] == (120, 124, 132, 190)).all()  # a wall, which paper shines through


def test_arrows_point_where_actions_lead(rooms):
    agent = rooms["agent"]
    shape = re.search(r'<path d="(M[^"]+)" fill="#fff"', agent._repr_html_()).group(1)
    arrows = {"up": "m0 .36v-.5", "right": "m-.36 0h.5", "down": "m0-.36v.5", "left": "m.36 0h-.5"}
    mdp = agent.task.space.mdp
    at_goal = {tuple(mdp.cells[goal]) for goal in mdp.goals}
    for s in np.flatnonzero(~mdp.is_goal):
        row, column = mdp.cells[s]
        here = f"M{column + 0.5} {row + 0.5}"
        if (row, column) in at_goal:
            assert f"{here}m" not in shape
        else:
            assert f"{here}{arrows[mdp.action_names[agent.actions[s]]]}" in shape


def test_actions_that_are_no_moves_are_letters():
    after = [[min(i + 1, 3), i, i] for i in range(4)]
    after[1][1], after[2][2] = 3, 3
    names, cells = ["right", "jump", "<leap"], [(0, i) for i in range(4)]
    after[1][0] = after[2][0] = 0
    world = ta.from_arrays(after, -0.1, [3], goal_names=["a"], action_names=names, cells=cells)
    page = ta.solve(world, {"a": ["a"]})["a"]._repr_html_()
    assert '<text x="2.5" y="1.66">J</text>' in page
    assert '<text x="3.5" y="1.66">&lt;</text>' in page
    assert page.count("M1.5 1.5m-.36 0h.5") == 2  # the arrow and its rim


def test_large_worlds_show_words_and_a_small_picture_and_agents_are_not_asked():
    side = 1000
    world = ta.from_text(["." * side] * side, {"A": (0, 0), "B": (9, 9)})
    begun = time.process_time()
    _, page = read(world)
    assert time.process_time() - begun < 3
    assert max(pixels(page).shape) <= 1000 and len(page) < 400_000
    wide = ta.from_text(["." * 150] * 150, {"A": (0, 0), "B": (9, 9)})
    skills = ta.solve(wide, {"a": ["A"], "b": ["B"]})
    agent = skills["a | b"]
    for thing in (skills, agent):
        reader, _ = read(thing)
        assert "svg" not in reader.tags
    assert "v" not in vars(agent)


def test_small_worlds_without_a_map_are_graphs_and_large_ones_words():
    world = replace(ta.from_text("A..B"), cells=None)
    assert "circle" in read(world)[0].tags
    assert "circle" in read(ta.solve(world, {"a": ["A"]})["a"])[0].tags
    big = replace(ta.from_text(["." * 20] * 20, {"A": (0, 0)}), cells=None)
    assert "svg" not in read(big)[0].tags


def test_many_names_are_counted():
    world = ta.from_text(["." * 40], {f"g{i}": (0, i) for i in range(40)})
    assert "and 28 more" in read(world)[0].text
    long = ta.parse(" & ".join(f"name{i}" for i in range(200)))
    assert len(long._repr_html_()) < 2000


def test_notebooks_need_no_matplotlib_and_plots_say_what_to_install():
    script = """
import sys
sys.modules["matplotlib"] = None
import taskalgebra as ta
world = ta.FourRooms()
skills = ta.solve(world, ["top", "left"])
for thing in (world, skills, skills["top"], skills["F top"], skills["top"].task):
    assert thing._repr_html_()
try:
    skills["top"].plot()
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == 'plots need matplotlib: pip install "taskalgebra[figures]"\n', done.stderr
