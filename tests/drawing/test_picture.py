"""Pictures of policies, cell by cell."""

import re

import numpy as np
import pytest

from taskalgebra.drawing.terminal import picture
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.skills.making import solve
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.finite import from_arrays
from taskalgebra.worlds.grid import from_text


def cells(text):
    """The symbols of a picture without colours, one a cell."""
    return [[line[i : i + 3].strip() for i in range(0, len(line), 3)] for line in text.splitlines()]


def test_arrows_lead_to_the_desired_goal_and_walls_are_walls():
    space = TaskSpace(from_text("#####\n#A.B#\n#.#.#\n#####"))
    shown = solve(space, {"a": ["A"]})["a"].picture()
    wall = "███"
    assert cells(shown) == [
        [wall] * 5,
        [wall, "◆", "←", "◇", wall],
        [wall, "↑", wall, "↑", wall],
        [wall] * 5,
    ]
    assert "\x1b" not in shown


def test_every_arrow_of_four_rooms_comes_closer_to_a_desired_goal():
    world = FourRooms()
    agent = solve(world)["top ^ left"]
    shown = cells(agent.picture())
    moves = {"↑": (-1, 0), "→": (0, 1), "↓": (1, 0), "←": (0, -1)}
    assert (shown[3][9], shown[9][3]) == ("◆", "◆")
    assert (shown[3][3], shown[9][9]) == ("◇", "◇")
    for start in [(r, c) for r in range(13) for c in range(13) if shown[r][c] in moves]:
        r, c = start
        for _ in range(40):
            if shown[r][c] == "◆":
                break
            # A policy passes over goals that it does not want; their arrow is hidden.
            if shown[r][c] == "◇":
                action = agent.act(int(np.flatnonzero((world.space.mdp.cells == (r, c)).all(1))[0]))
                step = list(moves.values())[action]
            else:
                step = moves[shown[r][c]]
            r, c = r + step[0], c + step[1]
        assert shown[r][c] == "◆"


def test_cells_without_a_way_to_a_goal_are_dots():
    space = TaskSpace(from_text("A.#.\n..#."))
    assert cells(solve(space, {"a": ["A"]})["a"].picture())[1][1:5] == ["◆", "←", "███", "·"]


def test_a_task_of_many_rewards_marks_the_best_goal():
    space = TaskSpace(from_text("A.B"))
    task = space.from_rewards([0.5, 1.5])
    shown = picture(task, np.zeros(5), np.zeros(5, int), colour=False)
    assert cells(shown)[1][1:4] == ["◇", "↑", "◆"]


def test_colours_run_from_dark_blue_to_yellow():
    space = TaskSpace(from_text("..A"))
    shown = picture(space.universal, np.array([0.0, 0.5, 1.0, 9.0]), np.zeros(4, int), colour=True)
    first = shown.splitlines()[1]
    backgrounds = re.findall(r"\x1b\[48;2;(\d+);(\d+);(\d+)m", first)
    assert [tuple(map(int, rgb)) for rgb in backgrounds] == [
        (68, 1, 84),
        (33, 145, 140),
        (253, 231, 37),
    ]
    assert re.sub(r"\x1b\[[0-9;]*m", "", first) == "███ ↑  ↑  ◆ ███"


def test_equal_and_infinite_values_are_painted_without_complaint():
    space = TaskSpace(from_text("A.#."))
    agent = solve(space, {"a": ["A"]})["a"]
    assert "\x1b[48" in picture(agent.task, np.zeros(4), agent.actions, colour=True)
    assert "\x1b[48" not in picture(agent.task, np.full(4, -np.inf), agent.actions, colour=True)
    assert " · " in agent.picture(colour=True)


def test_actions_without_an_arrow_show_their_first_letter():
    world = from_arrays(
        [[1, 1], [2, 2], [2, 2]],
        -1.0,
        [2],
        action_names=["jump", "hop"],
        cells=[[0, 0], [0, 1], [0, 1]],
    )
    assert cells(solve(TaskSpace(world), {"g": [0]})["g"].picture())[1][1:3] == ["j", "◆"]


def test_goals_with_a_cell_of_their_own_are_drawn_as_goals():
    world = from_arrays(
        [[1, 3], [2, 0], [2, 2], [3, 3]],
        -1.0,
        [2, 3],
        action_names=["right", "left"],
        cells=[[0, 1], [0, 2], [0, 3], [0, 0]],
    )
    shown = cells(solve(TaskSpace(world), {"g": ["g0"]})["g"].picture())
    assert shown[1][1:5] == ["◇", "→", "→", "◆"]


def test_a_map_without_outer_walls_is_framed_on_all_sides_or_on_none():
    shown = cells(solve(TaskSpace(from_text("A.B")), {"a": ["A"]})["a"].picture())
    walls = [[symbol == "███" for symbol in row] for row in shown]
    assert walls == [row[::-1] for row in walls[::-1]]


def test_a_world_without_a_map_is_refused():
    space = TaskSpace(from_arrays([[1], [1]], -1.0, [1]))
    with pytest.raises(ValueError, match="no map to draw on; make it with from_text, or pass cell"):
        solve(space, {"g": [0]})["g"].picture()
