"""Where copies of somebody's environment come from: a name, a spec, an object, or a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from importlib import import_module
from importlib.util import find_spec
from typing import Any, final

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import SyncVectorEnv, VectorEnv

from taskalgebra.envs.of_vector import OneOfVector
from taskalgebra.validation import closest

Source = str | EnvSpec | gym.Env[Any, Any] | Callable[..., Any]
Copies = VectorEnv[Any, Any, Any]
SUCH = "an environment of a function that does not take them"


def own_spec(env: gym.Env[Any, Any]) -> EnvSpec | None:
    """The spec from which an environment is made again, with all of its wrappers; None without one.

    A user's own wrapper keeps no arguments, unless it inherits from `RecordConstructorArgs`.
    """
    spec = env.spec
    whole = spec is not None and all(one.kwargs is not None for one in spec.additional_wrappers)
    return spec if whole else None


@final
class Origin:
    """Where copies of an environment come from."""

    def __init__(self, env: Source) -> None:
        """See what was given."""
        self.source, self.many = env, False
        if isinstance(env, VectorEnv):
            raise TypeError(
                "a vector environment cannot be copied; give a function of n that makes one: "
                "wrap(lambda n: gymnasium.make_vec(..., n), goals=label)"
            )
        if isinstance(env, str):
            _register(env)
            try:
                gym.spec(env)
            except gym.error.Error as error:
                names = [str(name) for name in gym.registry]
                raise ValueError(
                    f"Gymnasium knows no environment {env!r}; import the package that registers "
                    f"it, or give a function that makes it{closest(env, names) or f' ({error})'}"
                ) from None
        elif callable(env) and not isinstance(env, gym.Env):
            self.many = _takes_a_number(env)
        elif not isinstance(env, gym.Env | EnvSpec):
            raise TypeError(
                f"cannot wrap {env!r}; expected the name of an environment, an environment, or a "
                f"function that makes one"
            )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """In another process the environment may not be registered yet."""
        vars(self).update(state)
        if isinstance(self.source, str | EnvSpec):
            _register(self.source if isinstance(self.source, str) else self.source.id)

    def one(self, **changes: Any) -> gym.Env[Any, Any]:
        """One environment, as it is."""
        source = self.source
        if isinstance(source, gym.Env):
            spec = own_spec(source)
            if spec is None:
                _require_none(changes, "an environment that its spec does not describe")
                return deepcopy(source)
            source = spec
        if isinstance(source, str | EnvSpec):
            return gym.make(source, **changes)
        if self.many:
            _require_none(changes, "a function of n")
            vector = self.vector(1)
            if not isinstance(vector, VectorEnv):
                raise TypeError(
                    f"the function of n made {vector!r}, expected a vector environment of n "
                    f"copies; a function that makes one environment takes no argument"
                )
            inner = vector.unwrapped
            return inner.envs[0] if isinstance(inner, SyncVectorEnv) else OneOfVector(vector)
        _require_none({key: changes[key] for key in changes if not _has(source, key)}, SUCH)
        env = source(**changes)
        if not isinstance(env, gym.Env):
            raise TypeError(
                f"the function returned {env!r}, expected a Gymnasium environment; a function "
                f"that makes a vector environment takes the number of copies"
            )
        return env

    def vector(self, num_envs: int) -> Copies:
        """A vector environment, if that is what was given."""
        assert callable(self.source)
        return self.source(num_envs)  # type: ignore[no-any-return]


def _register(name: str) -> None:
    """Import the package that registers an environment, if it is known."""
    if name.startswith(("MiniGrid-", "BabyAI-")) and find_spec("minigrid"):
        import_module("minigrid")


def _has(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter of this name, or takes any."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return True
    return name in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def _takes_a_number(function: Callable[..., Any]) -> bool:
    """Whether a function must be given the number of copies."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return False
    return any(
        each.default is each.empty
        and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        for each in parameters
    )


def _require_none(changes: Mapping[str, Any], what: str) -> None:
    if changes:
        raise ValueError(
            f"{what} cannot be made with {', '.join(changes)}; make one yourself and give it: "
            f"agent.play(env)"
        )
