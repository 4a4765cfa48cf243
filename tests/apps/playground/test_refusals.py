"""Requests that cannot be served: each refused with a sentence and the place of the mistake."""

from __future__ import annotations

import copy
import json

import pytest

from playground_client import CORRIDOR


def changed(**changes):
    """A solve request with some parts of the world replaced."""
    world = copy.deepcopy(CORRIDOR) | changes
    return {"world": world, "expression": "top"}


def goals(*pairs):
    return [{"name": name, "cell": list(cell)} for name, cell in pairs]


BAD_WORLDS = {
    "no map": (changed(map=[]), "world.map", "empty"),
    "an empty row": (changed(map=[""]), "world.map[0]", "expected 1 to 128"),
    "129 rows": (changed(map=["."] * 129), "world.map", "129 entries, expected at most 128"),
    "129 columns": (changed(map=["." * 129]), "world.map[0]", "expected 1 to 128"),
    "ragged rows": (changed(map=["#####", "#..#"]), "world.map[1]", "equally long"),
    "a letter": (changed(map=["A...."]), "world.map[0]", "'#' for a wall"),
    "a newline": (changed(map=["....\n"]), "world.map[0]", "'#' for a wall"),
    "no goals": (changed(goals=[]), "world.goals", "empty"),
    "65 goals": (
        changed(goals=goals(*((f"g{i}", (1, 1)) for i in range(65)))),
        "world.goals",
        "65 entries, expected at most 64",
    ),
    "a goal in a wall": (changed(goals=goals(("A", (0, 0)))), "world.goals[0].cell", "in a wall"),
    "a goal outside": (changed(goals=goals(("A", (9, 1)))), "world.goals[0].cell", "outside"),
    "a goal far outside": (changed(goals=goals(("A", (1, 10**30)))), "world.goals[0].cell[1]", ""),
    "a goal at −1": (changed(goals=goals(("A", (-1, 1)))), "world.goals[0].cell[0]", ""),
    "a goal at 1.5": (changed(goals=goals(("A", (1.5, 1)))), "world.goals[0].cell[0]", ""),
    "one coordinate": (changed(goals=goals(("A", (1,)))), "world.goals[0].cell[1]", "missing"),
    "two goals on a cell": (
        changed(goals=goals(("A", (1, 1)), ("B", (1, 1)))),
        "world.goals[1].cell",
        "both at row 1, column 1",
    ),
    "two goals of one name": (
        changed(goals=goals(("A", (1, 1)), ("A", (1, 2)))),
        "world.goals[1].name",
        "two goals are named 'A'",
    ),
    "a goal without a name": (changed(goals=goals(("", (1, 1)))), "world.goals[0].name", "empty"),
    "a name with a bell": (
        changed(goals=goals(("A\a", (1, 1)))),
        "world.goals[0].name",
        "cannot be printed",
    ),
    "a name of blanks": (changed(goals=goals((" ", (1, 1)))), "world.goals[0].name", "blanks"),
    "a long name": (changed(goals=goals(("A" * 61, (1, 1)))), "world.goals[0].name", "at most 60"),
    "a colour in words": (
        changed(goals=[{"name": "A", "cell": [1, 1], "color": "red"}]),
        "world.goals[0].color",
        "#0072b2",
    ),
    "an unknown goal": (
        changed(tasks=[{"name": "top", "goals": ["A", "X"]}]),
        "world.tasks[0].goals[1]",
        "'X', which is not a goal",
    ),
    "a goal twice": (
        changed(tasks=[{"name": "top", "goals": ["A", "A"]}]),
        "world.tasks[0].goals[1]",
        "twice",
    ),
    "two tasks of one name": (
        changed(tasks=[{"name": "top", "goals": ["A"]}] * 2),
        "world.tasks[1].name",
        "two tasks are named 'top'",
    ),
    "a task with the name of another": (
        changed(tasks=[{"name": "top", "goals": ["A"]}, {"name": "True", "goals": ["A"]}]),
        "world.tasks[1].name",
        "it is the universal task",
    ),
    "seven tasks": (
        changed(tasks=[{"name": f"t{i}", "goals": []} for i in range(7)]),
        "world.tasks",
        "7 entries, expected at most 6",
    ),
    "steps that pay": (changed(step_reward=0.1), "world.step_reward", "expected at most -1e-06"),
    "steps that are free": (changed(step_reward=0), "world.step_reward", "walking forever"),
    "a lone large reward": (changed(r_universal=1001), "world.r_universal", ""),
    "equal rewards": (changed(r_empty=2.0), "world.r_empty", "must pay more"),
    "a low reward": (changed(r_universal=-0.2), "world.r_universal", "must pay more"),
    "a huge reward": (changed(r_universal=1e300), "world.r_universal", ""),
    "a reward in words": (changed(step_reward="-0.1"), "world.step_reward", ""),
    "a true reward": (changed(r_universal=True), "world.r_universal", ""),
    "an unknown field": (changed(gravity=9.81), "world.gravity", "not a known field"),
    "a number for a map": (changed(map=7), "world.map", ""),
    "null for tasks": (changed(tasks=None), "world.tasks", ""),
}


@pytest.mark.parametrize("name", BAD_WORLDS)
def test_a_bad_world_is_refused_at_the_field(client, name):
    request, field, words = BAD_WORLDS[name]
    status, error = client.refusal("/api/solve", request)
    assert status == 422
    assert error["field"] == field
    assert words in error["message"] and "\n" not in error["message"]
    assert len(error["message"]) < 400


@pytest.mark.parametrize(
    ("expression", "start", "end", "words"),
    [
        ("", 0, 0, "empty"),
        ("   ", 3, 3, "empty"),
        ("top &", 5, 5, "found the end"),
        ("top & lfet", 6, 10, "Did you mean 'left'?"),
        ("top & 'lf et'", 6, 13, "unknown task"),
        ("top left", 4, 8, "expected an operator"),
        ("top && left", 4, 6, "write & for and"),
        (r"top & 'l\'eft'", 6, 14, "unknown task"),
        ("(top", 0, 1, "never closed"),
        ("top)", 3, 4, "closes no"),
        ("top & 'left", 6, 11, "never closed"),
        ("(" * 9_000, 9_000, 9_000, "found the end"),
    ],
)
def test_a_mistake_in_an_expression_has_its_characters(client, expression, start, end, words):
    status, error = client.refusal("/api/solve", {"world": CORRIDOR, "expression": expression})
    assert status == 422 and error["field"] == "expression"
    assert (error["start"], error["end"]) == (start, end)
    assert words in error["message"] and "^" not in error["message"]


def test_an_expression_that_is_too_long_is_refused(client):
    asked = {"world": CORRIDOR, "expression": "~" * 10_000 + "top"}
    status, error = client.refusal("/api/solve", asked)
    assert status == 422 and error["field"] == "expression"
    assert "10,003 characters, expected at most 10,000" in error["message"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b"null", 422),
        (b"[]", 422),
        (b'"text"', 422),
        (b"{}", 422),
        (b'{"world": NaN, "expression": "top"}', 422),
        (b'{"world": {}, "expression": "\\ud800"}', 400),
    ],
)
def test_a_body_that_is_not_a_request_is_refused(client, body, status):
    response = client.request(
        "POST", "/api/solve", content=body, headers={"Content-Type": "application/json"}
    )
    assert response.status_code == status
    assert response.json()["error"]["message"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("field", ["step_reward", "r_universal", "r_empty"])
def test_numbers_that_are_not_finite_are_refused(client, field, number):
    body = json.dumps(changed(**{field: 0.25})).replace("0.25", number)
    assert number in body
    response = client.request(
        "POST", "/api/solve", content=body, headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 422, response.text
    assert response.json()["error"]["field"] == f"world.{field}"
