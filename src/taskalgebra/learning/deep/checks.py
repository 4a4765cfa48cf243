"""What networks can be trained on: environments, descriptions of goals, devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Discrete, Space
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from taskalgebra.learning.deep import networks
from taskalgebra.learning.deep.networks import Network
from taskalgebra.learning.deep.settings import DeepSettings


def device_of(settings: DeepSettings) -> torch.device:
    """Where networks are trained."""
    there = torch.cuda.is_available()
    if settings.device == "auto":
        return torch.device("cuda" if there else "cpu")
    if settings.device != "cpu" and not there:
        raise ValueError(
            f'device is {settings.device!r}, but torch finds no CUDA here; use "cpu" or "auto"'
        )
    return torch.device(settings.device)


def checked_features(features: Any, n_goals: int | None) -> NDArray[Any] | None:
    """What an environment shows of its goals: one row per goal, finite numbers, all different."""
    if features is None:
        return None
    given = np.asarray(features)
    if given.ndim < 2 or given.dtype.kind not in "biuf" or len(given) != (n_goals or len(given)):
        raise ValueError(
            f"goal_features are {given.dtype} of shape {given.shape}, expected numbers [G, ...], a "
            f"description or a picture for each of {n_goals} goals"
        )
    if not np.isfinite(given).all():
        raise ValueError("goal_features hold NaN or ∞; a description is made of finite numbers")
    first: dict[bytes, int] = {}
    for goal, row in enumerate(given):
        if first.setdefault(row.tobytes(), goal) != goal:
            raise ValueError(
                f"goal_features of goals {first[row.tobytes()]} and {goal} are the same, so that "
                f"networks could not tell them apart"
            )
    return given if given.dtype == np.uint8 else given.astype(np.float32)


def check_spaces(
    observations: Space[Any], actions: Space[Any], network: Network | None = None
) -> None:
    """Refuse spaces that the learner cannot use, and name the way in."""
    if not isinstance(actions, Discrete) or actions.start != 0:
        raise ValueError(
            f"the actions must be Discrete and start at 0, got {actions}; "
            f"ta.wrap(env, goals=label, actions={{name: action}}) makes a few actions of them, and "
            f"agents that others trained are taken by from_policy and from_sb3"
        )
    of_bytes = network in (networks.egocentric, networks.planning, networks.paper)
    shape = networks.require_numbers(observations)
    if len(shape) == 3 and of_bytes and observations.dtype != np.uint8:
        raise ValueError(
            f"images must be bytes, from 0 to 255, a Box of uint8; got {observations.dtype}: use "
            f"the network 'image', or none, which chooses one"
        )


def check_environment(env: VectorEnv[Any, Any, Any], network: Network | None = None) -> None:
    """Refuse an environment that the learner cannot use, and say why."""
    if not isinstance(env, VectorEnv):
        raise TypeError(f"expected a vector environment, as from gym.make_vec, got {env!r}")
    check_spaces(env.single_observation_space, env.single_action_space, network)
    if env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP) == AutoresetMode.DISABLED:
        raise ValueError(
            "the learner needs autoreset_mode NEXT_STEP or SAME_STEP; "
            "pass vector_kwargs={'autoreset_mode': gymnasium.vector.AutoresetMode.NEXT_STEP}"
        )
