"""Lifelong learning: compose a task that arrives if what is known suffices, else learn it.

This is SOPGOL (Nangue Tasse, James and Rosman, ICLR 2022; `theory.lifelong_bounds`):

    life = lifelong(FourRooms(40))
    agent = life.meet(task).agent       # learned, the first time
    agent = life.meet(another).agent    # composed, if an expression over the tasks learned gives it
    life.skills.save("skills")

Whether an expression gives a task is asked of `theory.inference`.  A task is learned at most |𝒢|
times, whatever tasks arrive, and at least ⌈log₂ |𝒢|⌉ times before all tasks can be composed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.content import ByContent
from taskalgebra.envs.registry import env_of
from taskalgebra.learning.learner import Learner
from taskalgebra.logic.expression import Expression, Name
from taskalgebra.planning.horizon import HorizonFamily
from taskalgebra.progress import Event, Listener, require_listener, silent
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.making import Playable, default_learner, environment, learn, sayable
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.base_tasks import goals_by_label
from taskalgebra.theory.family import Family, TableFamily
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.inference import Inference, Observed, infer
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import checked_seed, flag, listed


@runtime_checkable
class Extending(Protocol):
    """A learner that can add one task to tables that it has learned."""

    def extend(
        self,
        env: GoalEnv,
        family: TableFamily,
        name: str,
        task: Task,
        *,
        start: Array | None,
        seed: int,
        listener: Listener,
    ) -> TableFamily:
        """Learn one more task and return the values of all.

        Args:
            env: where to learn.
            family: the values so far.
            name: of the new task.
            task: the new task.
            start: a table to start from, `[S, G, A]`; by default zeros.
            seed: equal seeds learn equal values.
            listener: receives progress.
        """


@final
@dataclass(frozen=True, eq=False)
class Met(ByContent):
    """A task that arrived, and what became of it."""

    agent: Agent
    """It does the task."""
    expression: Expression
    """The task as an expression over the tasks learned so far."""
    learned: str | None
    """The name of the base task that was learned for it; None if the agent was composed at once."""
    steps: int
    """Steps of the environment that learning took; 0 for a composed agent, and for planning."""
    inference: Inference | None
    """What was known of the task when it arrived; None for the first one."""
    guessed: tuple[str, ...] = ()
    """Goals that were not seen, so that what the agent takes them to pay is a guess."""

    @property
    def composed(self) -> bool:
        """Whether nothing was learned."""
        return self.learned is None

    def __str__(self) -> str:
        """One line."""
        guess = f"; guessed, as not seen: {listed(self.guessed)}" if self.guessed else ""
        if self.learned is None:
            return f"composed: {self.expression}{guess}"
        return f"learned {self.learned}, {self.steps:,} steps: {self.expression}{guess}"


def lifelong(
    world: Playable | Skills,
    *,
    learner: Learner | None = None,
    most_useful: bool = False,
    from_guess: bool = False,
    seed: int = 0,
    listener: Listener | None = None,
) -> Lifelong:
    """Begin to receive tasks of a world, one after another; see `Lifelong`.

    Args:
        world: as for `learn`; or skills, whose base tasks are then known from the beginning.  Not
            skills for a horizon, to which no task can be added.
        learner: of new base tasks, as for `learn`; `Planner()` plans them.
        most_useful: learn the base task that tells most goals apart (`Inference.new_task`) rather
            than the task that arrived.  Fewer tasks are then learned in the end.
        from_guess: start learning from the values of the nearest task that can be composed, rather
            than from nothing; for learners of tables, such as `QLearning` in a finite world.
        seed: equal seeds learn equal values.
        listener: receives progress of learning.
    """
    return Lifelong(
        world,
        learner=learner,
        most_useful=most_useful,
        from_guess=from_guess,
        seed=seed,
        listener=listener,
    )


@final
class Lifelong:
    """Receives tasks one after another, and composes or learns each; see `lifelong`."""

    def __init__(
        self,
        world: Playable | Skills,
        *,
        learner: Learner | None = None,
        most_useful: bool = False,
        from_guess: bool = False,
        seed: int = 0,
        listener: Listener | None = None,
    ) -> None:
        """Take the world, or what is known of it."""
        self._skills: Skills | None = None
        if isinstance(world, Skills):
            _require_no_horizon(world)
            self._skills, self.env = world, world.env or env_of(world.space)
        else:
            self.env = environment(world, "learn")
        self.space = self.env.space
        self.learner = _learner(learner, self.env)
        self.most_useful = flag(most_useful, "most_useful")
        self.from_guess = flag(from_guess, "from_guess")
        if self.from_guess and not isinstance(self.learner, Extending):
            raise ValueError(
                f"{self.learner!r} cannot start from a guess: it has no method extend; use "
                f"QLearning() in a finite world, or from_guess=False"
            )
        self.seed = checked_seed(seed)
        require_listener(listener)
        self._listener = listener or silent
        self._met: list[Met] = []

    @property
    def skills(self) -> Skills:
        """All that was learned: skills like any others.

        Raises:
            ValueError: no task has arrived yet.
        """
        if self._skills is None:
            raise ValueError("nothing is known yet: no task has arrived; call meet(task)")
        return self._skills

    @property
    def history(self) -> tuple[Met, ...]:
        """The tasks that arrived, in their order."""
        return tuple(self._met)

    @property
    def n_learned(self) -> int:
        """How many of them were learned."""
        return sum(not met.composed for met in self._met)

    def meet(self, observed: Observed, name: str | None = None) -> Met:
        """Answer a task with an agent: composed if the known tasks suffice, else learned.

        Args:
            observed: a `Task`, or what some goals pay, as for `infer`.  Of goals that were not seen
                the shortest expression that agrees decides.  If there is none, they are as a goal
                seen that all known tasks treat alike, or not desired; those of the first task are
                not desired.  `Met.guessed` names them.
            name: of the base task, if one is learned; by default `task` and a number.

        Raises:
            ValueError: as `infer` and `learn` do; the name is taken; or nothing was seen of the
                first task.
        """
        if isinstance(observed, Task) and observed.space != self.space:
            raise ValueError(
                f"{observed!r} belongs to another task space than this Lifelong; make the task "
                f"with its own: life.space.task(...)"
            )
        name = self._free(name)
        known = None if self._skills is None else infer(observed, self._skills)
        if known is not None and known.expression is not None and known.expression in self.skills:
            agent, guessed = self.skills.for_task(known.expression), self._unseen(known)
            met = Met(agent, known.expression, None, 0, known, guessed)
        else:
            met = self._learned(observed, known, name)
        self._met.append(met)
        return met

    def _free(self, name: str | None) -> str:
        """A name for a new base task."""
        taken = () if self._skills is None else self._skills.tasks
        if name is None:
            number = len(taken) + 1
            while f"task{number}" in taken:
                number += 1
            return f"task{number}"
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a task must be a non-empty string, got {name!r}")
        if name in taken:
            raise ValueError(f"a task {name!r} is known already; give another name")
        return sayable(name)

    def _learned(self, observed: Observed, known: Inference | None, name: str) -> Met:
        """Learn a base task for what was seen."""
        asked = known or infer(observed, {"all": self.space.universal})
        itself = asked.itself if known else self._first(observed, asked)
        task = itself
        if self.most_useful and asked.new_task is not None:
            task = asked.new_task
        steps = _Steps(self._listener)
        self._skills = self._with(name, task, steps)
        if task is itself:
            expression: Expression = Name(name)
        else:
            found = infer(observed, self._skills).expression
            assert found is not None  # one more base task always suffices
            expression = found
        agent, guessed = self._skills.for_task(expression), self._unseen(asked)
        return Met(agent, expression, name, steps.total, known, guessed)

    def _first(self, observed: Observed, asked: Inference) -> Task:
        """The first task: it desires what was seen to be desired, and no other goal."""
        if not asked.seen and not isinstance(observed, Task):
            raise ValueError(
                f"nothing was seen of the first task, got {observed!r}; give what at least one "
                f"goal pays, such as {{{self.space.goal_names[0]!r}: True}}, or a Task"
            )
        return self.space.from_desired([asked.seen.get(g, False) for g in self.space.goal_names])

    def _unseen(self, asked: Inference) -> tuple[str, ...]:
        """The goals that tasks may want and that were not seen."""
        wantable = zip(self.space.goal_names, self.space.wantable, strict=True)
        return tuple(goal for goal, may in wantable if may and goal not in asked.seen)

    def _with(self, name: str, task: Task, listener: Listener) -> Skills:
        """What is known, and one more base task."""
        seed = self.seed + len(self._met)
        family = None if self._skills is None else self._skills.family
        tables = _numbered(family)
        if tables is not None and isinstance(self.learner, Extending):
            start = self._guess(task) if self.from_guess else None
            grown: Family = self.learner.extend(
                self.env, tables, name, task, start=start, seed=seed, listener=listener
            )
            return Skills(grown, self.env)
        old = {} if tables is not None or family is None else dict(family.tasks)
        made = learn(
            self.env, {**old, name: task}, learner=self.learner, seed=seed, listener=listener
        )
        return made if tables is None else Skills(_joined(tables, made.family), self.env)

    def _guess(self, task: Task) -> Array:
        """The values of a task that can be composed and differs in the fewest goals."""
        skills, desired = self.skills, task.desired
        nearest = np.zeros(self.space.n_goals, np.bool_)
        for goals in goals_by_label(skills.tasks).values():
            nearest[goals] = 2 * desired[goals].sum() > len(goals)
        guess = skills.for_task(self.space.from_desired(nearest))
        return guess.q_bar(np.arange(self.space.mdp.n_states))

    def __repr__(self) -> str:
        """How many tasks arrived, and the names of those that were learned."""
        names = [] if self._skills is None else list(self._skills)
        return f"Lifelong({len(self._met)} tasks met, known: {listed(names) or 'nothing'})"


@final
class _Steps:
    """A listener that adds up the steps of all tables or networks, and passes events on."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.of: dict[str, int] = {}

    def __call__(self, event: Event) -> None:
        self.of[event.what] = max(self.of.get(event.what, 0), event.n_steps)
        self.listener(event)

    @property
    def total(self) -> int:
        return sum(self.of.values())


def _learner(given: Learner | None, env: GoalEnv) -> Learner:
    """The learner, or the one that `learn` takes by default."""
    if given is None:
        return env.learner or default_learner(env)
    if isinstance(given, type) or not isinstance(given, Learner):
        raise TypeError(
            f"learner must be an object with a method learn(env, tasks, *, seed, folder, "
            f"listener), such as QLearning() or Planner(), got {given!r}"
        )
    return given


def _require_no_horizon(skills: Skills) -> None:
    """Refuse skills for a horizon: new tasks would be learned without it."""
    if isinstance(skills.family, HorizonFamily):
        raise ValueError(
            f"these skills were planned for a horizon of {skills.family.horizon} steps, and no "
            f"task can be added to them; plan all tasks anew with solve(world, tasks, horizon="
            f"{skills.family.horizon}), or start from skills without a horizon"
        )


def _numbered(family: Family | None) -> TableFamily | None:
    """The family, if it is one of tables for numbered states: these can be added to."""
    tables = isinstance(family, TableFamily) and family.bounds.numbering is None
    return family if tables else None  # type: ignore[return-value]


def _joined(family: TableFamily, more: Family) -> TableFamily:
    """Tables of one world in one family, with the bounds of the first."""
    if not isinstance(more, TableFamily) or more.r_bar_min != family.r_bar_min:
        raise TypeError(
            f"the learner made {more!r}, which does not compose with tables of the penalty "
            f"{family.r_bar_min:g}; use the learner of the first task for all"
        )
    return family.and_more(more.tasks, [q.table for q in more.values], more.error_bound)
