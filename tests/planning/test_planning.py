"""Exact planning: the searches behind it, its limits and its errors."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from oracles import extended_q_of_task, plain_q_of_task
from strategies import eighths, real_valued, spaces
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.planning import exact as planning
from taskalgebra.planning.exact import (
    PlannedFamily,
    PlannedReach,
    PositiveCycleError,
    optimal_v,
    plan,
    q_bar_star,
    return_to_goal,
)
from taskalgebra.theory.reach import ReachQ
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.theory.values import Sight
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text


def has_positive_cycle(mdp):
    """Whether some walk of S + 1 steps among states that can end still gains on one of S."""
    ending = mdp.ending
    gain = np.where(ending, 0.0, -np.inf)
    live = ending & ~mdp.is_goal
    for _ in range(mdp.n_states + 1):
        reached = (mdp.step_reward + gain[mdp.next_state]).max(axis=1)
        new = np.where(live, np.maximum(gain, reached), gain)
        if np.array_equal(new, gain):
            return False
        gain = new
    return True


@given(st.data())
def test_rewards_above_zero_are_planned_unless_a_cycle_earns(data):
    space = data.draw(spaces(step_rewards=eighths))
    task = data.draw(real_valued(space))
    if has_positive_cycle(space.mdp):
        with pytest.raises(PositiveCycleError, match="positive sum of rewards"):
            q_bar_star(space, [task])
    else:
        solved = q_bar_star(space, [task])
        assert np.array_equal(solved.values[0].table, extended_q_of_task(task, solved.r_bar_min))


@given(st.data())
def test_a_positive_cycle_is_named_truly(data):
    space = data.draw(spaces(step_rewards=eighths))
    assume(has_positive_cycle(space.mdp))
    finding = space.check()["no positive cycle"]
    states = finding.offender["states"]
    mdp = space.mdp
    total = 0.0
    for s, t in zip(states, [*states[1:], states[0]], strict=True):
        total += max(
            r for r, n in zip(mdp.step_reward[s], mdp.next_state[s], strict=True) if n == t
        )
    assert total > 0


def test_a_cycle_that_costs_nothing_is_no_positive_cycle_despite_rounding():
    """0.3 − 0.1 − 0.2 is 2.8e-17 in floating point, and not a gain."""
    world = from_arrays(
        [[1, 0], [2, 0], [0, 3], [3, 3]], [[0.3, -1], [-0.1, -1], [-0.2, -1], [0, 0]], goals=[3]
    )
    assert return_to_goal(world).to_goal[0, :3] == pytest.approx([-0.8, -1.1, -1.0])


def test_a_positive_cycle_without_a_way_to_a_goal_does_no_harm():
    world = from_arrays([[1, 2], [1, 1], [2, 2]], [[-1, -1], [5, 5], [0, 0]], goals=[2])
    space = TaskSpace(world)
    table = q_bar_star(space, [space.universal]).values[0].table
    assert table[0, 0].tolist() == [-np.inf, 1.0]
    assert (table[1] == -np.inf).all()


@pytest.mark.parametrize("rewards", ["constant", "various"])
def test_returns_of_a_large_random_graph_against_scipy(rewards):
    rng = np.random.default_rng(7)
    n_states, n_actions, n_goals = 3000, 3, 5
    next_state = rng.integers(0, n_states, (n_states, n_actions))
    cost = rng.integers(1, 9, next_state.shape) / 8 if rewards == "various" else np.ones((1, 1))
    cost = np.broadcast_to(cost, next_state.shape)
    goals = rng.choice(n_states, n_goals, replace=False)
    live = np.setdiff1d(np.arange(n_states), goals)
    source = np.repeat(live, n_actions)
    target, weight = next_state[live].ravel(), cost[live].ravel()
    order = np.argsort(-weight, kind="stable")  # the cheapest of parallel edges is written last
    edges = dict(zip(zip(target[order], source[order], strict=True), weight[order], strict=True))
    rows, columns = np.array(list(edges)).T
    matrix = csr_matrix((list(edges.values()), (rows, columns)), shape=(n_states, n_states))
    expected = -dijkstra(matrix, indices=goals)
    assert np.array_equal(return_to_goal(from_arrays(next_state, -cost, goals)).to_goal, expected)


def test_searches_on_threads_give_the_same_returns(monkeypatch):
    world = FourRooms(40).space.mdp
    alone = return_to_goal(world).to_goal
    monkeypatch.setattr("taskalgebra.worlds.graph._WORTH_A_THREAD", 0)
    assert np.array_equal(return_to_goal(world).to_goal, alone)


def test_worlds_beyond_the_largest_table_keep_returns_and_expand_on_demand(monkeypatch):
    world = FourRooms(step_reward=-0.125)
    tasks = list(world.tasks.values())
    tables = plan(world.space, tasks)
    monkeypatch.setattr(planning, "LARGEST_TABLE", 100)
    lazy = plan(world.space, tasks)
    assert isinstance(lazy, PlannedFamily)
    assert all(isinstance(values, ReachQ) for values in lazy.values)
    states = np.array([[5, 0], [107, 50]])
    for table, values in zip(tables.values, lazy.values, strict=True):
        assert np.array_equal(values.q_bar(states), table.q_bar(states))
    composed = (lazy.values[0] ^ lazy.values[1]) & lazy.bounds.universal
    expected = (tables.values[0] ^ tables.values[1]) & tables.bounds.universal
    assert np.array_equal(composed.q_bar(states), expected.q_bar(states))


def test_planned_returns_do_not_know_tasks_and_say_what_cannot_be_reached():
    """By hand: from the left of "A.x" there is no way on, and A is a stay away."""
    world = from_arrays([[0, 1], [2, 2], [2, 2], [3, 3]], -0.25, goals=[2, 3])
    reach = PlannedReach(return_to_goal(world), -9.0)
    found = reach.returns([0, 1])
    assert found[:, 0].tolist() == [[-0.75, -0.5], [-0.25, -0.25]]
    assert (found[:, 1] == -np.inf).all()
    values = reach.q_bar(Sight([0]), np.array([2.0, 2.0]))
    assert values[0].tolist() == [[1.25, 1.5], [-0.5 - 9.0 - 0.25, -0.5 - 9.0]]


def test_dense_tasks_are_planned_on_their_own_rewards(space):
    rng = np.random.default_rng(3)
    shape = space.mdp.step_reward.shape
    dense = space.from_rewards(space.r_universal, -rng.integers(1, 9, shape) / 8)
    solved = q_bar_star(space, [dense, space.empty])
    assert np.array_equal(solved.values[0].table, extended_q_of_task(dense, solved.r_bar_min))
    assert solved.values[1] == solved.bounds.empty
    assert np.array_equal(optimal_v(dense), plain_q_of_task(dense).max(axis=1))


def test_dense_tasks_need_tables(space, monkeypatch):
    dense = space.from_rewards(space.r_universal, np.full(space.mdp.step_reward.shape, -1.0))
    monkeypatch.setattr(planning, "LARGEST_TABLE", 100)
    with pytest.raises(ValueError, match="dense tasks need tables"):
        plan(space, [dense])


def test_tasks_of_another_space_are_refused(space):
    other = FourRooms().space
    with pytest.raises(ValueError, match="belongs to another space"):
        plan(space, [other.universal])
    with pytest.raises(ValueError, match="belongs to another space"):
        q_bar_star(space, [other.universal])


@pytest.mark.parametrize("r_bar_min", [np.nan, -np.inf, np.inf])
def test_a_penalty_that_is_no_number_is_refused(space, r_bar_min):
    with pytest.raises(ValueError, match="expected a finite number"):
        q_bar_star(space, [space.universal], r_bar_min=r_bar_min)


def test_values_count_the_steps_of_a_corridor():
    """By hand: A is d moves and a stay away, then pays 2; B is not wanted."""
    space = TaskSpace(from_text("A...B", step_reward=-0.25))
    table = q_bar_star(space, [space.task(["A"])]).values[0].table
    assert table[:5, 0].max(axis=1).tolist() == [1.75, 1.5, 1.25, 1.0, 0.75]
    assert table[2, 1].max() == -0.25 * 3 - 0.1
