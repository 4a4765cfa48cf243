"""Counting episodes agrees with exact evaluation."""

from __future__ import annotations

import numpy as np
import pytest

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.paper.experiments.episodes import CUT_OFF, DESIRED, OUTCOMES, WRONG, play
from taskalgebra.paper.experiments.rooms import optimum
from taskalgebra.planning.exact import optimal_q, optimal_v


@pytest.mark.parametrize("slip", [0.0, 0.3])
@pytest.mark.parametrize("expression", ["top & left", "top ^ left", "false"])
def test_the_mean_is_that_of_exact_evaluation(slip, expression):
    task = FourRooms(slip_probability=slip).find_task(expression)
    _, actions = optimum(task)
    episodes = play(task, actions, episodes=20_000, max_steps=1000, seed=3)
    exact = policy_return(task, actions)
    assert np.allclose(exact, optimal_v(task), atol=1e-8)
    expected = episodes.mean_of(exact)
    assert episodes.mean == pytest.approx(expected, abs=1e-9 if slip == 0 else 0.03)
    assert episodes.n == 20_000
    assert episodes.failure_rate == pytest.approx(1 - episodes.rate(DESIRED))
    assert slip > 0 or episodes.failure_rate == 0


def test_with_many_slips_the_optimal_policy_gives_up_far_from_its_goal():
    """From the opposite room, a wrong goal at hand is worth more than the way to the right one."""
    task = FourRooms(slip_probability=0.3).find_task("top & left")
    episodes = play(task, optimum(task)[1], episodes=20_000, max_steps=100, seed=0)
    assert 0.1 < episodes.rate(WRONG) < 0.2


def test_returns_add_up_step_by_step():
    """Every return of a deterministic policy is the exact return of some start."""
    task = FourRooms().find_task("top & left")
    _, actions = optimum(task)
    episodes = play(task, actions, episodes=5000, max_steps=100, seed=0)
    counts, returns = episodes.counts, episodes.returns()
    starts = task.space.mdp.starts
    values, _ = np.unique(optimal_v(task)[starts].round(9), return_counts=True)
    assert set(returns[counts > 0].round(9)) == set(values)


def test_a_policy_that_only_stays_is_cut_off_except_on_goals():
    task = FourRooms().find_task("top")
    mdp = task.space.mdp
    stay = np.full(mdp.n_states, mdp.action_names.index("stay"))
    episodes = play(task, stay, episodes=10_400, max_steps=7, seed=1)
    assert episodes.rate(CUT_OFF) == pytest.approx(100 / 104, abs=0.01)
    assert episodes.rate(WRONG) == pytest.approx(2 / 104, abs=0.01)
    assert sum(episodes.rate(outcome) for outcome in OUTCOMES) == pytest.approx(1)
    counts, returns = episodes.counts, episodes.returns()
    assert {round(x, 9) for x in returns[counts > 0]} == {1.9, -0.2, -0.7}


def test_equal_seeds_agree_and_different_seeds_differ():
    task = FourRooms(slip_probability=0.2).find_task("left")
    _, actions = optimum(task)
    one, same, other = (
        play(task, actions, episodes=500, max_steps=100, seed=seed).counts for seed in (0, 0, 1)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_episodes_add():
    task = FourRooms().find_task("left")
    a, b = (play(task, optimum(task)[1], episodes=100, max_steps=50, seed=seed) for seed in (0, 1))
    both = a.add(b)
    assert both.n == 200
    assert both.mean == pytest.approx((a.mean + b.mean) / 2)


def test_dense_tasks_are_refused():
    world = FourRooms(dense=True)
    with pytest.raises(ValueError, match="sparse"):
        play(world.find_task("top"), np.zeros(108, int), episodes=1, max_steps=1, seed=0)


@pytest.mark.parametrize("slip", [0.0, 0.2])
def test_optimal_q_satisfies_the_bellman_equation(slip):
    task = FourRooms(slip_probability=slip).find_task("top ^ left")
    q, v = optimal_q(task), optimal_v(task)
    assert np.allclose(q.max(axis=1), v, atol=1e-8)
    assert np.array_equal(q[task.space.mdp.goals, 0], task.goal_reward)
