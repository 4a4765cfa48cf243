"""Skills from functions of a user's own: values of actions, or values and a way to every goal.

    skills = ta.from_values(critic, world)                       # critic(observations, goal)
    skills = ta.from_policy(world, values=nearness, act=walk)    # walk(observations, goal)

Goals are given by number, in the order of `world.space.goal_names`.  Saved skills hold no code;
make them again and pass them: `load(path, world, reach=ta.from_values(critic, world))`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array
from taskalgebra.skills.making import Playable, TaskSource, environment, from_reach
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.reach import DirectedReach, Reach
from taskalgebra.validation import numbers

Values = Callable[..., Any]
"""`values(observations)` for all goals at once, or `values(observations, goal)` for one."""


def from_values(q: Values, world: Playable, tasks: TaskSource | None = None) -> Skills:
    """Skills from a function that values actions for each goal, such as a goal-conditioned critic.

    Args:
        q: `q(observations, goal) → [B, A]`, where `goal` is the number of a goal, or
            `q(observations) → [B, G, A]`: the return to the goal, before the goal itself pays; see
            `Reach.returns`.  Wanted goals are worth the way only if r_U − r_∅ of the world exceeds
            what these values differ by.
        world: where it acts; observations are as this world shows them.
        tasks: as for `solve`.
    """
    found = environment(world, "act in")
    if not hasattr(found.action_space, "n"):
        raise ValueError(
            f"the actions of this world are {found.action_space}, which are not numbered; name a "
            f"few of them, wrap(..., actions={{name: action}}), or give from_policy what acts"
        )
    return from_reach(_OfFunction(_per_goal(q, "q"), found.space.n_goals), found, tasks)


def from_policy(
    world: Playable,
    *,
    values: Values,
    act: Callable[[Any, int], Any],
    tasks: TaskSource | None = None,
) -> Skills:
    """Skills from an agent, or a script, that knows a way to every goal, and how far it is.

    Args:
        world: where it acts; observations are as this world shows them.
        values: `values(observations, goal) → [B]`, where `goal` is the number of a goal, or
            `values(observations) → [B, G]`: the return on the way to the goal, before the goal
            itself pays, such as minus the number of steps times what one costs.
        act: `act(observations, goal)`: the world's actions towards a goal, one for each observation
            of a batch: their numbers, or the environment's own where these are continuous.
        tasks: as for `solve`.
    """
    found = environment(world, "act in")
    if not callable(act):
        raise TypeError(f"act must be a function act(observations, goal), got {act!r}")
    _require_arguments(act, 2, "act")
    n_goals = found.space.n_goals
    return from_reach(_OfPolicy(_per_goal(values, "values"), act, n_goals), found, tasks)


@final
class _OfFunction(Reach):
    """The returns of a function."""

    def __init__(self, q: Callable[[Any, int | None], Any], n_goals: int) -> None:
        """Take q(observations, goal), or q(observations, None) for all goals."""
        self._q, self._n_goals = q, n_goals

    def returns(self, observations: Any) -> Array:
        """[B, G, A]."""
        return _all_goals(self._q, observations, self._n_goals, "q", 2)


@final
class _OfPolicy(DirectedReach):
    """The values and actions of two functions."""

    def __init__(
        self,
        values: Callable[[Any, int | None], Any],
        act: Callable[[Any, int], Any],
        n_goals: int,
    ) -> None:
        """Take values(observations, goal) and act(observations, goal)."""
        self._values, self._act, self._n_goals = values, act, n_goals

    def values(self, observations: Any) -> Array:
        """[B, G]."""
        return _all_goals(self._values, observations, self._n_goals, "values", 1)

    def act(self, observations: Any, goal: int) -> NDArray[Any]:
        """The function's own actions."""
        actions = np.asarray(_plain(self._act(observations, goal)))
        if not actions.ndim or len(actions) != len(observations):
            raise ValueError(
                f"act(observations, {goal}) gave {actions!r} for {len(observations)} observations; "
                f"expected an array with one action each"
            )
        return actions


class _AllAtOnce:
    """A function that takes no goal, as one that is asked for all of them."""

    def __init__(self, function: Values) -> None:
        self.function = function

    def __call__(self, observations: Any, goal: int | None) -> Any:
        return self.function(observations)


def _per_goal(function: Values, name: str) -> Callable[[Any, int | None], Any]:
    """The function as one of observations and a goal; None stands for all goals."""
    if not callable(function):
        raise TypeError(
            f"{name} must be a function {name}(observations, goal) or {name}(observations), got "
            f"{function!r}"
        )
    return _AllAtOnce(function) if _require_arguments(function, 1, name) else function


def _require_arguments(function: Values, n: int, name: str) -> bool:
    """Whether a function takes n arguments; for n = 1 it may take a goal as well.

    Raises:
        TypeError: it takes other arguments.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:  # compiled code may have no signature
        return True
    for given in range(n, 3):
        try:
            signature.bind(*range(given))
        except TypeError:
            continue
        return given == n
    expected = f"{name}(observations, goal)" + (f" or {name}(observations)" if n == 1 else "")
    raise TypeError(f"{name} must be called as {expected}; it takes {signature}")


def _all_goals(
    function: Callable[[Any, int | None], Any], observations: Any, n_goals: int, name: str, n: int
) -> Array:
    """[B, G, ...], from a function of all goals or of one; the values of one have n axes."""
    if isinstance(function, _AllAtOnce):
        found = numbers(_plain(function(observations, None)), f"what {name} returned")
        if found.ndim != n + 1 or found.shape[:2] != (len(observations), n_goals):
            shape = "[B, G, A]" if n == 2 else "[B, G]"
            raise ValueError(
                f"{name}(observations) gave an array of shape {found.shape} for "
                f"{len(observations)} observations, expected {shape} with G = {n_goals}"
            )
        return _without_nan(found, name)
    parts = []
    for goal in range(n_goals):
        part = numbers(_plain(function(observations, goal)), f"what {name} returned")
        if part.ndim != n or len(part) != len(observations):
            shape = "[B, A]" if n == 2 else "[B]"
            raise ValueError(
                f"{name}(observations, {goal}) gave an array of shape {part.shape} for "
                f"{len(observations)} observations, expected {shape}"
            )
        parts.append(part)
    return _without_nan(np.stack(parts, axis=1), name)


def _without_nan(found: Array, name: str) -> Array:
    if np.isnan(found).any():
        raise ValueError(
            f"{name} gave NaN for goal {int(np.argwhere(np.isnan(found))[0, 1])}; a goal that "
            f"cannot be reached has a lower value than all others, −∞ at the least"
        )
    return found


def _plain(given: Any) -> Any:
    """A tensor as an array; anything else as it is."""
    return given.detach().cpu().numpy() if hasattr(given, "detach") else given
