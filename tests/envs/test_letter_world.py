"""LetterWorld, one layout and many, against plain sets of cells."""

import random

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import taskalgebra as ta
from taskalgebra.envs import letters
from taskalgebra.envs.letter_world import FORMULAS, LetterWorld, RandomLetterWorld
from touch_oracle import LETTER_TASKS, fewest_steps, letters_of, torus_step

ONE, MANY = "TaskAlgebra/LetterWorld-v0", "TaskAlgebra/RandomLetterWorld-v0"
CELLS = [(r, c) for r in range(7) for c in range(7)]
BOARD = """
.....bc
.fad.k.
j.g..ef
..gibeh
..dl...
ki..h..
.l.cja.
"""


def reached(taken):
    """The cells that can be reached from the corner without crossing some cells, by sets."""
    seen, frontier = {(0, 0)}, {(0, 0)}
    while frontier:
        there = {t for cell in frontier for t in torus_step(cell)} - seen
        seen |= there
        frontier = there - taken
    return seen


def board_of(layout):
    """Seven rows of text."""
    return letters.drawn([0, *layout]).replace("@", ".").split("\n")


def taken_on(board):
    return {(r, c) for r, c in CELLS if board[r][c] != "."}


def test_layouts_are_as_published():
    seen = set()
    for seed in range(300):
        board = board_of(letters.layout_of(seed))
        text = "".join(board)
        assert sorted(text.replace(".", "")) == sorted("abcdefghijkl" * 2)
        assert board[0][0] == "." and reached(taken_on(board)) == set(CELLS)
        seen.add(text)
    assert len(seen) == 300
    assert np.array_equal(letters.layout_of(7), letters.layout_of(7))


def test_layouts_are_dealt_evenly():
    """Where letters lie, against shuffling cells until a layout is open; about 5 sigma."""
    layouts = np.zeros((20_000, 49), np.uint8)
    letters.deal(np.random.default_rng(0), layouts)
    rng, kept = random.Random(0), []
    while len(kept) < 800:
        taken = set(rng.sample(CELLS[1:], 24))
        if len(reached(taken)) == 49:
            kept.append([cell in taken for cell in CELLS])
    share, expected = (layouts > 0).mean(axis=0), np.mean(kept, axis=0)
    assert np.abs(share - expected).max() < 5 * 0.5 / np.sqrt(800)
    each = np.array([(layouts == i).sum(axis=0) for i in range(1, 13)]) / 20_000
    assert np.abs(each[:, 1:] - each[:, 1:].mean(axis=0)).max() < 5 * np.sqrt(0.05 / 20_000)


@pytest.mark.parametrize("source", [{"seed": 5}, {"layout": BOARD}], ids=["seed", "drawn"])
def test_a_layout_is_a_finite_world(source):
    world = LetterWorld(**source)
    mdp = world.space.mdp
    board = BOARD.split() if "layout" in source else board_of(letters.layout_of(5))
    assert (mdp.n_states, mdp.n_goals, mdp.n_actions) == (49 + 24, 24, 4)
    assert mdp.goal_names == tuple(f"{letter} {i}" for letter in "abcdefghijkl" for i in (1, 2))
    assert mdp.cells[mdp.starts].tolist() == [[0, 0]]
    cells = [tuple(cell) for cell in mdp.cells.tolist()]
    for s in range(49):
        for a, there in enumerate(torus_step(cells[s])):
            t = int(mdp.next_state[s, a])
            assert cells[t] == there
            letter = board[there[0]][there[1]]
            if letter == ".":
                assert not mdp.is_goal[t]
            else:
                assert world.tasks[letter].desired[mdp.goal_of_state[t]]
    assert [world.tasks[letter].desired.sum() for letter in "abcdefghijkl"] == [2] * 12


@pytest.mark.parametrize("name", FORMULAS)
def test_published_tasks_can_be_done_in_the_limit_from_the_corner(name):
    """As many steps on the table of the library as on the board."""
    automaton, first = LETTER_TASKS[name]
    for seed in range(20):
        world = LetterWorld(seed)
        mdp = world.space.mdp

        def step(state, mdp=mdp):
            goal = mdp.goal_of_state[state]
            return mdp.next_state[state if goal < 0 else mdp.resumes[goal]].tolist()

        def label(state, nothing, mdp=mdp):
            goal = mdp.goal_of_state[state]
            return (set() if goal < 0 else {mdp.goal_names[goal][0]}), nothing

        board = board_of(letters.layout_of(seed))
        steps = fewest_steps((0, 0), automaton, first, torus_step, letters_of(board))
        assert steps == fewest_steps(0, automaton, first, step, label) and steps <= 75


def test_observations_hold_the_whole_state():
    world = RandomLetterWorld(start="anywhere")
    copies = world.continuing(64)
    seen, _ = copies.reset(seed=0)
    codes = copies.codes
    assert seen.shape == (64, 7, 7, 13) and seen.dtype == np.uint8
    assert seen[..., 12].sum(axis=(1, 2)).tolist() == [1] * 64
    assert seen[..., :12].sum(axis=(1, 2)).tolist() == [[2] * 12] * 64
    for i in range(8):
        board = board_of(codes[i, 1:])
        for r, c in CELLS:
            marks = [chr(ord("a") + k) for k in range(12) if seen[i, r, c, k]]
            assert "".join(marks) == board[r][c].replace(".", "")
        assert seen[i, codes[i, 0] // 7, codes[i, 0] % 7, 12] == 1
    assert np.array_equal(letters.codes_of(seen), codes)
    assert np.array_equal(copies.frames_of(codes), seen)


def names_on(board):
    """The goal of every lettered cell: letters in order, each numbered row by row."""
    found = {}
    for letter in "abcdefghijkl":
        cells = [cell for cell in CELLS if board[cell[0]][cell[1]] == letter]
        found |= {cell: f"{letter} {i}" for i, cell in enumerate(cells, 1)}
    return found


def test_goals_are_those_of_the_finite_world():
    world = RandomLetterWorld(start="anywhere")
    names = world.space.goal_names
    assert names == LetterWorld().space.goal_names
    for letter, task in world.tasks.items():
        assert [names[g] for g in np.flatnonzero(task.desired)] == [f"{letter} 1", f"{letter} 2"]
    seen, _ = world.continuing(5).reset(seed=3)
    there = world.standing_in(seen)
    assert there.shape == (5, 24, 7, 7, 13)
    for i in range(5):
        board = board_of(letters.codes_of(seen)[i, 1:])
        codes = letters.codes_of(there[i])
        on = names_on(board)
        assert [on[divmod(int(cell), 7)] for cell in codes[:, 0]] == list(names)
        assert (codes[:, 1:] == letters.codes_of(seen)[i, 1:]).all()
    some = letters.standing(seen, [[i, 48 - i] for i in range(5)])
    assert letters.codes_of(some[4])[:, 0].tolist() == [4, 44]


def test_goals_are_described_by_letter_and_which_of_the_two():
    world = RandomLetterWorld()
    for name, shown in zip(world.space.goal_names, world.goal_features, strict=True):
        letter, which = name.split()
        assert np.flatnonzero(shown).tolist() == ["abcdefghijkl".index(letter), 11 + int(which)]


def play(world, actions, seed):
    """One environment, and where it goes."""
    observation, _ = world.reset(seed=seed)
    yield world.code, -0.0, False, -1
    for action in actions:
        observation, reward, terminated, truncated, info = world.step(action)
        assert np.array_equal(letters.observations_of(world.code[None])[0], observation)
        assert not truncated
        yield world.code, reward, terminated, info["goal"]
        if terminated:
            return


def test_episodes_end_on_the_first_letter():
    world, rng = RandomLetterWorld(start="anywhere", step_reward=-0.5), np.random.default_rng(0)
    for seed in range(40):
        codes, ended = [], False
        for code, reward, ended, goal in play(world, rng.integers(0, 4, 200), seed):
            letter = code[1 + code[0]]
            if codes:
                assert ended == (letter > 0) == (goal >= 0)
                assert reward == (world.space.r_universal[0] if ended else -0.5)
                named = world.space.goal_names[goal] if ended else None
                assert named == names_on(board_of(code[1:])).get(divmod(int(code[0]), 7))
            codes.append(code)
        assert ended
        with pytest.raises(gym.error.ResetNeeded):
            world.step(0)


@pytest.mark.parametrize("ends", [True, False])
def test_copies_play_as_the_finite_world_of_their_layout(ends):
    world = RandomLetterWorld(start="anywhere")
    copies = (
        world.vector(16, max_episode_steps=30)
        if ends
        else world.continuing(16, max_episode_steps=30)
    )
    copies.reset(seed=1)
    rng, elapsed, over = np.random.default_rng(2), np.zeros(16, int), np.zeros(16, bool)
    goals_met = n_cut = 0
    for _ in range(300):
        before, actions = copies.codes, rng.integers(0, 4, 16)
        seen, rewards, terminated, truncated, infos = copies.step(actions)
        after = copies.codes
        assert np.array_equal(letters.codes_of(seen), after)
        for i in range(16):
            if over[i]:
                assert infos["goal"][i] == -1 and rewards[i] == 0.0
                elapsed[i] = 0
                assert (after[i, 1:] != before[i, 1:]).any()
            else:
                there = list(torus_step(divmod(int(before[i, 0]), 7)))[actions[i]]
                assert divmod(int(after[i, 0]), 7) == there
                assert np.array_equal(after[i, 1:], before[i, 1:])
                lettered = after[i, 1 + after[i, 0]] > 0
                goal = int(infos["goal"][i])
                named = world.space.goal_names[goal] if goal >= 0 else None
                assert named == names_on(board_of(after[i, 1:])).get(there)
                assert terminated[i] == (lettered and ends)
                assert rewards[i] == (8.0 if lettered and ends else -0.1)
                elapsed[i] += 1
                assert truncated[i] == (elapsed[i] >= 30)
                goals_met += lettered
                n_cut += truncated[i]
            over[i] = terminated[i] or truncated[i]
    assert goals_met > 500 and (n_cut > 100 or ends)


def test_starts_are_the_corner_or_anywhere():
    for start, expected in (("corner", {0}), ("anywhere", set(range(49)))):
        copies = RandomLetterWorld(start=start).continuing(2_000)
        copies.reset(seed=0)
        assert set(copies.codes[:, 0].tolist()) == expected
        assert LetterWorld(2, start=start).space.mdp.starts.size == len(expected)


def test_equal_seeds_agree_and_others_differ():
    world = RandomLetterWorld()
    first, again, other = (world.reset(seed=seed)[0] for seed in (4, 4, 5))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    one, two = (world.vector(4) for _ in range(2))
    assert np.array_equal(one.reset(seed=9)[0], two.reset(seed=9)[0])


def test_one_layout_is_that_of_the_finite_world():
    world = RandomLetterWorld(start="anywhere")
    layout, fixed = world.one_layout(8), LetterWorld(8, start="anywhere").space.mdp
    mdp = layout.mdp
    assert mdp.goal_names == fixed.goal_names == world.space.goal_names and not layout.fixed
    assert np.array_equal(mdp.next_state, fixed.next_state)
    assert np.array_equal(mdp.resumes, fixed.resumes)
    codes = letters.codes_of(layout.observations)
    assert np.array_equal(np.stack(np.divmod(codes[:, 0], 7), 1), mdp.cells[~mdp.is_goal])
    assert (codes[:, 1:] == letters.layout_of(8)).all()
    observation, _ = world.reset(options={"code": layout.code})
    assert np.array_equal(observation, layout.observations[0])


def test_gymnasium_finds_nothing_to_complain_about():
    check_env(gym.make(ONE, seed=3).unwrapped)
    check_env(gym.make(MANY, render_mode="ansi").unwrapped)
    assert gym.make_vec(ONE, 2, seed=3).num_envs == gym.make_vec(MANY, 2).num_envs == 2


def test_the_library_finds_nothing_to_complain_about():
    assert ta.check_env(LetterWorld(3, start="anywhere"), steps=20_000).holds
    assert ta.check_env(RandomLetterWorld(start="anywhere"), steps=20_000).holds


@pytest.mark.parametrize("source", [{"seed": 5}, {"layout": BOARD}], ids=["seed", "drawn"])
def test_saved_skills_know_their_layout(source, tmp_path):
    world = LetterWorld(**source)
    skills = ta.solve(world)
    assert skills["a & ~b"].evaluate(3).success_rate == 1.0
    skills.save(tmp_path / "letters")
    assert np.array_equal(ta.load(tmp_path / "letters").env.letters, world.letters)


def test_boards_are_drawn():
    world = RandomLetterWorld(render_mode="ansi")
    world.reset(options={"code": [37, *letters.read_layout(BOARD)]})
    assert world.render() == BOARD.strip().replace("ki..h", "ki@.h")
    one = LetterWorld(layout=BOARD, task="a", render_mode="ansi")
    one.reset()
    assert one.render().count("◆") == 2 and one.render().count("◇") == 22
    copies = gym.make_vec(MANY, 2, render_mode="ansi")
    copies.reset(seed=0)
    assert [text.count("@") for text in copies.render()] == [1, 1]


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ("abc", "7 rows of 7"),
        (BOARD.replace("a", "z"), "'z'"),
        (BOARD.replace("a", "b"), "'a' lies on 0 cells"),
        ("aa" + BOARD.strip().replace("a", ".")[2:], "corner"),
        ("." + "aabbcc\nddeeffg\nghhiijj\nkkll..." + 3 * "\n.......", "cannot be reached"),
    ],
)
def test_what_is_no_layout_is_said(layout, words):
    with pytest.raises(ValueError, match=words):
        LetterWorld(layout=layout)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ([0] * 50, "'a' lies on 0 cells"),
        ([49, *letters.read_layout(BOARD)], "from 0 to 48"),
        ([0] * 9, "50 whole numbers"),
        ([0.5] * 50, "50 whole numbers"),
        ([-1, *letters.read_layout(BOARD).astype(int)], "from 0 to 48"),
        ([0, 200, *[0] * 48], "'a' lies on 0 cells"),
    ],
)
def test_states_that_do_not_exist_are_refused(code, words):
    with pytest.raises(ValueError, match=words):
        RandomLetterWorld().reset(options={"code": code})


def test_other_mistakes_are_said():
    with pytest.raises(ValueError, match="start"):
        RandomLetterWorld(start="centre")
    with pytest.raises(ValueError, match="expected one, or one for each of the 3 copies"):
        code = [0, *letters.read_layout(BOARD)]
        RandomLetterWorld().continuing(3).reset(options={"code": [code, code]})
    with pytest.raises(gym.error.ResetNeeded):
        RandomLetterWorld().continuing(3).step([0, 0, 0])
