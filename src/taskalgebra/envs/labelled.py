"""Environments played by a label: the goal reached is in `info["goal"]`, and ends the episode.

`Labelled` wraps one environment, `LabelledVector` copies of one that were made as a vector, in any
autoreset mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from taskalgebra.envs.labels import GoalLabel, Goals, Label
from taskalgebra.envs.of_vector import BEGUN_ANEW, begun_by, copy_of, last_of, mode_of, resettable
from taskalgebra.envs.translation import Hands, View
from taskalgebra.validation import checked_action
from taskalgebra.worlds.finite import NO_GOAL


@final
@dataclass(frozen=True)
class Rules:
    """How an environment is played as a world of goals."""

    label: Label
    goals: Goals
    view: View
    hands: Hands
    hold: int = 1  # steps for which an action is repeated
    step_reward: float | None = None  # of every action; None: what the environment pays
    elsewhere: int | None = None  # the goal that stands for ends without a label
    ends: bool = True  # whether a goal ends an episode
    resumes: float = 0.0  # how often the next episode begins where one entered a goal

    @property
    def action_space(self) -> gym.Space[Any] | None:
        """Numbers of actions; None for the environment's own."""
        return None if self.hands.own is None else Discrete(len(self.hands.own))

    def own_action(self, action: Any) -> Any:
        """The environment's own action."""
        own = self.hands.own
        return action if own is None else own[checked_action(action, self.hands.names)]

    def goes_on(self, observation: Any) -> bool:
        """Whether an end of the environment's is none here, by the label."""
        return isinstance(self.label, GoalLabel) and self.label.goes_on(observation)

    def goal(self, observation: Any, info: Mapping[str, Any], env: Any, terminated: bool) -> int:
        """The number of the goal just reached, or −1.

        Raises:
            ValueError: the episode ended, and the label does not say where.
        """
        given = self.label(observation, info, env)
        if given is not None:
            return self.goals.number(given)
        if not terminated or self.goes_on(observation):
            return NO_GOAL
        if self.elsewhere is None:
            raise ValueError(
                "the environment ended an episode where the label names no goal; name it, or give "
                'such ends a name: wrap(..., elsewhere="lost")'
            )
        return self.elsewhere


@final
class Labelled(gym.Wrapper[Any, Any, Any, Any]):
    """One environment, played by rules."""

    def __init__(self, env: gym.Env[Any, Any], rules: Rules) -> None:
        """Show the spaces that values take."""
        super().__init__(env)
        self.rules = rules
        self.observation_space = rules.view.space
        self.action_space = rules.action_space or env.action_space
        self._chance = np.random.default_rng()
        self._on_goal: Any = None  # what is seen in a goal from which the environment goes on

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode; after one that ended in a goal, it may go on from there.

        With a seed it may do so only if it is told, by `options["resume"]`, so that seeds begin
        episodes that do not depend on those before.
        """
        on_goal, self._on_goal = self._on_goal, None
        if seed is not None:
            self._chance = np.random.default_rng([seed, 1])  # not the environment's own stream
        others = dict(options or {})
        told = bool(self.rules.resumes) and others.pop("resume", False)
        free = told or (seed is None and options is None)
        if free and on_goal is not None and self._chance.random() < self.rules.resumes:
            return on_goal, {"goal": NO_GOAL}
        options = others or None if told else options
        observation, info = self.env.reset(seed=seed, options=options)
        return self._seen(observation), {**info, "goal": NO_GOAL}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act, as often as the action is held, until the label names a goal or the episode ends."""
        rules, own, paid = self.rules, self.rules.own_action(action), 0.0
        for _ in range(rules.hold):
            observation, reward, terminated, truncated, info = self.env.step(own)
            paid += float(reward)
            goal = rules.goal(observation, info, self.env.unwrapped, bool(terminated))
            if goal != NO_GOAL or terminated or truncated:
                break
        reached = goal != NO_GOAL
        reward = paid if rules.step_reward is None else rules.step_reward
        over = bool(truncated) and not reached
        ended = bool(terminated) and not rules.goes_on(observation)
        seen = self._seen(observation)
        self._on_goal = seen if reached and not ended and not truncated else None
        if not rules.ends:
            reached, over = ended, bool(truncated)
        return seen, reward, reached, over, {**info, "goal": goal}

    def _seen(self, observation: Any) -> Any:
        return self.rules.view(observation, self.env.unwrapped)


@final
class LabelledVector(VectorWrapper):
    """Copies that were made as a vector, played by rules."""

    def __init__(self, env: VectorEnv[Any, Any, Any], rules: Rules) -> None:
        """Show the spaces that values take."""
        if rules.hold != 1:
            raise ValueError(
                "a vector environment cannot hold actions; give a function that makes one "
                "environment: wrap(make_one, ..., hold=...)"
            )
        super().__init__(env)
        self.rules = rules
        self.single_observation_space = rules.view.space
        self.observation_space = batch_space(rules.view.space, self.num_envs)
        self.single_action_space = rules.action_space or env.single_action_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._mode = mode_of(env)
        self._begins = np.zeros(self.num_envs, np.bool_)  # the next step only starts an episode
        self._early = np.zeros(self.num_envs, np.bool_)  # in a goal, though the copy goes on

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start all episodes, or those of `options["reset_mask"]`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        begun = begun_by(options, self.num_envs)
        self._begins = self._begins & ~begun
        self._early = self._early & ~begun
        return self._seen(self._each(observations)), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all copies; those in a goal begin again, as the autoreset mode says."""
        rules = self.rules
        if rules.hands.own is not None:
            own = [rules.own_action(action) for action in np.asarray(actions)]
            actions = np.stack([np.asarray(each) for each in own])
        observations, rewards, ended, truncated, infos = self.env.step(actions)
        rewards, ended, truncated = np.array(rewards, float), np.array(ended), np.array(truncated)
        if self._early.any():
            observations, _ = self.env.reset(options={"reset_mask": self._early})
            ended, truncated = ended & ~self._early, truncated & ~self._early
        begins, each = self._begins | self._early, self._each(observations)
        goals = np.full(self.num_envs, NO_GOAL, np.int64)
        last = list(each)
        for i in map(int, np.flatnonzero(~begins)):
            over = bool(ended[i] | truncated[i])
            last[i], info = last_of(each[i], infos, i, self._begun(over))
            goals[i] = rules.goal(last[i], info, self._copy_at_end(i, over), bool(ended[i]))
            if ended[i] and goals[i] == NO_GOAL:
                raise ValueError(
                    "this vector environment ends episodes in goals of its own and starts new "
                    "ones; give one environment, which goes on: agent.play(env)"
                )
        if rules.step_reward is not None:
            rewards[~begins] = rules.step_reward
        rewards[begins] = 0.0
        reached = goals != NO_GOAL
        early = reached & ~ended & ~truncated
        ended, truncated = reached, truncated & ~reached
        return self._continued(each, last, rewards, ended, truncated, infos, goals, early)

    def _continued(
        self,
        each: list[Any],
        last: list[Any],
        rewards: Any,
        ended: Any,
        truncated: Any,
        infos: dict[str, Any],
        goals: NDArray[np.int64],
        early: NDArray[np.bool_],
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """What a step returns, with copies in a goal reset by hand where they would go on."""
        rules = self.rules
        if early.any() and not resettable(self.env):
            raise ValueError(
                "the label named a goal where this vector environment goes on, and its copies "
                "cannot be reset one by one; make copies that can: "
                'gymnasium.make_vec(..., vectorization_mode="sync")'
            )
        infos = {**infos, "goal": goals, "_goal": np.ones(self.num_envs, np.bool_)}
        over = ended | truncated
        if self._mode == AutoresetMode.SAME_STEP:
            if over.any():
                infos["final_obs"] = _objects(
                    [
                        np.array(rules.view(one, self._copy_at_end(i, bool(over[i] & ~early[i]))))
                        for i, one in enumerate(last)
                    ]
                )
                infos["_final_obs"] = over
                infos.pop("final_info", None)
            if early.any():
                observations, _ = self.env.reset(options={"reset_mask": early})
                each = self._each(observations)
            return self._seen(each), rewards, ended, truncated, infos
        self._early = early if self._mode == AutoresetMode.NEXT_STEP else np.zeros_like(early)
        self._begins = (
            over & ~early if self._mode == AutoresetMode.NEXT_STEP else np.zeros_like(early)
        )
        return self._seen(each), rewards, ended, truncated, infos

    def _begun(self, over: bool) -> bool:
        """Whether a copy whose episode is over has begun the next one."""
        return over and self._mode == AutoresetMode.SAME_STEP

    def _copy_at_end(self, i: int, over: bool) -> Any:
        """Copy i as a label finds it after a step; not where it has begun the next episode."""
        return BEGUN_ANEW if self._begun(over) else copy_of(self.env, i)

    def _each(self, observations: Any) -> list[Any]:
        return list(iterate(self.env.observation_space, observations))

    def _seen(self, each: list[Any]) -> NDArray[Any]:
        return np.stack([np.asarray(self._seen_one(one, i)) for i, one in enumerate(each)])

    def _seen_one(self, observation: Any, i: int) -> Any:
        return self.rules.view(observation, copy_of(self.env, i))


def _objects(items: list[Any]) -> NDArray[Any]:
    found = np.empty(len(items), object)
    for i, item in enumerate(items):
        found[i] = item
    return found
