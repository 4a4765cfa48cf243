"""Skills from agents that Stable-Baselines3 trained.

    from stable_baselines3 import TD3

    model = TD3.load("model.zip", env=env)
    skills = ta.from_sb3(
        model,
        goals={"door": [0.0, 0.9], "desk": [0.7, -0.2], "sofa": [-0.6, -0.5]},
        tasks={"right": ["desk"], "low": lambda point: point[1] < 0},
    )
    skills["low & ~right"].play(env, 10)

Nothing is trained here, and no file of theirs is read: such a file may run code, so that loading a
model is left to its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from importlib.util import find_spec
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from taskalgebra.envs.origin import own_spec
from taskalgebra.envs.places import DESIRED, Places, Reached
from taskalgebra.envs.wrap import Wrapped, wrap
from taskalgebra.extras import missing
from taskalgebra.folder import StoreError
from taskalgebra.skills.skills import Skills
from taskalgebra.skills.store import torch_module
from taskalgebra.theory.family import ReachFamily
from taskalgebra.theory.reach import Reach
from taskalgebra.validation import flag, instance, number, unique_names

Wanted = Mapping[str, Iterable[str] | Callable[[Any], bool]]
NEAR = 0.5
"""Steps: what `avoid=True` means, only the action that arrives."""
UNLIMITED = 1_000
"""Steps that a return counts at most, where nothing is discounted."""


def from_sb3(
    model: Any,
    goals: Mapping[str, Any],
    *,
    tasks: Wanted | None = None,
    env: Any = None,
    reached: float | Reached | None = None,
    avoid: bool | float = False,
    elsewhere: str | None = None,
    max_episode_steps: int | None = None,
) -> Skills:
    """Skills from a goal-conditioned agent of Stable-Baselines3, such as one trained with HER.

    The agent's critic is asked about every goal, and Q̄_M(s, g, a) = Q(s, g, a) + r_M(g)
    (Corollary 1).  With a discount, Q(s, g, ·) is no sum of rewards, but it still falls with every
    step of the way; wanted goals all pay the same, so that the nearest one is chosen, as far as
    the critic knows.  r_U exceeds r_∅ by twice what critics can differ by, so that any wanted goal
    is worth the way.

    With continuous actions, the policy's own action towards a goal counts as the best one, so that
    an agent with one wanted goal is the policy that is told this goal.

    An episode ends in the first goal reached, wanted or not.  The critic of a goal does not know
    of that: it goes straight through the others, unless `avoid` is given.

    Args:
        model: a DQN, SAC, TD3, DDPG or TQC with `Dict` observations.  It is used, not trained.
        goals: points of `desired_goal` by name.
        tasks: the base tasks: which goals each wants, as a list of names or as a function of the
            point.  By default one per goal.
        env: the environment: a name, an environment, or a function that makes one.  By default the
            model's own.
        reached: how near is there: a distance, or a function `(achieved, desired)`.  By default a
            goal is reached where `compute_reward` pays most.  Of several the nearest counts.
        avoid: do not take an action that, says the critic, arrives in another goal than the one it
            is meant for: True for the very next step, a number for that many steps ahead.  It
            chooses among the actions on offer, those of the policy towards each goal, and finds
            no new way round.  It needs a critic that counts steps: rewards of −1, and 0 there.
        elsewhere: the name of a goal that stands for all other ends of episodes, such as a crash.
        max_episode_steps: after this many steps an episode is truncated; by default the
            environment's own limit.

    Raises:
        TypeError: the model is none, or of an algorithm without values of actions.
        ValueError: model, environment and goals do not fit each other.
    """
    if reached is not None and not callable(reached):
        reached = number(reached, "reached", "a distance of at least 0", least=0.0)
    kept = {
        "reached": reached,
        "near": _near(avoid),
        "elsewhere": elsewhere,
        "max_episode_steps": max_episode_steps,
    }
    reach, world = _made(model, goals, tasks, env, kept)
    return Skills(ReachFamily.of(world.space, world.tasks, reach), world)


def again(model: Any, kept: Mapping[str, Any], env: Any = None) -> tuple[Reach, Wrapped]:
    """The reach and the world of saved skills, from the same model.

    Raises:
        StoreError: the model is another one.
    """
    code = _require_model(model)
    digest = code.digest(model)
    if digest != kept.get("digest"):
        raise StoreError(
            f"the skills were saved with another model: the parameters of this "
            f"{type(model).__name__} have the digest {digest[:12]}…, those of the "
            f"{kept.get('algorithm')} that was saved {str(kept.get('digest'))[:12]}…"
        )
    if isinstance(env, Wrapped):
        raise StoreError("give the environment itself, or nothing for the model's own")
    goals = dict(zip(kept["goals"], kept["points"], strict=True))
    return _made(model, goals, None, env, kept)


def _made(
    model: Any, goals: Mapping[str, Any], tasks: Wanted | None, env: Any, kept: Mapping[str, Any]
) -> tuple[Reach, Wrapped]:
    code = _require_model(model)
    source = _source(model, env)
    one = _one(source)
    try:
        _require_fit(model, one)
        label = Places(one, goals, kept["reached"])
    finally:
        one.close()
    near, width = kept["near"], _width(model, label)
    if near is not None and (label.payments.size == 0 or abs(float(label.payments[-1])) > 1e-6):
        raise ValueError(
            f"avoid needs a critic that counts steps, of an environment that pays −1 for a step "
            f"and 0 in the goal; compute_reward pays {label.payments.tolist()}"
        )
    keys = [key for key in model.observation_space.spaces if key != DESIRED]
    world = wrap(
        source,
        label,
        tasks=None if tasks is None else _tasks(tasks, label),
        elsewhere=kept["elsewhere"],
        observation=keys,
        r_universal=2.0 * width + 2.0,  # a whole episode costs 1
        r_empty=0.0,
        max_episode_steps=kept["max_episode_steps"] or _limit(one),
    )
    n_others = int(kept["elsewhere"] is not None)
    reach: Reach = code.reach_of(model, label.points, near=near, n_others=n_others)
    reach.kept = {
        **kept,
        "algorithm": code.algorithm_of(model),
        "digest": code.digest(model),
        "goals": label.among,
        "points": label.points.tolist(),
    }
    return reach, world


def _near(avoid: bool | float) -> float | None:
    """Steps within which another goal is too near; None for no such rule."""
    if isinstance(avoid, bool | np.bool_):
        return NEAR if avoid else None
    return number(avoid, "avoid", "True, False or a number of steps", least=0.0)


def _require_model(model: Any) -> Any:
    """The module that asks models, if this is one that it can ask."""
    if not hasattr(model, "policy") or not hasattr(model, "observation_space"):
        if find_spec("stable_baselines3") is None:
            raise ModuleNotFoundError(
                missing("from_sb3", "stable-baselines3", "sb3"), name="stable_baselines3"
            )
        raise TypeError(
            f"the model is {model!r}, expected a model of Stable-Baselines3; load a file of yours "
            f'yourself, since it may run code: TD3.load("model.zip", env=env)'
        )
    code = torch_module("taskalgebra.learning.deep.sb3")
    if code.algorithm_of(model) is None:
        raise TypeError(
            f"{type(model).__name__} has no critic that values actions for a goal, as DQN, SAC, "
            f"TD3, DDPG and TQC have; give its values and its actions yourself: "
            f"from_policy(world, values=..., act=...)"
        )
    if not isinstance(model.observation_space, spaces.Dict) or DESIRED not in (
        model.observation_space.spaces
    ):
        raise ValueError(
            f"the model observes {model.observation_space}, without a desired_goal, so that it "
            f"knows one task only; train it with HER, or use ta.learn(ta.wrap(env, goals=label))"
        )
    if getattr(model, "get_vec_normalize_env", lambda: None)() is not None:
        raise ValueError(
            "the model was trained in VecNormalize, whose statistics are not part of it; normalise "
            "in the environment, or give the values yourself: from_values"
        )
    return code


def _source(model: Any, env: Any) -> Any:
    """What makes the environment: as given, or as the model has it."""
    if env is not None:
        return env
    vector = getattr(model, "env", None)
    if vector is None:
        raise ValueError(
            "the model has no environment; give one: from_sb3(model, goals, env=...), or load the "
            "model with it: TD3.load(path, env=env)"
        )
    copies = getattr(vector.unwrapped, "envs", None)
    if not copies:
        raise ValueError(
            "the model's environment runs in other processes; give it: from_sb3(..., env=...)"
        )
    found = copies[0]
    while type(found).__name__ == "Monitor":  # it only keeps a log of the training
        found = found.env
    spec = own_spec(found)
    if spec is None or spec.id not in gym.registry:
        return lambda: deepcopy(found)
    return found


def _one(source: Any) -> gym.Env[Any, Any]:
    if isinstance(source, gym.Env):  # a copy, so that the owner's episode goes on
        spec = own_spec(source)
        return deepcopy(source) if spec is None else gym.make(spec)
    if isinstance(source, str | gym.envs.registration.EnvSpec):
        return gym.make(source)
    if not callable(source):
        raise TypeError(
            f"env is {source!r}, expected the name of an environment, an environment, or a "
            f"function that makes one"
        )
    return instance(source(), gym.Env, "what the function given as env returned")


def _require_fit(model: Any, env: gym.Env[Any, Any]) -> None:
    """Refuse an environment that the model was not trained for."""
    for what in ("observation_space", "action_space"):
        own, given = getattr(model, what), getattr(env, what)
        if own != given:
            raise ValueError(
                f"the model is of another environment: its {what.replace('_', ' ')} is {own}, that "
                f"of the environment {given}"
            )


def _limit(env: gym.Env[Any, Any]) -> int | None:
    """The limit of a `TimeLimit`, where there is no spec that holds it."""
    if env.spec is None and env.has_wrapper_attr("_max_episode_steps"):
        return int(env.get_wrapper_attr("_max_episode_steps"))
    return None


def _width(model: Any, label: Places) -> float:
    """How far the values of two goals can be apart: a reward at every step, discounted."""
    paid = label.payments
    per_step = float(paid[-1] - paid[0]) if paid.size > 1 else 1.0
    return per_step / max(1.0 - float(model.gamma), 1.0 / UNLIMITED)


def _tasks(tasks: Wanted, label: Places) -> dict[str, list[str]]:
    """What each base task wants, by names of goals."""
    if not isinstance(tasks, Mapping):
        raise TypeError(f"tasks must be {{name: goals}} or {{name: function}}, got {tasks!r}")
    unique_names(list(tasks), "task", "", len(tasks))
    found = {}
    for name, wanted in tasks.items():
        if not callable(wanted):
            found[name] = list(wanted)
            continue
        points = zip(label.among, label.points, strict=True)
        found[name] = [
            goal for goal, point in points if flag(wanted(point), f"task {name!r} of {goal!r}")
        ]
    return found
