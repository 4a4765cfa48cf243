"""Networks in any environment: goals by description, the choice of a network, scoring, stopping."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete
from gymnasium.vector import SyncVectorEnv

import taskalgebra as ta
from deep_worlds import Corridor, corridor_world, corridors, digest, short, short_trainer
from taskalgebra.learning.checkpoint import CheckpointError
from taskalgebra.learning.deep import networks, training
from taskalgebra.learning.deep.family import weights_of
from taskalgebra.learning.deep.networks import make_network, suited_to
from taskalgebra.learning.deep.settings import GENERAL, resolved_for
from taskalgebra.learning.deep.training import Scoring
from taskalgebra.learning.deep.uvfa import UserNetwork, VectorNetwork

torch.set_num_threads(1)
FEATURES = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
PICTURES = np.arange(3 * 4 * 4 * 1, dtype=np.uint8).reshape(3, 4, 4, 1)


def described(features=FEATURES, make=corridors):
    world = corridor_world(make, max_episode_steps=20)
    world.goal_features = features
    return world


def tiny(**changes):
    return ta.DeepQ(settings=replace(short(), v_min=None, v_max=None, spacing=None), **changes)


# Goals by description


@pytest.mark.parametrize("features", [FEATURES, PICTURES], ids=["vectors", "pictures"])
def test_a_goal_is_shown_by_its_features_whatever_was_met(features, tmp_path):
    world = described(features)
    skills = ta.learn(world, learner=tiny(), seed=0)
    reach = skills.family.reaches[0]
    assert np.array_equal(reach.goals, features[reach.numbers])
    assert reach.goals.dtype == features.dtype and reach.met.all()
    seen = np.eye(10, dtype=np.float32)
    assert reach.shape == (10,) and skills["edge"].q_bar(seen).shape == (10, 3, 3)
    skills.save(tmp_path / "skills")
    again = ta.load(tmp_path / "skills", world)
    np.testing.assert_allclose(again["edge"].q_bar(seen), skills["edge"].q_bar(seen), atol=0.05)
    assert again.family.reaches[0].like.dtype == np.float32
    with pytest.raises(ValueError, match=r"float32 of shape \[B, 10\]"):
        again["edge"].q_bar(np.zeros((1, 2), np.float32))


def test_a_training_with_features_resumes_and_knows_them(tmp_path):
    def kill(event):
        raise KeyboardInterrupt

    whole = ta.learn(described(), learner=tiny(), seed=1)
    with pytest.raises(KeyboardInterrupt):
        ta.learn(described(), learner=tiny(), seed=1, folder=tmp_path, listener=kill)
    with pytest.raises(CheckpointError, match="another environment"):
        ta.learn(described(2 * FEATURES), learner=tiny(), seed=1, folder=tmp_path)
    resumed = ta.learn(described(), learner=tiny(), seed=1, folder=tmp_path)
    seen = np.eye(10, dtype=np.float32)
    assert np.array_equal(resumed["edge"].q_bar(seen), whole["edge"].q_bar(seen))


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (FEATURES[:2], "each of 3 goals"),
        (np.zeros(3), r"shape \(3,\)"),
        (np.array([["a"], ["b"], ["c"]]), "expected numbers"),
        (FEATURES * np.nan, "NaN"),
        (FEATURES[[0, 1, 0]], "goals 0 and 2 are the same"),
    ],
    ids=["too few", "flat", "words", "nan", "alike"],
)
def test_features_that_describe_no_goals_are_refused(features, words):
    with pytest.raises(ValueError, match=words):
        ta.learn(described(features), learner=tiny())


class Told(torch.nn.Module):
    """A network of one's own that is told the shape of goals."""

    def __init__(self, shape, n_actions, n_outputs, *, goal_shape):
        super().__init__()
        self.sizes = (n_actions, n_outputs)
        self.state = torch.nn.Linear(shape[0], n_actions * n_outputs)
        self.goal = torch.nn.Linear(goal_shape[0], n_actions * n_outputs)

    def forward(self, states, goals):
        both = self.state(states)[:, None] + self.goal(goals)
        return both.view(len(states), len(goals), *self.sizes)


class Untold(torch.nn.Module):
    """One that copes with any goals, and is not told."""

    def __init__(self, shape, n_actions, n_outputs):
        super().__init__()
        self.sizes = (n_actions, n_outputs)
        self.state = torch.nn.Linear(shape[0], n_actions * n_outputs)

    def forward(self, states, goals):
        both = self.state(states)[:, None] + goals.sum(1)[:, None]
        return both.view(len(states), len(goals), *self.sizes)


@pytest.mark.parametrize("network", [Told, Untold])
def test_a_network_of_ones_own_takes_described_goals(network, tmp_path):
    skills = ta.learn(described(), learner=tiny(network=network))
    skills.save(tmp_path / "own")
    again = ta.load(tmp_path / "own", described(), network=network)
    seen = np.eye(10, dtype=np.float32)
    np.testing.assert_allclose(again["edge"].q_bar(seen), skills["edge"].q_bar(seen), atol=0.05)


@pytest.mark.parametrize("name", ["planning", "paper"])
def test_networks_for_goals_that_are_observations_say_so(name):
    with pytest.raises(ValueError, match=r"takes goals that are observations.*shown='observation'"):
        make_network(networks.KNOWN[name], (84, 84, 3), 4, 5, (6,))


# The choice of a network


def grid(high, shape, dtype=np.uint8):
    return Box(0, high, shape, dtype)


@pytest.mark.parametrize(
    ("space", "largest", "name"),
    [
        (grid(255, (84, 84, 3)), None, "egocentric"),
        (grid(255, (36, 40, 1)), None, "egocentric"),
        (grid(255, (7, 7, 3)), 10, "symbolic"),
        (grid(255, (7, 7, 3)), 200, "image"),
        (grid(10, (8, 8, 3)), None, "symbolic"),
        (grid(10, (8, 8, 3), np.int64), None, "symbolic"),
        (grid(255, (5, 5, 3)), 255, "image"),
        (Box(0.0, 1.0, (20, 20, 3), np.float32), None, "image"),
        (Box(-1, 9, (20, 20, 3), np.int64), None, "image"),
        (Box(0.0, 1.0, (7,), np.float32), None, "vector"),
        (Box(0.0, 1.0, (2, 7), np.float32), None, "vector"),
        (grid(255, (2, 9, 3)), None, "vector"),
        (MultiBinary(5), None, "vector"),
        (MultiDiscrete([3, 4]), None, "vector"),
    ],
    ids=str,
)
def test_the_network_is_chosen_by_what_observations_are(space, largest, name):
    found = suited_to(space, lambda: largest)
    assert found is networks.KNOWN[name]
    for goal_shape in (None, (5,), (9, 9, 2)):
        module = make_network(found, space.shape, 4, 6, goal_shape)
        rng = np.random.default_rng(0)
        states = torch.from_numpy(np.stack([space.sample() for _ in range(3)]))
        if goal_shape is None:
            goals = states[:2]
        elif len(goal_shape) == 3:
            goals = torch.from_numpy(rng.integers(0, 256, (2, *goal_shape), np.uint8))
        else:
            goals = torch.from_numpy(rng.normal(size=(2, *goal_shape)).astype(np.float32))
        module.centre(states, goals)
        outputs = module(states, goals)
        assert outputs.shape == (3, 2, 4, 6)
        alone = module(states[1:2], goals[1:2])
        torch.testing.assert_close(outputs[1:2, 1:2], alone, atol=1e-5, rtol=1e-4)
        outputs.square().sum().backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in module.parameters())


@pytest.mark.parametrize(
    ("space", "words"),
    [(Discrete(5), "QLearning"), (gym.spaces.Dict(a=Discrete(2)), r"ta\.wrap\(env, goals=label")],
    ids=str,
)
def test_what_no_network_takes_names_the_way_in(space, words):
    with pytest.raises(ValueError, match=words):
        suited_to(space, lambda: 0)


def test_numbers_of_different_size_are_brought_to_one_scale():
    """A velocity a hundred times smaller than a position is seen as well."""
    rng = np.random.default_rng(0)
    states = torch.from_numpy(rng.uniform(-1, 1, (500, 2)) * [1.0, 0.01] + [5.0, 0.0])
    states = torch.cat([states, torch.ones(500, 1)], 1).float()  # and one that never changes
    for module in (
        VectorNetwork((3,), 2, 1),
        UserNetwork(torch.nn.Identity(), (3,), 2, 1),
    ):
        module.centre(states, states[:4])
        seen = module.centred_states(states).numpy()
        assert np.abs(seen.mean(0)).max() < 1e-3
        np.testing.assert_allclose(np.ptp(seen, 0), [4.0, 4.0, 0.0], rtol=1e-3)
        assert module.centred_goals(states[:4]).isfinite().all()


def test_rare_numbers_do_not_become_large():
    module = VectorNetwork((1000,), 2, 1)
    module.centre(torch.eye(1000), torch.eye(1000)[:3])
    assert module.centred_states(torch.eye(1000)).abs().max() <= 4.0


# Exploration


def test_directed_exploration_pursues_one_goal_per_episode():
    settings = short(directed=True, epsilon_end=0.0, epsilon_steps=1, n_updates=16)
    trainer = short_trainer(corridors(8), settings, n_goals=3)
    rng = np.random.default_rng(0)
    for goal in range(3):
        trainer.goals.meet(goal, np.eye(10, dtype=np.float32)[7 + goal], np.zeros(0))
    trainer.n_steps, trainer.n_updates = 10**6, 1
    trainer._aim(np.ones(8, bool), rng)
    first = trainer._aims.copy()
    assert set(first) == {0, 1, 2}
    trainer._aim(np.arange(8) == 2, rng)
    assert np.array_equal(np.delete(trainer._aims, 2), np.delete(first, 2))
    seen = np.eye(10, dtype=np.float32)[[0, 1, 2, 3, 4, 5, 6, 0]]
    with torch.no_grad():
        q = trainer.head.values(trainer.network(torch.from_numpy(seen), trainer._goal_tensor()))
    expected = [int(q[i, aim].argmax()) for i, aim in enumerate(trainer._aims)]
    assert trainer._behave(seen, rng).tolist() == expected


def test_directed_exploration_pursues_no_goal_that_no_task_wants(monkeypatch):
    """An end of episodes elsewhere, as in a crash, is met often enough without being sought."""
    aims = []

    class Watched(training.Trainer):
        def _aim(self, begins, rng):
            super()._aim(begins, rng)
            if self.goals.numbers:
                aims.extend((len(self.goals.numbers), self.goals.numbers[i]) for i in self._aims)

    monkeypatch.setattr(training, "Trainer", Watched)
    world = corridor_world(max_episode_steps=20, r_universal=[2.0, -0.1, 2.0])
    settings = short(directed=True, v_min=None, v_max=None, spacing=None)
    ta.learn(world, ["edge"], learner=ta.DeepQ(settings=settings), seed=0)
    late = {goal for n_met, goal in aims[len(aims) // 2 :] if n_met == 3}
    assert late == {0, 2}


def test_epsilon_is_annealed_over_half_of_the_steps_unless_told():
    world = corridor_world(max_episode_steps=20)
    found = resolved_for(replace(GENERAL, n_updates=1000), world, 0)
    assert found.epsilon_steps == 1000 * GENERAL.steps_per_update / 2


# Scoring, stopping, devices


def test_averaged_weights_are_scored_and_kept():
    scored, trainers = [], []

    class Watched(training.Training):
        def family(self, *, best):
            trainers.append(self.trainer)
            return super().family(best=best)

    def score(family):
        scored.append(digest(weights_of(family.reaches[0].network)))
        return float(len(scored))  # the last is the best

    world = corridor_world(max_episode_steps=20)
    settings = short(averaging=0.1)
    run = Watched(world, world.tasks, world.space.universal, networks.vector, settings, 0)
    run.run(None, score, lambda *_: None)
    (trainer,) = set(trainers)
    average = digest(weights_of(trainer.kept))
    assert scored[-1] == average != digest(weights_of(trainer.network))
    assert digest(weights_of(run.family(best=True).reaches[0].network)) == average


def test_scoring_has_the_threads_of_the_settings():
    used = []
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        training.train(
            (world := corridor_world(max_episode_steps=20)),
            world.tasks,
            networks.vector,
            short(threads=1),
            score=lambda family: float(used.append(torch.get_num_threads()) or 0.0),
        )
        assert set(used) == {1} and torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_scoring_takes_at_most_its_share_of_the_steps(monkeypatch):
    played = []

    def counted(env, episodes):
        return lambda family: float(played.append(episodes) or 0.0)

    monkeypatch.setattr(training, "base_score", counted)
    world = corridor_world(max_episode_steps=20)
    settings = replace(GENERAL, n_updates=10_000)
    scoring = Scoring(world, world.tasks, settings)
    per_iteration = settings.updates_per_iteration * settings.steps_per_update
    n_scores = 0
    for i in range(1, 21):
        if scoring.due(int(i * per_iteration), n_scores):
            n_scores += 1
            assert n_scores * scoring.cost <= settings.scoring_share * i * per_iteration
    assert n_scores == 20  # every iteration can afford its own
    slow = Scoring(corridor_world(max_episode_steps=2_000), world.tasks, settings)
    assert slow.cost == 20 * 2_000 * 2
    assert not slow.due(399_999, 0) and slow.due(400_000, 0) and not slow.due(400_000, 1)


def test_iterations_that_are_not_scored_say_so_and_the_last_one_is_scored():
    heard = []
    learner = tiny(scoring_share=0.1)
    ta.learn(corridor_world(max_episode_steps=20), learner=learner, listener=heard.append)
    assert [event.score is None for event in heard] == [True, True, False]
    assert all(event.loss > 0.0 and event.n_steps > 0 for event in heard)


def test_a_listener_ends_a_training_with_what_was_learned(tmp_path):
    heard = []

    def enough(event):
        heard.append(event)
        raise ta.StopLearning

    world = corridor_world(max_episode_steps=20)
    skills = ta.learn(world, learner=tiny(), listener=enough, folder=tmp_path)
    assert [event.n_updates for event in heard] == [8]
    assert skills["edge"].act(np.eye(10, dtype=np.float32)[3]) in range(3)
    ta.learn(world, learner=tiny(), listener=heard.append, folder=tmp_path)  # resumes
    assert [event.n_updates for event in heard] == [8, 16, 20]


def test_a_device_is_named_and_refused_where_it_is_missing(monkeypatch):
    with pytest.raises(ValueError, match="device is 'gpu', expected"):
        ta.DeepQ(device="gpu")
    assert short_trainer(corridors(2), short(device="cpu", n_envs=2)).device.type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="no CUDA here"):
        short_trainer(corridors(2), short(device="cuda", n_envs=2))


class Pushed(Corridor):
    """The corridor with a continuous action."""

    action_space = Box(-1.0, 1.0, (1,))


def test_continuous_actions_are_refused_with_the_way_in():
    with pytest.raises(ValueError, match=r"Discrete.*actions=\{name: action\}.*from_policy"):
        short_trainer(SyncVectorEnv([Pushed] * 2))
