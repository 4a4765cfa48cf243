"""The composed answer, against value iteration and against walking the map."""

from __future__ import annotations

import json
import time
from collections import deque

import numpy as np
import pytest
from hypothesis import given

from oracles import extended_q_of_task, plain_q_of_task
from playground_client import CORRIDOR, drawn, questions, solved
from taskalgebra.apps.playground.answers import SolveAnswer
from taskalgebra.apps.playground.schema import WorldDocument
from taskalgebra.apps.playground.solving import SkillsCache
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.formulas import all_functions, parse
from taskalgebra.theory.rewards import r_bar_min_of

MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
SIXTEEN = [str(function) for function in all_functions(["top", "left"])]


def ways_to(world, goal):
    """Moves from each cell to a goal, by breadth-first search on the characters of the map."""
    rows, start = world["map"], tuple(goal["cell"])
    moves, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for down, right in MOVES:
            there = r, c = here[0] + down, here[1] + right
            inside = 0 <= r < len(rows) and 0 <= c < len(rows[0])
            if inside and rows[r][c] == "." and there not in moves:
                moves[there] = moves[here] + 1
                queue.append(there)
    return moves


def steps_to(world, goal):
    """Steps from each cell into a goal; by touch, no way leads over another goal."""
    if not world.get("touch"):
        return {cell: moves + 1 for cell, moves in ways_to(world, goal).items()}
    rows, end = world["map"], tuple(goal["cell"])
    others = {tuple(one["cell"]) for one in world["goals"]} - {end}

    def after(cell, down, right):
        r, c = cell[0] + down, cell[1] + right
        inside = 0 <= r < len(rows) and 0 <= c < len(rows[0])
        return (r, c) if inside and rows[r][c] == "." else cell

    free = [(r, c) for r, row in enumerate(rows) for c in range(len(row)) if row[c] == "."]
    steps = {}
    for _ in free:
        for cell in free:
            ends = [after(cell, *move) for move in MOVES]
            found = [
                1 if to == end else steps.get(to, np.inf) + 1 for to in ends if to not in others
            ]
            if min(found, default=np.inf) < steps.get(cell, np.inf):
                steps[cell] = min(found)
    return steps


def expected(world, expression):
    """V* of every cell, or None, and the desired goals, from the document alone."""
    formula = parse(expression)
    step, high = world.get("step_reward", -0.1), world.get("r_universal", 2.0)
    low = step if world.get("r_empty") is None else world["r_empty"]
    best, desired = {}, []
    for goal in world["goals"]:
        label = {task["name"]: goal["name"] in task["goals"] for task in world["tasks"]}
        pays = formula.evaluate(
            {name: int(one) for name, one in label.items()}, universal=-1, empty=0
        )
        if pays & 1:
            desired.append(goal["name"])
        for cell, steps in steps_to(world, goal).items():
            paid = (high if pays & 1 else low) + step * steps
            best[cell] = max(best.get(cell, -np.inf), paid)
    width = len(world["map"][0])
    cells = [(i // width, i % width) for i in range(len(world["map"]) * width)]
    return [best.get(cell) for cell in cells], desired


def walked(world, answer, start):
    """The return of following the arrows from a cell until the agent stays on a goal."""
    width = len(world["map"][0])
    at = {tuple(goal["cell"]): goal["name"] for goal in world["goals"]}
    rewards = answer["rewards"]
    here, total = start, 0.0
    for _ in range(len(answer["actions"]) + 2):
        action = answer["actions"][here[0] * width + here[1]]
        total += rewards["step"]
        if action == 4:
            assert here in at, f"the agent stays at {here}, where no goal is"
        else:
            r, c = here[0] + MOVES[action][0], here[1] + MOVES[action][1]
            inside = 0 <= r < len(world["map"]) and 0 <= c < width
            here = (r, c) if inside and world["map"][r][c] == "." else here
        if action == 4 or (world.get("touch") and here in at):
            return total + rewards["desired" if at[here] in answer["desired"] else "other"]
    raise AssertionError(f"following the arrows from {start} never ends")


def check(world, expression, answer):
    """Hold an answer to the definition of the task."""
    values, desired = expected(world, expression)
    assert answer["desired"] == desired
    for shown in ("values", "optimum"):
        assert [v is None for v in answer[shown]] == [v is None for v in values]
        differences = [a - b for a, b in zip(answer[shown], values, strict=True) if a is not None]
        assert np.abs(differences).max() < 1e-9
    assert [a is None for a in answer["actions"]] == [v is None for v in values]
    width = len(world["map"][0])
    for i, value in enumerate(values):
        if value is not None:
            assert abs(walked(world, answer, (i // width, i % width)) - value) < 1e-9
    known = [v for v in answer["values"] if v is not None]
    assert answer["range"] == [min(known), max(known)]


@pytest.mark.parametrize("expression", SIXTEEN)
def test_all_tasks_of_four_rooms_are_optimal(client, presets, expression):
    document = presets["four-rooms"]["world"]
    answer = client.solve(document, expression, slices=True)
    check(document, expression, answer)
    world = FourRooms()
    task = world.find_task(expression)
    width, cells = 13, world.mdp.cells[:104]
    places = cells[:, 0] * width + cells[:, 1]
    q = plain_q_of_task(task)[:104]
    assert np.abs(np.array(answer["values"], float)[places] - q.max(axis=1)).max() < 1e-9
    q_bar = extended_q_of_task(task, r_bar_min_of(world.space))[:104]
    assert [one["goal"] for one in answer["slices"]] == list(world.space.goal_names)
    for g, one in enumerate(answer["slices"]):
        shown = np.array(one["values"], float)
        assert np.abs(shown[places] - q_bar[:, g].max(axis=1)).max() < 1e-9
        assert np.isnan(np.delete(shown, places)).all()


@given(questions())
def test_random_worlds_are_solved_as_their_documents_say(question):
    world, expression = question
    answer = solved(SkillsCache(), {"world": world, "expression": expression, "slices": True})
    SolveAnswer.model_validate(answer)
    check(world, expression, answer)
    for goal, one in zip(world["goals"], answer["slices"], strict=True):
        width, ways = len(world["map"][0]), steps_to(world, goal)
        reached = [(i // width, i % width) in ways for i in range(len(one["values"]))]
        assert [value is not None for value in one["values"]] == reached


def test_cells_without_a_way_to_a_goal_have_no_value(client):
    world = drawn("..#.", goals={"A": (0, 0)}, tasks={"a": "A"})
    answer = client.solve(world, "a", slices=True)
    assert answer["values"] == [1.9, 1.8, None, None]
    assert answer["actions"] == [4, 3, None, None]
    assert answer["slices"] == [{"goal": "A", "values": [1.9, 1.8, None, None]}]


def test_a_goal_behind_a_wall_has_no_slice_there(client):
    world = drawn(".#.", goals={"A": (0, 0), "B": (0, 2)}, tasks={"a": "A"})
    slices = client.solve(world, "~a", slices=True)["slices"]
    assert slices[0]["values"] == [-0.2, None, None]
    assert slices[1]["values"] == [None, None, 1.9]


def test_the_truth_table_names_the_goals_of_every_row(client):
    answer = client.solve(CORRIDOR, "top & ~left")
    assert answer["truth_table"] == {
        "tasks": ["top", "left"],
        "rows": [
            {"in": [False, False], "out": False, "goals": ["D"]},
            {"in": [False, True], "out": False, "goals": ["C"]},
            {"in": [True, False], "out": True, "goals": ["B"]},
            {"in": [True, True], "out": False, "goals": ["A"]},
        ],
    }
    assert answer["n_tasks"] == {"expressible": 16, "labels": 4, "bound": "2^(2^2) = 16"}


def test_a_world_without_tasks_has_the_two_constants(client):
    world = drawn("...", goals={"A": (0, 0)})
    answer = client.solve(world, "true")
    assert answer["desired"] == ["A"] and client.solve(world, "false")["desired"] == []
    assert answer["n_tasks"] == {"expressible": 2, "labels": 1, "bound": "2^(2^0) = 2"}
    assert answer["truth_table"]["rows"] == [{"in": [], "out": True, "goals": ["A"]}]


def test_sixty_four_labels_count_exactly(client):
    names = [f"g{i}" for i in range(64)]
    world = drawn(
        "." * 64,
        goals={name: (0, i) for i, name in enumerate(names)},
        tasks={f"t{k}": [n for i, n in enumerate(names) if i >> k & 1] for k in range(6)},
    )
    answer = client.solve(world, "t0 ^ t1 ^ t2 ^ t3 ^ t4 ^ t5")
    assert answer["n_tasks"]["expressible"] == 2**64
    assert len(answer["desired"]) == 32


@pytest.mark.parametrize("seed", range(4))
def test_formulas_of_six_names_are_simplified_soon(client, presets, seed):
    world = presets["forty-goals"]["world"]
    names = [task["name"] for task in world["tasks"]]
    table = int.from_bytes(np.random.default_rng(seed).bytes(8), "little")
    cubes = [
        " & ".join(n if row >> j & 1 else f"~{n}" for j, n in enumerate(names))
        for row in range(64)
        if table >> row & 1
    ]
    text = " | ".join(cubes)
    start = time.process_time()
    answer = client.solve(world, text)
    assert time.process_time() - start < 0.5  # the shortest sum can take seconds
    assert parse(answer["simplified"]).equivalent(parse(text))
    assert len(answer["simplified"]) < len(text) / 2
    check(world, text, answer)


@pytest.mark.parametrize(
    "text", ["~" * 9_000 + "top", "(" * 4_990 + "top" + ")" * 4_990, "top ^ " * 1_600 + "left"]
)
def test_long_and_deep_expressions_are_solved(client, text):
    check(CORRIDOR, text, client.solve(CORRIDOR, text))


def test_a_short_form_is_the_shortest(client):
    answer = client.solve(CORRIDOR, "top & left | top & ~left")
    assert answer["simplified"] == "top"


def test_the_cache_forgets_the_oldest_world_and_solves_it_again():
    cache = SkillsCache(n_bytes=1)
    other = {**CORRIDOR, "step_reward": -0.5}
    answers = [
        solved(cache, {"world": world, "expression": "top"})["values"]
        for world in (CORRIDOR, other, CORRIDOR)
    ]
    assert answers[0] == answers[2] != answers[1]


def test_colours_do_not_make_another_world():
    cache = SkillsCache()
    red = {**CORRIDOR, "goals": [{**goal, "color": "#ff0000"} for goal in CORRIDOR["goals"]]}
    planned = [cache.skills(WorldDocument.model_validate(w, strict=False)) for w in (CORRIDOR, red)]
    assert planned[0] is planned[1]


def test_presets_solve_as_they_are(client, presets):
    for name, expression in (("four-rooms", None), ("forty-goals", None), ("office", "~coffee")):
        preset = presets[name]
        expression = expression or preset["expression"]
        check(preset["world"], expression, client.solve(preset["world"], expression))


def test_the_presets_are_the_worlds_of_the_paper(presets):
    small, large = presets["four-rooms"]["world"], presets["forty-goals"]["world"]
    assert (len(small["goals"]), len(large["goals"])) == (4, 40)
    assert [task["name"] for task in small["tasks"]] == ["top", "left"]
    assert small["tasks"][0]["goals"] == ["top_left", "top_right"]
    assert len(large["tasks"]) == 6


def test_the_limit_of_the_cache_holds_for_worlds_planned_meanwhile_and_for_large_ones(monkeypatch):
    from taskalgebra.apps.playground import solving
    from taskalgebra.apps.playground.schema import WorldDocument

    def document(name):
        world = CORRIDOR | {"tasks": [{"name": name, "goals": []}]}
        return WorldDocument.model_validate_json(json.dumps(world))

    measured = solving.SkillsCache()
    measured.skills(document("any"))
    size = measured._kept.popitem()[1][1]
    cache, plan, inside = solving.SkillsCache(int(1.5 * size)), solving.plan, []

    def interrupted(one):
        if not inside:
            inside.append(one)
            cache.skills(document("meanwhile"))  # as another thread would
        return plan(one)

    monkeypatch.setattr(solving, "plan", interrupted)
    cache.skills(document("first"))
    assert sum(n for _, n in cache._kept.values()) <= 1.5 * size
    tiny = solving.SkillsCache(size - 1)
    tiny.skills(document("first"))
    assert not tiny._kept
