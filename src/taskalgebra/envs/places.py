"""Goals as points of `desired_goal`, in environments made for goal-conditioned agents.

Such environments observe a `Dict` with `achieved_goal` and `desired_goal`, and pay by
`compute_reward(achieved, desired, info)`, as hindsight experience replay (HER) asks of them.
`Places` is the label by which `wrap` plays them: the goal reached is the nearest of the named
points that count as reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.envs.labels import GoalLabel
from taskalgebra.validation import listed, number, unique_names

ACHIEVED, DESIRED = "achieved_goal", "desired_goal"
Reached = Callable[[NDArray[Any], NDArray[Any]], Any]
"""`reached(achieved, desired)`: whether a point counts as another, for one pair of points."""
SLACK = 1e-6
"""Rewards that differ by less are equal: environments compute them in single precision."""


@final
class Places(GoalLabel):
    """A label that names the nearest of the points that are reached.

    Args:
        env: the environment, for its `compute_reward`, and to know its space of goals.
        goals: points of `desired_goal` by name.
        reached: how near is there: a distance; a function of two points; None for where
            `compute_reward` pays most.

    Raises:
        ValueError: the points are none of the environment's, two of them count as one, or what is
            paid does not say where they are reached.
    """

    def __init__(
        self, env: gym.Env[Any, Any], goals: Mapping[str, Any], reached: float | Reached | None
    ) -> None:
        """Check the points, and that each can be told from the others."""
        self.points = points_of(env.observation_space, goals)
        self._names = list(goals)
        self.reached = reached
        if not callable(reached) and reached is not None:
            self.reached = number(reached, "reached", "a distance of at least 0", least=0.0)
        self._reward: Any = None
        if env.has_wrapper_attr("compute_reward"):
            self._reward = env.get_wrapper_attr("compute_reward")
        elif reached is None:
            raise ValueError(
                f"{env.unwrapped} has no compute_reward, which says when a goal is reached; say "
                f"how near is there: reached=0.5, or a function (achieved, desired)"
            )
        start, _ = env.reset(seed=0)
        self.payments = self._payments(np.asarray(start[ACHIEVED]))
        if self.reached is None and self.payments.size > 2:
            raise ValueError(
                f"compute_reward pays {self.payments.size} different rewards among these goals, so "
                f"it does not say when one is reached; say how near is there: reached=0.5"
            )
        self._most = float(self.payments[-1]) if self.payments.size else 0.0
        for name, point in zip(self._names, self.points, strict=True):
            self._require_told_apart(name, self.near(point, {}))

    @property
    def among(self) -> list[str]:
        """The names of the goals."""
        return self._names

    def _payments(self, start: NDArray[Any]) -> Array:
        """What is paid at the points and at a start for each point, in ascending order."""
        if self._reward is None:
            return np.empty(0)
        paid = [self._paid(at, {}) for at in (*self.points, start)]
        return np.unique(np.round(np.concatenate(paid), 6))

    def _paid(self, achieved: NDArray[Any], info: Mapping[str, Any]) -> Array:
        """[G], what is paid at a point for each goal, asked for as HER does: all at once."""
        n_goals = len(self.points)
        infos = np.empty(n_goals, object)
        infos[:] = [info] * n_goals
        at = np.repeat(achieved[None], n_goals, axis=0)
        paid = np.asarray(self._reward(at, self.points, infos), np.float64)
        if paid.shape != (n_goals,):
            raise ValueError(
                f"compute_reward gave an array of shape {paid.shape} for {n_goals} pairs of "
                f"points, expected [{n_goals}]: HER, too, asks for many at once"
            )
        return paid

    def near(self, achieved: NDArray[Any], info: Mapping[str, Any]) -> BoolArray:
        """[G], the goals that count as reached at a point."""
        if self.reached is None:
            return self._paid(achieved, info) >= self._most - SLACK
        if callable(self.reached):
            return np.array([bool(self.reached(achieved, point)) for point in self.points])
        return self._distances(achieved) <= self.reached

    def _distances(self, achieved: NDArray[Any]) -> Array:
        apart = np.asarray(self.points, np.float64) - np.asarray(achieved, np.float64)
        found: Array = np.linalg.norm(apart.reshape(len(apart), -1), axis=1)
        return found

    def _require_told_apart(self, name: str, near: BoolArray) -> None:
        here = [other for other, there in zip(self._names, near, strict=True) if there]
        if name not in here:
            raise ValueError(f"goal {name!r} does not count as reached at its own point")
        if len(here) > 1:
            raise ValueError(
                f"the goals {listed(here)} look alike: at the point of {name!r} all of them count "
                f"as reached; put them further apart, or say that only nearer is there: reached=..."
            )

    def __call__(self, observation: Any, info: Mapping[str, Any], env: Any) -> str | None:
        """The name of the nearest goal that is reached."""
        achieved = np.asarray(observation[ACHIEVED])
        near = self.near(achieved, info)
        if not near.any():
            return None
        return self._names[int(np.argmin(np.where(near, self._distances(achieved), np.inf)))]

    def goes_on(self, observation: Any) -> bool:
        """Whether an end is only that of the environment's own desired goal, which counts not."""
        achieved, desired = (np.asarray(observation[key]) for key in (ACHIEVED, DESIRED))
        if self._reward is None:
            assert self.reached is not None
            apart = float(np.linalg.norm(np.asarray(achieved - desired, np.float64)))
            there = self.reached(achieved, desired) if callable(self.reached) else None
            return bool(apart <= self.reached if there is None else there)  # type: ignore[operator]
        infos = np.array([{}], object)
        paid = np.asarray(self._reward(achieved[None], desired[None], infos), np.float64)
        return bool(paid.reshape(-1)[0] >= self._most - SLACK)


def points_of(space: gym.Space[Any], goals: Mapping[str, Any]) -> NDArray[Any]:
    """[G, ...], the points of the goals, in the space of `desired_goal`."""
    if not isinstance(space, spaces.Dict) or not {ACHIEVED, DESIRED} <= set(space.spaces):
        raise ValueError(
            f"the observations are {space}, expected a Dict with 'observation', {ACHIEVED!r} and "
            f"{DESIRED!r}, as goal-conditioned agents have; for other agents see from_values"
        )
    if not isinstance(goals, Mapping):
        raise TypeError(f"goals must be {{name: point of desired_goal}}, got {goals!r}")
    if not goals:
        raise ValueError("goals is empty; name at least one point of desired_goal")
    unique_names(list(goals), "goal", "", len(goals))
    wanted = space[DESIRED]
    shape, dtype = wanted.shape, wanted.dtype
    if shape is None or not isinstance(
        wanted, spaces.Box | spaces.Discrete | spaces.MultiBinary | spaces.MultiDiscrete
    ):
        raise ValueError(f"desired_goal is {wanted}, expected numbers: a Box, or bits")
    points = []
    for name, given in goals.items():
        try:
            point = np.asarray(given, dtype)
        except (TypeError, ValueError):
            raise ValueError(f"goal {name!r} is {given!r}, expected numbers") from None
        if point.shape != shape:
            raise ValueError(
                f"goal {name!r} has shape {point.shape}, but points of desired_goal have {shape}"
            )
        if not np.isfinite(point).all() or not wanted.contains(point[()] if not shape else point):
            raise ValueError(f"goal {name!r} is {point.tolist()}, which is not in {wanted}")
        points.append(point)
    return np.stack(points)
