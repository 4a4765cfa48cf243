"""Bounds on what a policy loses, and repair, against evaluations written apart."""

from __future__ import annotations

import numpy as np
import pytest

import taskalgebra as ta
import trust_oracle as oracle
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.planning.bounds import advantages, upper_bound
from taskalgebra.planning.exact import optimal_v
from taskalgebra.planning.improvement import improved
from taskalgebra.planning.policies import made_proper, policy_values, swept
from taskalgebra.planning.policy_iteration import ConvergenceError


def parts(task):
    return task.space.mdp, task.steps, task.goal_reward


@pytest.fixture(scope="module")
def slippery():
    return ta.FourRooms(slip_probability=0.3)


@pytest.mark.parametrize("expression", ["top", "top | left", "top & left", "top ^ left"])
def test_the_bound_is_above_the_optimum_and_of_use(slippery, expression):
    task = slippery.find_task(expression)
    actions = ta.solve(slippery)[expression].actions
    bound = upper_bound(*parts(task), actions)
    best, own = optimal_v(task), policy_return(task, actions)
    assert (bound.values >= best - 1e-9).all()
    lost, most = (best - own).max(), (bound.values - own).max()
    assert most <= 3 * lost + 1e-9


def test_the_first_bound_is_that_of_the_residual():
    # One step short of a goal that pays 2, the policy goes to the one that pays 0 instead.
    world = ta.from_arrays([[1, 2], [1, 1], [2, 2]], -0.5, [1, 2])
    space = ta.TaskSpace(world, r_universal=2.0, r_empty=0.0)
    task = space.from_desired([False, True])
    actions = np.zeros(3, np.int64)
    bound = upper_bound(*parts(task), actions)
    assert bound.residual == 2.0  # −0.5 + 2 in place of −0.5 + 0
    assert bound.values[0] == 1.5


def test_a_bound_of_zero_means_optimal_and_only_that(slippery):
    task = slippery.find_task("top ^ left")
    best = improved(*parts(task), np.zeros(slippery.space.mdp.n_states, np.int64))
    found = upper_bound(*parts(task), best.actions)
    assert np.abs(found.values - best.returns).max() < 1e-11
    worse = best.actions.copy()
    live = np.flatnonzero(~slippery.space.mdp.is_goal)
    gain = advantages(*parts(task)[:2], best.returns)
    s = next(s for s in live if gain[s].min() < -1e-3)
    worse[s] = gain[s].argmin()
    assert upper_bound(*parts(task), worse).residual > 1e-4


def test_where_nothing_ends_the_policy_is_made_to_end():
    world = ta.from_text("A...B", step_reward=-0.125)
    space = ta.TaskSpace(world)
    task = space.task(["A"])
    stays = np.full(world.n_states, world.action_names.index("stay"))
    assert np.isneginf(policy_return(task, stays)[2])
    mended = made_proper(world, task.goal_reward, stays)
    assert np.isfinite(policy_return(task, mended)).all()
    found = improved(*parts(task), stays)
    assert found.optimal
    assert np.array_equal(found.returns, optimal_v(task))


def test_a_goal_that_pays_nothing_at_all_is_never_entered():
    world = ta.from_text("A...B")
    terminal = np.array([2.0, -np.inf])
    right = np.full(world.n_states, world.action_names.index("right"))
    assert np.isneginf(policy_values(world, world.step_reward, terminal, right)[2])
    found = improved(world, world.step_reward, terminal, right)
    assert found.optimal
    assert np.isfinite(found.returns[~world.is_goal]).all()


def test_sweeps_give_the_values_of_a_linear_system(slippery):
    task = slippery.find_task("top")
    mdp, steps, terminal = parts(task)
    actions = ta.solve(slippery)["top"].actions
    exact = policy_return(task, actions)
    values = np.full(mdp.n_states, -np.inf)
    values[mdp.goals] = terminal
    n = swept(mdp, steps, actions, np.flatnonzero(~mdp.is_goal), values)
    assert np.abs(values - exact).max() < 1e-11
    assert n < 200
    with pytest.raises(ConvergenceError, match="too long"):
        swept(mdp, steps, actions, np.flatnonzero(~mdp.is_goal), values * 0.0, most_sweeps=1)


def test_large_worlds_are_evaluated_sparsely():
    rows = ["".join("A" if (r, c) == (0, 0) else "." for c in range(60)) for r in range(60)]
    world = ta.from_text(rows, slip_probability=0.2)
    space = ta.TaskSpace(world, r_universal=20.0)
    task = space.task(["A"])
    towards = np.where(
        world.cells[:, 0] > 0, world.action_names.index("up"), world.action_names.index("left")
    )
    towards[(world.cells == 0).all(axis=1)] = world.action_names.index("stay")
    values = policy_return(task, towards)
    gain = advantages(*parts(task)[:2], values)
    live = ~world.is_goal
    assert np.abs(gain[np.arange(world.n_states), towards][live]).max() < 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_improved_policies_satisfy_the_equation_of_the_optimum(seed):
    rng = np.random.default_rng(seed)
    n, n_actions = 12, 3
    p = np.zeros((n, n_actions, n))
    for s in range(n):
        for a in range(n_actions):
            np.add.at(p[s, a], (s + rng.integers(-2, 3, 3)) % n, [0.6, 0.2, 0.2])
    r = -rng.integers(1, 5, (n, n_actions)) / 8
    world = ta.from_arrays(p, r, [0, 6])
    task = ta.TaskSpace(world).from_desired([True, False])
    found = improved(*parts(task), rng.integers(0, n_actions, n))
    assert found.optimal
    ends = {0: float(task.goal_reward[0]), 6: float(task.goal_reward[1])}
    assert oracle.is_optimal(p, task.steps, ends, found.actions, 1e-9)


def test_the_oracle_knows_a_policy_that_is_not_optimal():
    p = np.zeros((3, 2, 3))
    p[0, 0, 1] = p[0, 1, 2] = p[1, :, 1] = p[2, :, 2] = 1.0
    r = np.full((3, 2), -1.0)
    assert oracle.is_optimal(p, r, {1: 0.0, 2: 2.0}, np.array([1, 0, 0]), 1e-9)
    assert not oracle.is_optimal(p, r, {1: 0.0, 2: 2.0}, np.array([0, 0, 0]), 1e-9)
    assert oracle.policy_value(p, r, {1: 0.0, 2: 2.0}, np.array([0, 0, 0]))[0] == -1.0


def test_a_gap_stops_early_and_is_kept(slippery):
    task = slippery.find_task("top ^ left")
    start = made_proper(*parts(task)[::2], np.zeros(slippery.space.mdp.n_states, np.int64))
    whole = improved(*parts(task), start)
    some = improved(*parts(task), start, gap=0.2)
    best = optimal_v(task)
    starts = slippery.space.mdp.starts
    assert some.rounds <= whole.rounds
    assert 0.0 <= (best - some.returns)[starts].max() <= some.gap + 1e-9 <= 0.2 + 1e-9
    one = improved(*parts(task), start, rounds=1)
    assert one.rounds == 1
    assert not one.optimal
    assert (best - one.returns)[starts].max() <= one.gap + 1e-9


def test_small_gains_over_long_episodes_are_not_called_rounding():
    # Waiting costs 0.1 a step and ends with probability 1e-6; one action is a little luckier.
    p = np.zeros((3, 2, 3))
    p[0, 0], p[0, 1] = [1 - 1e-6, 1e-6, 0.0], [1 - 1.000001e-6, 1.000001e-6, 0.0]
    p[1, :, 1] = p[2, :, 2] = 1.0
    world = ta.from_arrays(p, -0.1, [1, 2])
    task = ta.TaskSpace(world).from_desired([True, False])
    slow = np.zeros(3, np.int64)
    lost = optimal_v(task)[0] - policy_return(task, slow)[0]
    assert lost > 0.05
    assert upper_bound(*parts(task), slow).values[0] >= optimal_v(task)[0] - 1e-6


def test_there_is_no_bound_where_chance_gains():
    p = np.zeros((2, 1, 2))
    p[0, 0], p[1, 0, 1] = [0.99, 0.01], 1.0
    world = ta.from_arrays(p, 1.0, [1])
    with pytest.raises(ValueError, match="more than 0"):
        upper_bound(world, world.step_reward, np.array([2.0]), np.zeros(2, np.int64))


def test_forbidden_goals_in_a_stochastic_world():
    p = np.zeros((4, 2, 4))
    p[0, 0], p[0, 1] = [0.0, 0.5, 0.5, 0.0], [0.0, 0.5, 0.0, 0.5]
    p[1, 0], p[1, 1] = [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]
    p[2, :, 2] = p[3, :, 3] = 1.0
    world = ta.from_arrays(p, -1.0, [2, 3])
    terminal = np.array([2.0, -np.inf])
    found = improved(world, world.step_reward, terminal, np.ones(4, np.int64))
    assert found.returns[:2].tolist() == pytest.approx([2.0 - 1.5, 1.0])
