"""What `reset` and `step` of an environment must return, checked once before it is played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

_RESET = "(observation, info), with info a dictionary"
_STEP = "(observation, reward, terminated, truncated, info)"


def first_observation(env: gym.Env[Any, Any], own: Sequence[Any] | None) -> Any:
    """Begin an episode, take a step, and begin it anew; what is seen first.

    Args:
        env: an environment.
        own: its own actions, if they are a few of many.

    Raises:
        TypeError: `reset` or `step` does not return what Gymnasium asks for.
    """
    name = type(env.unwrapped).__name__
    first = _begun(env, name)
    env.action_space.seed(0)
    found = env.step(env.action_space.sample() if own is None else own[0])
    if not isinstance(found, tuple) or len(found) != 5:
        given = f"{len(found)} things" if isinstance(found, tuple) else _kind(found)
        raise TypeError(f"step() of {name} returned {given}, expected {_STEP}")
    _, reward, *ends, info = found
    if np.asarray(reward).size != 1 or np.asarray(reward).dtype.kind not in "biuf":
        raise TypeError(f"step() of {name} paid {reward!r}, expected a number")
    for what, end in zip(("terminated", "truncated"), ends, strict=True):
        if not isinstance(end, bool | np.bool_ | int | np.integer):
            raise TypeError(
                f"step() of {name} returned {what} = {end!r}, expected True or False: {_STEP}"
            )
    if not isinstance(info, Mapping):
        raise TypeError(f"step() of {name} returned info = {info!r}, expected a dictionary")
    _begun(env, name)
    return first


def _begun(env: gym.Env[Any, Any], name: str) -> Any:
    try:
        found = env.reset(seed=0)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise TypeError(
            f"reset() of {name} does not take a seed, expected reset(*, seed=None, options=None)"
        ) from error
    if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[1], Mapping):
        given = f"{len(found)} things" if isinstance(found, tuple) else _kind(found)
        if isinstance(found, tuple) and len(found) == 2:
            given = f"info = {found[1]!r}"
        raise TypeError(f"reset() of {name} returned {given}, expected {_RESET}")
    return found[0]


def _kind(given: Any) -> str:
    return "None" if given is None else f"one {type(given).__name__}"
