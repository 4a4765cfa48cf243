"""The Python lines of an answer run as they are and do the same."""

from __future__ import annotations

import numpy as np
import pytest

from playground_client import CORRIDOR, drawn


def run(lines):
    """Run lines as a program of their own."""
    names = {}
    exec(compile(lines, "lines", "exec"), names)
    return names


def on_map(agent, answer):
    """V and actions of an agent in the cells that have values."""
    mdp = agent.task.space.mdp
    shown = np.flatnonzero(mdp.ending & ~mdp.is_goal)
    return agent.v[shown], agent.actions[shown]


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
    answer = client.solve(world, expression)
    agent = run(answer["python"])["agent"]
    values, actions = on_map(agent, answer)
    assert np.abs([v for v in answer["values"] if v is not None] - values).max() < 1e-9
    assert [a for a in answer["actions"] if a is not None] == actions.tolist()
    assert str(agent.expression) in capsys.readouterr().out


@pytest.mark.parametrize("name", ["four-rooms", "forty-goals"])
def test_the_lines_of_presets_do_the_same(client, presets, name, capsys):
    preset = presets[name]
    answer = client.solve(preset["world"], preset["expression"])
    values, actions = on_map(run(answer["python"])["agent"], answer)
    assert np.abs([v for v in answer["values"] if v is not None] - values).max() < 1e-9
    assert [a for a in answer["actions"] if a is not None] == actions.tolist()


def test_a_text_in_a_document_is_never_code(client):
    name = "x'); raise SystemExit('"
    world = drawn("...", goals={name: (0, 0)}, tasks={"t": [name]})
    assert run(client.solve(world, "t")["python"])["space"].goal_names == (name,)
