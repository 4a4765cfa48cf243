"""Four Rooms, against the description of the paper and a search on its map."""

import subprocess
import sys
from collections import deque
from math import exp

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from taskalgebra import envs
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.formulas import parse
from taskalgebra.planning.exact import optimal_v

ID = "TaskAlgebra/FourRooms-v0"
UP, RIGHT, DOWN, LEFT, STAY = range(5)

MAP = """\
#############
#.....#.....#
#...........#
#.....#.....#
#.....#.....#
#.....#.....#
##.####.....#
#.....####.##
#.....#.....#
#.....#.....#
#...........#
#.....#.....#
#############""".splitlines()
FREE = [(r, c) for r in range(13) for c in range(13) if MAP[r][c] == "."]
CENTRES = {
    "top_left": (3, 3),
    "top_right": (3, 9),
    "bottom_left": (9, 3),
    "bottom_right": (9, 9),
}
ALONG_THE_WALLS = (
    [(r, c) for r in (1, 11) for c in (*range(1, 6), *range(7, 12))]
    + [(r, 1) for r in (*range(2, 6), *range(7, 11))]
    + [(r, 11) for r in (*range(2, 7), *range(8, 11))]
)


def moves_to(target):
    distance, queue = {target: 0}, deque([target])
    while queue:
        r, c = queue.popleft()
        for cell in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            if MAP[cell[0]][cell[1]] == "." and cell not in distance:
                distance[cell] = distance[r, c] + 1
                queue.append(cell)
    return distance


def test_the_map_has_104_cells_and_four_goals_make_108_states():
    mdp = FourRooms().space.mdp
    assert len(FREE) == 104
    assert (mdp.n_states, mdp.n_goals, mdp.n_actions) == (108, 4, 5)
    assert [tuple(cell) for cell in mdp.cells[:104].tolist()] == FREE
    assert mdp.action_names == ("up", "right", "down", "left", "stay")
    assert mdp.starts.tolist() == list(range(104))
    assert mdp.deterministic


def test_the_four_goals_are_the_centres_of_the_rooms():
    mdp = FourRooms().space.mdp
    assert dict(zip(mdp.goal_names, map(tuple, mdp.cells[mdp.goals].tolist()), strict=True)) == (
        CENTRES
    )


def test_forty_goals_are_the_centres_and_the_cells_along_the_walls():
    mdp = FourRooms(40).space.mdp
    assert (mdp.n_states, mdp.n_goals) == (144, 40)
    cells = [tuple(cell) for cell in mdp.cells[mdp.goals].tolist()]
    assert cells[:4] == list(CENTRES.values())
    assert len(ALONG_THE_WALLS) == 36
    assert set(cells[4:]) == set(ALONG_THE_WALLS)


def test_the_base_tasks_are_top_and_left():
    world = FourRooms()
    assert world.tasks == {
        "top": world.space.task(["top_left", "top_right"]),
        "left": world.space.task(["top_left", "bottom_left"]),
    }


def test_six_base_tasks_tell_forty_goals_apart():
    world = FourRooms(40)
    assert list(world.tasks) == ["x1", "x2", "x3", "x4", "x5", "x6"]
    labels = np.stack([task.desired for task in world.tasks.values()], axis=1)
    assert len({tuple(row) for row in labels.tolist()}) == 40


def test_terminal_rewards_are_2_and_the_step_reward():
    space = FourRooms().space
    assert (space.r_universal == 2.0).all()
    assert (space.r_empty == -0.1).all()
    assert (space.mdp.step_reward[:104] == -0.1).all()
    other = FourRooms(step_reward=-0.01, r_universal=1.0).space
    assert (other.r_universal[0], other.r_empty[0]) == (1.0, -0.01)
    assert FourRooms(r_empty=-0.5).space.r_empty[0] == -0.5


@pytest.mark.parametrize("n_goals", [4, 40])
def test_the_best_return_is_the_goal_less_one_step_more_than_the_moves(n_goals):
    space = FourRooms(n_goals, step_reward=-0.125).space
    distances = [moves_to(tuple(cell)) for cell in space.mdp.cells[space.mdp.goals].tolist()]
    for wanted, name in enumerate(space.mdp.goal_names):
        expected = [
            max(
                (2.0 if goal == wanted else -0.125) - 0.125 * (distance[cell] + 1)
                for goal, distance in enumerate(distances)
            )
            for cell in FREE
        ]
        assert optimal_v(space.task(name))[:104].tolist() == expected


def test_the_diameter_is_the_longest_way_into_a_goal():
    # D counts states: the longest way between two cells, or into a goal with one step more.
    ways = {cell: moves_to(cell) for cell in FREE}
    between = max(max(way.values()) for way in ways.values())
    into = max(max(ways[cell].values()) + 1 for cell in CENTRES.values())
    assert FourRooms().space.mdp.diameter == max(between, into)


def test_slips_share_the_other_three_directions():
    mdp = FourRooms(slip_probability=0.3).space.mdp
    s = FREE.index((2, 2))
    outcomes = {}
    for k in range(mdp.offset[s * 5], mdp.offset[s * 5 + 1]):
        cell = tuple(mdp.cells[mdp.successor[k]].tolist())
        outcomes[cell] = outcomes.get(cell, 0.0) + mdp.probability[k]
    assert outcomes == pytest.approx({(1, 2): 0.7, (2, 3): 0.1, (3, 2): 0.1, (2, 1): 0.1})
    stay = slice(mdp.offset[s * 5 + 4], mdp.offset[s * 5 + 5])
    assert mdp.successor[stay].tolist() == [s]


@pytest.mark.parametrize("slip", [0.01, 0.1, 0.2, 0.3])
def test_slippery_rooms_are_planned_and_cost_more_than_sure_ones(slip):
    sure = optimal_v(FourRooms().tasks["top"])
    values = optimal_v(FourRooms(slip_probability=slip).tasks["top"])
    assert (values[:104] <= sure[:104] + 1e-9).all()
    assert values[:104].mean() < sure[:104].mean()


VARIANTS = {
    "the paper's": {},
    "40 goals": {"n_goals": 40, "task": "x1 & ~x6"},
    "an expression": {"task": "top ^ left"},
    "slips": {"slip_probability": 0.3, "task": "top"},
    "dense": {"dense": True, "task": "left"},
    "not shared": {"shared_absorbing": False, "task": "top & left"},
    "everything relaxed": {
        "dense": True,
        "shared_absorbing": False,
        "slip_probability": 0.2,
        "task": "top | left",
    },
    "own goals": {"goals": {"here": (1, 1), "there": (11, 11), "gate": (2, 6)}, "task": "x1"},
    "own map": {"text": "A..#\n.#.B\n....", "task": "x1"},
    "text": {"render_mode": "ansi"},
    "image": {"render_mode": "rgb_array"},
}


@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS.keys())
def test_gymnasium_finds_nothing_to_complain_about(options):
    check_env(gym.make(ID, **options).unwrapped)  # warnings are errors, here as everywhere


def test_a_task_made_with_another_instance_passes_the_check_too():
    check_env(gym.make(ID, task=FourRooms().tasks["top"]).unwrapped)


def run(script):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True
    )


def test_gymnasium_makes_it_by_the_name_of_the_module():
    done = run(
        "import gymnasium as gym, sys\n"
        "assert 'taskalgebra' not in sys.modules\n"
        f"print(gym.make('taskalgebra.envs:{ID}', task='top').unwrapped.task)\n"
        f"print(gym.make_vec('taskalgebra.envs:{ID}', num_envs=2).num_envs)"
    )
    assert done.stdout.split("\n")[:2] == ["Task{top_left, top_right}", "2"], done.stderr


def test_using_four_rooms_registers_it():
    done = run(
        f"import gymnasium as gym, taskalgebra as ta; ta.FourRooms(); print(gym.spec('{ID}').id)"
    )
    assert done.stdout.strip() == ID, done.stderr


def test_registering_needs_no_compiler():
    done = run("import taskalgebra.envs, sys; print('numba' in sys.modules)")
    assert done.stdout.strip() == "False", done.stderr


def test_registering_again_changes_nothing():
    before = gym.spec(ID)
    envs.register()
    assert gym.spec(ID) is before


def test_a_time_limit_is_a_truncation():
    env = gym.make(ID, max_episode_steps=3)
    env.reset(seed=0, options={"state": 0})
    assert [env.step(UP)[2:4] for _ in range(3)] == [(False, False)] * 2 + [(False, True)]


def test_the_task_to_play_may_be_an_expression():
    world = FourRooms(task="top ^ left")
    wanted = dict(zip(world.space.mdp.goal_names, world.task.desired.tolist(), strict=True))
    assert wanted == {
        "top_left": False,
        "top_right": True,
        "bottom_left": True,
        "bottom_right": False,
    }
    world.reset(options={"state": 105})
    assert world.step(0)[1] == 2.0
    world.reset(options={"state": 104})
    assert world.step(0)[1] == -0.1


def test_the_task_to_play_may_be_a_task_of_a_world_made_alike():
    task = FourRooms(slip_probability=0.1).tasks["left"]
    world = FourRooms(slip_probability=0.1, task=task)
    assert world.task is task
    assert world.tasks["left"] == task
    for other in ({}, {"slip_probability": 0.2}, {"slip_probability": 0.1, "r_universal": 3.0}):
        with pytest.raises(ValueError, match=r"another space .* name or an expression"):
            FourRooms(task=task, **other)


def test_goals_of_your_own_replace_those_of_the_paper():
    world = FourRooms(goals={"p": (1, 1), "q": (11, 11), "r": (2, 6)}, task="x1 | x2")
    assert world.space.mdp.goal_names == ("p", "q", "r")
    assert world.space.mdp.cells[104:].tolist() == [[1, 1], [11, 11], [2, 6]]
    assert list(world.tasks) == ["x1", "x2"]
    # Labels count down in binary: p = 10, q = 01, r = 00.
    assert world.tasks["x1"] == world.space.task("p")
    assert world.tasks["x2"] == world.space.task("q")
    assert world.task == world.space.task(["p", "q"])


def test_a_map_of_your_own_has_the_goals_that_stand_on_it():
    world = FourRooms(text="A..\n.#B", goals={"c": (1, 0)}, step_reward=-0.5)
    assert world.space.mdp.goal_names == ("A", "B", "c")
    assert (world.space.mdp.n_states, list(world.tasks)) == (8, ["x1", "x2"])
    assert world.space.r_empty[0] == -0.5
    assert FourRooms(2, text="A..B").space.mdp.n_goals == 2
    assert FourRooms(4, goals=CENTRES).space.mdp.n_states == 108


def pays(world, cell, action=UP):
    """The reward of one action in a cell."""
    world.reset(options={"state": FREE.index(cell)})
    return world.step(action)[1]


def pays_in(world, goal):
    """The terminal reward of a goal."""
    world.reset(options={"state": 104 + list(CENTRES).index(goal)})
    return world.step(UP)[1]


def test_dense_rewards_of_one_goal_are_those_of_the_formula():
    world = FourRooms(dense=True, task="top & left")  # top_left, at (3, 3)
    assert pays(world, (3, 3)) == pytest.approx(-0.1 + 0.1, abs=1e-15)
    assert pays(world, (3, 4)) == pytest.approx(-0.1 + 0.1 * 0.7788007830714049)  # e^(-1/4)
    assert pays(world, (4, 4), LEFT) == pytest.approx(-0.1 + 0.1 * 0.6065306597126334)  # e^(-2/4)
    assert pays(world, (1, 3), STAY) == pytest.approx(-0.1 + 0.1 * 0.36787944117144233)  # e^(-1)
    assert pays(world, (11, 11)) == pytest.approx(-0.1 + 0.1 * exp(-32))
    assert pays_in(world, "top_left") == 2.0 + 0.1
    assert pays_in(world, "top_right") == pytest.approx(-0.1 + 0.1 * exp(-9))
    assert pays_in(world, "bottom_right") == pytest.approx(-0.1 + 0.1 * exp(-18))


def test_dense_rewards_of_several_goals_are_a_mean_over_them():
    top = FourRooms(dense=True, task="top")  # (3, 3) and (3, 9)
    assert pays(top, (3, 3)) == pytest.approx(-0.1 + 0.05 * (1 + exp(-9)))
    assert pays(top, (2, 6)) == pytest.approx(-0.1 + 0.05 * 2 * exp(-10 / 4))
    assert pays_in(top, "top_left") == pytest.approx(2 + 0.05 * (1 + exp(-9)))
    assert pays_in(top, "bottom_left") == pytest.approx(-0.1 + 0.05 * (exp(-9) + exp(-18)))
    every = FourRooms(dense=True)
    assert pays(every, (3, 3)) == pytest.approx(-0.1 + 0.025 * (1 + 2 * exp(-9) + exp(-18)))
    assert pays_in(every, "bottom_left") == pytest.approx(2 + 0.025 * (1 + 2 * exp(-9) + exp(-18)))


def test_the_dense_empty_task_has_the_bonus_of_all_goals():
    """By hand: r_∅ = −0.1 + 0.1/4 · Σ exp(−d²/4) over (3, 3), (3, 9), (9, 3) and (9, 9)."""
    world = FourRooms(dense=True, task="false")
    own = 0.025 * (1 + 2 * 0.00012340980408667956 + 1.522997974471263e-08)  # d² = 0, 36, 36, 72
    assert [pays_in(world, goal) for goal in CENTRES] == pytest.approx([-0.1 + own] * 4, abs=1e-15)
    assert pays(world, (9, 3)) == pytest.approx(-0.1 + own, abs=1e-15)
    aside = exp(-1 / 4) + exp(-37 / 4) + exp(-25 / 4) + exp(-61 / 4)  # (3, 4): d² = 1, 37, 25, 61
    assert pays(world, (3, 4), STAY) == pytest.approx(-0.1 + 0.025 * aside, abs=1e-15)
    gate = 2 * exp(-10 / 4) + 2 * exp(-58 / 4)  # (2, 6): d² = 10, 10, 58, 58
    assert pays(world, (2, 6), LEFT) == pytest.approx(-0.1 + 0.025 * gate, abs=1e-15)


def test_the_bonus_of_the_empty_task_is_that_of_the_universal_one():
    for goals in (4, 40):
        world = FourRooms(goals, dense=True)
        empty, universal = world.find_task("false"), world.find_task("true")
        assert np.array_equal(empty.steps, universal.steps)
        assert universal.goal_reward - empty.goal_reward == pytest.approx(2.1, abs=1e-15)
        assert not world.desired_goals(empty).any() and world.desired_goals(universal).all()


def test_a_dense_expression_is_the_dense_task_of_its_goals():
    world = FourRooms(dense=True)
    assert world.find_task("top & ~top") == world.find_task("false")
    assert world.find_task("~~top") == world.tasks["top"]
    assert world.find_task(parse("top ^ left")) == world.find_task("(top | left) & ~(top & left)")
    assert world.find_task("top & left") != world.tasks["top"] & world.tasks["left"]
    for text, wanted in (("top ^ left", [0, 1, 1, 0]), ("true", [1] * 4), ("~left", [0, 1, 0, 1])):
        assert world.desired_goals(world.find_task(text)).tolist() == wanted


def test_a_dense_task_may_be_given_as_it_is():
    task = FourRooms(dense=True).find_task("top ^ left")
    world = FourRooms(dense=True, task=task, shared_absorbing=False)
    assert world.task is task
    assert world.desired.tolist() == [False, True, True, False]


def test_dense_worlds_widen_the_upper_bound_and_nothing_else():
    dense, sparse = FourRooms(dense=True).space, FourRooms().space
    assert (dense.r_universal == 2.1).all()
    assert (dense.r_empty == -0.1).all()
    assert np.array_equal(dense.mdp.step_reward, sparse.mdp.step_reward)
    assert np.array_equal(dense.mdp.successor, sparse.mdp.successor)


def test_every_dense_task_of_forty_goals_keeps_its_goals():
    world = FourRooms(40, dense=True)
    for name, base in FourRooms(40).tasks.items():
        assert world.desired_goals(world.tasks[name]).tolist() == base.desired.tolist()


def test_a_task_of_its_own_absorbing_set_passes_over_other_goals():
    world = FourRooms(shared_absorbing=False, task="top & left")
    cell = FREE.index((3, 9))
    world.reset(options={"state": cell})
    for _ in range(3):
        assert world.step(STAY) == (cell, -0.1, False, False, {"goal": -1})
    world.reset(options={"state": FREE.index((3, 3))})
    assert world.step(STAY)[0] == 104
    assert world.step(STAY) == (104, 2.0, True, False, {"goal": 0})
    assert world.observation_space.n == 108
    assert np.array_equal(world.mdp.goals, world.space.mdp.goals)


def test_slips_come_as_often_as_they_should():
    world = FourRooms(slip_probability=0.3)
    world.reset(seed=0)
    start = FREE.index((2, 2))
    seen = {}
    for _ in range(6000):
        world.reset(options={"state": start})
        cell = FREE[world.step(RIGHT)[0]]
        seen[cell] = seen.get(cell, 0) + 1
    expected = {(2, 3): 0.7, (1, 2): 0.1, (3, 2): 0.1, (2, 1): 0.1}
    assert set(seen) == set(expected)
    for cell, p in expected.items():
        assert abs(seen[cell] / 6000 - p) < 5 * np.sqrt(p * (1 - p) / 6000)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_goals": 5}, ["4 or 40", "n_goals = 5"]),
        ({"n_goals": 0}, ["4 or 40", "n_goals = 0"]),
        ({"n_goals": 5, "goals": CENTRES}, ["n_goals = 5", "have 4", "leave n_goals out"]),
        ({"n_goals": 40, "text": "A.B"}, ["n_goals = 40", "have 2: A, B"]),
        ({"goals": {}}, ["no goal"]),
        ({"goals": {"p": (0, 0)}}, ["'p'", "(0, 0)", "wall", "free cell"]),
        ({"goals": {"p": (13, 0)}}, ["'p'", "(13, 0)", "outside the map of 13 rows"]),
        ({"text": "..?"}, ["'?'", "row 0, column 2"]),
        ({"render_mode": "human"}, ["'human'", "None, 'ansi' or 'rgb_array'"]),
        ({"slip_probability": 2.0}, ["2.0", "[0, 1]"]),
        ({"slip_probability": -0.1}, ["-0.1", "[0, 1]"]),
        ({"slip_probability": np.nan}, ["slip_probability", "nan"]),
        ({"r_universal": np.nan}, ["r_universal", "nan"]),
        ({"r_universal": np.nan, "dense": True}, ["r_universal", "nan"]),
        ({"r_empty": np.nan}, ["r_empty", "nan"]),
        ({"r_universal": 0.0, "dense": True}, ["dense", "0.1 above r_empty", "0.0 and -0.1"]),
        ({"task": parse("tpo & left")}, ["'tpo'", "Did you mean 'top'?"]),
        ({"step_reward": np.nan}, ["step_reward", "nan"]),
        ({"r_universal": -1.0}, ["r_empty = -0.1", "r_universal = -1"]),
        ({"r_universal": np.inf}, ["r_universal", "inf"]),
        ({"task": "tpo"}, ["'tpo'", "Did you mean 'top'?"]),
        ({"task": "top &"}, ["top &"]),
    ],
)
def test_bad_input_is_refused_in_words(options, words):
    with pytest.raises(ValueError) as caught:
        FourRooms(**options)
    for word in words:
        assert word in str(caught.value)
