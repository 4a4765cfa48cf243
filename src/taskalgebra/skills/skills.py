"""Skills: solve or learn a few base tasks, then ask for any expression over them.

    env = FourRooms()
    skills = solve(env, ["top", "left"])
    agent = skills["top ^ left"]          # composed, not planned or learned
    agent.evaluate(episodes=1000, seed=0)

An agent asked for by expression, by `Task`, or built with operators from other agents is the same
agent: it takes the same actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Any, final, overload

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra import files
from taskalgebra.arrays import BoolArray, LongArray
from taskalgebra.content import ByContent, State
from taskalgebra.folder import StoreError
from taskalgebra.logic.expression import FALSE, TRUE, Expression, Name
from taskalgebra.logic.formulas import all_functions, parse
from taskalgebra.logic.temporal import Eventually, Until
from taskalgebra.logic.text import known_names
from taskalgebra.planning.brackets import Bracket
from taskalgebra.planning.horizon import HorizonFamily
from taskalgebra.skills import store
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.many import act_many
from taskalgebra.skills.plans import Plan, parsed, planned, sparing
from taskalgebra.skills.shown.skills import ShownSkills
from taskalgebra.skills.temporal import TemporalAgent
from taskalgebra.skills.ways import Ways
from taskalgebra.theory.base_tasks import as_sum, expression_of, in_short, n_expressible
from taskalgebra.theory.family import Family
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.tables import compose_values
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import GoalSetQ
from taskalgebra.validation import listed

KEPT = 64
"""Formulas over time whose plans are kept."""


@final
class Skills(ShownSkills, ByContent, Mapping[str, Agent | TemporalAgent]):
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
        if env is not None and env.space != family.space:
            raise ValueError("the values belong to another task space than the environment")
        self.family, self.env = family, env
        self.space = family.space
        self._tasks = dict(family.tasks)
        self._values = family.named
        self._met: BoolArray = np.any(family.met, axis=0)
        self._plans: dict[Expression, Plan] = {}

    _held = ("family",)  # skills are equal wherever they act

    def __getstate__(self) -> State:
        """Everything but the plans of formulas, which are made again when they are asked for."""
        fields, read_only = super().__getstate__()
        return {**fields, "_plans": {}}, read_only

    @property
    def tasks(self) -> dict[str, Task]:
        """The base tasks by name: a copy, so that the skills keep theirs."""
        return dict(self._tasks)

    @overload
    def __getitem__(self, key: Task) -> Agent: ...

    @overload
    def __getitem__(self, key: str | Expression) -> Agent | TemporalAgent: ...

    def __getitem__(self, key: str | Expression | Task) -> Agent | TemporalAgent:
        """The agent for an expression over the base tasks, or for a task they can express.

        It is an `Agent`, and a `TemporalAgent` for a formula over time, whose names may also be
        those of goals.
        """
        expression = self._expression(key)
        if expression.temporal:
            return TemporalAgent(self, expression, self._plan(expression))
        values = compose_values(expression, self._values, self.family.bounds)
        return Agent(self, expression, self.task_of(expression), values)

    def for_task(self, key: str | Expression | Task) -> Agent:
        """`skills[key]` for a Boolean expression or a task, of which type checkers know the type.

        Raises:
            ValueError: it is a formula over time.
        """
        found = self[self._expression(key)]
        if not isinstance(found, Agent):
            raise ValueError(
                f"{found.expression} is a formula over time; ask for it with "
                f"skills.for_formula(...) or skills[...]"
            )
        return found

    def for_formula(self, key: str | Expression) -> TemporalAgent:
        """`skills[key]` for a formula over time, of which type checkers know the type.

        Raises:
            ValueError: it is a Boolean expression.
        """
        found = self[key]
        if not isinstance(found, TemporalAgent):
            raise ValueError(
                f"{found.expression} is no formula over time; write F({found.expression}) to reach "
                f"it some time, or skills[...] for the task that ends with the first goal"
            )
        return found

    def act_many(self, tasks: Iterable[str | Expression | Task], states: ArrayLike) -> LongArray:
        """The actions of many tasks in many states of a finite world, in one call, `[E, B]`.

        They are those of `skills[task].act(states)`.  Tasks that mean the same share their work.

        Args:
            tasks: E Boolean expressions over the base tasks, or tasks.
            states: `[B]`, where every task is asked for; or `[E, B]`, those of each task.
        """
        return act_many(self, tasks, states)

    def avoiding(self, task: str | Expression, avoid: str | Expression) -> TemporalAgent:
        """The agent that ends in a task and never enters a goal that is to be avoided.

        Both are Boolean expressions over base tasks and goals.  It is the agent of the formula
        `~avoid U (task & ~avoid)`.  Other goals may be passed.
        """
        wanted, wrong = (self._boolean(each) for each in (task, avoid))
        formula = Until(~wrong, wanted & ~wrong)
        return TemporalAgent(self, formula, self._plan(formula), self._desired(wrong))

    def fewest_violations(
        self, task: str | Expression, avoid: str | Expression | None = None
    ) -> TemporalAgent:
        """The agent that ends in a task with the fewest violations, and then the fewest steps.

        A violation is a step into a goal that is to be avoided; by default, into any goal that the
        task does not want.  With the default, such values compose by min and max.
        """
        wanted = self._boolean(task)
        if avoid is None:
            avoided = ~self._desired(wanted)
        else:
            avoided = self._desired(self._boolean(avoid))
        formula = Eventually(wanted)
        plan = sparing(formula, avoided, self._named, self.family, self._between)
        return TemporalAgent(self, formula, plan, avoided)

    def _boolean(self, key: str | Expression) -> Expression:
        """A Boolean expression over base tasks and goals, which is false where no goal is entered.

        `~office` means the goals that are not the office; as part of a formula over time it would
        also be true at every step that enters no goal.
        """
        if not isinstance(key, str | Expression):
            raise TypeError(f"expected a Boolean expression over tasks and goals, got {key!r}")
        found = parse(key, self._named, self.space.goal_names) if isinstance(key, str) else key
        if found.temporal:
            raise ValueError(f"{found} is a formula over time; expected a Boolean expression")
        if not self._desired(found).any():
            raise ValueError(
                f"{found} means none of the goals of this world; known: "
                f"{known_names(self._named, self.space.goal_names)}"
            )
        nowhere = dict.fromkeys(found.names, np.zeros(1, np.bool_))
        ones = np.ones(1, np.bool_)
        if found.evaluate(nowhere, universal=ones, empty=~ones)[0]:
            found = found & self._any_goal
        return found

    @cached_property
    def _any_goal(self) -> Expression:
        """True in every goal: a few tasks, and goals that these leave out."""
        missing = np.ones(self.space.n_goals, np.bool_)
        names = []
        for name, task in sorted(self._named.items(), key=lambda item: -item[1].desired.sum()):
            if (task.desired & missing).any():
                names.append(name)
                missing &= ~task.desired
        names += [self.space.goal_names[g] for g in np.flatnonzero(missing)]
        return reduce(or_, [Name(name) for name in names])

    def _desired(self, expression: Expression) -> BoolArray:
        """[G], the goals in which a Boolean expression over base tasks and goals is true."""
        every = np.ones(self.space.n_goals, np.bool_)
        names = {
            name: self._named[name].desired
            if name in self._named
            else np.arange(self.space.n_goals) == self.space.world.goal_index(name)
            for name in expression.names
        }
        found: BoolArray = expression.evaluate(names, universal=every, empty=~every)
        return found

    @property
    def _named(self) -> dict[str, Task]:
        """Tasks by name that formulas over time may speak of: the environment's, too.

        Where goals lead is known whatever base tasks were learned.
        """
        return {**({} if self.env is None else self.env.tasks), **self._tasks}

    @cached_property
    def _between(self) -> Ways:
        return Ways.of(self.family, self.env)

    def _plan(self, formula: Expression) -> Plan:
        """How to act for a formula, kept for when it is asked for again."""
        plan = self._plans.get(formula)
        if plan is None:
            plan = planned(formula, self._named, self.family, self._between)
            if len(self._plans) >= KEPT:
                del self._plans[next(iter(self._plans))]
            self._plans[formula] = plan
        return plan

    def by_goal_set(self, key: str | Expression | Task) -> Agent:
        """The same task through goal sets: only Q̄_U and Q̄_∅ are read, by one masked maximum.

        Under Assumptions 1 and 2 this is the agent of `skills[key]`.
        """
        expression = self._expression(key)
        task = self.task_of(expression)
        return Agent(self, expression, task, GoalSetQ.of(task, self.family.bounds))

    def bounds(self, key: str | Expression) -> Bracket:
        """Bounds on the optimum of an expression in every state, without planning it.

        From `lower ≤ V* ≤ upper` of the base tasks, by those of ∨ and ∧ (`planning.brackets`); they
        hold in stochastic and dense worlds, and for learned values.

        Raises:
            TypeError: the world is open.
            ValueError: it is a formula over time, or the environment gives expressions a meaning
                of its own, as with dense rewards.
        """
        expression = self._expression(key)
        if expression.temporal:
            raise ValueError(f"{expression} is a formula over time; bounds are for expressions")
        agent = self.for_task(expression)
        if isinstance(self.family, HorizonFamily):
            raise ValueError(
                "these skills are planned for a horizon, and bounds are those without a limit; "
                "ask agent.certificate(), which is exact within the horizon"
            )

        def leaf(one: Expression, task: Task) -> Bracket:
            return Bracket.of(one, task, self._actions)

        found = expression.evaluate(
            {name: leaf(Name(name), self._tasks[name]) for name in expression.names},
            universal=leaf(TRUE, self.space.universal),
            empty=leaf(FALSE, self.space.empty),
        )
        if found.task != agent.task:
            raise ValueError(
                f"here {expression} is not the task that pays the minimum or maximum of what its "
                f"base tasks pay, so that their values do not bound it; ask agent.certificate()"
            )
        return found

    def _actions(self, expression: Expression) -> LongArray:
        """[S], the composed policy of an expression."""
        return self.for_task(expression).actions

    @property
    def n_expressible(self) -> int:
        """How many different tasks the base tasks can express and solve."""
        if self.can_negate:
            return n_expressible(self._tasks, self._met)
        found = [self.task_of(each) for each in all_functions(list(self._tasks)) if each in self]
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
            return expression_of(key, self._tasks, in_short if self.can_negate else as_sum)
        if isinstance(key, str):
            return parsed(key, self._tasks, self.space.goal_names, self._named)
        if isinstance(key, Expression):
            return key
        raise TypeError(f"expected an expression or a Task, got {key!r}")

    def task_of(self, expression: Expression) -> Task:
        """The task that an expression over the base tasks means, if its values can be composed."""
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
            expression = self._expression(key)
            if expression.temporal:
                self._plan(expression)
            else:
                self.task_of(expression)
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
