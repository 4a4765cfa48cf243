"""The rules of Boxman, exhaustively, against plain Python; optimal returns against planning."""

from itertools import pairwise

import numpy as np
import pytest

from boxman_oracle import SlowBoxman
from taskalgebra.envs.boxman.board import (
    MOVES,
    PAPER_MAP,
    PAPER_OBJECTS,
    PICK_UP,
    STEP_REWARD,
    Board,
    advance,
    deal,
    distances_to,
    optimal_returns,
)
from taskalgebra.envs.boxman.finite import finite_world
from taskalgebra.envs.boxman.games import all_cells
from taskalgebra.planning.exact import optimal_v
from taskalgebra.theory.tasks import TaskSpace

BOARD = Board.of(PAPER_MAP, list(PAPER_OBJECTS))
SLOW = SlowBoxman(PAPER_MAP, PAPER_OBJECTS)
PLACES = [BOARD.cell(cell) for cell in PAPER_OBJECTS.values()]
SMALL_MAP = "##### #...# #.#.# #...# #####"
SUBSETS = [np.array([i >> j & 1 for j in range(6)], bool) for i in range(64)]
TASKS = SUBSETS[1:]  # all 63 that want something
MODES = pytest.mark.parametrize("by_touch", [False, True], ids=["pick-up", "touch"])


def layouts(n, seed=0):
    """Layouts as codes: that of the paper, then random ones."""
    codes = np.zeros((n, 8), np.uint8)
    deal(codes, np.arange(n), np.random.default_rng(seed).random((n, 7)), BOARD.n_cells, False)
    codes[0, 2:] = PLACES
    return codes


def every_state(codes):
    """The agent on every cell with empty hands, and every object in hand."""
    free = all_cells(codes, BOARD.n_cells)
    held = np.repeat(codes, 6, axis=0)
    held[:, 1] = np.tile(np.arange(1, 7), len(codes))
    return np.concatenate((free, held))


def advanced(codes, action, by_touch, wanted):
    after = codes.copy()
    collected = np.empty(len(codes), np.int64)
    actions = np.full(len(codes), action)
    advance(after, actions, BOARD.neighbour, by_touch, wanted, collected)
    return after, collected


def rewards(wanted):
    return np.where(wanted, 2.0, -0.1)


def test_the_board_of_the_paper():
    assert (BOARD.side, BOARD.n_cells, BOARD.n_objects) == (10, 58, 6)
    assert [tuple(cell) for cell in BOARD.cells] == SLOW.cells
    assert [BOARD.cell(cell) for cell in SLOW.cells] == list(range(58))
    assert sorted({name.split()[0] for name in BOARD.objects}) == ["beige", "blue", "purple"]
    assert (BOARD.colour(1), BOARD.shape(1)) == ("blue", "square")
    assert list(MOVES) == ["up", "right", "down", "left"]


@pytest.mark.parametrize("action", range(5))
def test_every_state_and_action_by_pick_up(action):
    codes = every_state(layouts(4))
    for wanted in (SUBSETS[0], SUBSETS[21], SUBSETS[63]):  # read by touch only
        after, collected = advanced(codes, action, False, wanted)
        for code, new, goal in zip(codes, after, collected, strict=True):
            state, end = SLOW.step(SLOW.state(code), [*MOVES, PICK_UP][action], False, None)
            assert new.tolist() == SLOW.code(state)
            assert goal == (-1 if end is None else SLOW.objects.index(end))


@pytest.mark.parametrize("action", range(4))
def test_every_state_action_and_task_by_touch(action):
    codes = every_state(layouts(2))
    states = [SLOW.state(code) for code in codes]
    for wanted in SUBSETS:
        names = {name for name, yes in zip(SLOW.objects, wanted, strict=True) if yes}
        after, collected = advanced(codes, action, True, wanted)
        slow = [SLOW.step(state, list(MOVES)[action], True, names) for state in states]
        assert after.tolist() == [SLOW.code(state) for state, _ in slow]
        assert collected.tolist() == [
            -1 if end is None else SLOW.objects.index(end) for _, end in slow
        ]


def test_distances_are_those_of_a_search_by_sets():
    for start in range(BOARD.n_cells):
        seen, frontier, steps = {start: 0}, {start}, 0
        while frontier:
            steps += 1
            frontier = {int(t) for s in frontier for t in BOARD.neighbour[s]} - set(seen)
            seen |= dict.fromkeys(frontier, steps)
        assert BOARD.distance[start].tolist() == [seen[i] for i in range(BOARD.n_cells)]
    assert np.array_equal(BOARD.distance, BOARD.distance.T)


def test_blocked_cells_can_be_left_but_not_crossed():
    board = Board.of(SMALL_MAP, ["blue square"])  # a ring of eight cells
    ring = [board.cell(c) for c in [(1, 1), (1, 2), (1, 3), (2, 3), (3, 3), (3, 2), (3, 1), (2, 1)]]
    blocked = np.zeros(8, bool)
    blocked[ring[1]] = True
    distance = distances_to(board.neighbour, ring[0], blocked)
    assert distance[ring].tolist() == [0, 1, 6, 5, 4, 3, 2, 1]
    blocked[ring[7]] = True
    distance = distances_to(board.neighbour, ring[0], blocked)
    assert distance[ring].tolist() == [0, 1, -1, -1, -1, -1, -1, 1]
    blocked[ring[0]] = True  # the target itself may be entered
    assert distances_to(board.neighbour, ring[0], blocked).tolist() == distance.tolist()


@MODES
def test_optimal_returns_are_those_of_a_search_over_states(by_touch):
    codes = layouts(2)
    codes = every_state(codes)
    for wanted in TASKS[::9]:
        names = {name for name, yes in zip(SLOW.objects, wanted, strict=True) if yes}
        paid = dict(zip(SLOW.objects, rewards(wanted), strict=True))
        slow = [SLOW.best_return(SLOW.state(code), by_touch, names, paid) for code in codes]
        ours = optimal_returns(
            BOARD, codes, rewards(wanted), by_touch=by_touch, step_reward=STEP_REWARD
        )
        assert ours == pytest.approx(slow, abs=1e-12)


@MODES
@pytest.mark.parametrize("layout", range(4))
def test_optimal_returns_are_those_of_planning_for_all_tasks(layout, by_touch):
    code = layouts(4)[layout : layout + 1]
    states = every_state(code)  # in the order of the finite world
    worlds = {}
    for wanted in SUBSETS:
        collected = wanted if wanted.any() else ~wanted  # where nothing is wanted, all pay the same
        key = collected.tobytes() if by_touch else None
        if key not in worlds:
            worlds[key] = TaskSpace(
                finite_world(BOARD, code[0, 2:], by_touch=by_touch, desired=collected)
            )
        planned = optimal_v(worlds[key].from_desired(wanted))
        ours = optimal_returns(
            BOARD, states, rewards(wanted), by_touch=by_touch, step_reward=STEP_REWARD
        )
        assert ours == pytest.approx(planned, abs=1e-12)


def test_graded_rewards_by_pick_up_weigh_reward_against_distance():
    graded = np.array([2.0, 1.5, 0.7, -0.1, 0.0, 1.0])
    space = TaskSpace(finite_world(BOARD, PLACES, by_touch=False))
    planned = optimal_v(space.from_rewards(graded))
    ours = optimal_returns(
        BOARD, every_state(layouts(1)), graded, by_touch=False, step_reward=STEP_REWARD
    )
    assert ours == pytest.approx(planned, abs=1e-12)


def test_an_agent_that_starts_on_a_wanted_object_by_touch_leaves_and_comes_back():
    code = np.array([[PLACES[0], 0, *PLACES]], np.uint8)
    only_this = rewards(np.arange(6) == 0)
    best = optimal_returns(BOARD, code, only_this, by_touch=True, step_reward=STEP_REWARD)
    assert best == pytest.approx([2.0 - 0.2])


@MODES
def test_the_longest_optimal_episode_fits_the_limit_of_evaluations(by_touch):
    longest = BOARD.distance.max() + (1 if by_touch else 2)
    assert longest == (15 if by_touch else 16)


@MODES
def test_the_finite_world_moves_as_the_kernel_does(by_touch):
    code = layouts(3)[2:]
    states = every_state(code)
    for wanted in SUBSETS[1:] if by_touch else SUBSETS[63:]:
        world = finite_world(BOARD, code[0, 2:], by_touch=by_touch, desired=wanted)
        assert world.n_states == 64
        assert world.deterministic
        for action in range(world.n_actions):
            after, collected = advanced(states, action, by_touch, wanted)
            number = np.where(after[:, 1] > 0, 57 + after[:, 1].astype(int), after[:, 0])
            assert world.next_state[:, action].tolist() == number.tolist()
            assert world.goal_of_state.tolist() == collected.tolist()


@MODES
def test_the_finite_world_has_names_cells_and_starts(by_touch):
    world = finite_world(BOARD, PLACES, by_touch=by_touch)
    assert world.goal_names == BOARD.objects
    assert world.action_names == (tuple(MOVES) if by_touch else (*MOVES, PICK_UP))
    assert world.goals.tolist() == list(range(58, 64))
    assert world.cells.tolist() == [list(cell) for cell in (*SLOW.cells, *PAPER_OBJECTS.values())]
    starts = set(range(58)) - set(PLACES) if by_touch else set(range(58))
    assert set(world.starts.tolist()) == starts
    live = world.step_reward[:58]
    assert live.tolist() == np.full(live.shape, STEP_REWARD).tolist()
    assert TaskSpace(world).r_universal.tolist() == [2.0] * 6


def test_the_finite_world_of_a_task_by_touch_ends_in_its_objects_only():
    world = finite_world(BOARD, PLACES, by_touch=True, desired=SUBSETS[0b000101])
    entered = set(world.next_state[:58].ravel().tolist()) - set(range(58))
    assert entered == {58, 60}


@pytest.mark.parametrize(
    ("places", "options", "words"),
    [
        ([0, 1, 2], {}, "0 to 57, one for each of beige square"),
        ([0, 1, 2, 3, 4, 58], {}, "0 to 57"),
        ([0, 1, 2, 3, 4, 5.5], {}, "0 to 57"),
        ([0, 1, 2, 3, 4, 0], {}, r"two objects lie on one cell: \[0, 1, 2, 3, 4, 0\]; give each"),
        (PLACES, {"desired": [True]}, "true or false for each of beige square"),
        (PLACES, {"desired": np.zeros(6, bool)}, "at least one true, or no episode ends"),
        (PLACES, {"desired": np.ones(6)}, "true or false"),
    ],
)
def test_a_finite_world_of_bad_input_is_refused(places, options, words):
    with pytest.raises(ValueError, match=words):
        finite_world(BOARD, places, by_touch=True, **options)


@pytest.mark.parametrize("apart", [False, True])
def test_dealing_fills_all_cells_alike_and_keeps_objects_apart(apart):
    n = 58_000
    codes = np.zeros((n, 8), np.uint8)
    uniform = np.random.default_rng(1).random((n, 7))
    deal(codes, np.arange(n), uniform, 58, apart)
    assert not codes[:, 1].any()
    ordered = np.sort(codes[:, 2:], axis=1).astype(int)
    assert (np.diff(ordered, axis=1) > 0).all()
    on_object = (codes[:, :1] == codes[:, 2:]).any(axis=1)
    if apart:
        assert not on_object.any()
    else:
        assert on_object.mean() == pytest.approx(6 / 58, abs=0.01)
    for column in (0, *range(2, 8)):
        counts = np.bincount(codes[:, column], minlength=58)
        assert counts.size == 58
        assert abs(counts - 1000).max() < 6 * np.sqrt(1000)


def test_dealing_touches_the_given_games_only():
    codes = np.full((4, 8), 99, np.uint8)
    deal(codes, np.array([2]), np.full((1, 7), 0.999), 58, False)
    assert (codes[[0, 1, 3]] == 99).all()
    assert (codes[2] < 58).all()
    assert len(set(codes[2, 2:].tolist())) == 6


def test_all_cells_spreads_the_agent_and_empties_its_hands():
    codes = layouts(2)
    codes[:, 1] = 3
    spread = all_cells(codes, 58)
    assert spread.shape == (116, 8)
    assert spread[:, 0].tolist() == [*range(58)] * 2
    assert not spread[:, 1].any()
    assert (spread[:58, 2:] == codes[0, 2:]).all()
    assert (spread[58:, 2:] == codes[1, 2:]).all()
    assert (codes[:, 1] == 3).all()


def test_a_board_of_another_size_has_the_same_rules():
    board = Board.of(SMALL_MAP, ["purple circle", "blue square"])
    assert (board.side, board.n_cells, board.n_objects) == (5, 8, 2)
    for a, b in pairwise([(1, 1), (1, 2), (1, 3), (2, 3)]):
        assert board.distance[board.cell(a), board.cell(b)] == 1
    assert board.distance[board.cell((1, 2)), board.cell((3, 2))] == 4


@pytest.mark.parametrize(
    ("text", "objects", "words"),
    [
        ("", ["blue square"], "0 rows of  characters; a board of Boxman is square"),
        ("### #.# ###\n###", ["blue square"], "4 rows of 3 characters"),
        ("### #.## ###", ["blue square"], "3 rows of 3, 4 characters"),
        ("### #x# ###", ["blue square"], "'x'; expected '#' for a wall or '.'"),
        ("### #.. ###", ["blue square"], r"\(1, 2\) on the border of the map is free; surround"),
        (SMALL_MAP, [], "there are no objects"),
        (SMALL_MAP, ["blue squar"], "unknown object 'blue squar'.*Did you mean 'blue square'"),
        (SMALL_MAP, ["green square"], "unknown object 'green square'; objects are blue square"),
        (SMALL_MAP, ["square blue"], "unknown object 'square blue'"),
        (SMALL_MAP, [3], "unknown object 3"),
        (SMALL_MAP, ["blue square", "blue square"], "may appear only once, got blue square, blue"),
        ("### #.# ###", ["blue square"], "1 objects on 1 free cells"),
        (
            "##### #.#.# #.#.# #.#.# #####",
            ["blue square"],
            r"no path from \(1, 1\) to \(1, 3\); open one",
        ),
        ("\n".join(["#" * 20, *(["#" + "." * 18 + "#"] * 18), "#" * 20]), ["blue square"], "255"),
    ],
)
def test_a_bad_board_is_refused_in_words(text, objects, words):
    with pytest.raises(ValueError, match=words):
        Board.of(text, objects)


def test_a_board_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="the map must be a str, got 3"):
        Board.of(3, ["blue square"])


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((0, 0), r"\(0, 0\) is not a free cell of this board of 10 rows"),
        ((1, 10), r"\(1, 10\) is not a free cell"),
        ((-2, 1), r"\(-2, 1\) is not a free cell"),
        ((1, 2, 3), r"\(row, column\) as integers, got \(1, 2, 3\)"),
        ((1.0, 2), r"\(row, column\) as integers"),
        (None, r"\(row, column\) as integers, got None"),
    ],
)
def test_a_bad_cell_is_refused_in_words(place, words):
    with pytest.raises(ValueError, match=words):
        BOARD.cell(place)


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ([0, 0, *PLACES], "a code is 8 whole numbers: the cell of the agent, what it holds"),
        ([[0, 0, 1]], "a code is 8 whole numbers"),
        ([[0.0, 0, *PLACES]], "a code is 8 whole numbers"),
        ([[0], [0, 1]], "a code is 8 whole numbers"),
        (None, "a code is 8 whole numbers"),
        ([[58, 0, *PLACES]], "cells are numbered 0 to 57, got 58"),
        ([[300, 0, *PLACES]], "cells are numbered 0 to 57, got 300"),
        ([[-1, 0, *PLACES]], "cells are numbered 0 to 57, got -1"),
        ([[0, 7, *PLACES]], r"code\[1\] is 7, expected 0 for nothing in hand or 1 to 6"),
        ([[0, -1, *PLACES]], "got -1"),
    ],
)
def test_bad_codes_are_refused_in_words(codes, words):
    with pytest.raises(ValueError, match=words):
        BOARD.checked_codes(codes)


def test_good_codes_pass_whatever_their_type():
    for kind in (list, np.array, lambda rows: np.array(rows, np.uint8)):
        codes = BOARD.checked_codes(kind([[5, 6, *PLACES]]))
        assert (codes.dtype, codes.tolist()) == (np.uint8, [[5, 6, *PLACES]])
    assert BOARD.checked_codes(np.empty((0, 8), np.uint8)).shape == (0, 8)
