"""Episodes of somebody's environment that begin with known seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import gymnasium as gym
import numpy as np


def begun(
    env: Any, seeds: Sequence[int], n: int, chance: bool, options: dict[str, Any] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Begin episode n, with one of the seeds in turn.

    With `chance`, what happens by chance after the start differs between episodes.
    """
    found: tuple[Any, dict[str, Any]] = env.reset(seed=seeds[n % len(seeds)], options=options)
    if chance:
        env.unwrapped.np_random = np.random.default_rng(n)
    return found


@final
class Seeded(gym.Wrapper[Any, Any, Any, Any]):
    """Episodes that begin with known seeds, in turn, or as a given seed chooses among them."""

    def __init__(
        self, env: gym.Env[Any, Any], seeds: tuple[int, ...], first: int, chance: bool
    ) -> None:
        """Take the seeds, and which of them comes first."""
        super().__init__(env)
        self._seeds, self._next, self._chance = seeds, first, chance

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the next episode."""
        n = self._next if seed is None else seed
        self._next = n + 1
        return begun(self.env, self._seeds, n, self._chance, options)
