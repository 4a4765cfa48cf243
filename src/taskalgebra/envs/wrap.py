"""Any Gymnasium environment as a goal environment, by a label.

    def corner(observation, info, env):
        row, column = divmod(observation, 4)
        return {"top": row == 0, "left": column == 0} if {row, column} <= {0, 3} else None

    world = ta.wrap("FrozenLake-v1", goals=corner, elsewhere="hole")
    skills = ta.learn(world)
    agent = skills["top & ~left"]

The label says which goal was just reached; there the episode ends.  Everything else is taken from
the environment: its spaces, its step limit, what a step costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.vector import SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import iterate
from numpy.typing import ArrayLike, NDArray

from taskalgebra.envs.by_chance import OF_ENVIRONMENT, cost_of_a_step, goals_found
from taskalgebra.envs.contract import first_observation
from taskalgebra.envs.labelled import Labelled, LabelledVector, Rules
from taskalgebra.envs.labels import (
    Among,
    GoalLabel,
    Goals,
    Label,
    goals_among,
)
from taskalgebra.envs.of_vector import OneOfVector, copy_of
from taskalgebra.envs.open_env import Copies, OpenEnv, PaysTask
from taskalgebra.envs.origin import Origin, Source
from taskalgebra.envs.translation import Look, hands_of, view_of
from taskalgebra.theory.goal_env import LEARNING_STEPS
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count, finite, listed, takes
from taskalgebra.worlds.finite import NO_GOAL

AS_OBSERVED = "observation"
RESUMED = 0.5
"""How often an episode of learning begins where the last one entered a goal, if it may."""


def wrap(
    env: Source,
    goals: Label,
    *,
    among: Among | None = None,
    tasks: Mapping[str, Iterable[str | int]] | None = None,
    elsewhere: str | None = None,
    observation: str | Sequence[str] | Look | None = None,
    actions: Sequence[str] | Mapping[str, Any] | None = None,
    hold: int = 1,
    shown: str | Mapping[str, ArrayLike] | None = None,
    step_reward: float | str | None = None,
    r_universal: ArrayLike | None = None,
    r_empty: ArrayLike = -0.1,
    max_episode_steps: int | None = None,
) -> Wrapped:
    """Make a goal environment of any Gymnasium environment.

    Args:
        env: a registered name, a spec, an environment, which is made again from its spec or else
            copied, a function that makes one, or a function of n that makes a vector environment.
            Copies that are not in this process (`AsyncVectorEnv`) cannot be looked at by the label.
        goals: the label, `goals(observation, info, env)`, asked after every step with the
            environment's own observation, and `env` unwrapped: the name of the goal just reached,
            its predicates, such as `{"colour": "red", "big": True}`, or None.  Where it gives a
            goal, the episode ends there.
        among: all goals: their names, or `{predicate: values}`, each combination of which is a
            goal.  By default those of a `GoalLabel`, else what is found by acting at random for a
            while.
        tasks: the named tasks, `{name: goals}`; by default those that follow from predicates: one
            for each word, each truth value and each number.  Without predicates, one per goal.
        elsewhere: the name of a goal that stands for all ends of episodes at which the label gives
            no goal.  No task wants it, `~top` neither.  Without it, such an end is an error.
        observation: what values take: a key or keys of `Dict` observations, or a function
            `(observation, env) -> array`.  By default numbers and arrays are taken as they are,
            and others as one vector of their parts, without text and without `desired_goal`.
        actions: names of the actions; or `{name: action}` with the environment's own actions, to
            use only some of them, or a few of continuous ones.
        hold: each action is repeated this many steps, unless a goal is reached.
        shown: what networks are shown of a goal: by default its predicates or its name as a vector;
            `{goal: array}` for a picture or a vector each; "observation" for that in which the goal
            was first met.
        step_reward: what an action pays: by default −1 divided by the most steps of an episode, so
            that every wanted goal is worth the way; a number; or "environment" for what it pays.
        r_universal: what a task pays for a goal that it desires; by default 2, or more if the
            longest way costs more.
        r_empty: what a task pays for any other goal.
        max_episode_steps: after this many steps of the environment an episode is truncated; by
            default the limit of its spec, its own `max_steps`, or 50.
    """
    if not callable(goals):
        raise TypeError(
            f"goals must be a label, a function (observation, info, env) that gives the name of "
            f"the goal just reached, or None; got {goals!r}"
        )
    if not takes(goals, 3):
        raise TypeError(
            f"the label must take (observation, info, env); it takes {signature(goals)}"
        )
    given = goals.among if among is None and isinstance(goals, GoalLabel) else among
    origin = Origin(env)
    one, hold = origin.one(), count(hold, "hold")
    try:
        hands = hands_of(one.action_space, actions)
        sample = first_observation(one, hands.own)
        view = view_of(one.observation_space, observation, sample, one.unwrapped)
        view(sample, one.unwrapped)
        limit = _limit(one, max_episode_steps)
        if given is None:
            known = goals_among(goals_found(one, goals, hands.own, hold, limit), found=True)
        else:
            known = goals_among(given)
        cost = cost_of_a_step(one, goals, hands.own, step_reward, limit, hold)
    finally:
        one.close()
    if elsewhere is not None:
        known = known.with_elsewhere(elsewhere)
    rules = Rules(
        goals,
        known,
        view,
        hands,
        hold,
        step_reward=None if step_reward == OF_ENVIRONMENT else -cost,
        elsewhere=None if elsewhere is None else len(known.names) - 1,
    )
    n_actions = math.ceil(limit / hold)
    if r_universal is None:
        r_universal = max(2.0, 1.0 + cost * n_actions)
    if elsewhere is not None:
        r_universal = _not_wanted_last(r_universal, r_empty, len(known.names))
    return Wrapped(
        origin,
        rules,
        tasks=known.base_tasks() if tasks is None else _checked(tasks, known),
        features=_features(known, shown),
        r_universal=r_universal,
        r_empty=r_empty,
        max_episode_steps=n_actions,
    )


@final
class Wrapped(OpenEnv):
    """An environment of somebody else's, played by a label; `wrap` makes it."""

    max_copies = 32  # one by one, so that more are no quicker; some take much memory

    def __init__(
        self,
        origin: Origin,
        rules: Rules,
        *,
        tasks: Mapping[str, Iterable[str | int]],
        features: NDArray[Any] | None,
        r_universal: ArrayLike,
        r_empty: ArrayLike,
        max_episode_steps: int,
    ) -> None:
        """Play the environment by the rules."""
        self.rules, self._origin = rules, origin
        super().__init__(
            partial(_labelled, origin, rules),
            rules.goals.names,
            tasks,
            actions=rules.hands.names,
            r_universal=r_universal,
            r_empty=r_empty,
            max_episode_steps=max_episode_steps,
        )
        self.goal_features = features

    @property
    def entry_reward(self) -> float:  # type: ignore[override]
        """What the step into a goal costs where episodes go on."""
        return self.rules.step_reward or 0.0

    def continuing(self, num_envs: int, *, max_episode_steps: int | None = None) -> Copies:
        """N copies whose episodes outlive goals; they end where the environment itself ends."""
        self._require_one("continuing(n)")
        rules = replace(self.rules, ends=False)

        def one() -> gym.Env[Any, Any]:
            env: gym.Env[Any, Any] = Labelled(self._origin.one(), rules)
            limit = max_episode_steps
            return env if limit is None else gym.wrappers.TimeLimit(env, limit)

        return _vector([one] * count(num_envs, "num_envs"))

    def resuming(self) -> Wrapped:
        """The same world, with episodes that begin on goals too: see `GoalEnv.resuming`."""
        self._require_one("continuing=True")
        found = copy(self)
        found.rules, found.resumed = replace(self.rules, resumes=RESUMED), True
        found._make = partial(_labelled, self._origin, found.rules)
        return found

    def _require_one(self, what: str) -> None:
        if self._origin.many:
            raise TypeError(
                f"a vector environment begins anew where it ends, so that there is no {what}; give "
                f"a function that makes one environment: wrap(make_one, ...)"
            )

    def entered(self, observation: Any, info: Mapping[str, Any], env: Any) -> int:
        """The goal that the label names after a step of the environment itself, or −1."""
        given = self.rules.label(observation, info, env.unwrapped)
        return NO_GOAL if given is None else self.rules.goals.number(given)

    def make(self, **changes: Any) -> gym.Env[Any, Any]:
        """The environment itself, not played by the label; `changes` are given to Gymnasium."""
        return self._origin.one(**changes)

    def attach(
        self, env: Any, *, task: Task, max_episode_steps: int | None = None
    ) -> VectorEnv[Any, Any, Any]:
        """Play this very environment, one or a vector, as this world."""
        rules = self.rules
        if not isinstance(env, gym.Env | VectorEnv):
            raise TypeError(
                f"cannot play {env!r}; expected an environment, such as gymnasium.make(...), or a "
                f"vector of them"
            )
        space = getattr(env, "single_observation_space", env.observation_space)
        if space != rules.view.own:
            raise ValueError(
                f"the environment has observations {space}, but the skills are for "
                f"{rules.view.own}; give an environment of the same kind"
            )
        rules.hands.require_in(getattr(env, "single_action_space", env.action_space))
        if isinstance(env, VectorEnv):
            return PaysTask(LabelledVector(env, rules), task, max_episode_steps)
        return PaysTask(_vector([lambda: Labelled(env, rules)]), task, max_episode_steps)

    def see(self, observation: Any, env: Any = None) -> Any:
        """What values take of the environment's own observation, one or a batch."""
        view = self.rules.view
        if view.look is None:
            view.require_one_or_many(observation)
            return observation
        if view.needs_env and env is None:
            raise ValueError(
                "this world looks at more than the observation; give the environment too: "
                "agent.act(observation, env), or let the agent play: agent.play(env)"
            )
        if view.own.contains(observation):
            return view(observation, None if env is None else env.unwrapped)
        if isinstance(env, VectorEnv):
            each = iterate(env.observation_space, observation)
            return np.stack([view(one, copy_of(env, i)) for i, one in enumerate(each)])
        raise ValueError(
            f"the observation is not in {view.own}; give one of the environment's own, or the "
            f"vector environment that they come from: agent.act(observations, env)"
        )

    def own_actions(self, actions: Any, env: Any = None) -> Any:
        """The environment's own actions, from numbers of actions."""
        hands = self.rules.hands
        if hands.own is None or hands.as_they_are:
            return actions
        if np.ndim(actions) == 0:
            return hands.own[int(actions)]
        return np.stack([np.asarray(hands.own[int(action)]) for action in actions])


def _labelled(origin: Origin, rules: Rules, num_envs: int) -> Copies:
    """N copies, played by the rules."""
    if origin.many:
        env = origin.vector(num_envs)
        return LabelledVector(env, rules) if isinstance(env, VectorEnv) else env
    return _vector([lambda: Labelled(origin.one(), rules)] * num_envs)


def _vector(makers: list[Callable[[], gym.Env[Any, Any]]]) -> Copies:
    return SyncVectorEnv(makers)


def _limit(env: gym.Env[Any, Any], given: int | None) -> int:
    if given is not None:
        return count(given, "max_episode_steps")
    own = None if env.spec is None else env.spec.max_episode_steps
    if own is None and not isinstance(env, OneOfVector):
        own = getattr(env.unwrapped, "max_steps", None)
    return int(own or LEARNING_STEPS)


def _checked(tasks: Any, known: Goals) -> Any:
    """The tasks that were given; goals that chance did not find are said to be such."""
    if isinstance(tasks, Mapping) and not tasks:
        raise ValueError(
            "tasks is empty; give {name: goals}, or leave it out for those that follow from the "
            "label"
        )
    if known.found and isinstance(tasks, Mapping):
        for name, wanted in tasks.items():
            for goal in wanted if isinstance(wanted, list | tuple | set) else ():
                if isinstance(goal, str) and goal not in known.names:
                    raise ValueError(
                        f"task {name!r} wants {goal!r}, but the goals found by acting at random "
                        f"are {listed(known.names)}; name all goals: {known.with_more(goal)}"
                    )
    return tasks


def _not_wanted_last(r_universal: ArrayLike, r_empty: ArrayLike, n_goals: int) -> NDArray[Any]:
    """[G], r_U, with r_∅ for the last goal, so that no task wants it."""
    rewards = np.array(np.broadcast_to(np.asarray(r_universal, float), (n_goals,)))
    rewards[-1] = np.broadcast_to(np.asarray(r_empty, float), (n_goals,))[-1]
    return rewards


def _features(goals: Goals, shown: str | Mapping[str, ArrayLike] | None) -> NDArray[Any] | None:
    if shown is None:
        return goals.features()
    if isinstance(shown, str):
        if shown != AS_OBSERVED:
            raise ValueError(f"shown is {shown!r}, expected {AS_OBSERVED!r} or {{goal: array}}")
        return None
    if not isinstance(shown, Mapping):
        raise TypeError(f"shown is {shown!r}, expected {AS_OBSERVED!r} or {{goal: array}}")
    missing = [name for name in goals.names if name not in shown]
    if missing:
        raise ValueError(f"shown has nothing for {listed(missing)}; give an array for every goal")
    arrays = [np.asarray(shown[name]) for name in goals.names]
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise ValueError(f"the arrays of shown have shapes {sorted(shapes)}, expected one shape")
    stacked = np.stack(arrays)
    if stacked.dtype == np.uint8:
        return stacked
    return finite(stacked, "shown", stacked.shape).astype(np.float32)
