"""A row of cells that is known only by playing it, and the same world as a table."""

import gymnasium as gym
from gymnasium.vector import SyncVectorEnv

import taskalgebra as ta
from taskalgebra.learning.q_learning import Settings


class Row(gym.Env):
    """Five cells in a row and three ends: left, right, and take, which ends in 0, 2 or 4.

    An end is a state of its own, entered by taking; the action after that ends the episode.  So it
    is the grid "A.B.C" behind a curtain, and its values are known.
    """

    observation_space = gym.spaces.Discrete(8)
    action_space = gym.spaces.Discrete(3)
    GOALS, COST = (0, 2, 4), 0.125

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = int(self.np_random.integers(5))
        return self.state, {}

    def step(self, action):
        if self.state >= 5:
            return self.state, 0.0, True, False, {"goal": self.state - 5}
        if action == 2 and self.state in self.GOALS:
            self.state = 5 + self.GOALS.index(self.state)
        elif action < 2:
            self.state = min(max(self.state + (-1, 1)[action], 0), 4)
        return self.state, -self.COST, False, False, {}


class SlipperyRow(Row):
    """One in five actions is another one."""

    def step(self, action):
        if self.state < 5 and self.np_random.random() < 0.2:
            action = int(self.np_random.integers(3))
        return super().step(action)


NEXT_STATE = [[max(s - 1, 0), min(s + 1, 4), (5, 1, 6, 3, 7)[s]] for s in range(5)]
NEXT_STATE += [[s] * 3 for s in (5, 6, 7)]
GOALS, TASKS = ("west", "middle", "east"), {"edge": ["west", "east"], "early": ["west", "middle"]}


def row_world(kind=Row, **options):
    return ta.OpenEnv(lambda n: SyncVectorEnv([kind] * n), GOALS, TASKS, r_empty=-0.125, **options)


def planned(r_bar_min):
    """The same world as a table, solved exactly."""
    mdp = ta.from_arrays(NEXT_STATE, -0.125, goals=[5, 6, 7], goal_names=GOALS)
    return ta.solve(ta.TaskSpace(mdp, r_empty=-0.125), TASKS, r_bar_min=r_bar_min)


EXACT = ta.QLearning(steps=5_000, settings=Settings(learning_rate=1.0, epsilon=1.0))
