"""Worlds that are tables: scenes against their environments, answers against value iteration."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO

import gymnasium
import numpy as np
import pytest

import taskalgebra as ta
from playground_client import solved
from slip_oracle import MinMax
from taskalgebra.apps.playground.answers import FormulaAnswer, SolveAnswer
from taskalgebra.apps.playground.layout import positions
from taskalgebra.apps.playground.scene import Scene, scene, why_not
from taskalgebra.apps.playground.solving import SkillsCache
from taskalgebra.logic.formulas import parse

IDS = ("frozen-lake", "taxi", "minigrid")
EXPRESSIONS = {
    "frozen-lake": ["gift | west", "hole & west", "~(gift | west)"],
    "taxi": ["north & west", "~north ^ west", "true"],
    "minigrid": ["red & ~box", "red ^ key", "false"],
}


class Dense:
    """The tables of a scene, and value iteration on them."""

    def __init__(self, shown):
        n, k = len(shown["cell"]), len(shown["actions"])
        offset, to, p = (shown["transitions"][x] for x in ("offset", "successor", "probability"))
        self.p = np.zeros((n * k, n))
        for pair in range(n * k):
            for i in range(offset[pair], offset[pair + 1]):
                self.p[pair, to[i]] += p[i]
        self.p = self.p.reshape(n, k, n)
        steps = shown["step_reward"]
        self.step = (
            np.full((n, k), steps) if isinstance(steps, float) else np.reshape(steps, (n, k))
        )
        self.goals = [goal["state"] for goal in shown["goals"]]
        self.high, self.low = shown["r_universal"], shown["r_empty"]
        self.live = np.delete(np.arange(n), self.goals)

    def values(self, terminal):
        """Q* of a task, starting from below; goals pay for every action."""
        v = np.full(len(self.p), -1e9)
        v[self.goals] = terminal
        for _ in range(5_000):
            q = self.step + self.p @ v
            q[self.goals] = np.array(terminal)[:, None]
            if np.abs(q.max(axis=1) - v).max() < 1e-14:
                break
            v = q.max(axis=1)
        return np.where(q < -1e6, -np.inf, q)

    def extended(self, desired, low):
        """Q̄, with r̄_MIN = low."""
        n = len(self.goals)
        pays = np.where(desired, self.high, self.low)
        return np.stack(
            [self.values(np.where(np.arange(n) == g, pays, low)) for g in range(n)], axis=1
        )

    def composed(self, shown, expression, low):
        """Q̄ of an expression, by the algebra."""
        names = [goal["name"] for goal in shown["goals"]]
        n = len(names)
        high, none = (self.extended([one] * n, low) for one in (True, False))
        total = high + none
        named = {
            task["name"]: MinMax(self.extended([g in task["goals"] for g in names], low), total)
            for task in shown["tasks"]
        }
        ends = {"universal": MinMax(high, total), "empty": MinMax(none, total)}
        return parse(expression).evaluate(named, **ends).array


@pytest.fixture(scope="module")
def scenes(client):
    return {name: client.get(f"/api/worlds/{name}").json() for name in IDS}


def asked(shown, expression, **more):
    world = {"table": shown["id"], "tasks": shown["tasks"]}
    return solved(SkillsCache(), {"world": world, "expression": expression, **more})


@pytest.mark.parametrize("name", IDS)
def test_a_scene_is_as_described_and_the_preset_carries_it(scenes, presets, name):
    shown = scenes[name]
    Scene.model_validate_json(json.dumps(shown))
    assert presets[name]["scene"] == shown and "world" not in presets[name]
    n, k = len(shown["cell"]), len(shown["actions"])
    offset = shown["transitions"]["offset"]
    assert len(offset) == n * k + 1 == len(shown["layer"]) * k + 1
    at = [pair for pair in zip(shown["cell"], shown["layer"], strict=True) if pair[0] >= 0]
    assert len(set(at)) == len(at)
    assert max(shown["layer"]) < len(shown["layers"])
    free = [i for i, c in enumerate("".join(shown["map"])) if c == "."]
    assert {cell for cell, _ in at} <= set(free)
    assert len(shown["map"]) == shown["rows"]
    assert {len(row) for row in shown["map"]} == {shown["columns"]}
    names = {goal["name"] for goal in shown["goals"]}
    assert all(set(task["goals"]) <= names for task in shown["tasks"])


@pytest.mark.parametrize("name", ["FrozenLake-v1", "Taxi-v4"])
def test_the_tables_are_those_of_the_environments(scenes, name):
    if name not in gymnasium.registry:
        name = "Taxi-v3"
    shown = scenes["frozen-lake" if "Lake" in name else "taxi"]
    dense, env = Dense(shown), gymnasium.make(name).unwrapped
    ends = {s for row in env.P.values() for a in row.values() for _, s, _, over in a if over}
    k = env.action_space.n
    goal_of = dict(zip(sorted(ends), dense.goals, strict=True))
    cost = 0.01 if "Lake" in name else 0.0
    for s, row in env.P.items():
        if s in dense.goals:
            continue
        for a, outcomes in row.items():
            p, paid = np.zeros(len(dense.p)), 0.0
            for chance, to, reward, over in outcomes:
                p[goal_of[to] if over else to] += chance
                paid += chance * (reward - over * (dense.high if to == 15 or k == 6 else 0.0))
            assert np.abs(dense.p[s, a] - p).max() < 1e-12
            assert abs(dense.step[s, a] - (paid - cost)) < 1e-12


def test_the_taxi_begins_with_something_to_do(scenes, presets):
    shown, dense = scenes["taxi"], Dense(scenes["taxi"])
    begun = shown["layers"][shown["layer"][shown["first"]]]
    assert begun == "waits at blue, wants to red"
    answer = asked(shown, presets["taxi"]["expression"])
    state, cells = shown["first"], []
    while state not in (ends := {goal["state"]: goal["name"] for goal in shown["goals"]}):
        cells.append(shown["cell"][state])
        (state,) = np.flatnonzero(dense.p[state, answer["actions"][state]])
    assert ends[state] in answer["desired"]
    assert len(set(cells)) >= 8 and cells[0] not in [goal["cell"] for goal in shown["goals"]]
    assert all(one["first"] in one["starts"] for one in scenes.values())


def test_walls_of_the_taxi_stop_it(scenes):
    shown, dense = scenes["taxi"], Dense(scenes["taxi"])
    at = {pair: s for s, pair in enumerate(zip(shown["cell"], shown["layer"], strict=True))}
    walls = {tuple(pair) for pair in shown["walls"]}
    for r, c in np.ndindex(5, 4):
        here, there = 5 * r + c, 5 * r + c + 1
        stays = dense.p[at[here, 0], 2, at[here, 0]] == 1.0  # east
        assert stays == ((here, there) in walls)
    assert shown["arrows"] == [[1, 0], [-1, 0], [0, 1], [0, -1], None, None]
    assert shown["layers"][5] == "waits at green, wants to green"


def test_the_level_of_minigrid_is_the_one_explored(scenes):
    pytest.importorskip("minigrid")
    from taskalgebra.apps.playground.presets import exploring

    assert json.loads(json.dumps(exploring.table())) == json.loads(exploring.EXPLORED.read_text())
    shown = scenes["minigrid"]
    turned, ahead = Dense(shown), ((0, 1), (1, 0), (0, -1), (-1, 0))
    for s in turned.live:
        cell, heading = shown["cell"][s], shown["layer"][s]
        for action, turn in ((0, -1), (1, 1)):
            to = int(turned.p[s, action].argmax())
            if to in turned.goals:
                to = shown["resumes"][turned.goals.index(to)]
            assert shown["cell"][to] == cell and shown["layer"][to] == (heading + turn) % 4
        to = int(turned.p[s, 2].argmax())
        if to in turned.goals:
            to = shown["resumes"][turned.goals.index(to)]
        r, c = divmod(cell, 8)
        r, c = r + ahead[heading][0], c + ahead[heading][1]
        assert shown["cell"][to] == (8 * r + c if shown["map"][r][c] == "." else cell)


@pytest.mark.parametrize(("name", "text"), [(n, e) for n in IDS for e in EXPRESSIONS[n]])
def test_answers_are_those_of_value_iteration_on_the_scene(scenes, name, text):
    shown, dense = scenes[name], Dense(scenes[name])
    answer = asked(shown, text, slices=True, composition=True, others=True, improve=False)
    SolveAnswer.model_validate(answer)
    desired = [goal["name"] in answer["desired"] for goal in shown["goals"]]
    optimum = dense.values(np.where(desired, dense.high, dense.low)).max(axis=1)
    near = {"rtol": 0, "atol": 1e-8}
    given = np.array(answer["optimum"], float)
    assert np.array_equal(np.isfinite(given), np.isfinite(optimum))
    there = np.isfinite(optimum)
    assert np.allclose(given[there], optimum[there], **near)
    stochastic = name == "frozen-lake"
    if stochastic:
        q_bar = dense.composed(shown, text, dense.low)
        best = q_bar.max(axis=(1, 2))
    else:
        best = optimum
    assert np.allclose(np.array(answer["values"], float)[there], best[there], **near)
    assert answer["loss"]["optimal"] or stochastic
    better = asked(shown, text, improve=True)
    assert better["loss"]["optimal"]
    assert np.allclose(np.array(better["values"], float)[there], optimum[there], **near)
    if answer["composition"] is not None:
        last = answer["composition"]["nodes"][-1]
        assert last["values"] == answer["values"] and last["slices"] == answer["slices"]


@pytest.mark.parametrize("name", IDS)
def test_the_lines_of_a_table_do_the_same(scenes, name):
    if name == "minigrid":
        pytest.importorskip("minigrid")
    for text in (EXPRESSIONS[name][0], *(["key then box"] if name == "minigrid" else [])):
        answer, found = asked(scenes[name], text), {}
        with redirect_stdout(StringIO()):
            exec(compile(answer["python"], "lines", "exec"), found)
        if "automaton" in answer:
            (start,) = [s for s in answer["states"] if s["state"] == answer["automaton"]["start"]]
            shown, values = start["values"], found["tables"][start["state"]][0]
        else:
            shown, values = answer["values"], found["agent"].v
        known = np.isfinite(values)
        assert [v is not None for v in shown] == known.tolist()
        assert np.array_equal(np.array(shown, float)[known], values[known].round(10))


def test_formulas_over_time_go_on_where_the_scene_says(scenes):
    shown, dense = scenes["minigrid"], Dense(scenes["minigrid"])
    answer = asked(shown, "key then box", improve=True)
    FormulaAnswer.model_validate(answer)
    step, n = shown["step_reward"], len(dense.p)
    keys, boxes = (
        [goal["state"] for goal in shown["goals"] if word in goal["name"]]
        for word in ("key", "box")
    )
    resumes = dict(zip(dense.goals, shown["resumes"], strict=True))
    to = dense.p.argmax(axis=2)
    goes = np.array([[resumes.get(s, s) for s in row] for row in to])

    def steps_to(ends, after):
        left = np.full(n, np.inf)
        for _ in range(n):
            left = 1 + np.where(np.isin(to, ends), after[goes], left[goes]).min(axis=1)
        return left

    box = steps_to(boxes, np.zeros(n))
    both = steps_to(keys, box)
    (start,) = [s for s in answer["states"] if s["state"] == answer["automaton"]["start"]]
    values = np.array(start["values"], float)[dense.live]
    assert np.abs(values - (2.0 + step * both[dense.live])).max() < 1e-9


def test_requests_for_tables_are_refused_in_words(client, scenes):
    def refused(world, expression="gift"):
        return client.refusal("/api/solve", {"world": world, "expression": expression})

    assert refused({"table": "atlantis"})[0] == 404
    status, error = refused({"table": "frozen-lake", "tasks": [{"name": "a", "goals": ["b"]}]})
    assert (status, error["field"]) == (422, "world.tasks[0].goals[0]")
    true = [{"name": "a", "goals": ["gift"]}, {"name": "true", "goals": ["gift"]}]
    status, error = refused({"table": "frozen-lake", "tasks": true})
    assert (status, error["field"]) == (422, "world.tasks[1].name")
    status, error = refused({"table": "frozen-lake", "map": ["."]})
    assert (status, error["field"]) == (422, "world.map") and "not a known field" in error[
        "message"
    ]
    status, error = refused({"table": 3})
    assert (status, error["field"]) == (422, "world.table")
    lake = {"table": "frozen-lake", "tasks": scenes["frozen-lake"]["tasks"]}
    status, error = refused(lake, "F gift")
    assert (status, error["field"]) == (422, "expression") and "go on after a goal" in error[
        "message"
    ]
    assert client.get("/api/worlds/atlantis").status_code == 404
    assert client.get("/api/worlds/..%2F..%2Fetc").status_code == 404


def test_the_maze_is_near_the_limits_and_solved(client, presets):
    world = presets["maze"]["world"]
    assert len(world["map"]) == 127 and len(world["map"][0]) == 127
    answer = client.solve(world, presets["maze"]["expression"])
    assert answer["loss"]["optimal"] and not answer["notes"]
    assert answer["desired"] == ["door"]


def test_states_of_a_world_without_a_map_get_places():
    rng = np.random.default_rng(0)
    world = ta.from_arrays(rng.integers(0, 30, (30, 3)), -1.0, [7, 9])
    places = positions(world)
    assert len(set(places)) == 30 and all(0 < x < 1 and 0 < y < 1 for x, y in places)
    lowest = max(y for _, y in places)
    assert all(places[goal][1] == lowest for goal in (7, 9))
    shown = scene("x", "X", ta.TaskSpace(world), {})
    Scene.model_validate_json(json.dumps(shown))
    assert shown["map"] is None and set(shown["cell"]) == {-1} and len(shown["positions"]) == 30


def test_worlds_that_are_too_large_are_named():
    large = ta.from_arrays(np.zeros((20_001, 1), int), -1.0, [0])
    assert "20,001 states" in why_not(large)
    many = ta.from_arrays(np.zeros((70, 1), int), -1.0, list(range(65)))
    assert "65 goals" in why_not(many) and why_not(ta.from_text("A.B")) == ""


def test_a_drawn_world_with_several_states_per_cell_has_layers():
    world = ta.from_arrays(
        np.array([[1, 2], [0, 2], [3, 3], [4, 4], [4, 4]]),
        -1.0,
        [4],
        cells=np.array([[1, 1], [1, 1], [1, 2], [1, 1], [1, 2]]),
    )
    shown = scene("x", "X", ta.TaskSpace(world), {})
    assert shown["layer"][:4] == [0, 1, 0, 2] and shown["cell"] == [4, 4, 5, 4, -1]
    assert shown["goals"][0]["cell"] == 5 and shown["map"] == ["###", "#.."]
    assert shown["layers"] == ["layer 1", "layer 2", "layer 3"]
