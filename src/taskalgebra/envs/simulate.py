"""What an action does in a state that was seen before: environments put back, or copies of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from typing import Any, NamedTuple, final

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from taskalgebra.envs import minigrid_state
from taskalgebra.envs.labelled import Rules
from taskalgebra.validation import takes
from taskalgebra.worlds.finite import NO_GOAL

Save = Callable[[Any], Hashable]
Restore = Callable[[Any, Any], None]


class Outcome(NamedTuple):
    """Where an action led."""

    key: Hashable  # equal in equal states
    saved: Any  # to go on from there
    goal: int  # that was reached, or −1
    paid: float
    ended: bool = False  # whether the environment itself cannot go on


class Simulator(ABC):
    """Plays an environment from any state that it was in."""

    def __init__(self, env: gym.Env[Any, Any], rules: Rules) -> None:
        """Take an environment, which is played without limits, and the rules."""
        while isinstance(env, TimeLimit | OrderEnforcing | PassiveEnvChecker):
            env = env.env
        self.env, self.rules = env, rules

    def start(self, seed: int) -> Outcome:
        """The first state of an episode."""
        observation, _ = self.env.reset(seed=seed)
        return Outcome(*self._here(self.env, observation), NO_GOAL, 0.0)

    def outcome(self, saved: Any, action: int, rng: np.random.Generator | None = None) -> Outcome:
        """What an action does; with a generator, by chance of its own where there is any."""
        env = self._at(saved)
        if rng is not None:
            env.unwrapped.np_random = rng
        return self._played(env, action)

    def on(self, action: int) -> Outcome:
        """What an action does in the environment itself, which goes on from where it is."""
        return self._played(self.env, action)

    def _played(self, env: gym.Env[Any, Any], action: int) -> Outcome:
        rules, paid = self.rules, 0.0
        own = rules.own_action(action)
        for _ in range(rules.hold):
            observation, reward, terminated, _, info = env.step(own)
            paid += float(reward)
            goal = rules.goal(observation, info, env.unwrapped, bool(terminated))
            if goal != NO_GOAL:
                break
        if rules.step_reward is not None:
            paid = rules.step_reward
        elif goal != NO_GOAL:
            paid = 0.0  # what the environment pays at an end is for a task of its own
        ended = bool(terminated) and not rules.goes_on(observation)
        return Outcome(*self._here(env, observation), goal, paid, ended)

    @abstractmethod
    def _at(self, saved: Any) -> gym.Env[Any, Any]:
        """An environment in this state, to be played on."""

    @abstractmethod
    def _here(self, env: gym.Env[Any, Any], observation: Any) -> tuple[Hashable, Any]:
        """The key of the present state, and what brings it back."""


@final
class Restored(Simulator):
    """One environment, put back by two functions."""

    def __init__(self, env: gym.Env[Any, Any], rules: Rules, save: Save, restore: Restore) -> None:
        """Take the functions, of the environment unwrapped."""
        super().__init__(env, rules)
        self.save, self.restore = save, restore

    def _at(self, saved: Any) -> gym.Env[Any, Any]:
        self.restore(self.env.unwrapped, saved)
        return self.env

    def _here(self, env: gym.Env[Any, Any], observation: Any) -> tuple[Hashable, Any]:
        key = self.save(env.unwrapped)
        return key, key


@final
class Copied(Simulator):
    """A copy of the environment for every state, told apart by its observation."""

    def _at(self, saved: Any) -> gym.Env[Any, Any]:
        return deepcopy(saved)

    def start(self, seed: int) -> Outcome:
        """The first state of an episode, in a copy, since the environment is played on."""
        found = super().start(seed)
        return found._replace(saved=deepcopy(found.saved))

    def _here(self, env: gym.Env[Any, Any], observation: Any) -> tuple[Hashable, Any]:
        return key_of(observation), env


def key_of(observation: Any) -> Hashable:
    """An observation as a key: equal for equal ones."""
    if isinstance(observation, dict):
        return tuple((name, key_of(part)) for name, part in sorted(observation.items()))
    if isinstance(observation, tuple | list):
        return tuple(map(key_of, observation))
    if isinstance(observation, str | bytes):
        return observation
    array = np.asarray(observation)
    if array.ndim == 0 and array.dtype.kind in "iu":
        return int(array)  # whatever the size in which an environment gives it
    if array.dtype.kind == "f":
        array = array + array.dtype.type(0)  # −0 is 0
    return array.shape, array.tobytes()


def known_hooks(env: Any) -> tuple[Save, Restore] | None:
    """How to save and restore an environment, unwrapped, if that is known."""
    if minigrid_state.is_minigrid(env):
        return minigrid_state.save, minigrid_state.restore
    if hasattr(env, "P") and hasattr(env, "s"):
        return save_number, _restore_number
    if type(env).__module__.startswith("gymnasium.envs.classic_control") and hasattr(env, "state"):
        return _save_numbers, _restore_numbers
    return None


def require_hooks(env: Any, save: Save, restore: Restore) -> None:
    """Reject functions that do not save a state as a key, or cannot put it back."""
    if not takes(save, 1) or not takes(restore, 2):
        raise TypeError("save and restore must be called as save(env) and restore(env, saved)")
    saved = save(env)
    try:
        again = hash(saved) == hash(save(env)) and saved == save(env)
    except TypeError:
        raise TypeError(
            f"save gave {saved!r}, which cannot be a key of a dictionary; give something hashable, "
            f"such as a tuple"
        ) from None
    if not again:
        raise ValueError(
            f"save gave {saved!r}, and then another thing for the same state; equal states must "
            f"give equal things, such as a tuple of numbers"
        )


def save_number(env: Any) -> int:
    """The state of a toy-text environment, which is also its observation."""
    return int(env.s)


def _restore_number(env: Any, saved: int) -> None:
    env.s = saved


def _save_numbers(env: Any) -> tuple[float, ...]:
    return tuple(map(float, env.state))


def _restore_numbers(env: Any, saved: tuple[float, ...]) -> None:
    env.state = np.array(saved)
    if hasattr(env, "steps_beyond_terminated"):
        env.steps_beyond_terminated = None


@contextmanager
def without_observations(env: gym.Env[Any, Any]) -> Iterator[None]:
    """Let an environment make observations only where they are looked at, if it can."""
    base = env.unwrapped
    with minigrid_state.unseen(base) if minigrid_state.is_minigrid(base) else nullcontext():
        yield
