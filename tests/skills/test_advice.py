"""What certificates say to do is done here, word for word, and must help."""

import re

import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta
from row_worlds import SlipperyRow, row_world
from taskalgebra import QLearning

ROOMS = ta.FourRooms()
SLIPPERY = ta.FourRooms(slip_probability=0.3)
OVER_TIME = "F(top & F left)"


def learned(world, steps=20_000, **settings):
    return ta.learn(world, learner=QLearning(steps=steps, **settings), seed=0)


def foreign(world):
    """Values of somebody else's, which are too short-sighted by half a step."""
    returns = ta.solve(world).family.to_goals().returns

    def rough(states):
        found = returns(states)
        return found - 0.05 * (found > -1.0)

    return ta.from_values(rough, world)


def lake():
    space = ta.TaskSpace(ta.from_gymnasium(gym.make("FrozenLake-v1")))
    return ta.solve(space, {"there": space.original})["there"]


def scripted(world):
    """A script that knows a way to every goal, and returns that are off by half a step."""
    family = ta.solve(world).family.to_goals()

    def act(states, goal):
        return family.returns(states)[:, goal].argmax(axis=1)

    def values(states):
        return family.returns(states).max(axis=2) + 0.05 * (np.asarray(states)[:, None] % 2)

    return ta.from_policy(world, values=values, act=act)


LOSING = {
    "planned": lambda: ta.solve(SLIPPERY)["top ^ left"],
    "planned, by a bound": lambda: ta.solve(SLIPPERY)["top | left"],
    "planned with a low penalty": lambda: ta.solve(SLIPPERY, r_bar_min=-50)["top"],
    "within a horizon": lambda: ta.solve(SLIPPERY, horizon=20)["top ^ left"],
    "learned": lambda: learned(ROOMS, 3_000)["top ^ left"],
    "learned, over time": lambda: learned(ROOMS, 3_000)[OVER_TIME],
    "learned, slippery": lambda: learned(SLIPPERY)["top ^ left"],
    "learned, slippery, over time": lambda: learned(SLIPPERY)[OVER_TIME],
    "learned, fewest violations": lambda: learned(SLIPPERY).fewest_violations("top", avoid="left"),
    "foreign": lambda: foreign(SLIPPERY)["top ^ left"],
    "foreign, over time": lambda: foreign(SLIPPERY)[OVER_TIME],
    "scripted": lambda: scripted(SLIPPERY)["top ^ left"],
    "improved for a round": lambda: learned(SLIPPERY)["top ^ left"].improve(rounds=1),
    "improved by playing": lambda: learned(SLIPPERY)["top ^ left"].improve(episodes=50),
    "improved over time": lambda: learned(SLIPPERY)[OVER_TIME].improve(rounds=1),
}


@pytest.mark.parametrize("make", LOSING.values(), ids=LOSING)
def test_what_loses_says_so_in_the_return_and_improves_as_it_says(make):
    agent = make()
    certificate = agent.certificate()
    assert re.match(
        r"(loses a return of [\d.e-]+|may never end from \d+ of \d+ starts)", certificate.line
    )
    assert certificate.line.split("; ")[-1] == "agent.improve() mends it"
    mended = agent.improve().certificate()
    assert mended.optimal or mended.loss.none


def test_a_low_penalty_is_mended_by_leaving_it_out():
    harsh = ta.solve(SLIPPERY, r_bar_min=-50)["top"].certificate()
    assert "leave r_bar_min out" in harsh["mild penalty"].detail
    assert ta.solve(SLIPPERY)["top"].certificate()["mild penalty"].holds


def test_a_mild_penalty_of_formulas_is_mended_by_the_learner_that_is_named():
    certificate = learned(SLIPPERY)[OVER_TIME].certificate()
    (named,) = re.findall(r"learn with learner=(QLearning\(r_bar_min=[-\d.]+\))", certificate.line)
    again = ta.learn(SLIPPERY, learner=eval(named))[OVER_TIME].certificate()
    assert [f.name for f in certificate.findings if f not in again.findings] == ["low penalty"]


def test_a_mild_penalty_where_episodes_end_in_goals_is_mended_by_a_lower_one():
    world = row_world(SlipperyRow)
    certificate = learned(world)["F edge"].certificate()
    with pytest.raises(TypeError, match="goes on after goals"):
        ta.learn(world, continuing=True)
    (named,) = re.findall(r"learn with learner=(QLearning\(r_bar_min=[-\d.]+\))", certificate.line)
    again = ta.learn(world, learner=eval(named), seed=0)["F edge"].certificate()
    assert [f.name for f in certificate.findings if f not in again.findings] == ["low penalty"]


def test_the_cost_of_a_violation_is_said_and_is_more_than_any_way():
    agent = learned(SLIPPERY).fewest_violations("top", avoid="left").improve(rounds=1)
    certificate = agent.certificate()
    (cost,) = re.findall(r", where a violation costs ([\d.]+)", certificate.line)
    assert float(cost) > 0.1 * SLIPPERY.mdp.n_states
    assert "violation" not in learned(SLIPPERY)[OVER_TIME].certificate().line


def test_the_limit_of_an_environment_is_planned_for_as_it_says():
    agent = lake()
    (horizon,) = re.findall(
        r"plan for it with solve\(world, horizon=(\d+)\)", agent.certificate().line
    )
    space = agent.task.space
    planned = ta.solve(space, {"there": space.original}, horizon=int(horizon))["there"]
    assert "plan for it" not in planned.certificate().line


def arrived(observation, info, env):
    return {b"G": "there", b"H": "hole"}.get(env.desc.flat[observation])


def test_formulas_that_are_only_played_say_to_play_them():
    world = ta.wrap("FrozenLake-v1", arrived, among=["there", "hole"])
    agent = learned(world, 6_000, r_bar_min=-9.0)["F there"]
    assert agent.certificate().line == UNKNOWN + "; agent.evaluate() says how often it succeeds"
    assert agent.evaluate(5).episodes == 5
    ended = learned(row_world(), 2_000)["F edge"]  # its episodes end in goals
    assert ended.certificate().line == UNKNOWN
    with pytest.raises(TypeError, match="tasks with time go on"):
        ended.evaluate()


UNKNOWN = (
    "not known to be optimal: whether every action has one outcome is not known of an open world "
    "(Assumption 1) and the returns to goals are estimates (Corollary 1)"
)


def test_what_is_only_played_says_return():
    line = learned(row_world(), 2_000)["edge"].certificate(episodes=20).line
    assert re.match(r"return [\d.]+ \(95 %: [\d.]+ to [\d.]+\) over 20 episodes; the best ", line)
