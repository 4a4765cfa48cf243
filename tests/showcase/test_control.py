"""Classic control in the table of worlds: the judge, and the rows at toy size."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.showcase import control

QUICK = ta.DeepQ(n_updates=20, updates_per_iteration=10, threads=1, batch_size=8)


class Alike:
    """Skills whose agents all follow one rule."""

    def __init__(self, rule):
        self.rule = rule

    def for_task(self, text):
        """The same agent, whatever is asked for."""
        return self

    def act(self, observations):
        return np.array([self.rule(seen) for seen in observations])


def with_the_motion(seen):
    """Push where the car is going: it swings up one of the hills."""
    return 2 if seen[1] > 0 else 0


def results(judge, rule, episodes):
    return {one.expression: one.success for one in judge(Alike(rule), episodes, 0)}


def test_the_search_is_right_where_all_ways_are_known():
    """0 ─ 1 ─ 2 ─ 3, goal 0 beyond the left end, goal 1 beyond the right one; 4 goes nowhere."""
    after = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [4, 4]])
    reached = np.full((5, 2), -1)
    reached[0, 0], reached[3, 1] = 0, 1
    infinite = np.inf
    for wanted, limit, expected in (
        ({0}, 9, [1, 2, 3, 4, infinite]),
        ({1}, 9, [4, 3, 2, 1, infinite]),
        ({0, 1}, 9, [1, 2, 2, 1, infinite]),
        ({0}, 2, [1, 2, infinite, infinite, infinite]),
        (set(), 9, [infinite] * 5),
    ):
        assert control.fewest_actions(after, reached, wanted, limit).tolist() == expected
    reached[1, 1] = 1  # a goal that is not wanted bars the way
    assert control.fewest_actions(after, reached, {0}, 9)[2] == 3
    reached[2, 0] = 1
    assert control.fewest_actions(after, reached, {0}, 9).tolist() == [1, 2] + [infinite] * 3


def test_the_dynamics_of_the_judge_are_those_of_the_environment():
    env = gym.make("MountainCar-v0").unwrapped
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    states = rng.uniform((-1.2, -0.07), (0.6, 0.07), (500, 2))
    for action in range(3):
        found = np.stack(control.moved(*states.T, action), 1)
        for state, after in zip(states, found, strict=True):
            env.state = state.copy()
            env.step(action)
            np.testing.assert_allclose(env.state, after, atol=1e-12)


def test_feasible_starts_can_be_confirmed_without_a_grid():
    """A search from a start itself, over all sequences of held actions, finds the same hills."""
    plane = control.Plane(321, 141)
    rng = np.random.default_rng(1)
    cells = rng.choice(len(plane.states), 60, replace=False)
    for wanted in (0, 1):
        fewest = control.fewest_actions(plane.after, plane.reached, {wanted}, 5)
        differ = 0
        for cell in cells:
            near, found = plane.states[cell][None], np.inf
            for n in range(1, 6):
                ways = [control.held(*near.T, action, control.CAR_HOLD) for action in range(3)]
                if any((reached == wanted).any() for _, _, reached in ways):
                    found = n
                    break
                near = np.concatenate(
                    [np.stack([p, v], 1)[r == control.NOWHERE] for p, v, r in ways]
                )
            differ += found != fewest[cell]
        assert differ <= 2  # cells on an edge


def test_a_car_that_does_nothing_stays_in_the_valley():
    found = results(control.of_car, lambda seen: 1, 10)
    own = [success for text, success in found.items() if "own starts" in text]
    assert len(own) == len(control.HILLS) and set(own) == {0.0}
    assert all(success < 1.0 for success in found.values())


def test_a_car_that_swings_gets_up_one_of_the_hills():
    found = results(control.of_car, with_the_motion, 10)
    assert found["left | right"] == found["left | right, from the environment's own starts"] == 1.0
    assert found["left"] < 1.0 and found["right"] < 1.0


def test_mountain_car_runs_at_toy_size():
    skills = control.car(learner=QUICK)
    found = list(control.of_car(skills, 3, 0))
    assert found[0].expression == "left" and len(found) == 2 * len(control.HILLS)
    for text, wanted in control.HILLS.items():
        task = skills[text].task
        assert {n for n, d in zip(task.space.goal_names, task.desired, strict=True) if d} == wanted


def test_lunar_lander_runs_at_toy_size():
    pytest.importorskip("Box2D")
    skills = control.lander(learner=QUICK)
    assert len(list(control.of_lander(skills, 2, 0))) == len(control.PLACES)
    for text, wanted in control.PLACES.items():
        task = skills[text].task
        assert {n for n, d in zip(task.space.goal_names, task.desired, strict=True) if d} == wanted


def test_a_lander_that_falls_or_tumbles_is_not_where_it_should_be():
    pytest.importorskip("Box2D")
    falls = results(control.of_lander, lambda seen: 0, 10)
    assert falls["left"] + falls["pad"] + falls["right"] <= 1.0
    assert max(falls["left"], falls["pad"], falls["right"]) < 0.9
    tumbles = results(control.of_lander, lambda seen: 1, 10)
    assert set(tumbles.values()) == {0.0}


def test_a_place_is_named_only_where_an_upright_lander_stands_on_a_leg():
    class Env:
        game_over = False

    seen = np.array([0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0])
    for x, name in ((-0.9, "left"), (-0.2, "pad"), (0.2, "pad"), (0.21, "right")):
        assert control.place(np.r_[x, seen[1:]], {}, Env) == name
    assert control.place(np.r_[seen[:7], 0.0], {}, Env) is None
    assert control.place(np.r_[seen[:4], 0.5, seen[5:]], {}, Env) is None
    Env.game_over = True
    assert control.place(seen, {}, Env) is None
