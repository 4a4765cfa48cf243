"""Environments that can be put back become finite worlds, which are planned exactly.

    world = ta.wrap("MiniGrid-Fetch-8x8-N3-v0", goals=label)
    explored = ta.explore(world)
    agent = ta.solve(explored)["(red | ball) & ~key"]
    agent.play(gymnasium.make("MiniGrid-Fetch-8x8-N3-v0"))

From the first states of some episodes, every action is tried in every state that is found, breadth
first.  The table knows a state by its number; the real environment is told apart by what `save`
gives, or by its observation.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import log, sqrt
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import SyncVectorEnv, VectorEnv, VectorWrapper

from taskalgebra.envs.attached import Attached
from taskalgebra.envs.finite_env import FiniteEnv, FiniteVectorEnv
from taskalgebra.envs.labelled import Labelled
from taskalgebra.envs.of_vector import OneOfVector
from taskalgebra.envs.search import Search
from taskalgebra.envs.seeded import Seeded, begun
from taskalgebra.envs.simulate import (
    Copied,
    Restore,
    Restored,
    Save,
    Simulator,
    key_of,
    known_hooks,
    require_hooks,
    save_number,
    without_observations,
)
from taskalgebra.envs.translation import View
from taskalgebra.envs.wrap import Wrapped
from taskalgebra.progress import Listener, Meter, require_listener
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import checked_seed, count, flag
from taskalgebra.worlds.finite import NO_GOAL, FiniteMDP
from taskalgebra.worlds.outcomes import from_outcomes

CERTAINTY = 0.95


def explore(
    world: Wrapped,
    *,
    seeds: Iterable[int] = (0,),
    limit: int = 100_000,
    save: Save | None = None,
    restore: Restore | None = None,
    samples: int = 1,
    continuing: bool = False,
    listener: Listener | None = None,
) -> Explored:
    """Enumerate the states of an environment, and what its actions do there.

    Args:
        world: what `wrap` makes.
        seeds: of the episodes that are explored, and played later: each is a start, and where
            layouts are random a layout.  A start of several seeds is as likely as they are many.
        limit: the most states; beyond, an error says what to do.
        save: `save(env)` gives the state of the environment, unwrapped, as something hashable;
            equal states give equal things.  By default what is known for MiniGrid, toy text and
            classic control.  For all others a copy is kept for each state, and states with equal
            observations are taken for the same one.
        restore: `restore(env, saved)` puts the environment, unwrapped, into a saved state.
        samples: how often each action is tried in each state.  With 1, actions must be certain:
            some are tried twice, and a walk at random through the environment itself must go as
            the table says.  With more, probabilities are estimated.
        continuing: whether episodes outlive goals, for tasks with time.  Every state in which the
            label gives a goal is then a goal of its own, "red ball 1", "red ball 2", …, from which
            episodes go on; the tasks are those of the world.
        listener: receives progress; by default a terminal or the log shows it.

    With n samples of each of N pairs (s, a), the estimated outcomes of *all* of them are within
    ε = √(2 ln((2ᵏ − 2) N / 0.05) / n) of the true ones in L1, Σ_s' |ρ̂ − ρ| ≤ ε, with probability
    95 %, where no action has more than k outcomes (Weissman et al. 2003).  `Explored.row_error` is
    ε for the most outcomes that were seen.  A policy's expected return over H steps is then known
    to ± H·ε·R/2, where R is the difference between the largest and the smallest return.  This is a
    bound for the worst case; a tenth of the error takes a hundred times the samples.

    Raises:
        ValueError: there are too many states, actions are not certain, or observations do not tell
            states apart; the message says what to do.
    """
    if not isinstance(world, Wrapped):
        raise TypeError(
            f"cannot explore {world!r}; expected what taskalgebra.wrap(env, goals=label) makes"
        )
    if (save is None) != (restore is None):
        raise ValueError("save and restore belong together; give both or none")
    if not isinstance(seeds, Iterable):
        raise TypeError(f"seeds is {seeds!r}, expected a list, such as [{seeds!r}] or range(5)")
    kept = tuple(checked_seed(seed) for seed in seeds)
    if not kept:
        raise ValueError("seeds is empty; give at least one, each is a start")
    if world.rules.hands.own is None:
        raise ValueError(
            "actions are continuous, so that they cannot all be tried; name a few of them: "
            "wrap(..., actions={name: action})"
        )
    require_listener(listener)
    env = world.make()
    if isinstance(env, OneOfVector):
        env.close()
        raise ValueError(
            "the copies of this vector environment are not in this process, so that they cannot be "
            "put back into a state; give a function that makes one environment: wrap(make_one, ...)"
        )
    try:
        env.reset(seed=kept[0])  # before which an environment may not have all of its parts
        hooks = known_hooks(env.unwrapped)
        if save is not None and restore is not None:
            require_hooks(env.unwrapped, save, restore)
            hooks = save, restore
        simulator: Simulator
        if hooks is None:
            simulator, finder = Copied(env, world.rules), None
        else:
            simulator, finder = Restored(env, world.rules, *hooks), hooks[0]
        found = Search(
            simulator,
            count(limit, "limit"),
            count(samples, "samples"),
            flag(continuing, "continuing"),
        )
        with Meter("exploring", shown=listener is None) as meter, without_observations(env):
            for seed in kept:
                found.from_start(seed, listener or meter)
    finally:
        env.close()
    if not found.goal_at:
        raise ValueError(
            f"the label gave no goal in the {len(found.number):,} states that were found; see that "
            f"it can, or explore more starts: explore(world, seeds=range(...))"
        )
    return Explored(world, found, kept, finder)


def _row_error(mdp: FiniteMDP, samples: int) -> float:
    """ε of `explore`; 0 where nothing was estimated."""
    if samples == 1:
        return 0.0
    live = np.repeat(~mdp.is_goal, mdp.n_actions)
    k = int(np.diff(mdp.offset)[live].max())
    many = log(2.0) * k if k > 50 else log(max(2.0**k - 2, 1.0))
    return sqrt(2 * (many + log(live.sum() / (1 - CERTAINTY))) / samples)


@final
class Explored(FiniteEnv):
    """An environment whose states were all found, as a table; agents play the real one.

    `state_of(env)` is the number of the state in which a real environment is.  States are in the
    order in which they were found; after them comes one absorbing state per goal.
    """

    def __init__(
        self, world: Wrapped, found: Search, seeds: tuple[int, ...], save: Save | None
    ) -> None:
        """Lay out the table."""
        n, kinds = len(found.number), np.arange(len(world.rules.goals.names))
        if found.continuing:
            kinds = np.array(found.kinds)
        rows = list(found.rows)
        if found.continuing and any(key not in found.number for key in found.goal_at):
            # The environment itself ends in some goals: from there nothing leads on.
            cost = min(paid for *_, paid in rows)
            rows += [(n, a, n, 1.0, min(cost, 0.0)) for a in range(found.n_actions)]
            n += 1
        table = np.array(rows)
        ends = table[:, 2]
        table[:, 2] = np.where(ends < 0, n - 1 - ends, ends)
        names = _numbered([world.rules.goals.names[kind] for kind in kinds])
        mdp = from_outcomes(
            table,
            {name: n + g for g, name in enumerate(names)},
            n_states=n + len(names),
            action_names=world.rules.hands.names,
            starts=sorted(found.starts),
        )
        mdp = replace(mdp, max_episode_steps=world.max_episode_steps)
        if found.continuing:
            nowhere = n - 1
            resumes = np.array([found.number.get(key, nowhere) for key in found.goal_at], np.int32)
            mdp = replace(mdp, resumes=resumes)
        mdp = replace(mdp, row_error=_row_error(mdp, found.samples))
        own = world.space
        space = TaskSpace(mdp, r_universal=own.r_universal[kinds], r_empty=own.r_empty[kinds])
        tasks = {
            name: space.from_rewards(task.goal_reward[kinds]) for name, task in world.tasks.items()
        }
        super().__init__(space, tasks)
        self.world, self.seeds, self.samples = world, seeds, found.samples
        self.outlives_goals = found.continuing
        self._save, self._goal_at = save, dict(found.goal_at)
        self._number = {**{key: n + g for key, g in found.goal_at.items()}, **found.number}
        self._view = View(
            world.rules.view.own, Discrete(mdp.n_states), self._state_of, needs_env=True
        )

    @property
    def row_error(self) -> float:  # type: ignore[override]
        """ε: the L1 error of the outcomes of every state and action, kept with 95 %; see `explore`.

        0 where nothing was estimated.
        """
        return self.space.mdp.row_error

    def state_of(self, env: gym.Env[Any, Any], observation: Any = None) -> int:
        """The number of the state that a real environment is in.

        Args:
            env: the environment, wrapped or not.
            observation: its last observation; needed where observations tell states apart.

        Raises:
            ValueError: the state was not found in exploring.
        """
        return self._state_of(observation, env.unwrapped)

    def _state_of(self, observation: Any, base: Any) -> int:
        return self._numbered(key_of(observation) if self._save is None else self._save(base))

    def begin(self, env: Any, seed: int) -> tuple[Any, dict[str, Any]]:
        """Begin an episode with one of the seeds that were explored.

        What happens by chance after the start differs between episodes.
        """
        return begun(env, self.seeds, seed, self.samples > 1)

    def entered(self, observation: Any, info: Mapping[str, Any], env: Any) -> int:
        """The goal that the last step of a real environment entered, or −1."""
        base = env.unwrapped
        if self.world.rules.label(observation, info, base) is None:
            return NO_GOAL
        key = key_of(observation) if self._save is None else self._save(base)
        if key not in self._goal_at:
            raise ValueError("the environment is in a goal that was not explored")
        return self._goal_at[key]

    def _key(self, observation: int) -> Hashable:
        return key_of(observation) if self._save is None else observation

    def _numbered(self, key: Hashable) -> int:
        state = self._number.get(key)
        if state is None:
            raise ValueError(
                f"the environment is in a state that was not explored; "
                f"begin episodes with the seeds that were, {list(self.seeds)[:5]}, or explore "
                f"more: explore(world, seeds=range(...))"
            )
        return state

    def see(self, observation: Any, env: Any = None) -> Any:
        """The number of a state, from an observation and the environment that it comes from.

        Numbers of states, as this world and its copies give them, are taken as they are.  The
        environment is not needed where observations tell states apart and are not numbers; if they
        are numbers, only the environment tells which of the two are meant.
        """
        if _shows_states(env):
            return observation
        if isinstance(env, VectorEnv) and self._save not in (None, save_number):
            inner: Any = env.unwrapped
            if not isinstance(inner, SyncVectorEnv):
                raise ValueError(
                    "this world looks at the states of environments; give a SyncVectorEnv of them"
                )
            return np.array([self._state_of(None, one.unwrapped) for one in inner.envs])
        if env is not None and not isinstance(env, VectorEnv):
            return self.state_of(env, observation)
        own = self._view.own
        if isinstance(own, Discrete) and self._save in (None, save_number):
            if env is None and not self._same_numbers:
                raise ValueError(
                    "the environment numbers its states in another way than the world that was "
                    "explored; say where the observation comes from: agent.act(observation, env)"
                )
            given = np.asarray(observation)
            states = [self._numbered(self._key(int(one))) for one in given.ravel()]
            return np.array(states).reshape(given.shape)
        if np.asarray(observation).dtype.kind in "iu" and not own.contains(observation):
            return observation
        if not own.contains(observation):
            raise ValueError(
                f"the observation {observation!r} is not in {own}; give one of the environment's "
                f"own, or the number of a state"
            )
        if self._save is None:
            return self._numbered(key_of(observation))
        raise ValueError(
            "this world looks at more than the observation; give the environment too: "
            "agent.act(observation, env), or let the agent play: agent.play(env)"
        )

    @cached_property
    def _same_numbers(self) -> bool:
        """Whether observations of the real environment are the numbers of states here."""
        return all(self._key(state) == key for key, state in self._number.items())

    def own_actions(self, actions: Any, env: Any = None) -> Any:
        """The environment's own actions, from numbers of actions; here these numbers."""
        return actions if _shows_states(env) else self.world.own_actions(actions)

    def make(self, **changes: Any) -> gym.Env[Any, Any]:
        """The environment itself; `changes` are given to Gymnasium."""
        return self.world.make(**changes)

    def attach(
        self, env: Any, *, task: Task, max_episode_steps: int | None = None
    ) -> VectorEnv[Any, Any, Any]:
        """Play the real environment, one or a `SyncVectorEnv` of them, from the seeds explored.

        Args:
            env: an environment of the kind that was explored, with any wrappers.
            task: what is paid, as by the table.
            max_episode_steps: after this many of its own steps an episode is truncated.
        """
        if self.outlives_goals:
            raise TypeError(
                "this world was explored for tasks with time, in which episodes outlive goals; for "
                "other tasks explore it without continuing=True"
            )
        inner: Any = env.unwrapped if isinstance(env, VectorEnv) else env
        each: list[Any] = list(inner.envs) if isinstance(inner, SyncVectorEnv) else [inner]
        rules = replace(self.world.rules, view=self._view)
        for one in each:
            if not isinstance(one, gym.Env):
                raise TypeError(
                    f"cannot play {env!r}: its states must be looked at; give an environment, such "
                    f"as gymnasium.make(...), or a SyncVectorEnv"
                )
            if one.observation_space != self._view.own:
                raise ValueError(
                    f"the environment has observations {one.observation_space}, but "
                    f"{self._view.own} were explored; give an environment of the same kind"
                )
            self.world.rules.hands.require_in(one.action_space)
        if max_episode_steps is not None:
            each = [gym.wrappers.TimeLimit(one, max_episode_steps) for one in each]

        def played(i: int) -> gym.Env[Any, Any]:
            return Labelled(Seeded(each[i], self.seeds, i, self.samples > 1), rules)

        return Attached(SyncVectorEnv([partial(played, i) for i in range(len(each))]), task)


def _shows_states(env: Any) -> bool:
    """Whether an environment is a finite world itself, or copies that show numbers of states."""
    while isinstance(env, gym.Wrapper | VectorWrapper) and not isinstance(env, Attached):
        env = env.env
    return isinstance(env, FiniteEnv | FiniteVectorEnv | Attached)


def _numbered(names: Sequence[str]) -> list[str]:
    """Names that are told apart: of several equal ones, each gets a number."""
    count: dict[str, int] = {}
    found = []
    for name in names:
        count[name] = count.get(name, 0) + 1
        found.append(f"{name} {count[name]}" if names.count(name) > 1 else name)
    return found
