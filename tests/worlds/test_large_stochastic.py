"""Large stochastic worlds are built by compiled loops: the same rows, the same sets of states."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import taskalgebra as ta
from taskalgebra.planning.policies import made_proper, some_proper
from taskalgebra.worlds import graph, rows
from taskalgebra.worlds.build import from_arrays, from_rows


def random_rows(seed, n_states=12, n_actions=3):
    """Outcomes in any order, some twice, in compressed rows."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 6, n_states * n_actions)
    offset = np.concatenate(([0], np.cumsum(counts)))
    successor = rng.integers(0, n_states, offset[-1])
    probability = np.concatenate([rng.dirichlet(np.ones(n)) for n in counts])
    return offset, successor, probability


def world_of(seed, **sizes):
    offset, successor, probability = random_rows(seed, **sizes)
    n_states, n_actions = sizes.get("n_states", 12), sizes.get("n_actions", 3)
    return from_rows(
        offset,
        successor,
        probability,
        step_reward=-1.0,
        goals=[0, n_states - 1],
        shape=(n_states, n_actions),
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_compiled_loop_makes_the_rows_of_numpy(seed, monkeypatch):
    given = random_rows(seed, 40, 4)
    goals = np.array([3, 39], np.int32)
    expected = rows.absorbing_rows(*given, goals, (40, 4))
    monkeypatch.setattr(rows, "WORTH_COMPILING", 0)
    found = rows.absorbing_rows(*given, goals, (40, 4))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [(1, 99, "leads to state 99"), (2, -0.5, "probability -0.5"), (2, 0.1, "add up to")],
)
def test_what_is_wrong_with_many_outcomes_is_named(place, value, words, monkeypatch):
    monkeypatch.setattr(rows, "WORTH_COMPILING", 0)
    given = list(random_rows(1))
    given[place] = given[place].copy()
    given[place][20] = value
    with pytest.raises(ValueError, match=words):
        rows.absorbing_rows(*given, np.array([0], np.int32), (12, 3))


@pytest.mark.parametrize("copies", [9, 70])
def test_long_rows_and_many_copies_are_left_to_numpy(copies, monkeypatch):
    offset = np.array([0, copies, copies + 1])
    successor = np.append(np.arange(copies) % 2, 1)
    probability = np.array([*[1 / copies] * copies, 1.0])
    goals = np.array([1], np.int32)
    expected = rows.absorbing_rows(offset, successor, probability, goals, (2, 1))
    monkeypatch.setattr(rows, "WORTH_COMPILING", 0)
    found = rows.absorbing_rows(offset, successor, probability, goals, (2, 1))
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


def surely(mdp, ends):
    """By the definition: the largest set in which some goal can be reached by staying in the set.

    Sets shrink one state at a time, and reaching is tried step by step.
    """
    inside = set(range(mdp.n_states))
    after = {
        (s, a): set(mdp.successor[slice(*mdp.offset[s * mdp.n_actions + a :][:2])].tolist())
        for s in range(mdp.n_states)
        for a in range(mdp.n_actions)
    }
    while True:
        near = set(np.flatnonzero(ends).tolist())
        for _ in range(mdp.n_states):
            near |= {
                s for (s, _), to in after.items() if s in inside and to <= inside and to & near
            }
        lost = inside - near
        if not lost:
            return np.isin(np.arange(mdp.n_states), list(inside))
        inside.remove(min(lost))


@pytest.mark.parametrize("seed", range(40))
def test_almost_sure_reachability_is_that_of_its_definition(seed):
    rng = np.random.default_rng(seed)
    n, n_actions = int(rng.integers(3, 12)), int(rng.integers(1, 4))
    dense = np.zeros((n, n_actions, n))
    for s in range(n):
        for a in range(n_actions):
            after = rng.choice(n, rng.integers(1, 3), replace=False)
            dense[s, a, after] = 1 / after.size
    dense[0, 0] = np.eye(n)[n - 1]
    mdp = from_arrays(dense, -1.0, [n - 1, n - 2] if n > 3 else [n - 1])
    assert np.array_equal(mdp.ending, surely(mdp, mdp.is_goal))
    one = np.arange(n) == n - 1
    found = graph.almost_surely(mdp.offset, mdp.successor, n_actions, one)
    assert np.array_equal(found, surely(mdp, one))


def test_a_long_chain_of_lost_states_is_found_in_one_go():
    """Each state of the chain is lost only because the one before it is."""
    n = 100_000
    offset = np.arange(0, 2 * n + 1, 2)
    lost = np.stack((np.arange(n) - 1, np.full(n, n - 1)), axis=1)  # back, or on to the goal
    lost[0] = 0, 0
    lost[n - 1] = n - 1, n - 1
    surely_ends = graph.almost_surely(
        offset, lost.ravel().astype(np.int32), 1, np.arange(n) == n - 1
    )
    assert surely_ends.sum() == 1


@pytest.mark.parametrize("seed", range(10))
def test_predecessors_are_those_of_a_sparse_matrix(seed):
    mdp = world_of(seed)
    source = np.repeat(np.arange(12), np.diff(mdp.offset[::3]))
    edges = csr_matrix((np.ones(source.size), (mdp.successor, source)), shape=(12, 12))
    edges.setdiag(0)
    edges.eliminate_zeros()
    offset, state, _ = mdp.predecessors
    for t in range(12):
        expected = edges.indices[edges.indptr[t] : edges.indptr[t + 1]]
        assert sorted(state[offset[t] : offset[t + 1]]) == sorted(expected)


@pytest.mark.parametrize("seed", range(10))
def test_proper_policies_take_the_first_action_that_leads_closer(seed):
    mdp = world_of(seed, n_states=15)
    chosen = some_proper(mdp, np.zeros(2))
    near = mdp.is_goal.copy()
    expected = np.zeros(15, np.int64)
    while True:
        joined = near.copy()
        for s in np.flatnonzero(mdp.ending & ~near):
            for a in range(3):
                after = mdp.successor[slice(*mdp.offset[s * 3 + a :][:2])]
                if mdp.ending[after].all() and near[after].any():
                    expected[s], joined[s] = a, True
                    break
        if np.array_equal(joined, near):
            break
        near = joined
    assert np.array_equal(chosen, expected)
    assert np.array_equal(made_proper(mdp, np.zeros(2), chosen), chosen)


@pytest.mark.parametrize("slip", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("touch", [False, True])
def test_slips_are_those_of_their_definition(slip, touch):
    text = ["A..", ".#B", "..."]
    world = ta.from_text(text, slip_probability=slip, touch=touch)
    cells = [(r, c) for r in range(3) for c in range(3) if text[r][c] != "#"]
    number = {cell: s for s, cell in enumerate(cells)}
    goal_of = {(0, 0): 8, (1, 2): 9}
    for s, (r, c) in enumerate(cells):
        for a in range(world.n_actions):
            expected = np.zeros(world.n_states)
            for d, (dr, dc) in enumerate([(-1, 0), (0, 1), (1, 0), (0, -1)] if a < 4 else []):
                to = (r + dr, c + dc)
                to = to if to in number else (r, c)
                end = goal_of[to] if touch and to in goal_of else number[to]
                expected[end] += 1 - slip if d == a else slip / 3
            if a == 4:
                expected[goal_of.get((r, c), s)] = 1.0
            span = slice(*world.offset[s * world.n_actions + a :][:2])
            found = np.bincount(world.successor[span], world.probability[span], world.n_states)
            assert np.allclose(found, expected, atol=1e-15)


def test_sparse_matrices_make_a_large_world(monkeypatch):
    monkeypatch.setattr(rows, "WORTH_COMPILING", 0)
    n = 200
    ahead, here = (np.arange(n) + 1) % n, np.arange(n)
    move = csr_matrix(
        (np.tile([0.75, 0.25], n), (here.repeat(2), np.stack((ahead, here), 1).ravel())), (n, n)
    )
    stay = csr_matrix((np.ones(n), (here, here)), (n, n))
    world = ta.from_outcomes({"go": move, "stay": stay}, {"end": n - 1}, step_reward=-0.75)
    assert world.ending.all()
    value = ta.solve(world, {"end": ["end"]})["end"].v
    assert value[: n - 1] == pytest.approx(2.0 - (n - 1 - np.arange(n - 1)))
