"""What `check_env` says of environments to which something is missing, one thing each."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta


class Line(gym.Env):
    """Five places in a row; faults can be built in."""

    observation_space = gym.spaces.Box(0.0, 4.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def __init__(self, *, step_reward=-1.0, blind=False, outside=False, wall=False):
        self.step_reward, self.blind, self.outside, self.wall = step_reward, blind, outside, wall

    def _observation(self):
        return np.array([0.0 if self.blind else self.place + 9.0 * self.outside], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(1, 4))
        return self._observation(), {}

    def step(self, action):
        place = self.place + (-1, 1, 0)[action]
        self.place = min(place, 3) if self.wall else place
        return self._observation(), self.step_reward, False, False, {}


def end(observation, info, env):
    return {0: "left", 4: "right"}.get(env.place)


def world(*, stay=False, shown=None, step_reward=None, **faults):
    actions = {"left": 0, "right": 1} | ({"stay": 2} if stay else {})
    return ta.wrap(
        lambda: Line(**faults),
        goals=end,
        among=["left", "right"],
        actions=actions,
        shown=shown,
        step_reward=step_reward,
        max_episode_steps=30,
    )


def test_nothing_is_missing():
    report = ta.check_env(world())
    assert report.holds and all(finding.holds for finding in report.values())
    assert len(str(report).splitlines()) == len(report) == 7
    assert ta.check_env(ta.FourRooms(), steps=5_000).holds


@pytest.mark.parametrize(
    ("given", "name", "words"),
    [
        ({"wall": True}, "goals are met", "never: right"),
        ({"stay": True}, "actions matter", "stay never changed the observation"),
        ({"blind": True}, "actions matter", "left, right never changed"),
        ({"blind": True, "shown": "observation"}, "goals look different", "'left' and 'right'"),
        ({"outside": True}, "observations can be taken", "an observation is outside Box"),
        (
            {"step_reward": "environment", "step": 1.0},
            "steps cost, and wanted goals are worth the way",
            "a step outside goals paid 1",
        ),
    ],
)
def test_what_is_missing_is_said(given, name, words):
    step = given.pop("step", None)
    if step is not None:
        made = ta.wrap(
            lambda: Line(step_reward=step),
            goals=end,
            among=["left", "right"],
            actions={"left": 0, "right": 1},
            step_reward="environment",
        )
    else:
        made = world(**given)
    report = ta.check_env(made)
    assert not report.holds and not report[name].holds
    assert words in report[name].detail


def test_rewards_that_are_not_worth_the_way_are_said():
    made = ta.wrap(
        Line,
        goals=end,
        actions={"left": 0, "right": 1},
        step_reward=-1.0,
        r_universal=2.0,
        max_episode_steps=30,
    )
    finding = ta.check_env(made)["steps cost, and wanted goals are worth the way"]
    assert not finding.holds and "raise r_universal" in finding.detail


def test_what_is_no_goal_environment_is_told_the_way_in():
    with pytest.raises(TypeError, match=r"wrap\(env, goals=label\)"):
        ta.check_env(gym.make("CartPole-v1"))
    with pytest.raises(TypeError, match="needs a goal environment"):
        ta.check_env(5)


def test_steps_that_cost_nothing_cost_0():
    class Free(gym.Env):
        observation_space, action_space = gym.spaces.Discrete(3), gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.place = 1
            return 1, {}

        def step(self, action):
            self.place = min(max(self.place + 2 * int(action) - 1, 0), 2)
            return self.place, 0.0, False, False, {}

    def there(observation, info, env):
        return "there" if observation == 2 else None

    world = ta.wrap(Free, goals=there, step_reward=0.0)
    name = "steps cost, and wanted goals are worth the way"
    assert ta.check_env(world)[name].detail.startswith("a step costs 0, the longest way 0,")
