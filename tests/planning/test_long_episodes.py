"""Worlds with very long episodes, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fractions_oracle import optimum
from taskalgebra.planning import policy_iteration
from taskalgebra.planning.exact import optimal_v, plan
from taskalgebra.planning.policy_iteration import ConvergenceError
from taskalgebra.planning.stochastic import ShortestPaths
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays


def ladder(n, p):
    """0 … n − 1 and a goal n: up with probability p, else back to the bottom."""
    dense = np.zeros((n + 1, 2, n + 1))
    for s in range(n):
        dense[s, 0, s + 1] = p
        dense[s, 0, 0] += 1 - p
        dense[s, 1, max(s - 1, 0)] = 1.0
    dense[n, :, n] = 1.0
    return dense


def exact(dense, rewards, terminal):
    """V* in fractions, of the numbers as they are held."""
    n, n_actions, _ = dense.shape
    outcomes = [
        [
            {t: Fraction(float(dense[s, a, t])) for t in range(n) if dense[s, a, t] > 0}
            for a in range(n_actions)
        ]
        for s in range(n)
    ]
    table = np.broadcast_to(np.asarray(rewards, float), (n, n_actions))
    rows = [[Fraction(float(x)) for x in row] for row in table]
    return optimum(outcomes, rows, {s: Fraction(r) for s, r in terminal.items()})[0]


@pytest.mark.parametrize(
    ("n", "p", "steps"), [(14, 0.5, 2**15 - 2), (19, 0.5, 2**20 - 2), (14, 0.25, None)]
)
def test_worlds_that_take_very_long_are_solved(n, p, steps):
    dense = ladder(n, p)
    space = TaskSpace(from_arrays(dense, -0.125, [n]))
    expected = exact(dense, -0.125, {n: 2})
    if steps is not None:
        assert expected[0] == 2 - Fraction(steps, 8)
    solved = plan(space, [space.universal])
    values = solved.values[0].table.max(axis=(1, 2))
    assert solved.error_bound < 1e-6 * abs(float(expected[0]))
    for got, true in zip(values, expected, strict=True):
        assert abs(Fraction(float(got)) - true) <= Fraction(solved.error_bound) * Fraction(1.0001)


@pytest.mark.parametrize("rare", [2.0**-20, 2.0**-30, 2.0**-40, 2.0**-50])
def test_a_rare_way_out_is_waited_for(rare):
    dense = np.zeros((3, 2, 3))
    dense[0, 0] = [1 - rare, 0.0, rare]
    dense[0, 1, 1] = dense[1, 0, 0] = 1.0
    dense[1, 1] = [0.0, 1 - rare / 4, rare / 4]
    dense[2, :, 2] = 1.0
    space = TaskSpace(from_arrays(dense, -1.0, [2]))
    value, bound = ShortestPaths(space.mdp, space.mdp.step_reward).solve(np.array([2.0]), 1e-10)
    for got, true in zip(value, exact(dense, -1.0, {2: 2}), strict=True):
        assert abs(Fraction(float(got)) - true) <= Fraction(bound)
    assert bound <= 1e-6 / rare


@st.composite
def slow_worlds(draw):
    """Few states and rare outcomes: episodes of up to some billion steps; some steps are free."""
    n_live, n_goals = draw(st.integers(1, 5)), draw(st.integers(1, 2))
    n = n_live + n_goals
    dense, rewards = np.zeros((n, 2, n)), np.zeros((n, 2))
    for s in range(n_live):
        for a in range(2):
            common, other = draw(st.integers(0, n_live - 1)), draw(st.integers(0, n - 1))
            rare = 2.0 ** -draw(st.sampled_from([1, 8, 16, 28]))
            dense[s, a, common] += 1 - rare
            dense[s, a, other] += rare
            rewards[s, a] = draw(st.sampled_from([0.0, -(2.0**-10), -1.0, -8.0]))
    dense[0, 0] = 0.0
    dense[0, 0, [0, n - 1]] = 0.5
    for g in range(n_live, n):
        dense[g, :, g] = 1.0
    return dense, rewards, list(range(n_live, n))


@settings(max_examples=100, deadline=None)
@given(slow_worlds())
def test_bounds_are_true_however_long_episodes_are(drawn):
    dense, rewards, goals = drawn
    terminal = {g: Fraction(2 - 3 * i) for i, g in enumerate(goals)}
    expected = exact(dense, rewards, terminal)
    world = from_arrays(dense, rewards, goals)
    paths = ShortestPaths(world, world.step_reward)
    paths.sweeps = 20  # so that policy iteration has its turn
    paid = np.array([float(r) for r in terminal.values()])
    value, bound = paths.solve(paid, 1e-10)
    for got, true in zip(value, expected, strict=True):
        if true is None:
            assert got == -np.inf
        else:
            assert abs(Fraction(float(got)) - true) <= Fraction(bound) + Fraction(1, 10**12)
    known = [abs(float(true)) for true in expected if true is not None]
    assert bound <= 1e-3 * max(known) + 1.0  # free steps may add up to 2⁵⁶ of them


def test_what_rounding_hides_is_refused_in_words():
    dense = np.zeros((2, 1, 2))
    dense[0, 0] = [1.0, 2.0**-300]  # the probabilities add up to one
    dense[1, 0, 1] = 1.0
    space = TaskSpace(from_arrays(dense, -1.0, [1]))
    try:
        value = optimal_v(space.universal)
    except ConvergenceError as error:
        assert "rounding" in str(error)
    else:
        assert value[0] == pytest.approx(-(2.0**300), rel=1e-6)


def test_a_world_too_large_for_linear_systems_is_still_refused(monkeypatch):
    monkeypatch.setattr(policy_iteration, "LARGEST_SYSTEM", 3)
    space = TaskSpace(from_arrays(ladder(20, 0.5), -1.0, [20]))
    with pytest.raises(ConvergenceError, match="too long"):
        optimal_v(space.universal)
