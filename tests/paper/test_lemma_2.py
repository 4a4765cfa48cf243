"""Lemma 2: up to the goal, π*_g is the same for every task."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies import costly, real_valued, spaces
from taskalgebra.planning.exact import q_bar_star
from taskalgebra.theory.rewards import r_bar_min_of
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text


def optimal_actions(table, live):
    """[live, G, A], which actions are optimal for each goal."""
    return table[live] == table[live].max(axis=2, keepdims=True)


def test_lemma_2_all_pairs_of_tasks_of_four_rooms(plan_of_all, space):
    live = ~space.mdp.is_goal
    first = optimal_actions(plan_of_all.values[0].table, live)
    for values in plan_of_all.values[1:]:
        assert np.array_equal(optimal_actions(values.table, live), first)


@given(st.data())
def test_lemma_2_on_random_worlds_whose_steps_cost(data):
    space = data.draw(spaces(step_rewards=costly))
    one, two = data.draw(real_valued(space)), data.draw(real_valued(space))
    plan = q_bar_star(space, [one, two])
    live = ~space.mdp.is_goal
    first, second = (optimal_actions(values.table, live) for values in plan.values)
    assert np.array_equal(first, second)


def test_lemma_2_fails_with_the_penalty_as_printed_when_d_leaves_the_last_reward_out():
    """One step leads to either goal, so D = 1; the way to g costs 2, the way to g' 1/8."""
    world = from_arrays([[1, 2], [1, 1], [2, 2]], [[-2, -0.125], [0, 0], [0, 0]], goals=[1, 2])
    space = TaskSpace(world, r_universal=0.125, r_empty=-2)
    wanting, not_wanting = space.task(["g0"]), space.empty
    printed = min(space.r_min, (space.r_min - space.r_max) * world.diameter)

    def action_towards_g0(task, r_bar_min):
        return q_bar_star(space, [task], r_bar_min=r_bar_min).values[0].table[0, 0].argmax()

    assert action_towards_g0(wanting, printed) == 0
    assert action_towards_g0(not_wanting, printed) == 1
    assert action_towards_g0(wanting, r_bar_min_of(space)) == 0
    assert action_towards_g0(not_wanting, r_bar_min_of(space)) == 0


def test_lemma_2_fails_with_the_penalty_as_printed_when_all_rewards_are_negative():
    """From A's cell, an agent told to reach B finds the printed penalty cheaper than the way."""
    space = TaskSpace(from_text("A..B", step_reward=-1), r_universal=-0.5, r_empty=-1)
    printed = min(space.r_min, (space.r_min - space.r_max) * space.mdp.diameter)
    stay, right = 4, 1
    for r_bar_min, chosen in ((printed, stay), (r_bar_min_of(space), right)):
        plan = q_bar_star(space, [space.task(["B"])], r_bar_min=r_bar_min)
        assert plan.values[0].table[0, 1].argmax() == chosen
