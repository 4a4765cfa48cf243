"""Worlds explored for tasks with time: episodes outlive goals."""

from __future__ import annotations

from functools import partial

import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta

STILL = partial(gym.make, "FrozenLake-v1", is_slippery=False)
"""SFFF, FHFH, FFFH, HFFG: 3 is the top right, 8 the left edge, 12 a hole, 15 the goal."""


def place(observation, info, env):
    return {3: "edge", 8: "edge", 12: "hole", 15: "end"}.get(int(observation))


@pytest.fixture(scope="module")
def explored():
    lake = ta.wrap(STILL, place, among=["edge", "hole", "end"], elsewhere="lost")
    return ta.explore(lake, continuing=True)


def test_every_state_with_a_label_is_a_goal_of_its_own(explored):
    names = explored.space.goal_names
    assert {"edge 1", "edge 2", "hole", "end"} <= set(names)
    assert list(explored.tasks["edge"].desired) == [name.startswith("edge") for name in names]
    mdp = explored.space.mdp
    assert not mdp.is_goal[mdp.resumes].any()


def test_an_order_is_kept_in_the_real_environment(explored):
    skills = ta.solve(explored)
    for text in ("F ('edge 1' & X F 'edge 2')", "F ('edge 2' & X F ('edge 1' & X F end))"):
        agent = skills[text]
        walk = agent.walk(int(explored.space.mdp.starts[0]))
        assert walk.satisfied
        played = agent.play(STILL(), episodes=2)
        assert played.success_rate == 1.0
        assert played.mean_steps == len(walk.actions)
    assert agent.play(episodes=1).mean_return == 1.0  # the lake pays for its own goal


def test_nothing_leads_on_where_the_environment_ends(explored):
    skills = ta.solve(explored)
    start = int(explored.space.mdp.starts[0])
    assert skills["F hole"].v([start])[0] > -np.inf
    blocked = skills["F (hole & X F end)"]
    assert blocked.v([start])[0] == -np.inf
    assert "no way to" in blocked.why_not(start)


def test_chance_is_refused():
    lake = ta.wrap("FrozenLake-v1", place, among=["edge", "hole", "end"], elsewhere="lost")
    with pytest.raises(ValueError, match="not deterministic"):
        ta.explore(lake, continuing=True)


def test_in_slippery_worlds_every_episode_has_a_chance_of_its_own():
    """One seed was explored; what happens after the start must not be the same each time."""
    lake = ta.wrap("FrozenLake-v1", place, among=["edge", "hole", "end"], elsewhere="lost")
    explored = ta.explore(lake, samples=2_000, continuing=True)
    agent = ta.solve(explored)["F 'edge 2'"]
    expected = agent.evaluate(4_000)
    played = agent.play(episodes=400, seed=3)
    assert abs(played.success_rate - expected.success_rate) < 0.1
    assert np.unique(played.steps).size > 5
    again, other = agent.play(episodes=400, seed=3), agent.play(episodes=400, seed=4)
    assert again.steps.tolist() == played.steps.tolist() != other.steps.tolist()
