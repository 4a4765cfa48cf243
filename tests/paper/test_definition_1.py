"""Definition 1: ¬, ∨ and ∧ on tasks, and the bounds M_U and M_∅."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies import real_valued, spaces


def full_reward(task):
    """r_M(s, a) for every state and action, written out."""
    mdp = task.space.mdp
    reward = np.array(task.steps)
    for g, s in enumerate(mdp.goals):
        reward[s, :] = task.goal_reward[g]
    return reward


@given(st.data())
def test_definition_1_acts_on_every_state_and_action(data):
    space = data.draw(spaces())
    one, two = data.draw(real_valued(space)), data.draw(real_valued(space))
    r_one, r_two = full_reward(one), full_reward(two)
    r_universal, r_empty = full_reward(space.universal), full_reward(space.empty)
    assert np.array_equal(full_reward(one & two), np.minimum(r_one, r_two))
    assert np.array_equal(full_reward(one | two), np.maximum(r_one, r_two))
    assert np.array_equal(full_reward(~one), (r_universal + r_empty) - r_one)


def test_definition_1_bounds_are_the_pointwise_extremes_over_all_tasks(space, all_tasks):
    rewards = np.stack([full_reward(task) for task in all_tasks])
    assert np.array_equal(full_reward(space.universal), rewards.max(axis=0))
    assert np.array_equal(full_reward(space.empty), rewards.min(axis=0))


def test_definition_1_on_dense_tasks_also_changes_the_steps(space):
    rng = np.random.default_rng(0)
    shape = space.mdp.step_reward.shape
    one = space.from_rewards(space.r_universal, -rng.integers(1, 8, shape) / 8)
    two = space.from_rewards(space.r_empty, -rng.integers(1, 8, shape) / 8)
    live = ~space.mdp.is_goal
    assert np.array_equal((one & two).steps[live], np.minimum(one.steps, two.steps)[live])
    assert np.array_equal((one | two).steps[live], np.maximum(one.steps, two.steps)[live])
    assert np.array_equal((~one).steps[live], (2 * space.mdp.step_reward - one.steps)[live])
