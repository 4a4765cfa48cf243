"""Agents: what acts on the values of one task, composed or not.

An agent asked for by expression, by `Task`, or built with operators from other agents is the same
agent: it takes the same actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from operator import and_, invert, or_, xor
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, LongArray
from taskalgebra.envs.registry import env_of
from taskalgebra.evaluation.continuing import ContinuingEvaluation
from taskalgebra.evaluation.horizon import expected
from taskalgebra.evaluation.record import Evaluation
from taskalgebra.evaluation.rollout import play
from taskalgebra.learning.onward import Experience, OnwardPolicy
from taskalgebra.logic.algebra import BooleanElement
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.improvement import Improvement
from taskalgebra.planning.timed import TimedPolicy
from taskalgebra.progress import Listener, Meter, require_listener
from taskalgebra.skills.real import play_continuing, play_in
from taskalgebra.skills.shown.agent import ShownAgent
from taskalgebra.skills.trust import (
    compared,
    findings_of,
    improve_by_playing,
    improve_task,
    limit_note,
    line_within,
    loss_of_task,
    loss_within,
    refuse_episodes,
    with_loss,
)
from taskalgebra.skills.walks import in_tables
from taskalgebra.theory.certificate import Certificate
from taskalgebra.theory.family import Family
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv
from taskalgebra.theory.policy import Policy
from taskalgebra.theory.rewards import recover_v
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import ExtendedQ
from taskalgebra.validation import checked_seed, count, flag


class Source(Protocol):
    """The skills that an agent comes from."""

    family: Family
    env: GoalEnv | None

    @property
    def n_expressible(self) -> int:
        """How many different tasks they can express."""

    def task_of(self, expression: Expression) -> Task:
        """The task that an expression means."""


@final
class Agent(ShownAgent):
    """An agent that acts greedily on an extended value function."""

    skills: Source
    _held = ("skills", "expression", "task", "values", "improvement")  # not the episode

    def __init__(
        self,
        skills: Source,
        expression: Expression,
        task: Task,
        values: ExtendedQ,
        improved: tuple[Policy, Improvement | Experience] | None = None,
    ) -> None:
        """Keep a task, its values, and their skills; an improved policy replaces the greedy one."""
        self.skills, self.expression = skills, expression
        self.task, self.values = task, values
        self.policy = improved[0] if improved else skills.family.policy(values)
        self.improvement = improved[1] if improved else None

    def act(self, observations: Any, env: Any = None) -> Any:
        """The environment's own action for one observation, or the actions for a batch of them.

        Args:
            observations: the environment's own.
            env: the environment, where the world looks at more than observations.
        """
        if (world := self.skills.env) is None:
            return self.policy.act(observations)
        return world.own_actions(self.policy.act(world.see(observations, env)), env)

    def reset(self, begins: ArrayLike = (True,)) -> None:
        """Episodes begin in these places of a batch: forget what was kept in mind, if anything."""
        self.policy.reset(np.asarray(begins, np.bool_))

    def observe(self, reached: Any) -> None:
        """Take note of a step, as agents for formulas over time do: there is nothing to note."""

    def q_bar(self, observations: ArrayLike) -> Array:
        """Q̄ for a batch of observations, `[B, G, A]`."""
        return self.values.q_bar(observations)

    @cached_property
    def actions(self) -> LongArray:
        """[S], the action in every state of a finite world."""
        self._require_states("actions")
        return self._over_states(lambda states: self.policy.first_actions(states).astype(np.int64))

    @cached_property
    def v(self) -> Array:
        """[S], V(s) = max_{g,a} Q̄(s, g, a)  (Lemma 1); of an improved agent, what it earns."""
        self._require_states("v")
        if isinstance(self.improvement, Improvement):
            return self.improvement.returns
        if isinstance(learned := self.policy, OnwardPolicy):
            return self._over_states(lambda states: learned.q(states).max(axis=1))
        return self._over_states(lambda states: recover_v(self.values.q_bar(states)))

    def _over_states(self, function: Callable[[LongArray], NDArray[Any]]) -> NDArray[Any]:
        mdp = self.task.space.mdp
        block = max(1, 2**22 // (mdp.n_goals * mdp.n_actions))
        parts = [
            function(np.arange(first, min(first + block, mdp.n_states)))
            for first in range(0, mdp.n_states, block)
        ]
        joined = np.concatenate(parts)
        joined.setflags(write=False)  # what is played must be what was computed
        return joined

    def evaluate(
        self,
        episodes: int = 1000,
        *,
        seed: int = 0,
        max_steps: int | None = None,
        listener: Listener | None = None,
    ) -> Evaluation:
        """Play episodes from random starts, and compare with the optimum of the task.

        In a finite world the optimum is exact, and by default only episodes that might never end
        are cut off.  Agents that were planned for a horizon are not played: all figures are exact
        expectations of episodes of that length (`Evaluation.exact`).  `note` says why the agent
        may not end in desired goals (`Task.remarks`).  In an open world the agent plays in
        `skills.env`; the optimum is known if that environment reports it, and episodes are cut
        off at its limit.

        Args:
            episodes: how many.
            seed: equal seeds play equal episodes.
            max_steps: an episode is cut off after this many steps.
            listener: receives progress; by default a terminal or the log shows it.
        """
        seed = checked_seed(seed)
        require_listener(listener)
        with Meter("playing", shown=listener is None) as meter:
            told = listener or meter
            if isinstance(self.policy, TimedPolicy):
                found = expected(
                    self.task, self.policy, episodes=episodes, max_steps=max_steps, listener=told
                )
                line = "" if max_steps else line_within(self.task, self.policy)
                return replace(found, certificate=line)
            if not self.task.space.finite or type(self.policy).reset is not Policy.reset:
                return self._play(episodes, seed, max_steps, told)
            return in_tables(self, episodes, seed, max_steps, told)

    def _play(
        self, episodes: int, seed: int, max_steps: int | None, listener: Listener
    ) -> Evaluation:
        env = self._world()
        if max_steps is None:
            max_steps = env.max_episode_steps or MAX_EPISODE_STEPS
        copies = env.vector(min(count(episodes, "episodes"), env.max_copies), task=self.task)
        try:
            return play(
                self.task,
                copies,
                self.policy,
                episodes=episodes,
                max_steps=max_steps,
                seed=seed,
                listener=listener,
            )
        finally:
            copies.close()

    def evaluate_continuing(
        self,
        episodes: int = 1000,
        *,
        steps: int = 50,
        avoid: Task | Expression | str | None = None,
        seed: int = 0,
        listener: Listener | None = None,
    ) -> ContinuingEvaluation:
        """Play the task again and again: after a goal the episode goes on.

        An episode is worth what its steps pay, and what the task pays for every wanted goal that
        it enters.  Other goals pay nothing.

        Args:
            episodes: how many.
            steps: of an episode.
            avoid: a task of the environment, or an expression over its named tasks; an episode ends
                in the goals that it desires.  The agent is not told.
            seed: equal seeds play equal episodes.
            listener: receives progress; by default a terminal or the log shows it.

        Raises:
            TypeError: episodes of this environment cannot outlive a goal.
        """
        return play_continuing(
            self._world(),
            self.task,
            self.policy,
            episodes,
            steps=steps,
            avoid=avoid,
            seed=seed,
            listener=listener,
        )

    def play(
        self,
        env: Any = None,
        episodes: int = 1,
        *,
        render: str | bool | None = None,
        seed: int = 0,
        max_steps: int | None = None,
        listener: Listener | None = None,
    ) -> Evaluation:
        """Play episodes in a real environment, and summarise them.

        Args:
            env: the environment, one or a vector, such as `gymnasium.make(...)`, with any wrappers,
                such as `RecordVideo`; it is not closed.  By default one is made.
            episodes: how many.
            render: the render mode of the one that is made; True for "human", a window.
            seed: equal seeds play equal episodes.
            max_steps: an episode is cut off after this many steps; by default after those of the
                world.
            listener: receives progress; by default a terminal or the log shows it.
        """
        return play_in(
            self._world(),
            env,
            self.task,
            self.policy,
            episodes,
            render=render,
            seed=seed,
            max_steps=max_steps,
            listener=listener,
        )

    def _world(self) -> GoalEnv:
        if self.skills.env is None and self.task.space.finite:
            return env_of(self.task.space)
        if self.skills.env is None:
            raise ValueError(
                "these skills belong to an open world but have no environment to play in; give "
                "one: load(path, env=...)"
            )
        return self.skills.env

    def certificate(
        self, *, exact: bool = True, episodes: int | None = None, seed: int = 0
    ) -> Certificate:
        """How good the agent is: what it loses, and which assumption is to blame.

        In a finite world all is exact: what the agent earns from every start, a bound on what it
        loses that needs no planning, and the loss.  In an open one it plays beside the best known:
        the optimum, if the environment tells it, or agents that go for one wanted goal each.
        Optimal means without a limit of steps, or within the horizon.

        Args:
            exact: whether to plan the optimum where the bound leaves a loss possible.
            episodes: to play in an open world, by default 200; a finite one needs none.
            seed: of these.
        """
        flag(exact, "exact")
        family, task = self.skills.family, self.task
        found = findings_of(task, family)
        method = "composed by Definition 4"
        method = f"composed, then improved {self.improvement}" if self.improvement else method
        if not task.space.finite:
            seen = compared(task, family, self._world(), self.policy, episodes, seed)
            return Certificate(found, method, played=seen)
        refuse_episodes(episodes)
        if isinstance(self.policy, TimedPolicy):
            method += f", within {self.policy.horizon} steps"
            return Certificate(found, method, loss_within(task, self.policy))
        blank = Certificate(found, method, note=limit_note(task))
        return with_loss(blank, lambda: loss_of_task(task, self.actions, exact=exact))

    def improve(
        self,
        *,
        gap: float = 0.0,
        rounds: int | None = None,
        episodes: int | None = None,
        seed: int = 0,
        listener: Listener | None = None,
    ) -> Agent:
        """The optimal agent of the task, from this one; `agent.improvement` says what it took.

        In a finite world by policy iteration: a round takes in every state the action that gains
        most, until none gains, which proves the policy optimal.  An agent that was planned for a
        horizon is improved by backward induction.  With `episodes` the agent plays the task and
        learns from it, beginning with its composed values, in any world.

        Args:
            gap: how far from the optimum the agent may stay, from any start.
            rounds: the most rounds.
            episodes: to learn from, in place of planning.
            seed: of these.
            listener: receives progress of learning; by default a terminal or the log shows it.

        Raises:
            TypeError: the world is open, and `episodes` is not given.
        """
        if episodes is None:
            if not self.task.space.finite:
                raise TypeError("an open world has no states to plan with; give episodes=...")
            better = improve_task(
                self.task, self.policy, self.actions, self.v, gap=gap, rounds=rounds
            )
            return Agent(self.skills, self.expression, self.task, self.values, better)
        if gap or rounds is not None:
            raise ValueError("gap and rounds are for planning; give episodes without them")
        learned = improve_by_playing(
            self._world(), self.task, self.policy, self.values, episodes, seed, listener
        )
        return Agent(self.skills, self.expression, self.task, self.values, learned)

    def __and__(self, other: BooleanElement) -> Agent:
        """The agent for both tasks."""
        return self._apply(and_, other)

    def __or__(self, other: BooleanElement) -> Agent:
        """The agent for either task."""
        return self._apply(or_, other)

    def __xor__(self, other: BooleanElement) -> Agent:
        """The agent for exactly one of the tasks."""
        return self._apply(xor, other)

    def __invert__(self) -> Agent:
        """The agent for everything else."""
        return self._apply(invert)

    def _apply(self, operation: Callable[..., Any], *others: BooleanElement) -> Agent:
        """Apply one operator to the expressions and the values; the expression gives the task."""
        agents = [self]
        for other in others:
            if not isinstance(other, Agent):
                raise TypeError(f"cannot compose an agent with {other!r}")
            if other.skills is not self.skills:
                raise ValueError("these agents come from different skills; compose agents of one")
            agents.append(other)
        if any(agent.improvement is not None for agent in agents):
            raise ValueError("an improved agent has one task: compose first, then improve")
        expression = operation(*(agent.expression for agent in agents))
        return Agent(
            self.skills,
            expression,
            self.skills.task_of(expression),
            operation(*(agent.values for agent in agents)),
        )

    def __repr__(self) -> str:
        """The expression and its desired goals."""
        return f"Agent({str(self.expression)!r}, {self.task!r})"
