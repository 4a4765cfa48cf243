"""Lemma 1: r = max_g r̄ and Q* = max_g Q̄*."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oracles import plain_q_of_task
from strategies import real_valued, spaces
from taskalgebra.planning.exact import optimal_v, q_bar_star
from taskalgebra.theory.rewards import extended_reward, r_bar_min_of, recover_q, recover_v


def test_lemma_1_all_tasks_of_four_rooms(plan_of_all, all_tasks):
    for task, values in zip(all_tasks, plan_of_all.values, strict=True):
        q = plain_q_of_task(task)
        assert np.array_equal(recover_q(values.table), q)
        assert np.array_equal(recover_v(values.table), q.max(axis=1))


@given(st.data())
def test_lemma_1_rewards(data):
    space = data.draw(spaces())
    task = data.draw(real_valued(space))
    reward = np.array(space.mdp.step_reward)
    reward[space.mdp.goals] = task.goal_reward[:, None]
    assert np.array_equal(extended_reward(task, r_bar_min_of(space)).max(axis=1), reward)


@given(st.data())
def test_lemma_1_values_on_random_worlds(data):
    space = data.draw(spaces())
    task = data.draw(real_valued(space))
    q = plain_q_of_task(task)
    assert np.array_equal(recover_q(q_bar_star(space, [task]).values[0].table), q)
    assert np.array_equal(optimal_v(task), q.max(axis=1))
