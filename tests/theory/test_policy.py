"""Greedy actions, against a plain loop, and ties broken the same way everywhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskalgebra.planning.exact import q_bar_star
from taskalgebra.theory.policy import GreedyPolicy, Policy, greedy, greedy_towards
from taskalgebra.theory.rounding import TIE
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.grid import from_text

shapes = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4))
numbers = st.one_of(st.integers(-3, 3).map(float), st.just(-np.inf))


def tables(values=numbers):
    return shapes.flatmap(
        lambda shape: st.lists(
            values, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))
        ).map(lambda flat: np.array(flat).reshape(shape))
    )


def first_best(q_bar):
    """The first action whose best goal is worth most, row by row."""
    chosen = []
    for row in q_bar.tolist():
        worth = [max(goal[a] for goal in row) for a in range(len(row[0]))]
        chosen.append(worth.index(max(worth)))
    return chosen


@settings(max_examples=100, deadline=None)
@given(tables())
def test_greedy_takes_the_first_of_the_best_actions(q_bar):
    assert greedy(q_bar).tolist() == first_best(q_bar)


@settings(max_examples=60, deadline=None)
@given(tables(), st.data())
def test_greedy_towards_a_goal_looks_at_that_goal_only(q_bar, data):
    goal = data.draw(st.integers(0, q_bar.shape[1] - 1))
    assert greedy_towards(q_bar, goal).tolist() == first_best(q_bar[:, [goal], :])


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1.0, 1e6, 1e200])
def test_values_within_a_rounding_error_are_tied_and_others_are_not(scale):
    for best in (scale, 1e-3 * scale, 1e3 * scale):
        size = max(best, scale)
        assert greedy(np.array([[[best - 0.5 * TIE * size, best]]]), scale).tolist() == [0]
        assert greedy(np.array([[[best - 10 * TIE * size, best]]]), scale).tolist() == [1]


def test_arrays_of_any_memory_order_and_number_type_are_taken():
    q_bar = np.arange(24).reshape(2, 3, 4)
    assert greedy(q_bar).tolist() == [3, 3]
    assert greedy(np.asfortranarray(-q_bar.astype(np.float32))).tolist() == [0, 0]
    assert greedy(q_bar[:, :, ::-1]).tolist() == [0, 0]


def test_a_policy_acts_on_one_observation_as_on_many():
    space = TaskSpace(from_text("A..\n..B"))
    policy = GreedyPolicy(q_bar_star(space, [space.task("B")]).values[0])
    actions = policy.actions(np.arange(8))
    assert [policy.act(s) for s in range(8)] == actions.tolist()
    assert all(type(policy.act(s)) is int for s in (0, np.int64(3)))
    # By hand: down or right towards B, of tied ones the lower number, then stay.
    assert actions[:6].tolist() == [1, 1, 2, 1, 1, 4]


class Looking(Policy):
    """Takes the action that the first number says."""

    observation_ndim = 1

    def actions(self, observations):
        return np.asarray(observations)[:, 0] > 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_what_is_not_a_number_is_refused(dtype):
    policy = Looking()
    for wrong in ([1.0, np.nan], [[1.0, 2.0], [3.0, 4.0], [np.nan, 5.0]]):
        with pytest.raises(ValueError, match=r"observation.* NaN .*expected numbers"):
            policy.act(np.array(wrong, dtype))
    with pytest.raises(ValueError, match="2 of the 3 observations have NaN"):
        policy.act(np.array([[np.nan, 0], [1, 1], [0, np.nan]], dtype))
    assert policy.act(np.array([np.inf, 0], dtype))
    assert policy.act([[1, 0], [-1, 0]]).tolist() == [True, False]
