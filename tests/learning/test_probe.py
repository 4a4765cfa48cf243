"""A short look at an environment: what steps cost, and what a wrong goal must cost."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import taskalgebra as ta
from deep_worlds import Corridor, corridor_world
from row_worlds import Row, SlipperyRow, row_world
from taskalgebra.learning import probe
from taskalgebra.learning.probe import StepRewards, outcomes_differ, penalty_of, step_rewards
from taskalgebra.theory.rewards import r_bar_min_of


class Uneven(Corridor):
    """Going left costs 0.25, going right pays 0.5, and taking a goal pays 9."""

    def step(self, action):
        seen, reward, terminated, *rest = super().step(action)
        reward = {0: -0.25, 1: 0.5}.get(int(action), reward)
        return (seen, 9.0 if terminated else reward, terminated, *rest)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_the_lowest_and_the_highest_reward_of_steps_that_end_in_no_goal(mode):
    """Neither what goals pay nor the 0 of steps that only begin an episode is counted."""
    world = corridor_world(lambda n: SyncVectorEnv([Uneven] * n, autoreset_mode=mode))
    assert step_rewards(world, 0) == (-0.25, 0.5)
    dear = corridor_world(lambda n: SyncVectorEnv([Corridor] * n, autoreset_mode=mode))
    assert step_rewards(dear, 0) == (-0.1, -0.1)


def test_finite_worlds_and_games_are_looked_at_alike():
    assert step_rewards(ta.FourRooms(step_reward=-0.25), 3) == (-0.25, -0.25)
    assert step_rewards(ta.Boxman(layout="random"), 3) == (-0.1, -0.1)


def test_equal_seeds_see_the_same():
    class Noisy(Corridor):
        def step(self, action):
            seen, _, *rest = super().step(action)
            return (seen, -float(self.np_random.random()), *rest)

    world = corridor_world(lambda n: SyncVectorEnv([Noisy] * n))
    one, two, other = (step_rewards(world, seed) for seed in (0, 0, 1))
    assert one == two != other
    assert -1.0 < one.low < -0.9 and -0.1 < one.high < 0.0


def test_where_every_step_ends_in_a_goal_steps_are_free():
    class Sudden(gym.Env):
        observation_space, action_space = gym.spaces.Discrete(1), gym.spaces.Discrete(1)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return 0, {}

        def step(self, action):
            return 0, 5.0, True, False, {"goal": 0}

    world = ta.OpenEnv(lambda n: SyncVectorEnv([Sudden] * n), ["there"], {"go": ["there"]})
    assert step_rewards(world, 0) == (0.0, 0.0)


def test_the_look_is_short_and_its_copies_are_closed():
    made, steps = [], []

    class Counted(Corridor):
        def step(self, action):
            steps.append(action)
            return super().step(action)

    def copies(n):
        made.append(SyncVectorEnv([Counted] * n))
        return made[-1]

    world = corridor_world(copies)
    step_rewards(world, 0)
    assert len(steps) <= probe.N_COPIES * probe.N_STEPS
    assert [env.num_envs for env in made] == [1, probe.N_COPIES]
    assert all(env.closed for env in made)


def test_the_penalty_is_that_of_definition_2_with_a_limit_for_the_diameter():
    rooms = ta.FourRooms()
    steps = step_rewards(rooms, 0)
    assert penalty_of(rooms, steps, rooms.space.mdp.diameter) == r_bar_min_of(rooms.space)
    assert penalty_of(rooms, StepRewards(-0.5, 3.0), 10) == (-0.5 - 3.0) * 11
    assert penalty_of(rooms, StepRewards(0.0, 0.0), 10) == (-0.1 - 2.0) * 11
    poor = ta.TaskSpace(ta.from_text("A.B"), r_universal=-1.0, r_empty=-2.0)
    world = ta.FiniteEnv(poor)
    assert penalty_of(world, StepRewards(-0.1, -0.1), 4) == -2.0 * 5
    assert np.isfinite(penalty_of(world, StepRewards(-0.1, -0.1), 4))


class Dear(Row):
    """Steps cost more in every second episode: a chance that only rewards show."""

    n = 0

    def reset(self, *, seed=None, options=None):
        self.n += 1
        return super().reset(seed=seed)

    def step(self, action):
        seen, reward, *rest = super().step(action)
        return (seen, reward - 0.5 * (self.n % 2), *rest)


class Astray(Row):
    """Taking the middle ends in the east as often: a chance that only goals show."""

    def step(self, action):
        seen, reward, terminated, truncated, info = super().step(action)
        if terminated and info["goal"] == 1 and self.np_random.random() < 0.5:
            info = {"goal": 2}
        return seen, reward, terminated, truncated, info


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(
    ("kind", "differ"), [(Row, False), (SlipperyRow, True), (Dear, True), (Astray, True)]
)
def test_outcomes_differ_where_there_is_chance(kind, differ, mode):
    """New episodes begin in random states, which is no chance of actions."""
    world = row_world()
    world._make = lambda n: SyncVectorEnv([kind] * n, autoreset_mode=mode)
    assert outcomes_differ(world, 0) == differ
    world = corridor_world(lambda n: SyncVectorEnv([Corridor] * n, autoreset_mode=mode))
    assert not outcomes_differ(world, 0)  # observations that are arrays


class Counting(Row):
    """A step costs what a running total loses, rounded as totals are."""

    total = 0.0

    def step(self, action):
        seen, _, *rest = super().step(action)
        before, self.total = self.total, self.total - 0.1
        return (seen, self.total - before, *rest)


class Signed(Row):
    """Observations are arrays, and zero now and then is the negative one."""

    observation_space = gym.spaces.Box(0, 7, (1,), np.float64)
    n = 0

    def _seen(self):
        self.n += 1
        return np.array([self.state or (-0.0 if self.n % 2 else 0.0)])

    def reset(self, *, seed=None, options=None):
        _, info = super().reset(seed=seed)
        return self._seen(), info

    def step(self, action):
        _, *rest = super().step(action)
        return (self._seen(), *rest)


class Timed(Row):
    """An episode whose time is up pays for that."""

    n = 0

    def reset(self, *, seed=None, options=None):
        self.n = 0
        return super().reset(seed=seed)

    def step(self, action):
        seen, reward, terminated, truncated, info = super().step(action)
        self.n += 1
        if self.n >= 7 and not terminated:
            reward, truncated = reward - 5.0, True
        return seen, reward, terminated, truncated, info


@pytest.mark.parametrize("kind", [Counting, Signed, Timed])
def test_rounding_signs_of_zero_and_time_limits_are_no_chance(kind):
    world = row_world()
    world._make = lambda n: SyncVectorEnv([kind] * n)
    assert not outcomes_differ(world, 0)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_copies_that_write_into_their_own_observations_show_no_chance(mode):
    world = row_world()
    world._make = lambda n: SyncVectorEnv([Row] * n, copy=False, autoreset_mode=mode)
    assert not outcomes_differ(world, 0)
