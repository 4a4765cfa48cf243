"""Base tasks, labels, and the expressions that reach every set of goals."""

import math
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from taskalgebra.theory.base_tasks import (
    expression_for_goals,
    expression_of,
    labels_of,
    minimal_base_tasks,
    minimal_labels,
    n_base_tasks,
    n_expressible,
)
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.grid import from_text


def space_of(n_goals):
    return TaskSpace(from_text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[:n_goals]))


@pytest.mark.parametrize("n_goals", [*range(1, 20), 31, 32, 33, 40, 64, 65, 1000])
def test_base_tasks_number_the_logarithm_of_the_goals_rounded_up(n_goals):
    assert n_base_tasks(n_goals) == max(1, math.ceil(math.log2(n_goals)))


@pytest.mark.parametrize("n_goals", [1, 2, 3, 4, 5, 8, 9, 40])
def test_minimal_labels_tell_all_goals_apart(n_goals):
    labels = minimal_labels(n_goals)
    assert labels.shape == (n_goals, n_base_tasks(n_goals))
    assert len({tuple(row) for row in labels.tolist()}) == n_goals
    assert labels.any(axis=0).all()  # no base task wants nothing


def test_four_goals_get_the_labels_of_the_first_table():
    space = space_of(4)
    assert minimal_base_tasks(space) == {
        "x1": space.task(["A", "B"]),
        "x2": space.task(["A", "C"]),
    }
    assert list(minimal_base_tasks(space, ["top", "left"])) == ["top", "left"]


def subsets(items):
    return (c for size in range(len(items) + 1) for c in combinations(items, size))


@pytest.mark.parametrize("n_goals", [1, 2, 3, 4, 5])
def test_every_set_of_goals_has_an_expression_over_the_base_tasks(n_goals):
    space = space_of(n_goals)
    base = minimal_base_tasks(space)
    truth = {
        name: dict(zip("ABCDE", task.desired.tolist(), strict=False)) for name, task in base.items()
    }
    for wanted in subsets(space.mdp.goal_names):
        expression = expression_for_goals(wanted, base)
        got = {
            goal
            for goal in space.mdp.goal_names
            if expression.evaluate(
                {name: int(truth[name][goal]) for name in base}, universal=-1, empty=0
            )
            & 1
        }
        assert got == set(wanted)


def test_an_expression_for_a_task_gives_that_task():
    space = space_of(4)
    base = minimal_base_tasks(space, ["top", "left"])
    for task in space.two_valued_tasks():
        composed = expression_of(task, base).evaluate(
            base, universal=space.universal, empty=space.empty
        )
        assert composed == task


def test_goals_may_be_asked_for_by_name_or_number():
    space = space_of(4)
    base = minimal_base_tasks(space)
    named = expression_for_goals(["B", "C"], base)
    assert (
        named == expression_for_goals([1, 2], base) == expression_for_goals(np.array([1, 2]), base)
    )


def test_labels_are_read_off_the_tasks():
    space = space_of(3)
    tasks = {"p": space.task(["A"]), "q": space.task(["A", "C"])}
    assert labels_of(tasks).astype(int).tolist() == [[1, 1], [0, 0], [0, 1]]


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ([["A", "B"], ["A", "C"]], 16),
        ([["A", "B"]], 4),
        ([["A", "B", "C", "D"]], 2),
        ([["A"]] * 2, 4),
    ],
)
def test_the_number_of_expressible_tasks_is_that_of_the_tasks_one_can_compose(wanted, count):
    space = space_of(4)
    tasks = {f"t{i}": space.task(goals) for i, goals in enumerate(wanted)}
    closure = {space.universal, space.empty, *tasks.values()}
    while True:
        more = {~a for a in closure} | {a & b for a in closure for b in closure}
        if more <= closure:
            break
        closure |= more
    assert n_expressible(tasks) == len(closure) == count


def space_and_tasks():
    space = space_of(4)
    return space, {"top": space.task(["A", "B"])}


REFUSED = {
    "no goals": (lambda space, tasks: n_base_tasks(0), ["0 goals", "at least 1"]),
    "labels of no goals": (lambda space, tasks: minimal_labels(0), ["0 goals", "at least 1"]),
    "too few names": (
        lambda space, tasks: minimal_base_tasks(space, ["top"]),
        ["1 names for 2 base tasks", "4 goals need 2"],
    ),
    "too many names": (
        lambda space, tasks: minimal_base_tasks(space, ["a", "b", "c"]),
        ["3 names for 2 base tasks", "4 goals need 2"],
    ),
    "a name twice": (lambda space, tasks: minimal_base_tasks(space, ["top", "top"]), ["top"]),
    "no tasks": (lambda space, tasks: labels_of({}), ["no tasks", "at least one"]),
    "a task of many rewards": (
        lambda space, tasks: labels_of({"odd": space.from_rewards([0.5, 1, 1, 1])}),
        ["'odd'", "more than two", "A: 0.5"],
    ),
    "goals that the tasks do not tell apart": (
        lambda space, tasks: expression_for_goals(["A"], tasks),
        ["top", "'A'", "'B'", "alike"],
    ),
    "an unknown goal": (
        lambda space, tasks: expression_for_goals(["Z"], tasks),
        ["unknown goal 'Z'", "A, B, C, D"],
    ),
    "an expression over no tasks": (
        lambda space, tasks: expression_for_goals(["A"], {}),
        ["no tasks", "at least one"],
    ),
    "a task of another space": (
        lambda space, tasks: expression_of(space_of(5).task(["A"]), tasks),
        ["same space"],
    ),
    "a task of many rewards to express": (
        lambda space, tasks: expression_of(space.from_rewards([0.5, 1, 1, 1]), tasks),
        ["two-valued"],
    ),
    "tasks of two spaces": (
        lambda space, tasks: expression_for_goals(
            ["A"], {"top": tasks["top"], "left": space_of(5).task(["A", "C"])}
        ),
        ["space"],
    ),
}


@pytest.mark.parametrize(("question", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_input_is_refused_in_words(question, words):
    with pytest.raises(ValueError) as caught:
        question(*space_and_tasks())
    for word in words:
        assert word in str(caught.value)


def test_more_tasks_than_truth_tables_hold_are_refused_at_once():
    """In a process of its own, which can be stopped."""
    script = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (8, 8))  # a busy machine counts for nothing
from taskalgebra.theory.base_tasks import expression_for_goals
from taskalgebra.worlds.grid import from_text
from taskalgebra.theory.tasks import TaskSpace
space = TaskSpace(from_text("ABCD"))
tasks = {f"t{i}": space.task([i % 4]) for i in range(40)}
try:
    print("found:", expression_for_goals(["A"], tasks))
except ValueError as error:
    print("refused:", error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.startswith(("found: t", "refused: ")), done.stderr[-300:]
