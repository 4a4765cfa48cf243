"""`learn`: skills from interaction, composed like planned ones."""

import numpy as np
import pytest

import taskalgebra as ta


def test_learned_skills_equal_planned_ones_and_all_16_policies_are_optimal():
    world = ta.FourRooms(step_reward=-0.125)
    planned = ta.solve(world)
    for seed in range(3):
        skills = ta.learn(world, ["top", "left"], seed=seed)
        for name in ("top", "left"):
            assert skills[name].values.table.tolist() == planned[name].values.table.tolist()
        for function in ta.all_functions(["top", "left"]):
            agent = skills[function]
            earned = ta.policy_return(agent.task, agent.actions)
            assert np.array_equal(earned, ta.optimal_v(agent.task))


def test_learned_skills_are_saved_and_loaded(tmp_path):
    skills = ta.learn(ta.FourRooms())
    skills.save(tmp_path / "rooms")
    loaded = ta.load(tmp_path / "rooms")
    assert loaded.family.error_bound is None
    assert (loaded["top ^ left"].actions == skills["top ^ left"].actions).all()


def test_worlds_with_traps_are_refused_and_named():
    world = ta.from_arrays([[3, 1], [1, 1], [0, 4], [3, 3], [4, 4]], -1.0, goals=[3, 4])
    with pytest.raises(ValueError, match="a1 in state 0 may lead to where no goal can be reached"):
        ta.learn(world, {"p": ["g0"]}, learner=ta.QLearning(episodes=5))


def test_random_worlds_are_learned_slowly_by_default():
    agent = ta.learn(ta.FourRooms(slip_probability=0.1))["top & left"]
    result = agent.evaluate(episodes=500)
    assert result.mean_return > result.optimal_return - 0.2


def test_goals_that_were_never_met_are_named():
    with pytest.raises(ValueError, match=r"never met: .*learn longer"):
        ta.learn(ta.FourRooms(), learner=ta.QLearning(steps=40))
