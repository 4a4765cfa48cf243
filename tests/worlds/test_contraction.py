"""Contracted graphs have the distances of the graphs that they are made of."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maze import maze_world
from taskalgebra.worlds import contraction, graph, returns
from taskalgebra.worlds.contraction import contracted, contracted_block
from taskalgebra.worlds.held import unreached
from taskalgebra.worlds.returns import held_returns
from ways import by_scipy, corridor


@pytest.fixture(autouse=True)
def _any_core(monkeypatch):
    monkeypatch.setattr(contraction, "LARGEST_CORE", 1.0)


@st.composite
def sparse_graphs(draw):
    """Directed graphs of few edges, so that some states are contracted and others are not."""
    n, seed = draw(st.integers(1, 40)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    support = np.repeat(np.arange(n, dtype=np.int32)[:, None], 3, axis=1)
    for _ in range(draw(st.integers(0, 2 * n))):
        s, near = rng.integers(n), rng.integers(-3, 4)
        support[s, rng.integers(3)] = (s + near) % n if rng.random() < 0.8 else rng.integers(n)
    return support, rng.choice(n, min(n, draw(st.integers(1, 4))), replace=False)


@settings(max_examples=300, deadline=None)
@given(sparse_graphs())
def test_steps_are_those_of_a_breadth_first_search(drawn):
    support, targets = drawn
    reversed_graph = graph.predecessors(support)
    small = contracted(reversed_graph, targets.astype(np.int32))
    if small is None:  # some state has too many neighbours
        joined = [{int(t) for t in row} - {s} for s, row in enumerate(support)]
        for s, row in enumerate(support):
            for t in set(row.tolist()) - {s}:
                joined[t].add(s)
        assert max(map(len, joined)) > contraction.MOST
        return
    block = contracted_block(small, targets.astype(np.int32))
    steps = graph.steps_to(reversed_graph, targets.astype(np.int32)).T
    assert np.array_equal(np.where(block == unreached(block.dtype), -1, block.astype(int)), steps)
    assert set(targets) <= set(small.core.tolist())
    assert small.core.size + small.order.size == len(support)


def test_a_maze_with_many_goals_is_contracted_and_has_the_same_returns():
    mdp = maze_world(41, 61, returns.MANY_GOALS)
    small = contracted(mdp.predecessors, mdp.goals)
    assert small.core.size < 0.2 * mdp.n_states
    held, _ = held_returns(mdp, mdp.step_reward)
    assert [block.shape[1] for block in held.blocks] == [32, 16]
    assert np.array_equal(held.table(), by_scipy(mdp))


def test_open_space_is_searched_and_not_contracted(monkeypatch):
    monkeypatch.setattr(contraction, "LARGEST_CORE", 0.3)
    n = 40
    cells = np.arange(n * n).reshape(n, n)
    moves = [np.roll(cells, shift, axis) for shift, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1))]
    support = np.stack([move.ravel() for move in moves], axis=1).astype(np.int32)
    assert contracted(graph.predecessors(support), np.array([0], np.int32)) is None


def test_ways_too_long_for_sixteen_bits_are_searched_instead():
    mdp = corridor(65600)
    assert contracted_block(contracted(mdp.predecessors, mdp.goals), mdp.goals) is None
    short = corridor(300)
    block = contracted_block(contracted(short.predecessors, short.goals), short.goals)
    assert block.dtype == np.uint16
    assert block[:300, 0].tolist() == list(range(299, -1, -1))


def test_the_number_of_threads_changes_nothing(monkeypatch):
    mdp = maze_world(101, 101, returns.MANY_GOALS)
    monkeypatch.setattr(graph, "_WORTH_A_THREAD", 0)
    made = []
    for n in (1, 2, 3):
        monkeypatch.setattr(graph, "cores", lambda n=n: n)
        made.append(contracted(mdp.predecessors, mdp.goals))
    for other in made[1:]:
        assert all(np.array_equal(x, y) for x, y in zip(made[0], other, strict=True))
    assert np.array_equal(held_returns(mdp, mdp.step_reward)[0].table(), by_scipy(mdp))
