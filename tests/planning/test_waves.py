"""Sweeps in waves: values, their error bounds and policies, against independent oracles."""

import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, identity
from scipy.sparse.linalg import spsolve

import taskalgebra as ta
from taskalgebra.planning import policies, stochastic, waves
from taskalgebra.planning.distances import backwards, by_distance
from taskalgebra.planning.policy_iteration import ConvergenceError
from taskalgebra.planning.stochastic import ShortestPaths
from taskalgebra.worlds.build import from_arrays


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Small worlds take the path of large ones."""
    monkeypatch.setattr(stochastic, "LARGE", 0)
    monkeypatch.setattr(policies, "LARGE", 0)
    monkeypatch.setattr(policies, "LARGEST_SYSTEM", 0)


def random_world(seed, n_states=30, n_actions=3, n_goals=3):
    """Random outcomes, dear and cheap steps; from some states nothing surely ends."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((n_states, n_actions, n_states))
    for s in range(n_states - n_goals):
        for a in range(n_actions):
            after = rng.choice(n_states - n_goals * (rng.random() < 0.7), rng.integers(1, 4))
            dense[s, a, after] += rng.dirichlet(np.ones(after.size))
    dense[n_states - n_goals - 1] = 0.0
    dense[n_states - n_goals - 1, :, n_states - n_goals - 1] = 1.0  # a trap
    for g in range(n_states - n_goals, n_states):
        dense[g, :, g] = 1.0
    dense /= dense.sum(axis=2, keepdims=True)
    cost = -rng.choice([0.01, 0.1, 1.0, 3.0], (n_states, n_actions))
    goals = list(range(n_states - n_goals, n_states))
    dense[0, 0] = 0.0
    dense[0, 0, [0, goals[0]]] = 0.5
    return from_arrays(dense, cost, goals)


def by_linear_programming(mdp, terminal):
    """The least V with V(s) ≥ r + Σ p V(s') for all actions that stay where some policy ends."""
    live = np.flatnonzero(mdp.ending & ~mdp.is_goal)
    place = {int(s): i for i, s in enumerate(live)}
    rows, right = [], []
    for s in live:
        for a in range(mdp.n_actions):
            span = slice(*mdp.offset[s * mdp.n_actions + a : s * mdp.n_actions + a + 2])
            after, p = mdp.successor[span], mdp.probability[span]
            if not mdp.ending[after].all():
                continue
            row, paid = np.zeros(live.size), mdp.step_reward[s, a]
            row[place[int(s)]] -= 1.0
            for t, share in zip(after, p, strict=True):
                if mdp.is_goal[t]:
                    paid += share * terminal[mdp.goal_of_state[t]]
                else:
                    row[place[int(t)]] += share
            rows.append(row)
            right.append(-paid)
    found = linprog(np.ones(live.size), np.array(rows), np.array(right), bounds=(None, None))
    values = np.full(mdp.n_states, -np.inf)
    values[mdp.goals] = terminal
    values[live] = found.x
    return values


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("terminal", [(2.0, -0.1, -0.1), (-7.0, 0.0, 30.0)])
def test_values_are_the_least_that_no_action_raises(seed, terminal):
    mdp = random_world(seed)
    paths = ShortestPaths(mdp, mdp.step_reward)
    assert paths.waves is not None
    values, error = paths.solve(np.array(terminal), 1e-9)
    expected = by_linear_programming(mdp, np.array(terminal))
    assert error <= 1e-9
    assert np.array_equal(np.isneginf(values), np.isneginf(expected))
    assert np.isneginf(values).any()
    assert np.allclose(values, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_waves_agree_with_bounds_that_meet(seed, monkeypatch):
    mdp = random_world(100 + seed, 60)
    terminal = np.array([2.0, -0.1, -5.0])
    swept, error = ShortestPaths(mdp, mdp.step_reward).solve(terminal, 1e-10)
    monkeypatch.setattr(stochastic, "LARGE", 2**14)
    paths = ShortestPaths(mdp, mdp.step_reward)
    assert paths.waves is None
    bracketed, gap = paths.solve(terminal, 1e-10)
    live = mdp.ending
    assert np.abs(swept[live] - bracketed[live]).max() <= error + gap + 1e-13


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_error_bound_is_true_in_exact_arithmetic(data):
    """A chain that falls back: V(s) of the only policy is a fraction."""
    n = data.draw(st.integers(2, 12))
    back = [data.draw(st.sampled_from([0.0, 0.25, 0.5, 0.75])) for _ in range(n)]
    cost = [data.draw(st.sampled_from([0.125, 1.0, 10.0])) for _ in range(n)]
    tolerance = data.draw(st.sampled_from([1e-1, 1e-5, 1e-12]))
    dense = np.zeros((n + 1, 1, n + 1))
    for s in range(n):  # goal: state n; s + 1 is one step nearer
        dense[s, 0, s + 1] += 1 - back[s]
        dense[s, 0, max(s - 1, 0)] += back[s]
    dense[n, 0, n] = 1.0
    world = from_arrays(dense, -np.array([*cost, 0.0])[:, None], [n])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stochastic, "LARGE", 0)
        values, error = ShortestPaths(world, world.step_reward).solve(np.array([2.0]), tolerance)
    step, exact = Fraction(0), [Fraction(0)] * (n + 1)
    exact[n] = Fraction(2)
    ahead = []  # the cost from s to s + 1
    for s in range(n):
        b = Fraction(back[s])
        step = (Fraction(cost[s]) + b * step) / (1 - b)
        ahead.append(step)
    for s in range(n - 1, -1, -1):
        exact[s] = exact[s + 1] - ahead[s]
    for got, true in zip(values, exact, strict=True):
        assert abs(Fraction(float(got)) - true) <= Fraction(error)


def test_accidents_larger_than_the_window_are_swept_in_a_wider_one(monkeypatch):
    """Two windows that throw each other back would meet only after thousands of waves."""
    back = [0, 0, 0.5, 0.75, 0.75, 0.75, 0.75, 0, 0, 0]
    cost = [0.125, 0.125, 10, 10, *[0.125] * 6]
    dense = np.zeros((11, 1, 11))
    for s in range(10):
        dense[s, 0, s + 1] += 1 - back[s]
        dense[s, 0, max(s - 1, 0)] += back[s]
    dense[10, 0, 10] = 1.0
    world = from_arrays(dense, -np.array([*cost, 0.0])[:, None], [10])
    n_waves = []
    real = waves.Waves._wave
    monkeypatch.setattr(waves.Waves, "_wave", lambda *of: n_waves.append(1) or real(*of))
    values, error = ShortestPaths(world, world.step_reward).solve(np.array([2.0]), 1e-4)
    linear = np.eye(10) - dense[:10, 0, :10]
    exact = np.linalg.solve(linear, 2.0 * dense[:10, 0, 10] - cost)
    assert error <= 1e-4 and np.abs(values[:10] - exact).max() <= error
    assert len(n_waves) <= 20


@pytest.mark.parametrize("width", [2.0, waves.WIDTH])
def test_head_wind_in_which_sweeps_creep_takes_few_waves(width, monkeypatch):
    """Every other stretch of a corridor blows an agent back most of the time."""
    n = 80
    back = np.where(np.arange(n) // 10 % 2 == 1, 0.625, 0.125)
    dense = np.zeros((n + 1, 1, n + 1))
    for s in range(n):
        dense[s, 0, s + 1] += 1 - back[s]
        dense[s, 0, max(s - 1, 0)] += back[s]
    dense[n, 0, n] = 1.0
    world = from_arrays(dense, -0.125, [n])
    monkeypatch.setattr(waves, "WIDTH", width)
    n_waves = []
    real = waves.Waves._wave
    monkeypatch.setattr(waves.Waves, "_wave", lambda *of: n_waves.append(1) or real(*of))
    values, error = ShortestPaths(world, world.step_reward).solve(np.array([2.0]), 1e-6)
    step, ahead = Fraction(0), []
    for b in back:
        step = (Fraction(1, 8) + Fraction(float(b)) * step) / (1 - Fraction(float(b)))
        ahead.append(step)
    exact = Fraction(2)
    for s in range(n - 1, -1, -1):
        exact -= ahead[s]
        assert abs(Fraction(float(values[s])) - exact) <= Fraction(error)
    assert error <= 1e-6
    assert len(n_waves) <= 40


def test_a_wide_grid_is_solved_by_one_wave_and_proved(monkeypatch):
    world = ta.from_text(["A" + "." * 79, *["." * 80] * 38, "." * 79 + "B"], slip_probability=0.1)
    terminal = np.array([2.0, -0.1])
    n_waves = []
    real = waves.Waves._wave
    monkeypatch.setattr(waves.Waves, "_wave", lambda *of: n_waves.append(1) or real(*of))
    values, error = ShortestPaths(world, world.step_reward).solve(terminal, 1e-6)
    assert error <= 1e-6
    assert len(n_waves) <= 2
    brute = np.full(world.n_states, -1e3)
    brute[world.goals] = terminal
    for _ in range(1500):  # value iteration, in plain numpy
        after = np.add.reduceat(world.probability * brute[world.successor], world.offset[:-1])
        brute = (world.step_reward + after.reshape(world.step_reward.shape)).max(axis=1)
        brute[world.goals] = terminal
    assert np.abs(values - brute).max() <= error + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_policies_are_evaluated_as_by_a_sparse_linear_system(seed):
    mdp = random_world(seed, 50)
    actions = policies.some_proper(mdp, np.zeros(3))
    terminal = np.array([2.0, -1.0, 7.0])
    values = policies.policy_values(mdp, mdp.step_reward, terminal, actions)
    row, column, outcome = policies.transitions(mdp, actions)
    missing = policies.may_miss(row, column, mdp.goals, mdp.n_states)
    assert np.array_equal(np.isneginf(values), missing)
    p = coo_matrix((mdp.probability[outcome], (row, column)), shape=(50, 50)).tocsr()
    live = np.flatnonzero(~missing & ~mdp.is_goal)
    right = mdp.step_reward[live, actions[live]] + p[live][:, mdp.goals] @ terminal
    expected = spsolve((identity(live.size) - p[live][:, live]).tocsc(), right)
    assert np.allclose(values[live], expected, rtol=1e-11)


def test_free_steps_are_left_to_bounds_from_both_sides():
    dense = np.zeros((3, 2, 3))
    dense[0, 0, [0, 2]] = dense[0, 1, [1, 2]] = 0.5
    dense[1, :, 0] = dense[2, :, 2] = 1.0
    world = from_arrays(dense, np.array([[-1.0, -1.0], [0.0, 0.0], [0.0, 0.0]]), [2])
    paths = ShortestPaths(world, world.step_reward)
    assert paths.waves is None
    values, _ = paths.solve(np.array([2.0]), 1e-9)
    assert values[:2] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_worlds_that_take_too_many_waves_are_refused_in_words(monkeypatch):
    monkeypatch.setattr(waves, "MOST_WAVES", 1)
    monkeypatch.setattr(waves, "WIDTH", 0.0)
    monkeypatch.setattr(waves, "EVALUATIONS", 0)
    dense = np.zeros((13, 1, 13))
    for s in range(12):
        dense[s, 0, [s + 1, max(s - 1, 0)]] = 0.5
    dense[0, 0], dense[12, 0, 12] = 0.5 * np.eye(13)[0] + 0.5 * np.eye(13)[1], 1.0
    world = from_arrays(dense, -1.0, [12])
    with pytest.raises(ConvergenceError, match="raise the tolerance"):
        ShortestPaths(world, world.step_reward).solve(np.array([2.0]), 1e-9)


def test_solutions_on_threads_are_those_of_one_thread(monkeypatch):
    mdp = random_world(3, 80)
    terminals = [np.array(t) for t in ((2.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0))]
    paths = ShortestPaths(mdp, mdp.step_reward)
    monkeypatch.setattr(waves, "cores", lambda: 2)
    together = paths.solve_all(terminals, 1e-9)
    for terminal, (values, error) in zip(terminals, together, strict=True):
        alone = paths.solve(terminal, 1e-9)
        assert np.array_equal(values, alone[0])
        assert error == alone[1]


def test_an_interrupt_stops_all_threads_and_nothing_that_comes_later(monkeypatch):
    mdp = random_world(3, 80)
    terminals = [np.array(t) for t in ((2.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0))]
    paths = ShortestPaths(mdp, mdp.step_reward)
    monkeypatch.setattr(waves, "cores", lambda: 2)
    monkeypatch.setattr(waves, "WIDTH", 0.5)
    monkeypatch.setattr(waves, "AT_ONCE", 1)  # every wave asks many times whether to stop
    expected = paths.solve_all(terminals, 1e-9)
    heard, begun, solve = [], threading.Event(), waves.Waves.solve

    def interrupted(self, terminal, tolerance, stop):
        if terminal[0] == 2.0:
            assert begun.wait(60)
            raise KeyboardInterrupt
        begun.set()
        assert stop.wait(60)
        with pytest.raises(KeyboardInterrupt):
            solve(self, terminal, tolerance, stop)
        heard.append(terminal)
        return terminal, 0.0

    with monkeypatch.context() as first, pytest.raises(KeyboardInterrupt):
        first.setattr(waves.Waves, "solve", interrupted)
        paths.solve_all(terminals, 1e-9)
    assert heard
    for again in (paths.solve_all(terminals, 1e-9), [paths.solve(t, 1e-9) for t in terminals]):
        for (values, error), (before, bound) in zip(again, expected, strict=True):
            assert np.array_equal(values, before) and error == bound


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_of_scipy(seed):
    from scipy.sparse.csgraph import dijkstra

    mdp = random_world(seed, 40)
    allowed = np.ones(mdp.step_reward.size, np.bool_)
    cost = -mdp.step_reward
    edges = backwards(mdp.offset, mdp.successor, mdp.probability, cost, allowed)
    begin = np.array([0.0, 2.0, 5.0])
    order, far, _ = by_distance(*edges, mdp.goals, begin)
    best = {}
    for pair in range(mdp.step_reward.size):
        s, a = divmod(pair, mdp.n_actions)
        for k in range(mdp.offset[pair], mdp.offset[pair + 1]):
            t = int(mdp.successor[k])
            if t != s:
                weight = cost[s, a] / mdp.probability[k]
                best[t, s] = min(best.get((t, s), np.inf), weight)
    for i, g in enumerate(mdp.goals):
        best[40, int(g)] = begin[i] + 1.0  # a source before all goals
    keys = np.array(list(best))
    graph = coo_matrix((list(best.values()), keys.T), shape=(41, 41)).tocsr()
    expected = dijkstra(graph, indices=40)[:40] - 1.0
    live = ~mdp.is_goal
    assert np.allclose(far[live], expected[live])
    assert np.array_equal(np.sort(order), np.flatnonzero(live & np.isfinite(expected)))
    assert (np.diff(far[order]) >= 0).all()
