"""Finite worlds: what they hold, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskalgebra.worlds.build import from_arrays, from_rows
from taskalgebra.worlds.finite import FiniteMDP

CHAIN = [[1, 0], [2, 0], [2, 2]]  # 0 → 1 → 2, and back to 0; state 2 is the goal
GOOD = {"dynamics": CHAIN, "step_reward": -1.0, "goals": [2]}


def probabilities(**rows):
    """The chain as probabilities, with some rows `s0a1=[…]` replaced."""
    dense = np.eye(3)[np.array(CHAIN)]
    for name, row in rows.items():
        dense[int(name[1]), int(name[3])] = row
    return dense


REFUSED = {
    "one-dimensional dynamics": (
        {"dynamics": [1, 2, 2]},
        ["[S, A]", "[S, A, S]", "got (3,)"],
    ),
    "probabilities over too many states": (
        {"dynamics": np.zeros((3, 2, 4))},
        ["[S, A, S]", "got (3, 2, 4)"],
    ),
    "float next states": (
        {"dynamics": np.array(CHAIN, float)},
        ["whole numbers", "float64", "[S, A, S]"],
    ),
    "a next state too high": (
        {"dynamics": [[1, 3], [2, 0], [2, 2]]},
        ["state 0, action 1", "state 3", "0 to 2"],
    ),
    "a negative next state": (
        {"dynamics": [[1, 0], [-1, 0], [2, 2]]},
        ["state 1, action 0", "state -1", "0 to 2"],
    ),
    "no states": ({"dynamics": np.zeros((0, 2), int)}, ["states and actions", "(0, 2)"]),
    "no actions": ({"dynamics": np.zeros((3, 0), int)}, ["states and actions", "(3, 0)"]),
    "probabilities below one": (
        {"dynamics": probabilities(s1a0=[0.5, 0.0, 0.4])},
        ["state 1, action 0", "0.9", "expected 1"],
    ),
    "probabilities that are all zero": (
        {"dynamics": probabilities(s1a1=[0.0, 0.0, 0.0])},
        ["state 1, action 1", "add up to 0", "expected 1"],
    ),
    "a negative probability": (
        {"dynamics": probabilities(s0a0=[-0.5, 0.5, 1.0])},
        ["state 0, action 0", "-0.5", "above 0 and up to 1"],
    ),
    "a probability above one": (
        {"dynamics": probabilities(s0a0=[0.0, 1.5, 0.0])},
        ["state 0, action 0", "1.5", "up to 1"],
    ),
    "a probability that is not a number": (
        {"dynamics": probabilities(s0a0=[0.0, np.nan, 0.0])},
        ["state 0, action 0", "nan"],
    ),
    "step rewards for other actions": (
        {"step_reward": np.zeros((3, 3))},
        ["step_reward", "(3, 3)", "(3, 2)"],
    ),
    "step rewards for other states": (
        {"step_reward": [0.0, 0.0]},
        ["step_reward", "(2,)", "(3, 2)"],
    ),
    "a step reward that is not a number": (
        {"step_reward": [[0.0, 0.0], [0.0, np.nan], [0.0, 0.0]]},
        ["step_reward[1, 1]", "nan", "finite"],
    ),
    "an infinite step reward": (
        {"step_reward": -np.inf},
        ["step_reward[0, 0]", "-inf", "finite"],
    ),
    "step rewards in words": ({"step_reward": "cheap"}, ["step_reward", "numbers", "cheap"]),
    "no goals": ({"goals": []}, ["at least one goal", "[]", "list the states"]),
    "goals as a table": ({"goals": [[2]]}, ["at least one goal", "[[2]]"]),
    "float goals": ({"goals": [2.0]}, ["state numbers", "[2.0]"]),
    "a goal that does not exist": ({"goals": [3]}, ["goal state 3", "0 to 2"]),
    "a negative goal": ({"goals": [-1]}, ["goal state -1", "0 to 2"]),
    "a goal listed twice": ({"goals": [2, 1, 2]}, ["goal state 2", "twice"]),
    "nothing but goals": ({"goals": [0, 1, 2]}, ["every state is a goal", "start"]),
    "a goal that nobody reaches": (
        {"dynamics": [[0, 0], [0, 0], [2, 2]]},
        ["no goal can be reached", "check"],
    ),
    "too many goal names": ({"goal_names": ["a", "b"]}, ["2 goal names for 1 goal", "'b'"]),
    "an empty goal name": ({"goal_names": [""]}, ["goal name", "non-empty", "''"]),
    "a goal name that is a number": ({"goal_names": [7]}, ["goal name", "string", "7"]),
    "two goals of one name": (
        {"goals": [1, 2], "goal_names": ["a", "a"]},
        ["two goals", "'a'", "differ"],
    ),
    "two actions of one name": (
        {"action_names": ["go", "go"]},
        ["two actions", "'go'", "differ"],
    ),
    "too few action names": ({"action_names": ["go"]}, ["1 action names for 2 actions"]),
    "no starts": ({"starts": []}, ["starts", "non-empty", "[]"]),
    "float starts": ({"starts": [0.0]}, ["starts", "states", "[0.0]"]),
    "a start that does not exist": ({"starts": [0, 5]}, ["start 5", "0 to 2"]),
    "a start that is a goal": (
        {"starts": [2], "goal_names": ["home"]},
        ["start goal 'home'", "absorbing", "start elsewhere"],
    ),
    "a start with no path": (
        {"dynamics": [[0, 0], [2, 1], [2, 2]], "starts": [1, 0]},
        ["no path from the start, state 0", "any goal", "another start"],
    ),
    "goal rewards for other goals": (
        {"goal_reward": [1.0, 2.0]},
        ["goal_reward", "(2,)", "(1,)"],
    ),
    "a goal reward that is not a number": (
        {"goal_reward": [np.nan]},
        ["goal_reward[0]", "nan", "finite"],
    ),
    "cells for other states": ({"cells": [[0, 0]]}, ["cells", "(1, 2)", "(3, 2)"]),
}


@pytest.mark.parametrize(("change", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_input_is_refused_in_words(change, words):
    with pytest.raises(ValueError) as caught:
        from_arrays(**(GOOD | change))
    for word in words:
        assert word in str(caught.value)


def outcomes(**change):
    """Two states: 0 leads to the goal 1."""
    given = {
        "offset": [0, 1, 2],
        "successor": [1, 1],
        "probability": [1.0, 1.0],
        "step_reward": -1.0,
        "goals": [1],
        "shape": (2, 1),
    }
    return from_rows(**(given | change))


def test_outcomes_in_compressed_rows_make_the_same_world():
    assert outcomes().next_state.tolist() == [[1], [1]]


@pytest.mark.parametrize(
    "change",
    [
        {"offset": [0, 1]},
        {"offset": [0, 1, 3]},
        {"offset": [0, 2, 1]},
        {"probability": [1.0]},
        {"shape": (2, 2)},
    ],
    ids=str,
)
def test_outcomes_that_do_not_fit_are_refused(change):
    with pytest.raises(ValueError):
        outcomes(**change)


def test_float_next_states_in_compressed_rows_are_refused():
    with pytest.raises(ValueError):
        outcomes(successor=[1.2, 1.0])


def test_a_row_without_outcomes_is_refused():
    with pytest.raises(ValueError, match="state 0, action 0 add up to 0"):
        outcomes(offset=[0, 0, 1], successor=[1], probability=[1.0])


def test_a_deterministic_world_holds_what_was_given():
    world = from_arrays(
        CHAIN,
        [[-1.0, -2.0], [-3.0, -4.0], [5.0, 6.0]],
        [2],
        goal_names=["home"],
        action_names=["on", "back"],
        goal_reward=[7.0],
        cells=[[0, 0], [0, 1], [0, 2]],
    )
    assert (world.n_states, world.n_actions, world.n_goals) == (3, 2, 1)
    assert world.deterministic
    assert world.next_state.tolist() == CHAIN
    assert world.step_reward.tolist() == [[-1.0, -2.0], [-3.0, -4.0], [0.0, 0.0]]
    assert world.is_goal.tolist() == [False, False, True]
    assert world.goals.tolist() == [2]
    assert world.goal_reward.tolist() == [7.0]
    assert world.starts.tolist() == [0, 1]
    assert [world.state_name(s) for s in range(3)] == ["cell (0, 0)", "cell (0, 1)", "goal 'home'"]
    assert "deterministic" in repr(world)
    assert "3 states, 1 goal, 2 actions" in repr(world)


def test_names_are_made_up_when_none_are_given():
    world = from_arrays(CHAIN, -1.0, [2, 1])
    assert world.goal_names == ("g0", "g1")
    assert world.action_names == ("a0", "a1")
    assert world.state_name(0) == "state 0"
    assert world.state_name(1) == "goal 'g1'"


@pytest.mark.parametrize("reward", [-0.5, [-0.5] * 3, [[-0.5] * 2] * 3, [[-0.5]] * 3])
def test_step_rewards_may_be_one_number_or_one_a_state_or_a_table(reward):
    world = from_arrays(CHAIN, reward, [2])
    assert world.step_reward.tolist() == [[-0.5, -0.5], [-0.5, -0.5], [0.0, 0.0]]


def test_one_step_reward_a_state_goes_along_the_states():
    world = from_arrays(np.array([[1, 0], [2, 0], [2, 2]]), [-1.0, -2.0, -3.0], [2])
    assert world.step_reward.tolist() == [[-1.0, -1.0], [-2.0, -2.0], [0.0, 0.0]]


@pytest.mark.parametrize("dense", [False, True])
def test_rows_of_goals_are_ignored_whatever_they_hold(dense):
    if dense:
        dynamics = probabilities(s2a0=[np.nan, -3.0, 9.0], s2a1=[0.0, 0.0, 0.0])
    else:
        dynamics = [[1, 0], [2, 0], [99, -7]]
    world = from_arrays(dynamics, [[-1.0, -1.0], [-1.0, -1.0], [np.nan, np.inf]], [2])
    assert world.next_state.tolist() == CHAIN
    assert np.isfinite(world.step_reward).all()


def test_probabilities_of_one_make_a_deterministic_world():
    world = from_arrays(probabilities(), -1.0, [2])
    assert world.deterministic
    assert world.next_state.tolist() == CHAIN


def test_a_stochastic_world_has_no_table_of_next_states():
    world = from_arrays(probabilities(s0a0=[0.5, 0.5, 0.0]), -1.0, [2])
    assert not world.deterministic
    assert "stochastic" in repr(world)
    with pytest.raises(ValueError, match="deterministic worlds only"):
        _ = world.next_state


def test_support_lists_every_possible_successor():
    world = from_arrays(probabilities(s0a0=[0.25, 0.25, 0.5]), -1.0, [2])
    others = [set(row) - {s} for s, row in enumerate(world.support.tolist())]
    assert others == [{1, 2}, {0, 2}, set()]


@st.composite
def dense_worlds(draw):
    n_states, n_actions = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    weights = draw(
        st.lists(
            st.lists(st.integers(0, 3), min_size=n_states, max_size=n_states),
            min_size=n_states * n_actions,
            max_size=n_states * n_actions,
        )
    )
    table = np.array(weights, float)
    table[table.sum(axis=1) == 0, n_states - 1] = 1.0
    table[0] = np.eye(n_states)[n_states - 1]  # so that some state surely ends
    return (table / table.sum(axis=1, keepdims=True)).reshape(n_states, n_actions, n_states)


@settings(max_examples=60, deadline=None)
@given(dense_worlds())
def test_compressed_rows_hold_the_probabilities_that_were_given(dense):
    n_states, n_actions, _ = dense.shape
    goal = n_states - 1
    world = from_arrays(dense, -1.0, [goal])
    rebuilt = np.zeros_like(dense)
    for s in range(n_states):
        for a in range(n_actions):
            row = s * n_actions + a
            for k in range(world.offset[row], world.offset[row + 1]):
                rebuilt[s, a, world.successor[k]] += world.probability[k]
    expected = dense.copy()
    expected[goal] = 0.0
    expected[goal, :, goal] = 1.0
    assert np.array_equal(rebuilt, expected)
    for s in range(n_states):
        assert set(world.support[s].tolist()) - {s} == (
            set(np.flatnonzero(expected[s].any(axis=0)).tolist()) - {s}
        )


def test_the_diameter_is_the_longest_of_the_shortest_ways():
    ring = [[(s + 1) % 6] for s in range(6)]
    ring[5] = [5]  # a chain 0 → … → 5
    assert from_arrays(ring, -1.0, [5]).diameter == 5
    assert from_arrays(CHAIN, -1.0, [2]).diameter == 2


def test_a_state_ends_when_some_policy_surely_reaches_a_goal():
    # State 3 is a trap.  From 0 action 0 may fall into it, from 1 every action may.
    dense = np.zeros((4, 2, 4))
    dense[0, 0] = [0.0, 0.0, 0.5, 0.5]
    dense[0, 1] = [0.9, 0.0, 0.1, 0.0]
    dense[1, :] = [0.0, 0.0, 0.5, 0.5]
    dense[3, :, 3] = 1.0
    world = from_arrays(dense, -1.0, [2])
    assert world.ending.tolist() == [True, False, True, False]
    assert world.starts.tolist() == [0]


def test_starts_are_kept_when_they_are_given():
    assert from_arrays(CHAIN, -1.0, [2], starts=[1]).starts.tolist() == [1]


def test_goals_are_found_by_name_and_by_position():
    world = from_arrays(CHAIN, -1.0, [2, 1], goal_names=["home", "inn"])
    assert [world.goal_index(g) for g in ("home", "inn", 0, 1, np.int64(1), 1.0)] == [
        0,
        1,
        0,
        1,
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("hone", ["unknown goal 'hone'", "home, inn", "Did you mean 'home'?"]),
        ("zebra", ["unknown goal 'zebra'", "home, inn"]),
        (2, ["goal 2", "0 to 1"]),
        (-1, ["goal -1", "0 to 1"]),
        (0.5, ["goal 0.5", "whole number"]),
    ],
)
def test_unknown_goals_are_refused_with_the_known_ones(goal, words):
    world = from_arrays(CHAIN, -1.0, [2, 1], goal_names=["home", "inn"])
    with pytest.raises(ValueError) as caught:
        world.goal_index(goal)
    for word in words:
        assert word in str(caught.value)
    assert ("Did you mean" in str(caught.value)) == (goal == "hone")


def test_a_long_list_of_names_is_cut_in_messages():
    chain = [[s + 1] for s in range(20)] + [[20]]
    world = from_arrays(chain, -1.0, range(1, 21))
    with pytest.raises(ValueError, match=r"g0, .*g11, … \(20 in all\)"):
        world.goal_index("nowhere")


@pytest.mark.parametrize("name", ["offset", "successor", "probability", "step_reward", "goals"])
def test_the_arrays_of_a_world_cannot_be_written(name):
    world = from_arrays(CHAIN, -1.0, [2])
    with pytest.raises(ValueError, match="read-only"):
        getattr(world, name)[0] = 0


@pytest.mark.parametrize(
    "name", ["dynamics", "step_reward", "goals", "starts", "goal_reward", "cells"]
)
def test_a_world_does_not_change_when_the_callers_arrays_do(name):
    given = {
        "dynamics": np.array(CHAIN),
        "step_reward": np.full((3, 2), -1.0),
        "goals": np.array([2]),
        "starts": np.array([0]),
        "goal_reward": np.array([4.0]),
        "cells": np.array([[0, 0], [0, 1], [0, 2]]),
    }
    world = from_arrays(**given)
    held = world.next_state if name == "dynamics" else getattr(world, name)
    before = held.copy()
    given[name][:] = 1
    assert np.array_equal(held, before)


def test_a_world_with_more_outcomes_than_searches_can_count_is_refused():
    def zeros(*shape):
        return np.broadcast_to(np.int32(0), shape)  # takes no memory

    with pytest.raises(ValueError, match="5,000,000,000 outcomes of 1,000,000,000 states"):
        FiniteMDP(
            *(zeros(1), zeros(5 * 10**9), zeros(1), zeros(10**9, 5), zeros(1)),
            *(("g",), tuple("abcde"), zeros(1)),
        )
