"""Assumptions 1 and 2: the worlds of the paper keep them, and the checker sees it."""

import numpy as np

from taskalgebra.envs.four_rooms import FourRooms


def test_assumption_1_holds_in_four_rooms(four_rooms):
    report = four_rooms.space.check(four_rooms.tasks)
    assert report["shared dynamics"].holds
    assert report["deterministic"].holds
    assert report["rewards differ on goals"].holds
    assert report.zero_shot_optimal


def test_assumption_2_holds_in_four_rooms(four_rooms):
    report = four_rooms.space.check(four_rooms.tasks)
    assert report["two terminal rewards"].holds
    assert report.boolean_algebra
    values = {r for task in four_rooms.tasks.values() for r in task.goal_reward.tolist()}
    assert values == {2.0, -0.125}


def test_assumption_1_fails_with_slips_and_with_dense_rewards():
    slippery = FourRooms(slip_probability=0.1)
    assert not slippery.space.check(slippery.tasks).zero_shot_optimal
    space = FourRooms().space
    dense = space.mdp.step_reward + np.where(space.mdp.is_goal[:, None], 0, 0.05)
    report = space.check({"dense": space.from_rewards(space.r_universal, dense)})
    assert not report["rewards differ on goals"].holds
    assert report["rewards differ on goals"].offender["task"] == "dense"


def test_assumption_2_fails_with_three_terminal_rewards(space):
    report = space.check({"three": space.from_rewards([2, 1, 0, -0.125])})
    assert not report["two terminal rewards"].holds
    assert report["two terminal rewards"].offender == {"task": "three", "goal": "top_right"}
    assert report.zero_shot_optimal
    assert not report.boolean_algebra
