"""Looking one step ahead: numbers by hand on a line, and what composed values pay."""

import itertools

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.theory.ahead import Ahead, AheadPolicy, AheadReach, goal_rewards
from taskalgebra.theory.family import ReachFamily
from taskalgebra.theory.reach import ReachQ
from taskalgebra.theory.values import GoalSetQ

SPACE = ta.TaskSpace(
    ta.OpenWorld(("west", "east", "far"), ("left", "right")), r_universal=8.0, r_empty=-0.125
)
STEP = 0.75


class Line(AheadReach):
    """The line from 0 to 4, with places at 0, 1, 2, 3, 4, of which the ends are goals.

    A step is 0.75 long and pays −1.  Nothing leads to the third goal.
    """

    observation_ndim = 1
    to_goal = np.array(
        [
            [0.0, -1.0, -2.0, -3.0, -np.inf],
            [-np.inf, -3.0, -2.0, -1.0, 0.0],
            [-np.inf] * 5,
        ]
    )

    def returns(self, observations):
        place = np.rint(np.asarray(observations)[:, 0]).astype(int)
        returns = np.full((len(place), 3, 2), -np.inf)
        for action, move in enumerate((-1, 1)):
            returns[:, :, action] = self.to_goal[:, np.clip(place + move, 0, 4)].T - 1
        return returns

    def ahead(self, observations):
        points = np.clip(np.asarray(observations) + np.array([-STEP, STEP]), 0.0, 4.0)
        low = np.minimum(points.astype(int), 3)
        share = points - low
        place = np.stack((low, low + 1), axis=-1)
        return Ahead(np.full(points.shape, -1.0), place, np.stack((1 - share, share), axis=-1))


REACH = Line()
TASKS = {"a": SPACE.task(["west", "far"]), "b": SPACE.task(["east", "far"])}
FAMILY = ReachFamily.of(SPACE, TASKS, REACH)


def paying(*rewards):
    return AheadPolicy(ReachQ(REACH, np.array(rewards), FAMILY.bounds), REACH)


def test_the_best_goal_of_each_place_comes_before_the_mean():
    policy = paying(4.0, 4.0, 0.0)  # V of the places: 4, 3, 2, 3, 4
    np.testing.assert_allclose(
        policy.q([[2.0], [1.0], [3.0], [0.5]]),
        [
            [-1 + 0.25 * 2 + 0.75 * 3, -1 + 0.25 * 2 + 0.75 * 3],
            [-1 + 0.25 * 3 + 0.75 * 4, -1 + 0.25 * 3 + 0.75 * 2],
            [-1 + 0.25 * 3 + 0.75 * 2, -1 + 0.25 * 3 + 0.75 * 4],
            [-1 + 4.0, -1 + 0.75 * 3 + 0.25 * 2],
        ],
    )
    assert policy.actions([[1.0], [3.0], [0.5]]).tolist() == [0, 1, 0]
    assert policy.act([3.5]) == 1


def test_a_place_without_a_way_has_no_part_in_the_mean():
    policy = paying(4.0, -np.inf, -np.inf)  # V: 4, 3, 2, 1, −∞
    np.testing.assert_allclose(policy.q([[3.0]]), [[-1 + 0.25 * 1 + 0.75 * 2, -1 + 1.0]])
    assert policy.q([[4.0]])[0, 1] == -np.inf  # the step leads to the end itself
    nowhere = paying(-np.inf, -np.inf, 4.0)
    assert (nowhere.q([[2.0], [0.0]]) == -np.inf).all()
    assert nowhere.actions([[2.0], [0.0]]).tolist() == [0, 0]


def test_a_family_of_such_a_reach_looks_ahead():
    skills = ta.Skills(FAMILY)
    for expression in ("a", "b & ~a", "a | b"):
        policy = skills[expression].policy
        assert isinstance(policy, AheadPolicy)
        rewards = skills.task_of(ta.parse(expression)).goal_reward
        batch = np.linspace(0, 4, 33)[:, None]
        np.testing.assert_array_equal(policy.q(batch), paying(*rewards).q(batch))
    assert skills["a & ~b"].act([3.5]) == 0
    assert skills["b & ~a"].act([0.5]) == 1


def test_composed_values_pay_what_their_task_pays():
    """All 16 functions of the two base tasks, composed and by goal set."""
    skills = ta.Skills(FAMILY)
    seen = set()
    for bits in itertools.product((False, True), repeat=4):
        terms = [
            f"{'' if a else '~'}a & {'' if b else '~'}b"
            for on, (a, b) in zip(bits, itertools.product((True, False), repeat=2), strict=True)
            if on
        ]
        agent = skills[" | ".join(terms) or "false"]
        np.testing.assert_array_equal(goal_rewards(agent.values, REACH), agent.task.goal_reward)
        by_set = GoalSetQ.of(agent.task, FAMILY.bounds)
        np.testing.assert_array_equal(goal_rewards(by_set, REACH), agent.task.goal_reward)
        seen.add(agent.task.goal_reward.tobytes())
    assert len(seen) == 8  # of the three goals, as none is neither west nor east nor far


def test_the_reach_is_not_asked_for_what_goals_pay():
    class Mute(Line):
        def returns(self, observations):
            raise AssertionError

    reach = Mute()
    family = ReachFamily.of(SPACE, TASKS, reach)
    assert goal_rewards(family["a"], reach).tolist() == [8.0, -0.125, 8.0]


def test_an_open_world_that_plans_nothing_is_not_solved():
    env = ta.OpenEnv.__new__(ta.OpenEnv)
    env.space, env.tasks = SPACE, {}
    with pytest.raises(TypeError, match="known only by playing it"):
        ta.solve(env)
