"""Sparse worlds, against the dense ones that they stand for."""

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import taskalgebra as ta


@st.composite
def tables(draw):
    n, n_actions = draw(st.integers(3, 8)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    table = rng.dirichlet(np.full(n, 0.5), (n, n_actions))
    table[table < 0.02] = 0.0
    table[..., -1] += 0.1  # so that a goal can be reached
    table /= table.sum(axis=2, keepdims=True)
    return table, -rng.integers(0, 5, (n, n_actions)) / 4, rng


def same(one, other):
    for name in ("offset", "successor", "goals", "starts"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    np.testing.assert_allclose(one.probability, other.probability, atol=1e-15)
    np.testing.assert_allclose(one.step_reward, other.step_reward, atol=1e-15)
    assert (one.goal_names, one.action_names) == (other.goal_names, other.action_names)


@given(tables())
def test_lists_arrays_and_matrices_make_the_world_of_the_dense_table(made):
    table, reward, rng = made
    n, n_actions, _ = table.shape
    goals = [n - 2, n - 1]
    dense = ta.from_arrays(table, reward, goals)
    state, action, successor = np.nonzero(table)
    p = table[state, action, successor]
    mixed = rng.permutation(p.size)
    rows = np.stack((state, action, successor, p), axis=1)[mixed]
    same(ta.from_outcomes(rows, goals, step_reward=reward), dense)
    same(ta.from_outcomes(rows.tolist(), goals, step_reward=reward), dense)
    same(ta.from_outcomes(map(tuple, rows.tolist()), goals, step_reward=reward), dense)
    split = np.concatenate((rows, rows))  # the same outcome twice is one of twice the probability
    split[:, 3] /= 2
    same(ta.from_outcomes(split, goals, step_reward=reward), dense)
    for kind in (sparse.csr_array, sparse.coo_matrix, sparse.csc_matrix):
        per_action = [kind(table[:, a]) for a in range(n_actions)]
        same(ta.from_outcomes(per_action, goals, step_reward=reward), dense)
        named = {f"a{a}": matrix for a, matrix in enumerate(per_action)}
        same(ta.from_outcomes(named, {"g0": n - 2, "g1": n - 1}, step_reward=reward), dense)
    paid = rng.integers(-8, 1, p.size) / 4  # with each outcome
    expected = np.zeros((n, n_actions))
    for s, a, r, q in zip(state, action, paid, p, strict=True):
        expected[s, a] += q * r
    with_rewards = np.column_stack((state, action, successor, p, paid))[mixed]
    same(ta.from_outcomes(with_rewards, goals), ta.from_arrays(table, expected, goals))


def test_names_and_states_that_occur_nowhere():
    world = ta.from_outcomes(
        [(0, "go", 1, 1.0), (0, "stay", 0, 1.0)],
        {"there": 1},
        step_reward=-1,
        action_names=["go", "stay"],
        starts=[0],
    )
    assert world.goal_names == ("there",) and world.action_names == ("go", "stay")
    assert ta.solve(world, {"there": ["there"]})["there"].actions[0] == 0
    with pytest.raises(ValueError, match="state 2, action 0 add up to 0"):
        ta.from_outcomes([(0, 0, 1, 1.0)], [1], step_reward=-1, n_states=3)


def test_many_states_need_no_dense_table():
    n = 200_000
    line = sparse.csr_array((np.ones(n), (np.arange(n), np.minimum(np.arange(n) + 1, n - 1))))
    back = sparse.csr_array(
        (np.ones(n), (np.arange(n), np.maximum(np.arange(n) - 1, 0))), shape=(n, n)
    )
    world = ta.from_outcomes({"on": line, "back": back}, {"end": n - 1, "start": 0}, step_reward=-1)
    assert world.deterministic and world.next_state[5].tolist() == [6, 4]


@pytest.mark.parametrize(
    ("outcomes", "change", "message"),
    [
        ([(0, 0, 1, 0.5)], {}, "the probabilities of state 0, action 0 add up to 0.5, expected 1"),
        ([(0, 0, 1, 1.0), (0, 1, 0, 0.2)], {}, "state 0, action 1 add up to 0.2"),
        ([(0, 0, 1, -1.0), (0, 0, 0, 2.0)], {}, "state 0, action 0 has an outcome with prob"),
        ([(0, 0, 1)], {}, "outcome 0 is (0, 0, 1), expected (state, action, next state, prob"),
        ([(0, 0, 1, 1.0), (0, 0, 1, 1.0, 0.0)], {}, "have different lengths"),
        ([(0, 0.5, 1, 1.0)], {}, "outcome 0 is (0.0, 0.5, 1.0, 1.0); its state, action and next"),
        ([(-1, 0, 1, 1.0)], {}, "must be whole numbers from 0"),
        ([(2**31, 0, 1, 1.0)], {}, "must be whole numbers from 0 to 2,147,483,647"),
        ([(0, 0, 1, np.nan)], {}, "state 0, action 0 has an outcome with probability nan"),
        ([(0, "go", 1, 1.0)], {}, "the action 'go'; name all actions, action_names=['go', ...]"),
        (
            [(0, "go", 1, 1.0)],
            {"action_names": ["got", "back"]},
            "outcome 0 has the action 'go'; action_names are got, back",
        ),
        ([], {}, "the list of outcomes is empty"),
        ("go", {}, "outcomes are 'go', expected"),
        (3, {}, "outcomes are 3, expected"),
        ([3, 4], {}, "outcome 0 is 3, expected"),
        ([(0, 0, 1, 1.0)], {"step_reward": None}, "outcomes without rewards need step_reward="),
        ([(0, 0, 1, 1.0, -1.0)], {}, "these outcomes hold their rewards; leave step_reward out"),
        ([(0, 0, 1, 1.0)], {"n_states": 1}, "n_states is 1, but state 1 occurs"),
        ([(0, 0, 1, 1.0)], {"goals": []}, "at least one goal"),
        ([(0, 0, 1, 1.0)], {"goals": np.empty(0, np.int64)}, "at least one goal"),
        ([(0, 0, 1, 1.0)], {"goals": {"a": 1}, "goal_names": ["a"]}, "leave goal_names out"),
        ([sparse.eye(2), np.eye(2)], {}, "the matrix of action 1 is"),
        ([sparse.eye(2), sparse.eye(3)], {}, "the matrix of action 1 has shape (3, 3)"),
        ([sparse.eye(2, 3)], {}, "the matrix of action 0 has shape (2, 3), expected [S, S]"),
        ([sparse.csr_array((2, 2))], {}, "state 0, action 0 add up to 0"),
        (
            [sparse.csr_array((0, 0))],
            {},
            "the matrix of action 0 has shape (0, 0), expected [S, S]",
        ),
        (sparse.csr_array(np.eye(2)), {}, "outcomes are one sparse matrix of shape (2, 2)"),
        (sparse.csr_matrix(np.eye(2)), {}, "one per action, in a list: [matrix]"),
        (
            [sparse.csr_array(np.ones((2, 2), np.bool_))],
            {},
            "state 0, action 0 add up to 2.0, expected 1",
        ),
        (
            [sparse.eye(2), sparse.eye(2, dtype=complex)],
            {},
            "the matrix of action 1 holds complex128, expected probabilities",
        ),
        (
            [sparse.csr_array([[0.0, np.nan], [0.0, 1.0]])],
            {},
            "the matrix of action 0 holds nan at [0, 1], expected a probability",
        ),
        (
            {"go": sparse.eye(2)},
            {"action_names": ["go"]},
            "actions are given with their names; leave action_names out",
        ),
    ],
)
def test_what_is_wrong_is_named(outcomes, change, message):
    given = {"goals": [1], "step_reward": -1.0} | change
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        ta.from_outcomes(outcomes, **given)


@pytest.mark.parametrize(
    ("outcomes", "change", "message"),
    [
        (
            [(0, 0, 1, 1.0)],
            {"goals": [2**40]},
            "goal state 1099511627776 is too large; states are 0 to at most 2,147,483,647",
        ),
        (
            [(0, 0, 1, 1.0)],
            {"goals": np.array([2**63 + 1], np.uint64)},
            "goal state 9223372036854775809 is too large",
        ),
        (
            [(0, 0, 1, 1.0)],
            {"goals": [2**30]},
            "state 1, action 0 add up to 0, expected 1: it has no outcome, in a world of "
            "1,073,741,825 states and 1 actions",
        ),
        (
            [(2**30, 2**30, 1, 1.0)],
            {},
            "state 0, action 0 add up to 0, expected 1: it has no outcome, in a world of "
            "1,073,741,825 states and 1,073,741,825 actions",
        ),
        ([(0, 2**30, 1, 1.0)], {}, "state 0, action 0 add up to 0, expected 1: it has no outcome"),
        ([(0, 0, 1, 1.0)], {"n_states": 2**40}, "n_states is 1099511627776, expected at most"),
        ([sparse.coo_array((2**29, 2**29))], {}, "state 0, action 0 add up to 0, expected 1"),
        (
            [sparse.coo_array((2**40, 2**40))],
            {},
            "the matrix of action 0 has 1,099,511,627,776 rows, and 2,147,483,648 are the most",
        ),
    ],
)
def test_numbers_that_are_absurd_need_no_memory(outcomes, change, message):
    given = {"goals": [1], "step_reward": -1.0} | change
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=re.escape(message)):
            ta.from_outcomes(outcomes, **given)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_a_matrix_of_truth_values_is_a_deterministic_world():
    steps = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 1]], np.bool_)
    world = ta.from_outcomes([sparse.csr_array(steps)], [2], step_reward=-1)
    same(world, ta.from_arrays(steps[:, None], -1, [2]))
    assert world.deterministic and world.next_state.ravel().tolist() == [1, 2, 2]


def test_goals_need_no_outcome_and_theirs_do_not_count():
    rows = [(0, 0, 1, 1.0), (2, 0, 1, 1.0)]
    world = ta.from_outcomes(rows, [1, 3], step_reward=-1)
    assert world.next_state.ravel().tolist() == [1, 1, 1, 3]
    with pytest.raises(ValueError, match="state 2, action 0 add up to 0"):
        ta.from_outcomes([(0, 0, 1, 1.0), (1, 0, 1, 1.0)], [1], step_reward=-1, n_states=3)


@pytest.mark.parametrize(
    ("dynamics", "message"),
    [
        (sparse.eye(2), "dynamics are sparse; ta.from_outcomes takes a sparse matrix per action"),
        ([sparse.eye(2)], "dynamics are sparse; ta.from_outcomes takes"),
        ({"go": sparse.eye(2)}, "dynamics are sparse; ta.from_outcomes takes"),
        (np.broadcast_to(0, (2**40, 2)), "1,099,511,627,776 states; 2,147,483,648 are the most"),
        (np.zeros((0, 2, 0)), "a world needs states and actions, got shape [S, A] = (0, 2)"),
        (
            np.zeros((2, 1, 2), complex),
            "dynamics [S, A, S] must hold probabilities, got complex128",
        ),
        (np.full((2, 1, 2), "x"), "dynamics [S, A, S] must hold probabilities, got <U1"),
    ],
)
def test_arrays_that_do_not_fit(dynamics, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        ta.from_arrays(dynamics, -1, [0])


def test_episodes_go_on_after_goals_where_it_is_said():
    moves = [(0, 0, 2, 1.0), (1, 0, 3, 0.5), (1, 0, 1, 0.5)]
    world = ta.from_outcomes(moves, {"a": 2, "b": 3}, step_reward=-0.25, resumes=[1, 0])
    skills = ta.solve(ta.TaskSpace(world, r_universal=2.0), {"a": ["a"]})
    assert skills["F(a & X F b)"].v(0) == pytest.approx(2.0 - 3 * 0.25, abs=1e-9)
