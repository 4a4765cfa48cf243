"""What task is this?  The shortest expression that agrees with what some goals were seen to pay.

By Assumption 2 a task is a truth value for each goal: whether it pays r_U or r_∅.  Base tasks give
each goal a label, and an expression over them is a Boolean function of the label.  So goals of one
label are paid alike by every expression, and

- some expression agrees with what was seen unless two goals of one label pay differently;
- labels of which no goal was seen may be paid either way: with u of them, 2ᵘ different tasks agree,
  and seeing any one of their goals leaves half of these tasks;
- one new base task always suffices, as one more digit of the labels tells all such goals apart.

The shortest of all expressions that agree is found by `logic.shortest`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.content import ByContent
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.shortest import shortest
from taskalgebra.theory.base_tasks import goals_by_label
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import listed

CLOSE = 1e-6
"""The most that a reward may be off r_U or r_∅, as a share of their difference."""
SINGLE, DOUBLE = 2.0**-23, 2.0**-50
"""What rounding may change: a float32 as a share of itself, a sum as a share of its terms."""


@runtime_checkable
class Known(Protocol):
    """Skills, as far as they matter here: base tasks that may be combined."""

    @property
    def tasks(self) -> dict[str, Task]:
        """The base tasks by name."""

    @property
    def can_negate(self) -> bool:
        """Whether `~` and `^` have a meaning."""


Observed = (
    Task
    | Mapping[str, Any]
    | Mapping[int, Any]
    | Mapping[str | int, Any]
    | Sequence[tuple[str | int, Any]]
    | ArrayLike
)
"""What some goals pay; see `infer`."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Inference(ByContent):
    """What is known of a task of which some goals were seen."""

    tasks: Mapping[str, Task]
    """The base tasks."""
    seen: Mapping[str, bool]
    """The goals that were seen, and whether they are desired."""
    expression: Expression | None
    """A shortest expression over the base tasks that agrees; None if none does."""
    proven: bool
    """Whether it is known that no expression that agrees is shorter."""
    task: Task | None
    """The task that the expression means."""
    n_tasks: int
    """How many different tasks over the base tasks agree: a power of 2, or 0."""
    undecided: tuple[str, ...]
    """The goals in which tasks that agree still differ."""
    next_goal: str | None
    """A goal to look at next: one that decides most others; it leaves half of the tasks."""
    assumed: tuple[str, ...]
    """Goals that were not seen, and are taken to pay what another goal of the same label pays."""
    alike: tuple[tuple[str, str], ...]
    """Pairs of a desired goal and another one, as seen, that all base tasks treat alike."""
    new_task: Task | None
    """Where no expression agrees, a base task with which one does: `then` says which.

    Of all that would do, it tells the most pairs of goals apart that have the same label.
    """
    itself: Task
    """The task as far as it is known, with all undecided goals not desired."""

    @property
    def suffices(self) -> bool:
        """Whether the base tasks suffice for what was seen."""
        return self.expression is not None

    @property
    def ambiguous(self) -> bool:
        """Whether several different tasks agree."""
        return self.n_tasks > 1

    @cached_property
    def new_name(self) -> str:
        """A name for the new base task that no other has: `new`, or `new2` and so on."""
        taken = (f"new{i}" if i > 1 else "new" for i in range(1, len(self.tasks) + 2))
        return next(name for name in taken if name not in self.tasks)

    @cached_property
    def then(self) -> Inference:
        """What `infer` answers with the new base task; where none is needed, the same as now."""
        if self.new_task is None:
            return self
        return infer(self.seen, {**self.tasks, self.new_name: self.new_task})

    def __repr__(self) -> str:
        """The expression, and how many tasks agree."""
        return f"Inference({self.expression}, n_tasks={self.n_tasks})"

    def __str__(self) -> str:
        """The answer, then what is open."""
        over = f"over {listed(list(self.tasks))}"
        if self.new_task is not None:
            yes, no = self.alike[0]
            more = f", and {len(self.alike) - 1} more pairs" if len(self.alike) > 1 else ""
            return "\n".join(
                [
                    f"no expression {over} agrees with the {_goals(len(self.seen))} seen",
                    f"  alike for all of them: {yes}, which is desired, and {no}, which is not"
                    f"{more}",
                    f"  with a new base task {self.new_name!r} that desires "
                    f"{_desired(self.new_task)}: {self.then.expression}",
                ]
            )
        assert self.task is not None
        kind = "the shortest" if self.proven else "a short"
        agrees = f" that agrees with the {_goals(len(self.seen))} seen"
        lines = [
            f"{self.expression}: desires {_desired(self.task)}",
            f"  {kind} expression {over}{agrees if self.seen else '; nothing was seen'}",
        ]
        if self.assumed:
            lines.append(f"  not seen, but alike for all base tasks: {listed(self.assumed)}")
        if self.ambiguous:
            lines += [
                f"  one of {self.n_tasks:,} tasks that agree; undecided: {listed(self.undecided)}",
                f"  look at {self.next_goal} next, which leaves half of them",
            ]
        return "\n".join(lines)


def _goals(n: int) -> str:
    return f"{n} goals" if n != 1 else "one goal"


def _desired(task: Task) -> str:
    names = [task.space.goal_names[goal] for goal in np.flatnonzero(task.desired)]
    return listed(names) or "no goal"


def infer(observed: Observed, tasks: Mapping[str, Task] | Known) -> Inference:
    """Find the shortest expression over known tasks that agrees with what goals were seen to pay.

    Args:
        observed: `{goal: what it paid}`, goals by name or number; or a list of such pairs, one for
            each time a goal was reached; or one value for each goal; or a `Task`.  True and False
            say whether the goal is desired; a number is a reward, r_U or r_∅ of the goal.  NaN and
            None stand for goals that were not seen, in mappings and pairs too.
        tasks: the base tasks: skills, or `{name: Task}`.

    A reward x is r, one of r_U and r_∅, if they are equal up to rounding:

        |x − r| ≤ min{max{2⁻²³ |r|, 2⁻⁵⁰ max{|r_U|, |r_∅|}}, 10⁻⁶ (r_U − r_∅)}

    2⁻²³ is the precision of float32.

    Raises:
        ValueError: a goal is unknown, was seen to pay different rewards, or pays neither r_U nor
            r_∅; a task is dense or has more than two rewards; no task may want a goal that is said
            to be desired.
    """
    base = _base(tasks)
    classes = goals_by_label(base)
    space = next(iter(base.values())).space
    seen = _seen(observed, space)
    names = space.goal_names
    wanted: list[int] = []
    unwanted: list[int] = []
    mixed: list[int] = []
    unseen: list[int] = []
    for label, goals in classes.items():
        values = {seen[goal] for goal in goals if goal in seen}
        kind = mixed if len(values) == 2 else wanted if True in values else unwanted
        (kind if values else unseen).append(label)
    decided = {goal: label in wanted for label in (*wanted, *unwanted) for goal in classes[label]}
    undecided = sorted(goal for label in unseen for goal in classes[label])
    alike = [
        (names[yes], names[no])
        for label in mixed
        for yes in classes[label]
        for no in classes[label]
        if seen.get(yes) and seen.get(no) is False
    ]
    found = None if mixed else shortest(wanted, unwanted, list(base))
    largest = max(unseen, key=lambda label: len(classes[label]), default=None)
    bounds = {"universal": space.universal, "empty": space.empty}
    return Inference(
        tasks=base,
        seen={names[goal]: value for goal, value in sorted(seen.items())},
        expression=None if found is None else found.expression,
        proven=found is not None and found.proven,
        task=None if found is None else found.expression.evaluate(base, **bounds),
        n_tasks=0 if mixed else 2 ** len(unseen),
        undecided=() if mixed else tuple(names[goal] for goal in undecided),
        next_goal=None if mixed or largest is None else names[classes[largest][0]],
        assumed=tuple(names[goal] for goal in sorted(decided) if goal not in seen),
        alike=tuple(alike),
        new_task=_most_useful(space, list(classes.values()), seen) if mixed else None,
        itself=_of(space, {**decided, **seen}),
    )


def _base(tasks: Mapping[str, Task] | Known) -> dict[str, Task]:
    """The base tasks by name, none of them dense."""
    if isinstance(tasks, Known):
        if not tasks.can_negate:
            raise ValueError(
                "these skills end in goals of their own and cannot be negated, so that fewer tasks "
                "than all combinations can be composed; give infer their tasks: skills.tasks"
            )
        tasks = tasks.tasks
    if not isinstance(tasks, Mapping):
        raise TypeError(f"expected skills, or {{name: Task}} such as world.tasks, got {tasks!r}")
    for name, task in tasks.items():
        if isinstance(task, Task) and task.step_reward is not None:
            raise ValueError(f"task {name!r} is dense: goals alone do not say what it pays")
    return dict(tasks)


def _seen(observed: Observed, space: TaskSpace) -> dict[int, bool]:
    """The goals that were seen and may be wanted, and whether they are desired."""
    if isinstance(observed, Task):
        if observed.space != space:
            raise ValueError(
                f"{observed!r} belongs to another task space than the base tasks; make the task "
                f"with theirs, such as skills.space.task(...)"
            )
        if observed.step_reward is not None:
            raise ValueError(f"{observed!r} is dense: no expression has step rewards of its own")
        observed = dict(enumerate(observed.goal_reward.tolist()))
    seen: dict[int, bool] = {}
    for goal, value in _pairs(observed, space.n_goals):
        g = space.world.goal_index(goal)
        wanted = _desires(value, g, space)
        if wanted is None:
            continue
        if seen.setdefault(g, wanted) != wanted:
            raise ValueError(
                f"goal {space.goal_names[g]!r} was seen to be desired and not to be; one task "
                f"always pays the same there: give what was seen of one task"
            )
    return seen


def _pairs(observed: Any, n_goals: int) -> list[tuple[Any, Any]]:
    if isinstance(observed, Mapping):
        return list(observed.items())
    expected = "{goal: reward}, a list of pairs (goal, reward), one value for each goal, or a Task"
    if isinstance(observed, str) or not hasattr(observed, "__len__"):
        raise TypeError(f"what was seen is {observed!r}, expected {expected}")
    given = list(observed)
    if all(isinstance(one, tuple | list) and len(one) == 2 for one in given):
        return [(goal, value) for goal, value in given]
    if len(given) != n_goals or any(isinstance(one, tuple | list | np.ndarray) for one in given):
        raise ValueError(
            f"what was seen is {observed!r}, expected {expected}; there are {n_goals} goals"
        )
    return list(enumerate(given))


def _desires(value: Any, goal: int, space: TaskSpace) -> bool | None:
    """Whether a goal that pays this is desired; None if that was not seen, or says nothing."""
    if value is None:
        return None
    name, wantable = space.goal_names[goal], bool(space.wantable[goal])
    if isinstance(value, bool | np.bool_):
        if value and not wantable:
            raise ValueError(
                f"goal {name!r} is said to be desired, but r_∅ and r_U are the same there: no task "
                f"can want it"
            )
        return bool(value) if wantable else None
    if isinstance(value, str | bytes) or np.ndim(value) or not np.isreal(value):
        raise ValueError(f"goal {name!r} pays {value!r}, expected a reward, True or False")
    reward, high, low = float(value), space.r_universal[goal], space.r_empty[goal]
    if np.isnan(reward):
        return None
    if _same(reward, high, low, high):
        return True if wantable else None
    if _same(reward, low, low, high):
        return False if wantable else None
    either = (
        f"r_U = {high:.12g} nor r_∅ = {low:.12g}" if wantable else f"{high:g}, as in every task"
    )
    raise ValueError(
        f"goal {name!r} pays {reward:.12g}, neither {either}; no expression over tasks of two "
        f"rewards gives such a task. To say whether goals are desired, give True and False"
        if wantable
        else f"goal {name!r} pays {reward:g}, not {either}"
    )


def _same(reward: float, r: float, low: float, high: float) -> bool:
    """Whether a reward is r, one of two rewards, up to rounding; see `infer`."""
    near = max(SINGLE * abs(r), DOUBLE * max(abs(low), abs(high)))
    return bool(abs(reward - r) <= (min(near, CLOSE * (high - low)) if high > low else near))


def _of(space: TaskSpace, desired: Mapping[int, bool]) -> Task:
    """The task that desires some goals, maybe none."""
    return space.from_desired([desired.get(goal, False) for goal in range(space.n_goals)])


def _most_useful(space: TaskSpace, classes: Sequence[list[int]], seen: Mapping[int, bool]) -> Task:
    """A base task with which an expression agrees, and which tells most goals of one label apart.

    In each class of goals with one label, desired goals must be on one side and the others, as far
    as seen, on the other.  Of n goals split into a and n − a, a · (n − a) pairs are told apart, so
    all that is free is split as evenly as possible.  Where nothing is to be split, the new task
    desires what was seen to be desired.
    """
    column: dict[int, bool] = {}
    for goals in classes:
        yes = [goal for goal in goals if seen.get(goal) is True]
        no = [goal for goal in goals if seen.get(goal) is False]
        if len(goals) > 1 and not (yes and no):
            yes, no = [], []
        free = [goal for goal in goals if goal not in yes and goal not in no]
        to_yes = min(max((len(goals) + 1) // 2 - len(yes), 0), len(free)) if len(goals) > 1 else 0
        column |= dict.fromkeys(yes + free[:to_yes], True)
    return _of(space, column)
