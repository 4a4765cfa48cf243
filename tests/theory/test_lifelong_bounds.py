"""SOPGOL's bounds, on random worlds that are solved here."""

import math

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.planning.exact import optimal_q
from taskalgebra.worlds.grid import from_text

GAMMA = 0.8


def solved(p, r, gamma=GAMMA):
    """Q* by value iteration; p is [S, A, S], r is [S, A]."""
    q = np.zeros_like(r)
    for _ in range(400):
        q = r + gamma * p @ q.max(axis=1)
    return q


def followed(p, r, actions, gamma=GAMMA):
    """Q of a policy."""
    n = len(actions)
    chain, pay = p[np.arange(n), actions], r[np.arange(n), actions]
    v = np.linalg.solve(np.eye(n) - gamma * chain, pay)
    return r + gamma * p @ v


def random_world(rng, deterministic):
    """Six states, three of them goals that pay once and lead to an end that pays nothing."""
    n_states, n_actions = 7, 3
    p = rng.dirichlet(np.full(n_states, 0.3), (n_states, n_actions))
    if deterministic:
        p = np.eye(n_states)[rng.integers(n_states - 1, size=(n_states, n_actions))]
    p[3:] = np.eye(n_states)[-1]
    steps = np.full((n_states, n_actions), -0.1)
    steps[-1] = 0.0
    return p, steps


def with_goals(steps, rewards):
    r = steps.copy()
    r[3:6] = np.asarray(rewards)[:, None]
    return r


@pytest.mark.parametrize("deterministic", [True, False])
def test_agents_of_a_wrong_task_or_of_wrong_values_stay_within_the_bound(deterministic):
    rng = np.random.default_rng(0)
    for _ in range(60):
        p, steps = random_world(rng, deterministic)
        true, guess = rng.choice([-0.1, 2.0], (2, 3))
        error = rng.choice([0.0, 0.3])
        same = bool((true == guess).all())
        best = solved(p, with_goals(steps, true))
        q = solved(p, with_goals(steps, guess)) + rng.uniform(-error, error, best.shape)
        bound = ta.transfer_bound(reward_range=2.1, error=error, same_task=same, discount=GAMMA)
        got = followed(p, with_goals(steps, true), q.argmax(axis=1))
        assert np.abs(best - got).max() <= bound + 1e-9


def lost(right, actions):
    """The most that a policy loses in a task, over all starts."""
    starts = right.space.mdp.starts
    return (ta.optimal_v(right) - policy_return(right, actions))[starts].max()


@pytest.mark.parametrize("text", ["A..B", "A.B.C", "A..\n.#B\nC..", "A" + 22 * "." + "B"])
def test_no_agent_of_another_task_loses_more_in_any_pair_of_tasks(text):
    space = ta.TaskSpace(from_text(text))
    tasks = list(space.two_valued_tasks())
    agents = [ta.solve(space, {"x": task})["x"].actions for task in tasks]
    for right in tasks:
        for guess, actions in zip(tasks, agents, strict=True):
            bound = ta.transfer_bound(reward_range=2.1, same_task=guess == right)
            assert lost(right, actions) <= bound + 1e-9


def test_the_bound_of_deterministic_worlds_is_reached():
    """Beside A, where the way to B costs all that B pays, the agent for B walks past A."""
    space = ta.TaskSpace(from_text("A" + 20 * "." + "B"))
    wrong, right = ta.solve(space, {"b": ["B"]})["b"], space.task("A")
    values = ta.optimal_v(right) - policy_return(right, wrong.actions)
    ways = np.abs(ta.optimal_v(right) - ta.optimal_v(space.task("B")))
    assert values[space.mdp.starts].max() == pytest.approx(ta.transfer_bound(reward_range=2.1))
    assert ways.max() == pytest.approx(2.1)  # the values differ by half of what is lost


def test_wrong_values_lose_something_in_every_step():
    """With values that are off by ε, an agent of n steps loses at most 2 n ε, and more than 2 ε."""
    n = 6  # states in a row; to the next one a step costs 0.1 or 0.2
    row = [[s + 1, s + 1] for s in range(n)] + [[n, n]]
    space = ta.TaskSpace(ta.from_arrays(row, [[-0.1, -0.2]] * (n + 1), goals=[n], starts=[0]))
    exact, error, most = optimal_q(space.universal), 0.06, 0.0
    bound = ta.transfer_bound(reward_range=2.1, error=error, same_task=True, steps=n)
    rng = np.random.default_rng(0)
    for _ in range(200):
        wrong = exact + rng.choice([-error, error], exact.shape)
        loss = lost(space.universal, wrong.argmax(axis=1))
        assert loss <= bound + 1e-9
        most = max(most, loss)
    assert most > 3 * error  # more than 2 ε
    assert ta.transfer_bound(reward_range=2.1, error=0.1, steps=5) == pytest.approx(5.2)


def test_other_rewards_than_two_double_the_bound():
    one = ta.transfer_bound(reward_range=2.0, discount=0.5)
    assert one == 8.0
    assert ta.transfer_bound(reward_range=2.0, discount=0.5, two_valued=False) == 2 * one
    assert ta.transfer_bound(reward_range=2.0, same_task=True) == 0.0
    assert ta.transfer_bound(reward_range=2.0, same_task=True, error=0.5, discount=0.5) == 2.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"reward_range": -1}, "reward_range"),
        ({"reward_range": 1, "error": -1}, "error"),
        ({"reward_range": 1, "error": 0.1}, "give steps"),
        ({"reward_range": 1, "error": 0.1, "steps": 0}, "steps is 0"),
        ({"reward_range": 1, "steps": 3, "discount": 0.5}, "steps"),
        ({"reward_range": 1, "discount": 1.0}, "infinite"),
        ({"reward_range": 1, "discount": 1.5}, "discount"),
        ({"reward_range": 1, "two_valued": False}, "give a discount"),
        ({"reward_range": 1, "same_task": "no"}, "same_task"),
    ],
)
def test_bad_numbers_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        ta.transfer_bound(**arguments)


def test_the_number_of_tasks_learned_lies_between_the_logarithm_and_the_goals():
    for n in (1, 2, 3, 4, 5, 40, 64):
        assert ta.tasks_learned_bounds(n) == (max(1, math.ceil(math.log2(n))), n)
