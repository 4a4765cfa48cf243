"""The page on scaling says what the rows say, and the rows are of what they say."""

import csv
import re

import numpy as np
import pytest

import measured
import rivals
import scaling
import scaling_page
import stochastic_worlds
from maze import maze_world
from report import Report
from taskalgebra.paper.results import provenance
from taskalgebra.planning.exact import return_to_goal
from taskalgebra.theory.tasks import TaskSpace

KEPT = pytest.mark.skipif(not measured.RESULTS.exists(), reason="nothing was measured")


def raw(name):
    """The rows of a file, by the reader of the standard library."""
    with (measured.RESULTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@KEPT
def test_the_page_is_made_of_the_rows():
    made = provenance.load(measured.RESULTS)
    words = scaling_page.text(*scaling_page.rows(), made)
    assert (measured.RESULTS / "scaling.md").read_text(encoding="utf-8") == words
    for name in scaling_page.FILES:
        assert made[name].machine in words and f"scipy {made[name].versions['scipy']}" in words
    for name in scaling_page.FIGURES:
        assert (measured.RESULTS / "figures" / f"{name}.png").stat().st_size > 10_000


@KEPT
@pytest.mark.parametrize("what", ["mazes, states", "slips, states", "acting, goals"])
def test_slopes_and_ratios_on_the_page_are_those_of_the_rows(what):
    panels = [panel for group in scaling_page.FIGURES.values() for panel in group]
    (panel,) = [each for each in panels if each.what == what]
    page = (measured.RESULTS / "scaling.md").read_text(encoding="utf-8")
    (body,) = re.findall(rf"\*\*{re.escape(panel.title)}\*\*: .*?\n\n(.*?)\n\n", page, re.S)
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()]
    shown = {line[0]: dict(zip(lines[0], line, strict=True)) for line in lines[2:]}
    file = "acting" if what.startswith("acting") else "planning"
    rows = [row for row in raw(file) if row["what"] == what]
    assert set(shown) == {row["library"] for row in rows} and len(shown) > 1
    ours = {
        row["size"]: float(row[panel.column]) for row in rows if row["library"] == "taskalgebra"
    }
    for library, cells in shown.items():
        own = [row for row in rows if row["library"] == library]
        if len(own) >= 3:
            x, y = ([np.log(float(row[key])) for row in own[-3:]] for key in ("size", panel.column))
            x, y = np.subtract(x, np.mean(x)), np.subtract(y, np.mean(y))
            assert float(cells["slope"]) == pytest.approx((x @ y) / (x @ x), abs=0.0051)
        if library != "taskalgebra":
            ratio = float(own[-1][panel.column]) / ours[own[-1]["size"]]
            shown_ratio = float(cells["× ours"].replace(",", ""))
            assert shown_ratio == pytest.approx(ratio, rel=0.051, abs=0.0051)


def test_a_power_has_its_exponent_as_its_slope():
    sizes = np.array([1, 10, 100, 1000])
    assert scaling_page.slope(sizes, 7.0 * sizes**1.5) == pytest.approx(1.5)
    assert scaling_page.slope(sizes, [99, 5, 10, 20]) == pytest.approx(np.log10(2))
    assert scaling_page.slope(sizes[:2], sizes[:2]) is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(2.345, "2.3 s"), (0.0123, "12 ms"), (4.2e-6, "4.2 µs"), (123.4, "123 s"), (3e-7, "0.30 µs")],
)
def test_seconds_are_written_with_their_unit(seconds, shown):
    assert scaling_page.in_words(seconds, "seconds") == shown


def test_all_curves_run_at_toy_size_and_can_be_drawn(monkeypatch, tmp_path):
    some = ("scipy, dijkstra", "scipy, breadth first", "numpy value iteration")
    monkeypatch.setattr(rivals, "LIBRARIES", {name: rivals.LIBRARIES[name] for name in some})
    some = ("taskalgebra", "scipy.sparse value iteration")
    libraries = {name: stochastic_worlds.LIBRARIES[name] for name in some}
    monkeypatch.setattr(stochastic_worlds, "LIBRARIES", libraries)
    monkeypatch.setattr(scaling, "best", lambda function, **_: measured.timed(function))
    monkeypatch.setattr(scaling, "apart", lambda part, *of, **_: getattr(scaling, part)(*of))
    scaling.measure(Report(), quick=True, folder=tmp_path)
    scaling_page.write(tmp_path)
    times, counted = (table.rows() for table in scaling_page.rows(tmp_path))
    assert {tuple(row) for row in times} == {measured.COLUMNS}
    wanted = {what for file in scaling.curves(True).values() for what, *_ in file}
    assert {row["what"] for row in times} == wanted
    assert all(row["seconds"] > 0 and row["peak_bytes"] > 0 for row in times)
    few = [row["count"] for row in counted if row["library"] == "few steps"]
    assert 0 < max(few) < min(row["count"] for row in counted if row["count"] not in few)
    states = {row["goals"]: row["size"] for row in times if row["what"] == "automata, any order"}
    assert states == {2: 4, 3: 8}
    assert "| taskalgebra |" in (tmp_path / "scaling.md").read_text(encoding="utf-8")


def test_a_curve_ends_before_patience_does():
    points = [(1,), (2,), (1000,), (10_000,)]
    found = scaling.along(points, 1.0, lambda point: {"seconds": 0.02, "size": point[0]})
    assert [row["size"] for row in found] == [1, 2]


@pytest.mark.parametrize("name", rivals.LIBRARIES)
def test_what_others_find_in_a_small_maze_is_what_the_planner_finds(name):
    module = {"networkit": "networkit", "python-graphblas": "graphblas"}.get(name)
    if module is not None:
        pytest.importorskip(module)
    mdp = maze_world(21, 21, 4)
    steps = rivals.LIBRARIES[name](mdp, mdp.goals)()
    assert np.allclose(-0.1 * steps, return_to_goal(mdp).to_goal)


def test_decisions_by_tables_are_as_good_as_those_of_the_agent():
    space = TaskSpace(maze_world(21, 21, 6))
    base = {"b0": [0, 1, 2], "b1": [1, 3, 5]}
    decide, states = scaling.by_tables(space, base), space.mdp.starts
    for text in ("b0 & ~b1", "(b0) ^ b1", "((b0) | ~ b1) & b0"):
        agent = scaling.ta.solve(space, base)[text]
        after = space.mdp.next_state[states, decide(text, states)]
        best = space.mdp.next_state[states, agent.act(states)]
        assert np.allclose(agent.v[after], agent.v[best])
