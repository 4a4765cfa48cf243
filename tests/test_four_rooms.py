"""Four Rooms, against the description of the paper and a search on its map."""

from collections import deque

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.planning import optimal_v

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


@pytest.mark.parametrize("n_goals", [4, 40])
def test_gymnasium_finds_nothing_to_complain_about(n_goals):
    check_env(FourRooms(n_goals), skip_render_check=True)


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_goals": 5}, ["4 or 40", "n_goals = 5"]),
        ({"n_goals": 0}, ["4 or 40", "n_goals = 0"]),
        ({"slip_probability": 2.0}, ["2.0", "[0, 1]"]),
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
