"""Many games of Boxman at once, against single ones, and in evaluations."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.finite import finite_world
from taskalgebra.envs.boxman.vector import VectorBoxman
from taskalgebra.evaluation.rollout import play
from taskalgebra.planning.exact import q_bar_star
from taskalgebra.theory.policy import GreedyPolicy, Policy
from taskalgebra.theory.tasks import TaskSpace

ID = "TaskAlgebra/Boxman-v0"
UP, RIGHT, DOWN, LEFT, PICK = range(5)
MODES = pytest.mark.parametrize("collect", ["pick-up", "touch"])
LAYOUTS = pytest.mark.parametrize("layout", ["fixed", "random"])


@MODES
@LAYOUTS
def test_make_vec_makes_a_batch(layout, collect):
    batch = gym.make_vec(
        ID,
        num_envs=8,
        vectorization_mode="vector_entry_point",
        task="blue ^ square",
        layout=layout,
        collect=collect,
    )
    assert isinstance(batch, VectorBoxman)
    assert batch.num_envs == 8
    assert batch.spec.id == ID
    assert batch.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    n_actions = 4 if collect == "touch" else 5
    assert batch.action_space == gym.spaces.MultiDiscrete([n_actions] * 8)
    frames, infos = batch.reset(seed=0)
    assert frames in batch.observation_space
    assert infos["goal"].tolist() == [-1] * 8
    assert infos["optimal_return"].shape == (8,)
    frames, rewards, terminated, truncated, infos = batch.step(batch.action_space.sample())
    assert frames in batch.observation_space
    assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
    assert infos["task_rewards"].shape == (8, 5)
    batch.close()


def test_make_vec_makes_a_loop_over_worlds_too():
    loop = gym.make_vec(ID, num_envs=4, vectorization_mode="sync", task="blue", layout="random")
    assert isinstance(loop, SyncVectorEnv)
    frames, infos = loop.reset(seed=0)
    assert frames.shape == (4, 84, 84, 3)
    assert infos["optimal_return"].shape == (4,)
    for _ in range(200):
        _, _, terminated, _, infos = loop.step(loop.action_space.sample())
        assert ((infos["goal"] >= 0) == terminated).all()
    loop.close()


@MODES
@LAYOUTS
@pytest.mark.parametrize("limit", [None, 9])
def test_every_game_of_a_batch_is_a_single_game(layout, collect, limit):
    """Single games go on from the codes of the batch whenever that has started a new episode."""
    n = 7
    batch = VectorBoxman(
        Boxman("blue ^ square", layout=layout, collect=collect), n, max_episode_steps=limit
    )

    def single():
        env = Boxman("blue ^ square", layout=layout, collect=collect)
        return env if limit is None else gym.wrappers.TimeLimit(env, limit)

    singles = [single() for _ in range(n)]
    rng = np.random.default_rng(0)
    frames, infos = batch.reset(seed=1)
    for i, env in enumerate(singles):
        frame, info = env.reset(options={"code": batch.codes[i]})
        assert np.array_equal(frame, frames[i])
        assert info["optimal_return"] == infos["optimal_return"][i]
    ended = np.zeros(n, bool)
    endings = set()
    for _ in range(400):
        actions = rng.integers(batch.single_action_space.n, size=n)
        frames, rewards, terminated, truncated, infos = batch.step(actions)
        for i, env in enumerate(singles):
            if ended[i]:
                frame, info = env.reset(options={"code": batch.codes[i]})
                reward, over, cut = 0.0, False, False
            else:
                frame, reward, over, cut, info = env.step(actions[i])
                assert env.unwrapped.code.tolist() == batch.codes[i].tolist()
            assert np.array_equal(frame, frames[i])
            assert (rewards[i], terminated[i], truncated[i]) == (reward, over, cut)
            assert infos["goal"][i] == info["goal"]
            assert infos["_task_rewards"][i] == ("task_rewards" in info)
            paid = info.get("task_rewards", np.zeros(5))
            assert infos["task_rewards"][i].tolist() == paid.tolist()
            endings.add((bool(over), bool(cut)))
        ended = terminated | truncated
    assert (True, False) in endings
    assert ((False, True) in endings) == (limit is not None)


def test_an_episode_ends_with_its_goal_and_the_next_step_starts_another():
    world = Boxman("blue & square")
    batch = VectorBoxman(world, 2)
    codes = [[world.board.cell((8, 2)), 0, *world.places], [0, 0, *world.places]]
    _, infos = batch.reset(seed=0, options={"code": codes})
    assert infos["optimal_return"] == pytest.approx([1.8, 2 - 0.8])
    seen = [batch.step(np.array(a)) for a in ((LEFT, PICK), (PICK, UP), (UP, UP), (UP, DOWN))]
    assert [step[1].tolist() for step in seen] == [
        [-0.1, -0.1],
        [-0.1, -0.1],
        [2.0, 0.0],
        [0.0, -0.1],
    ]
    assert [step[2].tolist() for step in seen] == [
        [False, False],
        [False, True],
        [True, False],
        [False, False],
    ]
    assert [step[4]["goal"].tolist() for step in seen] == [[-1, -1], [-1, 0], [1, -1], [-1, -1]]
    blue_square = [2.0, -0.1, -0.1, 2.0, -0.1]  # blue, beige, purple, square, circle
    assert seen[2][4]["task_rewards"].tolist() == [blue_square, [0.0] * 5]
    assert seen[2][4]["_task_rewards"].tolist() == [True, False]


def test_nothing_that_was_handed_out_changes_later():
    batch = VectorBoxman(Boxman("blue", layout="random"), 16)
    rng = np.random.default_rng(0)
    given = [batch.reset(seed=0)]
    given += [batch.step(rng.integers(5, size=16)) for _ in range(30)]
    codes = [batch.codes]

    def arrays():
        for *parts, infos in given:
            yield from parts
            yield from infos.values()
        yield from codes

    before = [array.copy() for array in arrays()]
    for _ in range(30):
        batch.step(rng.integers(5, size=16))
    batch.reset(seed=1)
    for one, other in zip(arrays(), before, strict=True):
        assert np.array_equal(one, other)


def test_writing_into_what_was_handed_out_disturbs_nothing():
    one, two = (VectorBoxman(Boxman("blue"), 8, max_episode_steps=5) for _ in range(2))
    one.reset(seed=0)
    two.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(40):
        actions = rng.integers(5, size=8)
        *spoilt, infos = one.step(actions)
        *parts, _ = two.step(actions)
        for a, b in zip(spoilt, parts, strict=True):
            assert np.array_equal(a, b)
        for array in (*spoilt, *infos.values()):
            array[:] = 1


@LAYOUTS
def test_equal_seeds_agree_and_different_seeds_differ(layout):
    def run(seed):
        batch = VectorBoxman(Boxman(layout=layout), 12)
        rng = np.random.default_rng(5)
        batch.reset(seed=seed)
        codes = [batch.codes]
        for _ in range(100):
            batch.step(rng.integers(5, size=12))
            codes.append(batch.codes)
        return np.array(codes)

    assert np.array_equal(run(0), run(0))
    assert not np.array_equal(run(0), run(1))


@MODES
@LAYOUTS
def test_new_episodes_start_where_they_may(layout, collect):
    batch = VectorBoxman(Boxman(layout=layout, collect=collect), 500, max_episode_steps=1)
    batch.reset(seed=0)
    cells = set()
    for _ in range(20):
        batch.step(np.zeros(500, int))
        batch.step(np.zeros(500, int))  # ignored: starts the next episode
        codes = batch.codes
        assert not codes[:, 1].any()
        if collect == "touch":
            assert not (codes[:, :1] == codes[:, 2:]).any()
        cells |= set(codes[:, 0].tolist())
    assert len(cells) == (52 if (layout, collect) == ("fixed", "touch") else 58)


def test_frames_of_codes_are_the_observations():
    batch = VectorBoxman(Boxman(layout="random"), 9)
    frames, _ = batch.reset(seed=0)
    assert np.array_equal(batch.frames_of(batch.codes), frames)
    assert np.array_equal(batch.frames_of(batch.codes[::3].tolist()), frames[::3])
    assert batch.frames_of(batch.codes[:0]).shape == (0, 84, 84, 3)
    with pytest.raises(ValueError, match="cells are numbered 0 to 57, got 60"):
        batch.frames_of([[60, 0, 1, 2, 3, 4, 5, 6]])


def test_a_later_change_of_the_world_does_not_count():
    world = Boxman("blue & square")
    batch = world.vector(1)
    world.task = "purple & circle"
    code = [world.board.cell((8, 1)), 0, *world.places]
    _, infos = batch.reset(options={"code": code})
    assert infos["optimal_return"] == pytest.approx([1.9])
    batch.step([PICK])
    assert batch.step([UP])[1].tolist() == [2.0]


def test_a_world_makes_batches_for_any_task():
    world = Boxman("blue", layout="random", collect="touch")
    before = world.code
    batch = world.vector(3, task=world.find_task("purple"))
    assert (batch.num_envs, batch.task) == (3, world.tasks["purple"])
    assert world.vector(2).task == world.task == world.tasks["blue"]
    assert world.vector(2, task="blue | purple").task == world.find_task("blue | purple")
    batch.reset(seed=0)
    batch.step(np.zeros(3, int))
    assert np.array_equal(world.code, before)


@MODES
def test_the_best_policy_is_evaluated_at_the_optimum(collect):
    world = Boxman("blue ^ square", collect=collect)
    batch = world.vector(50)
    mdp = finite_world(world.board, world.places, by_touch=world.by_touch, desired=world.desired)
    space = TaskSpace(mdp)
    greedy = GreedyPolicy(q_bar_star(space, [space.from_desired(world.task.desired)]).values[0])
    number = {frame.tobytes(): s for s, frame in enumerate(frames_of_states(world))}

    class ByFrame(Policy):
        observation_ndim = 3

        def actions(self, observations):
            return greedy.actions(np.array([number[frame.tobytes()] for frame in observations]))

    result = play(world.task, batch, ByFrame(), episodes=120, max_steps=world.max_episode_steps)
    assert result.mean_return == pytest.approx(result.optimal_return, abs=1e-12)
    assert (result.success_rate, result.unfinished) == (1.0, 0)


def frames_of_states(world):
    """The frames of a fixed layout in the order of the states of its finite world."""
    codes = [[cell, 0, *world.places] for cell in range(58)]
    codes += [[0, 1 + i, *world.places] for i in range(6)]
    return world.vector(1).frames_of(codes)


def test_rendering_shows_every_game():
    batch = gym.make_vec(
        ID, num_envs=3, vectorization_mode="vector_entry_point", render_mode="rgb_array"
    )
    with pytest.raises(gym.error.ResetNeeded, match=r"reset\(\) before render"):
        batch.render()
    batch.reset(seed=0)
    images = batch.render()
    assert [image.shape for image in images] == [(504, 504, 3)] * 3
    assert np.array_equal(images, batch.world.picture(batch.codes))


def test_without_a_render_mode_there_is_a_warning_and_no_picture():
    with pytest.warns(UserWarning, match="without a render mode"):
        assert VectorBoxman(Boxman(), 2).render() is None


def test_a_window_is_for_one_game():
    with pytest.raises(ValueError, match=r"a window shows one game; use gym\.make"):
        gym.make_vec(ID, 2, vectorization_mode="vector_entry_point", render_mode="human")


def test_a_step_before_the_first_reset_is_refused():
    with pytest.raises(gym.error.ResetNeeded, match=r"reset\(\) before step"):
        VectorBoxman(Boxman(), 2).step([0, 0])


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([0, 5], "action 5 does not exist; actions are up, right, down, left, pick up, .*0 to 4"),
        ([-1, 0], "action -1 does not exist"),
        ([0.0, 1.0], "2 whole numbers.*float64"),
        ([0], r"2 whole numbers.*\(1,\)"),
        (3, r"2 whole numbers.*\(\)"),
        (None, "2 whole numbers.*object"),
    ],
)
def test_bad_actions_are_refused_in_words(actions, words):
    batch = VectorBoxman(Boxman(), 2)
    batch.reset(seed=0)
    with pytest.raises(ValueError, match=words):
        batch.step(actions)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ([[0, 0, 1, 2, 3, 4, 5, 6]] * 3, "has 3 codes, expected one, or one for each of the 2"),
        ([0, 0, 1, 2, 3, 4, 5, 5], "two objects lie on one cell"),
        ([[0, 0, 1, 2, 3, 4, 5, 6], [0, 9, 1, 2, 3, 4, 5, 6]], r"code\[1\] is 9"),
        ([0, 0, 1], "a code is 8 whole numbers"),
        (7, "a code is 8 whole numbers"),
    ],
)
def test_bad_codes_are_refused_in_words(code, words):
    with pytest.raises(ValueError, match=words):
        VectorBoxman(Boxman(), 2).reset(options={"code": code})


@pytest.mark.parametrize("options", [{"num_envs": 0}, {"num_envs": 2, "max_episode_steps": 0}])
def test_bad_counts_are_refused(options):
    with pytest.raises(ValueError, match=r"is 0, expected a whole number of at least 1"):
        gym.make_vec(ID, vectorization_mode="vector_entry_point", **options)
