"""From an environment's own observations and actions to what values take, and back.

Values take numbers of states, vectors or arrays, and know actions by number.  A `View` turns the
environment's own observations into such; `Hands` turn numbers into the environment's own actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from taskalgebra.validation import closest, listed, unique_names
from taskalgebra.worlds.open_world import CONTINUOUS

Look = Callable[[Any, Any], Any]
"""`look(observation, env)`: an array, from the environment's own observation; env is unwrapped."""
MOST_ACTIONS = 1_000
GIVEN_BY_TASKS = "desired_goal"
"""The part of an observation that tells an agent its goal, in environments for one goal."""


@final
@dataclass(frozen=True)
class View:
    """What values take of an environment's own observations."""

    own: gym.Space[Any]
    """The space of the environment's own observations."""
    space: gym.Space[Any]
    """The space of what values take."""
    look: Look | None = None  # None: the observation as it is
    needs_env: bool = False  # whether `look` takes the environment too

    def __call__(self, observation: Any, env: Any = None) -> Any:
        """What values take of one observation."""
        if self.look is None:
            if np.shape(observation) != self.space.shape:
                raise ValueError(
                    f"the environment gave an observation of shape {np.shape(observation)}, but "
                    f"says that they are {self.space}; mend its observation_space, or give a "
                    f"function: wrap(..., observation=lambda observation, env: array)"
                )
            return observation
        found = self.look(observation, env)
        if isinstance(self.space, spaces.Discrete):
            return found
        array = np.asarray(found, self.space.dtype)
        if array.shape != self.space.shape:
            raise ValueError(
                f"the function given as observation returned an array of shape {array.shape}, and "
                f"one of shape {self.space.shape} before; all must have one shape"
            )
        return array

    def require_one_or_many(self, observations: Any) -> None:
        """Reject what has not the shape of one of the environment's own observations, or more."""
        try:
            shape = np.shape(observations)
        except ValueError:  # of different lengths, which values refuse
            return
        if self.own.shape not in (shape, shape[1:]):
            raise ValueError(
                f"the observation has shape {shape}, but those of the environment are {self.own}; "
                f"give one of them, or a batch with one axis more"
            )


def view_of(
    own: gym.Space[Any], observation: str | Sequence[str] | Look | None, sample: Any, env: Any
) -> View:
    """How to look at observations of a space.

    Args:
        own: the environment's own.
        observation: a key or keys of a `Dict`, a function, or None for the usual.
        sample: an observation, to learn what a function makes of it.
        env: the environment, unwrapped, in the state of the sample.

    Raises:
        ValueError: values cannot take such observations.
    """
    if callable(observation):
        return _by_function(own, observation, sample, env)
    if observation is not None:
        if not isinstance(observation, Iterable):
            raise TypeError(
                f"observation is {observation!r}, expected a key or keys of a Dict, or a function "
                f"(observation, env) -> array"
            )
        keys = [observation] if isinstance(observation, str) else list(observation)
        if not isinstance(own, spaces.Dict):
            raise ValueError(
                f"observation is {observation!r}, but the observations are no Dict: {own}; leave "
                f"it out, or give a function (observation, env) -> array"
            )
        for key in keys:
            if key not in own.spaces:
                raise ValueError(
                    f"observation {key!r} is no part of the observations; these have "
                    f"{listed(list(own.spaces))}{closest(str(key), list(own.spaces))}"
                )
        if isinstance(observation, str):
            part = _usual(own[observation])
            return View(own, part.space, partial(_part, observation, part.look))
        return _flat(own, spaces.Dict({key: own[key] for key in keys}), keys)
    return _usual(own)


def _usual(own: gym.Space[Any]) -> View:
    if isinstance(own, spaces.Discrete):
        if own.start == 0:
            return View(own, own)
        return View(own, spaces.Discrete(int(own.n)), partial(_from_zero, int(own.start)))
    if isinstance(own, spaces.Box) and len(own.shape) in (1, 3):
        return View(own, own)
    if isinstance(own, spaces.Dict):
        keys = [key for key, part in own.spaces.items() if _numeric(part) and key != GIVEN_BY_TASKS]
        if not keys:
            raise ValueError(
                f"no part of the observations holds numbers: {own}; give a function: "
                f"wrap(..., observation=lambda observation, env: array)"
            )
        if len(keys) == 1:
            return view_of(own, keys[0], None, None)
        return _flat(own, spaces.Dict({key: own[key] for key in keys}), keys)
    if not _numeric(own):
        raise ValueError(
            f"observations are {own}, which values cannot take; give a function that makes an "
            f"array of them: wrap(..., observation=lambda observation, env: array)"
        )
    return _flat(own, own, None)


def _numeric(space: gym.Space[Any]) -> bool:
    if isinstance(space, spaces.Dict):
        return all(map(_numeric, space.spaces.values()))
    if isinstance(space, spaces.Tuple):
        return all(map(_numeric, space.spaces))
    kinds = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
    return type(space) in kinds


def _flat(own: gym.Space[Any], kept: gym.Space[Any], keys: Sequence[str] | None) -> View:
    """One vector of all that is kept."""
    if not _numeric(kept):
        raise ValueError(
            f"{kept} holds more than numbers; name the parts that are: wrap(..., observation=[...])"
        )
    flat = spaces.flatten_space(kept)
    if not isinstance(flat, spaces.Box):
        raise ValueError(f"{kept} has no fixed length; give a function: wrap(..., observation=...)")
    if flat.dtype.kind != "f" and flat.shape[0] and isinstance(kept, spaces.Dict | spaces.Tuple):
        flat = spaces.Box(flat.low, flat.high, dtype=np.float32)  # parts of different kinds
    return View(own, flat, partial(_flattened, kept, keys))


def _part(key: str, look: Look | None, seen: Any, env: Any) -> Any:
    """One part of a Dict, as its own view takes it."""
    return seen[key] if look is None else look(seen[key], env)


def _from_zero(start: int, seen: Any, _: Any) -> int:
    """A number of a Discrete that starts elsewhere, counted from 0."""
    return int(seen) - start


def _flattened(kept: gym.Space[Any], keys: Sequence[str] | None, seen: Any, _: Any) -> Any:
    """One vector of what is kept of an observation."""
    return spaces.flatten(kept, seen if keys is None else {key: seen[key] for key in keys})


def _by_function(own: gym.Space[Any], function: Look, sample: Any, env: Any) -> View:
    try:
        found = np.asarray(function(sample, env))
    except TypeError as error:
        raise TypeError(
            f"the function given as observation must take (observation, env): {error}"
        ) from error
    if found.dtype.kind not in "biuf" or found.ndim == 0:
        raise ValueError(
            f"the function given as observation returned {found!r}, expected an array of numbers"
        )
    low, high = (0, 255) if found.dtype == np.uint8 else (-np.inf, np.inf)
    if found.dtype.kind in "iu" and found.dtype != np.uint8:
        low, high = np.iinfo(found.dtype).min, np.iinfo(found.dtype).max
    if found.dtype.kind == "b":
        low, high = 0, 1
    dtype = np.uint8 if found.dtype.kind == "b" else found.dtype
    return View(own, spaces.Box(low, high, found.shape, dtype), function, needs_env=True)


@final
@dataclass(frozen=True)
class Hands:
    """The actions that values know by number, and what each is to the environment."""

    names: tuple[str, ...]
    own: tuple[Any, ...] | None  # None: continuous actions, which are not numbered

    @property
    def as_they_are(self) -> bool:
        """Whether numbers are the environment's own actions."""
        return self.own is None or all(
            isinstance(own, int | np.integer) and own == i for i, own in enumerate(self.own)
        )

    def require_in(self, space: gym.Space[Any]) -> None:
        """Reject an environment that has not all of these actions."""
        for name, own in zip(self.names, self.own or (), strict=False):
            box = isinstance(space, spaces.Box)  # which takes numbers, but warns of them
            if box != (np.asarray(own).dtype.kind == "f") or not space.contains(own):
                raise ValueError(
                    f"the environment has actions {space}, but action {name!r} of these skills is "
                    f"{own!r}; give an environment of the same kind"
                )


def hands_of(space: gym.Space[Any], actions: Sequence[str] | Mapping[str, Any] | None) -> Hands:
    """The actions of a space: some of them by name, or all.

    Raises:
        ValueError: the environment has no such action, or too many to number.
    """
    if isinstance(actions, Mapping):
        names = unique_names(list(actions), "action", "", len(actions))
        if not names:
            raise ValueError("actions is empty; name at least one action")
        return Hands(names, tuple(_own(space, name, own) for name, own in actions.items()))
    if isinstance(space, spaces.Box):
        if actions is not None:
            raise ValueError(
                f"the actions are continuous, {space}, so names alone do not say which are meant; "
                f"give {{name: action}}, such as {{'push left': {space.low.tolist()}}}"
            )
        return Hands(CONTINUOUS, None)
    own: list[Any]
    if isinstance(space, spaces.Discrete):
        own = list(range(int(space.start), int(space.start + space.n)))
    elif isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        sizes = np.broadcast_to(getattr(space, "nvec", 2), space.shape)
        if prod(map(int, sizes.flat)) > MOST_ACTIONS:
            raise ValueError(
                f"the actions are {space}: {prod(map(int, sizes.flat)):,} combinations; name those "
                f"that matter: wrap(..., actions={{name: action}})"
            )
        combinations = product(*(range(int(n)) for n in sizes.flat))
        own = [np.array(each, space.dtype).reshape(space.shape) for each in combinations]
    else:
        raise ValueError(
            f"the actions are {space}, which are not numbered; name those that matter: "
            f"wrap(..., actions={{name: action}})"
        )
    if isinstance(actions, Sequence) and not isinstance(actions, str) and len(actions) != len(own):
        given = listed(list(map(str, actions)))
        raise ValueError(
            f"{len(actions)} action names for {len(own)} actions: {given}; "
            f"name all, or those that matter: wrap(..., actions={{name: action}})"
        )
    return Hands(unique_names(actions, "action", "a", len(own)), tuple(own))


def _own(space: gym.Space[Any], name: str, given: Any) -> Any:
    action = given
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        try:
            action = np.asarray(given, space.dtype).reshape(space.shape)
        except (TypeError, ValueError):
            action = given
    elif isinstance(given, int | np.integer) and not isinstance(given, bool):
        action = int(given)
    if not space.contains(action):
        raise ValueError(f"action {name!r} is {given!r}, which is not in {space}")
    return action
