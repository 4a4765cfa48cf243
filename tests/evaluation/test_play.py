"""Episodes played in waves: each copy counts once, however the environment resets itself."""

from dataclasses import asdict

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space

from taskalgebra.envs.finite_env import FiniteEnv, FiniteVectorEnv
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.evaluation.record import Evaluation
from taskalgebra.evaluation.rollout import play as play_until
from taskalgebra.planning.exact import optimal_v, q_bar_star
from taskalgebra.theory.policy import GreedyPolicy, Policy
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.grid import from_text
from taskalgebra.worlds.open_world import OpenWorld

MODES = list(AutoresetMode)
COUNTED = OpenWorld(("early", "late"), ("wait", "take"))
SPACE = TaskSpace(COUNTED)
LATE = SPACE.task("late")


class Clock(gym.Env):
    """An episode of a random length of 1 to 6 steps, which is all that is seen.

    It ends in the goal "early" after up to 3 steps, else in "late".  The last step pays the task,
    every other one −1.  With `limit` it truncates itself.
    """

    observation_space = gym.spaces.Box(0, 6, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, task=LATE, limit=None, log=None):
        self.task, self.limit, self.log = task, limit, log
        self.over = True

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.length, self.elapsed, self.over = int(self.np_random.integers(1, 7)), 0, False
        if self.log is not None:
            self.log.append((seed, self.length))
        best = self.task.goal_reward[int(self.length > 3)] - (self.length - 1)
        return self.seen(), {"goal": -1, "optimal_return": float(best)}

    def seen(self):
        return np.array([self.length - self.elapsed], np.float32)

    def step(self, action):
        assert not self.over, "an episode that is over was stepped"
        self.elapsed += 1
        if self.elapsed == self.length:
            goal = int(self.length > 3)
            self.over = True
            return self.seen(), float(self.task.goal_reward[goal]), True, False, {"goal": goal}
        self.over = self.elapsed == self.limit
        return self.seen(), -1.0, False, self.over, {"goal": -1}


class Patient(Policy):
    """A policy that waits, and counts what it was shown."""

    observation_ndim = 1

    def __init__(self):
        self.batches, self.begun = [], []

    def actions(self, observations):
        self.batches.append(np.asarray(observations).copy())
        return np.zeros(len(observations), np.int64)

    def reset(self, begins):
        self.begun.append(begins.tolist())


def play(task, env, policy, *, max_steps=1000, **options):
    return play_until(task, env, policy, max_steps=max_steps, **options)


def clocks(n, mode=AutoresetMode.NEXT_STEP, **options):
    return SyncVectorEnv([lambda: Clock(**options)] * n, autoreset_mode=mode)


def first_lengths(episodes, seed=0):
    """The lengths of the episodes that a play of this seed counts, from their own seeds."""
    first = int(np.random.SeedSequence(seed).generate_state(1)[0]) // 2
    clock = Clock()
    return np.array([int(clock.reset(seed=first + i)[0][0]) for i in range(episodes)])


def same(one, two):
    np.testing.assert_equal(asdict(one), asdict(two))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("n", "episodes"), [(1, 7), (3, 7), (4, 8), (7, 7), (16, 7), (16, 1)])
def test_every_copy_counts_with_its_first_episode(mode, n, episodes):
    result = play(LATE, clocks(n, mode), Patient(), episodes=episodes, seed=5)
    lengths = first_lengths(episodes, seed=5)
    returns = np.where(lengths > 3, 2.0, -0.1) - (lengths - 1)
    assert result.episodes == episodes
    assert result.mean_return == pytest.approx(returns.mean(), abs=1e-12)
    assert result.optimal_return == pytest.approx(returns.mean(), abs=1e-12)
    assert result.mean_steps == lengths.mean()
    assert result.n_success == (lengths > 3).sum()
    assert result.success_rate == (lengths > 3).mean()
    assert result.unfinished == 0
    if episodes > 1:
        assert result.standard_error == pytest.approx(returns.std(ddof=1) / np.sqrt(episodes))
    else:
        assert np.isnan(result.standard_error)


@pytest.mark.parametrize("options", [{}, {"limit": 4}], ids=["whole", "truncated"])
def test_neither_the_reset_mode_nor_the_number_of_copies_matters(options):
    one, *others = [
        play(LATE, clocks(n, mode, **options), Patient(), episodes=23, seed=2)
        for mode in MODES
        for n in (1, 4, 23, 40)
    ]
    for other in others:
        same(one, other)


def test_short_episodes_do_not_count_more_than_long_ones():
    result = play(LATE, clocks(64), Patient(), episodes=3000)
    assert result.mean_steps == pytest.approx(3.5, abs=5 * np.sqrt(35 / 12 / 3000))
    low, high = result.success_interval
    assert low < 0.5 < high


def test_a_wave_ends_with_the_last_episode_that_counts():
    lengths = first_lengths(5)
    policy, log = Patient(), []
    play(LATE, clocks(3, log=log), policy, episodes=5)
    assert len(policy.batches) == lengths[:3].max() + lengths[3:].max()
    seeds = [seed for seed, _ in log if seed is not None]
    assert len(set(seeds)) == len(seeds) == 6


def test_different_seeds_play_different_episodes():
    seeds = []
    for seed in (0, 1, 2):
        log = []
        play(LATE, clocks(5, log=log), Patient(), episodes=20, seed=seed)
        seeds += [s for s, _ in log if s is not None]
    assert len(set(seeds)) == 60
    assert max(seeds) < 2**32


@pytest.mark.parametrize("mode", MODES)
def test_episodes_are_cut_off_after_the_last_step_and_keep_their_return(mode):
    result = play(LATE, clocks(4, mode), Patient(), episodes=50, max_steps=3)
    lengths = first_lengths(50)
    assert result.unfinished == (lengths > 3).sum() > 0
    assert result.n_success == 0
    assert result.mean_steps == np.minimum(lengths, 3).mean()
    returns = np.where(lengths > 3, -3.0, -0.1 - (lengths - 1))
    assert result.mean_return == pytest.approx(returns.mean())
    cut = play(LATE, clocks(4, mode, limit=3), Patient(), episodes=50)
    same(result, cut)
    assert f"{result.unfinished} cut off" in str(result)


def test_a_goal_of_lesser_reward_is_no_success_and_the_empty_task_has_none():
    lengths = first_lengths(30)
    both = play(SPACE.universal, clocks(5, task=SPACE.universal), Patient(), episodes=30)
    none = play(SPACE.empty, clocks(5, task=SPACE.empty), Patient(), episodes=30)
    early = SPACE.from_rewards([1.5, 0.5])
    graded = play(early, clocks(5, task=early), Patient(), episodes=30)
    assert (both.n_success, none.n_success) == (30, 0)
    assert graded.n_success == (lengths <= 3).sum()


@pytest.mark.parametrize("slip", [0.0, 0.3])
def test_it_agrees_with_the_exact_return_in_a_finite_world(slip):
    space = TaskSpace(from_text("A..#.\n..#..\n....B", slip_probability=slip))
    task = space.task("B")
    policy = GreedyPolicy(q_bar_star(space, [task]).values[0])
    exact = policy_return(task, policy.actions(np.arange(space.mdp.n_states)))
    env = FiniteVectorEnv(FiniteEnv(space, task=task), 50)
    result = play(task, env, policy, episodes=4990, max_steps=100_000)
    assert result.unfinished == 0
    expected = exact[space.mdp.starts].mean()
    assert abs(result.mean_return - expected) < 5 * result.standard_error
    assert np.isnan(result.optimal_return)
    if not slip:
        assert expected == pytest.approx(optimal_v(task)[space.mdp.starts].mean())


class Broken(VectorEnv):
    """Two copies that end at once, with whatever information they are told to give."""

    def __init__(self, reset_infos, step_infos, mode=AutoresetMode.NEXT_STEP):
        self.reset_infos, self.step_infos, self.num_envs = reset_infos, step_infos, 2
        self.metadata = {"autoreset_mode": mode} if mode else {}
        self.single_action_space = gym.spaces.Discrete(2)
        self.action_space = batch_space(self.single_action_space, 2)

    def reset(self, *, seed=None, options=None):
        return np.zeros((2, 1)), self.reset_infos

    def step(self, actions):
        yes = np.ones(2, bool)
        return np.zeros((2, 1)), np.array([2.0, 1.0], np.float32), yes, ~yes, self.step_infos


GOALS = {"goal": np.array([1, 0])}


@pytest.mark.parametrize("mode", [*MODES, None])
def test_the_goal_may_stand_in_the_infos_of_the_step_or_of_the_end(mode):
    next_one = {"goal": np.full(2, -1), "final_info": GOALS}
    for infos in (GOALS, next_one):
        result = play(LATE, Broken({}, infos, mode), Patient(), episodes=3)
        assert (result.n_success, result.mean_return) == (2, pytest.approx(5 / 3))


@pytest.mark.parametrize(
    ("reset_infos", "optimal"),
    [
        ({"optimal_return": np.array([3.0, 5.0])}, 4.0),
        ({"optimal_return": np.array([3.0, 5.0]), "_optimal_return": np.array([1, 1], bool)}, 4.0),
        ({"optimal_return": np.array([3.0, 0.0]), "_optimal_return": np.array([1, 0], bool)}, None),
        ({}, None),
    ],
)
def test_the_optimum_is_what_the_environment_says_of_every_episode(reset_infos, optimal):
    result = play(LATE, Broken(reset_infos, GOALS), Patient(), episodes=2)
    if optimal is None:
        assert np.isnan(result.optimal_return)
        assert np.isnan(result.score)
        assert "optimal" not in str(result)
    else:
        assert result.optimal_return == optimal
        assert result.score == 1.5 / optimal
    same(result, play(LATE, Broken(reset_infos, GOALS), Patient(), episodes=2))


@pytest.mark.parametrize(
    ("infos", "words"),
    [
        ({}, r'without info\["goal"\]; a goal environment puts'),
        ({"goal": np.array([0, -1])}, r'info\["goal"\] = .*-1.*, expected .* 0 to 1; .*truncated'),
        (
            {"goal": np.array([2, 0])},
            r'info\["goal"\] = .*2.*, expected the number of a goal, 0 to 1',
        ),
    ],
)
def test_an_environment_that_breaks_the_contract_of_goals_is_refused(infos, words):
    with pytest.raises(ValueError, match=words):
        play(LATE, Broken({}, infos), Patient(), episodes=2)


@pytest.mark.parametrize("mode", MODES)
def test_a_policy_is_told_where_episodes_begin(mode):
    """Once at the start of a wave, and wherever an episode has ended while others go on."""
    lengths, policy = first_lengths(8), Patient()
    play(LATE, clocks(8, mode), policy, episodes=8)
    assert policy.begun[0] == [True] * 8
    first = lengths.min()
    assert lengths.max() > first + 1  # with NEXT_STEP, an episode begins a step after the last
    assert policy.begun[1] == (lengths == first).tolist()
    assert len(policy.batches) == lengths.max()


def test_bad_input_is_refused_in_words():
    with pytest.raises(TypeError, match="the task must be a Task"):
        play(clocks(1), LATE, Patient(), episodes=1)
    with pytest.raises(ValueError, match="episodes is 0"):
        play(LATE, clocks(1), Patient(), episodes=0)
    with pytest.raises(ValueError, match="max_steps is 0"):
        play(LATE, clocks(1), Patient(), episodes=1, max_steps=0)


def outcome(n_success, episodes, mean=1.0, optimal=2.0):
    return Evaluation(episodes, mean, 0.0, optimal, n_success / episodes, 0, 1.0)


@pytest.mark.parametrize(
    ("n_success", "episodes", "low", "high"),
    [
        # Roots of (p − x)² n = z² x (1 − x), by hand for 0 and all: n / (n + z²).
        (0, 10, 0.0, 3.8414588 / 13.8414588),
        (10, 10, 10 / 13.8414588, 1.0),
        (1, 1, 1 / 4.8414588, 1.0),
        (50, 100, 0.5 - 0.0961687, 0.5 + 0.0961687),
    ],
)
def test_the_interval_is_that_of_wilson(n_success, episodes, low, high):
    result = outcome(n_success, episodes)
    assert result.success_interval == pytest.approx((low, high), abs=1e-6)
    assert result.n_success == n_success


def test_the_interval_solves_its_equation_and_lies_within_0_and_1():
    for episodes in (1, 2, 7, 1000, 4999):
        for n_success in {0, 1, episodes // 3, episodes - 1, episodes}:
            result = outcome(n_success, episodes)
            low, high = result.success_interval
            assert 0.0 <= low <= result.success_rate <= high <= 1.0
            assert result.n_success == n_success
            for x in (low, high):
                left = (result.success_rate - x) ** 2 * episodes
                assert left == pytest.approx(3.841458820694124 * x * (1 - x), abs=1e-9)


def test_a_score_is_a_share_of_the_optimum():
    assert outcome(1, 2).score == 0.5
    assert np.isnan(outcome(1, 2, optimal=0.0).score)
    assert np.isnan(outcome(1, 2, optimal=np.nan).score)
