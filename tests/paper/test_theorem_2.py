"""Theorem 2: under Assumption 2 the optimal extended value functions form a Boolean algebra."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from laws import broken_laws
from strategies import eighths, real_valued, spaces, two_valued
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.planning.exact import q_bar_star
from taskalgebra.theory.values import GoalSetQ


def test_theorem_2_on_all_4096_triples_of_four_rooms(plan_of_all):
    bounds = plan_of_all.bounds
    for a, b, c in product(plan_of_all.values, repeat=3):
        assert not broken_laws(a, b, c, bounds.empty, bounds.universal)


def test_theorem_2_with_the_rewards_of_the_paper_up_to_rounding():
    space = FourRooms().space
    plan = q_bar_star(space, list(space.two_valued_tasks()))

    def close(x, y):
        return np.abs(x.table - y.table).max() <= 1e-12

    for a, b in product(plan.values, repeat=2):
        assert not broken_laws(a, b, ~a, plan.bounds.empty, plan.bounds.universal, same=close)


@given(st.data())
def test_theorem_2_on_random_worlds_for_any_penalty(data):
    space = data.draw(spaces())
    tasks = [data.draw(two_valued(space)) for _ in range(3)]
    plan = q_bar_star(space, tasks, r_bar_min=data.draw(eighths))
    assert not broken_laws(*plan.values, plan.bounds.empty, plan.bounds.universal)


@given(st.data())
def test_theorem_2_without_assumption_2_keeps_all_laws_but_complements(data):
    space = data.draw(spaces())
    tasks = [data.draw(real_valued(space)) for _ in range(3)]
    plan = q_bar_star(space, tasks)
    broken = broken_laws(*plan.values, plan.bounds.empty, plan.bounds.universal)
    assert broken <= {"complements"}


def test_theorem_2_complements_fail_without_assumption_2(space):
    plan = q_bar_star(space, [space.from_rewards([2, 1, -0.125, -0.125])])
    half = plan.values[0]
    assert half & ~half != plan.bounds.empty
    assert half | ~half != plan.bounds.universal


def test_theorem_2_on_goal_sets(plan_of_all, all_tasks):
    sets = [GoalSetQ.of(task, plan_of_all.bounds) for task in all_tasks]

    def same(x, y):
        return np.array_equal(x.desired, y.desired)

    for a, b, c in product(sets[::3], repeat=3):
        assert not broken_laws(a, b, c, sets[0], sets[-1], same=same)
