"""Plots: like stored pictures, true to the values, and polite to matplotlib."""

import sys
from dataclasses import replace
from importlib import util
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

import taskalgebra as ta
from taskalgebra.drawing.graphs import positions
from taskalgebra.drawing.plots.figures import plot_loss, plot_returns

spec = util.spec_from_file_location("scenes", Path(__file__).parent / "scenes.py")
scenes = util.module_from_spec(spec)
sys.modules["scenes"] = scenes
spec.loader.exec_module(scenes)

SAME, OTHER = 5.0, 8.0  # the root mean square of 255; fonts differ by less, tasks by more


@pytest.fixture(autouse=True)
def _nothing_is_shown_and_no_figure_left(monkeypatch):
    def shown(*_, **__):
        raise AssertionError("a figure was shown unasked")

    monkeypatch.setattr(pyplot, "show", shown)
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def agent():
    return scenes.rooms()["top ^ left"]


@pytest.mark.parametrize("name", scenes.SCENES)
def test_a_plot_looks_as_it_did_and_that_of_another_task_does_not(name):
    draw, other = scenes.SCENES[name]
    before = scenes.stored(name)
    assert scenes.difference(before, scenes.drawn(draw)) < SAME
    assert scenes.difference(before, scenes.drawn(other)) > OTHER


def test_stored_pictures_are_those_of_the_scenes():
    assert {path.stem for path in scenes.PICTURES.glob("*.png")} == set(scenes.SCENES)


def shown_values(axes):
    """The values in a panel, one per pixel of its image."""
    return np.ma.filled(axes.images[0].get_array(), np.nan)


def test_colours_are_values_and_arrows_lead_where_actions_do(agent):
    mdp = agent.task.space.mdp
    axes = agent.plot()
    live = np.flatnonzero(~mdp.is_goal)
    rows, columns = mdp.cells[live].T
    assert np.array_equal(shown_values(axes)[rows, columns], agent.v[live])
    quiver = next(one for one in axes.collections if hasattr(one, "U"))
    at_goal = {tuple(mdp.cells[goal]) for goal in mdp.goals}
    moving = [
        s
        for s in live
        if tuple(mdp.cells[s]) not in at_goal and mdp.action_names[agent.actions[s]] != "stay"
    ]
    after = mdp.cells[mdp.next_state[moving, agent.actions[moving]]] - mdp.cells[moving]
    assert len(moving) == quiver.U.size
    assert np.array_equal(np.sign(quiver.V), after[:, 0])
    assert np.array_equal(np.sign(quiver.U), after[:, 1])


def test_slices_are_the_best_values_by_goal(agent):
    mdp = agent.task.space.mdp
    live = np.flatnonzero(~mdp.is_goal)
    rows, columns = mdp.cells[live].T
    slices = agent.q_bar(live).max(axis=2)
    for goal, axes in enumerate(agent.plot_goals()):
        assert axes.get_title() == mdp.goal_names[goal]
        assert np.array_equal(shown_values(axes)[rows, columns], slices[:, goal])


def test_rows_of_a_composition_are_composed_of_the_rows_above_as_definition_4_says():
    agent = scenes.rooms()["top & ~left"]
    panels = agent.plot_composition()
    top, left, other, both = ([shown_values(axes) for axes in row[:-1]] for row in panels)
    universal, empty = (scenes.rooms()[word] for word in ("true", "false"))
    mdp = agent.task.space.mdp
    live = np.flatnonzero(~mdp.is_goal)
    rows, columns = mdp.cells[live].T
    bounds = [one.q_bar(live).max(axis=2) for one in (universal, empty)]
    for goal in range(mdp.n_goals):
        picked = [one[goal][rows, columns] for one in (top, left, other, both)]
        assert np.allclose(picked[2], bounds[0][:, goal] + bounds[1][:, goal] - picked[1])
        assert np.allclose(picked[3], np.minimum(picked[0], picked[2]))
    assert np.allclose(shown_values(panels[-1, -1])[rows, columns], agent.v[live])
    assert [row[0].texts[0].get_text() for row in panels] == [
        "1   top:  base task",
        "2   left:  base task",
        "3   ~left:  2, turned round",
        "4   top & ~left:  the minimum of 1 and 3",
    ]
    how = scenes.rooms()["(top ^ left) | true"].plot_composition()[2:, 0]
    assert [axes.texts[0].get_text().partition(":  ")[2] for axes in how] == [
        *("1 or 2, not both", "", "the maximum of 3 and 4")
    ]


def marked(axes):
    """Where a panel has filled diamonds, diamonds, and rings: goals as (row, column)."""
    found = {"filled": set(), "diamonds": set(), "rings": set()}
    for line in axes.lines:
        places = {(round(y), round(x)) for x, y in line.get_xydata()}
        if line.get_marker() == "o":
            found["rings"] |= places
        else:
            found["diamonds"] |= places
            if line.get_markerfacecolor() != "none":
                found["filled"] |= places
    return found


def test_slices_mark_wanted_goals_and_ring_the_goal_that_they_are_about(agent):
    mdp = agent.task.space.mdp
    at = [tuple(cell) for cell in mdp.cells[mdp.goals].tolist()]
    wanted = {cell for cell, one in zip(at, agent.task.wanted, strict=True) if one}
    assert 0 < len(wanted) < len(at)
    for panels in (agent.plot_goals(), agent.plot_composition()[-1, :-1]):
        for goal, axes in enumerate(panels):
            assert marked(axes) == {"filled": wanted, "diamonds": set(at), "rings": {at[goal]}}
    last = agent.plot_composition()[0, -1]
    top = {cell for cell, name in zip(at, mdp.goal_names, strict=True) if "top" in name}
    assert marked(last)["filled"] == top
    (axes,) = agent.plot_goals(goals=[2])
    assert marked(axes)["rings"] == {at[2]}
    assert len(agent.plot_goals(goals=[2, 0, "bottom_left"])) == 2


@pytest.mark.parametrize("text", ["top ^ left", "coffee | mail"])
def test_figures_of_panels_are_no_wider_than_a_page_and_their_words_fit(text):
    agent = (scenes.rooms() if "top" in text else scenes.office())[text]
    for panels in (agent.plot_composition(), agent.plot_goals()):
        figure = np.ravel(panels)[0].figure
        figure.canvas.draw()
        assert figure.get_size_inches()[0] <= 8.0
        for axes in figure.axes:
            for words in (axes.title, *axes.texts):
                box = words.get_window_extent()
                assert box.x0 >= 0 and box.x1 <= figure.bbox.width
                assert words.get_text().strip() == "" or words.get_fontsize() >= 8


def test_what_is_drawn_on_given_axes_stays_inside_of_them(agent):
    figure, (axes, _) = pyplot.subplots(1, 2, figsize=(5, 2.5))
    agent.evaluate(50, seed=0).plot(axes)
    figure.canvas.draw()
    legend, box = axes.get_legend().get_window_extent(), axes.get_window_extent()
    assert box.x0 <= legend.x0 and legend.x1 <= box.x1


def test_names_of_goals_that_lie_near_each_other_are_smaller_on_a_small_map():
    small = mpl.figure.Figure(figsize=(2.5, 2.0)).add_subplot()
    sizes = [ta.Office().plot(axes).texts[0].get_fontsize() for axes in (None, small)]
    assert sizes[1] < sizes[0]
    maze = ta.from_text(["." * 60] * 40, {"A": (1, 1), "B": (30, 50)})
    sizes = [maze.plot(axes).texts[-1].get_fontsize() for axes in (None, small)]
    assert sizes[1] == sizes[0]


def test_short_names_are_written_for_more_goals_than_long_ones():
    assert [one.get_text() for one in ta.LetterWorld(seed=4).plot().texts][:3] == [
        *("a 1", "a 2", "b 1")
    ]
    long = {f"a long name {i}": (0, i) for i in range(20)}
    assert list(ta.from_text(["." * 20], long).plot().texts) == []


def test_axes_that_are_given_are_drawn_on_and_returned_and_pyplot_knows_of_no_other(agent):
    office = scenes.office()[scenes.FORMULA]
    figure = mpl.figure.Figure()
    settings = dict(mpl.rcParams)
    for draw in (
        agent.plot,
        office.plot,
        office.automaton.plot,
        agent.evaluate(20).plot,
        scenes.slippery()["top"].certificate().plot,
        agent.task.space.mdp.plot,
        ta.Office().plot,
        scenes.graph()["a"].plot,
    ):
        axes = figure.add_subplot()
        assert draw(axes) is axes
        assert draw(ax=axes) is axes
    part = mpl.figure.Figure().subfigures(1, 2)[0]
    for panels in (agent.plot_goals(part), scenes.rooms().plot_goals("top", part)):
        assert all(axes.figure is part for axes in np.ravel(panels))
    assert pyplot.get_fignums() == []
    assert dict(mpl.rcParams) == settings
    with pytest.raises(TypeError, match="ax must be the Axes of matplotlib"):
        agent.plot(figure)
    with pytest.raises(TypeError, match="figure must be a Figure"):
        agent.plot_goals(3)


def test_plots_have_the_colours_of_the_readers_style(agent):
    with mpl.style.context("dark_background"):
        axes = agent.plot()
        assert axes.title.get_color() == "white"
        assert axes.figure.get_facecolor() == (0, 0, 0, 1)
    with mpl.rc_context({"image.cmap": "cividis"}):
        assert agent.plot().images[0].get_cmap().name == "cividis"
    assert agent.plot().images[0].get_cmap().name == "viridis"


def test_names_are_words_and_no_mathematics():
    world = ta.from_text("A..B")
    skills = ta.solve(world, {"$x$": ["A"], r"\frac": ["B"]})
    axes = skills['"$x$"'].plot()
    axes.figure.canvas.draw()
    assert axes.get_title() == r"'\$x\$'"


def test_wide_maps_have_values_and_no_arrows():
    world = ta.from_text(["." * 70, "A" + "." * 69])
    axes = ta.solve(world, {"a": ["A"]})["a"].plot()
    assert len(axes.images) == 1
    assert not any(hasattr(one, "U") for one in axes.collections)


def test_what_cannot_be_drawn_is_refused_in_words(agent):
    big = replace(ta.from_text(["." * 20] * 20, {"A": (0, 0)}), cells=None)
    with pytest.raises(ValueError, match=r"no map, and its 401 states are too many .* most 300"):
        big.plot()
    with pytest.raises(ValueError, match="slices are drawn on a map, and this world has none"):
        scenes.graph()["a"].plot_goals()
    with pytest.raises(ValueError, match="13 different subformulas, too many rows"):
        names = [f"t{i}" for i in range(7)]
        world = ta.from_text("ABC.DEFG")
        skills = ta.solve(world, {n: [g] for n, g in zip(names, "ABCDEFG", strict=True)})
        skills[" | ".join(names)].plot_composition()
    with pytest.raises(ValueError, match=r"goals is empty; name some of top_left"):
        agent.plot_goals(goals=[])
    with pytest.raises(ValueError, match="unknown goal 'attic'"):
        agent.plot_goals(goals=["attic"])
    with pytest.raises(ValueError, match=r"for a Boolean|formula over time"):
        scenes.rooms().plot_goals("F top")
    with pytest.raises(ValueError, match="state"):
        scenes.office()[scenes.FORMULA].plot(state=9)
    with pytest.raises(ValueError, match="no loss start by start"):
        scenes.office()[scenes.FORMULA].certificate().plot()


def test_goals_may_be_chosen(agent):
    (axes,) = agent.plot_goals(goals="top_right")
    assert axes.get_title() == "top_right"
    assert agent.plot_composition(goals=[2]).shape == (3, 2)


def test_of_many_goals_a_composition_shows_those_that_its_rows_treat_differently():
    agent = scenes.office()["coffee | mail"]
    names = [axes.get_title() for axes in agent.plot_composition()[0, :-1]]
    assert names == ["A", "B", "C", "D", "coffee 1", "mail"]


@pytest.mark.parametrize("flat", [True, False])
def test_figures_of_panels_have_the_shape_of_the_map(flat):
    cells = np.full((3, 9) if flat else (9, 3), ".")
    cells[0, 0], cells[-1, -1] = "A", "B"
    world = ta.from_text(["".join(row) for row in cells])
    agent = ta.solve(world, {"a": ["A"], "b": ["B"]})["~(a | b)"]
    width, height = agent.plot_composition()[0, 0].figure.get_size_inches()
    assert (height < 6.0) if flat else (width < 6.0)
    width, height = agent.plot_goals()[0].figure.get_size_inches()
    assert (height < 2.5) if flat else (width < 3.5)


def test_arrows_of_a_narrow_map_are_as_thick_as_those_of_a_square_one():
    thick = []
    for n_columns in (3, 12):
        rows = ["A" + "." * (n_columns - 1), *["." * n_columns] * 11]
        axes = ta.solve(ta.from_text(rows), {"a": ["A"]})["a"].plot()
        quiver = next(one for one in axes.collections if hasattr(one, "U"))
        thick.append(quiver.width * (n_columns + 2))  # cells: a share of the width of the map
    assert thick[0] == pytest.approx(thick[1])


def test_actions_that_are_no_moves_are_letters_and_only_to_stay_is_a_dot():
    n = 9
    after = np.tile(np.arange(n)[:, None], (1, 4))
    after[:, 1] = np.minimum(np.arange(n) + 1, n - 1)
    after[5, 2], after[5, 3] = 8, 0
    actions, cells = ["stay", "right", "jump", "up"], [(0, i) for i in range(n)]
    world = ta.from_arrays(
        after, -0.1, [0, 8], goal_names=["a", "b"], action_names=actions, cells=cells
    )
    agent = ta.solve(world, {"b": ["b"]})["b"]
    axes = agent.plot()
    assert [one.get_text() for one in axes.texts] == ["J"]
    assert axes.texts[0].get_position() == (6, 1)  # a wall surrounds the map
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert not any(line.get_xdata().size for line in dots)


def test_letters_tell_actions_apart_whose_names_begin_alike():
    after = [[1, 0], [1, 2], [2, 2]]
    world = ta.from_arrays(after, -0.1, [2], cells=[(0, i) for i in range(3)])
    assert world.action_names == ("a0", "a1")
    axes = ta.solve(world, {"end": [0]})["end"].plot()
    assert [one.get_text() for one in axes.texts] == ["A0", "A1"]


def test_an_exact_evaluation_draws_its_mean_and_the_optimum():
    found = ta.solve(ta.FourRooms(), horizon=30)["top"].evaluate()
    axes = found.plot()
    at = sorted(float(line.get_xdata()[0]) for line in axes.lines)
    assert at == pytest.approx(sorted([found.mean_return, found.optimal_return]))
    assert axes.patches == [] or len(axes.patches) == 0


def test_the_bars_of_an_evaluation_count_its_episodes():
    found = scenes.slippery()["top"].evaluate(400, seed=1)
    bars = found.plot().patches
    assert sum(bar.get_height() for bar in bars) == pytest.approx(400)


def test_episodes_that_outlive_goals_are_drawn_with_their_violations():
    returns, steps = np.array([-1.0, 3.0, 5.0, 5.0]), np.full(4, 20)
    goals = np.array([[0, 1], [2, 0], [3, 0], [3, 0]])
    found = ta.ContinuingEvaluation(
        returns, steps, goals, np.array([True, False]), np.array([False, True])
    )
    axes = found.plot()
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["without violation", "violated", "mean 3"]
    blue, orange = axes.containers
    assert sum(bar.get_height() for bar in blue) == 3
    assert sum(bar.get_height() for bar in orange) == 1


@pytest.mark.parametrize("seed", range(8))
def test_bars_count_every_episode_whatever_the_rounding(seed):
    returns = np.random.default_rng(seed).normal(size=100)
    axes = plot_returns(returns, returns > 0, returns.mean(), 2.0, "", None)
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(100)


@pytest.mark.parametrize(("mean", "optimum"), [(-1.0, 3.0), (1.9, 1.9), (0.0, -50.0)])
def test_exact_figures_lie_inside_of_the_plot(mean, optimum):
    low, high = plot_returns(np.empty(0), np.empty(0, bool), mean, optimum, "", None).get_xlim()
    assert all(low + 0.1 < one < high - 0.1 for one in (mean, optimum))


def test_a_certificate_without_a_loss_has_no_scale_of_losses(agent):
    axes = agent.certificate().plot()
    assert len(axes.figure.axes) == 1  # rounding errors were enlarged to a scale up to 1e-12
    assert len(scenes.slippery()["top ^ left"].certificate().plot().figure.axes) == 2


def test_starts_that_may_never_end_have_no_scale_of_losses():
    axes = plot_loss(np.array([np.inf, np.inf]), None, "may never end", "loss", None)
    assert list(axes.get_yticks()) == []
    axes = plot_loss(np.array([np.inf, 0.5]), None, "may never end", "loss", None)
    assert len(axes.get_yticks()) > 2


@pytest.mark.parametrize("n", [2, 5, 9])
def test_states_of_a_line_stand_in_a_line_as_far_apart_as_moves_say(n):
    edges = np.stack((np.arange(n - 1), np.arange(1, n)), axis=1)
    x = positions(n, edges)
    apart = np.linalg.norm(x[:, None] - x[None], axis=2)
    moves = np.abs(np.arange(n)[:, None] - np.arange(n)[None])
    assert np.allclose(apart, moves, atol=0.1)
    assert np.array_equal(x, positions(n, edges))


def test_a_grid_without_cells_still_looks_like_a_grid():
    cells = np.array([(r, c) for r in range(4) for c in range(5)])
    near = np.abs(cells[:, None] - cells[None]).sum(axis=2)
    edges = np.argwhere(near == 1)
    x = positions(20, edges)
    apart = np.linalg.norm(x[:, None] - x[None], axis=2)
    assert 0.7 < apart[near == 1].min() and apart[near == 1].max() < 1.4
    assert apart[near > 1].min() > 1.0


def test_parts_of_a_world_that_do_not_meet_stand_apart():
    x = positions(4, np.array([[0, 1], [2, 3]]))
    assert np.isfinite(x).all()
    assert np.linalg.norm(x[0] - x[2]) > 1.5
