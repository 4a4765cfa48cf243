"""The contract of goal environments, and the one reader of the goals that episodes ended in."""

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.theory.goal_env import GoalEnv, goals_reached

YES, NO = np.array([True, True]), np.array([False, False])
FIRST = np.array([True, False])


@pytest.mark.parametrize("infos", [{}, {"goal": np.array([-1, -1])}, {"goal": np.array([0, 7])}])
def test_where_nothing_terminated_no_goal_is_read(infos):
    found = goals_reached(infos, NO)
    assert found.tolist() == [-1, -1] and found.dtype == np.int64


@pytest.mark.parametrize(
    "infos",
    [
        {"goal": np.array([2, 5])},
        {"goal": [2, -1]},
        {"goal": np.array([2, 0]), "_goal": FIRST},
        {"final_info": {"goal": np.array([2, 0]), "_goal": FIRST}},
        {"goal": np.array([-1, -1]), "final_info": {"goal": np.array([2, 0]), "_goal": FIRST}},
        {"goal": np.array([2, -1]), "final_info": {"length": np.array([3, 0])}},
    ],
    ids=["all told", "a list", "masked", "at the end", "begun anew", "an end that tells else"],
)
def test_only_goals_of_episodes_that_terminated_are_read(infos):
    assert goals_reached(infos, FIRST, 3).tolist() == [2, -1]


@pytest.mark.parametrize(
    ("infos", "words"),
    [
        ({}, r'without info\["goal"\]; a goal environment puts the number'),
        ({"final_info": {}}, r'without info\["goal"\]'),
        ({"goal": np.array([1, 0]), "_goal": FIRST}, r'without info\["goal"\]'),
        ({"goal": np.array([1, -1])}, r'info\["goal"\] = .*-1.*expected .*0 to 2; .*truncated'),
        ({"goal": np.array([1, 3])}, r'info\["goal"\] = .*3.*expected .*0 to 2'),
        ({"goal": np.array([1.0, 2.0])}, r'info\["goal"\] = .*1\.0.*expected the number'),
        ({"goal": np.array(["a", "b"])}, r'info\["goal"\] = .*a.*expected the number'),
        ({"goal": np.array([None, 1], object)}, r'info\["goal"\] = None, expected the number'),
    ],
    ids=["nothing", "an empty end", "one silent", "minus one", "beyond", "floats", "names", "none"],
)
def test_an_end_without_the_number_of_a_goal_is_refused(infos, words):
    with pytest.raises(ValueError, match=words):
        goals_reached(infos, YES, 3)


def test_where_the_number_of_goals_is_not_known_any_is_taken():
    assert goals_reached({"goal": np.array([7, 0])}, YES).tolist() == [7, 0]
    with pytest.raises(ValueError, match="the number of a goal, of at least 0"):
        goals_reached({"goal": np.array([7, -2])}, YES)


# Environments


def test_tasks_are_found_by_name_by_expression_and_as_they_are():
    rooms = ta.FourRooms()
    wanted = rooms.tasks["top"] & ~rooms.tasks["left"]
    for asked in ("top & ~left", ta.parse("top & ~left"), wanted):
        assert rooms.find_task(asked) == wanted
    assert rooms.find_task("true") == rooms.space.universal
    with pytest.raises(ValueError, match="another space"):
        rooms.find_task(ta.FourRooms(r_universal=3.0).tasks["top"])
    with pytest.raises(TypeError, match="a name, an expression or a Task, got 3"):
        rooms.find_task(3)


def test_a_finite_world_is_its_own_layout_and_an_open_one_has_none():
    rooms = ta.FourRooms()
    layout = rooms.one_layout(0)
    assert layout.mdp is rooms.space.mdp and layout.fixed
    assert layout.observations.tolist() == list(range(104))

    class Open(GoalEnv):
        space = ta.TaskSpace(ta.OpenWorld(("a",), ("go",)))

        def vector(self, num_envs, *, task, max_episode_steps=None):
            raise NotImplementedError

    assert Open().one_layout(0) is None


def test_an_environment_must_make_copies():
    with pytest.raises(TypeError, match="abstract"):
        GoalEnv()
