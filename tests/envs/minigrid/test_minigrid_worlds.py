"""MiniGrid as worlds of goals, against what MiniGrid itself says."""

import sys

import gymnasium as gym
import numpy as np
import pytest
from minigrid.wrappers import FullyObsWrapper

import taskalgebra as ta
from taskalgebra.envs import minigrid, registry
from taskalgebra.envs.minigrid.worlds import kind_of

FETCH = "MiniGrid-Fetch-8x8-N3-v0"
PLAYED = {
    FETCH: 12,
    "MiniGrid-Fetch-5x5-N2-v0": 12,
    "BabyAI-GoToObj-v0": 18,
    "BabyAI-GoToLocal-v0": 18,
    "BabyAI-PickupLoc-v0": 18,
    "BabyAI-OpenDoor-v0": 6,
    "MiniGrid-DoorKey-8x8-v0": 4,
    "MiniGrid-KeyCorridorS3R3-v0": 6,
}


@pytest.fixture
def acting():
    def act(name, steps, label, seed=0):
        """What a label gives in the environment itself, step by step, with what ended it."""
        kind = kind_of(name)
        env = gym.make(name)
        rng = np.random.default_rng(seed)
        env.reset(seed=seed)
        for _ in range(steps):
            action = int(rng.integers(6 if len(kind.actions) > 3 else 3))
            seen, reward, terminated, truncated, info = env.step(action)
            yield env.unwrapped, label(seen, info, env.unwrapped), reward, terminated
            if terminated or truncated:
                env.reset()

    return act


@pytest.mark.parametrize("name", PLAYED)
def test_every_kind_is_a_world_that_can_be_played(name):
    world = minigrid.world(name)
    assert world.space.n_goals == PLAYED[name]
    copies = world.vector(8, task=world.space.universal, max_episode_steps=60)
    copies.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(200):
        seen, *_ = copies.step(rng.integers(0, world.space.n_actions, 8))
        assert world.observation_space.contains(seen[0])
    copies.close()


def test_the_whole_grid_is_what_the_wrapper_of_minigrid_shows():
    env = FullyObsWrapper(gym.make("MiniGrid-DoorKey-8x8-v0"))
    rng = np.random.default_rng(0)
    shown, _ = env.reset(seed=0)
    carried = set()
    for _ in range(600):
        seen = minigrid.full_grid(shown, env.unwrapped)
        assert np.array_equal(seen[:, :, :3], shown["image"])
        hands = seen[seen[:, :, 0] == 10][0, 3:].tolist()
        own = env.unwrapped.carrying
        assert hands == ([0, 0] if own is None else list(own.encode()[:2]))
        carried.add(tuple(hands))
        shown, _, terminated, truncated, _ = env.step(int(rng.integers(0, 6)))
        if terminated or truncated:
            shown, _ = env.reset()
    assert len(carried) == 2  # nothing, and the key


def test_without_the_partial_view_an_environment_plays_the_same():
    world, own = minigrid.world(FETCH), gym.make(FETCH)
    quick = world.make()
    rng = np.random.default_rng(1)
    quick.reset(seed=5)
    own.reset(seed=5)
    for _ in range(300):
        action = int(rng.integers(0, 4))
        one, two = quick.step(action), own.step(action)
        assert one[1:4] == two[1:4]
        assert own.observation_space.contains(one[0])
        assert {**one[0], "image": 0} == {**two[0], "image": 0}
        assert (minigrid.full_grid(None, quick.unwrapped)).tobytes() == (
            minigrid.full_grid(None, own.unwrapped)
        ).tobytes()
        if one[2] or one[3]:
            quick.reset(seed=action)
            own.reset(seed=action)


def test_fetch_ends_exactly_where_something_is_carried(acting):
    ends = 0
    for env, given, reward, terminated in acting(FETCH, 4000, minigrid.carried):
        assert (given is not None) == terminated
        if given:
            wanted = {"colour": env.targetColor, "type": env.targetType}
            assert (reward > 0) == (given == wanted)
            ends += 1
    assert ends > 10


def test_going_to_an_object_is_what_babyai_pays_for(acting):
    """Its verifier pays for the object of its mission; every payment is a goal of the label."""
    paid = 0
    for env, given, reward, _ in acting("BabyAI-GoToLocal-v0", 3000, minigrid.faced):
        if reward > 0:
            described = env.instrs.desc
            assert given is not None
            assert described.type in (None, given["type"])
            assert described.color in (None, given["colour"])
            paid += 1
    assert paid > 5


def test_opening_a_door_is_what_babyai_pays_for(acting):
    paid = 0
    for env, given, reward, _ in acting("BabyAI-OpenDoorColor-v0", 6000, minigrid.opened):
        if reward > 0:
            assert given == {"colour": env.instrs.desc.color}
            paid += 1
    assert paid > 0


def test_the_goal_square_is_reached_with_a_key_or_without():
    env = gym.make("MiniGrid-DoorKey-5x5-v0").unwrapped
    env.reset(seed=0)
    things = {thing.type: thing for thing in env.grid.grid if thing is not None}
    assert minigrid.at_goal(None, {}, env) is None
    env.agent_pos = (3, 3)
    assert minigrid.at_goal(None, {}, env) == {"key": False, "shut": True}
    env.carrying, things["door"].is_open = things["key"], True
    assert minigrid.at_goal(None, {}, env) == {"key": True, "shut": False}


def test_an_environment_of_no_kind_is_named_with_the_way_in():
    with pytest.raises(ValueError, match=r"MiniGrid-Fetch-8x8-N3-v0.*ta\.wrap"):
        minigrid.world("MiniGrid-Fetch-8x8-N3")
    with pytest.raises(ValueError, match="no world 'CartPole-v1'"):
        minigrid.world("CartPole-v1")


def test_without_the_extra_its_install_line_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "taskalgebra\[minigrid\]"'):
        minigrid.world(FETCH)


def test_a_world_is_made_again_from_its_description():
    world = minigrid.world(FETCH)
    again = registry.make("MiniGrid", **world.spec.kwargs)
    assert again.space.goal_names == world.space.goal_names
    assert minigrid.world(FETCH, max_episode_steps=50).spec is None


@pytest.mark.parametrize("name", ["MiniGrid-Fetch-5x5-N2-v0"])
def test_a_few_updates_learn_and_are_saved(name, tmp_path):
    world = minigrid.world(name)
    learner = world.learner.changed(
        n_updates=20, updates_per_iteration=20, learning_starts=3000, n_envs=16, score=lambda _: 0.0
    )
    skills = ta.learn(world, learner=learner)
    skills.save(tmp_path / "few")
    again = ta.load(tmp_path / "few")
    copies = again.env.vector(4, task=again.env.space.universal)
    seen, _ = copies.reset(seed=0)
    expected = skills["red & ball"].values.q_bar(seen)
    assert np.allclose(again["red & ball"].values.q_bar(seen), expected, atol=1e-2)
    assert again.env.spec.kwargs == {"name": name}
