"""Agents that Stable-Baselines3 trained, composed: real models, trained here for a few seconds."""

import json
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3 import DDPG, DQN, PPO, SAC, TD3, HerReplayBuffer
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import taskalgebra as ta
from taskalgebra.learning.deep import sb3 as code
from taskalgebra.showcase.goal_worlds import Grid, Point

HER = {
    "replay_buffer_class": HerReplayBuffer,
    "replay_buffer_kwargs": {"n_sampled_goal": 4},
    "buffer_size": 5_000,
    "device": "cpu",
    "seed": 0,
}
SMALL = Grid(size=5, max_steps=20)
CELLS = {"nw": (0, 0), "ne": (0, 4), "sw": (4, 0), "se": (4, 4)}
GOALS = {name: SMALL.point(*cell) for name, cell in CELLS.items()}
TASKS = {"left": ["nw", "sw"], "top": lambda point: bool(point[0] < 0)}
PLACES = {"a": [-0.7, -0.7], "b": [0.7, 0.7], "c": [-0.7, 0.7]}


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def dqn():
    model = DQN(
        "MultiInputPolicy",
        SMALL,
        **HER,
        gamma=0.9,
        learning_rate=2e-3,
        learning_starts=100,
        batch_size=512,
        train_freq=4,
        target_update_interval=500,
        exploration_fraction=0.5,
        exploration_final_eps=0.2,
        policy_kwargs={"net_arch": [128, 128]},
    )
    return model.learn(10_000)  # with fewer, it depends on the processor how good it becomes


def untrained(algorithm, **settings):
    """A model after a few gradient steps, for what does not depend on how good it is."""
    settings = {"policy_kwargs": {"net_arch": [32, 32]}, "learning_starts": 100, **settings}
    return algorithm("MultiInputPolicy", Point(), **HER, **settings).learn(150)


@pytest.fixture(scope="module")
def td3():
    return untrained(TD3)


def told(model, task):
    """The share of episodes in which the model, told the nearest wanted goal, ends in one."""
    names = list(task.space.goal_names)
    wanted = [names[i] for i in np.flatnonzero(task.desired)]
    env, done = Grid(size=5, max_steps=20), 0
    for seed in range(200):
        observation, _ = env.reset(seed=seed)
        away = [np.abs(observation["achieved_goal"] - GOALS[name]).sum() for name in wanted]
        aim = GOALS[wanted[int(np.argmin(away))]]
        for _ in range(20):
            action = model.predict({**observation, "desired_goal": aim}, deterministic=True)[0]
            observation, *_ = env.step(action)
            at = [name for name, cell in CELLS.items() if env.at == cell]
            if at:
                done += at[0] in wanted
                break
    return done / 200


@pytest.mark.parametrize("expression", ["left", "left & ~top", "left ^ top", "~left & ~top"])
def test_composed_agents_do_as_well_as_the_policy_that_is_told_a_wanted_goal(dqn, expression):
    skills = ta.from_sb3(dqn, GOALS, tasks=TASKS)
    agent = skills[expression]
    composed = agent.evaluate(200, seed=0).success_rate
    assert composed >= 0.9
    assert composed >= told(dqn, agent.task) - 0.03


def test_values_of_numbered_actions_are_those_of_the_network_at_every_goal(dqn):
    skills = ta.from_sb3(dqn, GOALS, tasks=TASKS)
    observation, _ = SMALL.reset(seed=4)
    seen = skills.env.see(observation)
    for i, (name, point) in enumerate(GOALS.items()):
        asked = {key: part[None] for key, part in {**observation, "desired_goal": point}.items()}
        with torch.no_grad():
            own = dqn.q_net(dqn.policy.obs_to_tensor(asked)[0]).numpy()[0]
        reward = skills["left"].task.goal_reward[i]
        np.testing.assert_allclose(skills["left"].q_bar(seen[None])[0, i], own + reward, atol=1e-4)
        assert skills.env.space.goal_names[i] == name


@pytest.mark.parametrize("algorithm", [TD3, SAC, DDPG])
def test_actor_critics_offer_the_policys_actions_and_value_them_as_their_critics(algorithm):
    model = untrained(algorithm)
    skills = ta.from_sb3(model, PLACES)
    observation, _ = Point().reset(seed=3)
    seen = skills.env.see(observation)[None]
    offers = skills.family.reach.offers(seen)[0]
    returns = skills.family.reach.returns(seen)[0]
    for h, towards in enumerate(PLACES.values()):
        desired = np.array(towards, np.float32)
        own, _ = model.predict({**observation, "desired_goal": desired}, deterministic=True)
        np.testing.assert_allclose(offers[h], own, atol=1e-6)
        scaled = torch.as_tensor(model.policy.scale_action(own)[None])
        for g, goal in enumerate(PLACES.values()):
            asked = {**observation, "desired_goal": np.array(goal, np.float32)}
            asked = {key: part[None] for key, part in asked.items()}
            with torch.no_grad():
                critics = model.critic(model.policy.obs_to_tensor(asked)[0], scaled)
            smallest = min(float(critic) for critic in critics)
            assert returns[g, h] == pytest.approx(min(smallest, returns[g, g]), abs=1e-4)
            assert h != g or returns[g, g] == pytest.approx(smallest, abs=1e-4)


def likes_others_more(model):
    """Observations in which the critic of a goal likes the action towards another goal more."""
    reach = ta.from_sb3(model, PLACES).family.reach
    seen = np.random.default_rng(0).uniform(-1, 1, (300, 4)).astype(np.float32)
    values = reach._valued(seen)
    return seen[values[:, 0].argmax(axis=1) != 0]


def test_an_agent_with_one_wanted_goal_acts_as_the_policy_that_is_told_it(td3):
    """The critic may err about actions that the policy would not take; the policy does not ask."""
    seen = likes_others_more(td3)
    assert len(seen) > 10
    parts = code.unflattened(ta.from_sb3(td3, PLACES).family.reach._parts, seen)
    desired = np.repeat(np.array([PLACES["a"]], np.float32), len(seen), axis=0)
    told, _ = td3.predict({**parts, "desired_goal": desired}, deterministic=True)
    for elsewhere in (None, "crash"):
        agent = ta.from_sb3(td3, PLACES, elsewhere=elsewhere)["a"]
        np.testing.assert_allclose(agent.policy.actions(seen), told, atol=1e-6)


def test_where_the_policys_own_action_is_left_out_the_critic_orders_the_others():
    returns = np.array([[[-3.0, -2.0, -1.0], [-0.1, -5.0, -4.0], [-9.0, -9.0, -6.0]]])
    left_out = np.zeros((1, 3, 3), bool)
    left_out[0, 0, 0] = True
    found = code._below_own(returns, left_out)[0]
    np.testing.assert_array_equal(found[0], returns[0, 0])
    assert found[1].argmax() == 1 and found[1].max() == -5.0
    np.testing.assert_array_equal(found[2], returns[0, 2])


def test_the_action_is_the_environments_own(td3):
    agent = ta.from_sb3(td3, PLACES)["a"]
    observation, _ = Point().reset(seed=0)
    action = agent.act(observation)
    assert action.shape == (2,) and Point().action_space.contains(action)
    values, offers = agent.values, agent.skills.family.reach.offers
    seen = agent.skills.env.see(observation)[None]
    best = values.q_bar(seen)[0].max(axis=0).argmax()
    np.testing.assert_array_equal(action, offers(seen)[0, best])


def test_a_wanted_goal_is_always_worth_the_way(td3):
    """Whatever a critic says within its range, the goal aimed at is a wanted one."""
    skills = ta.from_sb3(td3, PLACES, tasks={"left": ["a", "c"], "high": ["b", "c"]})
    space = skills.space
    lowest = -1.0 / (1.0 - td3.gamma)
    assert (space.r_universal + lowest > space.r_empty).all()
    agent = skills["left & ~high"]
    seen = np.random.default_rng(0).uniform(-1, 1, (100, 4)).astype(np.float32)
    assert (agent.q_bar(seen).max(axis=2).argmax(axis=1) == 0).all()


def test_a_continuous_agent_is_saved_loaded_and_played(td3, tmp_path):
    skills = ta.from_sb3(td3, PLACES, tasks={"left": ["a", "c"], "high": ["b", "c"]}, avoid=1.5)
    skills.save(tmp_path / "skills")
    td3.save(tmp_path / "model.zip")
    model = TD3.load(tmp_path / "model.zip", env=Point(), device="cpu")
    again = ta.load(tmp_path / "skills", model=model)
    assert list(again) == ["left", "high"]
    assert again["left & ~high"].task.desired.tolist() == [True, False, False]
    first = skills["left ^ high"].play(Point(), 3, seed=5)
    assert again["left ^ high"].play(Point(), 3, seed=5) == first
    assert again.family.reach.near == 1.5
    manifest = json.loads((tmp_path / "skills" / "manifest.json").read_text())
    assert manifest["model"]["algorithm"] == "TD3" and len(manifest["model"]["digest"]) == 64
    given = ta.load(tmp_path / "skills", Point, model=model)
    assert given["left"].evaluate(2).episodes == 2


def test_the_digest_is_of_the_parameters(td3, tmp_path):
    before = code.digest(td3)
    td3.save(tmp_path / "model.zip")
    other = TD3.load(tmp_path / "model.zip", env=Point())
    assert code.digest(other) == before
    with torch.no_grad():
        next(iter(other.policy.critic.parameters())).flatten()[0] += 1e-6
    assert code.digest(other) != before


def test_loading_checks_the_model(td3, dqn, tmp_path):
    ta.from_sb3(td3, PLACES).save(tmp_path / "skills")
    other = TD3("MultiInputPolicy", Point(), **{**HER, "seed": 1})
    with pytest.raises(ta.StoreError, match="saved with another model"):
        ta.load(tmp_path / "skills", model=other)
    with pytest.raises(ta.StoreError, match=r"pass it: load\(path, model=model\)"):
        ta.load(tmp_path / "skills")
    with pytest.raises(TypeError, match=r"TD3\.load"):
        ta.load(tmp_path / "skills", model="model.zip")
    with pytest.raises(ValueError, match="without reach="):
        ta.load(tmp_path / "skills", model=td3, reach=ta.from_sb3(td3, PLACES))
    with pytest.raises(ta.StoreError, match="environment itself"):
        ta.load(tmp_path / "skills", ta.from_sb3(td3, PLACES).env, model=td3)
    with pytest.raises(ta.StoreError, match="need no model"):
        ta.load("boxman", model=td3)
    mine = ta.from_sb3(td3, PLACES, reached=lambda at, goal: np.abs(at - goal).max() < 0.1)
    with pytest.raises(ta.StoreError, match="reached= is a function of your own"):
        mine.save(tmp_path / "mine")


def test_the_models_own_environment_is_left_as_it_is(td3):
    inner = td3.env.envs[0].unwrapped
    inner.reset(seed=0)
    at = inner.at.copy()
    ta.from_sb3(td3, PLACES)["a"].evaluate(2)
    np.testing.assert_array_equal(inner.at, at)


def test_an_end_in_the_environments_own_goal_is_no_end(dqn):
    """Grid ends in its own desired goal, which no composed task has asked for."""
    skills = ta.from_sb3(dqn, {"nw": GOALS["nw"], "se": GOALS["se"]})
    env = Grid(size=5, max_steps=20)
    copy = skills.env.attach(env, task=skills["se"].task)
    copy.reset(seed=0)
    env.at, env.goal = (2, 0), (3, 0)
    _, _, terminated, truncated, infos = copy.step(np.array([1]))
    assert env.at == (3, 0) and not terminated[0] and not truncated[0] and infos["goal"][0] == -1
    vector = gym.vector.SyncVectorEnv([lambda: Grid(size=5, max_steps=20)])
    attached = skills.env.attach(vector, task=skills["se"].task)
    attached.reset(seed=0)
    inner = vector.envs[0]
    inner.at, inner.goal = (2, 0), (3, 0)
    with pytest.raises(ValueError, match="goals of its own"):
        attached.step(np.array([1]))


def test_the_nearest_of_the_goals_reached_counts(td3):
    close = {"a": [0.3, 0.0], "b": [0.5, 0.0]}  # reached within 0.15 of each
    label = ta.from_sb3(td3, close).env.rules.label
    named = {x: label({"achieved_goal": np.array([x, 0.0])}, {}, None) for x in (0.39, 0.41, 0.9)}
    assert named == {0.39: "a", 0.41: "b", 0.9: None}


def test_avoiding_leaves_actions_that_arrive_in_another_goal(dqn):
    plain = ta.from_sb3(dqn, GOALS).family.reach
    reach = ta.from_sb3(dqn, GOALS, avoid=True).family.reach
    seen = np.concatenate([SMALL.point(0, 1), SMALL.point(0, 1)])[None].astype(np.float32)
    before, after = plain.returns(seen)[0], reach.returns(seen)[0]
    left = 2  # into the corner nw
    assert before[0, left] > -0.5, "the critic knows that it arrives"
    assert after[0, left] == before[0, left]
    assert (after[1:, left] < before.min() - 1).all()
    np.testing.assert_array_equal(after[:, 1], before[:, 1])


def test_where_all_actions_arrive_in_another_goal_a_wanted_one_is_still_aimed_at(td3, monkeypatch):
    """In the midst of an unwanted goal the critic may say that any action stays there."""
    agent = ta.from_sb3(td3, PLACES, avoid=True)["b"]
    stays = np.array([[[-0.2, -0.1, -0.3], [-9.0, -7.0, -8.0], [-5.0, -6.0, -4.0]]])
    monkeypatch.setattr(code.ActionsOfModel, "_valued", lambda self, seen: stays)
    found = agent.q_bar(np.zeros((1, 4), np.float32))[0]
    assert np.unravel_index(found.argmax(), found.shape) == (1, 1)


class Bits(gym.Env):
    """Bits as observations and goals, numbers among them, and another order of keys."""

    def __init__(self):
        bits = spaces.MultiBinary(3)
        parts = {"observation": spaces.Discrete(8), "desired_goal": bits, "achieved_goal": bits}
        self.observation_space = spaces.Dict(parts)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.bits = self.np_random.integers(0, 2, 3).astype(np.int8)
        self.goal = self.np_random.integers(0, 2, 3).astype(np.int8)
        return self._seen(), {}

    def step(self, action):
        self.bits[action] ^= 1
        return self._seen(), -1.0, False, False, {}

    def compute_reward(self, achieved, desired, info):
        return -(achieved != desired).any(axis=-1).astype(float)

    def _seen(self):
        number = int(self.bits @ [1, 2, 4])
        return {"observation": number, "desired_goal": self.goal, "achieved_goal": self.bits.copy()}


def test_observations_of_bits_and_numbers_reach_the_model_as_they_were():
    env = gym.wrappers.TimeLimit(Bits(), 10)
    model = DQN("MultiInputPolicy", env, **HER, learning_starts=1_000).learn(20)
    skills = ta.from_sb3(model, {"none": [0, 0, 0], "all": [1, 1, 1]})
    assert skills.env.max_episode_steps == 10
    observation, _ = env.reset(seed=2)
    seen = skills.env.see(observation)
    parts = code.unflattened(skills.family.reach._parts, seen[None])
    assert parts["observation"][0] == observation["observation"]
    np.testing.assert_array_equal(parts["achieved_goal"][0], observation["achieved_goal"])
    expected, _ = model.predict({**observation, "desired_goal": np.ones(3)}, deterministic=True)
    assert skills["all"].act(observation) == int(expected)


def test_a_goal_elsewhere_is_never_aimed_at(td3):
    skills = ta.from_sb3(td3, PLACES, elsewhere="crash")
    assert skills.space.goal_names[-1] == "crash"
    seen = skills.env.see(Point().reset(seed=0)[0])[None]
    assert np.isneginf(skills["~a"].q_bar(seen)[0, -1]).all()
    assert np.isfinite(skills["~a"].act(Point().reset(seed=0)[0])).all()


class Dense(Point):
    """Pays less the further the goal is."""

    def compute_reward(self, achieved, desired, info):
        return -np.linalg.norm(achieved - desired, axis=-1)


class Paid(Point):
    """Pays 1 in the goal, as in gymnasium-robotics' mazes."""

    def compute_reward(self, achieved, desired, info):
        return 1.0 + super().compute_reward(achieved, desired, info)


class One(Point):
    """Cannot be asked for many rewards at once."""

    def compute_reward(self, achieved, desired, info):
        return 0.0


class Silent(Point):
    """Has no rewards to ask for; a step pays by itself."""

    compute_reward = property()

    def step(self, action):
        self.n += 1
        return self._seen(), -1.0, False, self.n >= self.max_steps, {}


def test_goals_may_be_reached_by_a_distance_or_a_function(td3):
    for reached in (0.2, lambda at, goal: bool(np.abs(at - goal).max() <= 0.2)):
        for env in (Point, Dense, Silent):
            label = ta.from_sb3(td3, PLACES, env=env, reached=reached).env.rules.label
            assert label({"achieved_goal": np.array([-0.55, -0.7])}, {}, None) == "a"
            assert label({"achieved_goal": np.array([-0.45, -0.7])}, {}, None) is None
            own = {"achieved_goal": np.zeros(2), "desired_goal": np.zeros(2)}
            assert label.goes_on(own)


def test_where_goals_pay_more_than_steps_the_spread_of_values_is_as_wide(td3):
    space = ta.from_sb3(td3, PLACES, env=Paid).space
    assert space.r_universal[0] > 1.0 / (1.0 - td3.gamma)


WRONG = {
    "a file": (lambda m: ("model.zip", PLACES), {}, TypeError, "load a file of yours yourself"),
    "nothing": (lambda m: (None, PLACES), {}, TypeError, "a model of Stable-Baselines3"),
    "goals are no mapping": (lambda m: (m, ["a"]), {}, TypeError, "name: point of desired_goal"),
    "no goals": (lambda m: (m, {}), {}, ValueError, "goals is empty"),
    "a goal of another shape": (lambda m: (m, {"a": [1, 2, 3]}), {}, ValueError, r"shape \(3,\)"),
    "a goal that is a word": (lambda m: (m, {"a": "here"}), {}, ValueError, "expected numbers"),
    "a goal outside": (lambda m: (m, {"a": [5.0, 0.0]}), {}, ValueError, "is not in Box"),
    "a goal that is NaN": (lambda m: (m, {"a": [np.nan, 0]}), {}, ValueError, "is not in Box"),
    "two goals alike": (
        lambda m: (m, {"a": [0.5, 0.0], "b": [0.5, 0.1]}),
        {},
        ValueError,
        "a, b look alike",
    ),
    "another environment": (
        lambda m: (m, PLACES),
        {"env": lambda: Grid()},
        ValueError,
        "of another environment: its action space",
    ),
    "an environment without goals": (
        lambda m: (m, PLACES),
        {"env": "CartPole-v1"},
        ValueError,
        "of another environment: its observation space",
    ),
    "env is a number": (lambda m: (m, PLACES), {"env": 3}, TypeError, "env is 3"),
    "env makes none": (lambda m: (m, PLACES), {"env": dict}, TypeError, "function given as env"),
    "dense rewards": (lambda m: (m, PLACES), {"env": Dense}, ValueError, "different rewards"),
    "one reward at a time": (lambda m: (m, PLACES), {"env": One}, ValueError, "many at once"),
    "no rewards": (lambda m: (m, PLACES), {"env": Silent}, ValueError, "no compute_reward"),
    "a negative distance": (lambda m: (m, PLACES), {"reached": -1.0}, ValueError, "reached"),
    "a goal never reached": (
        lambda m: (m, PLACES),
        {"reached": lambda at, goal: False},
        ValueError,
        "does not count as reached at its own point",
    ),
    "avoid is a word": (lambda m: (m, PLACES), {"avoid": "yes"}, ValueError, "avoid"),
    "avoid without steps": (
        lambda m: (m, PLACES),
        {"avoid": True, "env": Paid},
        ValueError,
        "avoid needs a critic that counts steps",
    ),
    "tasks are a list": (lambda m: (m, PLACES), {"tasks": ["a"]}, TypeError, "tasks must be"),
    "a task of no such goal": (lambda m: (m, PLACES), {"tasks": {"t": ["z"]}}, ValueError, "'z'"),
    "a task that is a number": (
        lambda m: (m, PLACES),
        {"tasks": {"t": lambda point: point[0]}},
        ValueError,
        "expected True or False",
    ),
    "elsewhere is a goal": (lambda m: (m, PLACES), {"elsewhere": "a"}, ValueError, "elsewhere"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_uses_are_told_in_a_sentence(td3, case):
    given, settings, kind, words = WRONG[case]
    model, goals = given(td3)
    with pytest.raises(kind, match=words):
        ta.from_sb3(model, goals, **settings)


def test_models_that_know_no_goals_or_no_values_of_actions_are_refused(td3, monkeypatch):
    with pytest.raises(TypeError, match=r"PPO has no critic that values actions.*from_policy"):
        ta.from_sb3(PPO("MultiInputPolicy", Point(), device="cpu", n_steps=64), PLACES)
    with pytest.raises(ValueError, match="without a desired_goal"):
        ta.from_sb3(DQN("MlpPolicy", "CartPole-v1", buffer_size=10, device="cpu"), PLACES)
    with monkeypatch.context() as changed:
        changed.setattr(td3, "env", None)
        with pytest.raises(ValueError, match="the model has no environment; give one"):
            ta.from_sb3(td3, PLACES)
    normal = VecNormalize(DummyVecEnv([Point]))
    with pytest.raises(ValueError, match="VecNormalize"):
        ta.from_sb3(TD3("MultiInputPolicy", normal, buffer_size=10, device="cpu"), PLACES)


def test_a_missing_package_is_named_with_its_install_line(monkeypatch):
    monkeypatch.setattr("taskalgebra.skills.sb3.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "taskalgebra\[sb3\]"'):
        ta.from_sb3("model.zip", PLACES)


def test_importing_from_sb3_imports_neither_torch_nor_stable_baselines3():
    check = (
        "import sys, taskalgebra as ta; ta.from_sb3, ta.from_values; "
        "print([name for name in ('torch', 'stable_baselines3') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class Told(gym.Wrapper):
    """A wrapper of a user's own, over an environment that is registered."""

    def __init__(self, told):
        super().__init__(gym.make("CliffWalking-v1"))
        cell = gym.spaces.Box(0, 1, (1,), np.float32)
        keys = ("observation", "achieved_goal", "desired_goal")
        self.observation_space = gym.spaces.Dict(dict.fromkeys(keys, cell))
        self.goal = told

    def reset(self, **options):
        state, info = self.env.reset(**options)
        return self.seen(state), info

    def step(self, action):
        state, _, _, cut, info = self.env.step(action)
        return self.seen(state), -1.0, False, cut, info

    def seen(self, state):
        at = np.float32([state / 47])
        return {"observation": at, "achieved_goal": at, "desired_goal": self.goal}

    def compute_reward(self, achieved, desired, info):
        return -(np.abs(achieved - desired).max(axis=-1) > 0.01).astype(np.float32)


def test_environments_in_wrappers_of_a_users_own_are_copied():
    """Their spec names the environment inside, but cannot make the wrapper again."""
    env = gym.wrappers.TimeLimit(Told(np.float32([1.0])), 20)
    model = DQN("MultiInputPolicy", env, policy_kwargs={"net_arch": [8]}, device="cpu")
    goals = {"start": [36 / 47], "above": [24 / 47]}
    for given in (None, env):
        skills = ta.from_sb3(model, goals, env=given)
        assert skills["start | above"].evaluate(2).episodes == 2
        assert skills["above"].play(env, episodes=1).episodes == 1
