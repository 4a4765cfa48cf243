"""The nodes of a formula, and what other methods do with it, against computations of their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taskalgebra as ta
from playground_client import CORRIDOR, drawn, questions, solved
from slip_oracle import Slippery
from taskalgebra.apps.playground.drawn import plan
from taskalgebra.apps.playground.schema import WorldDocument
from taskalgebra.apps.playground.solving import SkillsCache
from taskalgebra.baselines.interface import NotExpressible
from taskalgebra.baselines.plain import AverageOfTasks, MaxOfTasks


def asked(world, expression, **more):
    return solved(SkillsCache(), {"world": world, "expression": expression, **more})


@settings(max_examples=40, deadline=None)
@given(questions(), st.sampled_from([0.0, 0.25]))
def test_every_node_is_the_agent_of_its_text(question, slip):
    world, expression = question
    world = world | {"slip": slip}
    answer = asked(world, expression, composition=True, slices=True)
    if answer["composition"] is None:
        assert len(expression) > 24
        return
    nodes = answer["composition"]["nodes"]
    skills = plan(WorldDocument.model_validate(world, strict=False))
    places = Slippery(world).places
    for i, node in enumerate(nodes):
        agent = skills[node["text"]]
        known = np.isfinite(np.array(node["values"], float))
        assert np.array_equal(
            np.array(node["values"], float)[known], agent.v[: len(places)].round(10)[known[places]]
        )
        assert all(child < i for child in node["children"])
        desired = zip(agent.task.space.goal_names, agent.task.desired, strict=True)
        assert node["desired"] == [name for name, one in desired if one]
        q_bar = agent.q_bar(np.arange(len(places))).max(axis=2)
        for g, one in enumerate(node["slices"]):
            shown = np.array(one["values"], float)[places]
            there = np.isfinite(shown)
            assert np.array_equal(shown[there], q_bar[there, g].round(10))
    assert nodes[-1]["values"] == answer["values"]
    assert nodes[-1]["slices"] == answer["slices"]
    assert len({node["text"] for node in nodes}) == len(nodes)


def test_nodes_are_in_order_and_equal_ones_come_once():
    nodes = asked(CORRIDOR, "~(top & left) | top & left ^ true", composition=True)["composition"]
    assert [(n["text"], n["operator"], n["children"]) for n in nodes["nodes"]] == [
        ("top", "task", []),
        ("left", "task", []),
        ("top & left", "and", [0, 1]),
        ("~(top & left)", "not", [2]),
        ("true", "true", []),
        ("top & left ^ true", "xor", [2, 4]),
        ("~(top & left) | top & left ^ true", "or", [3, 5]),
    ]


def test_the_algebra_of_slices_holds_cell_by_cell():
    nodes = asked(CORRIDOR, "~top & left", composition=True)["composition"]["nodes"]
    by_text = {
        node["text"]: np.array([one["values"] for one in node["slices"]], float) for node in nodes
    }
    both = np.fmin(by_text["~top"], by_text["left"])
    assert np.array_equal(by_text["~top & left"], both, equal_nan=True)


def test_too_many_nodes_are_not_sent():
    for n in (23, 24):
        found = asked(CORRIDOR, "~" * n + "top", composition=True)["composition"]
        assert (found is None) == (n == 24)
    large = drawn(
        *["." * 100] * 100, goals={f"g{i}": (0, i) for i in range(8)}, tasks={"a": ["g0"]}
    )
    assert asked(large, "a & ~a", composition=True)["composition"] is None
    assert "composition" not in asked(CORRIDOR, "top") and "others" not in asked(CORRIDOR, "top")


@settings(max_examples=60, deadline=None)
@given(questions(), st.sampled_from([0.0, 0.25]))
def test_figures_of_other_methods_are_those_of_their_policies(question, slip):
    world, expression = question
    world = world | {"slip": slip}
    answer = asked(world, expression, others=True)
    skills = plan(WorldDocument.model_validate(world, strict=False))
    space, tasks, tables = skills.space, skills.tasks, Slippery(world)
    baselines = {"max": MaxOfTasks(), "average": AverageOfTasks()}
    if answer["others"] is None:
        assert any("No other method applies" in note for note in answer["notes"])
        for method in baselines.values():
            with pytest.raises(NotExpressible):
                method.solve(space, tasks).values(expression)
        return
    agent = skills[expression]
    optimum = ta.optimal_v(agent.task)[: tables.n]
    starts = np.isfinite(optimum)
    assert [one["id"] for one in answer["others"]] == ["extended", "max", "average"]
    for one in answer["others"]:
        chosen = np.array([a or 0 for a in np.array(one["actions"])[tables.places]], int)
        returns, reached = tables.earns(chosen, agent.task.desired)
        assert abs(one["desired_reached"] - reached[starts].mean()) < 1e-9
        assert abs(one["failures"] - (reached[starts] < 1 - 1e-9).mean()) < 1e-9
        if np.isinf(returns[starts]).any():
            assert one["mean_return"] is None and one["mean_loss"] is None
        else:
            assert abs(one["mean_return"] - returns[starts].mean()) < 1e-8
            assert abs(one["mean_loss"] - (optimum[starts] - returns[starts]).mean()) < 1e-7
        try:
            q = baselines[one["id"]].solve(space, tasks).values(expression).max(axis=1)
        except (KeyError, NotExpressible):  # ours; and min, which the baseline does not define
            continue
        shown = np.array(one["values"], float)[tables.places]
        assert np.abs(shown - q[: tables.n].max(axis=1))[starts].max() < 1e-9
        wanted = baselines[one["id"]].solve(space, tasks).actions(expression)[: tables.n]
        assert np.array_equal(chosen[starts], wanted[starts])


def test_the_minimum_of_plain_values_does_not_know_where_it_leads():
    found = {one["id"]: one for one in asked(CORRIDOR, "top & left", others=True)["others"]}
    assert found["extended"]["failures"] == 0 and found["extended"]["mean_loss"] == 0
    assert found["average"]["failures"] > 0
    tables = Slippery(CORRIDOR)
    one_of = {
        name: tables.values(np.where([g in wanted for g in "ABCD"], 2.0, -0.1))
        for name, wanted in {"top": "AB", "left": "AC"}.items()
    }
    q = np.minimum(one_of["top"], one_of["left"])
    shown = np.array(found["max"]["values"], float)[tables.places]
    assert np.abs(shown - q.max(axis=1)).max() < 1e-9


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("top ^ left", "this task needs ~top, as a ^ b is a & ~b | ~a & b."),
        ("top & (top ^ left)", "this task needs ~left, as a ^ b is a & ~b | ~a & b."),
        ("top & ~left", "this task needs ~left."),
        ("top & ~'not this'", "this task needs ~'not this'."),
    ],
)
def test_the_negation_that_plain_values_lack_is_named(expression, why):
    tasks = [*CORRIDOR["tasks"], {"name": "not this", "goals": ["A"]}]
    answer = asked(CORRIDOR | {"tasks": tasks}, expression, others=True)
    assert answer["others"] is None
    because = "No other method applies: plain values have no negation, and "
    assert answer["notes"][-1] == because + why


def test_others_are_not_compared_where_bad_policies_may_wander_for_ever():
    rows = ["." * 50] * 50
    goals = {"A": (0, 0), "B": (49, 49)}
    world = drawn(*rows, goals=goals, tasks={"a": "A", "b": "B"}, slip=0.1)
    answer = asked(world, "a & b", others=True)
    assert answer["others"] is None and "2,000 states" in answer["notes"][-1]


def test_long_formulas_of_six_names_are_compared_soon():
    names = [f"t{k}" for k in range(6)]
    goals = {f"g{i}": (i // 8, i % 8) for i in range(64)}
    tasks = {name: [f"g{i}" for i in range(64) if i >> k & 1] for k, name in enumerate(names)}
    world = drawn(*["." * 8] * 8, goals=goals, tasks=tasks)
    text = " | ".join(f"{a} & {b}" for a in names for b in names if a < b)
    answer = asked(world, text, others=True)
    assert answer["others"][0]["failures"] == 0 and answer["milliseconds"] < 5_000
