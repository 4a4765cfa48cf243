"""Worlds with very long episodes, against exact fractions."""

import logging
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fractions_oracle import optimum
from taskalgebra.planning import policy_iteration, stochastic
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


def stalled_world():
    """0 and 1 are joined by steps that rounding hides; the way out of 0 is chance, and costs 1."""
    dense, rewards = np.zeros((4, 2, 4)), np.zeros((4, 2))
    dense[0, 0, 1] = dense[1, :, 0] = 1.0
    dense[0, 1, [2, 3]] = 0.5
    dense[2, :, 2] = dense[3, :, 3] = 1.0
    rewards[0] = [-1e-17, -1.0]
    rewards[1] = -1e-17
    return dense, rewards


def test_bounds_that_stall_apart_are_left_to_policy_iteration():
    dense, rewards = stalled_world()
    world = from_arrays(dense, rewards, [2, 3])
    value, bound = ShortestPaths(world, rewards).solve(np.array([2.0, -0.1]), 1e-10)
    expected = exact(dense, rewards, {2: Fraction(2), 3: Fraction(-0.1)})
    assert bound <= 1e-12
    for got, true in zip(value, expected, strict=True):
        assert abs(Fraction(float(got)) - true) <= Fraction(bound)


@pytest.mark.parametrize("failing", ["verified_lower", "verified_upper"])
def test_bounds_that_stall_apart_are_kept_if_policy_iteration_fails(monkeypatch, failing):
    def fails(choices, best, terminal):
        raise ConvergenceError("rounding")

    monkeypatch.setattr(stochastic, failing, fails)
    dense, rewards = stalled_world()
    world = from_arrays(dense, rewards, [2, 3])
    value, bound = ShortestPaths(world, rewards).solve(np.array([2.0, -0.1]), 1e-10)
    expected = exact(dense, rewards, {2: Fraction(2), 3: Fraction(-0.1)})
    assert max(abs(Fraction(float(v)) - true) for v, true in zip(value, expected, strict=True)) <= (
        bound
    )
    assert bound <= 1.1


@pytest.mark.parametrize("off", [-1.0, 1.0])
def test_policy_iteration_never_loosens_the_bounds_of_the_sweeps(monkeypatch, off):
    def loose(choices, best, terminal):
        return choices.of_states(np.full(choices.n_live + terminal.size, off * 1e6))

    monkeypatch.setattr(stochastic, "verified_lower" if off < 0 else "verified_upper", loose)
    dense = ladder(4, 0.5)
    world = from_arrays(dense, -1.0, [4])
    paths = ShortestPaths(world, world.step_reward)
    paths.sweeps = 60
    value, bound = paths.solve(np.array([2.0]), 1e-10)
    assert 1e-10 < bound < 30
    for got, true in zip(value, exact(dense, -1.0, {4: 2}), strict=True):
        assert abs(Fraction(float(got)) - true) <= Fraction(bound)


def test_a_tolerance_that_is_not_kept_is_told_once(caplog):
    dense = np.zeros((3, 2, 3))
    dense[0, :, [0, 1]] = [[1 - 1e-12] * 2, [1e-12] * 2]
    dense[1, :, [1, 2]] = [[1 - 1e-13] * 2, [1e-13] * 2]
    dense[2, :, 2] = 1.0
    space = TaskSpace(from_arrays(dense, -1.0, [2]))
    with caplog.at_level(logging.WARNING, logger="taskalgebra"):
        family = plan(space, {"a": space.universal, "b": space.empty}, tolerance=1e-10)
    assert family.error_bound > 1e-10
    (record,) = caplog.records
    assert record.name == "taskalgebra"
    assert f"{family.error_bound:.1e}" in record.getMessage()
    assert "1.0e-10" in record.getMessage()
    caplog.clear()
    optimal_v(space.universal, tolerance=1e-10)
    assert len(caplog.records) == 1


def test_a_tolerance_that_is_kept_is_not_spoken_of(caplog):
    space = TaskSpace(from_arrays(ladder(4, 0.5), -1.0, [4]))
    assert plan(space, [space.universal]).error_bound <= 1e-10
    optimal_v(space.universal)
    assert not caplog.records
