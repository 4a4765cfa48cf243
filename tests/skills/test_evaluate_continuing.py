"""Agents that play a task again and again, in a game small enough to know what they earn."""

import numpy as np
import pytest

import taskalgebra as ta
from boxman_skills import oracle_skills
from taskalgebra.envs.boxman.env import Boxman


@pytest.fixture(scope="module")
def skills():
    """Skills that know every way in the paper's layout, where objects stay."""
    world = Boxman()
    return oracle_skills("fixed", np.array([[0, 0, *world.places]], np.uint8))


def test_where_objects_stay_the_agent_takes_the_nearest_again_and_again(skills):
    found = skills["blue"].evaluate_continuing(30, steps=20, seed=1)
    assert isinstance(found, ta.ContinuingEvaluation)
    assert found.episodes == 30 and (found.steps == 20).all()
    assert not found.n_unwanted.any()
    assert found.returns == pytest.approx(2 * found.n_wanted - 0.1 * 20)
    world = skills.env
    games = world.continuing(30)
    first_seed = int(np.random.SeedSequence(1).generate_state(1)[0]) >> 1
    games.reset(seed=first_seed)
    blue = world.places[world.tasks["blue"].desired]
    away = world.board.distance[games.codes[:, 0]][:, blue].min(axis=1)
    assert found.n_wanted.tolist() == (20 - away).tolist()


def test_goals_to_be_avoided_end_an_episode(skills):
    every = skills["true"].evaluate_continuing(40, steps=20)
    careful = skills["true"].evaluate_continuing(40, steps=20, avoid="blue & square")
    took = every.goals[:, 1] > 0
    assert took.any() and not took.all()
    assert careful.violated.tolist() == took.tolist()
    assert (careful.goals[:, 1] == took).all()
    assert (careful.steps[took] < 20).all() and (careful.returns[took] < 0).all()
    assert careful.returns[~took].tolist() == every.returns[~took].tolist()


def test_equal_seeds_agree_and_different_seeds_differ(skills):
    one, same, other = (
        skills["square"].evaluate_continuing(20, steps=9, seed=seed).returns.tolist()
        for seed in (4, 4, 5)
    )
    assert one == same != other


def test_what_cannot_go_on_or_is_not_known_is_refused(skills):
    with pytest.raises(ValueError, match="unknown task 'blu'"):
        skills["blue"].evaluate_continuing(1, avoid="blu")
    with pytest.raises(ValueError, match="steps is 0"):
        skills["blue"].evaluate_continuing(1, steps=0)


def test_environments_whose_episodes_end_in_goals_say_so():
    class Ends(ta.GoalEnv):
        def vector(self, num_envs, *, task, max_episode_steps=None):
            raise NotImplementedError

    with pytest.raises(TypeError, match="episodes of Ends end in goals"):
        Ends().continuing(3)
