"""Corollary 1: Q̄*_M(s, g, a) = G*(s:g, a) + r̄_M(s', g, a'), with G* shared by all tasks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies import costly, real_valued, spaces
from taskalgebra.planning.exact import q_bar_star, return_to_goal


def assert_shared_return(one, two, first, second):
    """The tables differ by r_M(g) where g is reached, and not at all where it is not."""
    reached = return_to_goal(one.space.mdp).to_goal.T  # [S, G]
    mdp = one.space.mdp
    for s in np.flatnonzero(~mdp.is_goal):
        for a in range(mdp.n_actions):
            can = np.isfinite(reached[mdp.next_state[s, a]])
            expected = np.where(can, one.goal_reward - two.goal_reward, 0.0)
            finite = np.isfinite(first[s, :, a])
            difference = first[s, finite, a] - second[s, finite, a]
            assert np.array_equal(difference, expected[finite])
            assert np.array_equal(finite, np.isfinite(second[s, :, a]))


def test_corollary_1_all_tasks_of_four_rooms(plan_of_all, all_tasks):
    for task, values in zip(all_tasks, plan_of_all.values, strict=True):
        assert_shared_return(task, all_tasks[0], values.table, plan_of_all.values[0].table)


@given(st.data())
def test_corollary_1_on_random_worlds(data):
    space = data.draw(spaces(step_rewards=costly))
    one, two = data.draw(real_valued(space)), data.draw(real_valued(space))
    first, second = (values.table for values in q_bar_star(space, [one, two]).values)
    assert_shared_return(one, two, first, second)


def test_corollary_1_return_is_the_step_reward_times_the_distance(space):
    """By hand: from (1, 1) to the top-left centre (3, 3) it is 4 moves and one stay."""
    cell = np.flatnonzero((space.mdp.cells == (1, 1)).all(axis=1))[0]
    assert return_to_goal(space.mdp).to_goal[0, cell] == -0.125 * 5
