"""Worlds for goal-conditioned agents: a point among walls, and a grid.

Both have HER's observations: `observation`, `achieved_goal` and `desired_goal`, and pay −1 for a
step that does not reach the desired goal, 0 for one that does.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

Seen = dict[str, NDArray[np.float32]]
Step = tuple[Seen, float, bool, bool, dict[str, Any]]

RADIUS = 0.15
WALL_TOP = 0.3
GRID = 7


def _dict_space(low: float, high: float, n: int) -> spaces.Dict:
    box = spaces.Box(low, high, (n,), np.float32)
    return spaces.Dict({"observation": box, "achieved_goal": box, "desired_goal": box})


class Point(gym.Env[Any, Any]):
    """A point in a square with a wall from the bottom to above the middle; it moves by its action.

    Args:
        max_steps: after this many steps an episode is truncated.
    """

    def __init__(self, max_steps: int = 60) -> None:
        """Actions are a way to go, at most 0.1 along each axis."""
        self.observation_space = _dict_space(-1.0, 1.0, 2)
        self.action_space = spaces.Box(-0.1, 0.1, (2,), np.float32)
        self.max_steps = max_steps

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Start anywhere, with any desired goal."""
        super().reset(seed=seed)
        self.at, self.goal = self.np_random.uniform(-1.0, 1.0, (2, 2)).astype(np.float32)
        self.n = 0
        return self._seen(), {}

    def step(self, action: Any) -> Step:
        """Move, unless the wall is in the way."""
        to = np.clip(self.at + np.clip(action, -0.1, 0.1), -1.0, 1.0).astype(np.float32)
        if self.at[0] * to[0] > 0.0 or min(self.at[1], to[1]) > WALL_TOP:
            self.at = to
        else:  # slide along the wall
            self.at = np.array([self.at[0], to[1]], np.float32)
        self.n += 1
        seen = self._seen()
        reward = float(self.compute_reward(self.at, self.goal, {}))
        return seen, reward, False, self.n >= self.max_steps, {}

    def compute_reward(self, achieved: Any, desired: Any, info: Any) -> Any:
        """HER's: 0 near the desired goal, else −1."""
        return -(np.linalg.norm(achieved - desired, axis=-1) > RADIUS).astype(np.float32)

    def _seen(self) -> Seen:
        at, goal = self.at.copy(), self.goal.copy()
        return {"observation": at, "achieved_goal": at, "desired_goal": goal}


class Grid(gym.Env[Any, Any]):
    """A square of cells with a wall across it that has one door; four actions.

    Args:
        size: cells along each side, an odd number.
        max_steps: after this many steps an episode is truncated.
    """

    MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))

    def __init__(self, size: int = GRID, max_steps: int = 30) -> None:
        """Observations are rows and columns, from −1 to 1."""
        self.size, self.max_steps = size, max_steps
        self.observation_space = _dict_space(-1.0, 1.0, 2)
        self.action_space = spaces.Discrete(4)

    def is_free(self, row: int, column: int) -> bool:
        """Whether a cell is inside, and not part of the wall."""
        inside = 0 <= row < self.size and 0 <= column < self.size
        return inside and (column != self.size // 2 or row == 1)

    def point(self, row: int, column: int) -> NDArray[np.float32]:
        """A cell as agents see it."""
        return np.array([row, column], np.float32) * np.float32(2 / (self.size - 1)) - np.float32(1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Start in any free cell, with any other as the desired goal."""
        super().reset(seed=seed)
        free = [c for c in np.ndindex(self.size, self.size) if self.is_free(*c)]
        start, goal = self.np_random.choice(len(free), 2, replace=False)
        self.at, self.goal, self.n = free[start], free[goal], 0
        return self._seen(), {}

    def step(self, action: Any) -> Step:
        """Move to a free cell; the episode ends in the desired one."""
        to = tuple(int(x) for x in np.add(self.at, self.MOVES[int(action)]))
        self.at = to if self.is_free(*to) else self.at
        self.n += 1
        there = self.at == self.goal
        return self._seen(), float(there) - 1.0, there, self.n >= self.max_steps, {}

    def compute_reward(self, achieved: Any, desired: Any, info: Any) -> Any:
        """HER's: 0 in the desired cell, else −1."""
        return -(np.abs(achieved - desired).max(-1) > 1e-3).astype(np.float32)

    def _seen(self) -> Seen:
        at = self.point(*self.at)
        return {"observation": at, "achieved_goal": at, "desired_goal": self.point(*self.goal)}
