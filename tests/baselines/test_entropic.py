"""Soft methods against the theory of their own papers, on worlds and solutions made apart."""

import numpy as np
import pytest

from soft_oracle import dense, desirability, random_space, soft_q
from taskalgebra.baselines.entropic import SoftEquation, soft_max
from taskalgebra.baselines.linear import SumOfGoals
from taskalgebra.baselines.plain import AverageOfTasks, MaxOfTasks
from taskalgebra.baselines.soft import (
    CorrectedAverage,
    SoftMaxOfTasks,
    average,
    correction,
    largest_correction,
)
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.learning.q_learning import Settings
from taskalgebra.planning.exact import optimal_q, optimal_v
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text

KINDS = pytest.mark.parametrize("stochastic", [False, True], ids=["certain", "random"])
TEMPERATURES = (1.0, 0.3, 0.05)


def two_tasks(space):
    """Two tasks that share the goal g1."""
    return {"a": space.task([0, 1]), "b": space.task([1, 2])}


@KINDS
def test_soft_values_are_those_of_value_iteration(stochastic):
    for seed in range(8):
        space = random_space(seed, stochastic=stochastic)
        task = space.task([seed % 3])
        for tau in TEMPERATURES:
            for gamma in (1.0, 0.9):
                equation = SoftEquation.of_task(task, tau, gamma)
                x = equation.solve()
                expected = soft_q(space, task.goal_reward, tau, gamma)
                np.testing.assert_allclose(x, expected, atol=1e-10)
                np.testing.assert_allclose(np.exp(equation.policy(x)).sum(axis=1), 1.0)


# Todorov 2009


@KINDS
def test_desirabilities_add_up(stochastic):
    """Desirabilities are Σ w_k z_k, to 1e-9, for any rewards of goals and any passive dynamics."""
    for seed in range(12):
        space = random_space(seed, stochastic=stochastic)
        rng = np.random.default_rng(seed)
        for tau in TEMPERATURES:
            rewards = rng.uniform(-0.5, 2.0, 3)
            solved = desirability(space, np.exp(rewards / tau), tau)
            run = SumOfGoals(temperature=tau).solve(space, two_tasks(space))
            parts = [table.values for table in run.tables.values()]
            with np.errstate(divide="ignore"):
                together = sum(np.exp((x + r) / tau) for x, r in zip(parts, rewards, strict=True))
                composed = tau * np.log(together.mean(axis=1))
                np.testing.assert_allclose(composed, tau * np.log(solved), atol=1e-9)


@KINDS
def test_expressions_are_such_sums(stochastic):
    space = random_space(5, stochastic=stochastic)
    tau = 0.2
    run = SumOfGoals(temperature=tau).solve(space, two_tasks(space))
    for text, desired in {
        "a | b": [1, 1, 1],
        "a & b": [0, 1, 0],
        "a & ~b": [1, 0, 0],
        "~a & ~b": [0, 0, 0],
    }.items():
        task = space.from_desired(desired)
        z = desirability(space, np.exp(task.goal_reward / tau), tau)
        found = soft_max(run.values(text)[:, 0], -np.log(3), tau)
        np.testing.assert_allclose(found, tau * np.log(z), atol=1e-9)


def test_the_sum_of_overlapping_tasks_is_not_their_disjunction():
    """The shared goal would be paid twice: log 2 more, which the sum over goals does not."""
    space = random_space(1, stochastic=False)
    tau, tasks = 0.5, two_tasks(random_space(1, stochastic=False))
    paid = {name: np.exp(task.goal_reward / tau) for name, task in tasks.items()}
    union = np.exp(space.universal.goal_reward / tau)
    assert (paid["a"] + paid["b"])[1] == pytest.approx(2 * union[1])


def test_the_solution_is_optimal_control():
    """V(s) = max_u r(s) + Σ u V(s') − τ KL(u ‖ p): no control beats it, and u ∝ p z reaches it."""
    rng = np.random.default_rng(0)
    for seed in range(4):
        space = random_space(seed, stochastic=True, costs_differ=False)
        tau = 0.4
        task = space.task([0, 2])
        mdp, z = space.mdp, desirability(space, np.exp(task.goal_reward / tau), tau)
        run = SumOfGoals(temperature=tau).solve(space, two_tasks(space))
        x = soft_max(run.values("a ^ b")[:, 0], -np.log(3), tau)
        passive, cost = dense(mdp).mean(axis=1), mdp.step_reward[:, 0]
        for s in np.flatnonzero(~mdp.is_goal):
            own = passive[s] > 0
            p, value = passive[s][own], tau * np.log(z[own])

            def worth(u, cost=cost[s], p=p, value=value, tau=tau):
                return cost + u @ value - tau * (u @ np.log(u / p))

            best = p * z[own] / (p @ z[own])
            assert worth(best) == pytest.approx(x[s], abs=1e-9)
            for _ in range(20):
                assert worth(rng.dirichlet(np.ones(p.size)) + 1e-300) <= x[s] + 1e-9


# van Niekerk et al. 2019


def soft_or(space, tau):
    """What goals pay in the soft disjunction of the two tasks."""
    paid = np.stack([task.goal_reward for task in two_tasks(space).values()])
    return tau * np.log(np.exp(paid / tau).mean(axis=0))


def test_soft_disjunction_is_exact_in_deterministic_worlds():
    for seed in range(12):
        space = random_space(seed, stochastic=False)
        for tau in TEMPERATURES:
            run = SoftMaxOfTasks(temperature=tau).solve(space, two_tasks(space))
            expected = soft_q(space, soft_or(space, tau), tau)
            np.testing.assert_allclose(run.values("a | b")[:, 0], expected, atol=1e-9)


def test_soft_disjunction_is_not_exact_in_stochastic_worlds():
    space = random_space(0, stochastic=True)
    run = SoftMaxOfTasks(temperature=0.3).solve(space, two_tasks(space))
    error = np.abs(run.values("a | b")[:, 0] - soft_q(space, soft_or(space, 0.3), 0.3)).max()
    assert error > 0.01


def test_soft_disjunction_tends_to_the_maximum():
    world = FourRooms()
    hard = MaxOfTasks().solve(world.space, world.tasks).values("top | left").max(axis=1)
    errors = []
    for tau in (0.1, 0.01, 0.001):
        soft = SoftMaxOfTasks(temperature=tau).solve(world.space, world.tasks)
        errors.append(np.abs(soft.values("top | left")[:, 0] - hard).max())
    assert errors[0] > 8 * errors[1] > 64 * errors[2] > 0
    assert errors[2] < 0.001 * np.log(5) * 25  # at most τ log A per step


def three_outcomes():
    """Two gambles, on A and on B, win 9 times of 10; the coin always ends in A or in B."""
    win, lose = 0.9, 0.1
    gamble_a, gamble_b, coin = [0, win, 0, lose], [0, 0, win, lose], [0, 0.5, 0.5, 0]
    rows = np.zeros((4, 3, 4))
    rows[0] = gamble_a, gamble_b, coin
    rows[1:] = np.eye(4)[1:, None]
    world = from_arrays(rows, 0.0, [1, 2, 3], goal_names=["A", "B", "C"])
    space = TaskSpace(world, r_universal=1.0, r_empty=0.0)
    return space, {"a": space.task(["A"]), "b": space.task(["B"])}


@pytest.mark.parametrize(
    "method", [MaxOfTasks(), SoftMaxOfTasks(temperature=0.01)], ids=["max", "soft max"]
)
def test_with_three_outcomes_disjunction_earns_9_of_10(method):
    """Each task alone gambles for .9; the coin is worth ½ to each, and 1.0 to their disjunction."""
    space, tasks = three_outcomes()
    either = tasks["a"] | tasks["b"]
    assert optimal_v(either)[0] == pytest.approx(1.0)
    composed = method.solve(space, tasks)
    assert composed.values("a | b")[0].max() == pytest.approx(0.9, abs=0.02)
    actions = composed.actions("a | b")
    assert policy_return(either, actions)[0] == pytest.approx(0.9)
    assert optimal_q(either)[0].argmax() == 2


def test_with_three_outcomes_desirabilities_know_the_coin():
    """The sum keeps that both outcomes of the coin are good, and acts optimally here."""
    space, tasks = three_outcomes()
    run = SumOfGoals(temperature=0.1).solve(space, tasks)
    assert policy_return(tasks["a"] | tasks["b"], run.actions("a | b"))[0] == pytest.approx(1.0)


def test_desirabilities_prefer_risk():
    """9 times nothing and once 2, for 1.0 surely: log E exp(V / τ) takes the gamble."""
    rows = np.zeros((4, 2, 4))
    rows[0] = [[0, 0.1, 0, 0.9], [0, 0, 1, 0]]
    rows[1:] = np.eye(4)[1:, None]
    space = TaskSpace(from_arrays(rows, 0.0, [1, 2, 3]), r_universal=[2, 1, 2], r_empty=0.0)
    tasks = {"a": space.task([0, 1])}
    sure = optimal_q(tasks["a"])[0].argmax()
    assert sure == 1
    assert SumOfGoals(temperature=0.1).solve(space, tasks).actions("a")[0] == 0
    assert SoftMaxOfTasks(temperature=0.1).solve(space, tasks).actions("a")[0] == sure


# Haarnoja et al. 2018, Hunt et al. 2019


@KINDS
@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_the_corrected_average_is_exact_for_the_average_reward(stochastic, gamma):
    for seed in range(8):
        space = random_space(seed, stochastic=stochastic)
        tasks = two_tasks(space)
        for tau in TEMPERATURES:
            method = CorrectedAverage(temperature=tau, settings=Settings(discount=gamma))
            run = method.solve(space, tasks)
            paid = np.mean([task.goal_reward for task in tasks.values()], axis=0)
            expected = soft_q(space, paid, tau, gamma)
            np.testing.assert_allclose(run.values("a & b")[:, 0], expected, atol=1e-8)


@KINDS
def test_the_average_is_between_the_bounds(stochastic):
    """Q_Σ ≥ Q* ≥ Q_Σ − C ≥ Q_Σ − C*, the middle one with equality, and C* > C somewhere."""
    gamma = 0.9
    for seed in range(8):
        space = random_space(seed, stochastic=stochastic)
        tasks = two_tasks(space)
        for tau in TEMPERATURES:
            equations = [SoftEquation.of_task(task, tau, gamma) for task in tasks.values()]
            tables = [soft_q(space, task.goal_reward, tau, gamma) for task in tasks.values()]
            policies = [e.policy(q) for e, q in zip(equations, tables, strict=True)]
            exact = soft_q(space, average(list(tasks.values())).goal_reward, tau, gamma)
            mean = np.mean(tables, axis=0)
            c = -correction(space.mdp, policies, tau, gamma).solve()
            most = largest_correction(space.mdp, policies, tau, gamma)
            assert (mean >= exact - 1e-9).all() and (exact >= mean - most - 1e-9).all()
            np.testing.assert_allclose(mean - c, exact, atol=1e-8)
            assert (c > 1e-3).any() and (most > c + 1e-3).any()


def test_the_divergence_is_that_of_renyi():
    """One step from two goals: C* = γ τ/2 D_½, with D_½ = −2 log Σ √(p q)."""
    dynamics = np.array([[1, 1], [2, 3], [2, 2], [3, 3]])
    space = TaskSpace(from_arrays(dynamics, -0.1, [2, 3]))
    p, q = np.array([0.8, 0.2]), np.array([0.3, 0.7])
    even = np.full((4, 2), np.log(0.5))
    first, second = even.copy(), even.copy()
    first[1], second[1] = np.log(p), np.log(q)
    tau, gamma = 0.7, 0.9
    renyi = -2 * np.log(np.sqrt(p * q).sum())
    found = largest_correction(space.mdp, [first, second], tau, gamma)
    np.testing.assert_allclose(found[0], gamma * tau / 2 * renyi)
    np.testing.assert_allclose(found[1:], 0.0, atol=1e-15)
    with pytest.raises(ValueError, match="discount below 1, got 1"):
        largest_correction(space.mdp, [first, second], tau, 1.0)


def test_the_correction_mends_what_the_average_loses_but_is_no_conjunction():
    """Between A and C the average goes round for ever; corrected it ends, in the wrong goal A."""
    space = TaskSpace(from_text("A" + "." * 19 + "C"))
    tasks = {"x": space.task(["A", "C"]), "y": space.task(["C"])}
    both = tasks["x"] & tasks["y"]
    plain = AverageOfTasks().solve(space, tasks).actions("x & y")
    mended = CorrectedAverage(temperature=0.001).solve(space, tasks).actions("x & y")
    assert np.isneginf(policy_return(both, plain)).any()
    assert not np.isneginf(policy_return(both, mended)).any()
    mean = average([tasks["x"], tasks["y"]])
    np.testing.assert_allclose(policy_return(mean, mended), optimal_v(mean), atol=1e-9)
    assert policy_return(both, mended)[0] == pytest.approx(-0.2)
    assert optimal_v(both)[0] == pytest.approx(2 - 0.1 * 21)


def test_sets_with_the_same_average_share_a_table():
    space = random_space(2, stochastic=False, n_goals=4)
    tasks = {
        "a": space.task([0, 1]),
        "not_a": space.task([2, 3]),
        "b": space.task([0, 2]),
        "not_b": space.task([1, 3]),
    }
    run = CorrectedAverage(temperature=0.3).solve(space, tasks)
    np.testing.assert_array_equal(run.values("a & not_a"), run.values("b & not_b"))
    assert run.n_tables < 2**4 - 1
    paid = np.full(4, (2.0 - 0.5) / 2)
    np.testing.assert_allclose(run.values("b & not_b")[:, 0], soft_q(space, paid, 0.3), atol=1e-8)


# learning


@pytest.mark.parametrize("method", [SumOfGoals, SoftMaxOfTasks, CorrectedAverage])
def test_learned_tables_are_the_solved_ones(method):
    world = FourRooms()
    run, solved = (
        make(world.space, world.tasks) for make in (method().learn, method(temperature=0.02).solve)
    )
    assert run.converged and solved.n_samples == 0
    for task, table in run.tables.items():
        np.testing.assert_allclose(table.values, solved.table(task), atol=5e-5)


@pytest.mark.parametrize("method", [SumOfGoals, SoftMaxOfTasks])
def test_random_outcomes_are_learned_with_a_small_learning_rate(method):
    space = random_space(3, stochastic=True)
    settings = Settings(learning_rate=0.002, epsilon=0.5)
    own = method(temperature=0.5, settings=settings, max_steps=500_000)
    run, solved = (make(space, two_tasks(space)) for make in (own.learn, own.solve))
    for task, table in run.tables.items():
        np.testing.assert_allclose(table.values, solved.table(task), atol=0.1)


def test_bad_temperatures_and_worlds_are_refused():
    for method in (SumOfGoals, SoftMaxOfTasks, CorrectedAverage):
        with pytest.raises(ValueError, match="temperature is 0, expected a number above 0"):
            method(temperature=0)
        with pytest.raises(ValueError, match="temperature"):
            method(temperature="warm")
        with pytest.raises(ValueError, match="max_steps is 0"):
            method(max_steps=0)
    with pytest.raises(ValueError, match=r"discount is 0\.9"):
        SumOfGoals(settings=Settings(discount=0.9))
    space = TaskSpace(from_text("A.B"))
    many = {f"t{i}": space.task(["A"]) for i in range(11)}
    with pytest.raises(ValueError, match="11 base tasks have 2,036 sets"):
        CorrectedAverage().solve(space, many)
    trapped = TaskSpace(from_arrays([[2, 1], [1, 1], [2, 2]], -0.1, [2]))
    with pytest.raises(ValueError, match="soft values do not settle"):
        SoftMaxOfTasks().solve(trapped, {"a": trapped.task([0])})
