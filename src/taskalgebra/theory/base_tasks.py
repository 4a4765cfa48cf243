"""Choosing base tasks (Section 4.1 and the supplement, Table 1).

Give each goal a Boolean label.  Each column of the label table is a base task: it desires the goals
with a 1.  If no two goals have the same label, every set of goals has an expression over the base
tasks.  For G goals, ⌈log₂ G⌉ base tasks are enough, and 2^G tasks follow from them.

The paper says ⌊log₂ G⌋ + 1, which is the number when the all-zero label is left unused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from taskalgebra.arrays import BoolArray
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import from_truth_table
from taskalgebra.logic.shortest import shortest
from taskalgebra.logic.sum_of_products import all_true
from taskalgebra.logic.truth import MAX_NAMES
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import instance


def n_base_tasks(n_goals: int) -> int:
    """⌈log₂ G⌉, the least number of base tasks that tell G goals apart; at least 1.

    >>> [n_base_tasks(n) for n in (1, 2, 4, 5, 40)]
    [1, 1, 2, 3, 6]
    """
    if n_goals < 1:
        raise ValueError(f"there are {n_goals} goals, expected at least 1")
    return max(1, (n_goals - 1).bit_length())


def minimal_labels(n_goals: int) -> BoolArray:
    """Labels `[G, K]` as in Table 1: goal i is the number G − 1 − i in binary, x₁ first.

    >>> minimal_labels(4).astype(int)
    array([[1, 1],
           [1, 0],
           [0, 1],
           [0, 0]])
    """
    numbers = n_goals - 1 - np.arange(n_goals)
    shifts = np.arange(n_base_tasks(n_goals))[::-1]
    labels: BoolArray = (numbers[:, None] >> shifts & 1).astype(np.bool_)
    if n_goals == 1:
        labels[:] = True
    return labels


def minimal_base_tasks(space: TaskSpace, names: Sequence[str] | None = None) -> dict[str, Task]:
    """A smallest set of tasks that expresses every set of goals; named x1, x2, … by default."""
    labels = minimal_labels(instance(space, TaskSpace, "the space").n_goals)
    chosen = [f"x{k + 1}" for k in range(labels.shape[1])] if names is None else list(names)
    if len(chosen) != labels.shape[1]:
        raise ValueError(
            f"{len(chosen)} names for {labels.shape[1]} base tasks: {chosen}; "
            f"{space.n_goals} goals need {labels.shape[1]}"
        )
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"two base tasks have the same name: {chosen}; names must differ")
    return space.from_labels(dict(zip(chosen, labels.T, strict=True)))


def labels_of(tasks: Mapping[str, Task]) -> BoolArray:
    """The label table `[G, K]` of some tasks: the desired goals of each."""
    if not isinstance(tasks, Mapping):
        raise TypeError(f"tasks must be given as {{name: task}}, got {tasks!r}")
    if not tasks:
        raise ValueError("no tasks were given; expected at least one")
    space = instance(next(iter(tasks.values())), Task, "a task").space
    for name, task in tasks.items():
        instance(task, Task, f"task {name!r}")
        if task.space != space:
            raise ValueError(f"task {name!r} belongs to another space than the first; use one")
        if not task.two_valued:
            raise ValueError(
                f"task {name!r} has more than two terminal rewards, so no goal set describes it: "
                f"{task!r}"
            )
    return np.stack([task.desired for task in tasks.values()], axis=1)


def n_expressible(tasks: Mapping[str, Task], met: BoolArray | None = None) -> int:
    """How many different tasks can be composed: 2 to the number of different labels.

    Four goals with four labels give 2^4 = 16; in general at most 2^(2^K) for K tasks.  Tasks that
    desire only goals that no base task has met cannot be solved and are not counted.

    Args:
        tasks: the base tasks.
        met: `[G]`, the goals that some base task has met; by default all.
    """
    wantable = next(iter(tasks.values())).space.wantable if tasks else np.ones(0, np.bool_)
    labels = labels_of(tasks)[wantable]
    n_labels = len(np.unique(labels, axis=0))
    if met is None or met[wantable].all():
        return int(2**n_labels)
    met = met[wantable]
    n_unmet = n_labels - len(np.unique(labels[met], axis=0))
    return int(2**n_labels - (2**n_unmet - 1))


Labels = Collection[int]
"""Labels of goals as numbers: bit j says whether base task j desires the goal."""
Writer = Callable[[Labels, Labels, Sequence[str]], Expression]
"""Writes an expression over names that is true of some labels and false of others."""


def in_short(wanted: Labels, unwanted: Labels, names: Sequence[str]) -> Expression:
    """A shortest expression over `&  |  ~  ^`; see `logic.shortest`."""
    return shortest(wanted, unwanted, names).expression


def as_sum(wanted: Labels, unwanted: Labels, names: Sequence[str]) -> Expression:
    """A shortest sum of products; see `logic.sum_of_products`."""
    if len(names) > MAX_NAMES:
        raise ValueError(
            f"sums of products over {len(names)} tasks are not searched; use at most {MAX_NAMES}"
        )
    table = sum(1 << label for label in wanted)
    used = table | sum(1 << label for label in unwanted)
    return from_truth_table(table, names, dont_care=all_true(len(names)) ^ used)


def expression_of(task: Task, tasks: Mapping[str, Task], write: Writer = in_short) -> Expression:
    """A shortest expression over some tasks that gives this one.

    Raises:
        ValueError: the task desires only one of two goals that the given tasks treat alike.
    """
    if task.step_reward is not None:
        raise ValueError(f"{task!r} is dense: no expression has step rewards of its own")
    if any(other.space != task.space for other in tasks.values()):
        raise ValueError(
            f"{task!r} belongs to another space than {', '.join(tasks)}; give a task of the "
            f"same space, or an expression"
        )
    if not task.two_valued:
        raise ValueError(
            f"{task!r} is not a two-valued task: it pays other rewards than r_∅ and r_U, and "
            f"no expression gives it"
        )
    return expression_for_goals(np.flatnonzero(task.desired), tasks, write)


def expression_for_goals(
    desired: Iterable[str | int], tasks: Mapping[str, Task], write: Writer = in_short
) -> Expression:
    """A shortest expression over some tasks that desires exactly these goals.

    Labels that no goal has may be true or false, which makes the expression shorter.  Shortest is
    defined in `logic.shortest`; beyond 4 tasks, another expression may be shorter.

    Args:
        desired: the goals, by name or number.
        tasks: the tasks, by name.
        write: how to write it, if not with all operators.

    Raises:
        ValueError: a desired goal and another one carry the same label.
    """
    classes = goals_by_label(tasks)
    world = next(iter(tasks.values())).space.world
    chosen = {world.goal_index(g) for g in ([desired] if isinstance(desired, str) else desired)}
    for goals in classes.values():
        yes = [goal for goal in goals if goal in chosen]
        if yes and len(yes) < len(goals):
            no = next(goal for goal in goals if goal not in chosen)
            raise ValueError(
                f"no expression over {', '.join(tasks)} desires goal {world.goal_names[yes[0]]!r} "
                f"but not {world.goal_names[no]!r}: each of these tasks treats them alike; "
                f"add a base task that tells them apart"
            )
    wanted = [label for label, goals in classes.items() if goals[0] in chosen]
    return write(wanted, [label for label in classes if label not in wanted], list(tasks))


def goals_by_label(tasks: Mapping[str, Task]) -> dict[int, list[int]]:
    """The goals of each label, bit j for task j, without goals that no task may want."""
    labels = labels_of(tasks)
    wantable = next(iter(tasks.values())).space.wantable
    found: dict[int, list[int]] = {}
    for goal in np.flatnonzero(wantable).tolist():
        label = sum(1 << j for j, one in enumerate(labels[goal].tolist()) if one)
        found.setdefault(label, []).append(goal)
    return found
