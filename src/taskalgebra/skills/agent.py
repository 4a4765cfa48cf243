"""An agent: a task, its values, and how to act on them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from operator import and_, invert, or_, xor
from os import environ
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, LongArray
from taskalgebra.drawing.terminal import picture
from taskalgebra.evaluation.exact import rollouts
from taskalgebra.evaluation.record import Evaluation
from taskalgebra.evaluation.rollout import play
from taskalgebra.logic.algebra import BooleanElement
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.exact import optimal_v
from taskalgebra.theory.rewards import recover_v
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import ExtendedQ
from taskalgebra.validation import count

if TYPE_CHECKING:
    from taskalgebra.skills.skills import Skills

MAX_COPIES = 256
"""The most copies of an environment in one evaluation."""
MAX_STEPS = 1_000
"""The most steps of an episode in an evaluation, if the environment has no limit."""


@final
class Agent(BooleanElement):
    """An agent that acts greedily on an extended value function."""

    def __init__(
        self, skills: Skills, expression: Expression, task: Task, values: ExtendedQ
    ) -> None:
        """Keep a task, its values, and the skills that they came from."""
        self.skills = skills
        self.expression = expression
        self.task = task
        self.values = values
        self.policy = skills.family.policy(values)

    def act(self, observations: ArrayLike) -> Any:
        """The action for one observation, or the actions for a batch of them."""
        return self.policy.act(observations)

    def q_bar(self, observations: ArrayLike) -> Array:
        """Q̄ for a batch of observations, `[B, G, A]`."""
        return self.values.q_bar(observations)

    @cached_property
    def actions(self) -> LongArray:
        """[S], the action in every state of a finite world."""
        self._require_states("actions")
        return self._over_states(self.policy.actions).astype(np.int64)

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

    def _over_states(self, function: Callable[[LongArray], NDArray[Any]]) -> Array:
        mdp = self.task.space.mdp
        block = max(1, 2**22 // (mdp.n_goals * mdp.n_actions))
        parts = [
            function(np.arange(first, min(first + block, mdp.n_states)))
            for first in range(0, mdp.n_states, block)
        ]
        return np.concatenate(parts)

    def evaluate(
        self, episodes: int = 1000, *, seed: int = 0, max_steps: int | None = None
    ) -> Evaluation:
        """Play episodes from random starts, and compare with the optimum of the task.

        In a finite world the optimum is exact, and by default only episodes that might never end
        are cut off.  In an open world the agent plays in `skills.env`; the optimum is known if that
        environment reports it, and episodes are cut off at its limit.
        """
        if not self.task.space.finite:
            return self._play(episodes, seed, max_steps)
        return rollouts(
            self.task,
            self.actions,
            optimal_v(self.task),
            episodes=episodes,
            rng=np.random.default_rng(count(seed, "seed", least=0)),
            max_steps=max_steps,
        )

    def _play(self, episodes: int, seed: int, max_steps: int | None) -> Evaluation:
        env = self.skills.env
        if env is None:
            raise ValueError(
                "these skills belong to an open world but have no environment to play in; give "
                "one: load(path, env=...)"
            )
        seed = count(seed, "seed", least=0)
        if max_steps is None:
            max_steps = env.max_episode_steps or MAX_STEPS
        copies = env.vector(min(count(episodes, "episodes"), MAX_COPIES), task=self.task)
        try:
            return play(
                self.task, copies, self.policy, episodes=episodes, max_steps=max_steps, seed=seed
            )
        finally:
            copies.close()

    def picture(self, *, colour: bool = False) -> str:
        """Values and actions on the map, as text."""
        self._require_states("picture()")
        return picture(self.task, self.v, self.actions, colour=colour)

    def show(self) -> None:
        """Print the picture, in colour if the output is a terminal."""
        self._require_states("show()")
        colour = sys.stdout.isatty() and "NO_COLOR" not in environ
        print(f"{self.expression}\n{self.picture(colour=colour)}")

    def __and__(self, other: Agent) -> Agent:
        """The agent for both tasks."""
        return self._apply(and_, other)

    def __or__(self, other: Agent) -> Agent:
        """The agent for either task."""
        return self._apply(or_, other)

    def __xor__(self, other: Agent) -> Agent:
        """The agent for exactly one of the tasks."""
        return self._apply(xor, other)

    def __invert__(self) -> Agent:
        """The agent for everything else."""
        return self._apply(invert)

    def _apply(self, operation: Callable[..., Any], *others: Agent) -> Agent:
        """Apply one operator to the expressions and the values; the expression gives the task."""
        for other in others:
            if not isinstance(other, Agent):
                raise TypeError(f"cannot compose an agent with {other!r}")
            if other.skills is not self.skills:
                raise ValueError("these agents come from different skills; compose agents of one")
        agents = (self, *others)
        expression = operation(*(agent.expression for agent in agents))
        return Agent(
            self.skills,
            expression,
            self.skills._task(expression),
            operation(*(agent.values for agent in agents)),
        )

    def __repr__(self) -> str:
        """The expression and its desired goals."""
        return f"Agent({str(self.expression)!r}, {self.task!r})"
