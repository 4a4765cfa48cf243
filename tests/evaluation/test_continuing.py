"""Tasks that never end: what episodes are worth, and which of them count."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

import taskalgebra as ta
from taskalgebra.evaluation.continuing import play_on
from taskalgebra.theory.policy import Policy

SPACE = ta.TaskSpace(ta.OpenWorld(("a", "b", "c"), ("go",)), r_universal=5.0, r_empty=-1.0)


class Script(VectorEnv):
    """Copy i enters the goals of row i, one a step; a step pays −0.25 · (i + 1); it ends at 9."""

    def __init__(self, *rows):
        self.rows = rows
        self.num_envs = len(rows)
        self.single_observation_space = gym.spaces.Discrete(99)
        self.single_action_space = gym.spaces.Discrete(1)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.seeds = []

    def reset(self, *, seed=None, options=None):
        self.seeds.append(seed)
        self.age = 0
        return np.zeros(self.num_envs, np.int64), {}

    def step(self, actions):
        now = np.array([row[min(self.age, len(row) - 1)] for row in self.rows])
        self.age += 1
        rewards = -0.25 * np.arange(1, self.num_envs + 1)
        over = now == 9
        infos = {"goal": np.where(over, -1, now)}
        return np.full(self.num_envs, self.age), rewards, over, np.zeros_like(over), infos


class Recorder(Policy):
    """Notes where episodes begin."""

    def __init__(self):
        self.begins = []

    def actions(self, observations):
        return np.zeros(len(observations), np.int64)

    def reset(self, begins):
        self.begins.append(begins.tolist())


def test_an_episode_is_worth_its_steps_and_its_wanted_goals():
    task = SPACE.task(["a", "c"])
    env = Script((0, -1, 1, 2, 2), (-1, -1, -1, -1, 0), (1, 1, 9, 0, 0))
    policy = Recorder()
    found = play_on(task, env, policy, episodes=3, steps=5)
    assert found.returns.tolist() == [3 * 5 - 5 * 0.25, 5 - 5 * 0.5, -3 * 0.75]
    assert found.steps.tolist() == [5, 5, 3]
    assert found.goals.tolist() == [[1, 1, 2], [1, 0, 0], [0, 2, 0]]
    assert found.n_wanted.tolist() == [3, 1, 0] and found.n_unwanted.tolist() == [1, 0, 2]
    assert not found.violated.any()
    assert found.episodes == 3
    assert found.mean_return == pytest.approx((13.75 + 2.5 - 2.25) / 3)
    assert found.median_return == 2.5 and found.quartiles == (0.125, 2.5, 8.125)
    assert str(found) == (
        "median return 2.50 (quartiles 0.12 to 8.12), mean 4.67, 1.33 wanted goals and 1.00 others "
        "in 4.3 steps, 3 episodes"
    )
    assert policy.begins == [
        [True, True, True],
        [True, False, True],
        [False, False, True],
        [True, False, False],
        [True, False, True],
        [True, True, True],
    ]


def test_goals_to_be_avoided_end_an_episode_and_pay_nothing():
    task = SPACE.task(["a", "b"])
    env = Script((0, 1, 0), (0, 0, 0), (2, 1, 0))
    avoided = np.array([False, True, False])
    found = play_on(task, env, Recorder(), episodes=3, steps=3, avoided=avoided)
    assert found.returns.tolist() == [5 - 0.5, 15 - 1.5, -1.5]
    assert found.steps.tolist() == [2, 3, 2]
    assert found.violated.tolist() == [True, False, True]
    assert str(found).endswith("3 episodes, 2 violated")


def test_waves_of_copies_make_up_the_number_of_episodes():
    env = Script((0,), (-1,))
    events = []
    found = play_on(
        SPACE.task("a"), env, Recorder(), episodes=5, steps=2, seed=3, listener=events.append
    )
    assert found.returns.tolist() == [9.5, -1.0] * 2 + [9.5]
    first, *others = env.seeds
    assert others == [first + 2, first + 4]
    assert [event.share for event in events] == [0.4, 0.8, 1.0]


def test_a_single_episode_has_no_standard_error():
    found = play_on(SPACE.task("a"), Script((0,)), Recorder(), episodes=1, steps=1)
    assert np.isnan(found.standard_error) and found.mean_return == 4.75


@pytest.mark.parametrize("wrong", [{"episodes": 0}, {"steps": 0}, {"steps": 2.5}])
def test_counts_are_checked(wrong):
    with pytest.raises((ValueError, TypeError), match=r"episodes|steps"):
        play_on(SPACE.task("a"), Script((0,)), Recorder(), **{"episodes": 1, "steps": 1} | wrong)


@pytest.mark.parametrize("goal", [3, -2, 0.5])
def test_an_environment_that_names_no_goal_is_told(goal):
    with pytest.raises(ValueError, match="expected the number of the goal that the step entered"):
        play_on(SPACE.task("a"), Script((goal,)), Recorder(), episodes=1, steps=1)


def test_an_environment_may_say_nothing_where_no_goal_was_entered():
    class Silent(Script):
        def step(self, actions):
            *parts, infos = super().step(actions)
            entered = infos["goal"] >= 0
            if not entered.any():
                return *parts, {}
            return *parts, {"goal": np.where(entered, infos["goal"], 77), "_goal": entered}

    found = play_on(SPACE.task("a"), Silent((-1, 0), (-1, -1)), Recorder(), episodes=2, steps=2)
    assert found.goals.tolist() == [[1, 0, 0], [0, 0, 0]]
