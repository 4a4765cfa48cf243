"""Skills: solve or learn a few base tasks, then ask for any expression over them.

    env = FourRooms()
    skills = solve(env, ["top", "left"])
    agent = skills["top ^ left"]          # composed, not planned or learned
    agent.evaluate(episodes=1000, seed=0)

An agent asked for by expression, by `Task`, or built with operators from other agents is the same
agent: it takes the same actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, final

from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import all_functions, parse
from taskalgebra.skills import store
from taskalgebra.skills.agent import Agent
from taskalgebra.theory.base_tasks import expression_of, n_expressible
from taskalgebra.theory.family import Family
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.tables import compose_values
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import GoalSetQ
from taskalgebra.validation import listed


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
        self.tasks = dict(family.tasks)
        self._values = family.named

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
        """How many different tasks the base tasks can express."""
        if self.can_negate:
            return n_expressible(self.tasks)
        found = [self[each].task for each in all_functions(list(self.tasks)) if each in self]
        return len({task.goal_reward.tobytes() for task in found})

    @property
    def can_negate(self) -> bool:
        """Whether `~` and `^` have a meaning."""
        return self.family.can_negate

    def save(self, path: str | Path) -> None:
        """Write the skills to a directory; readers never see half-written skills."""
        store.write(Path(path), self.family, self.env)

    def _expression(self, key: str | Expression | Task) -> Expression:
        if isinstance(key, Task):
            return expression_of(key, self.tasks)
        if isinstance(key, str):
            return parse(key, self.tasks)
        if isinstance(key, Expression):
            return key
        raise TypeError(f"expected an expression or a Task, got {key!r}")

    def _task(self, expression: Expression) -> Task:
        if self.env is not None:
            task = self.env.compose(expression, self.tasks)
        else:
            space = self.space
            task = expression.evaluate(self.tasks, universal=space.universal, empty=space.empty)
        self._check_negation(expression)
        return task

    def _check_negation(self, expression: Expression) -> None:
        """Reject negations that would mean something else."""
        if self.can_negate:
            return
        if {"not", "xor"} & {kind for kind, _, _ in expression.steps_over(self.tasks)}:
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
        return iter(self.tasks)

    def __len__(self) -> int:
        """The number of base tasks."""
        return len(self.tasks)

    def __repr__(self) -> str:
        """The names of the base tasks and the world."""
        return f"Skills({listed(list(self.tasks))}) of {self.space.world!r}"
