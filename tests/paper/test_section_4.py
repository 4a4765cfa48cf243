"""Section 4.1 and Table 1 of the supplement: base tasks, and how many tasks they give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taskalgebra as ta
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.formulas import all_functions
from taskalgebra.theory.base_tasks import (
    expression_for_goals,
    expression_of,
    minimal_base_tasks,
    minimal_labels,
    n_base_tasks,
)


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


def star_of_goals(n_goals):
    """One state with one action to each goal."""
    next_state = np.tile(np.arange(1, n_goals + 1), (n_goals + 1, 1))
    return ta.TaskSpace(ta.from_arrays(next_state, -0.125, np.arange(1, n_goals + 1)))


@given(st.data())
def test_section_4_any_labels_that_tell_goals_apart_express_any_goal_set(data):
    n_names = data.draw(st.integers(1, 6))
    codes = st.lists(st.integers(0, 2**n_names - 1), unique=True, min_size=1, max_size=20)
    labels = np.array([[code >> j & 1 for j in range(n_names)] for code in data.draw(codes)])
    space = star_of_goals(len(labels))
    tasks = space.from_labels({f"x{j}": labels[:, j] for j in range(n_names)})
    desired = data.draw(st.sets(st.integers(0, len(labels) - 1)))
    expression = expression_for_goals(desired, tasks)
    for goal, row in enumerate(labels.astype(bool)):
        truth = {f"x{j}": bool(row[j]) for j in range(n_names)}
        assert expression.evaluate(truth, universal=True, empty=False) == (goal in desired)


def test_section_4_labels_that_no_goal_has_make_expressions_shorter():
    tasks = star_of_goals(3).from_labels({"a": [0, 1, 0], "b": [0, 0, 1]})
    assert str(expression_for_goals([1], tasks)) == "a"
    assert str(expression_for_goals([0, 1, 2], tasks)) == "true"
    assert str(expression_for_goals([], tasks)) == "false"


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


def test_supplement_with_slips_composed_policies_are_close_to_optimal_but_not_optimal():
    """Committing to one goal forgoes what chance puts nearer: Lemma 1 needs determinism."""
    world = FourRooms(slip_probability=0.3)
    agent = ta.solve(world)["true"]
    gap = ta.optimal_v(agent.task) - ta.policy_return(agent.task, agent.actions)
    assert gap.min() >= -1e-9
    assert 0.01 < gap.max() < 0.05
