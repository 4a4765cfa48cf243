"""Definition 3: the extended value function Q̄, planned exactly."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oracles import extended_q_of_task
from strategies import eighths, real_valued, spaces
from taskalgebra.planning.exact import q_bar_star


def test_definition_3_all_tasks_of_four_rooms(plan_of_all, all_tasks):
    for task, values in zip(all_tasks, plan_of_all.values, strict=True):
        assert np.array_equal(values.table, extended_q_of_task(task, plan_of_all.r_bar_min))


@given(st.data())
def test_definition_3_on_random_worlds(data):
    space = data.draw(spaces())
    task = data.draw(real_valued(space))
    plan = q_bar_star(space, [task])
    assert np.array_equal(plan.values[0].table, extended_q_of_task(task, plan.r_bar_min))


@given(st.data())
def test_definition_3_holds_for_any_penalty(data):
    """Also for one so mild that a wrong goal is the better choice."""
    space = data.draw(spaces())
    task = data.draw(real_valued(space))
    r_bar_min = data.draw(eighths)
    plan = q_bar_star(space, [task], r_bar_min=r_bar_min)
    assert np.array_equal(plan.values[0].table, extended_q_of_task(task, r_bar_min))


@given(st.data())
def test_definition_3_satisfies_its_own_equation(data):
    """Q̄(s, g, a) = r̄(s, g, a) + V̄(s', g), where V̄(ω, g) = 0."""
    space = data.draw(spaces())
    task = data.draw(real_valued(space))
    table = q_bar_star(space, [task]).values[0].table
    mdp = space.mdp
    v_bar = table.max(axis=2)
    for s in np.flatnonzero(~mdp.is_goal):
        for a in range(mdp.n_actions):
            expected = mdp.step_reward[s, a] + v_bar[mdp.next_state[s, a]]
            assert np.array_equal(table[s, :, a], expected)
