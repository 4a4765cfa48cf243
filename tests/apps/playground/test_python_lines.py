"""The Python lines of an answer run as they are and do the same."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
from hypothesis import given, settings

from playground_client import CORRIDOR, drawn, missions, questions, solved
from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.apps.playground.solving import SkillsCache


def run(lines):
    """Run lines as a program of their own."""
    names = {}
    exec(compile(lines, "lines", "exec"), names)
    return names


def on_map(world, values, shown):
    """Values of states as a list over the map; null in walls and where `shown` is false."""
    states = iter(zip(values.tolist(), shown, strict=True))
    cells = [cell for row in world["map"] for cell in row]
    pairs = [next(states) if cell == "." else (None, False) for cell in cells]
    return [value if one else None for value, one in pairs]


def compare(world, answer, names):
    """Hold every number of an answer to what its lines have computed."""
    agent, space = names["agent"], names["space"]
    ends = np.isfinite(names["optimum"])
    assert answer["values"] == on_map(world, agent.v.round(10), ends)
    assert answer["optimum"] == on_map(world, names["optimum"].round(10), ends)
    assert answer["actions"] == on_map(world, agent.actions, ends)
    assert answer["desired"] == [
        name for name, one in zip(space.goal_names, agent.task.desired, strict=True) if one
    ]
    least = min(answer["rewards"].values()) * len(agent.v) - 1e-6  # by the longest way to a goal
    for one, slice_ in zip(answer["slices"], names["slices"].T, strict=True):
        reached = slice_ > least
        assert one["values"] == on_map(world, slice_.round(10), reached)


ODD = drawn(
    "....",
    "....",
    goals={"it's": (0, 0), 'a "b"': (0, 3), "back\\slash": (1, 0), "žluť ∧ {x}": (1, 3)},
    tasks={"the 'first'": ["it's", "back\\slash"], "{second}": ['a "b"', "it's"], "none": []},
    step_reward=-0.25,
    r_universal=1,
    r_empty=-0.5,
)
QUESTIONS = {
    "corridor": (CORRIDOR, "top ^ left"),
    "odd names": (ODD, "'the \\'first\\'' & ~'{second}' | none"),
    "no tasks": (drawn("..#..", goals={"A": (0, 0)}), "true"),
    "an island": (drawn("..#..", goals={"A": (0, 0), "B": (0, 4)}, tasks={"a": "A"}), "~a"),
    "a long formula": (CORRIDOR, "top ^ " * 500 + "left"),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_lines_do_the_same(client, name, capsys):
    world, expression = QUESTIONS[name]
    answer = client.solve(world, expression, slices=True)
    names = run(answer["python"])
    compare(world, answer, names)
    assert str(names["agent"].expression) in capsys.readouterr().out


@pytest.mark.parametrize("name", ["four-rooms", "forty-goals"])
def test_the_lines_of_presets_do_the_same(client, presets, name):
    world, expression = presets[name]["world"], presets[name]["expression"]
    answer = client.solve(world, expression, slices=True)
    compare(world, answer, run(answer["python"]))


@settings(max_examples=40)
@given(questions())
def test_the_lines_of_any_world_do_the_same(question):
    world, expression = question
    answer = solved(SkillsCache(), {"world": world, "expression": expression, "slices": True})
    with redirect_stdout(StringIO()):
        compare(world, answer, run(answer["python"]))


def test_the_lines_have_slices_where_the_answer_has_them(client):
    assert "slices" not in run(client.solve(CORRIDOR, "top")["python"])


def test_a_text_in_a_document_is_never_code(client):
    name = "x'); raise SystemExit('"
    world = drawn("...", goals={name: (0, 0)}, tasks={"t": [name]})
    assert run(client.solve(world, "t")["python"])["space"].goal_names == (name,)


def compare_formula(world, answer, names):
    """Hold the answer for a formula over time to what its lines have computed."""
    agent, automaton = names["agent"], names["automaton"]
    start, n = automaton.start, len(names["optimum"]) - len(world["goals"])
    able = np.isfinite(names["optimum"])[:n]
    assert answer["optimum"] == on_map(world, names["optimum"][:n].round(10), able)
    assert [one["state"] for one in answer["states"]] == list(names["tables"])
    for one in answer["states"]:
        values, actions = (table[:n] for table in names["tables"][one["state"]])
        assert one["values"] == on_map(world, values.round(10), np.isfinite(values))
        assert one["actions"] == on_map(world, actions, np.isfinite(values))
    assert answer["automaton"]["svg"] == automaton.svg()
    assert answer["automaton"]["start"] == start
    assert answer["certificate"] == agent.certificate().method


FORMULAS = {
    "a corridor": (CORRIDOR, "A then D & avoid B"),
    "by touch": (CORRIDOR | {"touch": True}, "top then D"),
    "odd names": (ODD, "F 'it\\'s' & F('the \\'first\\'' & X F '{second}') & G !'back\\\\slash'"),
    "no tasks": (drawn("..#..", goals={"A": (0, 0)}), "F A"),
    "an island": (drawn("..#..", goals={"A": (0, 0), "B": (0, 4)}, tasks={"a": "A"}), "F B"),
    "strict": (CORRIDOR, "X X A"),
    "no value": (drawn(".", goals={"A": (0, 0)}), "X X X X A & X A"),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_lines_of_a_formula_over_time_do_the_same(client, name, capsys):
    world, expression = FORMULAS[name]
    answer = client.solve(world, expression)
    names = run(answer["python"])
    compare_formula(world, answer, names)
    assert str(names["agent"].expression) in capsys.readouterr().out


def test_the_lines_of_the_office_do_the_same(client, presets):
    world = presets["office"]["world"]
    for expression in (presets["office"]["expression"], *presets["office"]["examples"]):
        answer = client.solve(world, expression, slices=True)
        with redirect_stdout(StringIO()):
            names = run(answer["python"])
        (compare_formula if "automaton" in answer else compare)(world, answer, names)


@settings(max_examples=30)
@given(missions())
def test_the_lines_of_any_formula_over_time_do_the_same(mission):
    world, expression = mission
    try:
        answer = solved(SkillsCache(), {"world": world, "expression": expression})
    except RefusedError:
        return
    with redirect_stdout(StringIO()):
        compare_formula(world, answer, run(answer["python"]))
