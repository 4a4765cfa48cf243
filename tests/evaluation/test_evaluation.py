"""Policies evaluated exactly and by playing, against linear solves and worked numbers."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taskalgebra as ta
from taskalgebra.evaluation.exact import policy_return, rollouts
from taskalgebra.planning.exact import optimal_v
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text

UP, RIGHT, DOWN, LEFT, STAY = range(5)


def corridor(**options):
    """Cells 0 … 4 with goals A and B at the ends, states 5 and 6."""
    return TaskSpace(from_text("A...B", step_reward=-0.125, **options))


def play(task, actions, episodes=400, seed=0, **options):
    return rollouts(
        task,
        np.asarray(actions),
        optimal_v(task),
        episodes=episodes,
        rng=np.random.default_rng(seed),
        **options,
    )


@st.composite
def worlds_and_policies(draw):
    n_live, n_goals, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 2)), 2
    n = n_live + n_goals
    dense = np.zeros((n, n_actions, n))
    for s in range(n_live):
        for a in range(n_actions):
            targets = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3))
            for t in targets:
                dense[s, a, t] += 1 / len(targets)
    dense[0, 1] = np.eye(n)[n - 1]
    costs = draw(st.lists(st.integers(-8, 8), min_size=n * 2, max_size=n * 2))
    rewards = np.array(costs).reshape(n, 2) / 8
    actions = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return dense, rewards, list(range(n_live, n)), np.array(actions)


@settings(max_examples=100, deadline=None)
@given(worlds_and_policies())
def test_the_return_of_a_policy_is_that_of_a_linear_solve(drawn):
    dense, rewards, goals, actions = drawn
    n, terminal = len(dense), np.array([2.0, -1.0])[: len(goals)]
    space = TaskSpace(from_arrays(dense, rewards, goals), r_universal=2.0, r_empty=-1.0)
    chain = dense[np.arange(n), actions].copy()
    chain[goals] = np.eye(n)[goals]
    reach = np.linalg.matrix_power((chain > 0).astype(int) + np.eye(n, dtype=int), n) > 0
    ends = reach[:, goals].any(axis=1)
    proper = np.array([ends[reach[s]].all() for s in range(n)])
    live = [s for s in range(n) if proper[s] and s not in goals]
    expected = np.full(n, -np.inf)
    expected[goals] = terminal
    if live:
        right = rewards[live, actions[live]] + chain[np.ix_(live, goals)] @ terminal
        expected[live] = np.linalg.solve(np.eye(len(live)) - chain[np.ix_(live, live)], right)
    got = policy_return(space.from_rewards(terminal), actions)
    assert np.array_equal(np.isneginf(got), np.isneginf(expected))
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_a_walk_along_a_corridor_earns_what_it_costs():
    space = corridor()
    walk = [STAY, LEFT, LEFT, LEFT, LEFT, 0, 0]
    values = policy_return(space.task("A"), np.array(walk))
    assert values.tolist() == [2.0 - 0.125 * n for n in (1, 2, 3, 4, 5)] + [2.0, -0.1]


@pytest.mark.parametrize(
    ("actions", "lost"),
    [
        ([STAY, LEFT, STAY, RIGHT, STAY], {2}),
        ([STAY, LEFT, RIGHT, LEFT, STAY], {2, 3}),
        ([LEFT, LEFT, LEFT, LEFT, STAY], {0, 1, 2, 3}),
        ([UP] * 5, {0, 1, 2, 3, 4}),
    ],
)
def test_a_policy_that_goes_round_for_ever_is_worth_minus_infinity(actions, lost):
    values = policy_return(corridor().universal, np.array([*actions, 0, 0]))
    assert set(np.flatnonzero(np.isneginf(values)).tolist()) == lost


def test_a_policy_that_may_be_lost_is_worth_minus_infinity():
    dense = np.zeros((3, 1, 3))
    dense[0, 0] = [0.0, 0.9, 0.1]  # the goal 1, or the trap 2
    dense[2, 0, 2] = 1.0
    with pytest.raises(ValueError, match="no goal can be reached"):
        from_arrays(dense, -1.0, [1])
    dense = np.pad(dense, ((0, 1), (0, 0), (0, 1)))
    dense[3, 0, 1] = 1.0  # a state that surely ends, so that there is a start
    space = TaskSpace(from_arrays(dense, -1.0, [1]))
    values = policy_return(space.universal, np.zeros(4, int))
    assert values.tolist() == [-np.inf, 2.0, -np.inf, 1.0]


@pytest.mark.parametrize("rare", [1e-3, 1e-9, 1e-12, 1e-17, 1e-200])
def test_a_rare_way_out_is_waited_for(rare):
    dense = np.zeros((4, 1, 4))
    dense[0, 0, [0, 1]] = [1 - rare, rare]
    dense[1, 0, [1, 2, 3]] = [1 - 2 * rare, rare, rare]
    dense[2, 0, 2] = dense[3, 0, 3] = 1.0
    space = TaskSpace(from_arrays(dense, -1.0, [2, 3]), r_universal=2.0, r_empty=-1.0)
    values = policy_return(space.from_rewards([2.0, -1.0]), np.zeros(4, int))
    expected = [0.5 - 1.5 / rare, 0.5 - 0.5 / rare, 2.0, -1.0]
    np.testing.assert_allclose(values, expected, rtol=1e-13)


def test_a_way_out_that_rounding_hides_is_refused_in_words():
    dense = np.zeros((3, 1, 3))
    dense[0, 0, 1] = dense[1, 0, 0] = 1.0
    dense[1, 0, 2] = 1e-17  # the probabilities add up to one
    dense[2, 0, 2] = 1.0
    space = TaskSpace(from_arrays(dense, -1.0, [2]))
    with pytest.raises(ValueError, match="rounding"):
        policy_return(space.universal, np.zeros(3, int))


def test_dense_tasks_are_paid_their_own_steps():
    space = corridor()
    dense = space.from_rewards([2.0, -0.1], np.full((7, 5), -0.5))
    walk = np.array([STAY, LEFT, LEFT, LEFT, LEFT, 0, 0])
    assert policy_return(dense, walk)[:5].tolist() == [1.5, 1.0, 0.5, 0.0, -0.5]
    played = play(dense, walk)
    assert -0.5 < played.mean_return < 1.5


BAD_ACTIONS = {
    "too high": [STAY, 7, LEFT, LEFT, LEFT, 0, 0],
    "negative": [STAY, -1, LEFT, LEFT, LEFT, 0, 0],
    "too few": [STAY, LEFT, LEFT],
    "too many": [STAY, LEFT, LEFT, LEFT, LEFT, 0, 0, 0],
    "between two": [STAY, 2.5, LEFT, LEFT, LEFT, 0, 0],
}


@pytest.mark.parametrize("actions", BAD_ACTIONS.values(), ids=BAD_ACTIONS.keys())
def test_actions_that_do_not_exist_are_refused(actions):
    with pytest.raises(ValueError, match="action"):
        policy_return(corridor().task("A"), np.array(actions))


@pytest.mark.parametrize("kind", ["too high", "too few", "between two"])
def test_actions_that_do_not_exist_are_not_played(kind):
    """In a process of its own: compiled code that reads outside an array may end it."""
    script = f"""
import numpy as np
from taskalgebra.evaluation.exact import rollouts
from taskalgebra.worlds.grid import from_text
from taskalgebra.theory.tasks import TaskSpace
task = TaskSpace(from_text("A...B")).task("A")
try:
    actions = np.array({BAD_ACTIONS[kind]})
    rollouts(task, actions, np.zeros(7), episodes=5, rng=np.random.default_rng(0))
except ValueError as error:
    print("refused:", error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-300:]
    assert done.stdout.startswith("refused:")
    assert "action" in done.stdout


def test_episodes_are_counted_in_a_deterministic_world():
    space = TaskSpace(from_text("A...B", step_reward=-0.125, starts=[(0, 3)]))
    walk = [STAY, LEFT, LEFT, LEFT, LEFT, 0, 0]
    result = play(space.task("A"), walk, episodes=50)
    assert result.episodes == 50
    assert result.mean_return == 2.0 - 0.125 * 4
    assert result.standard_error == 0.0
    assert result.optimal_return == 2.0 - 0.125 * 4
    assert result.success_rate == 1.0
    assert result.unfinished == 0
    assert result.mean_steps == 5.0  # three moves, stay, and the action that is paid
    wrong = play(space.task("B"), walk, episodes=50)
    assert wrong.mean_return == pytest.approx(-0.1 - 0.125 * 4)
    assert wrong.optimal_return == 2.0 - 0.125 * 2
    assert wrong.success_rate == 0.0


def test_episodes_that_do_not_end_are_cut_off_and_counted():
    space = corridor()
    loops = [STAY, LEFT, RIGHT, LEFT, STAY, 0, 0]  # 2 ⇄ 3
    result = play(space.universal, loops, episodes=1000, max_steps=20)
    starts = np.random.default_rng(0).choice(space.mdp.starts, 1000)
    lost = np.isin(starts, (2, 3))
    assert result.unfinished == lost.sum() > 0
    returns = np.where(lost, -0.125 * 20, 2.0 - 0.125 * np.where(starts == 1, 2, 1))
    assert result.mean_return == pytest.approx(returns.mean())
    steps = np.where(lost, 20, np.where(starts == 1, 3, 2))
    assert result.mean_steps == pytest.approx(steps.mean())
    assert result.success_rate == pytest.approx(1 - lost.mean())
    assert result.standard_error == pytest.approx(returns.std() / np.sqrt(1000), rel=1e-2)
    assert f"{lost.sum()} cut off" in str(result)


def test_the_default_limit_only_cuts_off_what_goes_round():
    result = play(corridor().universal, [STAY, LEFT, STAY, RIGHT, STAY, 0, 0], episodes=200)
    starts = np.random.default_rng(0).choice(5, 200)
    assert result.unfinished == (starts == 2).sum()


@pytest.mark.parametrize("slip", [0.1, 0.4])
def test_the_mean_of_many_episodes_is_the_exact_return(slip):
    text = "A..#.\n..#..\n....B"
    space = TaskSpace(from_text(text, slip_probability=slip))
    task = space.task("B")
    rng = np.random.default_rng(3)
    for _ in range(4):
        actions = rng.integers(0, 4, space.mdp.n_states)
        actions[[0, np.flatnonzero((space.mdp.cells == (2, 4)).all(axis=1))[0]]] = STAY
        exact = policy_return(task, actions)[space.mdp.starts].mean()
        assert np.isfinite(exact)
        result = play(task, actions, episodes=20_000, seed=7, max_steps=100_000)
        assert result.unfinished == 0
        assert abs(result.mean_return - exact) < 5 * result.standard_error


def test_the_share_of_successes_is_that_of_the_random_outcomes():
    dense = np.zeros((3, 1, 3))
    dense[0, 0] = [0.25, 0.25, 0.5]
    space = TaskSpace(from_arrays(dense, -1.0, [1, 2]))
    result = play(space.task([0]), [0, 0, 0], episodes=20_000)
    assert result.success_rate == pytest.approx(1 / 3, abs=5 * np.sqrt(2 / 9 / 20_000))


def test_the_optimum_is_the_mean_over_the_same_starts():
    space = corridor()
    values = optimal_v(space.task("A"))
    result = play(space.task("A"), [STAY, LEFT, LEFT, LEFT, LEFT, 0, 0], episodes=300, seed=5)
    starts = np.random.default_rng(5).choice(space.mdp.starts, 300)
    assert result.optimal_return == pytest.approx(values[starts].mean())
    assert result.mean_return == pytest.approx(result.optimal_return)


def test_equal_seeds_agree_and_different_seeds_differ():
    task = corridor(slip_probability=0.3).task("A")
    walk = [STAY, LEFT, LEFT, LEFT, LEFT, 0, 0]
    one, same, other = (play(task, walk, seed=s) for s in (1, 1, 2))
    assert one == same
    assert one.mean_return != other.mean_return


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"episodes": 0}, ["episodes is 0", "at least 1"]),
        ({"episodes": -3}, ["episodes is -3", "at least 1"]),
        ({"max_steps": 0}, ["max_steps is 0", "at least 1"]),
        ({"max_steps": -1}, ["max_steps is -1", "at least 1"]),
    ],
)
def test_no_episodes_and_no_steps_are_refused(options, words):
    with pytest.raises(ValueError) as caught:
        play(corridor().universal, [STAY] * 7, **options)
    for word in words:
        assert word in str(caught.value)


def test_an_evaluation_is_one_line():
    space = TaskSpace(from_text("A.", step_reward=-0.5, starts=[(0, 1)]))
    line = str(play(space.universal, [STAY, LEFT, 0], episodes=8))
    assert line == "return 1.000 (optimal 1.000), success 100.0 %, 3.0 steps, 8 episodes"


def test_a_return_off_the_optimum_is_shown_with_its_error():
    """In slippery worlds an optimal agent may have luck; a return at the optimum needs no error."""
    slippery = ta.solve(ta.FourRooms(slip_probability=0.3))["top"].improve().evaluate(200)
    assert f"return {slippery.mean_return:.3f} ± {slippery.standard_error:.3f} (optimal" in str(
        slippery
    )
    sure = ta.solve(ta.FourRooms())["top"].evaluate(200)
    assert sure.standard_error > 0 and "±" not in str(sure)
