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
from taskalgebra.drawing.terminal import picture, print_picture
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.envs.registry import env_of
from taskalgebra.evaluation.continuing import ContinuingEvaluation, play_on
from taskalgebra.evaluation.exact import rollouts
from taskalgebra.evaluation.horizon import expected
from taskalgebra.evaluation.record import Evaluation
from taskalgebra.evaluation.rollout import play
from taskalgebra.logic.algebra import BooleanElement
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.exact import optimal_v
from taskalgebra.planning.horizon import HorizonPolicy
from taskalgebra.progress import Listener, Meter, require_listener
from taskalgebra.theory.certificate import Certificate, exact_values, not_known
from taskalgebra.theory.family import Family
from taskalgebra.theory.findings import LIMIT
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv
from taskalgebra.theory.policy import Policy
from taskalgebra.theory.rewards import recover_v
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import ExtendedQ
from taskalgebra.validation import checked_seed, count, listed


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
class Agent(BooleanElement):
    """An agent that acts greedily on an extended value function."""

    def __init__(
        self, skills: Source, expression: Expression, task: Task, values: ExtendedQ
    ) -> None:
        """Keep a task, its values, and the skills that they came from."""
        self.skills = skills
        self.expression = expression
        self.task = task
        self.values = values
        self.policy = skills.family.policy(values)

    def act(self, observations: Any, env: Any = None) -> Any:
        """The environment's own action for one observation, or the actions for a batch of them.

        Args:
            observations: the environment's own.
            env: the environment, where the world looks at more than observations.
        """
        world = self.skills.env
        if world is None:
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
        """[S], V(s) = max_{g,a} Q̄(s, g, a)  (Lemma 1)."""
        self._require_states("v")
        return self._over_states(lambda states: recover_v(self.values.q_bar(states)))

    def _require_states(self, what: str) -> None:
        """Reject what needs a list of all states, in an open world."""
        if not self.task.space.finite:
            raise TypeError(
                f"agent.{what} needs all states of a finite world; this agent acts in an open "
                f"one, known only by playing it: use agent.act(observation) or agent.evaluate()"
            )

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
            if isinstance(self.policy, HorizonPolicy):
                return expected(
                    self.task,
                    self.policy,
                    episodes=episodes,
                    max_steps=max_steps,
                    listener=told,
                )
            if not self.task.space.finite or type(self.policy).reset is not Policy.reset:
                return self._play(episodes, seed, max_steps, told)
            found = rollouts(
                self.task,
                self.actions,
                optimal_v(self.task),
                episodes=episodes,
                rng=np.random.default_rng(seed),
                max_steps=max_steps,
                listener=told,
            )
        notes = self.task.remarks()
        if not notes and found.success_rate < 1.0 and self.task.wanted.any():
            worth = self.task.worth_the_way()
            if not worth.examined:
                notes = [f"whether wanted goals are worth the way is {worth.detail}"]
        return replace(found, note="; ".join(filter(None, [*notes, found.note])))

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
        seed = checked_seed(seed)
        require_listener(listener)
        env = self._world()
        avoided = None if avoid is None else env.find_task(avoid).desired
        copies = env.continuing(min(count(episodes, "episodes"), env.max_copies))
        try:
            with Meter("playing", shown=listener is None) as meter:
                return play_on(
                    self.task,
                    copies,
                    self.policy,
                    episodes=episodes,
                    steps=steps,
                    avoided=avoided,
                    seed=seed,
                    listener=listener or meter,
                )
        finally:
            copies.close()

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
        seed = checked_seed(seed)
        require_listener(listener)
        world = self._world()
        limit = world.max_episode_steps
        if limit is None and world.space.finite:
            limit = world.space.mdp.max_episode_steps
        if max_steps is not None:
            max_steps = count(max_steps, "max_steps")
        made = None
        if env is None:
            mode = "human" if render is True else (render or None)
            if not (mode is None or isinstance(mode, str)):
                raise TypeError(f"render is {render!r}, expected a mode, or True for 'human'")
            made = env = world.make(**({} if mode is None else {"render_mode": mode}))
            modes = list(env.metadata.get("render_modes") or [])
            if mode is not None and mode not in modes:
                env.close()
                raise ValueError(
                    f"render is {render!r}, but this environment has the render modes "
                    f"{listed(modes) or 'none'}"
                )
        elif render:
            raise ValueError(
                "render is for an environment that is made here; make yours with "
                "gymnasium.make(..., render_mode=...)"
            )
        own = isinstance(getattr(env, "unwrapped", None), FiniteEnv)
        if limit is not None and own:
            limit += 1  # the action that a table's goal pays for
        if max_steps is None:
            max_steps = limit or MAX_EPISODE_STEPS
        if isinstance(self.policy, HorizonPolicy):
            max_steps = min(max_steps, self.policy.horizon + own)
        try:
            copies = world.attach(env, task=self.task)
            with Meter("playing", shown=listener is None) as meter:
                return play(
                    self.task,
                    copies,
                    self.policy,
                    episodes=episodes,
                    max_steps=max_steps,
                    seed=seed,
                    listener=listener or meter,
                )
        finally:
            if made is not None:
                made.close()

    def _world(self) -> GoalEnv:
        if self.skills.env is None and self.task.space.finite:
            return env_of(self.task.space)
        if self.skills.env is None:
            raise ValueError(
                "these skills belong to an open world but have no environment to play in; give "
                "one: load(path, env=...)"
            )
        return self.skills.env

    def picture(self, *, colour: bool = False) -> str:
        """Values and actions on the map, as text."""
        self._require_states("picture()")
        return picture(self.task, self.v, self.actions, colour=colour)

    def show(self) -> None:
        """Print the picture, in colour if the output is a terminal."""
        self._require_states("show()")
        print_picture(str(self.expression), lambda colour: self.picture(colour=colour))

    def certificate(self) -> Certificate:
        """Whether the agent is known to be optimal: by Theorem 3 and Lemma 1, on exact values.

        Optimal means without a limit of steps or, if it was planned for one, within the horizon.
        """
        space, error, env = self.task.space, self.skills.family.error_bound, self.skills.env
        if space.finite:
            tasks = [*self.skills.family.tasks.values(), self.task]
            found = tuple(f for f in space.check(tasks).for_optimality if f.name != LIMIT)
        else:
            found = (not_known("deterministic", "Assumption 1(ii)"),)
        within = ""
        if isinstance(self.policy, HorizonPolicy):
            within = f", within {self.policy.horizon} steps"
        values = exact_values(error, 0.0 if env is None else env.row_error)
        return Certificate((*found, values), f"composed by Definition 4{within}")

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
