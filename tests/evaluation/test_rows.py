"""What evaluations keep of their episodes: rows agree with the figures, and with each other."""

import json
import sys

import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.evaluation import rows
from taskalgebra.evaluation.record import FIGURES


@pytest.fixture(scope="module")
def skills():
    return ta.solve(ta.FourRooms(slip_probability=0.2), ["top", "left"])


def over_time(formula="F(coffee & F office) & G !decoration"):
    return ta.solve(ta.Office())[formula]


class Line(ta.DirectedReach):
    """The way to two places on a line."""

    observation_ndim = 1

    def values(self, observations):
        return -np.abs(np.asarray(observations) - [-1.0, 1.0])

    def act(self, observations, goal):
        return np.sign((-1.0, 1.0)[goal] - np.asarray(observations)) * 0.05


class Track(gym.Env):
    """A point on a line."""

    observation_space = gym.spaces.Box(-2, 2, (1,), np.float64)
    action_space = gym.spaces.Box(-0.05, 0.05, (1,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.np_random.uniform(-1.5, 1.5, 1)
        return self.at.copy(), {}

    def step(self, action):
        self.at = np.clip(self.at + action, -2, 2)
        return self.at.copy(), -1.0, False, False, {}


def station(observation, info, env):
    near = np.abs(np.array([-1.0, 1.0]) - observation) < 0.12
    return ("left", "right")[near.argmax()] if near.any() else None


def on_a_track():
    names = ["left", "right"]
    track = ta.wrap(Track, station, among=names, r_universal=50, max_episode_steps=400)
    return ta.from_reach(Line(), track)["right then left"]


def wrapped():
    world = ta.wrap("CliffWalking-v1", goals=at_end, among=["end"], max_episode_steps=40)
    return ta.solve(ta.explore(world))["end"]


def at_end(observation, info, env):
    return "end" if observation == 47 else None


def played(name, skills):
    return {
        "tables": lambda: skills["top ^ left"].evaluate(300, seed=1),
        "cut off": lambda: skills["top ^ left"].evaluate(300, seed=1, max_steps=6),
        "nothing wanted": lambda: skills["false"].evaluate(50, seed=1),
        "environment": lambda: skills["top"].play(
            ta.FourRooms(slip_probability=0.2), episodes=20, seed=1
        ),
        "own environment": lambda: wrapped().play(episodes=3),
        "formula": lambda: over_time().evaluate(200, seed=1),
        "formula, cut off": lambda: over_time().evaluate(200, seed=1, max_steps=12),
        "formula, played": lambda: on_a_track().play(episodes=12, seed=1, max_steps=45),
    }[name]()


CASES = [
    "tables",
    "cut off",
    "nothing wanted",
    "environment",
    "own environment",
    "formula",
    "formula, cut off",
    "formula, played",
]


@pytest.mark.parametrize("name", CASES)
def test_the_figures_are_those_of_the_rows(name, skills):
    found = played(name, skills)
    table = found.to_frame()
    n = found.episodes
    assert len(table) == n and table.index.name == "episode"
    assert table["return"].mean() == pytest.approx(found.mean_return, abs=1e-12)
    assert table["return"].sem() == pytest.approx(found.standard_error, abs=1e-12)
    assert table["steps"].mean() == pytest.approx(found.mean_steps, abs=1e-12)
    assert table["success"].sum() == found.n_success
    assert table["cut_off"].sum() == found.unfinished
    assert not (table["success"] & table["cut_off"]).any()
    assert ("cut off" not in name and name != "formula, played") or 0 < found.unfinished < n
    if "optimal_return" in table:
        assert table["optimal_return"].mean() == pytest.approx(found.optimal_return)
    else:
        assert np.isnan(found.optimal_return)


def test_a_row_names_the_goal_in_which_its_episode_ended(skills):
    found = played("cut off", skills)
    wanted = {"top_right", "bottom_left"}
    names = found.to_frame()["goal"]
    assert set(names.dropna()) >= wanted
    assert names.isna().tolist() == found.cut_off.tolist()
    assert names.isin(wanted).tolist() == found.success.tolist()
    assert "goal" not in played("formula", skills).to_frame()


def test_returns_follow_from_steps_and_goals_where_every_step_costs_the_same(skills):
    found = played("tables", skills)
    pays = np.array([2.0 if won else -0.1 for won in found.success])
    assert found.returns == pytest.approx(pays - 0.1 * (found.steps - 1))


def test_a_dictionary_is_json_and_has_all_figures(skills):
    for name in CASES:
        found = played(name, skills)
        told = found.to_dict()
        assert json.loads(json.dumps(told, allow_nan=False)) == told
        assert list(told) == [*FIGURES, "rows"]
        assert list(found.to_dict(rows=False)) == list(FIGURES)
        assert told["rows"][3 % found.episodes]["return"] == found.returns[3 % found.episodes]
        assert told["episodes"] == len(told["rows"])
    with pytest.raises(ValueError, match="rows is 'no', expected True or False"):
        found.to_dict(rows="no")


def test_figures_are_all_fields_but_those_of_single_episodes(skills):
    from dataclasses import fields

    found = played("tables", skills)
    single = {"returns", "steps", "success", "cut_off", "goals", "goal_names", "optimal_returns"}
    assert {field.name for field in fields(found)} == {*FIGURES, *single}
    assert "array" not in repr(found)


def test_exact_figures_have_no_rows():
    planned = ta.solve(ta.FourRooms(), ["top", "left"], horizon=12)
    found = planned["top ^ left"].evaluate()
    assert found.exact and found.to_dict()["rows"] == []
    assert found.to_frame().empty


def test_episodes_that_outlive_goals_are_rows_too():
    found = ta.ContinuingEvaluation(
        np.array([1.5, -0.5]),
        np.array([9, 4]),
        np.array([[2, 0], [0, 1]]),
        np.array([True, False]),
        np.array([False, True]),
    )
    assert found.to_dict() == {
        "episodes": 2,
        "mean_return": 0.5,
        "standard_error": 1.0,
        "quartiles": [0.0, 0.5, 1.0],
        "rows": [
            {"return": 1.5, "steps": 9, "wanted": 2, "unwanted": 0, "violated": False},
            {"return": -0.5, "steps": 4, "wanted": 0, "unwanted": 1, "violated": True},
        ],
    }
    assert found.to_frame()["violated"].tolist() == [False, True]


def test_rows_are_part_of_what_an_evaluation_is_and_cannot_be_written(skills):
    one, same, other = (skills["top"].evaluate(40, seed=seed) for seed in (1, 1, 2))
    assert one == same != other
    with pytest.raises(ValueError, match="read-only"):
        one.returns[0] = 1.0


def test_of_very_many_episodes_the_first_are_kept(skills, monkeypatch):
    monkeypatch.setattr(rows, "MOST_ROWS", 5)
    many = skills["top"].evaluate(8, seed=1)
    monkeypatch.undo()
    all_of_them = skills["top"].evaluate(8, seed=1)
    assert many.episodes == 8 and many.mean_return == all_of_them.mean_return
    assert many.returns.tolist() == all_of_them.returns[:5].tolist()
    assert many.returns.base is None  # else the others would stay in memory
    assert len(many.to_frame()) == 5


def test_without_pandas_it_says_what_to_install(skills, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_frame\(\) needs pandas: .*taskalgebra\[frames\]"):
        skills["top"].evaluate(2).to_frame()
