"""Planning with random outcomes, against the enumeration of all policies."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.planning import stochastic
from taskalgebra.planning.exact import optimal_v, plan, q_bar_star
from taskalgebra.planning.policy_iteration import ConvergenceError
from taskalgebra.planning.stochastic import ShortestPaths
from taskalgebra.theory.rewards import r_bar_min_of
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text


@st.composite
def small_worlds(draw):
    """At most four live states and two goals, with loops for nothing, dead ends and the like."""
    n_live, n_goals, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 2)), 2
    n_states = n_live + n_goals
    dense = np.zeros((n_states, n_actions, n_states))
    for s, a in product(range(n_live), range(n_actions)):
        targets = draw(st.lists(st.integers(0, n_states - 1), min_size=1, max_size=3, unique=True))
        weights = draw(st.lists(st.integers(1, 4), min_size=len(targets), max_size=len(targets)))
        dense[s, a, targets] = np.array(weights) / sum(weights)
    dense[0, 0] = 0.0  # one state and action may end, and the world is random somewhere
    dense[0, 0, [0, n_states - 1]] = 0.5
    costs = st.sampled_from([0.0, -0.25, -1.0])
    rewards = draw(st.lists(costs, min_size=n_live * 2, max_size=n_live * 2))
    table = np.zeros((n_states, n_actions))
    table[:n_live] = np.array(rewards).reshape(n_live, n_actions)
    goals = list(range(n_live, n_states))
    return dense, from_arrays(dense, table, goals)


def value_of_policy(dense, rewards, terminal, choice):
    """V^π by a linear solve; −∞ where the policy may never reach a goal.

    terminal is {goal state: reward}; reachability is taken from powers of the chain.
    """
    n = len(dense)
    chain = dense[np.arange(n), choice].copy()
    for g in terminal:
        chain[g] = 0.0
        chain[g, g] = 1.0
    reach = np.linalg.matrix_power((chain > 0).astype(int) + np.eye(n, dtype=int), n) > 0
    ends = reach[:, list(terminal)].any(axis=1)
    proper = np.array([ends[reach[s]].all() for s in range(n)])
    live = [s for s in range(n) if proper[s] and s not in terminal]
    values = np.full(n, -np.inf)
    for g, reward in terminal.items():
        values[g] = reward
    gain = np.array(
        [rewards[s, choice[s]] + sum(chain[s, g] * r for g, r in terminal.items()) for s in live]
    )
    if live:
        values[live] = np.linalg.solve(np.eye(len(live)) - chain[np.ix_(live, live)], gain)
    return values


def best_of_all_policies(dense, rewards, terminal):
    n, n_actions, _ = dense.shape
    live = [s for s in range(n) if s not in terminal]
    best = np.full(n, -np.inf)
    for actions in product(range(n_actions), repeat=len(live)):
        choice = np.zeros(n, int)
        choice[live] = actions
        best = np.maximum(best, value_of_policy(dense, rewards, terminal, choice))
    return best


def q_bar_of_all_policies(dense, world, goal_reward, r_bar_min):
    """Q̄(s, g, a) by its definition, each V̄(·, g) from the enumeration."""
    n, n_actions, _ = dense.shape
    goals = world.goals.tolist()
    table = np.empty((n, len(goals), n_actions))
    for i, g in enumerate(goals):
        terminal = {other: goal_reward[i] if other == g else r_bar_min for other in goals}
        v_bar = best_of_all_policies(dense, world.step_reward, terminal)
        for s, a in product(range(n), range(n_actions)):
            table[s, i, a] = (
                terminal[s]
                if s in terminal
                else world.step_reward[s, a]
                + sum(dense[s, a, t] * v_bar[t] for t in range(n) if dense[s, a, t] > 0)
            )
    return table


def assert_close(got, expected, error):
    assert np.array_equal(np.isneginf(got), np.isneginf(expected))
    known = np.isfinite(expected)
    assert np.abs(got[known] - expected[known]).max(initial=0.0) <= error


@settings(max_examples=100, deadline=None)
@given(small_worlds(), st.sampled_from([1.0, 0.5, -1.0]))
def test_the_optimum_is_that_of_all_proper_policies(drawn, other):
    dense, world = drawn
    space = TaskSpace(world, r_universal=2.0, r_empty=-1.0)
    rewards = [2.0, other][: world.n_goals]
    got = optimal_v(space.from_rewards(rewards))
    terminal = dict(zip(world.goals.tolist(), rewards, strict=True))
    assert_close(got, best_of_all_policies(dense, world.step_reward, terminal), 1e-9)


@settings(max_examples=60, deadline=None)
@given(small_worlds(), st.sampled_from([-3.0, -20.0]))
def test_extended_values_are_those_of_all_proper_policies(drawn, r_bar_min):
    dense, world = drawn
    space = TaskSpace(world, r_universal=2.0, r_empty=-1.0)
    task = space.from_rewards([0.5, 2.0][: world.n_goals])
    solved = plan(space, [task, space.universal], r_bar_min=r_bar_min)
    for values, rewards in zip(solved.values, (task.goal_reward, [2.0, 2.0]), strict=True):
        assert_close(values.table, q_bar_of_all_policies(dense, world, rewards, r_bar_min), 1e-9)
    for bound, reward in ((solved.bounds.universal, 2.0), (solved.bounds.empty, -1.0)):
        expected = q_bar_of_all_policies(dense, world, [reward] * 2, r_bar_min)
        assert_close(bound.table, expected, 1e-9)


@settings(max_examples=60, deadline=None)
@given(small_worlds(), st.sampled_from([1.0, 0.1, 1e-3]))
def test_the_error_is_never_above_its_bound(drawn, tolerance):
    dense, world = drawn
    space = TaskSpace(world, r_universal=2.0, r_empty=-1.0)
    task = space.from_rewards([0.5, 2.0][: world.n_goals])
    solved = q_bar_star(space, [task], r_bar_min=-5.0, tolerance=tolerance)
    assert solved.error_bound <= tolerance
    expected = q_bar_of_all_policies(dense, world, task.goal_reward, -5.0)
    assert_close(solved.values[0].table, expected, solved.error_bound + 1e-12)


def slippery_corridor(length, slip):
    """Cells 0 … length − 1 and the goal at the left end; right is the wrong way."""
    return from_text("A" + "." * (length - 1), slip_probability=slip, step_reward=-1.0)


def test_a_coarse_tolerance_leaves_an_error_and_a_bound_that_covers_it():
    space = TaskSpace(slippery_corridor(6, 0.3))
    fine = q_bar_star(space, [space.universal], tolerance=1e-12)
    coarse = q_bar_star(space, [space.universal], tolerance=0.5)
    error = np.abs(coarse.values[0].table - fine.values[0].table).max()
    assert 1e-6 < error <= coarse.error_bound <= 0.5
    assert fine.error_bound <= 1e-12


def test_a_corridor_takes_the_time_of_a_random_walk():
    # Left succeeds with p = 0.7, goes right with 0.1, and stays with 0.2 (up and down are walls).
    # In a long corridor each cell to the left takes 1 / (0.7 − 0.1) steps, but for the far end.
    length, slip = 30, 0.3
    space = TaskSpace(slippery_corridor(length, slip))
    values = optimal_v(space.universal)
    steps = np.zeros(length)
    chain, right = np.zeros((length, length)), np.ones(length)
    for s in range(1, length):
        chain[s, s - 1] += 0.7
        chain[s, min(s + 1, length - 1)] += 0.1
        chain[s, s] += 0.2
    steps[1:] = np.linalg.solve((np.eye(length) - chain)[1:, 1:], right[1:])
    assert steps[10] == pytest.approx(10 / 0.6, rel=1e-6)
    np.testing.assert_allclose(values[:length], 2.0 - 1.0 - steps, atol=1e-8)


@pytest.mark.parametrize("slip", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_tiny_slip_gives_the_values_of_the_deterministic_world(slip):
    text = "A....\n.##..\n....B"
    sure, rare = (TaskSpace(from_text(text, slip_probability=p)) for p in (0.0, slip))
    exact = optimal_v(sure.task("B"))
    # A slip costs at most the way back: below 20 steps of 0.1, at most some 10 times an episode.
    assert_close(optimal_v(rare.task("B")), exact, 20 * slip + 1e-9)


@pytest.mark.parametrize("place", ["top", "bottom"])
def test_open_rooms_are_planned_wherever_the_goal_is(place):
    rows = ["...."] * 9
    rows[0 if place == "top" else -1] = "A..."
    values = optimal_v(TaskSpace(from_text("\n".join(rows), slip_probability=0.1)).universal)
    # At best 11 moves and one stay; the slips add less than as much again.
    assert 2.0 - 0.1 * 24 < values[:36].min() < 2.0 - 0.1 * 12


def test_a_world_that_looks_the_same_turned_upside_down_has_the_same_values():
    top = from_text("A..\n...\n...", slip_probability=0.2)
    bottom = from_text("...\n...\nA..", slip_probability=0.2)
    upper = optimal_v(TaskSpace(top).universal)[:9].reshape(3, 3)
    lower = optimal_v(TaskSpace(bottom).universal)[:9].reshape(3, 3)
    np.testing.assert_allclose(upper, lower[::-1], atol=1e-9)


def test_dead_ends_are_worth_minus_infinity_and_are_avoided():
    # 0: a gamble that may fall into the trap 3, or a slow way by 1 to the goal 2.
    dense = np.zeros((4, 2, 4))
    dense[0, 0] = [0.0, 0.0, 0.99, 0.01]
    dense[0, 1] = [0.5, 0.5, 0.0, 0.0]
    dense[1, :, 2] = 1.0
    dense[3, :, 3] = 1.0
    space = TaskSpace(from_arrays(dense, -1.0, [2]))
    values = optimal_v(space.universal)
    assert values == pytest.approx([2.0 - 3.0, 2.0 - 1.0, 2.0, -np.inf])
    table = q_bar_star(space, []).bounds.universal.table
    assert table[0, 0, 0] == -np.inf
    assert table[0, 0, 1] == pytest.approx(-1.0)


def test_going_round_for_nothing_is_worth_the_best_way_out():
    # 0 ⇄ 1 for nothing; out of 0 the goal costs 5, out of 1 it costs 1 but takes luck.
    dense = np.zeros((3, 2, 3))
    dense[0, 0, 1] = dense[1, 0, 0] = 1.0
    dense[0, 1, 2] = 1.0
    dense[1, 1] = [0.0, 0.5, 0.5]
    space = TaskSpace(from_arrays(dense, [[0.0, -5.0], [0.0, -1.0], [0.0, 0.0]], [2]))
    assert optimal_v(space.universal) == pytest.approx([0.0, 0.0, 2.0], abs=1e-9)


def test_changing_ones_mind_can_beat_every_commitment():
    # From 0 chance leads to 1 or 2, each next to a goal of its own and far from the other.
    dense = np.zeros((5, 2, 5))
    dense[0, :] = [0.0, 0.5, 0.5, 0.0, 0.0]
    dense[1, 0, 3] = dense[1, 1, 2] = 1.0
    dense[2, 0, 4] = dense[2, 1, 1] = 1.0
    rewards = np.array([[-1.0, -1.0], [-1.0, -8.0], [-1.0, -8.0], [0, 0], [0, 0]])
    space = TaskSpace(from_arrays(dense, rewards, [3, 4]))
    assert optimal_v(space.universal)[0] == pytest.approx(0.0)
    by_the_letter = r_bar_min_of(space)
    table = q_bar_star(space, [space.universal], r_bar_min=by_the_letter).values[0].table
    assert table[0].max() == pytest.approx(2.0 - 1.0 - 0.5 * 1.0 - 0.5 * 9.0)
    # With the mild penalty half of the episodes end in the wrong goal instead, for −0.1.
    table = q_bar_star(space, [space.universal]).values[0].table
    assert table[0].max() == pytest.approx(-1.0 + 0.5 * (-1.0 + 2.0) + 0.5 * (-1.0 - 0.1))


@pytest.mark.parametrize("tolerance", [0.0, -1e-6, np.nan, -np.inf])
def test_a_tolerance_that_is_not_above_zero_is_refused(tolerance):
    space = TaskSpace(from_text("A.", slip_probability=0.5))
    with pytest.raises(ValueError) as caught:
        plan(space, [space.universal], tolerance=tolerance)
    assert str(tolerance) in str(caught.value)
    assert "above 0" in str(caught.value)
    with pytest.raises(ValueError, match="above 0"):
        optimal_v(space.universal, tolerance=tolerance)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, np.nan])
def test_a_bad_tolerance_is_refused_in_deterministic_worlds_too(tolerance):
    space = TaskSpace(from_text("A."))
    with pytest.raises(ValueError, match="tolerance"):
        plan(space, [space.universal], tolerance=tolerance)


@pytest.mark.parametrize("r_bar_min", [np.nan, np.inf, -np.inf])
def test_a_penalty_that_is_not_a_number_is_refused(r_bar_min):
    space = TaskSpace(from_text("A.", slip_probability=0.5))
    with pytest.raises(ValueError, match=f"{r_bar_min}, expected a finite number"):
        plan(space, [space.universal], r_bar_min=r_bar_min)


def test_steps_that_pay_are_refused_where_outcomes_are_random():
    dense = np.zeros((3, 1, 3))
    dense[0, 0] = [0.5, 0.0, 0.5]
    dense[1, 0] = [1.0, 0.0, 0.0]
    world = from_arrays(dense, [-1.0, 0.25, 0.0], [2], action_names=["go"])
    space = TaskSpace(world)
    for question in (lambda: optimal_v(space.universal), lambda: plan(space, [space.universal])):
        with pytest.raises(ValueError) as caught:
            question()
        for word in ("go in state 1", "0.25", "at most 0", "lower"):
            assert word in str(caught.value)


def test_dense_tasks_that_pay_for_steps_are_refused_too():
    space = TaskSpace(from_text("A.", slip_probability=0.5))
    dense = space.from_rewards([2.0], np.full((3, 5), 0.5))
    with pytest.raises(ValueError, match="at most 0"):
        plan(space, [dense])


def test_dense_tasks_are_planned_with_their_own_steps():
    space = TaskSpace(from_text("A.", slip_probability=0.5))
    # From the right cell left succeeds with 1/2 each time: two moves on average, then stay.
    values = optimal_v(space.from_rewards([2.0], np.full((3, 5), -0.25)))
    assert values == pytest.approx([1.75, 1.25, 2.0])
    assert optimal_v(space.universal) == pytest.approx([1.9, 1.7, 2.0])


def test_a_world_that_takes_too_long_is_refused_rather_than_guessed():
    dense = np.zeros((2, 1, 2))
    dense[0, 0] = [1 - 1e-9, 1e-9]
    space = TaskSpace(from_arrays(dense, -1.0, [1]))
    try:
        value = optimal_v(space.universal)[0]
    except ConvergenceError as error:
        assert isinstance(error, ValueError)
        assert re.search("too long|raise the tolerance", str(error))
    else:
        assert value == pytest.approx(2.0 - 1e9, rel=1e-6)


def test_bounds_that_do_not_meet_in_time_are_refused_rather_than_guessed(monkeypatch):
    space = TaskSpace(slippery_corridor(10, 0.3))
    monkeypatch.setattr("taskalgebra.planning.policy_iteration.LARGEST_SYSTEM", 5)
    paths = ShortestPaths(space.mdp, space.mdp.step_reward)
    paths.sweeps = 3
    with pytest.raises(ConvergenceError) as caught:
        paths.solve(np.array([2.0]), 1e-10)
    for word in ("3 sweeps", "1.0e-10", "raise the tolerance"):
        assert word in str(caught.value)


def test_a_tolerance_below_rounding_ends_with_an_honest_bound():
    space = TaskSpace(slippery_corridor(6, 0.3))
    solved = q_bar_star(space, [space.universal], tolerance=1e-300)
    assert 0.0 <= solved.error_bound < 1e-12


def test_the_error_bound_holds_for_tiny_rewards_too():
    # 0 ends with 1/2, or goes to 1; 1 goes back to 0.  Every step costs 2⁻⁴⁴, which is not nothing.
    cost = 2.0**-44
    dense = np.zeros((3, 2, 3))
    dense[0, 0] = [0.5, 0.0, 0.5]
    dense[0, 1, 1] = dense[1, 0, 0] = dense[1, 1, 0] = 1.0
    space = TaskSpace(from_arrays(dense, -cost, [2]), r_universal=0.0, r_empty=-1.0)
    solved = q_bar_star(space, [space.universal], tolerance=cost / 1000)
    expected = -cost * np.array([[2.0, 4.0], [3.0, 3.0], [0.0, 0.0]])
    assert np.abs(solved.values[0].table[:, 0] - expected).max() <= solved.error_bound + 1e-20


def test_sweeps_in_turns_are_the_same_sweeps_and_can_be_stopped_between_them(monkeypatch):
    space = FourRooms(slip_probability=0.3).space
    states = np.arange(space.mdp.n_states)
    (whole,) = q_bar_star(space, [space.universal]).values
    monkeypatch.setattr(stochastic, "SWEPT_AT_ONCE", 1)
    (again,) = q_bar_star(space, [space.universal]).values
    assert np.array_equal(whole.q_bar(states), again.q_bar(states))

    def stopped(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(stochastic, "_bracket", stopped)
    with pytest.raises(KeyboardInterrupt):
        q_bar_star(space, [space.universal])
