"""Goals that are taken by touch, against a plain simulator on cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.planning.exact import optimal_v, plan
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text
from taskalgebra.worlds.visits import counting

MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}


@st.composite
def maps(draw):
    height, width = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    n = height * width
    symbols = draw(st.lists(st.sampled_from("..#"), min_size=n, max_size=n))
    places = draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=4, unique=True))
    for i in places:
        symbols[i] = "."
    rows = ["".join(symbols[r * width : (r + 1) * width]) for r in range(height)]
    at = [divmod(i, width) for i in places]
    return rows, {"A": at[0], "d": at[1:]}


def moved(rows, cell, action, torus):
    """The cell in which a move ends."""
    r, c = cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]
    if torus:
        r, c = r % len(rows), c % len(rows[0])
    free = 0 <= r < len(rows) and 0 <= c < len(rows[0]) and rows[r][c] != "#"
    return (r, c) if free else cell


def names_of(goals):
    """The names of the cells with goals: those of a list are numbered."""
    lists = {cell: f"d {i}" for i, cell in enumerate(goals["d"], 1)}
    return {goals["A"]: "A"} | lists


@settings(max_examples=80, deadline=None)
@given(maps(), st.booleans(), st.sampled_from([0.0, 0.3]))
def test_every_step_that_ends_on_a_goal_enters_it(drawn, torus, slip):
    rows, goals = drawn
    world = from_text(rows, goals, touch=True, torus=torus, slip_probability=slip)
    named = names_of(goals)
    assert sorted(world.goal_names) == sorted(named.values())
    assert world.action_names == ("up", "right", "down", "left")
    cells = [tuple(cell) for cell in world.cells.tolist()]
    assert world.n_states == sum(row.count(".") for row in rows) + len(named)
    for s in np.flatnonzero(~world.is_goal):
        for a, action in enumerate(world.action_names):
            expected = {}
            for move in MOVES:
                chance = 1 - slip if move == action else slip / 3
                there = moved(rows, cells[s], move, torus)
                place = named.get(there, there)
                expected[place] = expected.get(place, 0.0) + chance
            expected = {place: chance for place, chance in expected.items() if chance}
            got = {}
            for k in range(world.offset[s * 4 + a], world.offset[s * 4 + a + 1]):
                t = int(world.successor[k])
                goal = int(world.goal_of_state[t])
                place = cells[t] if goal < 0 else world.goal_names[goal]
                got[place] = got.get(place, 0.0) + world.probability[k]
            assert got == pytest.approx(expected)


@given(maps())
def test_an_episode_goes_on_where_the_goal_is(drawn):
    rows, goals = drawn
    world = from_text(rows, goals, touch=True)
    for goal, state in zip(world.goals, world.resumes, strict=True):
        assert not world.is_goal[state]
        assert world.cells[state].tolist() == world.cells[goal].tolist()


def test_the_best_return_costs_one_step_per_move():
    world = from_text("A..#.B", touch=True, torus=True, step_reward=-0.5)
    space = TaskSpace(world, r_universal=8.0, r_empty=0.0)
    assert optimal_v(space.task("B"))[:5].tolist() == [7.5, -0.5, -1.0, 7.5, 7.5]


def test_a_bump_on_a_goal_enters_it_again():
    world = from_text("A.", touch=True)
    assert world.next_state[0].tolist() == [2, 1, 2, 2]
    assert world.starts.tolist() == [0, 1]


def test_no_move_leaves_a_trap():
    world = from_text("A.B", touch=True, traps=[(0, 2)])
    twin = int(world.resumes[1])
    assert world.next_state[twin].tolist() == [int(world.goals[1])] * 4
    assert world.next_state[1].tolist() == [1, int(world.goals[1]), 1, int(world.goals[0])]


def test_a_map_without_an_edge_by_stay():
    world = from_text("A.B", torus=True)
    assert world.next_state[0].tolist() == [0, 1, 0, 2, 3]


def test_a_list_of_cells_is_several_goals_by_stay_too():
    world = from_text("....", {"x": [[0, 0], [0, 2]], "y": [0, 3]})
    assert world.goal_names == ("x 1", "x 2", "y")
    assert world.cells[world.goals].tolist() == [[0, 0], [0, 2], [0, 3]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"goals": {"x": [(0, 0), (0, 0)]}}, "'x 1' and 'x 2' are both at"),
        ({"goals": {"x": [(0, 0)], "x 1": (0, 1)}}, "'x 1' is at .0, 0. and is given again"),
        ({"goals": {"x": [(0, 9)]}}, "'x 1' at .0, 9. lies outside"),
        ({"goals": {"x": []}}, r"'x' is at \[\], expected"),
        ({"goals": {"x": (0, 0)}, "traps": [(0, 5)]}, "trap at .0, 5. lies outside"),
        ({"goals": {"x": (0, 0)}, "touch": 1}, "touch"),
        ({"goals": {"x": (0, 0)}, "torus": "yes"}, "torus"),
    ],
)
def test_mistakes_are_said(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        from_text("....", **arguments)


@settings(max_examples=40, deadline=None)
@given(maps(), st.sampled_from([0.0, 0.3]), st.integers(1, 2), st.integers(1, 3), st.data())
def test_counted_visits_are_those_of_an_episode(drawn, slip, few, more, data):
    rows, goals = drawn
    plain = from_text(rows, goals, touch=True, slip_probability=slip)
    counted = {"A": ({"A"}, few), "d": ({n for n in plain.goal_names if n != "A"}, more)}
    counts = counting(plain, counted)
    world, before = counts.mdp, counts.before
    layers = (few + 1) * (more + 1)
    assert (world.n_goals, world.n_states) == (layers * plain.n_goals, layers * plain.n_states)
    assert world.starts.size == plain.starts.size
    env, twin = FiniteEnv(TaskSpace(world)), FiniteEnv(TaskSpace(plain))
    i = data.draw(st.integers(0, world.starts.size - 1))
    seed, visits = data.draw(st.integers(0, 99)), {"A": 0, "d": 0}
    state, plain_state = int(world.starts[i]), int(plain.starts[i])
    for action in data.draw(st.lists(st.integers(0, 3), min_size=12, max_size=12)):
        env.reset(seed=seed, options={"state": state})
        twin.reset(seed=seed, options={"state": plain_state})
        state, plain_state = env.step(action)[0], twin.step(action)[0]
        assert world.cells[state].tolist() == plain.cells[plain_state].tolist()
        goal = int(plain.goal_of_state[plain_state])
        if goal >= 0:
            name = plain.goal_names[goal]
            entered = int(world.goal_of_state[state])
            assert {n: int(before[n][entered]) for n in visits} == visits
            said = f"{name} (A {visits['A']}, d {visits['d']})"
            assert world.goal_names[entered] == said
            which = name.split()[0]
            visits[which] = min(visits[which] + 1, counted[which][1])
            state, plain_state = int(world.resumes[entered]), int(plain.resumes[goal])
        seed += 1


@pytest.mark.parametrize(
    ("counted", "words"),
    [
        ({}, "nothing is counted"),
        ({"x": ({"C"}, 1)}, "no goal raises 'x'; this world has the goals A, B"),
        ({"x": ({"A"}, 0)}, "the limit of 'x'"),
    ],
)
def test_what_cannot_be_counted_is_said(counted, words):
    with pytest.raises(ValueError, match=words):
        counting(from_text("A.B", touch=True), counted)


def test_a_world_whose_episodes_end_in_goals_has_no_visits_to_count():
    world = from_arrays([[1], [1]], -1.0, goals=[1])
    with pytest.raises(ValueError, match="end in their first goal"):
        counting(world, {"x": ({"g0"}, 1)})


@settings(max_examples=20, deadline=None)
@given(maps())
def test_returns_without_counters_are_those_of_the_world_that_counts(drawn):
    rows, goals = drawn
    plain = from_text(rows, goals, touch=True)
    counts = counting(plain, {"A": ({"A"}, 2)})
    one, many = (plan(TaskSpace(mdp), {}).bounds for mdp in (plain, counts.mdp))

    def returns(bounds, states):
        return bounds.at(states).universal - bounds.space.r_universal[:, None]

    states = np.flatnonzero(~counts.mdp.is_goal)
    lifted = counts.returns(lambda s: returns(one, s))(states)
    exact = returns(many, states)
    same = counts.layer[states][:, None] == counts.layer[counts.mdp.goals]
    assert (lifted[~same] == -np.inf).all()
    assert lifted[same] == pytest.approx(exact[same], abs=1e-12)
