"""What agents for expressions and agents for formulas have in common."""

import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta


@pytest.fixture(scope="module")
def rooms():
    return ta.solve(ta.FourRooms(), ["top", "left"])


@pytest.mark.parametrize("key", ["top ^ left", "F(top & X F left)"])
def test_both_are_shown_and_certified(rooms, key, capsys):
    agent = rooms[key]
    agent.show()
    shown = capsys.readouterr().out
    assert shown.startswith(str(agent.expression)) and "◆" in shown
    assert agent.certificate().optimal
    assert agent.certificate()["exact values"].holds


def test_the_certificate_of_an_expression_fails_where_lemma_1_does():
    slippery = ta.solve(ta.FourRooms(slip_probability=0.2), ["top", "left"])["top ^ left"]
    assert not slippery.certificate().optimal
    assert not slippery.certificate()["deterministic"].holds


def test_values_of_slippery_worlds_are_planned_and_not_called_estimates():
    slippery = ta.solve(ta.FourRooms(slip_probability=0.2), ["top", "left"])["top"]
    detail = slippery.certificate()["exact values"].detail
    assert "planned to within" in detail and "estimates" not in detail


def test_a_sampled_world_certifies_nothing():
    class Slips(gym.Env):
        observation_space, action_space = gym.spaces.Discrete(5), gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at = 2
            return self.at, {}

        def step(self, action):
            action = action if self.np_random.random() > 0.001 else 1 - action
            self.at = int(np.clip(self.at + (1 if action else -1), 0, 4))
            return self.at, 0.0, False, False, {}

    world = ta.wrap(
        Slips, lambda at, info, env: {0: "lo", 4: "hi"}.get(int(at)), among=["lo", "hi"]
    )
    for key, continuing in (("lo", False), ("F(lo & F hi)", True)):
        skills = ta.solve(ta.explore(world, samples=2, continuing=continuing))
        certificate = skills[key].certificate()
        assert not certificate.optimal
        assert "sampled" in certificate["exact values"].detail


def test_a_horizon_is_part_of_what_is_certified():
    agent = ta.solve(ta.FourRooms(), ["top", "left"], horizon=12)["top"]
    assert agent.certificate().optimal
    assert "within 12 steps" in str(agent.certificate())


def test_learned_values_are_certified_by_what_they_lose():
    agent = ta.learn(ta.FourRooms(), ["top", "left"], learner=ta.FewSteps())["top"]
    certificate = agent.certificate()
    assert certificate.optimal and not certificate["exact values"].examined
    assert not certificate["exact values"].examined


def test_a_step_of_which_nothing_is_known_is_refused(rooms):
    agent = rooms["F top"]
    for info in ({}, {"distance": 3}):
        with pytest.raises(ValueError, match=r"entered\(observation, info, env\)"):
            agent.observe(info)
    agent.observe({"goal": -1})


def test_only_agents_that_count_violations_tell_them(rooms):
    with pytest.raises(TypeError, match="counts no violations"):
        rooms["F top"].violations([0])
    assert rooms.fewest_violations("top").violations([0]).tolist() == [0]
    assert "fewest violations" in repr(rooms.fewest_violations("top"))
    assert "fewest violations" not in repr(rooms["F top"])


def test_where_no_way_from_goal_to_goal_was_learned_it_is_said():
    from skills.test_learn_continuing import TO_AND_FRO, Line, ends

    line = ta.wrap(Line, ends, among=["west", "east"], r_universal=20, max_episode_steps=60)
    skills = ta.learn(line, learner=ta.QLearning(steps=3_000))
    with pytest.raises(ValueError, match=r"from west, east no way .* learn\(..., continuing=True"):
        skills[TO_AND_FRO]
    assert skills["F west"].evaluate(10).success_rate == 1.0
    assert np.isfinite(skills["F west"].v(4))
