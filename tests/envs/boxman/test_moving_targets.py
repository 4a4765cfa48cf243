"""Games that go on after a pick-up: rules, chance, and how good an agent can be."""

from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from boxman_oracle import SlowBoxman
from taskalgebra.envs.boxman.board import MOVES, PAPER_MAP, Board
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.finite import finite_world
from taskalgebra.envs.boxman.moving import NearestFirst, most_pick_ups
from taskalgebra.evaluation.continuing import play_on

UP, RIGHT, DOWN, LEFT, PICK = range(5)
MODES = pytest.mark.parametrize("collect", ["pick-up", "touch"])
LAYOUTS = pytest.mark.parametrize("layout", ["fixed", "random"])
TINY = """
#####
#...#
#.#.#
#...#
#####
"""


@MODES
@LAYOUTS
def test_every_step_follows_the_rules(layout, collect):
    """Against the rules in plain Python; only where an object reappears is left to chance."""
    world = Boxman(layout=layout, collect=collect)
    slow = SlowBoxman(PAPER_MAP, world.board.objects)
    names = [*MOVES, "pick up"]
    games = world.continuing(40)
    _, infos = games.reset(seed=0)
    assert infos["goal"].tolist() == [-1] * 40 and infos["_goal"].all()
    assert set(infos) == {"goal", "_goal"}
    rng = np.random.default_rng(1)
    collected = set()
    for _ in range(150):
        before = games.codes
        actions = rng.integers(world.action_space.n, size=40)
        frames, rewards, terminated, truncated, infos = games.step(actions)
        after = games.codes
        assert np.array_equal(frames, games.frames_of(after))
        assert (rewards == -0.1).all() and not terminated.any() and not truncated.any()
        for i in range(40):
            state = slow.state(before[i])
            expected, _ = slow.step(state, names[actions[i]], collect == "touch", state.where)
            found, goal = slow.state(after[i]), int(infos["goal"][i])
            assert found.agent == expected.agent and found.held is None
            held = expected.held
            assert (world.board.objects[goal] if goal >= 0 else None) == held
            moved = {name for name in state.where if found.where[name] != state.where[name]}
            assert moved == ({held} if held is not None and layout == "random" else set())
            assert len(set(found.where.values())) == 6
            if moved:
                assert found.where[held] != found.agent
            if held:
                collected.add(held)
    assert collected == set(world.board.objects)


def test_an_object_reappears_on_every_free_cell_alike():
    games = Boxman(layout="random").games(20_000)
    games.codes[:] = [10, 1, 10, 3, 20, 30, 40, 57]
    assert (games.go_on(np.random.default_rng(0)) == 0).all()
    assert (games.codes[:, [0, 1, 3, 4, 5, 6, 7]] == [10, 0, 3, 20, 30, 40, 57]).all()
    counts = np.bincount(games.codes[:, 2], minlength=58)
    free = np.setdiff1d(np.arange(58), [10, 3, 20, 30, 40, 57])
    assert np.flatnonzero(counts).tolist() == free.tolist()
    expected = 20_000 / 52
    assert abs(counts[free] - expected).max() < 5 * np.sqrt(expected)


def test_what_is_held_at_the_start_is_let_go_of_by_the_first_step():
    games = Boxman(layout="random").continuing(1)
    frames, _ = games.reset(seed=0, options={"code": [10, 3, 1, 2, 3, 4, 5, 6]})
    shown, rewards, _, _, infos = games.step([UP])
    assert infos["goal"].tolist() == [2] and rewards.tolist() == [-0.1]
    assert games.codes[0, :2].tolist() == [10, 0]
    assert games.codes[0, [2, 3, 5, 6, 7]].tolist() == [1, 2, 4, 5, 6]
    assert not np.array_equal(frames, shown)


def test_in_the_smallest_room_there_is_one_cell_left():
    world = Boxman(layout="random", board="####\n#..#\n##.#\n####", objects=["blue circle"])
    games = world.continuing(50)
    games.reset(seed=0, options={"code": [1, 0, 1]})
    games.step([PICK] * 50)
    assert set(games.codes[:, 2].tolist()) == {0, 2}
    two = Boxman(
        layout="random", board="####\n#..#\n##.#\n####", objects=["blue circle", "blue square"]
    )
    games = two.continuing(50)
    games.reset(seed=0, options={"code": [1, 0, 1, 0]})
    games.step([PICK] * 50)
    assert set(games.codes[:, 2].tolist()) == {2}


def test_a_limit_cuts_episodes_off_and_the_next_step_begins_another():
    games = Boxman().continuing(2, max_episode_steps=3)
    places = Boxman().places
    games.reset(seed=0, options={"code": [int(places[4]), 0, *places.tolist()]})
    seen = [games.step([PICK, PICK]) for _ in range(5)]
    assert [step[4]["goal"].tolist() for step in seen[:4]] == [[4, 4]] * 3 + [[-1, -1]]
    assert [step[1].tolist() for step in seen[:4]] == [[-0.1, -0.1]] * 3 + [[0.0, 0.0]]
    assert [bool(step[3].all()) for step in seen] == [False, False, True, False, False]
    assert not any(step[2].any() for step in seen)


@LAYOUTS
def test_equal_seeds_agree_and_different_seeds_differ(layout):
    def run(seed):
        games = Boxman(layout=layout).continuing(30, max_episode_steps=20)
        rng = np.random.default_rng(5)
        games.reset(seed=seed)
        codes = []
        for _ in range(60):
            games.step(rng.integers(5, size=30))
            codes.append(games.codes)
        return np.array(codes)

    assert np.array_equal(run(0), run(0))
    assert not np.array_equal(run(0), run(1))


def test_writing_into_what_was_handed_out_disturbs_nothing():
    one, two = (Boxman(layout="random").continuing(8, max_episode_steps=9) for _ in range(2))
    one.reset(seed=0)
    two.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(40):
        actions = rng.integers(5, size=8)
        *spoilt, infos = one.step(actions)
        *parts, others = two.step(actions)
        for a, b in zip((*spoilt, infos["goal"]), (*parts, others["goal"]), strict=True):
            assert np.array_equal(a, b)
        for array in (*spoilt, *infos.values()):
            array[:] = 1


def test_a_fixed_layout_says_what_is_seen_after_each_goal():
    world = Boxman()
    games = world.continuing(6)
    games.reset(options={"code": [[int(cell), 0, *world.places] for cell in world.places]})
    frames, *_, infos = games.step([PICK] * 6)
    assert infos["goal"].tolist() == list(range(6))
    assert np.array_equal(world.standing(), frames)
    assert Boxman(layout="random").standing() is None


@MODES
def test_a_layout_as_a_finite_world_goes_on_where_the_object_lies(collect):
    world = Boxman(collect=collect)
    mdp = finite_world(world.board, world.places, by_touch=world.by_touch)
    assert mdp.resumes.tolist() == world.places.tolist()


@cache
def slow_optimum(text, n_wanted, steps, by_touch):
    """The expected number of pick-ups by plain recursion, as a fraction."""
    board = Board.of(text, ["blue circle"])
    cells = range(board.n_cells)
    near = [sorted({int(c) for c in row}) for row in board.neighbour]

    @cache
    def after(t, agent, rest):
        free = [z for z in cells if z != agent and z not in rest]
        return sum(best(t, agent, rest | {z}) for z in free) / Fraction(len(free))

    @cache
    def best(t, agent, wanted):
        if t == 0:
            return Fraction(0)
        found = []
        for there in near[agent]:
            if by_touch and there != agent and there in wanted:
                found.append(1 + after(t - 1, there, wanted - {there}))
            else:
                found.append(best(t - 1, there, wanted))
        if not by_touch and agent in wanted:
            found.append(1 + after(t - 1, agent, wanted - {agent}))
        return max(found)

    starts = [
        best(steps, agent, frozenset(wanted))
        for wanted in combinations(cells, n_wanted)
        for agent in cells
        if not (by_touch and agent in wanted)
    ]
    return float(sum(starts) / len(starts))


@pytest.mark.parametrize("by_touch", [False, True])
@pytest.mark.parametrize(("n_wanted", "steps"), [(1, 1), (1, 9), (2, 7), (3, 6), (7, 3)])
def test_the_optimum_is_that_of_a_plain_recursion(n_wanted, steps, by_touch):
    found = most_pick_ups(Board.of(TINY, ["blue circle"]), n_wanted, steps, by_touch=by_touch)
    expected = slow_optimum(TINY, n_wanted, steps, by_touch)
    assert found == pytest.approx(expected, abs=expected * steps / 131_070 + 1e-12)


@MODES
def test_with_one_wanted_object_the_nearest_is_the_best(collect):
    objects = ["blue circle", "beige circle", "beige square"]
    world = Boxman("blue", layout="random", collect=collect, objects=objects)
    games = world.continuing(250)
    agent = NearestFirst(games, world.task.wanted)
    found = play_on(world.task, games, agent, episodes=1000, steps=50, seed=0)
    optimum = 2 * most_pick_ups(world.board, 1, 50, by_touch=world.by_touch) - 5
    assert found.mean_return == pytest.approx(optimum, abs=4 * found.standard_error)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((8, 50), r"8 wanted objects on 58 cells are 1\.1e\+11 states, more than 4\.3e\+09"),
        ((0, 50), "n_wanted is 0, expected"),
        ((58, 50), "n_wanted is 58, expected"),
        ((2, 0), "steps is 0, expected"),
        ((2, 10**6), "steps is 1000000, expected"),
    ],
)
def test_optima_that_cannot_be_found_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        most_pick_ups(Board.of(PAPER_MAP, ["blue circle"]), *arguments)
