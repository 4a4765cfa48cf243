"""Tasks and task spaces: what they hold, how they compose, what they refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskalgebra.logic.expression import Name
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text

WORLD = from_text("A.B\n..C", step_reward=-0.125)  # 6 cells and 3 absorbing states
SPACE = TaskSpace(WORLD)
OTHER = TaskSpace(WORLD, r_universal=3.0)


def test_the_default_rewards_are_those_of_the_paper():
    assert SPACE.r_universal.tolist() == [2.0, 2.0, 2.0]
    assert SPACE.r_empty.tolist() == [-0.1, -0.1, -0.1]
    assert SPACE.universal.goal_reward.tolist() == [2.0, 2.0, 2.0]
    assert SPACE.empty.goal_reward.tolist() == [-0.1, -0.1, -0.1]
    assert (SPACE.r_min, SPACE.r_max) == (-0.125, 2.0)


def test_a_world_with_a_task_of_its_own_sets_the_rewards():
    chain = [[1, 2], [1, 1], [2, 2]]
    space = TaskSpace(from_arrays(chain, -1.0, [1, 2], goal_reward=[5.0, -3.0]))
    assert (space.r_universal[0], space.r_empty[0]) == (5.0, -3.0)
    assert space.original.goal_reward.tolist() == [5.0, -3.0]
    alike = TaskSpace(from_arrays(chain, -1.0, [1, 2], goal_reward=[5.0, 5.0]))
    assert (alike.r_universal[0], alike.r_empty[0]) == (5.0, -1.0)


def test_rewards_may_differ_from_goal_to_goal():
    space = TaskSpace(WORLD, r_universal=[1.0, 2.0, 3.0], r_empty=0.0)
    assert space.task(["A", "C"]).goal_reward.tolist() == [1.0, 0.0, 3.0]
    assert (~space.task(["A"])).goal_reward.tolist() == [0.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["A"], [1, 0, 0]),
        (["C", "A"], [1, 0, 1]),
        ("B", [0, 1, 0]),
        (2, [0, 0, 1]),
        ([0, "B"], [1, 1, 0]),
        (np.array([1, 2]), [0, 1, 1]),
        ({"A", "B", "C"}, [1, 1, 1]),
        (lambda goal: goal.cell[0] == 0, [1, 1, 0]),
        (lambda goal: goal.name > "A", [0, 1, 1]),
        (lambda goal: goal.number == 1 and goal.state == 7, [0, 1, 0]),
    ],
)
def test_tasks_want_the_goals_that_are_named_or_meet_a_predicate(wanted, expected):
    task = SPACE.task(wanted)
    assert task.desired.tolist() == [bool(x) for x in expected]
    assert task.goal_reward.tolist() == [2.0 if x else -0.1 for x in expected]
    assert task.two_valued
    assert task.steps is WORLD.step_reward


def test_a_goal_by_its_number_may_be_a_number_of_numpy():
    assert SPACE.task(np.int64(2)) == SPACE.task("C")


def test_goals_of_a_world_without_a_map_have_no_cell():
    (goal,) = TaskSpace(from_arrays([[1], [1]], -1.0, [1])).goals
    assert goal == (0, "g0", 1, None)


def asked(question):
    with pytest.raises(ValueError) as caught:
        question()
    return str(caught.value)


REFUSED = {
    "no goals": (lambda: SPACE.task([]), ["selects no goal", "A, B, C", "space.empty"]),
    "a predicate that selects none": (
        lambda: SPACE.task(lambda goal: False),
        ["predicate selects no goal", "A, B, C", "space.empty"],
    ),
    "an unknown goal": (lambda: SPACE.task(["A", "D"]), ["unknown goal 'D'", "A, B, C"]),
    "a number out of range": (lambda: SPACE.task([3]), ["goal 3", "0 to 2"]),
    "a goal listed twice": (lambda: SPACE.task(["A", "B", "A"]), ["'A'", "twice"]),
    "a goal listed by name and number": (lambda: SPACE.task(["A", 0]), ["twice"]),
    "too few truth values": (lambda: SPACE.from_desired([1, 0]), ["3 goals", "[1, 0]"]),
    "truth values of 2": (lambda: SPACE.from_desired([1, 0, 2]), ["true or false", "[1, 0, 2]"]),
    "too many rewards": (
        lambda: SPACE.from_rewards([1.0] * 4),
        ["goal_reward", "(4,)", "(3,)"],
    ),
    "a reward that is not a number": (
        lambda: SPACE.from_rewards([1.0, np.nan, 0.0]),
        ["goal_reward[1]", "nan", "finite"],
    ),
    "an infinite reward": (
        lambda: SPACE.from_rewards([1.0, 1.0, np.inf]),
        ["goal_reward[2]", "inf", "finite"],
    ),
    "rewards in words": (lambda: SPACE.from_rewards(["a", "b", "c"]), ["goal_reward", "numbers"]),
    "a reward above r_universal": (
        lambda: SPACE.from_rewards([1.0, 2.5, 0.0]),
        ["goal 'B'", "2.5", "[-0.1, 2]", "wider"],
    ),
    "a reward below r_empty": (
        lambda: SPACE.from_rewards([1.0, 2.0, -1.0]),
        ["goal 'C'", "-1", "[-0.1, 2]", "wider"],
    ),
    "a reward that depends on the action": (
        lambda: SPACE.from_rewards([[1.0] * 5, [1.0, 1.0, 0.5, 1.0, 1.0], [0.0] * 5]),
        ["goal 'B'", "1 for up", "0.5 for down", "one reward per goal"],
    ),
    "rewards by action of another shape": (
        lambda: SPACE.from_rewards(np.zeros((3, 4))),
        ["goal_reward", "(3, 4)", "(3, 5)"],
    ),
    "dense rewards of another shape": (
        lambda: SPACE.from_rewards([1.0, 1.0, 1.0], np.zeros((3, 5))),
        ["step_reward", "(3, 5)", "(9, 5)"],
    ),
    "a dense reward that is not a number": (
        lambda: SPACE.from_rewards([1.0, 1.0, 1.0], np.full((9, 5), np.nan)),
        ["step_reward[0, 0]", "nan"],
    ),
    "no labels": (lambda: SPACE.from_labels({}), ["no columns", "at least one"]),
    "labels for other goals": (lambda: SPACE.from_labels({"x": [1, 0]}), ["3 goals", "[1, 0]"]),
    "r_empty above r_universal": (
        lambda: TaskSpace(WORLD, r_universal=1.0, r_empty=[0.0, 1.5, 0.0]),
        ["r_empty = 1.5", "r_universal = 1", "goal 'B'", "must pay more"],
    ),
    "r_universal for other goals": (
        lambda: TaskSpace(WORLD, r_universal=[1.0, 1.0]),
        ["r_universal", "(2,)", "(3,)"],
    ),
    "r_empty that is not a number": (
        lambda: TaskSpace(WORLD, r_empty=np.nan),
        ["r_empty", "nan", "finite"],
    ),
    "an original task where there is none": (
        lambda: SPACE.original,
        ["no task of its own", "space.task"],
    ),
    "tasks of two spaces": (
        lambda: SPACE.task("A") & OTHER.task("A"),
        ["two spaces", "same TaskSpace"],
    ),
    "tasks of two spaces, by exclusive or": (
        lambda: SPACE.task("A") ^ OTHER.task("A"),
        ["two spaces", "same TaskSpace"],
    ),
}


@pytest.mark.parametrize(("question", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_input_is_refused_in_words(question, words):
    message = asked(question)
    for word in words:
        assert word in message


def test_a_label_column_that_does_not_fit_is_named():
    assert "left" in asked(lambda: SPACE.from_labels({"top": [1, 0, 0], "left": [1, 0]}))


@pytest.mark.parametrize(
    "use",
    [
        bool,
        lambda task: task and SPACE.universal,
        lambda task: task or SPACE.universal,
        lambda task: not task,
    ],
)
def test_a_task_has_no_truth_value(use):
    with pytest.raises(TypeError, match="no truth value; write a & b"):
        use(SPACE.task("A"))


@pytest.mark.parametrize("other", [1, "A", None, Name("A")], ids=str)
def test_a_task_composes_with_tasks_only(other):
    with pytest.raises(TypeError):
        SPACE.task("A") & other


def tasks_of(rewards):
    space = TaskSpace(WORLD, r_universal=2.0, r_empty=-1.0)
    return st.tuples(*[st.lists(rewards, min_size=3, max_size=3)] * 2).map(
        lambda pair: (space, *map(space.from_rewards, pair))
    )


@settings(max_examples=60, deadline=None)
@given(tasks_of(st.integers(-8, 16).map(lambda n: n / 8)))
def test_operators_are_minimum_maximum_and_mirror_of_the_rewards(drawn):
    _, one, two = drawn
    x, y = one.goal_reward.tolist(), two.goal_reward.tolist()
    assert (one & two).goal_reward.tolist() == [min(p) for p in zip(x, y, strict=True)]
    assert (one | two).goal_reward.tolist() == [max(p) for p in zip(x, y, strict=True)]
    assert (~one).goal_reward.tolist() == [1.0 - r for r in x]
    assert (one ^ two).goal_reward.tolist() == [
        min(max(p, q), 1.0 - min(p, q)) for p, q in zip(x, y, strict=True)
    ]


def test_negation_loses_no_goal_to_rounding():
    assert (2.0 + -0.1) - 2.0 != -0.1  # why it needs care
    task = SPACE.task("A")
    assert (~task).goal_reward.tolist() == [-0.1, 2.0, 2.0]
    assert ~~task == task
    assert ~SPACE.universal == SPACE.empty


def test_equal_tasks_are_equal_and_have_equal_hashes():
    a, b = SPACE.task(["A", "B"]), SPACE.task(["B", "A"])
    assert a == b
    assert hash(a) == hash(b)
    assert a != SPACE.task("A")
    assert a != OTHER.task(["A", "B"])
    assert a != "A"
    dense = SPACE.from_rewards(a.goal_reward, np.full((9, 5), -0.5))
    assert dense != a
    same = SPACE.from_rewards(a.goal_reward, WORLD.step_reward)
    assert same == a
    assert hash(same) == hash(a)


def test_rewards_of_plus_and_minus_zero_make_equal_tasks_with_equal_hashes():
    space = TaskSpace(WORLD, r_empty=-1.0)
    one, two = space.from_rewards([0.0, 1.0, 1.0]), space.from_rewards([-0.0, 1.0, 1.0])
    assert one == two
    assert hash(one) == hash(two)


def test_a_task_does_not_change_when_the_callers_rewards_do():
    rewards, steps = np.array([1.0, 1.0, 0.0]), np.full((9, 5), -0.5)
    task = SPACE.from_rewards(rewards, steps)
    rewards[0], steps[0, 0] = 0.5, 9.0
    assert task.goal_reward[0] == 1.0
    assert task.steps[0, 0] == -0.5


@pytest.mark.parametrize(
    "make",
    [
        lambda: SPACE.task("A"),
        lambda: SPACE.from_rewards([1.0, 0.0, 2.0]),
        lambda: ~SPACE.task("A"),
        lambda: SPACE.task("A") | SPACE.task("B"),
        lambda: SPACE.universal,
    ],
    ids=["by name", "by rewards", "negated", "composed", "universal"],
)
def test_the_rewards_of_a_task_cannot_be_written(make):
    with pytest.raises(ValueError, match="read-only"):
        make().goal_reward[0] = 7.0


def test_dense_tasks_carry_their_own_step_rewards():
    steps = np.full((9, 5), -0.5)
    dense = SPACE.from_rewards([2.0, -0.1, -0.1], steps)
    assert (dense.steps[:6] == -0.5).all()
    assert (dense.steps[6:] == 0.0).all()
    assert ((dense | SPACE.task("B")).steps[:6] == -0.125).all()
    assert ((dense & SPACE.task("B")).steps[:6] == -0.5).all()
    assert ((~dense).steps[:6] == 0.25).all()


def test_all_two_valued_tasks_are_there_once_with_goals_as_bits():
    tasks = list(SPACE.two_valued_tasks())
    assert len(set(tasks)) == len(tasks) == 8
    assert tasks[0] == SPACE.empty
    assert tasks[5] == SPACE.task(["A", "C"])
    assert tasks[7] == SPACE.universal


def test_labels_make_one_task_a_column():
    tasks = SPACE.from_labels({"x": [1, 1, 0], "y": np.array([True, False, True])})
    assert tasks == {"x": SPACE.task(["A", "B"]), "y": SPACE.task(["A", "C"])}


def test_rewards_by_action_are_taken_when_the_action_does_not_matter():
    task = SPACE.from_rewards(np.repeat([[1.0], [0.5], [2.0]], 5, axis=1))
    assert task.goal_reward.tolist() == [1.0, 0.5, 2.0]
    assert not task.two_valued


def test_tasks_and_spaces_are_written_in_words():
    assert repr(SPACE.task(["A", "C"])) == "Task{A, C}"
    assert repr(SPACE.empty) == "Task{}"
    assert repr(SPACE.from_rewards([1.0, 2.0, 0.25])) == "Task{A: 1, B: 2, C: 0.25}"
    assert "9 states" in repr(SPACE)
    assert "r_U = 2" in repr(SPACE)


def test_a_kind_of_numbered_goals_names_all_of_them():
    space = TaskSpace(from_text("........", {"rock": [(0, 0), (0, 3)], "rocky": (0, 5)}))
    assert space.goal_names == ("rock 1", "rock 2", "rocky")
    assert space.task(["rock"]) == space.task("rock") == space.task(["rock 1", "rock 2"])
    assert space.task(["rock 2"]) == space.task([1])
    assert space.task(["rock", "rocky"]) == space.universal
    for twice in (["rock", "rock 1"], ["rock", "rock"]):
        with pytest.raises(ValueError, match="lists a goal twice"):
            space.task(twice)
    for unknown in ("roc", "rock 3", "rocky 1", "rock "):
        with pytest.raises(ValueError, match=f"unknown goal '{unknown}'"):
            space.task([unknown])
