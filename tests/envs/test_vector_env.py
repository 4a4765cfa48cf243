"""Many worlds at once, against the table and against Gymnasium's own loop over worlds."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from taskalgebra.envs.finite_env import FiniteEnv, FiniteVectorEnv
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text

ID = "TaskAlgebra/FourRooms-v0"
UP, RIGHT, DOWN, LEFT, STAY = range(5)
ONE_START = TaskSpace(from_text("A..B", step_reward=-0.125, starts=[(0, 1)]))
RANDOM = TaskSpace(from_text("A..\n..B", slip_probability=0.5))


def test_make_vec_makes_a_batch_of_tables():
    batch = gym.make_vec(ID, num_envs=8, task="top ^ left")
    assert isinstance(batch, FiniteVectorEnv)
    assert batch.num_envs == 8
    assert batch.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert batch.single_observation_space == gym.spaces.Discrete(108)
    assert batch.action_space == gym.spaces.MultiDiscrete([5] * 8)
    states, infos = batch.reset(seed=0)
    assert states in batch.observation_space
    assert infos["goal"].tolist() == [-1] * 8
    states, rewards, terminated, truncated, infos = batch.step(batch.action_space.sample())
    assert states in batch.observation_space
    assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
    assert batch.spec.id == ID
    batch.close()


def test_make_vec_makes_a_loop_over_worlds_too():
    loop = gym.make_vec(ID, num_envs=8, vectorization_mode="sync", task="top")
    assert isinstance(loop, SyncVectorEnv)
    states, infos = loop.reset(seed=0)
    assert states.shape == (8,)
    assert infos["goal"].tolist() == [-1] * 8
    for _ in range(300):
        states, _, terminated, _, infos = loop.step(loop.action_space.sample())
        assert ((infos["goal"] >= 0) == terminated).all()
    loop.close()


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "not shared"])
def test_batch_and_loop_agree_step_by_step(shared):
    def world():
        return FiniteEnv(ONE_START, task=ONE_START.task("B"), shared_absorbing=shared)

    loop, batch = SyncVectorEnv([world] * 6), FiniteVectorEnv(world(), 6)
    rng = np.random.default_rng(0)
    ends = 0
    pairs = [(loop.reset(seed=0), batch.reset(seed=0))]
    for _ in range(400):
        actions = rng.integers(5, size=6)
        pairs.append((loop.step(actions), batch.step(actions)))
    for one, other in pairs:
        assert len(one) == len(other)
        for a, b in zip(one[:-1], other[:-1], strict=True):
            assert (a.dtype, a.tolist()) == (b.dtype, b.tolist())
        assert set(one[-1]) == set(other[-1])
        for key, value in one[-1].items():
            assert value.tolist() == other[-1][key].tolist()
        ends += int((other[-1]["goal"] >= 0).sum())
    assert ends > 30


def test_an_episode_ends_with_its_goal_and_the_next_step_starts_another():
    batch = FiniteVectorEnv(FiniteEnv(ONE_START, task=ONE_START.task("B")), 2)
    batch.reset(options={"state": [2, 0]})
    seen = [batch.step(np.array(actions)) for actions in ((1, 4), (4, 4), (0, 0), (3, 3))]
    assert [step[0].tolist() for step in seen] == [[3, 4], [5, 4], [5, 1], [1, 0]]
    assert [step[1].tolist() for step in seen] == [
        [-0.125, -0.125],
        [-0.125, -0.1],
        [2.0, 0.0],
        [0.0, -0.125],
    ]
    assert [step[2].tolist() for step in seen] == [
        [False, False],
        [False, True],
        [True, False],
        [False, False],
    ]
    assert [step[4]["goal"].tolist() for step in seen] == [[-1, -1], [-1, 0], [1, -1], [-1, -1]]


def frequencies_fit(states, expected):
    """Whether states come as often as expected, within five standard deviations."""
    for state in range(max(*expected, states.max()) + 1):
        p = expected.get(state, 0.0)
        assert abs((states == state).mean() - p) <= 5 * np.sqrt(p * (1 - p) / states.size)


@pytest.mark.parametrize("action", range(5))
def test_outcomes_come_as_often_as_the_table_says(action):
    mdp = RANDOM.mdp
    batch = FiniteVectorEnv(FiniteEnv(RANDOM), 40_000)
    batch.reset(seed=action)
    for state in range(mdp.n_states):
        batch.reset(options={"state": state})
        row = slice(*mdp.offset[state * 5 + action : state * 5 + action + 2])
        expected = dict(zip(mdp.successor[row].tolist(), mdp.probability[row], strict=True))
        frequencies_fit(batch.step(np.full(40_000, action))[0], expected)


def test_outcomes_come_as_often_as_those_of_one_world():
    # From (0, 1): down 1/2 to (1, 1); up is a wall, left (0, 0), right (0, 2), 1/6 each.
    batch = FiniteVectorEnv(FiniteEnv(RANDOM), 40_000)
    batch.reset(seed=0, options={"state": 1})
    frequencies_fit(batch.step(np.full(40_000, DOWN))[0], {4: 1 / 2, 1: 1 / 6, 0: 1 / 6, 2: 1 / 6})


def test_episodes_start_equally_often_in_every_start():
    batch = FiniteVectorEnv(FourRooms(), 50_000)
    frequencies_fit(batch.reset(seed=0)[0], dict.fromkeys(range(104), 1 / 104))
    batch.reset(options={"state": 104})
    assert batch.step(np.zeros(50_000, int))[2].all()
    states, rewards, *_ = batch.step(np.zeros(50_000, int))
    frequencies_fit(states, dict.fromkeys(range(104), 1 / 104))
    assert not rewards.any()


def test_rows_of_different_length_keep_their_probabilities():
    dynamics = np.zeros((3, 2, 3))
    dynamics[0] = [[0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]
    dynamics[1] = [[0.0, 0.0, 1.0], [0.75, 0.0, 0.25]]
    space = TaskSpace(from_arrays(dynamics, -1.0, [2]))
    batch = FiniteVectorEnv(FiniteEnv(space), 40_000)
    for state, action in ((0, 0), (0, 1), (1, 0), (1, 1)):
        batch.reset(seed=state, options={"state": state})
        frequencies_fit(
            batch.step(np.full(40_000, action))[0], dict(enumerate(dynamics[state, action]))
        )


def test_dense_rewards_are_those_of_the_task():
    world = FourRooms(dense=True, task="top ^ left")
    batch = FiniteVectorEnv(world, 104)
    for action in range(5):
        batch.reset(options={"state": np.arange(104)})
        assert (
            batch.step(np.full(104, action))[1].tolist() == world.task.steps[:104, action].tolist()
        )


def trajectory(seed):
    batch = gym.make_vec(ID, num_envs=5, slip_probability=0.3)
    states = [batch.reset(seed=seed)[0]]
    states += [batch.step(np.full(5, step % 5))[0] for step in range(50)]
    return np.array(states).tolist()


def test_equal_seeds_agree_and_different_seeds_differ():
    assert trajectory(1) == trajectory(1)
    assert trajectory(1) != trajectory(2)


def test_results_are_not_shared_between_calls():
    batch = FiniteVectorEnv(FourRooms(), 3)
    first, _ = batch.reset(seed=0, options={"state": 7})
    first[:] = 0
    assert batch.step(np.full(3, STAY))[0].tolist() == [7, 7, 7]


def test_a_step_limit_truncates_as_that_of_gymnasium_does():
    options = {"num_envs": 3, "max_episode_steps": 4, "text": "A..........", "task": "x1"}
    batch = gym.make_vec(ID, **options)
    loop = gym.make_vec(ID, vectorization_mode="sync", **options)
    for env in (batch, loop):
        env.reset(seed=0, options={"state": 5})
        cut = [env.step(np.full(3, UP))[3].tolist() for _ in range(10)]
        assert cut == [[i in (3, 8)] * 3 for i in range(10)]


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_every_world_is_rendered(mode):
    batch = gym.make_vec(ID, num_envs=2, render_mode=mode)
    assert len(batch.render()) == 2
    batch.reset(options={"state": [0, 3]})
    frames = batch.render()
    single = FourRooms(render_mode=mode)
    for frame, state in zip(frames, (0, 3), strict=True):
        single.reset(options={"state": state})
        assert np.array_equal(frame, single.render())


def test_without_a_render_mode_there_is_a_warning_and_no_frame():
    with pytest.warns(UserWarning, match="without a render mode"):
        assert FiniteVectorEnv(FourRooms(), 2).render() is None


def test_a_step_before_the_first_reset_is_refused():
    with pytest.raises(gym.error.ResetNeeded, match=r"reset\(\)"):
        FiniteVectorEnv(FourRooms(), 2).step(np.zeros(2, int))


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([0, 5], ["action 5", "up, right", "0 to 4"]),
        ([-1, 0], ["action -1"]),
        ([0.0, 1.0], ["2 whole numbers", "float64"]),
        ([0], ["2 whole numbers", "(1,)"]),
        (3, ["2 whole numbers", "()"]),
    ],
)
def test_bad_actions_are_refused_in_words(actions, words):
    batch = FiniteVectorEnv(FourRooms(), 2)
    batch.reset(seed=0)
    with pytest.raises(ValueError) as caught:
        batch.step(actions)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (200, ["state 200", "0 to 107"]),
        ([0, -1], ["state -1"]),
        ([0, 1, 2], ["shape (3,)", "each of the 2 copies"]),
        (0.5, ["0.5"]),
    ],
)
def test_bad_starts_are_refused_in_words(state, words):
    with pytest.raises(ValueError) as caught:
        FiniteVectorEnv(FourRooms(), 2).reset(options={"state": state})
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("options", [{"num_envs": 0}, {"num_envs": 2, "max_episode_steps": 0}])
def test_bad_counts_are_refused(options):
    with pytest.raises(ValueError, match=r"is 0, expected a whole number of at least 1"):
        gym.make_vec(ID, **options)
