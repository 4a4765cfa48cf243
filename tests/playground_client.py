"""A client for tests of the playground: real requests to the application, without a network."""

from __future__ import annotations

import asyncio
import json

import httpx
import numpy as np
from hypothesis import strategies as st

import temporal_oracle
from taskalgebra.apps.playground.app import create_app
from taskalgebra.apps.playground.schema import SolveRequest
from taskalgebra.apps.playground.solving import solve
from taskalgebra.logic.formulas import from_truth_table, parse

LOCAL = "http://127.0.0.1:8765"


class Client:
    """Asks one application, as a browser on this machine would."""

    def __init__(self):
        self.app = create_app()

    def request(self, method, path, **options):
        async def ask():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=LOCAL) as client:
                return await client.request(method, path, **options)

        return asyncio.run(ask())

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, document, **options):
        return self.request("POST", path, json=document, **options)

    def solve(self, world, expression, *, slices=False):
        """The answer to a solve request, which must succeed."""
        asked = {"world": world, "expression": expression, "slices": slices}
        response = self.post("/api/solve", asked)
        assert response.status_code == 200, response.text
        return response.json()

    def refusal(self, path, document):
        """Status and error of a request that must be refused."""
        response = self.post(path, document)
        assert 400 <= response.status_code < 500, response.text
        return response.status_code, response.json()["error"]


def drawn(*rows, goals, tasks=(), **rewards):
    """A world document: goals and tasks as {name: cell} and {name: goals}."""
    return {
        "map": list(rows),
        "goals": [{"name": name, "cell": list(cell)} for name, cell in goals.items()],
        "tasks": [{"name": name, "goals": list(wanted)} for name, wanted in dict(tasks).items()],
        **rewards,
    }


CORRIDOR = drawn(
    "#######",
    "#.....#",
    "###.###",
    "#.....#",
    "#######",
    goals={"A": (1, 1), "B": (1, 5), "C": (3, 1), "D": (3, 5)},
    tasks={"top": "AB", "left": "AC"},
)


@st.composite
def worlds(draw):
    """A small world of any shape, islands included; goals are taken by staying or by touch."""
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    cells = draw(st.lists(st.sampled_from("..#"), min_size=height * width, max_size=height * width))
    rows = ["".join(cells[r * width : (r + 1) * width]) for r in range(height)]
    free = [(r, c) for r in range(height) for c in range(width) if rows[r][c] == "."]
    if not free:
        rows[0], free = "." + rows[0][1:], [(0, 0)]
    chosen = draw(st.lists(st.sampled_from(free), min_size=1, max_size=4, unique=True))
    names = [f"g{i}" for i in range(len(chosen))]
    wanted = st.lists(st.sampled_from(names), unique=True)
    tasks = {f"t{k}": draw(wanted) for k in range(draw(st.integers(0, 3)))}
    step = draw(st.sampled_from([-0.1, -1.0, -0.125]))
    world = drawn(*rows, goals=dict(zip(names, chosen, strict=True)), tasks=tasks)
    world |= {"step_reward": step, "r_universal": draw(st.sampled_from([2.0, 0.5, 10.0]))}
    if draw(st.booleans()):
        world["r_empty"] = draw(st.sampled_from([-0.5, 0.25, -3.0]))
    return world | ({"touch": True} if draw(st.booleans()) else {})


@st.composite
def questions(draw):
    """A small world, and a formula over its tasks."""
    world = draw(worlds())
    tasks = [task["name"] for task in world["tasks"]]
    table = draw(st.integers(0, 2**2 ** len(tasks) - 1))
    formula = from_truth_table(table, tasks)
    return world, str(formula if draw(st.booleans()) else ~(formula ^ formula & formula))


@st.composite
def missions(draw):
    """A small world, and a formula over time over its tasks and goals."""
    world = draw(worlds())
    names = [one["name"] for one in (*world["goals"], *world["tasks"])]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = temporal_oracle.random_mission if draw(st.booleans()) else temporal_oracle.random_formula
    text = made(rng, names, draw(st.integers(1, 3)))
    return world, text if parse(text).temporal else f"F ({text})"


def solved(cache, asked):
    """The answer to a request, without a server."""
    return json.loads(solve(SolveRequest.model_validate_json(json.dumps(asked)), cache))
