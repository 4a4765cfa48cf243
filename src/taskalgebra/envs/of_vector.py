"""One copy of a vector environment: its info, what a label may look at, and the only copy as one.

The copies of a `SyncVectorEnv` are objects of this process.  Those of any other vector are not:
they play in processes of their own (`AsyncVectorEnv`), or are rows of arrays.  A label is then told
the observation and the info, and `env` stands for what cannot be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array, iterate

from taskalgebra.arrays import BoolArray


@final
class OutOfSight:
    """Stands for an environment that cannot be looked at."""

    def __init__(self, why: str) -> None:
        """Say why, and what to do."""
        self._why = why

    def __getattr__(self, name: str) -> Any:
        """Refuse to be looked at."""
        raise ValueError(f"the label or the observation looks at env.{name}{self._why}")


ELSEWHERE = OutOfSight(
    ", but the copies of this vector environment are not in this process; use only the observation "
    "and info, which the environment can fill, or make copies that can be looked at: "
    'gymnasium.make_vec(..., vectorization_mode="sync")'
)
BEGUN_ANEW = OutOfSight(
    " at the end of an episode, but this vector environment has begun the next one; make it with "
    "another autoreset mode: gymnasium.make_vec(..., vector_kwargs={'autoreset_mode': 'NextStep'})"
)


def copy_of(env: VectorEnv[Any, Any, Any], i: int) -> Any:
    """Copy i of a vector, unwrapped, where it can be had."""
    inner = env.unwrapped
    return inner.envs[i].unwrapped if isinstance(inner, SyncVectorEnv) else ELSEWHERE


def mode_of(env: VectorEnv[Any, Any, Any]) -> AutoresetMode:
    """When copies begin anew."""
    found: AutoresetMode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
    return found


def resettable(env: VectorEnv[Any, Any, Any]) -> bool:
    """Whether copies can be reset one by one, by `options["reset_mask"]`."""
    return isinstance(env.unwrapped, SyncVectorEnv | AsyncVectorEnv)


def begun_by(options: Mapping[str, Any] | None, num_envs: int) -> BoolArray:
    """[N], the copies that a reset with these options begins anew: all, or those of its mask."""
    return np.broadcast_to(np.asarray((options or {}).get("reset_mask", True)), num_envs)


def info_of(infos: Mapping[str, Any], i: int) -> dict[str, Any]:
    """The info of copy i, from that of a vector; what holds for all copies is as it is."""
    found: dict[str, Any] = {}
    for key, value in infos.items():
        given = np.asarray(infos.get(f"_{key}", True))
        if key.startswith("_") or key == "final_info" or not (given[i] if given.ndim else given):
            continue
        if isinstance(value, Mapping):
            found[key] = info_of(value, i)
        else:
            found[key] = value[i] if np.ndim(value) else value
    return found


def last_of(
    observation: Any, infos: Mapping[str, Any], i: int, begun: bool
) -> tuple[Any, dict[str, Any]]:
    """The observation and info of copy i after a step; where it has begun anew, those before."""
    if begun:
        return infos["final_obs"][i], info_of(infos.get("final_info", {}), i)
    return observation, info_of(infos, i)


@final
class OneOfVector(gym.Env[Any, Any]):
    """The only copy of a vector whose copies cannot be had, as one environment."""

    def __init__(self, vector: VectorEnv[Any, Any, Any]) -> None:
        """Take over the spaces; the vector has one copy."""
        self.vector = vector
        self.observation_space = vector.single_observation_space
        self.action_space = vector.single_action_space
        self.metadata, self.render_mode = vector.metadata, vector.render_mode
        self.spec = vector.spec
        if self.spec is None and isinstance(vector.unwrapped, AsyncVectorEnv):
            (self.spec,) = vector.unwrapped.get_attr("spec")

    @property
    def unwrapped(self) -> Any:
        """What labels are shown."""
        return ELSEWHERE

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        observations, infos = self.vector.reset(seed=seed, options=options)
        return self._only(observations), info_of(infos, 0)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act."""
        space = self.action_space
        empty: Any = create_empty_array(space, 1)
        actions = concatenate(space, [action], empty)
        observations, rewards, terminated, truncated, infos = self.vector.step(actions)
        ended = bool(terminated[0]), bool(truncated[0])
        begun = any(ended) and mode_of(self.vector) == AutoresetMode.SAME_STEP
        observation, info = last_of(self._only(observations), infos, 0, begun)
        return observation, float(rewards[0]), *ended, info

    def _only(self, observations: Any) -> Any:
        return next(iter(iterate(self.vector.observation_space, observations)))

    def close(self) -> None:
        """Close the vector."""
        self.vector.close()
