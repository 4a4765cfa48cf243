"""Worlds from Gymnasium's tables, against Gymnasium's own rewards."""

import re

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import taskalgebra as ta
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.planning.exact import optimal_v
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.gym_table import from_gymnasium

TAXI = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"
ENVS = {
    "FrozenLake 4x4": ("FrozenLake-v1", {"map_name": "4x4", "is_slippery": False}),
    "FrozenLake 4x4, slippery": ("FrozenLake-v1", {"map_name": "4x4", "is_slippery": True}),
    "FrozenLake 8x8": ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False}),
    "FrozenLake 8x8, slippery": ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": True}),
    "Taxi": (TAXI, {}),
    "CliffWalking": ("CliffWalking-v1", {}),
    "CliffWalking, slippery": ("CliffWalking-v1", {"is_slippery": True}),
}


def make(name):
    identifier, options = ENVS[name]
    return gym.make(identifier, **options)


class Table:
    """An environment that is nothing but a transition table."""

    def __init__(self, table, start=None):
        """Number the actions of each state from 0."""
        self.P = {s: dict(enumerate(rows)) for s, rows in enumerate(table)}
        self.unwrapped = self
        if start is not None:
            self.initial_state_distrib = np.array(start)


def sinks(table):
    """States that only the end of an episode enters: their own rows are never played."""
    entered = {t for rows in table.values() for o in rows.values() for _, t, _, end in o if end}
    passed = {
        t
        for s, rows in table.items()
        for o in rows.values()
        for _, t, _, end in o
        if not end and s != t
    }
    return entered - passed


def value_of_policy(table, actions):
    """V^π by a linear solve on the table, with every reward where Gymnasium pays it."""
    n = len(table)
    follows = {s: [t for p, t, _, end in table[s][actions[s]] if p and not end] for s in range(n)}
    ends = {s for s in range(n) if any(p and end for p, _, _, end in table[s][actions[s]])}

    def with_a_way_to(targets):
        found, grew = set(targets), True
        while grew:
            more = {s for s in range(n) if s not in found and found & set(follows[s])}
            found, grew = found | more, bool(more)
        return found

    lost = with_a_way_to(set(range(n)) - with_a_way_to(ends))
    kept = [s for s in range(n) if s not in lost]
    place = {s: i for i, s in enumerate(kept)}
    matrix, right = np.eye(len(kept)), np.zeros(len(kept))
    for s in kept:
        for p, t, reward, end in table[s][actions[s]]:
            right[place[s]] += p * reward
            if p and not end:
                matrix[place[s], place[t]] -= p
    values = np.full(n, -np.inf)
    values[kept] = np.linalg.solve(matrix, right)
    return values


def optimum(table, lower=None):
    """V* as the least V with V(s) ≥ Σ p (r + V(s')) for all actions, by linear programming."""
    n = len(table)
    rows, right = [], []
    for s in range(n):
        for outcomes in table[s].values():
            row = np.zeros(n)
            row[s] -= 1.0
            gain = 0.0
            for p, t, reward, end in outcomes:
                gain += p * reward
                if not end:
                    row[t] += p
            rows.append(row)
            right.append(-gain)
    solved = linprog(np.ones(n), np.array(rows), right, bounds=(lower, None), method="highs")
    assert solved.status == 0
    return solved.x


def optimum_by_sweeps(table):
    """V* of a deterministic table: the best return within n steps, for growing n."""
    n, n_actions = len(table), len(table[0])
    values = np.full(n, -np.inf)
    for _ in range(n):
        better = np.array(
            [
                max(
                    table[s][a][0][2] + (0.0 if table[s][a][0][3] else values[table[s][a][0][1]])
                    for a in range(n_actions)
                )
                for s in range(n)
            ]
        )
        if np.array_equal(better, values):
            return values
        values = better
    raise AssertionError("no fixed point")


def hurried_actions(table):
    """An action a state that ends soon and well: greedy for discounted values."""
    values = np.zeros(len(table))
    for _ in range(300):
        q = [
            [
                sum(p * (r + (0.0 if end else 0.95 * values[t])) for p, t, r, end in outcomes)
                for outcomes in rows.values()
            ]
            for rows in table.values()
        ]
        values = np.max(q, axis=1)
    return np.argmax(q, axis=1)


@pytest.mark.parametrize("name", ENVS)
def test_policies_earn_what_gymnasium_pays(name):
    env = make(name)
    table = env.unwrapped.P
    world = from_gymnasium(env)
    original = TaskSpace(world).original
    n, n_actions = len(table), len(table[0])
    played = sorted(set(range(n)) - sinks(table))
    good = hurried_actions(table)
    rng = np.random.default_rng(1)
    finite = 0
    for share in (0.0, 0.02, 0.1, 0.3, 1.0, 1.0):
        actions = np.where(rng.random(n) < share, rng.integers(0, n_actions, n), good)
        expected = value_of_policy(table, actions)[played]
        padded = np.concatenate((actions, np.zeros(world.n_states - n, int)))
        earned = policy_return(original, padded)[played]
        assert np.array_equal(np.isfinite(earned), np.isfinite(expected))
        known = np.isfinite(expected)
        np.testing.assert_allclose(earned[known], expected[known], rtol=1e-8, atol=1e-8)
        finite += int(known.sum())
    assert finite > len(played)  # the comparison was not of −∞ with −∞ only


@st.composite
def tables(draw):
    n = draw(st.integers(2, 4))
    outcome = st.tuples(
        st.integers(1, 3), st.integers(0, n - 1), st.integers(-4, 4).map(float), st.booleans()
    )
    table = []
    for _ in range(n):
        rows = draw(st.lists(st.lists(outcome, min_size=1, max_size=3), min_size=2, max_size=2))
        total = [sum(weight for weight, *_ in row) for row in rows]
        table.append(
            [[(w / t, *rest) for w, *rest in row] for row, t in zip(rows, total, strict=True)]
        )
    return Table(table)


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(0, 255))
def test_policies_earn_what_any_table_pays(env, number):
    try:
        world = from_gymnasium(env)
    except ValueError as error:
        assert re.search("never terminates|every state is a goal|no goal can be", str(error))
        reject()
    n = len(env.P)
    actions = np.array([number >> s & 1 for s in range(n)])
    played = sorted(set(range(n)) - sinks(env.P))
    task = TaskSpace(world).original
    earned = policy_return(task, np.concatenate((actions, np.zeros(world.n_states - n, int))))
    np.testing.assert_allclose(
        earned[played], value_of_policy(env.P, actions)[played], rtol=1e-9, atol=1e-9
    )


def test_the_slippery_lake_is_crossed_14_times_of_17():
    env = make("FrozenLake 4x4, slippery")
    values = optimal_v(TaskSpace(from_gymnasium(env)).original)
    assert values[0] == pytest.approx(14 / 17, abs=1e-8)


@pytest.mark.parametrize("name", ["FrozenLake 4x4, slippery", "FrozenLake 8x8, slippery"])
def test_the_optimum_of_a_slippery_lake_is_that_of_a_linear_program(name):
    env = make(name)
    table = env.unwrapped.P
    values = optimal_v(TaskSpace(from_gymnasium(env)).original)
    expected = optimum(table, lower=0.0)
    played = sorted(set(range(len(table))) - sinks(table))
    np.testing.assert_allclose(values[played], expected[played], atol=1e-7)


def test_the_optimum_of_the_slippery_cliff_is_that_of_a_linear_program():
    env = make("CliffWalking, slippery")
    values = optimal_v(TaskSpace(from_gymnasium(env)).original)
    np.testing.assert_allclose(values[:47], optimum(env.unwrapped.P)[:47], rtol=1e-7)


def test_the_cliff_is_walked_in_13_steps():
    world = from_gymnasium(make("CliffWalking"))
    assert world.goals.tolist() == [47]
    assert world.starts.tolist() == [36]
    assert optimal_v(TaskSpace(world).original)[36] == -13.0


def test_frozen_lakes_are_crossed_wherever_the_ice_leads():
    for name in ("FrozenLake 4x4", "FrozenLake 8x8"):
        env = make(name)
        table = env.unwrapped.P
        values = optimal_v(TaskSpace(from_gymnasium(env)).original)
        played = sorted(set(range(len(table))) - sinks(table))
        assert values[played].tolist() == optimum_by_sweeps(table)[played].tolist()


def test_the_optimum_of_the_taxi_is_that_of_value_iteration():
    env = make("Taxi")
    table = env.unwrapped.P
    world = from_gymnasium(env)
    values = optimal_v(TaskSpace(world).original)
    assert values[:500].tolist() == optimum_by_sweeps(table).tolist()
    assert set(world.starts.tolist()) == set(
        np.flatnonzero(env.unwrapped.initial_state_distrib).tolist()
    )


def test_terminal_states_that_are_passed_through_get_absorbing_copies():
    world = from_gymnasium(make("Taxi"))
    assert (world.n_states, world.n_goals) == (504, 4)
    assert world.goals.tolist() == [500, 501, 502, 503]
    # Taxi and passenger at R, G, Y, B: ((row·5 + column)·5 + passenger)·4 + destination.
    corners = [(0, 0), (0, 4), (4, 0), (4, 3)]
    numbers = [((r * 5 + c) * 5 + i) * 4 + i for i, (r, c) in enumerate(corners)]
    assert world.goal_names == tuple(f"s{s}" for s in sorted(numbers))
    assert world.goal_reward.tolist() == [20.0] * 4


def test_holes_and_the_far_bank_are_the_goals_of_a_frozen_lake():
    world = from_gymnasium(make("FrozenLake 4x4"))
    assert world.goals.tolist() == [5, 7, 11, 12, 15]
    assert world.goal_names == ("s5", "s7", "s11", "s12", "s15")
    assert world.goal_reward.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert (world.n_states, world.n_actions) == (16, 4)
    assert world.starts.tolist() == [0]
    assert (world.step_reward == 0.0).all()


def test_names_and_a_step_cost_may_be_given():
    world = from_gymnasium(
        make("FrozenLake 4x4"),
        goal_names=["a", "b", "c", "d", "bank"],
        action_names=["left", "down", "right", "up"],
        step_cost=0.25,
    )
    assert world.goal_names[-1] == "bank"
    assert world.action_names == ("left", "down", "right", "up")
    assert optimal_v(TaskSpace(world).original)[0] == 1.0 - 0.25 * 6


def test_a_reward_that_differs_on_the_way_in_stays_with_the_step():
    # From 0 to the end 1: action 0 pays 3, action 1 pays 5, action 2 ends half the time.
    env = Table(
        [
            [
                [(1.0, 1, 3.0, True)],
                [(1.0, 1, 5.0, True)],
                [(0.5, 1, 2.0, True), (0.5, 0, -1.0, False)],
            ],
            [[(1.0, 1, 0.0, True)]] * 3,
        ]
    )
    world = from_gymnasium(env)
    assert world.goal_reward.tolist() == [5.0]
    original = TaskSpace(world).original
    # Action 2: V = 0.5·2 + 0.5·(−1 + V), so V = 1.
    for action, expected in enumerate([3.0, 5.0, 1.0]):
        assert policy_return(original, np.array([action, 0]))[0] == pytest.approx(expected)


def test_outcomes_of_no_probability_do_not_count():
    env = Table([[[(1.0, 1, 0.0, True), (0.0, 0, 9.0, True)]], [[(1.0, 1, 0.0, True)]]])
    world = from_gymnasium(env)
    assert world.deterministic
    assert world.goals.tolist() == [1]


def test_coming_back_to_the_start_may_be_the_end():
    env = Table([[[(1.0, 1, -1.0, False)]], [[(1.0, 0, 4.0, True)]]], start=[1.0, 0.0])
    world = from_gymnasium(env)
    assert world.n_states == 3
    assert optimal_v(TaskSpace(world).original)[0] == 3.0


@pytest.mark.parametrize(
    ("share", "listed"),
    [
        ([0.9, 0.1, 0.0], [0] * 9 + [1]),
        ([1 / 3, 2 / 3, 0.0], [0, 1, 1]),
        ([0.5, 0.5, 0.0], [0, 1]),
        ([0.0, 1.0, 0.0], [1]),
    ],
)
def test_starts_are_as_likely_as_the_environment_says(share, listed):
    there = [(1.0, 2, 0.0, True)]
    world = from_gymnasium(Table([[there], [there], [there]], start=share))
    assert world.starts.tolist() == listed


def test_chances_that_no_small_number_divides_are_kept_nearly():
    share = np.array([1 / np.pi, 1 - 1 / np.pi - 1e-7, 1e-7, 0.0])
    there = [(1.0, 3, 0.0, True)]
    world = from_gymnasium(Table([[there]] * 4, start=share))
    found = np.bincount(world.starts, minlength=4) / world.starts.size
    assert found == pytest.approx(share, abs=2e-5)
    assert (found[:3] > 0).all()


def test_states_have_the_cells_that_are_given_and_copies_those_of_their_state():
    cells = [divmod(s, 4) for s in range(16)]
    env = gym.make("FrozenLake-v1", is_slippery=False)
    world = from_gymnasium(env, cells=cells, continuing=True)
    assert world.cells[:16].tolist() == [list(cell) for cell in cells]
    assert world.cells[world.goals].tolist() == [list(cells[s]) for s in world.ends]


REFUSED = {
    "too few cells": (
        Table([[[(1.0, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]),
        {"cells": [[0, 0]]},
        ["cells have shape (1, 2)", "2 states"],
    ),
    "no table": (object(), {}, ["env.unwrapped.P", "from_arrays"]),
    "an empty table": (Table([]), {}, ["env.unwrapped.P", "from_arrays"]),
    "no end": (Table([[[(1.0, 0, 0.0, False)]]]), {}, ["never terminates", "terminal state"]),
    "a table that does not add up": (
        Table([[[(0.5, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]),
        {},
        ["state 0, action 0", "0.5", "expected 1"],
    ),
    "a reward that is not a number": (
        Table([[[(1.0, 1, np.nan, True)]], [[(1.0, 1, 0.0, True)]]]),
        {},
        ["nan", "finite"],
    ),
    "a probability that is not a number": (
        Table([[[(np.nan, 1, 0.0, True), (1.0, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]),
        {},
        ["state 0, action 0", "probability nan"],
    ),
    "a negative probability": (
        Table([[[(-0.25, 0, 0.0, False), (1.0, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]),
        {},
        ["state 0, action 0", "probability -0.25"],
    ),
    "starts that are not numbers": (
        Table([[[(1.0, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]], start=[np.nan, 1.0]),
        {},
        ["initial_state_distrib", "nan", "add up to 1"],
    ),
    "a negative start": (
        Table([[[(1.0, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]], start=[2.0, -1.0]),
        {},
        ["initial_state_distrib", "-1.0", "add up to 1"],
    ),
    "starts that do not add up": (
        Table([[[(1.0, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]], start=[0.5, 0.25]),
        {},
        ["initial_state_distrib", "0.75", "add up to 1"],
    ),
    "no start": (
        Table([[[(1.0, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]], start=[0.0, 0.0]),
        {},
        ["initial_state_distrib", "adds up to 0", "add up to 1"],
    ),
    "starts of other states": (
        Table([[[(1.0, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]], start=[1.0]),
        {},
        ["initial_state_distrib", "(1,)", "2 states"],
    ),
    "no actions": (Table([[], []]), {}, ["state 0", "no actions"]),
    "no outcomes": (Table([[[]]]), {}, ["state 0, action 0", "no outcome"]),
    "fewer actions": (
        Table([[[(1.0, 1, 0.0, True)]] * 2, [[(1.0, 1, 0.0, True)]]]),
        {},
        ["state 1 has the actions [0]", "expected 0 to 1"],
    ),
    "three numbers": (
        Table([[[(1.0, 1, 0.0)]], [[(1.0, 1, 0.0, True)]]]),
        {},
        ["state 0, action 0", "(1.0, 1, 0.0)", "(probability, next state, reward, terminated)"],
    ),
    "a word for a state": (
        Table([[[(1.0, "left", 0.0, True)]], [[(1.0, 1, 0.0, True)]]]),
        {},
        ["state 0, action 0", "'left'", "(probability, next state, reward, terminated)"],
    ),
    "a state that is no whole number": (
        Table([[[(1.0, 0.5, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]),
        {},
        ["state 0, action 0 leads to state 0.5", "0 to 1"],
    ),
    "an infinite state": (
        Table([[[(1.0, np.inf, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]),
        {},
        ["state 0, action 0 leads to state inf", "0 to 1"],
    ),
    "a state that is too large": (
        Table([[[(1.0, 2**40, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]),
        {},
        ["state 0, action 0 leads to state 1099511627776", "0 to 1"],
    ),
    "too many names": (
        Table([[[(1.0, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]),
        {"goal_names": ["a", "b"]},
        ["2 goal names for 1 goal"],
    ),
    "an infinite step cost": (
        Table([[[(1.0, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]),
        {"step_cost": np.inf},
        ["inf", "finite"],
    ),
}


@pytest.mark.parametrize(("env", "options", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_tables_are_refused_in_words(env, options, words):
    with pytest.raises(ValueError) as caught:
        from_gymnasium(env, **options)
    for word in words:
        assert word in str(caught.value)


def test_an_environment_without_a_table_is_refused():
    env = gym.make("Blackjack-v1")
    with pytest.raises(ValueError, match="transition table"):
        from_gymnasium(env)


def test_a_bare_object_with_a_table_is_enough():
    class Bare:
        P = Table([[[(1.0, 1, 2.0, True)]], [[(1.0, 1, 0.0, True)]]]).P

    assert from_gymnasium(Bare()).goal_reward.tolist() == [2.0]


def test_tasks_with_time_go_on_with_the_rows_of_terminal_states():
    """From 0 to 1, where the table goes on to 2, where it stays."""
    rows = [(1.0, 1, -1.0, True)], [(1.0, 2, -2.0, True)], [(1.0, 2, 0.0, True)]
    env = Table([[row] for row in rows], start=[1.0, 0.0, 0.0])
    world = from_gymnasium(env, step_cost=0.5, continuing=True)
    assert world.n_states == 3 + 2
    assert world.resumes.tolist() == [1, 2]
    assert world.goal_reward.tolist() == [-1.0, -2.0]
    skills = ta.solve(TaskSpace(world, r_universal=4.0), {"near": ["s1"]})
    assert skills["F(near & X F s2)"].v(0) == 4.0 - 2 * 0.5
    assert skills["F(s2 & X F near)"].v(0) == -np.inf


def test_holes_of_a_slippery_lake_are_accidents_for_formulas_too():
    world = from_gymnasium(gym.make("FrozenLake-v1"), step_cost=2.0**-30, continuing=True)
    skills = ta.solve(TaskSpace(world, r_universal=1.0, r_empty=0.0), {"gift": ["s15"]})
    for text in ("F gift", "F gift & G !s5 & G !s12"):
        assert skills[text].v(0) == pytest.approx(14 / 17, abs=1e-6)
    with pytest.raises(ValueError, match="no way to s15"):
        skills["F(s5 & X F gift)"].evaluate(1)
