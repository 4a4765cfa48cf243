"""Maps of worlds in which cells and states are not one to one, or some cells have no value."""

import re
from base64 import b64decode
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from PIL import Image

import taskalgebra as ta
from taskalgebra.drawing.plots.maps import FLOOR, UNKNOWN, WALL


@pytest.fixture(autouse=True)
def _no_figure_left():
    yield
    pyplot.close("all")


def colour_at(axes, row, column):
    """The colour of a cell, near its edge, where neither arrow nor diamond is."""
    axes.figure.canvas.draw()
    pixels = np.asarray(axes.figure.canvas.buffer_rgba())
    x, y = axes.transData.transform((column - 0.42, row - 0.42))
    return pixels[pixels.shape[0] - 1 - round(y), round(x), :3] / 255


def svg_pixels(thing):
    """The colours of the map of a notebook, one pixel a cell, with the wall around it."""
    page = thing._repr_html_()
    data = re.search(r'href="data:image/png;base64,([^"]+)"', page).group(1)
    image = np.asarray(Image.open(BytesIO(b64decode(data))))
    _, _, columns, rows = re.search(r'viewBox="(0) (0) (\d+) (\d+)"', page).groups()
    side = image.shape[0] // int(rows)
    return image[side // 2 :: side, side // 2 :: side][: int(rows), : int(columns)]


@pytest.fixture(scope="module")
def lake():
    """A lake whose holes and gift are states of their own, on cells of their own."""
    nexts = np.array([[0, 1], [0, 2], [1, 3], [2, 3]])
    cells = [[0, 0], [0, 1], [0, 2], [0, 3]]
    return ta.from_arrays(nexts, -0.1, [3], goal_names=["gift"], cells=cells)


def test_goals_on_cells_of_their_own_are_no_walls(lake):
    agent = ta.solve(lake, {"gift": ["gift"]})["gift"]
    for axes, colour in ((lake.plot(), FLOOR), (agent.plot(), UNKNOWN)):
        assert np.allclose(colour_at(axes, 1, 4), to_rgb(colour), atol=0.02)
        assert np.allclose(colour_at(axes, 1, 5), to_rgb(WALL), atol=0.02)
    wall = (120, 124, 132, 190)
    for thing in (lake, agent):
        shown = svg_pixels(thing)
        assert shown.shape[:2] == (3, 6)
        assert tuple(shown[1, 4]) != wall and tuple(shown[1, 5]) == wall


def test_a_map_holds_goals_that_lie_beyond_all_other_cells(lake):
    far = replace(lake, cells=np.array([[0, 0], [0, 1], [0, 2], [2, 5]]))
    axes = ta.solve(far, {"gift": ["gift"]})["gift"].plot()
    assert axes.images[0].get_array().shape == (5, 8)
    (x,), (y,) = next(line for line in axes.lines if len(line.get_xdata()) == 1).get_data()
    assert (x, y) == (6, 3)


def test_cells_without_a_way_to_a_goal_are_neither_walls_nor_values():
    world = ta.from_text("A..#..")
    axes = ta.solve(world, {"a": ["A"]})["a"].plot()
    assert np.allclose(colour_at(axes, 1, 5), to_rgb(UNKNOWN), atol=0.02)
    assert np.allclose(colour_at(axes, 1, 4), to_rgb(WALL), atol=0.02)
    assert "grey: no way from there" in axes.get_xlabel()
    assert axes.images[0].get_array().shape == (3, 8)


def test_of_several_states_on_a_cell_the_first_is_drawn_as_in_text():
    nexts = np.array([[1, 3], [2, 4], [2, 2], [4, 0], [5, 1], [5, 5]])
    cells = [[0, 0], [0, 1], [0, 2]] * 2
    names = ["right", "stay"]
    world = ta.from_arrays(nexts, -0.1, [2, 5], cells=cells, action_names=names)
    agent = ta.solve(world, {"a": ["g0"]})["a"]
    axes = agent.plot()
    shown = np.ma.filled(axes.images[0].get_array(), np.nan)
    assert np.array_equal(shown[1, 1:3], agent.v[:2])
    quiver = next(one for one in axes.collections if hasattr(one, "U"))
    assert quiver.U.size == 2  # an arrow a cell
    assert agent.picture().count("→") == 2
    shape = re.search(r"<path d=\"(M[^\"]+)\" fill=\"#fff\"", agent._repr_html_()).group(1)
    assert len(re.findall(r"M\d\.5 ", shape)) == 2


def test_goals_on_grey_cells_of_a_notebook_have_the_colour_of_its_text():
    nexts = np.array([[0, 1], [0, 2], [2, 2], [3, 3]])
    cells = [[0, 0], [0, 1], [0, 2], [0, 3]]
    world = ta.from_arrays(nexts, -0.1, [2, 3], goal_names=["hole", "far"], cells=cells, starts=[0])
    page = ta.solve(world, {"far": ["far"]})["far"]._repr_html_()
    edges = re.findall(r'fill="none" stroke="([^"]+)"', page)
    assert edges == ["currentColor"]
    rooms = ta.solve(ta.FourRooms(), ["top", "left"])["top"]._repr_html_()
    assert re.findall(r'fill="none" stroke="([^"]+)"', rooms) == ["#fff"] * 2
