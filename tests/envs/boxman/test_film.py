"""The pictures of a film."""

from __future__ import annotations

import numpy as np
import pytest

import taskalgebra as ta


@pytest.fixture(scope="module")
def env():
    return ta.Boxman(layout="random")


def test_on_a_cell_the_agent_is_drawn_as_in_the_large_picture(env):
    layout = env.one_layout(3)
    objects = layout.code[2:]
    for cell in (int(objects[0]), int(np.setdiff1d(np.arange(50), objects)[7])):
        row, column = env.board.cells[cell].tolist()
        frame = env.film_frame(layout, (row, column)).astype(int)
        large = env.picture([[cell, 0, *objects]])[0]
        assert np.abs(frame - large).max() <= 1  # the ground was rounded before


def test_between_two_cells_only_these_are_touched(env):
    layout = env.one_layout(3)
    frame = env.film_frame(layout, (1.0, 3.5))
    changed = np.argwhere((frame != layout.image).any(axis=2))
    border = len(layout.image) % layout.pixels // 2
    cells = (changed - border) // layout.pixels
    assert {tuple(cell) for cell in cells.tolist()} == {(1, 3), (1, 4)}


def test_in_a_goal_the_goal_frame_is_seen(env):
    layout = env.one_layout(3)
    frame = env.film_frame(layout, (0.0, 0.0), goal=2)
    assert (frame == env.picture([[layout.code[0], 3, *layout.code[2:]]])[0]).all()


def test_worlds_without_pictures_have_no_frames():
    env = ta.FourRooms()
    assert env.film_frame(env.one_layout(0), (1.0, 1.0)) is None
