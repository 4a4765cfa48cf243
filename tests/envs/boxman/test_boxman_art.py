"""What networks and people see of Boxman."""

from hashlib import sha256
from itertools import combinations

import numpy as np
import pytest

from taskalgebra.envs.boxman.art import BODY, FLOOR, OBJECT, WALL, draw
from taskalgebra.envs.boxman.board import PAPER_MAP, PAPER_OBJECTS, Board
from taskalgebra.envs.boxman.games import Games, all_cells
from taskalgebra.envs.boxman.picture import BORDER, CELL, Picture

BOARD = Board.of(PAPER_MAP, list(PAPER_OBJECTS))
SPRITES = draw(BOARD)
PLACES = [BOARD.cell(cell) for cell in PAPER_OBJECTS.values()]
SMALL = Board.of("##### #...# #.#.# #...# #####", ["purple circle", "blue square"])

GOLDEN = {
    "ground": "6fe4d45e9c1c489f4fde4da3a729dce48d65551254bd02fc384248a6a139f028",
    "tiles": "c6650eec530ff63f2d1ab40162e69907606ed19b124dd23e5b53019227cee0ff",
    "frames": "b3384e97939a997c191257d732c1e12c47d2e21c4a7c37cb3a5aa96d791632c1",
    "corners": "3dae0345afd1d24fd48deb496793ab9139841b45de708e5a692d40fd258f679a",
}
"""Networks were trained on these bytes: a change makes all of them worthless."""

# Severity 1 of Machado, Oliveira and Fernandes (2009), on linear RGB.
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
    "grey": [[0.2126, 0.7152, 0.0722]] * 3,
}


def random_codes(board, n, seed=0):
    games = Games(board, draw(board), n, places=None, by_touch=False)
    games.start(np.arange(n), np.random.default_rng(seed))
    codes = games.codes
    codes[::7, 1] = 1 + np.arange(len(codes[::7])) % board.n_objects
    codes[1::5, 0] = codes[1::5, 2]  # the agent on the first object
    codes[2::5, 0] = codes[2::5, -1]  # and on the last
    return codes


def slow_frame(board, sprites, code):
    """The painter, by slices of numpy: the ground, each object, then the agent."""
    if code[1]:
        return sprites.frames[code[1] - 1]
    image, size = sprites.ground.copy(), sprites.tiles.shape[2]
    for i, place in enumerate(code[2:]):
        row, column = sprites.corners[place]
        image[row : row + size, column : column + size] = sprites.tiles[1 + i, 0]
    row, column = sprites.corners[code[0]]
    under = [1 + i for i, place in enumerate(code[2:]) if place == code[0]]
    image[row : row + size, column : column + size] = sprites.tiles[under[0] if under else 0, 1]
    return image


def lab(colour, blindness):
    """A colour as someone sees it, in CIELAB."""
    linear = np.asarray(colour) / 255
    linear = np.where(linear <= 0.04045, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.asarray(BLINDNESS[blindness]) @ linear, 0, 1)
    xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    x, y, z = np.cbrt(np.maximum(xyz @ seen / [0.95047, 1.0, 1.08883], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("name", GOLDEN)
def test_the_sprites_that_networks_see_never_change(name):
    assert sha256(getattr(SPRITES, name).tobytes()).hexdigest() == GOLDEN[name]


def test_frames_are_84_by_84_on_the_board_of_the_paper():
    assert SPRITES.ground.shape == (84, 84, 3)
    assert SPRITES.frames.shape == (6, 84, 84, 3)
    assert SPRITES.tiles.shape == (7, 2, 8, 8, 3)
    assert tuple(SPRITES.ground[0, 0]) == WALL
    assert tuple(SPRITES.ground[10, 10]) == FLOOR


@pytest.mark.parametrize("board", [BOARD, SMALL], ids=["paper", "small"])
@pytest.mark.parametrize("size", [(8, 2), (10, 4), (6, 0)], ids=str)
def test_the_painter_is_that_of_numpy(board, size):
    sprites = draw(board, *size)
    codes = random_codes(board, 70)
    games = Games(board, sprites, 1, places=None, by_touch=False)
    frames = games.frames(codes)
    side = board.side * size[0] + 2 * size[1]
    assert (frames.shape, frames.dtype) == ((70, side, side, 3), np.uint8)
    for code, frame in zip(codes, frames, strict=True):
        assert np.array_equal(frame, slow_frame(board, sprites, code))


@pytest.mark.parametrize(("size", "what"), [((7, 2), "tile is 7"), ((8, 1), "border is 1")])
def test_sizes_must_be_even(size, what):
    with pytest.raises(ValueError, match=f"{what}, expected an even number"):
        draw(BOARD, *size)


def test_frames_are_never_shared():
    games = Games(BOARD, SPRITES, 2, places=np.array(PLACES, np.uint8), by_touch=False)
    games.start(np.arange(2), np.random.default_rng(0))
    before = games.frames()
    kept = before.copy()
    games.step(np.array([1, 3]), np.ones(6, bool))
    games.frames()[:] = 0
    assert np.array_equal(before, kept)
    assert not np.shares_memory(games.frames(), SPRITES.frames)


def test_all_states_of_a_layout_look_different():
    codes = all_cells(np.array([[0, 0, *PLACES]], np.uint8), 58)
    held = np.array([[0, 1 + i, *PLACES] for i in range(6)], np.uint8)
    frames = Games(BOARD, SPRITES, 1, places=None, by_touch=False).frames([*codes, *held])
    assert len({frame.tobytes() for frame in frames}) == 64


def test_layouts_look_different():
    codes = random_codes(BOARD, 3000)
    codes = np.unique(codes[codes[:, 1] == 0], axis=0)
    frames = Games(BOARD, SPRITES, 1, places=None, by_touch=False).frames(codes)
    assert len({frame.tobytes() for frame in frames}) == len(codes)


def test_tiles_look_different_with_and_without_the_agent():
    tiles = SPRITES.tiles.reshape(14, -1).astype(int)
    for one, other in combinations(tiles, 2):
        assert (abs(one - other) > 30).sum() >= 36  # of 192 bytes


def test_the_six_goal_frames_are_far_apart():
    frames = SPRITES.frames.astype(int)
    for (i, one), (j, other) in combinations(enumerate(frames), 2):
        share = (abs(one - other).max(axis=2) > 40).mean()
        same_colour = BOARD.colour(i) == BOARD.colour(j)
        assert share > (0.12 if same_colour else 0.5)
    assert (abs(frames - SPRITES.ground.astype(int)).max(axis=3) > 40).mean(axis=(1, 2)).min() > 0.5


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_the_colours_of_objects_are_told_apart_by_everybody(blindness):
    seen = {name: lab(colour, blindness) for name, colour in OBJECT.items()}
    for one, other in combinations(seen.values(), 2):
        assert np.linalg.norm(one - other) > 18
        assert abs(one[0] - other[0]) > 15  # in lightness alone
    for colour in seen.values():
        assert np.linalg.norm(colour - lab(FLOOR, blindness)) > 25


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_the_agent_is_told_from_the_floor_by_everybody(blindness):
    assert np.linalg.norm(lab(BODY, blindness) - lab(FLOOR, blindness)) > 25


@pytest.fixture(scope="module")
def picture():
    return Picture(BOARD)


def test_the_picture_for_people_is_large(picture):
    frames = picture.frames(np.array([[30, 0, *PLACES], [30, 2, *PLACES]], np.uint8))
    assert (frames.shape, frames.dtype) == ((2, 504, 504, 3), np.uint8)
    assert picture.frames(np.empty((0, 8), np.uint8)).shape == (0, 504, 504, 3)


def test_a_large_picture_shows_every_object_where_it_lies(picture):
    agent = BOARD.cell((4, 1))
    image = picture.frames(np.array([[agent, 0, *PLACES]], np.uint8))[0].astype(int)
    places = {name: OBJECT[name.split()[0]] for name in PAPER_OBJECTS}
    for name, colour in places.items():
        row, column = (BORDER + CELL * n + CELL // 2 for n in PAPER_OBJECTS[name])
        assert abs(image[row + 5, column + 5] - colour).max() < 30
    row, column = (BORDER + CELL * n + CELL // 2 for n in (4, 1))
    assert abs(image[row + 8, column + 8] - BODY).max() < 60
    row, column = (BORDER + CELL * n + CELL // 2 for n in (4, 7))
    assert abs(image[row, column] - FLOOR).max() < 10


def test_large_pictures_of_all_states_differ(picture):
    codes = all_cells(np.array([[0, 0, *PLACES]], np.uint8), 58)
    held = np.array([[0, 1 + i, *PLACES] for i in range(6)], np.uint8)
    frames = picture.frames(np.concatenate((codes, held)))
    assert len({frame.tobytes() for frame in frames}) == 64


def test_large_pictures_are_not_shared(picture):
    codes = np.array([[0, 1, *PLACES], [3, 0, *PLACES]], np.uint8)
    first = picture.frames(codes)
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(picture.frames(codes), kept)


def test_an_object_below_the_agent_is_still_seen_in_large(picture):
    for place, name in zip(PLACES, PAPER_OBJECTS, strict=True):
        image = picture.frames(np.array([[place, 0, *PLACES]], np.uint8))[0].astype(int)
        row, column = BORDER + CELL * BOARD.cells[place]
        tile = image[row : row + CELL, column : column + CELL]
        near = abs(tile - OBJECT[name.split()[0]]).max(axis=2) < 60
        assert near.mean() > 0.1
