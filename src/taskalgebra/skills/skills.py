"""Skills: solve or learn a few base tasks, then ask for any expression over them.

    env = FourRooms()
    skills = solve(env, ["top", "left"])
    agent = skills["top ^ left"]          # composed, not planned or learned
    agent.evaluate(episodes=1000, seed=0)

An agent asked for by expression, by `Task`, or built with operators from other agents is the same
agent: it takes the same actions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from operator import and_, invert, or_, xor
from os import environ
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra import files
from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.drawing.terminal import picture
from taskalgebra.evaluation.exact import rollouts
from taskalgebra.evaluation.horizon import expected
from taskalgebra.evaluation.record import Evaluation
from taskalgebra.evaluation.rollout import play
from taskalgebra.folder import StoreError
from taskalgebra.logic.algebra import BooleanElement
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import all_functions, parse
from taskalgebra.planning.exact import optimal_v
from taskalgebra.planning.horizon import HorizonPolicy
from taskalgebra.progress import Listener, Meter, require_listener
from taskalgebra.signs import shown_in
from taskalgebra.skills import store
from taskalgebra.theory.base_tasks import expression_of, n_expressible
from taskalgebra.theory.family import Family
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv
from taskalgebra.theory.policy import Policy
from taskalgebra.theory.rewards import recover_v
from taskalgebra.theory.tables import compose_values
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import ExtendedQ, GoalSetQ
from taskalgebra.validation import checked_seed, count, listed

MAX_COPIES = 256
"""The most copies of an environment in one evaluation."""


@final
class Skills(Mapping[str, "Agent"]):
    """Extended value functions of some base tasks; `skills[expression]` is an agent.

    As a mapping it iterates over the base tasks; any expression over them is a valid key.

    Args:
        family: the values of the base tasks.
        env: where agents act and are evaluated; finite worlds do not need one.
    """

    def __init__(self, family: Family, env: GoalEnv | None = None) -> None:
        """Take the values and the environment."""
        if not isinstance(family, Family):
            raise TypeError(f"skills must be made from a Family of values, got {family!r}")
        if env is not None and env.space is not family.space:
            raise ValueError("the values belong to another task space than the environment")
        self.family, self.env = family, env
        self.space = family.space
        self._tasks = dict(family.tasks)
        self._values = family.named
        self._met: BoolArray = np.any(family.met, axis=0)

    @property
    def tasks(self) -> dict[str, Task]:
        """The base tasks by name: a copy, so that the skills keep theirs."""
        return dict(self._tasks)

    def __getitem__(self, key: str | Expression | Task) -> Agent:
        """The agent for an expression over the base tasks, or for a task they can express."""
        expression = self._expression(key)
        values = compose_values(expression, self._values, self.family.bounds)
        return Agent(self, expression, self._task(expression), values)

    def by_goal_set(self, key: str | Expression | Task) -> Agent:
        """The same task through goal sets: only Q̄_U and Q̄_∅ are read, by one masked maximum.

        Under Assumptions 1 and 2 this is the agent of `skills[key]`.
        """
        expression = self._expression(key)
        task = self._task(expression)
        return Agent(self, expression, task, GoalSetQ.of(task, self.family.bounds))

    @property
    def n_expressible(self) -> int:
        """How many different tasks the base tasks can express and solve."""
        if self.can_negate:
            return n_expressible(self._tasks, self._met)
        found = [self[each].task for each in all_functions(list(self._tasks)) if each in self]
        return len({task.goal_reward.tobytes() for task in found})

    @property
    def can_negate(self) -> bool:
        """Whether `~` and `^` have a meaning."""
        return self.family.can_negate

    def save(self, path: str | Path) -> None:
        """Write the skills to a directory; readers never see half-written skills.

        Skills of the same kind that are there are replaced; nothing else is.

        Raises:
            StoreError: the directory holds other things or cannot be written to, or there is no
                room; what was there is as it was.
        """
        if not str(path):
            raise StoreError("the path is empty; give a directory to save the skills in")
        store.write(files.at(path), self.family, self.env)

    def _expression(self, key: str | Expression | Task) -> Expression:
        if isinstance(key, Task):
            return expression_of(key, self._tasks)
        if isinstance(key, str):
            return parse(key, self._tasks)
        if isinstance(key, Expression):
            return key
        raise TypeError(f"expected an expression or a Task, got {key!r}")

    def _task(self, expression: Expression) -> Task:
        if self.env is not None:
            task = self.env.compose(expression, self._tasks)
        else:
            space = self.space
            task = expression.evaluate(self._tasks, universal=space.universal, empty=space.empty)
        self._check_negation(expression)
        self._check_met(expression, task)
        return task

    def _check_met(self, expression: Expression, task: Task) -> None:
        """Reject tasks that desire only goals to which no base task knows a way."""
        met = self._met
        if met.all() or not task.desired.any() or task.desired[met].any():
            return
        names = [self.space.goal_names[goal] for goal in np.flatnonzero(task.desired)]
        raise ValueError(
            f"{expression} desires only {listed(names)}, which no base task met in learning, so "
            f"that no values know a way there; learn a base task that desires it as well, or "
            f"desire one of the goals that were met: "
            f"{listed([self.space.goal_names[goal] for goal in np.flatnonzero(met)])}"
        )

    def _check_negation(self, expression: Expression) -> None:
        """Reject negations that would mean something else."""
        if self.can_negate:
            return
        if {"not", "xor"} & {kind for kind, _, _ in expression.steps_over(self._tasks)}:
            raise ValueError(
                f"{expression} needs a negation, but these base tasks end in different goals: ~ is "
                f"then taken between the largest and the smallest of their values, so with two "
                f"tasks ~a is b; learn at least three, with each goal desired by one of them"
            )

    def __contains__(self, key: object) -> bool:
        """Whether `skills[key]` is an agent: an expression or a task over the base tasks."""
        if not isinstance(key, str | Expression | Task):
            return False
        try:
            self._task(self._expression(key))
        except ValueError:
            return False
        return True

    def get(self, key: Any, default: Any = None) -> Any:
        """The agent, or the default where `skills[key]` would raise."""
        return self[key] if key in self else default

    def __iter__(self) -> Iterator[str]:
        """The names of the base tasks."""
        return iter(self._tasks)

    def __len__(self) -> int:
        """The number of base tasks."""
        return len(self._tasks)

    def __repr__(self) -> str:
        """The names of the base tasks and the world."""
        return f"Skills({listed(list(self._tasks))}) of {self.space.world!r}"


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

    def reset(self, begins: ArrayLike = (True,)) -> None:
        """Episodes begin in these places of a batch: forget what was kept in mind, if anything."""
        self.policy.reset(np.asarray(begins, np.bool_))

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
        env = self.skills.env
        if env is None:
            raise ValueError(
                "these skills belong to an open world but have no environment to play in; give "
                "one: load(path, env=...)"
            )
        if max_steps is None:
            max_steps = env.max_episode_steps or MAX_EPISODE_STEPS
        copies = env.vector(min(count(episodes, "episodes"), MAX_COPIES), task=self.task)
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

    def picture(self, *, colour: bool = False) -> str:
        """Values and actions on the map, as text."""
        self._require_states("picture()")
        return picture(self.task, self.v, self.actions, colour=colour)

    def show(self) -> None:
        """Print the picture, in colour if the output is a terminal."""
        self._require_states("show()")
        colour = sys.stdout.isatty() and "NO_COLOR" not in environ
        text = f"{self.expression}\n{self.picture(colour=colour)}"
        print(shown_in(text, sys.stdout.encoding))

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
