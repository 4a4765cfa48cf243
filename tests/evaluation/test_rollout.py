"""One loop over copies of an environment: the same steps, however the copies reset themselves."""

from itertools import islice

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space

import taskalgebra as ta
from taskalgebra.evaluation.rollout import rollout

N_COPIES, N_STEPS = 5, 60


class Walk(gym.Env):
    """A walk of random length; its goal is its length modulo 3, and every fourth is truncated."""

    observation_space = gym.spaces.Box(-1, 99, (2,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.length, self.age = int(self.np_random.integers(1, 8)), 0
        return self.seen(), {}

    def seen(self):
        return np.array([self.length, self.age], np.float32)

    def step(self, action):
        assert self.age < self.length, "an episode that is over was stepped"
        self.age += 1
        reward = -self.age - 0.25 * float(action)
        if self.age < self.length:
            return self.seen(), reward, False, False, {}
        if self.length % 4 == 0:
            return self.seen(), reward, False, True, {}
        return self.seen(), reward, True, False, {"goal": self.length % 3}


def act(observations):
    """Decided by what is seen alone, so that equal episodes are played equally."""
    return (observations.sum(axis=1) % 3).astype(np.int64)


def steps_of(mode, n=N_STEPS, seed=0):
    env = SyncVectorEnv([Walk] * N_COPIES, autoreset_mode=mode)
    observations, _ = env.reset(seed=seed)
    found = list(islice(rollout(env, observations, act, 3), n))
    env.close()
    return found


def by_copy(steps):
    """What each copy did, without the steps that only began an episode."""
    return [
        [
            (int(s.actions[i]), float(s.rewards[i]), int(s.goals[i]), bool(s.ended[i]))
            for s in steps
            if not s.resets[i]
        ]
        for i in range(N_COPIES)
    ]


def alone(seed, n):
    """The same walk as a single environment: what is to be expected."""
    env, found = Walk(), []
    seen, _ = env.reset(seed=seed)
    while len(found) < n:
        action = int(act(seen[None])[0])
        seen, reward, terminated, truncated, info = env.step(action)
        found.append((action, reward, info.get("goal", -1), terminated or truncated))
        if terminated or truncated:
            seen, _ = env.reset()
    return found


@pytest.mark.parametrize("mode", AutoresetMode)
def test_every_mode_gives_the_steps_of_the_environment_itself(mode):
    for i, steps in enumerate(by_copy(steps_of(mode))):
        assert len(steps) > 30
        assert steps == alone(i, len(steps))


@pytest.mark.parametrize("mode", AutoresetMode)
def test_steps_that_only_begin_an_episode_are_told_apart(mode):
    ended = np.zeros(N_COPIES, bool)
    n_resets = 0
    for step in steps_of(mode):
        expected = ended if mode == AutoresetMode.NEXT_STEP else np.zeros_like(ended)
        assert np.array_equal(step.resets, expected)
        assert (step.goals[step.resets] == -1).all() and not step.ended[step.resets].any()
        ended = step.ended
        n_resets += int(step.resets.sum())
    assert (n_resets > 10) == (mode == AutoresetMode.NEXT_STEP)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_terminal_observations_are_seen_where_episodes_end(mode):
    for step in steps_of(mode):
        over = step.next_observations[:, 0] == step.next_observations[:, 1]
        assert np.array_equal(over, step.ended)


def test_a_vector_that_does_not_say_its_mode_resets_in_the_next_step():
    class Plain(VectorEnv):
        metadata = {}  # noqa: RUF012
        num_envs = 2
        single_action_space = gym.spaces.Discrete(2)
        action_space = batch_space(single_action_space, 2)

        def step(self, actions):
            yes = np.ones(2, bool)
            return np.zeros((2, 1)), np.zeros(2), yes, ~yes, {"goal": np.zeros(2, np.int64)}

    steps = islice(rollout(Plain(), np.zeros((2, 1)), lambda o: np.zeros(2, np.int64)), 2)
    assert [step.resets.tolist() for step in steps] == [[False, False], [True, True]]


def test_a_step_is_taken_when_it_is_asked_for():
    calls = []

    def noted(observations):
        calls.append(len(observations))
        return act(observations)

    env = SyncVectorEnv([Walk] * 2)
    observations, _ = env.reset(seed=0)
    steps = rollout(env, observations, noted)
    assert calls == []
    next(steps)
    assert calls == [2]


def test_worlds_of_the_library_are_played_by_it():
    rooms = ta.FourRooms()
    agent = ta.solve(rooms)["top ^ left"]
    copies = rooms.vector(6, task=agent.task)
    observations, _ = copies.reset(seed=0)
    goals = set()
    for step in islice(rollout(copies, observations, agent.policy.actions, 4), 100):
        goals |= set(step.goals[step.ended].tolist())
    assert goals == {1, 2}


def test_a_goal_beyond_those_there_are_is_refused():
    env = SyncVectorEnv([Walk] * 3)
    observations, _ = env.reset(seed=0)
    with pytest.raises(ValueError, match="expected the number of a goal, 0 to 1"):
        list(islice(rollout(env, observations, act, 2), 50))
