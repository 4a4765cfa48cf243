"""The server against its own description: fuzzed by schemathesis, no failure, every answer true."""

from __future__ import annotations

import copy
import json
import os
from functools import cache

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemathesis.checks import CHECKS, load_all_checks

from playground_client import CORRIDOR, Client

N_EXAMPLES = int(os.environ.get("PLAYGROUND_EXAMPLES", "60"))
"""Requests per route; the environment variable asks for a longer run."""

LOCAL = "http://127.0.0.1"
CLIENT = Client()
SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", CLIENT.app, headers={"Host": "127.0.0.1"})

load_all_checks()
CHOSEN = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "response_headers_conformance",
        "negative_data_rejection",
        "unsupported_method",
    ]
)


@SCHEMA.parametrize()
@settings(
    max_examples=N_EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
def test_requests_are_answered_as_described(case):
    case.call_and_validate(base_url=LOCAL, checks=CHOSEN)


def places(document, path=()):
    """Every place in a JSON document, as a path."""
    yield path
    keys = range(len(document)) if isinstance(document, list) else document
    if isinstance(document, dict | list):
        for key in keys:
            yield from places(document[key], (*path, key))


def replaced(document, path, value):
    """The document with another value at a place."""
    if not path:
        return value
    copied = copy.copy(document)
    copied[path[0]] = replaced(document[path[0]], path[1:], value)
    return copied


ASKED = {
    "world": CORRIDOR | {"slip": 0.1},
    "expression": "top & ~left",
    "slices": True,
    "composition": True,
    "others": True,
    "improve": True,
}
ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
SIGNS = ["top", "left", "~", "&", "|", "^", "(", ")", "'", "\\", "F ", "G ", " U ", " then ", "A"]
WORDS = st.lists(st.sampled_from(SIGNS)).map("".join)
NAMES = ["A", "D", "E", "top", "~top | true", "F A & G !D", "#######", "#.#.#.#", "#.....#"]
NUMBERS = [1, 2, 3, -1.5, 0.75, 3.0, True, False, None]
LIKELY = st.sampled_from([*NAMES, *NUMBERS, [], ["A"], ["A", "D"], [1, 2], [1, 4], [3, 3]])
WILD = st.recursive(
    ATOMS | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=4 * N_EXAMPLES, deadline=None)
@given(st.lists(st.tuples(st.randoms(), LIKELY | WILD), min_size=1, max_size=2))
def test_a_good_request_changed_anywhere_is_answered_as_described(changes):
    """Random documents are mostly refused at the first field; these get further."""
    asked = ASKED
    for random, value in changes:
        asked = replaced(asked, random.choice(list(places(asked))), value)
    body = json.dumps(asked).encode("utf-8", "surrogatepass")
    response = CLIENT.request(
        "POST", "/api/solve", content=body, headers={"Content-Type": "application/json"}
    )
    if response.status_code == 200:
        described("/api/solve").validate(response.json())
    else:
        assert 400 <= response.status_code < 500
        error = response.json()["error"]
        assert error["message"] and set(error) <= {"message", "field", "start", "end"}


@cache
def described(path, method="post"):
    """The schema of a successful answer, with what it refers to."""
    document = CLIENT.app.openapi()
    answer = document["paths"][path][method]["responses"]["200"]["content"]["application/json"]
    return Draft202012Validator(answer["schema"] | {"components": document["components"]})


@pytest.mark.parametrize("expression", ["top ^ left", "A then D & avoid B", "X A", "F A"])
@pytest.mark.parametrize("slices", [False, True])
def test_a_solution_is_as_described(slices, expression):
    described("/api/solve").validate(CLIENT.solve(CORRIDOR, expression, slices=slices))


def test_both_kinds_of_answers_are_described_and_nothing_else_passes():
    boolean, formula = CLIENT.solve(CORRIDOR, "top"), CLIENT.solve(CORRIDOR, "F top")
    for answer in (boolean | {"more": 1}, formula | {"values": []}, boolean | formula):
        assert not described("/api/solve").is_valid(answer)


def test_presets_are_as_described():
    described("/api/presets", "get").validate(CLIENT.get("/api/presets").json())


def test_every_route_describes_its_refusals():
    for routes in CLIENT.app.openapi()["paths"].values():
        for route in routes.values():
            schema = route["responses"]["4XX"]["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/ErrorAnswer"}


def test_the_description_holds_the_limits():
    schemas = CLIENT.app.openapi()["components"]["schemas"]
    world = schemas["WorldDocument"]["properties"]
    assert world["map"]["maxItems"] == 128 and world["goals"]["maxItems"] == 64
    assert world["tasks"]["maxItems"] == 6
    assert schemas["SolveRequest"]["properties"]["expression"]["maxLength"] == 10_000
    assert schemas["SolveRequest"]["additionalProperties"] is False
