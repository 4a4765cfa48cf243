"""Mazes: spanning trees of rooms, against scipy's connected components and shortest paths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

import taskalgebra as ta
from taskalgebra.worlds.maze import KINDS, maze_map

SIZES = [(3, 3), (3, 9), (9, 3), (7, 9), (8, 10), (21, 41)]


def graph_of(free):
    """Neighbouring free cells as a sparse graph, and the number of each free cell."""
    number = np.full(free.shape, -1)
    number[free] = np.arange(free.sum())
    right = free[:, :-1] & free[:, 1:]
    down = free[:-1] & free[1:]
    one = np.concatenate((number[:, :-1][right], number[:-1][down]))
    other = np.concatenate((number[:, 1:][right], number[1:][down]))
    return coo_array((np.ones(one.size), (one, other)), (free.sum(), free.sum())), number


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_perfect_maze_is_a_spanning_tree_of_its_rooms(kind, size):
    free = maze_map(*size, kind=kind, seed=5)
    rooms = free[1 : size[0] - 1 : 2, 1 : size[1] - 1 : 2][: (size[0] - 1) // 2]
    n_rooms = ((size[0] - 1) // 2) * ((size[1] - 1) // 2)
    assert rooms[:, : (size[1] - 1) // 2].sum() == n_rooms
    edges, _ = graph_of(free)
    assert connected_components(edges, directed=False)[0] == 1
    assert edges.nnz == free.sum() - 1  # a connected graph with so few edges has no cycle
    assert free.sum() == 2 * n_rooms - 1  # a way for each room but one
    assert not free[::2, ::2].any()
    assert not (free[0].any() or free[-1].any() or free[:, 0].any() or free[:, -1].any())


@pytest.mark.parametrize("loops", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_loops_open_this_share_of_the_other_walls(kind, loops):
    perfect, free = (maze_map(15, 21, kind=kind, seed=2, loops=share) for share in (0.0, loops))
    assert (free | ~perfect).all()  # the ways of the tree are still there
    n_walls = 7 * 9 + 6 * 10 - (7 * 10 - 1)
    assert free.sum() - perfect.sum() == round(loops * n_walls)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_seeds_agree_and_different_ones_differ(kind):
    maps = [maze_map(21, 21, kind=kind, seed=seed, loops=0.1) for seed in (1, 1, 2, 2**64 - 1)]
    assert np.array_equal(maps[0], maps[1])
    assert all((maps[0] != other).any() for other in maps[2:])
    assert ta.maze(11, 11, 3, seed=1) == ta.maze(11, 11, 3, seed=1)
    assert ta.maze(11, 11, 3, seed=1) != ta.maze(11, 11, 3, seed=2)


def test_wilson_draws_every_spanning_tree_equally_often():
    """Two by two rooms have four trees; 4,000 draws, four standard deviations."""
    found = [maze_map(5, 5, kind="wilson", seed=seed).tobytes() for seed in range(4_000)]
    _, counts = np.unique(found, return_counts=True)
    assert counts.size == 4
    assert (abs(counts - 1_000) < 4 * np.sqrt(4_000 * 0.25 * 0.75)).all()


def test_every_cell_reaches_every_goal_by_a_shortest_path():
    free = maze_map(21, 31, seed=4, loops=0.2)
    world = ta.maze(21, 31, ["cheese", "exit"], seed=4, loops=0.2)
    edges, number = graph_of(free)
    assert world.n_states == free.sum() + 2 and world.starts.size == free.sum()
    agent = ta.solve(world, {"exit": ["exit"]})["exit"]
    cell = world.cells[world.goals[1]]
    steps = dijkstra(edges, directed=False, indices=number[tuple(cell)], unweighted=True)
    wanted = 2.0 - 0.1 * (steps + 1)
    elsewhere = dijkstra(
        edges, directed=False, indices=number[tuple(world.cells[world.goals[0]])], unweighted=True
    )
    wanted = np.maximum(wanted, -0.1 - 0.1 * (elsewhere + 1))
    np.testing.assert_allclose(agent.v[: free.sum()], wanted, atol=1e-9)


def test_goals_are_on_rooms_of_their_own_at_random_or_far_apart():
    world = ta.maze(15, 15, 49, seed=1)
    cells = world.cells[world.goals]
    assert (cells % 2 == 1).all() and len({tuple(cell) for cell in cells}) == 49
    assert (ta.maze(15, 15, 4, seed=1).cells != ta.maze(15, 15, 4, seed=2).cells[:1]).any()
    far = ta.maze(21, 21, 4, seed=1, place="far apart")
    edges, number = graph_of(maze_map(21, 21, seed=1))
    at = [number[tuple(cell)] for cell in far.cells[far.goals]]
    steps = dijkstra(edges, directed=False, unweighted=True)
    rooms = number[1:20:2, 1:20:2].ravel()
    for i in range(1, 4):
        assert steps[at[:i]].min(axis=0)[at[i]] == steps[at[:i]].min(axis=0)[rooms].max()


def test_goals_may_be_given_by_cell_and_worlds_may_slip_or_be_touched():
    free = maze_map(9, 9, seed=3)
    world = ta.maze(9, 9, {"out": (7, 7), "in": [(1, 1), (1, 3)]}, seed=3)
    assert world.goal_names == ("out", "in 1", "in 2")
    text = ["".join(".#"[int(not cell)] for cell in row) for row in free]
    goals = {"out": (7, 7), "in": [(1, 1), (1, 3)]}
    assert world == ta.from_text(text, goals)
    for changes in ({"slip_probability": 0.1}, {"touch": True}, {"step_reward": -1.0}):
        assert ta.maze(9, 9, goals, seed=3, **changes) == ta.from_text(text, goals, **changes)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ta.maze(2, 9), "rows is 2"),
        (lambda: ta.maze(9, 9.5), "columns is 9.5"),
        (lambda: ta.maze(9, 9, 17), "17 goals for the 16 rooms"),
        (lambda: ta.maze(9, 9, 2**39), "549,755,813,888 goals for the 16 rooms"),
        (lambda: ta.maze(9, 9, 0), "goals is 0"),
        (lambda: ta.maze(9, 9, {}), "goals is empty"),
        (lambda: ta.maze(9, 9, []), "goals is empty"),
        (lambda: ta.maze(9, 9, ["a", "a"]), "'a'"),
        (lambda: ta.maze(9, 9, {"a": (0, 0)}), "in a wall"),
        (lambda: ta.maze(9, 9, kind="prim"), "depth-first"),
        (lambda: ta.maze(9, 9, place="near"), "far apart"),
        (lambda: ta.maze(9, 9, loops=1.5), "loops is 1.5"),
        (lambda: ta.maze(9, 9, seed=-1), "seed is -1"),
        (lambda: ta.maze(10**5, 10**5), "too large"),
        (lambda: ta.maze(2**40, 3), "rows is 1099511627776, expected at most 268,435,456"),
    ],
)
def test_what_is_no_maze_is_refused_in_words(make, said):
    with pytest.raises(ValueError, match=said):
        make()
    with pytest.raises(TypeError, match="a number, names or"):
        ta.maze(9, 9, "exit")
