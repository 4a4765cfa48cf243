"""Extended deep Q-learning: the update, what is random, what is refused, and what diverges."""

import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorWrapper

from deep_worlds import OBJECTS, Corridor, corridors, digest, short, short_trainer, small_boxman
from taskalgebra.learning.deep.checks import check_environment
from taskalgebra.learning.deep.dqn import DivergedError
from taskalgebra.learning.deep.family import weights_of


def boxmen(n=8, **options):
    return small_boxman(**options).vector(n, max_episode_steps=50)


def trained(env, settings, seed=0):
    trainer = short_trainer(env, settings, seed)
    for _ in trainer.iterations():
        pass
    return trainer


def fingerprints(trainer):
    return digest(weights_of(trainer.network)), digest(weights_of(trainer.target))


# Random numbers


@pytest.mark.parametrize("settings", [short(), short("paper")], ids=["fast", "paper"])
def test_equal_seeds_train_equal_bits_and_other_seeds_do_not(settings):
    world = {"layout": "random"}
    first = fingerprints(trained(boxmen(**world), settings, 3))
    torch.manual_seed(99)  # what others draw does not matter
    np.random.seed(99)
    before = torch.random.get_rng_state()
    assert fingerprints(trained(boxmen(**world), settings, 3)) == first
    assert torch.equal(torch.random.get_rng_state(), before)
    other = fingerprints(trained(boxmen(**world), settings, 4))
    assert other[0] != first[0]
    assert other[1] != first[1]


def test_seeds_differ_from_the_first_weights_on():
    one, two, again = (short_trainer(corridors(8), short(), seed) for seed in (0, 1, 0))
    assert fingerprints(one) == fingerprints(again) != fingerprints(two)
    assert fingerprints(one)[0] == fingerprints(one)[1]


@pytest.mark.parametrize("name", ["fast", "paper"])
@pytest.mark.parametrize("boxman", [True, False])
def test_a_pessimist_takes_goals_to_be_out_of_reach_before_it_has_learned(name, boxman):
    """The odds of "never" against each other return are e^pessimism times higher."""
    odds = []
    for pessimism in (0.0, 6.0):
        env = boxmen() if boxman else corridors(8)
        trainer = short_trainer(env, short(name, pessimism=pessimism))
        seen = torch.from_numpy(np.array(env.reset(seed=0)[0]))
        chances = torch.softmax(trainer.network(seen, seen[:2]), -1)
        assert torch.equal(trainer.target(seen, seen[:2]), trainer.network(seen, seen[:2]))
        odds.append((chances[..., :1] / chances[..., 1:]).detach().numpy())
    np.testing.assert_allclose(odds[1] / odds[0], math.exp(6.0), rtol=1e-3)


def test_values_that_are_numbers_know_no_pessimism():
    one, two = (
        short_trainer(corridors(8), short(categorical=False, pessimism=pessimism))
        for pessimism in (0.0, 6.0)
    )
    assert fingerprints(one) == fingerprints(two)


def test_the_number_of_threads_is_given_back():
    torch.set_num_threads(1)
    trainer = short_trainer(corridors(8), short(threads=2), 0)
    during = []
    update = trainer._update
    trainer._update = lambda rng: (during.append(torch.get_num_threads()), update(rng))[1]
    next(trainer.iterations())
    assert (set(during), torch.get_num_threads()) == ({2}, 1)


# Goals


def test_goals_are_discovered_not_given():
    trainer = short_trainer(corridors(8), short(), 0)
    assert trainer.goals.numbers == []
    next(trainer.iterations())
    assert len(trainer.goals.numbers) == 3
    assert sorted(trainer.goals.numbers) == [0, 1, 2]
    for number, seen in zip(trainer.goals.numbers, trainer.goals.observations, strict=True):
        assert np.array_equal(seen, np.eye(10, dtype=np.float32)[7 + number])


def test_a_goal_of_boxman_is_its_goal_frame_and_the_rewards_of_all_tasks_are_noted():
    env = boxmen()
    trainer = trained(env, short())
    world = env.world
    assert sorted(trainer.goals.numbers) == [0, 1]
    for number, seen, paid in zip(
        trainer.goals.numbers, trainer.goals.observations, trainer.goals.rewards, strict=True
    ):
        code = [0, 1 + number, *world.places]
        assert np.array_equal(seen, env.frames_of([code])[0])
        assert np.array_equal(paid, world.task_rewards[:, number])


def test_a_goal_that_is_met_late_joins_those_that_are_trained():
    class Closed(Corridor):
        """East opens after a thousand steps of all copies."""

        count = 0

        def step(self, action):
            Closed.count += 1
            if action == 2 and self.state == 6 and Closed.count < 1000:
                return self.seen(), -0.1, False, False, {}
            return super().step(action)

    env = SyncVectorEnv([Closed] * 8)
    trainer = short_trainer(env, short(n_updates=160, updates_per_iteration=10), 0)
    n_goals = [len(trainer.goals.numbers) for _ in trainer.iterations()]
    assert (n_goals[0], n_goals[-1]) == (2, 3)


def test_an_environment_that_never_meets_a_goal_is_given_up():
    class Endless(Corridor):
        GOALS = ()

    settings = short(learning_starts=16)
    with pytest.raises(ValueError, match=r"no goal was met in 1,6\d\d random steps.*info\['goal"):
        trained(SyncVectorEnv([Endless] * 8), settings)


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ({}, r'without info\["goal"\]; a goal environment puts the number'),
        ({"goal": -1}, r'info\["goal"\] = .*-1.*truncated, not terminated'),
        ({"goal": 0.5}, r'info\["goal"\] = .*0.5.*expected the number of a goal'),
        ({"goal": "west"}, r'info\["goal"\] = .*west.*expected the number of a goal'),
    ],
    ids=["none", "minus one", "a fraction", "a name"],
)
def test_an_end_without_the_number_of_a_goal_is_refused_in_words(info, words):
    class Silent(Corridor):
        def step(self, action):
            *rest, _ = super().step(action)
            return (*rest, info if rest[2] else {})

    with pytest.raises(ValueError, match=words):
        trained(SyncVectorEnv([Silent] * 4), short(n_envs=4))


def test_a_goal_reported_by_one_copy_is_not_read_for_another_that_ended_silently():
    class Half(Corridor):
        """Only the west tells; Gymnasium then shows 0 for all others."""

        def step(self, action):
            *rest, info = super().step(action)
            return (*rest, info if info.get("goal") == 0 else {})

    with pytest.raises(ValueError, match=r"without info"):
        trained(SyncVectorEnv([Half] * 64), short(n_envs=64, learning_starts=6400, replay_size=999))


# Environments


def test_copies_that_reuse_their_arrays_train_the_same_weights():
    first = fingerprints(trained(corridors(8), short()))
    assert fingerprints(trained(corridors(8, copy=False), short())) == first


class Hidden(VectorWrapper):
    """Boxman without its codes: what is remembered are the frames."""


def test_frames_and_codes_train_the_same_weights():
    plain = trained(Hidden(boxmen()), short())
    assert plain.compact is None
    assert plain.replay.states.shape == (300, 60, 60, 3)
    coded = trained(boxmen(), short())
    assert coded.replay.states.shape == (300, 2 + len(OBJECTS))
    assert fingerprints(plain) == fingerprints(coded)


class Shown(gym.Env):
    """An environment of some spaces; it is never played."""

    def __init__(self, observations, actions=None):
        self.observation_space = observations
        self.action_space = gym.spaces.Discrete(3) if actions is None else actions


VECTOR = gym.spaces.Box(0, 1, (4,), np.float32)
REFUSED = {
    "several actions": (Shown(VECTOR, gym.spaces.MultiDiscrete([2, 2])), "must be Discrete"),
    "continuous actions": (Shown(VECTOR, VECTOR), "must be Discrete"),
    "actions from 1": (Shown(VECTOR, gym.spaces.Discrete(3, start=1)), "start at 0"),
    "a dictionary": (Shown(gym.spaces.Dict(a=VECTOR)), r"arrays of numbers, .* got Dict.*ta\.wrap"),
    "a number": (Shown(gym.spaces.Discrete(5)), r"numbers of states: .*QLearning\(\)"),
    "a matrix": (Shown(gym.spaces.Box(0, 1, (4, 4))), "a vector, or an image"),
    "an image of floats": (Shown(gym.spaces.Box(0, 1, (40, 40, 3))), "bytes.*got float32"),
}


@pytest.mark.parametrize(("env", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_spaces_that_no_network_takes_are_refused(env, words):
    with pytest.raises(ValueError, match=words):
        short_trainer(SyncVectorEnv([lambda: env]), short(n_envs=1), 0)


def test_copies_that_do_not_reset_themselves_are_refused():
    with pytest.raises(ValueError, match="needs autoreset_mode NEXT_STEP"):
        short_trainer(corridors(2, autoreset_mode=AutoresetMode.DISABLED), short(n_envs=2), 0)
    check_environment(corridors(2))


def test_a_single_environment_is_refused():
    with pytest.raises(TypeError, match=r"expected a vector environment, as from gym\.make_vec"):
        short_trainer(Corridor(), short(), 0)


def test_small_images_are_refused():
    tiny = Shown(gym.spaces.Box(0, 255, (20, 20, 3), np.uint8))
    with pytest.raises(ValueError, match="at least 36 × 36"):
        short_trainer(SyncVectorEnv([lambda: tiny]), short(n_envs=1), 0)


# Updates


def warmed(settings, seed=0, env=None):
    """A trainer that has played at random, and the random numbers of its first update."""
    trainer = short_trainer(corridors(8) if env is None else env, settings, seed)
    rng = np.random.default_rng(5)
    trainer._warm_up(trainer._play(rng))
    with torch.no_grad():
        for weight in trainer.target.parameters():
            weight.add_(0.02)  # tell the slower copy from the network
    return trainer, rng


@pytest.mark.parametrize("own_rewards", [False, True])
@pytest.mark.parametrize("categorical", [False, True])
def test_the_loss_of_an_update_is_that_of_the_targets_of_algorithm_1(own_rewards, categorical):
    settings = short(
        own_rewards=own_rewards, categorical=categorical, discount=0.9, v_max=2.0, batch_size=40
    )
    trainer, rng = warmed(settings)
    again = np.random.default_rng()
    again.bit_generator.state = rng.bit_generator.state
    batch = trainer.replay.sample(40, settings.telling_share, again, None)
    assert (batch.goals >= 0).any()
    assert (batch.goals < 0).any()
    head, goals = trainer.head, torch.from_numpy(np.stack(trainer.goals.observations))
    losses = []
    with torch.no_grad():
        for b in range(40):
            state, next_state = (
                torch.from_numpy(seen[b : b + 1])
                for seen in (batch.observations, batch.next_observations)
            )
            reward = torch.from_numpy(batch.rewards[b : b + 1])
            for i, goal in enumerate(trainer.goals.numbers):
                if batch.goals[b] == goal:
                    paid = reward if own_rewards else torch.zeros(1)
                    target = head.certain(paid)
                elif batch.goals[b] >= 0:
                    target = head.certain(torch.tensor([settings.v_min]))
                else:
                    onward = trainer.target(next_state, goals[i : i + 1])
                    target = head.backup(onward, reward, 0.9)[0]
                outputs = trainer.network(state, goals[i : i + 1])[0, :, batch.actions[b]]
                losses.append(head.loss(outputs[None], target[None]))
    assert float(trainer._update(rng)) == pytest.approx(float(torch.stack(losses).mean()), rel=1e-5)


@pytest.mark.parametrize(("some", "trained_for"), [(0, 3), (1, 1), (2, 2), (3, 3), (9, 3)])
def test_an_update_is_for_all_goals_or_for_some_of_them_in_turn(some, trained_for):
    trainer, rng = warmed(short(goals_per_update=some))
    seen = []
    trainer.network.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[1].clone()))
    for _ in range(20):
        trainer._update(rng)
    assert {len(goals) for goals in seen} == {trained_for}
    numbers = [(goals.argmax(1) - 7).tolist() for goals in seen]  # one-hot terminal states
    assert all(len(set(each)) == trained_for for each in numbers)
    assert {number for each in numbers for number in each} == {0, 1, 2}


@pytest.mark.parametrize("rate", [0.0, 0.25])
def test_the_slower_copy_follows(rate):
    trainer, rng = warmed(short(tau=rate, target_interval=2))
    for update in (1, 2, 3, 4):
        before = weights_of(trainer.target)
        before = {name: array.copy() for name, array in before.items()}
        trainer._update(rng)
        now, network = weights_of(trainer.target), weights_of(trainer.network)
        for name, array in now.items():
            if name.endswith("_mean"):
                expected = before[name]
            elif rate:
                expected = before[name] + rate * (network[name] - before[name])
            else:
                expected = network[name] if update % 2 == 0 else before[name]
            np.testing.assert_allclose(array, expected, atol=1e-7, err_msg=name)


def test_the_weights_that_are_kept_are_averaged_over_a_share_of_the_steps():
    trainer = short_trainer(corridors(8), short(averaging=0.1, n_updates=16), 5)
    seen, kept, update = [], [], trainer._update

    def watched(rng):
        loss = update(rng)
        seen.append([p.detach().double().numpy().copy() for p in trainer.network.parameters()])
        kept.append([p.detach().double().numpy().copy() for p in trainer.kept.parameters()])
        return loss

    trainer._update = watched
    list(trainer.iterations())
    mean = seen[0]
    for n, (now, found) in enumerate(zip(seen, kept, strict=True), start=1):
        mean = [old + (new - old) / (1.0 + 0.1 * n) for old, new in zip(mean, now, strict=True)]
        for expected, weights in zip(mean, found, strict=True):
            np.testing.assert_allclose(weights, expected, atol=1e-6)
    assert any(not np.allclose(a, b, atol=1e-6) for a, b in zip(kept[-1], seen[-1], strict=True))
    assert digest(dict(trainer.kept.named_buffers())) == digest(
        dict(trainer.network.named_buffers())
    )


def test_averaging_changes_what_is_kept_but_not_what_is_trained():
    plain = short_trainer(corridors(8), short(), 5)
    averaged = short_trainer(corridors(8), short(averaging=0.1), 5)
    for trainer in (plain, averaged):
        list(trainer.iterations())
    assert plain.kept is plain.network
    trained = [digest(weights_of(trainer.network)) for trainer in (plain, averaged)]
    assert trained[0] == trained[1] != digest(weights_of(averaged.kept))


def test_the_learning_rate_falls_to_nothing_in_the_second_half_if_annealed():
    trainer = short_trainer(corridors(8), short(n_updates=100, learning_rate=0.25), 0)
    rates = []
    for trainer.n_updates in (0, 49, 50, 75, 99, 100):
        rates.append(trainer._learning_rate())
    assert rates[:3] == [0.25, 0.25, 0.25]
    assert rates[3] == pytest.approx(0.125)
    assert 0 < rates[4] < 0.001
    assert rates[5] == pytest.approx(0.0)
    steady = short_trainer(
        corridors(8), short(n_updates=100, annealed=False, learning_rate=0.25), 0
    )
    steady.n_updates = 99
    assert steady._learning_rate() == 0.25


def test_with_epsilon_zero_it_acts_greedily_over_all_goals():
    trainer, rng = warmed(short(epsilon_end=0.0, epsilon_steps=1))
    seen = np.eye(10, dtype=np.float32)
    at_random = trainer._behave(np.repeat(seen, 50, axis=0), rng)
    assert set(at_random.tolist()) == {0, 1, 2}
    trainer._update(rng)
    actions = trainer._behave(seen, rng)
    with torch.no_grad():
        goals = torch.from_numpy(np.stack(trainer.goals.observations))
        q_bar = trainer.head.values(trainer.network(torch.from_numpy(seen), goals))
    assert actions.tolist() == q_bar.amax(1).argmax(1).tolist()
    counted = short_trainer(corridors(8), short(epsilon_end=0.5, epsilon_steps=100), 0)
    counted.goals, counted.network = trainer.goals, trainer.network
    counted.n_updates, counted.n_steps = 1, 320 + 50  # half way: ε = 0.75
    many = np.repeat(seen, 800, axis=0)
    greedy = counted._behave(many, rng) == np.repeat(actions, 800)
    assert greedy.mean() == pytest.approx(0.25 + 0.75 / 3, abs=5 * 0.5 / math.sqrt(8000))


def test_the_memory_holds_what_was_played_and_nothing_of_new_beginnings():
    trainer, _ = warmed(short(learning_starts=2000, replay_size=4000))
    replay = trainer.replay
    rows = slice(0, replay.size)
    assert trainer.n_steps == replay.size >= 2000
    states, next_states = replay.states[rows].argmax(1), replay.next_states[rows].argmax(1)
    assert states.max() < 7  # a terminal state is never left
    actions, goals = replay.actions[rows], replay.goals[rows]
    moved = np.clip(states + np.array([-1, 1, 0])[actions], 0, 6)
    taken = (actions == 2) & np.isin(states, (0, 3, 6))
    assert np.array_equal(next_states, np.where(taken, 7 + states // 3, moved))
    assert np.array_equal(goals, np.where(taken, states // 3, -1))
    assert (replay.rewards[rows] == np.float32(-0.1)).all()


def test_inputs_are_centred_on_what_was_seen_or_not_at_all():
    centred, _ = warmed(short())
    goals = np.stack(centred.goals.observations).mean(0)
    np.testing.assert_allclose(centred.network.goal_mean, goals, atol=1e-6)
    mean = centred.network.state_mean.numpy()
    assert mean.sum() == pytest.approx(1.0, abs=1e-5)  # of one-hot vectors
    assert (mean[7:] == 0).all()
    assert np.array_equal(centred.target.state_mean, mean)
    plain, _ = warmed(short(centred=False))
    assert not plain.network.state_mean.any()
    assert not plain.network.goal_mean.any()


def test_another_network_is_a_start_with_its_means():
    first = trained(corridors(8), short())
    second = short_trainer(corridors(8), short(), 1)
    second.start_from(first.network)
    assert digest(weights_of(second.network)) == digest(weights_of(first.network))
    assert digest(weights_of(second.target)) == digest(weights_of(first.network))
    means = first.network.state_mean.clone()
    next(second.iterations())
    assert torch.equal(second.network.state_mean, means)
    assert digest(weights_of(second.network)) != digest(weights_of(first.network))


# Divergence


@pytest.mark.parametrize("name", ["fast", "paper"])
def test_a_learning_rate_beyond_reason_diverges_in_words(name):
    settings = short(
        name, learning_rate=1e10, gradient_clip=1e10, n_updates=64, updates_per_iteration=64
    )
    with pytest.raises(DivergedError, match=r"gradient steps; train again with a lower learning"):
        trained(boxmen(), settings)


def test_observations_that_are_no_numbers_diverge_in_words():
    class Foggy(Corridor):
        def seen(self):
            return super().seen() * np.float32(np.nan)

    with pytest.raises(DivergedError, match=r"the loss is nan .* observations and rewards"):
        trained(SyncVectorEnv([Foggy] * 8), short())


def test_weights_that_break_in_the_last_update_of_an_iteration_are_noticed_at_once():
    trainer = short_trainer(corridors(8), short(), 0)
    update_target = trainer._update_target

    def poison():
        update_target()
        if trainer.n_updates == trainer.settings.updates_per_iteration:
            with torch.no_grad():
                trainer.network.last.bias[0] = np.nan

    trainer._update_target = poison
    with pytest.raises(DivergedError, match="the weights are no longer finite after 8"):
        next(trainer.iterations())
    assert trainer.n_iterations == 0
