"""Extrapolation finds the fixed point of a linear iteration from a few of its vectors."""

import numpy as np
import pytest

from taskalgebra.planning.extrapolation import limit


def iterated(matrix, constant, n, begin):
    """[n, S], x and what comes of it."""
    found = [begin]
    for _ in range(n - 1):
        found.append(matrix @ found[-1] + constant)
    return np.array(found)


@pytest.mark.parametrize("n_modes", [1, 2, 5])
@pytest.mark.parametrize("extra", [0, 4])
def test_few_modes_are_enough(n_modes, extra):
    """With one vector more than modes changes vanish together, and others may follow."""
    rng = np.random.default_rng(n_modes)
    vectors = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    rates = np.zeros(40)
    rates[:n_modes] = np.linspace(0.96875, 0.5, n_modes)
    matrix = vectors * rates @ vectors.T
    constant = rng.standard_normal(40)
    fixed = np.linalg.solve(np.eye(40) - matrix, constant)
    begin = fixed + vectors[:, :n_modes] @ rng.uniform(1.0, 2.0, n_modes)
    history = iterated(matrix, constant, n_modes + 2 + extra, begin)
    before, after = np.abs(history[-1] - fixed).max(), np.abs(limit(history) - fixed).max()
    assert before > 1e-3
    assert after < 1e-6 * before


def test_no_other_combination_solves_the_equations_better():
    """The least residual is that of least squares, and less than that of the last vector."""
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    matrix = vectors * np.linspace(0.0, 0.96875, 60) @ vectors.T
    constant = rng.standard_normal(60)
    history = iterated(matrix, constant, 9, np.zeros(60))
    change = np.diff(history, axis=0)
    rest = np.linalg.lstsq((change[:-1] - change[-1]).T, -change[-1], rcond=None)[0]
    least = np.linalg.norm(rest @ (change[:-1] - change[-1]) + change[-1])
    found = limit(history)
    residual = np.linalg.norm(matrix @ found + constant - found)
    assert residual == pytest.approx(least, rel=1e-6)
    assert residual < np.linalg.norm(change[-1])


def test_what_stands_still_stays():
    history = np.full((4, 3), 7.0)
    assert np.array_equal(limit(history), history[0])


def test_equal_changes_have_no_limit():
    history = np.arange(5.0)[:, None] * np.array([1.0, -2.0])
    assert np.array_equal(limit(history), history[-1])
