"""Section 4.1 and Table 1 of the supplement: base tasks, and how many tasks they give."""

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.base_tasks import expression_of, minimal_base_tasks, minimal_labels, n_base_tasks
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.expression import all_functions


def test_table_1_labels_the_goals_of_four_rooms(four_rooms):
    wanted = {
        name: [g.name for g in four_rooms.space.goals if task.desired[g.number]]
        for name, task in four_rooms.tasks.items()
    }
    assert wanted == {
        "top": ["top_left", "top_right"],
        "left": ["top_left", "bottom_left"],
    }


@pytest.mark.parametrize("n_goals", range(1, 70))
def test_section_4_labels_tell_all_goals_apart(n_goals):
    labels = minimal_labels(n_goals)
    assert len({tuple(row) for row in labels.tolist()}) == n_goals
    assert labels.shape[1] == n_base_tasks(n_goals) == max(1, int(np.ceil(np.log2(n_goals))))
    assert labels.any(axis=0).all()


def test_section_4_two_base_tasks_give_16_tasks_and_six_give_all_of_40_goals():
    assert ta.solve(FourRooms()).n_expressible == 2 ** (2**2) == 16
    assert ta.solve(FourRooms(40)).n_expressible == 2**40
    assert n_base_tasks(40) == 6


def test_section_4_every_goal_set_has_an_expression(four_rooms, space, all_tasks):
    for task in all_tasks:
        expression = expression_of(task, four_rooms.tasks)
        bounds = {"universal": space.universal, "empty": space.empty}
        assert expression.evaluate(four_rooms.tasks, **bounds) == task


def test_section_4_the_16_functions_are_the_16_tasks(four_rooms, space, all_tasks):
    bounds = {"universal": space.universal, "empty": space.empty}
    functions = all_functions(list(four_rooms.tasks))
    composed = {function.evaluate(four_rooms.tasks, **bounds) for function in functions}
    assert composed == set(all_tasks)


def test_section_4_goal_set_reading_equals_composition_bit_for_bit(four_rooms):
    skills = ta.solve(four_rooms)
    states = np.arange(four_rooms.space.mdp.n_states)
    for function in all_functions(["top", "left"]):
        composed, read = skills[function], skills.by_goal_set(function)
        assert np.array_equal(composed.q_bar(states), read.q_bar(states))


def test_section_4_minimal_base_tasks_can_be_named(space):
    assert list(minimal_base_tasks(space, ["top", "left"])) == ["top", "left"]
    with pytest.raises(ValueError, match="3 names for 2 base tasks"):
        minimal_base_tasks(space, ["a", "b", "c"])
