"""Definition 4: ¬, ∨ and ∧ on extended value functions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies import real_valued, spaces
from taskalgebra.planning.exact import PlannedReach, q_bar_star, return_to_goal
from taskalgebra.theory.reach import ReachBounds, ReachQ


@given(st.data())
def test_definition_4_entry_by_entry(data):
    space = data.draw(spaces())
    plan = q_bar_star(space, [data.draw(real_valued(space)), data.draw(real_valued(space))])
    one, two = plan.values
    bounds = plan.bounds.tables
    for index in np.ndindex(one.table.shape):
        x, y = one.table[index], two.table[index]
        assert (one & two).table[index] == min(x, y)
        assert (one | two).table[index] == max(x, y)
        if np.isfinite(x):
            total = bounds.universal[index] + bounds.empty[index]
            assert (~one).table[index] == total - x
        else:
            assert (~one).table[index] == -np.inf


@given(st.data())
def test_definition_4_is_the_same_when_composed_lazily(data):
    space = data.draw(spaces())
    tasks = [data.draw(real_valued(space)), data.draw(real_valued(space))]
    plan = q_bar_star(space, tasks)
    one, two = plan.values
    reach = PlannedReach(return_to_goal(space.mdp), plan.r_bar_min)
    bounds = ReachBounds(space, reach)
    lazy_one, lazy_two = (ReachQ(reach, task.goal_reward, bounds) for task in tasks)
    states = np.arange(space.mdp.n_states)
    for table, lazy in (
        (one & two, lazy_one & lazy_two),
        (one | two, lazy_one | lazy_two),
        (~one, ~lazy_one),
        (one ^ two, lazy_one ^ lazy_two),
        (~(one | ~two) ^ one, ~(lazy_one | ~lazy_two) ^ lazy_one),
    ):
        assert np.array_equal(lazy.q_bar(states), table.table)
