"""Definition 2: the extended reward r̄, its penalty r̄_MIN, and the diameter D."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_pairs_diameter
from strategies import real_valued, spaces
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.theory.rewards import extended_reward, r_bar_min_of
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.grid import from_text


@given(st.data())
def test_definition_2_case_by_case(data):
    space = data.draw(spaces())
    task = data.draw(real_valued(space))
    mdp = space.mdp
    r_bar = extended_reward(task, -99.0)
    position = {int(s): i for i, s in enumerate(mdp.goals)}
    for s in range(mdp.n_states):
        for g in range(mdp.n_goals):
            for a in range(mdp.n_actions):
                if s in position and position[s] != g:
                    expected = -99.0
                elif s in position:
                    expected = task.goal_reward[g]
                else:
                    expected = mdp.step_reward[s, a]
                assert r_bar[s, g, a] == expected


@given(spaces())
def test_definition_2_penalty_is_at_most_the_bound(space):
    live = space.mdp.step_reward[~space.mdp.is_goal]
    rewards = [*live.ravel(), *space.r_empty, *space.r_universal]
    diameter = all_pairs_diameter(space.mdp.next_state.tolist())
    assert r_bar_min_of(space) <= min(min(rewards), (min(rewards) - max(rewards)) * diameter)


@pytest.mark.parametrize(("n_goals", "diameter", "r_bar_min"), [(4, 20, -44.1), (40, 21, -46.2)])
def test_definition_2_in_four_rooms(n_goals, diameter, r_bar_min):
    space = FourRooms(n_goals).space
    assert all_pairs_diameter(space.mdp.next_state.tolist()) == diameter
    assert space.mdp.diameter == diameter
    assert r_bar_min_of(space) == pytest.approx(r_bar_min, abs=1e-12)


def test_definition_2_penalty_of_a_world_with_negative_rewards_only():
    space = TaskSpace(from_text("A..B", step_reward=-1), r_universal=-0.5, r_empty=-1)
    assert space.mdp.diameter == 4
    assert r_bar_min_of(space) == -5
