"""Worlds drawn as text, against a plain simulator on cells."""

from collections import deque

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from taskalgebra.planning.exact import optimal_v
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.grid import from_text

MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
ROOMS = """
    #######
    #A...B#
    ###.###
    #C...D#
    #######
"""


def simulate(rows, goal_cells, place, action):
    """One step on a map; a place is a cell, or ("goal", name) once absorbed."""
    if place[0] == "goal":
        return place
    if action == "stay":
        return ("goal", goal_cells[place]) if place in goal_cells else place
    r, c = place[0] + MOVES[action][0], place[1] + MOVES[action][1]
    free = 0 <= r < len(rows) and 0 <= c < len(rows[0]) and rows[r][c] != "#"
    return (r, c) if free else place


def place_of(world, state):
    if world.is_goal[state]:
        return ("goal", world.goal_names[world.goals.tolist().index(state)])
    return tuple(world.cells[state].tolist())


def moves_to(rows, target):
    """The number of moves from every cell to a target, by breadth-first search."""
    distance, queue = {target: 0}, deque([target])
    while queue:
        cell = queue.popleft()
        for move in MOVES:
            other = simulate(rows, {}, cell, move)
            if other not in distance:  # moves can be undone, so the search may run forwards
                distance[other] = distance[cell] + 1
                queue.append(other)
    return distance


@st.composite
def maps(draw):
    height, width = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    n = height * width
    symbols = draw(st.lists(st.sampled_from("..#"), min_size=n, max_size=n))
    places = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True))
    for name, i in zip("AB7", places, strict=False):
        symbols[i] = name
    rows = ["".join(symbols[r * width : (r + 1) * width]) for r in range(height)]
    goals = {divmod(i, width): name for name, i in zip("AB7", places, strict=False)}
    return rows, goals


@settings(max_examples=60, deadline=None)
@given(maps())
def test_worlds_move_as_a_plain_simulator_does(drawn):
    rows, goal_cells = drawn
    world = from_text("\n".join(rows))
    n_free = sum(symbol != "#" for row in rows for symbol in row)
    assert (world.n_states, world.n_goals) == (n_free + len(goal_cells), len(goal_cells))
    assert world.action_names == ("up", "right", "down", "left", "stay")
    for s in range(world.n_states):
        for a, action in enumerate(world.action_names):
            got = place_of(world, int(world.next_state[s, a]))
            assert got == simulate(rows, goal_cells, place_of(world, s), action)


@settings(max_examples=40, deadline=None)
@given(maps(), st.sampled_from([0.125, 0.3, 0.75, 1.0]))
def test_slips_go_to_the_other_three_directions(drawn, slip):
    rows, goal_cells = drawn
    world = from_text("\n".join(rows), slip_probability=slip)
    for s in range(world.n_states):
        place = place_of(world, s)
        for a, action in enumerate(world.action_names):
            expected = {}
            if action == "stay" or place[0] == "goal":
                expected[simulate(rows, goal_cells, place, action)] = 1.0
            else:
                for move in MOVES:
                    chance = 1 - slip if move == action else slip / 3
                    target = simulate(rows, goal_cells, place, move)
                    if chance:
                        expected[target] = expected.get(target, 0.0) + chance
            got = {}
            row = s * world.n_actions + a
            for k in range(world.offset[row], world.offset[row + 1]):
                target = place_of(world, int(world.successor[k]))
                got[target] = got.get(target, 0.0) + world.probability[k]
            assert got == pytest.approx(expected, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(maps(), st.sampled_from([-0.125, -0.5, 0.0]))
def test_the_best_return_pays_one_step_more_than_there_are_moves(drawn, step):
    rows, goal_cells = drawn
    world = from_text("\n".join(rows), step_reward=step)
    space = TaskSpace(world, r_universal=2.0, r_empty=-1.0)
    for cell, name in goal_cells.items():
        wanted = space.from_rewards([2.0 if n == name else -1.0 for n in world.goal_names])
        distance = {other: moves_to(rows, other) for other in goal_cells}
        values = optimal_v(wanted)
        for s in np.flatnonzero(~world.is_goal):
            here = place_of(world, s)
            reachable = [
                (2.0 if other == cell else -1.0) + step * (distance[other][here] + 1)
                for other in goal_cells
                if here in distance[other]
            ]
            assert values[s] == max(reachable, default=-np.inf)


def test_stay_passes_the_time_anywhere_but_on_a_goal():
    world = from_text("A.B")
    assert world.next_state[:, 4].tolist() == [3, 1, 4, 3, 4]
    assert world.step_reward[:3].tolist() == [[-0.1] * 5] * 3


def test_goals_may_be_given_by_cell_next_to_those_on_the_map():
    world = from_text(ROOMS, {"gate": (2, 3)})
    assert world.goal_names == ("A", "B", "C", "D", "gate")
    assert world.cells[world.goals].tolist() == [[1, 1], [1, 5], [3, 1], [3, 5], [2, 3]]


def test_indentation_and_blank_lines_around_the_map_do_not_count():
    assert np.array_equal(from_text("\n\n   A.\n   #.\n  \n").cells, from_text("A.\n#.").cells)


def test_episodes_start_in_every_cell_with_a_way_to_a_goal():
    world = from_text("A.#.\n..#.")
    assert [place_of(world, s) for s in world.starts] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_episodes_start_in_the_cells_that_are_given():
    world = from_text(ROOMS, starts=[(2, 3), (1, 1)])
    assert [place_of(world, s) for s in world.starts] == [(2, 3), (1, 1)]


REFUSED = {
    "an empty map": (("",), {}, ["empty", "'.'"]),
    "a map of blank lines": (("\n  \n\n",), {}, ["empty"]),
    "a ragged map": (("A..\n..\n...",), {}, ["row 1", "2 columns", "first row has 3", "equally"]),
    "a gap in the map": (("A..\n\n...",), {}, ["row 1", "0 columns"]),
    "an odd symbol": (("A.?\n...",), {}, ["'?'", "row 0, column 2", "'#'", "'.'", "letter"]),
    "a space for a free cell": (("A .\n...",), {}, ["' '", "row 0, column 1"]),
    "a letter drawn twice": (
        ("A.\n.A",),
        {},
        ["'A'", "twice", "row 0, column 0", "row 1, column 1"],
    ),
    "a map without goals": (("...",), {}, ["no goal", "letters", "goals="]),
    "a map of walls": (("###",), {}, ["no goal"]),
    "a goal given again": (("A..", {"A": (0, 1)}), {}, ["'A'", "(0, 0)", "again"]),
    "two goals on a cell": (("A..", {"B": (0, 0)}), {}, ["'A'", "'B'", "(0, 0)", "move"]),
    "two given goals on a cell": (
        ("...", {"p": (0, 1), "q": (0, 1)}),
        {},
        ["'p'", "'q'", "(0, 1)"],
    ),
    "a goal in a wall": (("A#.", {"B": (0, 1)}), {}, ["goal 'B'", "(0, 1)", "wall", "free cell"]),
    "a goal below the map": (("A..", {"B": (1, 0)}), {}, ["'B'", "(1, 0)", "outside", "1 rows"]),
    "a goal left of the map": (("A..", {"B": (0, -1)}), {}, ["'B'", "(0, -1)", "outside"]),
    "a goal without a column": (("A..", {"B": 3}), {}, ["'B'", "3", "(row, column)"]),
    "a goal with three numbers": (("A..", {"B": (0, 1, 2)}), {}, ["'B'", "(row, column)"]),
    "a start in a wall": (("A#.",), {"starts": [(0, 1)]}, ["start", "(0, 1)", "wall"]),
    "a start outside the map": (("A..",), {"starts": [(5, 5)]}, ["start", "(5, 5)", "outside"]),
    "a start with no path": (
        ("A#.",),
        {"starts": [(0, 2)]},
        ["no path", "cell (0, 2)", "another start"],
    ),
    "no starts": (("A..",), {"starts": []}, ["starts", "non-empty"]),
    "a slip above one": (("A..",), {"slip_probability": 1.5}, ["1.5", "[0, 1]"]),
    "a slip below zero": (("A..",), {"slip_probability": -0.1}, ["-0.1", "[0, 1]"]),
    "a slip that is not a number": (("A..",), {"slip_probability": np.nan}, ["nan", "[0, 1]"]),
    "a step reward that is not a number": (
        ("A..",),
        {"step_reward": np.nan},
        ["step_reward", "nan", "finite"],
    ),
    "an infinite step reward": (("A..",), {"step_reward": np.inf}, ["step_reward", "inf"]),
}


@pytest.mark.parametrize(("args", "options", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_maps_are_refused_in_words(args, options, words):
    with pytest.raises(ValueError) as caught:
        from_text(*args, **options)
    for word in words:
        assert word in str(caught.value)


def test_a_cell_between_two_columns_is_refused():
    with pytest.raises(ValueError, match=r"1\.9"):
        from_text("A..", {"B": (0, 1.9)})


def test_a_start_on_a_goals_cell_is_allowed_for_it_is_not_the_goal():
    world = from_text("A..", starts=[(0, 0)])
    assert not world.is_goal[world.starts[0]]


@settings(max_examples=30, deadline=None)
@given(maps())
def test_a_world_can_be_reached_only_where_the_map_allows(drawn):
    rows, goal_cells = drawn
    world = from_text("\n".join(rows))
    reachable = set().union(*(moves_to(rows, cell) for cell in goal_cells))
    assume(len(reachable) < world.n_states)
    assert {place_of(world, s) for s in world.starts} == reachable
