"""Worlds whose moves slip, against value iteration on tables made from the document alone."""

from __future__ import annotations

import time
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground_client import CORRIDOR, drawn, questions, solved
from slip_oracle import MinMax, Slippery
from taskalgebra.apps.playground.answers import FormulaAnswer, SolveAnswer
from taskalgebra.apps.playground.solving import SkillsCache
from taskalgebra.logic.formulas import parse

SLIPS = st.sampled_from([0.05, 0.3, 0.6])
ROOM = drawn(
    "......",
    "......",
    "..#...",
    "......",
    goals={"A": (0, 0), "B": (0, 5), "C": (3, 0), "D": (3, 5)},
    tasks={"top": "AB", "left": "AC"},
    slip=0.3,
)


def labels(world, expression):
    """[G], whether each goal is desired."""
    formula = parse(expression)
    found = []
    for goal in world["goals"]:
        label = {task["name"]: int(goal["name"] in task["goals"]) for task in world["tasks"]}
        found.append(bool(formula.evaluate(label, universal=-1, empty=0) & 1))
    return np.array(found)


def composed(world, expression):
    """Q̄ of an expression by the algebra of Definition 4, from the document alone."""
    tables = Slippery(world)
    n = len(world["goals"])
    high, low = tables.extended([True] * n), tables.extended([False] * n)
    named = {
        task["name"]: tables.extended([goal["name"] in task["goals"] for goal in world["goals"]])
        for task in world["tasks"]
    }
    elements = {name: MinMax(q, high + low) for name, q in named.items()}
    one, zero = MinMax(high, high + low), MinMax(low, high + low)
    return tables, parse(expression).evaluate(elements, universal=one, empty=zero).array


def at(answer, tables, name="values"):
    """Numbers of an answer in the free cells; −∞ for null."""
    found = np.array(answer[name], float)[tables.places]
    return np.where(np.isnan(found), -np.inf, found)


def close(a, b, error=1e-8):
    assert (np.isneginf(a) == np.isneginf(b)).all()
    assert np.abs(np.where(np.isneginf(a), 0.0, a) - np.where(np.isneginf(b), 0.0, b)).max() < error


def check(world, expression, answer, improved):
    """Hold an answer, and that of the improved agent, to the tables of the document."""
    tables, q_bar = composed(world, expression)
    desired = labels(world, expression)
    close(at(answer, tables), q_bar.max(axis=(1, 2)))
    optimum = tables.values(np.where(desired, tables.high, tables.low)).max(axis=1)
    close(at(answer, tables, "optimum"), optimum)
    close(at(improved, tables), optimum)
    starts = np.isfinite(optimum)
    actions = np.array([a or 0 for a in np.array(answer["actions"])[tables.places]], int)
    q = q_bar.max(axis=1)[np.arange(tables.n), actions]
    close(q[starts], q_bar.max(axis=(1, 2))[starts])
    lost = np.maximum(optimum[starts] - tables.earns(actions, desired)[0][starts], 0.0)
    loss = answer["loss"]
    if np.isinf(lost).any():
        assert loss["worst"] is None and loss["mean"] is None and not loss["optimal"]
        return
    assert abs(loss["mean"] - lost.mean()) < 1e-8 and abs(loss["worst"] - lost.max()) < 1e-8
    assert loss["bound"] is None or loss["bound"] >= lost.max() - 1e-8
    assert loss["optimal"] == (lost.max() < 1e-7) and improved["loss"]["optimal"]
    if not loss["optimal"]:
        assert lost[np.array(tables.places)[starts].tolist().index(loss["worst_cell"])] > (
            lost.max() - 1e-8
        )
        assert loss["because"]


@settings(max_examples=60, deadline=None)
@given(questions(), SLIPS)
def test_slippery_worlds_are_solved_as_their_documents_say(question, slip):
    world, expression = question
    world = world | {"slip": slip}
    cache = SkillsCache()
    asked = {"world": world, "expression": expression}
    answer, improved = (solved(cache, asked | {"improve": one}) for one in (False, True))
    SolveAnswer.model_validate(improved)
    check(world, expression, answer, improved)


def test_the_lines_of_a_slippery_world_do_the_same(client):
    for improve in (False, True):
        asked = {"world": ROOM, "expression": "top ^ left", "slices": True, "improve": improve}
        answer = client.post("/api/solve", asked).json()
        names = {}
        with redirect_stdout(StringIO()):
            exec(compile(answer["python"], "lines", "exec"), names)
        tables = Slippery(ROOM)
        close(at(answer, tables), names["agent"].v[: tables.n], 1e-9)
        close(at(answer, tables, "optimum"), names["optimum"][: tables.n], 1e-9)


def test_a_world_without_slips_has_the_answers_of_one_that_names_none(client):
    same = [client.solve(CORRIDOR | more, "top ^ left", slices=True) for more in ({}, {"slip": 0})]
    for answer in same:
        del answer["milliseconds"]
    assert same[0] == same[1]
    assert same[0]["loss"] == {
        "optimal": True,
        "mean": 0.0,
        "worst": 0.0,
        "worst_cell": None,
        "bound": 0.0,
        "because": [],
    }


def test_slices_are_null_only_where_there_is_no_way(client):
    world = drawn(".#..", goals={"A": (0, 0), "B": (0, 3)}, tasks={"a": "A"}, slip=0.3)
    slices = client.solve(world, "a", slices=True)["slices"]
    assert [[v is None for v in one["values"]] for one in slices] == [
        [False, True, True, True],
        [True, True, False, False],
    ]


def test_formulas_over_time_are_planned_with_slips(client):
    tables = Slippery(ROOM)
    answer = client.solve(ROOM, "F A")
    FormulaAnswer.model_validate(answer)
    only_a = tables.values(np.array([tables.high, -1e6, -1e6, -1e6])).max(axis=1)
    close(at(answer["states"][0], tables), only_a, 1e-6)
    assert answer["optimal"] and answer["loss"]["optimal"]
    improved = client.post("/api/solve", {"world": ROOM, "expression": "F A", "improve": True})
    assert improved.json()["improvement"]["rounds"] == 0


def test_a_formula_says_why_it_is_impossible_where_moves_slip(client):
    world = drawn("..#..", goals={"A": (0, 0), "B": (0, 4)}, tasks={"a": "A"}, slip=0.2)
    answer = client.solve(world, "F B")
    assert answer["impossible"]["cells"] == [0, 0, None, None, None]
    assert answer["impossible"]["reasons"] == ["from here there is no way to B"]


@pytest.mark.parametrize("slip", [-0.1, 0.91, True, "0.3", None])
def test_a_share_that_is_none_is_refused(client, slip):
    asked = {"world": CORRIDOR | {"slip": slip}, "expression": "top"}
    status, error = client.refusal("/api/solve", asked)
    assert status == 422 and error["field"] == "world.slip"


@pytest.mark.parametrize(
    ("size", "slip", "step"), [(60, 0.7, -0.1), (128, 0.3, -0.1), (9, 0.1, -1e-6)]
)
def test_worlds_that_take_too_long_are_refused_at_once(client, size, slip, step):
    names = [f"g{i}" for i in range(8)]
    goals = {name: (0, i) for i, name in enumerate(names)}
    world = drawn(*["." * size] * size, goals=goals, tasks={"a": names[:2]}, slip=slip)
    start = time.process_time()
    asked = {"world": world | {"step_reward": step}, "expression": "a"}
    status, error = client.refusal("/api/solve", asked)
    assert time.process_time() - start < 2
    assert (status, error["field"]) == (422, "world.slip")
    assert "let fewer moves slip" in error["message"]
