"""What task is this?  Answers against brute force over all functions and all columns."""

import math
from itertools import product

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.worlds.grid import from_text

ROOMS = ta.FourRooms()
SKILLS = ta.solve(ROOMS)
BASE = ROOMS.tasks


def space_of(n_goals, **rewards):
    return ta.TaskSpace(from_text("ABCDEFGHIJ"[:n_goals]), **rewards)


def test_all_ways_to_say_what_was_seen_give_the_same_answer():
    low, high = -0.1, 2.0
    nan = math.nan
    for seen in (
        {"top_left": True, "bottom_left": False},
        {0: True, 2: False},
        {"top_left": high, 2: low, "top_right": nan, 3: None},
        [("top_left", high), ("bottom_left", low), (0, True)],
        [high, nan, low, nan],
        np.array([high, nan, low, nan], np.float32),
        {"top_left": np.True_, "bottom_left": np.float32(low)},
    ):
        found = ta.infer(seen, SKILLS)
        assert str(found.expression) == "top"
        assert found.seen == {"top_left": True, "bottom_left": False}
        assert found.n_tasks == 4 and found.ambiguous and found.suffices
        assert found.undecided == ("top_right", "bottom_right")
        assert found.task == BASE["top"]
    assert ta.infer([high, nan, low, nan], BASE).n_tasks == 4


def test_a_whole_task_is_never_ambiguous():
    for task in ROOMS.space.two_valued_tasks():
        found = ta.infer(task, SKILLS)
        assert found.task == task and found.n_tasks == 1 and not found.ambiguous
        assert (found.undecided, found.next_goal, found.assumed, found.alike) == ((), None, (), ())
        assert found.proven and found.then is found
        assert SKILLS[found.expression].task == task


def test_goals_alike_for_all_base_tasks_are_assumed_and_decided_together():
    found = ta.infer({"top_left": True}, {"top": BASE["top"]})
    assert found.assumed == ("top_right",)
    assert found.undecided == ("bottom_left", "bottom_right") and found.n_tasks == 2
    assert found.next_goal == "bottom_left"


def test_the_next_goal_decides_most_others():
    space = space_of(5)
    base = {"a": space.task("A"), "b": space.task("B")}
    found = ta.infer({}, base)
    assert found.next_goal == "C" and found.n_tasks == 8  # C, D and E have one label


def test_what_two_goals_pay_differently_needs_a_new_base_task():
    found = ta.infer({"top_left": True, "top_right": False}, {"top": BASE["top"]})
    assert (found.expression, found.task, found.suffices, found.n_tasks) == (None, None, False, 0)
    assert found.alike == (("top_left", "top_right"),)
    assert found.undecided == () and found.next_goal is None
    assert found.then.suffices and found.then.task.desired[0] and not found.then.task.desired[1]
    taken = {"new": BASE["top"], "new2": BASE["top"]}
    assert ta.infer({0: True, 1: False}, taken).new_name == "new3"


def pairs_told_apart(column, labels):
    n = len(labels)
    return sum(
        labels[a] == labels[b] and column[a] != column[b] for a in range(n) for b in range(a)
    )


def test_the_new_base_task_suffices_and_tells_most_goals_apart_of_all_columns():
    rng = np.random.default_rng(0)
    lacking = 0
    for _ in range(60):
        space = space_of(6)
        base = {f"t{j}": space.from_desired(rng.random(6) < 0.5) for j in range(2)}
        labels = list(zip(*(task.desired.tolist() for task in base.values()), strict=True))
        seen = {int(g): bool(rng.random() < 0.5) for g in rng.permutation(6)[: rng.integers(2, 7)]}
        found = ta.infer(seen, base)
        if found.suffices:
            continue
        lacking += 1
        enough = [
            column
            for column in product([False, True], repeat=6)
            if all(
                seen[a] == seen[b] or labels[a] != labels[b] or column[a] != column[b]
                for a in seen
                for b in seen
            )
        ]
        told = pairs_told_apart(found.new_task.desired.tolist(), labels)
        assert tuple(found.new_task.desired.tolist()) in enough
        assert told == max(pairs_told_apart(column, labels) for column in enough)
        assert all(found.then.task.desired[g] == value for g, value in seen.items())
        assert all(found.itself.desired[g] == value for g, value in seen.items())
    assert lacking > 10


def test_goals_that_no_task_may_want_say_nothing():
    space = space_of(3, r_universal=[2.0, 2.0, 1.0], r_empty=[0.0, 0.0, 1.0])
    base = {"a": space.task("A")}
    found = ta.infer({"A": 2.0, "C": 1.0}, base)
    assert found.seen == {"A": True} and found.undecided == ("B",) and found.n_tasks == 2
    assert ta.infer({"C": False}, base).seen == {}
    with pytest.raises(ValueError, match=r"'C' is said to be desired.*no task can want it"):
        ta.infer({"C": True}, base)
    with pytest.raises(ValueError, match=r"'C' pays 2, not 1"):
        ta.infer({"C": 2.0}, base)


def test_rewards_are_equal_up_to_rounding():
    def seen(value, high, low):
        space = space_of(2, r_universal=high, r_empty=low)
        return ta.infer({"A": value}, {"b": space.task("B")}).seen["A"]

    for high, low in ((2.0, -0.1), (1e12, 0.0), (0.3, 0.1), (1e-9, 0.0), (1e9 + 1, 1e9)):
        assert seen(high, high, low) and not seen(low, high, low)
        if high - low > 1e-6 * high:  # else single precision does not tell them apart
            assert seen(np.float32(high), high, low) and not seen(np.float32(low), high, low)
    assert seen(0.1 + 0.2, 0.3, 0.0) and not seen(0.1 + 0.2 - 0.3, 1.0, 0.0)
    for value, high, low in (
        (0.5, 1e12, 0.0),
        (1e6, 1e12, 0.0),
        (1e-6, 2.0, 0.0),
        (2.000001, 2.0, 0.0),
        (1e9 + 0.01, 1e9 + 1, 1e9),
        (1.00000005, 1.0000001, 1.0),
        (5e-10, 1e-9, 0.0),
        (float("inf"), 2.0, 0.0),
    ):
        with pytest.raises(ValueError, match="neither r_U"):
            seen(value, high, low)


def test_answers_are_readable():
    for nothing in ({}, {0: None}, {"top_left": math.nan}):
        text = str(ta.infer(nothing, SKILLS))
        assert "nothing was seen" in text and "0 goals" not in text
    text = str(ta.infer({"top_left": True, "bottom_left": False}, SKILLS))
    for words in ("top: desires top_left, top_right", "shortest", "4 tasks", "look at top_right"):
        assert words in text
    text = str(ta.infer({0: True, 1: False}, {"top": BASE["top"]}))
    for words in ("no expression over top", "top_left, which is desired", "'new'"):
        assert words in text
    text = str(ta.infer({"top_left": True}, {"top": BASE["top"]}))
    assert "not seen, but alike for all base tasks: top_right" in text and "one goal seen" in text
    assert repr(ta.infer({}, SKILLS)) == "Inference(false, n_tasks=16)"


DENSE = ta.FourRooms(dense=True)
REFUSED = {
    "an unknown goal": (lambda: ta.infer({"attic": True}, SKILLS), "unknown goal 'attic'"),
    "no such number": (lambda: ta.infer({7: True}, SKILLS), "goal 7 does not exist"),
    "another reward": (lambda: ta.infer({0: 1}, SKILLS), r"pays 1, neither r_U = 2 nor r_∅ = -0.1"),
    "a word": (lambda: ta.infer({0: "yes"}, SKILLS), "'yes', expected a reward, True or False"),
    "a contradiction": (
        lambda: ta.infer([(0, True), ("top_left", -0.1)], SKILLS),
        "'top_left' was seen to be desired and not to be",
    ),
    "another space": (
        lambda: ta.infer(ta.FourRooms(r_universal=3.0).tasks["top"], SKILLS),
        r"belongs to another task space than the base tasks.*skills\.space\.task\(",
    ),
    "too few values": (lambda: ta.infer([2.0, 2.0], SKILLS), "there are 4 goals"),
    "three rewards": (
        lambda: ta.infer(ROOMS.space.from_rewards([1, 2, 2, 2]), SKILLS),
        "'top_left' pays 1, neither",
    ),
    "a dense base task": (lambda: ta.infer({}, DENSE.tasks), "task 'top' is dense"),
    "no base tasks": (lambda: ta.infer({}, {}), "no tasks were given"),
    "a dense task": (
        lambda: ta.infer(DENSE.tasks["top"], {"all": DENSE.space.universal}),
        "is dense",
    ),
}


@pytest.mark.parametrize(("ask", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_input_is_refused_in_words(ask, words):
    with pytest.raises(ValueError, match=words):
        ask()


def test_what_is_no_observation_is_a_type_error():
    for wrong in ("top_left", 3, None):
        with pytest.raises(TypeError, match="expected"):
            ta.infer(wrong, SKILLS)
    with pytest.raises(TypeError):
        ta.infer({}, [1])


class Bound:
    """Skills that cannot negate."""

    tasks = BASE
    can_negate = False


def test_skills_that_cannot_negate_are_refused():
    with pytest.raises(ValueError, match="cannot be negated"):
        ta.infer({0: True}, Bound())
