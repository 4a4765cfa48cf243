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


def test_goals_that_are_only_rare_are_named():
    with pytest.raises(ValueError, match=r"never met: .*only rare: learn longer, .*steps="):
        ta.learn(ta.FourRooms(), learner=ta.QLearning(steps=40))


PARTED = """
    #######
    #A.#.B#
    #######
"""


@pytest.mark.parametrize("learner", [ta.QLearning(steps=400), ta.Hindsight(steps=400)], ids=type)
@pytest.mark.parametrize("slip", [0.0, 0.5])
def test_goals_out_of_reach_are_told_from_rare_ones(learner, slip):
    """No start is on the side of B, so that no number of steps would do."""
    parted = ta.from_text(PARTED, starts=[(1, 2)], slip_probability=slip)
    with pytest.raises(ValueError, match=r"^no episode can end in .*any start: B; ") as e:
        ta.learn(parted, {"a": ["A"]}, learner=learner)
    assert ("FewSteps" in str(e.value)) == (slip == 0.0)
    for skills in (
        ta.solve(parted, {"a": ["A"]}),
        *([ta.learn(parted, {"a": ["A"]}, learner=ta.FewSteps())] if not slip else []),
    ):  # what the error says to do
        assert skills["a"].certificate().optimal
    whole = ta.from_text(PARTED, starts=[(1, 2), (1, 4)], slip_probability=slip)
    assert ta.learn(whole, {"a": ["A"]}, learner=type(learner)(steps=4_000))
