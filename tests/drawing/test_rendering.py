"""What `render` shows: text and images of worlds."""

import gymnasium as gym
import numpy as np
import pytest

from taskalgebra.drawing.image import (
    AGENT,
    DESIRED,
    DESIRED_FLOOR,
    FLOOR,
    OTHER,
    OTHER_FLOOR,
    WALL,
)
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text

STAY = 4
SPACE = TaskSpace(from_text("A.B\n.#."))  # cells 0 … 4, goals 5 and 6
WANTS_A = SPACE.task("A")


def shown(state, mode, task=WANTS_A):
    world = FiniteEnv(SPACE, task=task, render_mode=mode)
    if state is not None:
        world.reset(options={"state": state})
    return world.render()


def pixel(image, row, column, place):
    """The colour of a cell of SPACE, which a ring of wall surrounds, at a place in the cell."""
    y, x = (row + 1) * 24 + place[0], (column + 1) * 24 + place[1]
    return tuple(int(channel) for channel in image[y, x])


CENTRE, SIDE, CORNER = (12, 12), (12, 4), (3, 3)


def test_text_shows_walls_goals_and_the_agent():
    assert shown(1, "ansi").split("\n") == [
        "███████████████",
        "███ ◆  @  ◇ ███",
        "███   ███   ███",
        "███████████████",
    ]


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (0, "███ @◆    ◇ ███"),
        (5, "███◆@◆    ◇ ███"),
        (2, "███ ◆     @◇███"),
        (6, "███ ◆    ◇@◇███"),
        (None, "███ ◆     ◇ ███"),
    ],
)
def test_text_tells_the_cell_of_a_goal_from_the_goal(state, line):
    assert shown(state, "ansi").split("\n")[1] == line
    assert "\x1b" not in shown(state, "ansi")


def test_text_of_four_rooms_is_the_map():
    world = FourRooms(task="top & left", render_mode="ansi")
    world.reset(options={"state": 0})
    rows = world.render().split("\n")
    assert [len(row) for row in rows] == [39] * 13
    assert rows[0] == "█" * 39
    assert rows[1] == "███ @             ███               ███"
    assert rows[3] == "███       ◆       ███       ◇       ███"
    assert rows[6] == "██████   ████████████               ███"


def test_images_are_as_large_as_the_map():
    image = FourRooms(render_mode="rgb_array").render()
    assert (image.shape, image.dtype) == ((13 * 24, 13 * 24, 3), np.uint8)


def test_images_show_walls_floor_goals_and_the_agent():
    image = shown(1, "rgb_array")
    assert pixel(image, -1, -1, CENTRE) == WALL
    assert pixel(image, 1, 1, CENTRE) == WALL
    assert pixel(image, 1, 0, CENTRE) == FLOOR
    assert pixel(image, 0, 1, CENTRE) == AGENT
    assert pixel(image, 0, 1, CORNER) == FLOOR
    assert pixel(image, 0, 0, CENTRE) == DESIRED
    assert pixel(image, 0, 0, CORNER) == DESIRED_FLOOR
    assert pixel(image, 0, 2, SIDE) == OTHER
    assert pixel(image, 0, 2, CENTRE) == OTHER_FLOOR


def test_images_tell_the_cell_of_a_goal_from_the_goal():
    on_the_cell, in_the_goal = shown(0, "rgb_array"), shown(5, "rgb_array")
    for image in (on_the_cell, in_the_goal):
        assert pixel(image, 0, 0, CENTRE) == AGENT
    assert pixel(on_the_cell, 0, 0, CORNER) == DESIRED_FLOOR
    assert pixel(in_the_goal, 0, 0, CORNER) == DESIRED
    assert pixel(shown(6, "rgb_array"), 0, 2, CORNER) == OTHER


def test_shapes_are_in_the_middle_of_their_cells():
    for state, cell in ((1, (0, 1)), (None, (0, 0)), (None, (0, 2))):
        image = shown(state, "rgb_array").astype(int)
        top, left = (cell[0] + 1) * 24 + 1, (cell[1] + 1) * 24 + 1
        tile = image[top + 2 : top + 21, left + 2 : left + 21]  # the inner of 23 × 23 pixels
        assert np.array_equal(tile, tile[::-1])
        assert np.array_equal(tile, tile[:, ::-1])


def test_the_marks_are_those_of_the_task():
    assert shown(None, "ansi", SPACE.universal).count("◆") == 2
    assert shown(None, "ansi", SPACE.empty).count("◇") == 2
    dense = FourRooms(dense=True, task="top ^ left", render_mode="ansi").render()
    assert (dense.count("◆"), dense.count("◇")) == (2, 2)


def test_the_last_frame_of_an_episode_shows_the_agent_in_its_goal():
    world = FiniteEnv(SPACE, task=WANTS_A, render_mode="ansi")
    world.reset(options={"state": 0})
    world.step(STAY)
    assert world.step(STAY)[2]
    assert "◆@◆" in world.render()


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_a_new_task_is_drawn_with_its_own_goals(mode):
    world = FiniteEnv(SPACE, task=WANTS_A, render_mode=mode)
    before = world.render()
    world.task = SPACE.task("B")
    assert not np.array_equal(world.render(), before)
    assert np.array_equal(world.render(), shown(None, mode, SPACE.task("B")))


def test_frames_are_not_shared():
    world = FiniteEnv(SPACE, render_mode="rgb_array")
    world.render()[:] = 0
    assert world.render().any()


def test_large_maps_make_images_of_a_bearable_size():
    space = TaskSpace(from_text("A" + "." * 199 + "\n" + ("." * 200 + "\n") * 99))
    image = FiniteEnv(space, render_mode="rgb_array").render()
    assert image.shape == (102 * 5, 202 * 5, 3)


def test_without_a_render_mode_there_is_a_warning_and_no_frame():
    world = FiniteEnv(SPACE)
    world.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render mode"):
        assert world.render() is None


def test_gymnasium_collects_frames():
    env = gym.make("TaskAlgebra/FourRooms-v0", render_mode="rgb_array_list")
    env.reset(seed=0)
    env.step(0)
    assert len(env.render()) == 2


@pytest.mark.parametrize("mode", ["human", "text", 3])
def test_unknown_render_modes_are_refused(mode):
    with pytest.raises(ValueError, match=rf"{mode!r}, expected None, 'ansi' or 'rgb_array'"):
        FiniteEnv(SPACE, render_mode=mode)


def test_a_world_without_a_map_has_no_render_modes():
    space = TaskSpace(from_arrays([[1], [1]], -1.0, [1]))
    assert FiniteEnv(space).metadata["render_modes"] == []
    assert FiniteEnv.metadata["render_modes"] == ["ansi", "rgb_array"]
    with pytest.raises(ValueError, match="'ansi', but this world has no map to draw on; make it"):
        FiniteEnv(space, render_mode="ansi")
