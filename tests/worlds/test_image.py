"""Worlds from pictures, against the same maps drawn as text and scipy's labelling of spots."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

import taskalgebra as ta
from taskalgebra.skills.catalogue import open_world

MAP = ["#######", "#A...B#", "###.###", "#C...D#", "#######"]
COLOURS = {"#": (0, 0, 0), ".": (255, 255, 255), "A": (255, 0, 0), "B": (0, 0, 255)}
LEGEND = {"#ff0000": "A", "#0000FF": "B", "#123456": "C", "00fe00": "D"}
COLOURS |= {"C": (0x12, 0x34, 0x56), "D": (0, 0xFE, 0)}
PICTURE = np.array([[COLOURS[symbol] for symbol in row] for row in MAP], np.uint8)
WORLD = ta.from_text(MAP)


@pytest.fixture
def file(tmp_path):
    def write(pixels, name="map.png", mode=None):
        path = tmp_path / name
        Image.fromarray(pixels, mode).save(path)
        return path

    return write


def test_a_picture_is_the_world_of_the_same_map_as_text(file):
    assert ta.from_image(PICTURE, legend=LEGEND) == WORLD
    for name in ("map.png", "map.bmp", "map.tif"):
        for path in (file(PICTURE, name), str(file(PICTURE, name))):
            assert ta.from_image(path, legend=LEGEND) == WORLD
    for changes in (
        {"slip_probability": 0.1},
        {"touch": True},
        {"torus": True, "step_reward": -0.5},
        {"starts": [(1, 1)]},
    ):
        assert ta.from_image(PICTURE, legend=LEGEND, **changes) == ta.from_text(MAP, **changes)


def test_greys_truth_values_and_transparent_pixels():
    free = np.array([[symbol != "#" for symbol in row] for row in MAP])
    goals = {"A": (1, 1), "B": (1, 5), "C": (3, 1), "D": (3, 5)}
    opaque = np.where(free, 0, 255).astype(np.uint8)
    black_on_nothing = np.concatenate((np.zeros((5, 7, 3), np.uint8), opaque[:, :, None]), axis=2)
    for picture in (
        free,
        free * 255,
        np.where(free, 128, 127).astype(np.uint8),
        free.astype(np.float32),
        np.where(free, 0.5, 0.49)[:, :, None].repeat(3, axis=2),
        black_on_nothing,
    ):
        assert ta.from_image(picture, goals) == WORLD
    assert ta.from_image(np.where(free, 60, 40), goals, threshold=0.2) == WORLD


def test_a_spot_is_one_goal_in_its_middle_and_several_are_numbered():
    rng = np.random.default_rng(3)
    picture = np.full((40, 60, 3), 255, np.uint8)
    marked = rng.random((40, 60)) < 0.03
    marked |= np.roll(marked, 1, axis=1) | np.roll(marked, (1, 1), axis=(0, 1))
    picture[marked] = (0, 0, 255)
    labels, n = ndimage.label(marked, structure=np.ones((3, 3)))
    world = ta.from_image(picture)
    assert world.goal_names == tuple(f"blue {i + 1}" for i in range(n)) and n > 10
    assert world.n_states == 40 * 60 + n  # pixels of goals are free, though blue is dark
    middles = ndimage.center_of_mass(marked, labels, range(1, n + 1))
    firsts = [np.argwhere(labels == i + 1)[0].tolist() for i in range(n)]
    assert firsts == sorted(firsts)
    for i, cell in enumerate(world.cells[world.goals]):
        assert labels[tuple(cell)] == i + 1
        spot = np.argwhere(labels == i + 1)
        nearest = ((spot - middles[i]) ** 2).sum(axis=1).min()
        assert ((cell - middles[i]) ** 2).sum() == pytest.approx(nearest)


def test_compressed_pictures_need_a_tolerance(file):
    picture = PICTURE.repeat(8, axis=0).repeat(8, axis=1)
    path = file(picture, "map.jpg")
    with pytest.raises(ValueError, match="give one of these, or a tolerance"):
        ta.from_image(path, legend={"#ff0000": "A"})
    world = ta.from_image(path, legend={"#ff0000": "A"}, tolerance=30)
    row, column = world.cells[world.goals[0]]
    assert 8 <= row < 16 and 8 <= column < 16


def test_the_command_opens_pictures_with_a_task_for_each_colour(file):
    picture = np.full((6, 9, 3), 255, np.uint8)
    picture[0, 0] = picture[5, 8] = (255, 0, 0)
    picture[3, :7] = 0
    picture[5, 0] = (0, 255, 255)
    path = file(picture)
    world = open_world(str(path))
    assert list(world.tasks) == ["red 1", "red 2", "cyan", "red"]
    assert world.space == ta.from_file(path).space
    assert ta.solve(world)["red & ~'red 1'"].task == world.space.task(["red 2"])
    slippery = ta.from_file(path, slip_probability=0.1, touch=True, r_universal=3.0)
    assert not slippery.space.mdp.deterministic and slippery.space.r_universal[0] == 3.0


def test_without_pillow_the_extra_is_named_and_arrays_still_work(file, monkeypatch):
    path = file(PICTURE)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ModuleNotFoundError, match=r"Pillow: pip install \"taskalgebra\[images\]\""):
        ta.from_image(path, legend=LEGEND)
    assert ta.from_image(PICTURE, legend=LEGEND) == WORLD


WRONG = {
    "no goal": (PICTURE[2:3], {}, "no goal; paint one"),
    "a shape": (np.zeros((2, 2, 2), np.uint8), {}, r"shape \(2, 2, 2\)"),
    "nothing": (np.zeros((0, 4), np.uint8), {}, "shape"),
    "large numbers": (np.full((2, 2), 300), {}, "from 300 to 300, expected 0 to 255"),
    "large fractions": (np.full((2, 2), 2.0), {}, "from 0 to 1"),
    "not a number": (np.full((2, 2), np.nan), {}, "from 0 to 1"),
    "words": (np.array([["a"]]), {}, "expected numbers or truth values"),
    "a missing colour": (
        PICTURE,
        {"legend": {"#abcdef": "x"}},
        "no pixel has the colour #abcdef of 'x'; .*#000000",
    ),
    "no colour": (PICTURE, {"legend": {"red": "x"}}, "'red' is none"),
    "no name": (PICTURE, {"legend": {"#ff0000": ""}}, "expected a goal's name"),
    "one name twice": (PICTURE, {"legend": {"#ff0000": "x", "#0000ff": "x"}}, "two colours"),
    "colours alike": (
        PICTURE,
        {"legend": {"#ff0000": "x", "#fe0000": "y"}, "tolerance": 1},
        "lower the tolerance",
    ),
    "a threshold": (PICTURE, {"threshold": 128}, "threshold is 128"),
    "a tolerance": (PICTURE, {"tolerance": 256}, "tolerance is 256"),
    "a goal in a wall": (PICTURE, {"goals": {"x": (0, 0)}}, "in a wall"),
    "a goal outside": (PICTURE, {"goals": {"x": (9, 0)}}, "outside the map"),
    "a goal twice": (PICTURE, {"goals": {"red": (3, 3)}}, "given again"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_picture_is_refused_in_words(case):
    picture, arguments, said = WRONG[case]
    with pytest.raises(ValueError, match=said):
        ta.from_image(picture, **arguments)


def test_files_that_are_no_pictures_are_refused_in_words(file, tmp_path):
    text = tmp_path / "text.png"
    text.write_text("#####")
    cut = tmp_path / "cut.png"
    noise = np.random.default_rng(0).integers(0, 256, (50, 50, 3)).astype(np.uint8)
    cut.write_bytes(file(noise).read_bytes()[:4_000])
    film = tmp_path / "film.gif"
    frames = [Image.fromarray(PICTURE), Image.fromarray(PICTURE[::-1].copy())]
    frames[0].save(film, save_all=True, append_images=frames[1:])
    deep = tmp_path / "deep.png"
    Image.fromarray(np.zeros((4, 4), np.uint16)).save(deep)
    for path, said in (
        (tmp_path / "none.png", "does not exist"),
        (tmp_path, "is a directory"),
        (text, "no picture that can be read"),
        (cut, "is damaged"),
        (film, "2 frames"),
        (deep, "8 bits per colour"),
    ):
        with pytest.raises(ValueError, match=said):
            ta.from_image(path)


def test_pictures_that_are_too_large_are_refused_before_they_are_read(file, monkeypatch):
    monkeypatch.setattr("taskalgebra.worlds.image.MOST_PIXELS", 30)
    for image in (PICTURE, file(PICTURE)):
        with pytest.raises(ValueError, match="7 × 5 pixels, and 30 are the most; scale it down"):
            ta.from_image(image)


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.float32])
def test_arrays_that_are_too_large_are_refused_before_they_are_copied(kind):
    huge = np.broadcast_to(kind(1), (2**20, 2**20))
    with pytest.raises(ValueError, match="1,048,576 × 1,048,576 pixels, and 67,108,864 are the"):
        ta.from_image(huge, {"a": (0, 0)})
