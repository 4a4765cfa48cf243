"""Tables where observations are arrays: numbered as they are met."""

from functools import cache

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

import taskalgebra as ta
from row_worlds import EXACT, GOALS, TASKS, Row, planned, row_world
from taskalgebra.learning.checkpoint import CheckpointError
from taskalgebra.theory.numbering import Numbering

SPACES = {
    "counts": gym.spaces.MultiDiscrete([4, 2]),
    "bits": gym.spaces.MultiBinary(3),
    "grid": gym.spaces.Box(0, 8, (2, 2, 1), np.uint8),
    "floats": gym.spaces.Box(0.0, 8.0, (2,), np.float32),
}


def shown(kind, state):
    """The observation of a state of the row."""
    if kind == "counts":
        return np.array(divmod(state, 2))
    if kind == "bits":
        return np.array([state >> i & 1 for i in range(3)], np.int8)
    if kind == "grid":
        return np.array([state, 8 - state, 3, 0], np.uint8).reshape(2, 2, 1)
    return np.array([state / 3, -0.0], np.float32)


def curtained(kind):
    """The row of `test_tabular`, with observations that are arrays."""

    class Shown(Row):
        observation_space = SPACES[kind]

        def reset(self, *, seed=None, options=None):
            state, info = super().reset(seed=seed, options=options)
            return shown(kind, state), info

        def step(self, action):
            state, *rest = super().step(action)
            return shown(kind, state), *rest

    return Shown


@cache
def learned(kind):
    """The world of a kind of observations, and its skills."""
    world = row_world(curtained(kind))
    return world, ta.learn(world, learner=EXACT)


@pytest.mark.parametrize("kind", SPACES)
def test_arrays_are_learned_as_tables_and_the_values_are_those_of_the_states(kind, tmp_path):
    world, skills = learned(kind)
    optimum = planned(skills.family.r_bar_min)
    every = np.stack([shown(kind, state) for state in range(8)])
    for text in ("edge", "early", "true", "false", "edge ^ early", "~(edge | early)"):
        expected = optimum[text].values.table
        assert np.array_equal(skills[text].q_bar(every), expected), text
        assert [skills[text].act(o) for o in every] == skills[text].act(every).tolist()
    assert skills["edge & ~early"].evaluate(100).success_rate == 1.0
    skills.save(tmp_path / "row")
    again = ta.load(tmp_path / "row", world)
    assert np.array_equal(again["edge ^ early"].q_bar(every), skills["edge ^ early"].q_bar(every))
    assert again["edge & ~early"].act(every[4]) == skills["edge & ~early"].act(every[4])


def test_few_combinations_are_tables_by_default_and_other_arrays_are_not():
    from taskalgebra.skills.making import default_learner

    kinds = {kind: type(default_learner(row_world(curtained(kind)))) for kind in SPACES}
    assert kinds == dict(counts=ta.QLearning, bits=ta.QLearning, grid=ta.DeepQ, floats=ta.DeepQ)


def test_an_observation_that_was_never_met_has_the_mean_of_all_values():
    _, skills = learned("grid")
    every = np.stack([shown("grid", state) for state in range(8)])
    strange = np.full((2, 2, 1), 7, np.uint8)
    for text in ("edge", "early", "true", "false"):
        found = skills[text].q_bar([strange])[0]
        np.testing.assert_allclose(found, skills[text].q_bar(every).mean(0), rtol=1e-12)
    assert 0 <= skills["edge"].act(strange) < 3


def test_wrong_shapes_and_too_many_observations_are_refused(monkeypatch):
    world, skills = learned("counts")
    with pytest.raises(ValueError, match=r"observations have shape \(1, 1, 2\)"):
        skills["edge"].act([[[1, 1]]])
    with pytest.raises(ValueError, match=r"a batch of shape \[B, 2\]"):
        skills["edge"].q_bar([[1, 1, 1]])
    monkeypatch.setattr("taskalgebra.learning.one_copy.MOST_STATES", 6)
    with pytest.raises(ValueError, match=r"more than 6 different observations.*DeepQ"):
        ta.learn(world, learner=EXACT)


def test_a_table_grows_with_the_observations_that_are_met(tmp_path, monkeypatch):
    world = row_world(curtained("counts"))
    whole = ta.learn(world, learner=EXACT, seed=1, folder=tmp_path / "whole")
    monkeypatch.setattr("taskalgebra.learning.tabular.FIRST_STATES", 1)
    grown = ta.learn(world, learner=EXACT, seed=1, folder=tmp_path / "grown")
    every = np.stack([shown("counts", state) for state in range(8)])
    for text in ("edge", "early", "true", "false"):
        assert np.array_equal(grown[text].q_bar(every), whole[text].q_bar(every)), text
    for name, rows in (("whole", 64), ("grown", 8)):
        tables = sorted((tmp_path / name).glob("[0-9]*.npz"))
        assert len(tables) == 4
        for path in tables:
            with np.load(path) as run:
                assert run["q"].shape == (rows, 3, 3), path.name


class Coined(Row):
    """The row, with a number drawn in each episode beside the state."""

    observation_space = gym.spaces.Box(0, 1_000, (2,), np.int64)

    def reset(self, *, seed=None, options=None):
        state, info = super().reset(seed=seed)
        self.drawn = self.np_random.integers(500)
        return np.array([state, self.drawn]), info

    def step(self, action):
        state, *rest = super().step(action)
        return np.array([state, self.drawn]), *rest


def test_tables_that_grow_hold_what_tables_of_all_rows_hold(monkeypatch):
    """Some observations are met by later tables only; earlier ones have values of 0 there."""
    found = []
    for first in (2, 2**16):
        monkeypatch.setattr("taskalgebra.learning.tabular.FIRST_STATES", first)
        found.append(ta.learn(row_world(Coined), learner=EXACT, seed=2))
    grown, whole = found
    met = whole["edge"].values.bounds.numbering.observations
    assert np.array_equal(grown["edge"].values.bounds.numbering.observations, met)
    for text in ("edge", "early", "true", "false"):
        expected = whole[text].q_bar(met)
        assert np.array_equal(grown[text].q_bar(met), expected), text
        assert np.array_equal(grown[text].q_bar([[9, 999]]), whole[text].q_bar([[9, 999]]))
    assert len(met) > 1_500
    assert not whole["true"].q_bar(met[-20:]).any()


class Stopped(Exception):
    """As a kill would end it."""


def test_learning_that_was_killed_resumes_with_the_same_numbers(tmp_path, monkeypatch):
    world = row_world(curtained("bits"))
    whole = ta.learn(world, learner=EXACT, seed=3)
    monkeypatch.setattr("taskalgebra.learning.tabular.SAVED_EVERY", 0.0)

    def kill(event):
        if event.what == "edge" and event.n_steps > 1_000:
            raise Stopped

    with pytest.raises(Stopped):
        ta.learn(world, learner=EXACT, seed=3, folder=tmp_path, listener=kill)
    monkeypatch.undo()
    resumed = ta.learn(world, learner=EXACT, seed=3, folder=tmp_path)
    every = np.stack([shown("bits", state) for state in range(8)])
    for text in ("edge", "early", "edge ^ early"):
        assert np.array_equal(resumed[text].q_bar(every), whole[text].q_bar(every))
    (tmp_path / "observations.npz").unlink()
    with pytest.raises(CheckpointError, match="observations"):
        ta.learn(world, learner=EXACT, seed=3, folder=tmp_path)


def test_numbers_are_given_in_order_and_the_same_array_has_one():
    numbering = Numbering(np.empty((0, 2), np.float32))
    assert [numbering.meet(o) for o in ([1, 2], [0.0, 3], [1, 2], [-0.0, 3])] == [0, 1, 0, 1]
    assert numbering.find([[0, 3], [9, 9]]).tolist() == [1, 2]
    assert numbering.find(np.empty((0, 2))).tolist() == []
    with pytest.raises(ValueError, match="of 2 observations only 1 are different"):
        Numbering(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="expected numbers"):
        Numbering(np.array(["a"]))


def test_a_listener_ends_the_learning_of_one_table():
    heard = []

    def enough(event):
        heard.append(event)
        if event.what == "M_U" and event.n_steps > 500:
            raise ta.StopLearning

    world = ta.OpenEnv(lambda n: SyncVectorEnv([Row] * n), GOALS, TASKS, r_empty=-0.125)
    skills = ta.learn(world, learner=EXACT, listener=enough)
    last = {event.what: event.n_steps for event in heard}
    assert 500 < last["M_U"] < 1_000 < 4_000 < last["edge"]
    assert skills["edge"].evaluate(50).success_rate == 1.0
    ta.learn(ta.FourRooms(), ["top"], learner=ta.FewSteps(), listener=stop)
    ta.learn(ta.FourRooms(), ["top"], learner=ta.QLearning(), listener=stop)


def stop(event):
    if event.n_steps > 100_000 or event.what == "all tasks":
        raise ta.StopLearning
