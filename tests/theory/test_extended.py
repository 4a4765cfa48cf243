"""Extended values beyond the paper's text: families, laziness, goal sets, blocks, dead ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.formulas import parse
from taskalgebra.planning.exact import q_bar_star
from taskalgebra.theory import values as extended_values
from taskalgebra.theory.tables import TableBounds, TabularQ, compose_values
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.theory.values import Composed, ExtendedQ, GoalSetQ, compose
from taskalgebra.worlds.build import from_arrays


class Counted(ExtendedQ):
    """A value function that counts how often it is asked."""

    def __init__(self, values):
        self.values, self.bounds, self.calls = values, values.bounds, 0

    def q_bar(self, observations):
        self.calls += 1
        return self.values.q_bar(observations)


def test_a_composition_asks_each_leaf_once_whatever_the_expression(plan_of_all):
    top, left = (Counted(plan_of_all.values[i]) for i in (3, 5))
    composed = (top ^ left) & ~(top & left) | (left & ~top)
    assert isinstance(composed, Composed)
    states = np.arange(6)
    result = composed.q_bar(states)
    assert (top.calls, left.calls) == (1, 1)
    a, b = top.values, left.values
    assert np.array_equal(result, ((a ^ b) & ~(a & b) | (b & ~a)).q_bar(states))


def test_kinds_mix_within_a_family(plan_of_all, all_tasks):
    table = plan_of_all.values[3]
    by_goals = GoalSetQ.of(all_tasks[5], plan_of_all.bounds)
    states = np.arange(108)
    expected = table & plan_of_all.values[5]
    assert np.array_equal((table & by_goals).q_bar(states), expected.table)
    assert np.array_equal((by_goals & table).q_bar(states), expected.table)


def test_values_of_two_families_do_not_mix(space, plan_of_all):
    other = q_bar_star(space, [space.universal])
    for operation in ("__and__", "__or__", "__xor__"):
        with pytest.raises(ValueError, match="different bounds"):
            getattr(plan_of_all.values[0], operation)(other.values[0])
    with pytest.raises(ValueError, match="bounds of its own"):
        compose_values(parse("a"), {"a": other.values[0]}, plan_of_all.bounds)


def test_values_compose_with_values_only(plan_of_all):
    with pytest.raises(TypeError, match="cannot compose a value function with 3"):
        plan_of_all.values[0] & 3
    with pytest.raises(TypeError, match="no truth value"):
        bool(plan_of_all.values[0])


def test_goal_sets_need_two_valued_tasks_of_their_space(space, plan_of_all):
    with pytest.raises(ValueError, match="two terminal rewards"):
        GoalSetQ.of(space.from_rewards([2, 1, 0, 0]), plan_of_all.bounds)
    with pytest.raises(ValueError, match="two spaces"):
        GoalSetQ.of(FourRooms().space.universal, plan_of_all.bounds)


def test_a_table_from_outside_is_checked(plan_of_all):
    bounds = plan_of_all.bounds
    assert TabularQ.checked(plan_of_all.values[1].table, bounds) == plan_of_all.values[1]
    with pytest.raises(ValueError, match=r"shape \(2, 2\), expected \(108, 4, 5\)"):
        TabularQ.checked(np.zeros((2, 2)), bounds)
    with pytest.raises(ValueError, match="is nan, expected a finite number"):
        TabularQ.checked(np.full((108, 4, 5), np.nan), bounds)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["a", "true", "a ^ b | ~c", "~(a & ~b) ^ c"]))
def test_composing_in_blocks_changes_nothing(seed, text):
    rng = np.random.default_rng(seed)
    shape = (37, 3, 2)
    empty = rng.integers(-8, 0, shape) / 8
    empty[rng.random(shape) < 0.1] = -np.inf
    bounds = Bounds(empty + 1, empty)
    arrays = {name: empty + rng.integers(0, 2, shape) for name in "abc"}
    whole = compose(parse(text), arrays, bounds)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extended_values, "BLOCK", 24)
        assert np.array_equal(compose(parse(text), arrays, bounds), whole)


def test_dead_ends_stay_at_minus_infinity_through_every_operator():
    world = from_arrays([[1, 2], [1, 1], [2, 2]], -1.0, goals=[2])
    space = TaskSpace(world)
    q = q_bar_star(space, [space.universal]).values[0]
    for values in (q, ~q, q & ~q, q | ~q, q ^ q, ~~q):
        assert (values.table[1] == -np.inf).all()
        assert values.table[0, 0, 0] == -np.inf
        assert np.isfinite(values.table[0, 0, 1])


def test_bounds_of_a_family_are_its_extremes(plan_of_all):
    assert isinstance(plan_of_all.bounds, TableBounds)
    tables = np.stack([values.table for values in plan_of_all.values])
    assert np.array_equal(plan_of_all.bounds.universal.table, tables.max(axis=0))
    assert np.array_equal(plan_of_all.bounds.empty.table, tables.min(axis=0))
