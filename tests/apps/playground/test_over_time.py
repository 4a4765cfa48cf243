"""Formulas over time: the answer, against the definition of traces and a search on the map."""

from __future__ import annotations

import asyncio
import math
import time

import httpx
import numpy as np
import pytest
from hypothesis import given, settings

import taskalgebra as ta
from logic.traces import holds
from playground_client import CORRIDOR, Client, drawn, missions, solved
from taskalgebra.apps.playground.answers import FormulaAnswer
from taskalgebra.apps.playground.reading import read_task
from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.apps.playground.schema import MAX_PAIRS
from taskalgebra.apps.playground.solving import SkillsCache
from taskalgebra.logic.formulas import parse

MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1), (0, 0))
STAY = 4


class Map:
    """A world document as people read it: cells, moves, and what is entered."""

    def __init__(self, world):
        self.rows = world["map"]
        self.width = len(self.rows[0])
        self.touch = world.get("touch", False)
        self.goals = {tuple(goal["cell"]): i for i, goal in enumerate(world["goals"])}
        labels = [
            {goal["name"], *(t["name"] for t in world["tasks"] if goal["name"] in t["goals"])}
            for goal in world["goals"]
        ]
        # A base task comes before a goal of the same name.
        tasks = {task["name"] for task in world["tasks"]}
        for goal, label in zip(world["goals"], labels, strict=True):
            name = goal["name"]
            if name in tasks and not any(
                name == t["name"] and name in t["goals"] for t in world["tasks"]
            ):
                label.discard(name)
        self.labels = labels
        self.free = [
            (r, c) for r, row in enumerate(self.rows) for c, one in enumerate(row) if one == "."
        ]

    def place(self, cell):
        return cell[0] * self.width + cell[1]

    def step(self, cell, action):
        """The next cell, and the number of the goal that is entered, or None."""
        r, c = cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]
        inside = 0 <= r < len(self.rows) and 0 <= c < self.width
        to = (r, c) if inside and self.rows[r][c] == "." else cell
        return to, self.goals.get(to) if self.touch or action == STAY else None


def fewest_steps(world, answer):
    """Steps from every cell and state to acceptance, by relaxing all pairs; ∞ for no way."""
    board = Map(world)
    ends = answer["automaton"]["states"]
    states = {one["state"]: one for one in answer["states"]}
    left = {(cell, u): math.inf for cell in board.free for u in states}
    changed = True
    while changed:
        changed = False
        for cell, u in left:
            for action in range(4 if board.touch else 5):
                to, goal = board.step(cell, action)
                one = states[u]
                v = one["after_none"] if goal is None else one["after_goal"][goal]
                if ends[v]["accepting"]:
                    found = 1
                else:
                    found = math.inf if ends[v]["dead"] else 1 + left[to, v]
                if found < left[cell, u]:
                    left[cell, u] = found
                    changed = True
    return left


def played(world, answer, start):
    """The labels that were read on the way from a cell, and the return."""
    board = Map(world)
    states = {one["state"]: one for one in answer["states"]}
    u, cell, trace, total = answer["automaton"]["start"], start, [], 0.0
    for _ in range(len(states) * len(board.free) + 1):
        cell, goal = board.step(cell, states[u]["actions"][board.place(cell)])
        trace.append(frozenset() if goal is None else frozenset(board.labels[goal]))
        u = states[u]["after_none"] if goal is None else states[u]["after_goal"][goal]
        total += answer["rewards"]["step"]
        if answer["automaton"]["states"][u]["accepting"]:
            return trace, total + answer["rewards"]["success"]
        assert not answer["automaton"]["states"][u]["dead"]
    raise AssertionError(f"the agent does not satisfy the formula from {start}")


def check(world, expression, answer):
    """Hold an answer to the definition of the formula, and to the fewest steps."""
    FormulaAnswer.model_validate(answer)
    board, start = Map(world), answer["automaton"]["start"]
    left = fewest_steps(world, answer)
    step, success = answer["rewards"]["step"], answer["rewards"]["success"]
    assert (step, success) == (world.get("step_reward", -0.1), world.get("r_universal", 2.0))
    for one in answer["states"]:
        for cell in board.free:
            value = one["values"][board.place(cell)]
            best = success + step * left[cell, one["state"]]
            assert (value is None) == math.isinf(best)
            assert value is None or abs(value - best) < 1e-9
            assert (one["actions"][board.place(cell)] is None) == (value is None)
        walls = [i for i, symbol in enumerate("".join(board.rows)) if symbol == "#"]
        assert all(one[part][i] is None for i in walls for part in ("values", "actions"))
    first = next(one for one in answer["states"] if one["state"] == start)
    assert first["values"] == answer["optimum"]
    formula = parse(expression)
    for cell in board.free:
        at = board.place(cell)
        reason = answer["impossible"]["cells"][at]
        assert (reason is None) == (answer["optimum"][at] is not None)
        assert reason is None or answer["impossible"]["reasons"][reason].startswith("from ")
        if reason is None:
            trace, total = played(world, answer, cell)
            assert abs(total - answer["optimum"][at]) < 1e-9
            # It ends at the first step after which the trace satisfies the formula.
            assert [holds(formula, trace[: i + 1]) for i in range(len(trace))] == [False] * (
                len(trace) - 1
            ) + [True]
    known = [v for one in answer["states"] for v in one["values"] if v is not None]
    assert answer["range"] == ([min(known), max(known)] if known else None)


MISSIONS = [
    "A then D & avoid B",
    "F(A & F D) & G !B",
    "F A & F B & F C & F D",
    "!D until (top & X F left)",
    "top then left then D",
    "X A",
    "F(A & X A)",
    "G !A",
    "eventually D & avoid left",
]


@pytest.mark.parametrize("touch", [False, True])
@pytest.mark.parametrize("expression", MISSIONS)
def test_formulas_are_satisfied_in_the_fewest_steps(client, expression, touch):
    world = CORRIDOR | {"touch": touch}
    answer = client.solve(world, expression)
    check(world, expression, answer)
    assert answer["optimal"]


@settings(max_examples=80)
@given(missions())
def test_random_formulas_in_random_worlds(mission):
    world, expression = mission
    try:
        answer = solved(SkillsCache(), {"world": world, "expression": expression})
    except RefusedError as refused:
        assert "can never be satisfied" in refused.message and refused.field == "expression"
        return
    check(world, expression, answer)


def test_goals_lead_on_violate_or_do_neither(client):
    answer = client.solve(CORRIDOR, "A then D & avoid B")
    first, second = answer["states"]
    assert first["goals"] == ["leads on", "violates", "neither", "neither"]
    assert second["goals"] == ["neither", "violates", "neither", "leads on"]
    ends = answer["automaton"]["states"]
    assert ends[first["after_goal"][1]] == {"accepting": False, "dead": True}
    assert ends[second["after_goal"][3]] == {"accepting": True, "dead": False}
    assert first["after_none"] == first["after_goal"][2] == first["state"]
    assert answer["certificate"] == "composed from the returns to goals"
    assert answer["notes"] == [] and answer["impossible"]["reasons"] == []


def test_the_drawing_has_every_state(client):
    answer = client.solve(CORRIDOR, "A then D & avoid B")
    for state in range(4):
        assert f'data-state="{state}"' in answer["automaton"]["svg"]


def test_the_preset_is_the_office(client, presets):
    preset, office = presets["office"], ta.Office()
    answer = client.solve(preset["world"], preset["expression"])
    agent = ta.solve(office)[preset["expression"]]
    rows = preset["world"]["map"]
    cells = office.mdp.cells[: sum(row.count(".") for row in rows)]
    places = cells[:, 0] * len(rows[0]) + cells[:, 1]
    values = agent.plan.product.values[agent.automaton.start][: len(cells)]
    shown = np.array(answer["optimum"], float)
    assert np.abs(shown[places] - values).max() < 1e-9
    assert np.isnan(np.delete(shown, places)).all()
    assert [goal["name"] for goal in preset["world"]["goals"]] == list(office.space.goal_names)
    check(preset["world"], preset["expression"], answer)
    for expression in preset["examples"]:
        assert client.solve(preset["world"], expression)["expression"] == expression


def test_cells_without_a_way_have_the_reason(client):
    row = drawn("A.B.C".translate(str.maketrans("ABC", "...")), goals={}, tasks={})
    row["goals"] = [{"name": n, "cell": [0, c]} for n, c in (("A", 0), ("B", 2), ("C", 4))]
    world = row | {"touch": True}
    answer = client.solve(world, "F C & G !B")
    check(world, "F C & G !B", answer)
    reasons = answer["impossible"]["reasons"]
    assert [n is None for n in answer["impossible"]["cells"]] == [False, False, True, True, True]
    assert reasons[answer["impossible"]["cells"][1]] == (
        "from here there is no way to C without entering B"
    )
    assert answer["notes"] == ["the formula cannot be satisfied from 2 of 5 cells."]


def test_a_formula_that_nobody_can_satisfy_here_is_answered_with_the_reason(client):
    world = drawn(".#.", goals={"A": (0, 0), "B": (0, 2)})
    answer = client.solve(world, "F A & F B")
    check(world, "F A & F B", answer)
    assert answer["range"] is not None  # with one of them done, the other can be reached
    assert answer["notes"] == ["the formula cannot be satisfied from any cell."]
    assert set(answer["impossible"]["reasons"]) == {
        "from goal 'A', reached from here there is no way to B",
        "from goal 'B', reached from here there is no way to A",
    }


@pytest.mark.parametrize(
    ("expression", "span", "words"),
    [
        ("F A & G !A", None, "this formula can never be satisfied: it contradicts itself"),
        ("F (A & B)", None, "asks for a goal that is A & B, and this world has none"),
        ("F (A", (2, 3), "this '(' is never closed"),
        ("A then", (6, 6), "expected a task name after 'then'"),
        ("A then E", (7, 8), "unknown task 'E'; known: left, top, A, B, C, D"),
        ("F lfet", (2, 6), "Did you mean 'left'?"),
        ("A", (0, 1), "unknown task 'A'; known: left, top. This is a goal: write F A."),
        ("top & B", (6, 7), "This is a goal: write F B."),
        ("top & lfet &", (6, 10), "unknown task 'lfet'; known: left, top. Did you mean 'left'?"),
        ("lfet", (0, 4), "unknown task 'lfet'; known: left, top. Did you mean 'left'?"),
        ("F A & F B & F C & F D & " + "X " * 120 + "A", None, "and the playground shows up to 100"),
    ],
)
def test_formulas_are_refused_in_words(client, expression, span, words):
    status, error = client.refusal("/api/solve", {"world": CORRIDOR, "expression": expression})
    assert status == 422 and error["field"] == "expression"
    assert words in error["message"] and "\n" not in error["message"]
    assert (error.get("start"), error.get("end")) == (span or (None, None))


@pytest.mark.parametrize("text", ["top_left", "top & top_left", "top_left & tpo"])
def test_a_goal_that_is_spelt_like_a_task_has_one_piece_of_advice(text):
    with pytest.raises(RefusedError) as refused:
        read_task(text, ["top", "left"], ["top_left", "top_right"])
    advice = "unknown task 'top_left'; known: left, top. This is a goal: write F top_left."
    assert refused.value.message == advice
    assert refused.value.span == (text.index("top_left"), text.index("top_left") + 8)


LARGE = drawn(
    *["." * 128] * 128,
    goals={f"g{i}": (2 * (i // 8), i % 8) for i in range(64)},
    tasks={f"t{k}": [f"g{i}" for i in range(64) if i >> k & 1] for k in range(6)},
)
SMALL = LARGE | {"map": ["." * 16] * 16}
HOSTILE = {
    "many at once": " & ".join(f"F g{i}" for i in range(30)),
    "a chain": " then ".join(f"g{i % 64}" for i in range(1000)),
    "next": "X " * 4990 + "g0",
    "counting": "F(t0 & " + "X " * 12 + "t1)",
    "any pair": "F(" + " | ".join(f"g{i} & X F g{(i + 1) % 64}" for i in range(64)) + ")",
    "answers": " & ".join(f"G(g{i} -> F g{(7 * i + 3) % 64})" for i in range(64)),
    "never": " & ".join(f"F g{i} & G !g{i}" for i in range(300)).replace("g", "t0 & g", 1),
    "deep": "F(" * 3000 + "t0" + ")" * 3000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_formulas_cost_little(client, name):
    start = time.process_time()
    response = client.post("/api/solve", {"world": SMALL, "expression": HOSTILE[name]})
    assert time.process_time() - start < 15
    if response.status_code == 200:
        FormulaAnswer.model_validate(response.json())
    else:
        assert response.status_code == 422
        message = response.json()["error"]["message"]
        assert len(message) < 400 and "letters=" not in message


def test_a_large_world_has_room_for_few_states(client):
    asked = {"world": LARGE, "expression": " then ".join(f"g{i}" for i in range(9))}
    status, error = client.refusal("/api/solve", asked)
    assert status == 422
    assert f"16,384 cells times 9 states of the automaton exceed {MAX_PAIRS:,}" in error["message"]
    start = time.process_time()
    answer = client.solve(LARGE, " then ".join(f"g{i}" for i in range(8)))
    assert time.process_time() - start < 15
    assert len(answer["states"]) == 8


def test_other_requests_are_answered_while_a_formula_takes_long():
    async def both():
        transport = httpx.ASGITransport(Client().app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8765", timeout=120
        ) as client:
            ended = []

            async def ask(name, world, expression):
                asked = {"world": world, "expression": expression}
                await client.post("/api/solve", json=asked)
                ended.append(name)

            slow = asyncio.create_task(ask("formula", SMALL, HOSTILE["answers"]))
            await asyncio.sleep(0.3)
            await ask("top", CORRIDOR, "top")
            await slow
            return ended

    assert asyncio.run(both()) == ["top", "formula"]


def test_boxman_plays_boolean_tasks(client, presets):
    if not presets["boxman"]["available"]:
        pytest.skip("torch is not installed")
    asked = {"skills": "boxman", "expression": "F blue", "seed": 0}
    status, error = client.refusal("/api/boxman/play", asked)
    assert status == 422 and error["field"] == "expression"
    assert "formulas over time are for worlds on a map" in error["message"]
