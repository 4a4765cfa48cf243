"""Settings of networks: what makes no sense, the presets, and what an environment decides."""

import math
from dataclasses import replace

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

import taskalgebra as ta
from deep_worlds import Corridor, corridor_world, small_boxman
from taskalgebra.envs.boxman import recipes
from taskalgebra.learning.deep import networks
from taskalgebra.learning.deep.learner import DeepQ
from taskalgebra.learning.deep.settings import (
    FAST,
    GENERAL,
    MOST_ATOMS,
    PAPER,
    DeepSettings,
    resolved_for,
)
from taskalgebra.learning.deep.uvfa import head_of
from taskalgebra.theory.goal_env import LEARNING_STEPS

BOXMAN = recipes.FAST


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_updates": 0}, "n_updates is 0, expected a whole number of at least 1"),
        ({"n_envs": True}, "n_envs is True"),
        ({"batch_size": 2.5}, "batch_size is 2.5"),
        ({"replay_size": -1}, "replay_size is -1"),
        ({"threads": 0}, "threads is 0"),
        ({"goals_per_update": -1}, "goals_per_update is -1, expected a whole number of at least 0"),
        ({"goals_per_update": 1.5}, "goals_per_update is 1.5"),
        ({"telling_share": 1.5}, r"telling_share is 1.5, expected a number in \[0, 1\]"),
        ({"epsilon_end": -0.1}, "epsilon_end is -0.1"),
        ({"averaging": 1.5}, r"averaging is 1.5, expected a number in \[0, 1\]"),
        ({"discount": math.nan}, "discount is nan"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0, expected a positive number"),
        ({"spacing": math.inf}, "spacing is inf"),
        ({"pessimism": -1.0}, "pessimism is -1.0, expected a number, 0 or more"),
        ({"pessimism": math.inf}, "pessimism is inf"),
        ({"gradient_clip": math.nan}, "gradient_clip is nan"),
        ({"v_min": 0.5}, "v_min = 0.5 is not below v_max = 0.0"),
        ({"v_min": -math.inf}, "v_min is -inf, expected a finite number"),
        ({"v_min": math.nan}, "v_min is nan, expected a finite number"),
        ({"spacing": 0.7}, "spacing = 0.7 does not divide the returns"),
        ({"max_episode_steps": 0}, "max_episode_steps is 0"),
        ({"max_episode_steps": 2.5}, "max_episode_steps is 2.5"),
        (
            {"updates_per_iteration": 10, "steps_per_update": 4.0},
            "so nothing new would be seen",
        ),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        replace(BOXMAN.settings, **changes)


def test_a_spacing_is_not_looked_at_where_values_are_numbers():
    assert head_of(replace(BOXMAN.settings, categorical=False, spacing=0.7)).n_outputs == 1


def test_presets_have_the_hyperparameters_of_the_paper_or_our_own():
    assert FAST == DeepSettings() != GENERAL == DeepQ().settings
    assert replace(recipes.SHIPPED.settings, v_min=None, v_max=None, spacing=None) == replace(
        FAST, max_episode_steps=recipes.TRAINING_STEPS
    )
    assert DeepQ.paper(batch_size=8).settings == replace(PAPER, batch_size=8)
    assert (DeepQ().network, DeepQ.paper().network) == (None, networks.paper)
    assert (PAPER.own_rewards, PAPER.batch_size) == (True, 32)
    assert (PAPER.steps_per_update, PAPER.learning_starts) == (4.0, 10_000)
    assert (PAPER.epsilon_end, PAPER.epsilon_steps) == (0.01, 100_000)
    assert PAPER.target_interval * PAPER.steps_per_update == 1000
    with pytest.raises(TypeError, match="speed"):
        DeepQ(speed=2)


def test_boxman_has_numbers_of_its_own():
    ours, papers = recipes.FAST.settings, recipes.PAPER.settings
    assert (ours.returns, ours.max_episode_steps) == ((-2.3, 0.0, 0.1), 50)
    assert (papers.returns, papers.max_episode_steps) == ((-2.0, 2.0, 0.1), 50)
    assert recipes.PAPER.network is networks.paper
    assert small_boxman().learner is recipes.FAST
    assert small_boxman(layout="random").learner is recipes.RANDOM
    assert small_boxman(layout="random", collect="touch").learner is recipes.SHIPPED


@pytest.mark.parametrize(("learner", "most"), [(recipes.FAST, 60_000), (recipes.RANDOM, 200_000)])
def test_learning_boxman_takes_few_steps(learner, most):
    settings = learner.settings
    n_steps = settings.learning_starts + settings.n_updates * settings.steps_per_update
    assert n_steps + settings.n_envs <= most
    assert settings.returns == recipes.SHIPPED.settings.returns


# What an environment decides


class Priced(Corridor):
    """A corridor whose steps cost as much as one says."""

    cost = 0.25

    def step(self, action):
        seen, _, *rest = super().step(action)
        return (seen, -self.cost, *rest)


def priced(cost, **options):
    kind = type("Priced", (Priced,), {"cost": cost})
    return corridor_world(lambda n: SyncVectorEnv([kind] * n), **options)


def test_without_an_environment_the_returns_are_not_known():
    assert not FAST.resolved
    with pytest.raises(ValueError, match="v_min, v_max and spacing are not known"):
        FAST.returns  # noqa: B018
    with pytest.raises(ValueError, match="not known"):
        head_of(FAST)


def test_what_is_resolved_is_left_as_it_is():
    settings = BOXMAN.settings
    assert resolved_for(settings, priced(0.25), 0) is settings


def test_an_atom_per_step_and_never_below_the_worst_way_to_any_goal():
    """v_min + r_U ≤ r_∅ − cost · max_episode_steps, with r_U = 2 and r_∅ = −0.1."""
    found = resolved_for(FAST, priced(0.25, max_episode_steps=8), 0)
    assert found.resolved
    assert (found.returns, found.max_episode_steps) == ((-4.25, 0.0, 0.25), 8)
    assert found.v_min + 2.0 <= -0.1 - 8 * 0.25 < found.v_min + 2.0 + found.spacing
    assert head_of(found).n_outputs == 18
    assert replace(found, v_min=None, v_max=None, spacing=None, max_episode_steps=None) == FAST


def test_seeds_make_no_difference_where_steps_cost_the_same():
    one, two = (resolved_for(FAST, priced(0.25), seed) for seed in (0, 1))
    assert one == two


def test_a_goal_that_pays_is_within_the_returns_of_a_network_with_rewards_of_its_own():
    found = resolved_for(PAPER, priced(0.25, max_episode_steps=8), 0)
    assert found.returns == (-2.25, 2.0, 0.25)
    odd = resolved_for(PAPER, priced(0.3, max_episode_steps=8), 0)
    v_min, v_max, spacing = odd.returns
    assert v_max == 2.0 and spacing == pytest.approx(0.3)
    assert -2.5 - spacing < v_min <= -2.5  # r_∅ and eight steps
    assert (v_max - v_min) / spacing == pytest.approx(round((v_max - v_min) / spacing))


def test_long_episodes_have_coarser_atoms():
    found = resolved_for(FAST, priced(0.25, max_episode_steps=5000), 0)
    v_min, v_max, spacing = found.returns
    assert (v_min, v_max) == (pytest.approx(-1252.1), 0.0)
    assert spacing == pytest.approx(1252.1 / MOST_ATOMS)
    assert head_of(found).n_outputs == MOST_ATOMS + 1


def test_where_steps_are_free_never_is_still_below_any_goal():
    found = resolved_for(FAST, priced(0.0, max_episode_steps=4), 0)
    assert found.v_max == 0.0 and found.v_min == pytest.approx(-4.2)
    assert head_of(found).n_outputs == 9


def test_what_is_given_is_kept_and_the_rest_fits_it():
    world = priced(0.25, max_episode_steps=8)
    assert resolved_for(replace(FAST, max_episode_steps=4), world, 0).returns == (-3.25, 0.0, 0.25)
    assert resolved_for(replace(FAST, spacing=0.5), world, 0).returns == (-4.5, 0.0, 0.5)
    given = replace(FAST, v_min=-3.0, spacing=0.5)
    assert resolved_for(given, world, 0).returns == (-3.0, 0.0, 0.5)
    assert resolved_for(replace(FAST, v_max=1.0), world, 0).returns == (-4.25, 1.0, 0.25)


@pytest.mark.parametrize("settings", [FAST, PAPER], ids=["fast", "paper"])
@pytest.mark.parametrize("v_min", [-3.3, -4.9, -0.7, -7.7])
@pytest.mark.parametrize("cost", [0.1, 0.3, 0.7])
def test_the_highest_return_is_the_first_atom_that_no_goal_is_above(settings, v_min, cost):
    """Whatever the rounding errors."""
    world = priced(cost, max_episode_steps=8)
    found = resolved_for(replace(settings, v_min=v_min), world, 0)
    best = 2.0 if settings.own_rewards else 0.0
    assert found.v_min == v_min
    assert best <= found.v_max < best + found.spacing - 1e-9
    assert head_of(found).n_outputs == round((found.v_max - v_min) / cost) + 1


def test_a_world_without_a_limit_gets_one(four_rooms):
    assert four_rooms.max_episode_steps is None
    found = resolved_for(FAST, four_rooms, 0)
    assert found.max_episode_steps == LEARNING_STEPS
    assert found.returns == (-8.375, 0.0, 0.125)  # 2 + 0.125, and fifty steps


def test_networks_learn_a_world_of_ones_own_without_any_numbers_given():
    """The corridor, with steps that cost 0.25: nothing is said about returns or limits."""
    learner = DeepQ(
        n_updates=800,
        updates_per_iteration=400,
        n_envs=16,
        steps_per_update=16.0,
        learning_starts=1600,
        replay_size=20_000,
        batch_size=32,
        threads=1,
    )
    skills = ta.learn(priced(0.25, max_episode_steps=12), learner=learner)
    settings = skills.family.settings
    assert (settings.returns, settings.max_episode_steps) == ((-5.25, 0.0, 0.25), 12)
    found = skills.family.reaches[0].returns(np.eye(10, dtype=np.float32)[:7])
    steps = np.abs(np.arange(7)[:, None] - np.array(Corridor.GOALS))
    assert np.abs(found.max(2) + 0.25 * steps).max() < 0.05
    assert skills["edge & ~early"].evaluate(50).success_rate == 1.0
