"""Learning for tasks with time where no episode starts on a goal: `learn(..., continuing=True)`."""

import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.envs.labelled import Labelled


class Line(gym.Env):
    """Nine cells in a row; every episode starts in the middle."""

    observation_space = gym.spaces.Discrete(9)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        assert not options
        self.at = 4
        return self.at, {}

    def step(self, action):
        self.at = int(np.clip(self.at + (1 if action else -1), 0, 8))
        return self.at, 0.0, False, False, {}


def ends(observation, info, env):
    return {0: "west", 8: "east"}.get(int(observation))


@pytest.fixture(scope="module")
def line():
    return ta.wrap(Line, ends, among=["west", "east"], r_universal=20, max_episode_steps=60)


TO_AND_FRO = "west then east then west"
FEWEST = 4 + 8 + 8


def learned(world, **options):
    return ta.learn(world, learner=ta.QLearning(steps=6_000), seed=0, **options)


@pytest.fixture(scope="module")
def skills(line):
    return learned(line, continuing=True)


def test_the_way_from_goal_to_goal_is_learned_where_no_episode_starts_on_a_goal(skills):
    result = skills[TO_AND_FRO].evaluate(20)
    assert (result.success_rate, result.mean_steps) == (1.0, FEWEST)


def test_without_it_these_ways_are_never_met(line, skills):
    without = learned(line)
    assert not without.family.values[0].q_bar(np.array([0, 8])).any()  # as they were at first
    learned_there = skills.family.values[0].q_bar(np.array([0, 8]))
    assert learned_there.any(axis=(1, 2)).all()


def test_boolean_tasks_are_evaluated_from_the_environments_own_starts(line, skills):
    result = skills["west"].evaluate(50)
    assert skills.env is line
    assert (result.success_rate, result.mean_steps) == (1.0, 4.0)


class SlipperyLine(Line):
    """One in ten actions is the other one."""

    def step(self, action):
        return super().step(action if self.np_random.random() < 0.9 else 1 - action)


def test_for_tasks_with_time_the_penalty_is_low_also_where_there_is_chance():
    """And without it the certificate of a formula says to learn with it."""
    world = ta.wrap(SlipperyLine, ends, among=["west", "east"], max_episode_steps=60)
    without, skills = learned(world), learned(world, continuing=True)
    assert without.family.r_bar_min == -0.1 > skills.family.r_bar_min
    blamed = [f for f in without["F west"].certificate().findings if not f.holds]
    assert [f.name for f in blamed] == ["low penalty"]
    assert blamed[0].detail.endswith("learn with continuing=True")
    assert not [f for f in skills["F west"].certificate().findings if not f.holds]


def test_equal_seeds_learn_equal_tables(line, skills):
    one, two = (each.family.values[0] for each in (skills, learned(line, continuing=True)))
    states = np.arange(9)
    np.testing.assert_array_equal(one.q_bar(states), two.q_bar(states))


def test_networks_learn_it_too_and_resume_to_the_same_values(tmp_path):
    line = ta.wrap(
        Line,
        ends,
        among=["west", "east"],
        observation=lambda at, env: np.array([at], np.float32),
        max_episode_steps=60,
    )
    learner = ta.DeepQ(n_updates=90, updates_per_iteration=30, threads=1, n_envs=8)
    seen = np.arange(9, dtype=np.float32)[:, None]

    class Enough(Exception):
        pass

    def stop(event):
        if event.n_updates == 60:
            raise Enough

    whole = ta.learn(line, learner=learner, continuing=True)
    with pytest.raises(Enough):
        ta.learn(line, learner=learner, continuing=True, folder=tmp_path, listener=stop)
    resumed = ta.learn(line, learner=learner, continuing=True, folder=tmp_path)
    plain = ta.learn(line, learner=learner)
    values = [each.family.values[0].q_bar(seen) for each in (whole, resumed, plain)]
    np.testing.assert_array_equal(values[0], values[1])
    assert not np.array_equal(values[0], values[2])


def test_about_half_of_the_episodes_go_on_and_a_seed_begins_anew(line):
    resuming = line.resuming()
    copies = resuming.vector(1, task=line.space.universal)
    rng = np.random.default_rng(0)
    copies.reset(seed=0)
    went_on = []
    for _ in range(4_000):
        at, _, terminated, _, _ = copies.step(rng.integers(0, 2, 1))
        if terminated[0]:
            before = int(at[0])
            after = int(copies.step(np.zeros(1, np.int64))[0][0])
            assert after in (before, 4)
            went_on.append(after == before)
    assert len(went_on) > 100 and 0.4 < np.mean(went_on) < 0.6
    while not terminated[0]:
        _, _, terminated, _, _ = copies.step(rng.integers(0, 2, 1))
    assert {int(copies.reset(seed=s)[0][0]) for s in range(20)} == {4}


def test_where_the_environment_itself_ends_the_next_episode_begins_anew():
    class Closed(Line):
        def step(self, action):
            at, reward, _, _, info = super().step(action)
            return at, reward, at in (0, 8), False, info

    rules = ta.wrap(Closed, ends, among=["west", "east"]).resuming().rules
    env = Labelled(Closed(), rules)
    starts = set()
    env.reset(seed=0)
    for _ in range(40):
        terminated = False
        while not terminated:
            _, _, terminated, _, _ = env.step(0)
        starts.add(env.reset()[0])
    assert starts == {4}


def test_tables_keep_no_checkpoints_then(line, tmp_path):
    with pytest.raises(ValueError, match="keep no checkpoints"):
        learned(line, continuing=True, folder=tmp_path)
    assert not any(tmp_path.iterdir())


def test_worlds_that_start_on_goals_are_learned_as_they_are():
    office = ta.Office()
    assert office.resuming() is office


def test_worlds_that_cannot_are_refused():
    middle = ta.TaskSpace(ta.from_text("A..B", touch=True, starts=[(0, 1)]))
    world = ta.FiniteEnv(middle, {"A": middle.task(["A"])})
    with pytest.raises(ValueError, match=r"no episode starts in cell \(0, 0\)"):
        ta.learn(world, continuing=True)
    with pytest.raises(TypeError, match="no method resuming"):
        ta.learn(ta.Boxman(), continuing=True)
    with pytest.raises(ValueError, match="continuing is 'yes'"):
        ta.learn(world, continuing="yes")
    many = ta.wrap(lambda n: gym.vector.SyncVectorEnv([Line] * n), ends, among=["west", "east"])
    with pytest.raises(TypeError, match="make_one"):
        ta.learn(many, continuing=True)


def test_starts_after_a_goal_are_as_random_as_others():
    begun = []

    class Anywhere(Line):
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at = 1 + int(7 * self.np_random.random())
            begun.append(self.at)
            return self.at, {}

    line = ta.wrap(Anywhere, ends, among=["west", "east"], max_episode_steps=60)
    begun.clear()
    learner = ta.QLearning(episodes=400)
    ta.learn(line, learner=learner, continuing=True)
    low, high = np.mean(np.array(begun) < 4), np.mean(np.array(begun) > 4)
    assert 0.35 < low < 0.5 and 0.35 < high < 0.5  # 3 of 7 each


def test_checkpoints_of_the_other_learning_are_told_apart_where_no_goal_is_near():
    from taskalgebra.learning.deep import checkpoint, networks
    from taskalgebra.learning.deep.settings import FAST, resolved_for
    from taskalgebra.learning.deep.training import Training

    class Still(Line):
        """No step leads anywhere, so that both look the same in the first steps."""

        observation_space = gym.spaces.Box(0, 9, (1,), np.float32)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return np.full(1, self.at, np.float32), {}

        def step(self, action):
            return np.full(1, self.at, np.float32), 0.0, False, False, {}

    world = ta.wrap(Still, lambda at, info, env: None, among=["west"], max_episode_steps=60)
    settings = resolved_for(FAST, world, 0)
    worlds = [
        checkpoint._world_of(
            Training(one, one.tasks, one.space.universal, networks.vector, settings, 0).trainer
        )
        for one in (world, world, world.resuming())
    ]
    assert worlds[0] == worlds[1] != worlds[2]


def test_an_option_of_the_users_own_reaches_the_environment():
    given = []

    class Told(Line):
        def reset(self, *, seed=None, options=None):
            given.append(options)
            return super().reset(seed=seed)

    world = ta.wrap(Told, ends, among=["west", "east"])
    world.continuing(1).reset(options={"resume": "mine"})
    assert given[-1] == {"resume": "mine"}
