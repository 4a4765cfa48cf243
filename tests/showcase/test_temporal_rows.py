"""Moving targets and levels of BabyAI: what is asked, by searches and agents written apart."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace

import gymnasium as gym
import minigrid
import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.envs.minigrid import instructions
from taskalgebra.showcase.temporal import babyai, moving
from taskalgebra.showcase.temporal.record import NETWORK, PLANNED, Measured, Shown, summaries
from taskalgebra.showcase.temporal.table import page

assert minigrid  # registers the levels
(MOVING,) = moving.ENTRIES
(BABYAI,) = babyai.ENTRIES
ACTIONS = (0, 1, 2, 3, 5)  # all but to put something down
ABOUT = {"world": "W", "task": "t", "formula": "F a"}


def scored(score, best, **more):
    return Measured.scored(score, best, values=NETWORK, episodes=10, **ABOUT, **more)


@pytest.mark.parametrize(
    ("row", "ok", "verdict"),
    [
        (scored(16.0, 20.0), True, "short by 20.0 % of the score"),
        (scored(15.9, 20.0), False, "short by 20.5 % of the score"),
        (scored(21.0, 20.0), True, "not short of it"),  # a median may be above a mean
        (scored(20.0, 20.0, success=1.0), True, "not short of it"),
        (scored(20.0, 20.0, success=0.9), False, "short by 0.100 of success"),
        (scored(-1.0, 20.0), False, "short by 105.0 % of the score"),
        (replace(scored(20.0, 20.0), episodes=0), False, "refused"),
    ],
)
def test_the_bar_of_moving_targets_can_be_missed(row, ok, verdict):
    assert MOVING.reaches(row) is ok
    (found,) = summaries([row])
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("taken", "fewest", "ok"),
    [([5.0], [5.0], True), ([6.0], [5.0], False), ([math.inf], [5.0], False), ([], [], False)],
)
def test_the_bar_of_levels_can_be_missed(taken, fewest, ok):
    row = Measured.of(taken, fewest, values=PLANNED, refused=2, **ABOUT)
    assert BABYAI.reaches(row) is ok


def test_what_was_refused_and_what_stands_for_the_optimum_is_said():
    rows = (
        Measured.of([5.0], [5.0], values=PLANNED, refused=2, **ABOUT),
        Measured.of([], [], values=PLANNED, refused=3, **{**ABOUT, "task": "u"}),
    )
    text = page([Shown(BABYAI, rows, 1.0, 1.0)], [])
    assert "| BabyAI, planned | none | 1 | 2 | 1, 5 refused | 1 of 1 tasks | 1 s | short |" in text
    assert "| t | 1 / 5.00 | at the optimum, 2 of 3 refused |" in text
    assert "| u | not known | not known, refused, 3 of 3 refused |" in text
    either = {**ABOUT, "task": "a | b"}
    row = Measured.scored(9.0, 10.0, values=NETWORK, episodes=4, bound="at most", **either)
    text = page([Shown(MOVING, (row,), 1.0, 1.0)], [])
    assert "| W: score | optimum | learned |" in text
    assert "| a \\| b | 10.00 (at most) | 9.00, short by 10.0 % of the score |" in text
    assert "| not known | 1 s | ok |" in text


def test_what_is_asked_of_moving_targets():
    world = ta.Boxman(layout="random")
    blue, six = (world.find_task(text) for text in ("blue", "circle | square"))
    assert moving.best(world, blue, False, 5) == (pytest.approx(13.27, abs=0.01), "")
    touch = ta.Boxman(layout="random", collect="touch")
    assert moving.best(touch, touch.find_task("blue"), True, 5)[1] == "at most"
    found, what = moving.best(world, six, False, 40)
    assert what == "nearest object first"
    assert found == pytest.approx(22.8, abs=2.0)
    assert moving.value_of(blue, 9.0) == pytest.approx(13.0)


def test_an_agent_that_takes_what_it_must_avoid_misses_the_bar(monkeypatch):
    skills = ta.load("boxman-random")
    wrong = {task: skills["blue"] for task in map(skills.env.find_task, moving.TASKS)}
    monkeypatch.setattr(ta, "load", lambda name: Other(skills.env, wrong))
    monkeypatch.setattr(moving, "SKILLS", {moving.BY_PICK_UP: "other"})
    rows = {row.task: row for row in moving.learned(True)}
    assert MOVING.reaches(rows["blue"])
    assert rows["blue ^ square"].success < 1.0 and not MOVING.reaches(rows["blue ^ square"])


class Other:
    """Agents that are not those of their tasks."""

    def __init__(self, env, agents):
        self.env, self.agents = env, agents

    def __getitem__(self, task):
        """The agent of some other task."""
        return self.agents[task]


@pytest.mark.parametrize(
    ("name", "seed"),
    [("GoToSeqS5R2", 2), ("OpenDoorsOrderN2", 2), ("PickupDist", 1), ("PickupDist", 2)],
)
def test_the_fewest_steps_of_a_level_are_those_of_a_search_in_copies(name, seed):
    """Copies of the whole level, which share nothing and are put back nowhere."""
    name = f"BabyAI-{name}-v0"
    env = gym.make(name, disable_env_checker=True).unwrapped
    env.reset(seed=seed)
    env.gen_obs = dict
    layer, seen = [env], set()
    for n in range(1, 10):
        after = []
        for one in layer:
            for action in ACTIONS:
                copy = deepcopy(one)
                _, reward, ended, _, _ = copy.step(action)
                if ended:
                    assert reward > 0
                    assert babyai.fewest_steps(name, seed, ACTIONS) == n
                    return
                key = (tuple(map(int, copy.agent_pos)), int(copy.agent_dir), str(copy))
                if key not in seen:
                    seen.add(key)
                    after.append(copy)
        layer = after
    raise AssertionError("it takes longer")


def test_a_level_is_put_back_with_what_its_instruction_keeps_in_mind():
    env = gym.make("BabyAI-OpenTwoDoors-v0", disable_env_checker=True)
    env.reset(seed=1)
    level = babyai.Level(env.unwrapped, ACTIONS)
    rng = np.random.default_rng(0)
    states = [level.save(None)]
    for _ in range(300):  # a walk, in which some states are left and entered again
        states.append(list(level.after(states[-1]))[rng.integers(len(ACTIONS))])
    assert len({state.marks for state in states}) > 1  # the first door was opened
    for state in states:
        level.restore(state)
        assert level.save(state.well) == state


def test_levels_that_do_not_pay_are_counted(monkeypatch):
    """An agent for another formula is not paid; a level that is too large is refused."""
    name = "BabyAI-OpenTwoDoors-v0"
    read = instructions.read

    def other(name, seed):
        task = read(name, seed)
        return replace(task, formula=ta.parse("F 'opened green door'"))

    assert babyai.obeyed(name, 1, 900) == (13.0, 13)
    with pytest.raises(ValueError, match="more than 50 states"):
        babyai.obeyed(name, 1, 50)
    monkeypatch.setattr(babyai, "LIMIT", 50)
    assert [(row.episodes, row.refused) for row in babyai.planned(True)] == [(0, 1), (0, 1)]
    monkeypatch.setattr(instructions, "read", other)
    taken, fewest = babyai.obeyed(name, 1, 900)
    assert taken == math.inf and fewest == 13


def test_strict_instructions_are_refused_and_keys_are_picked_up():
    with pytest.raises(ValueError, match="is strict"):
        instructions.read("BabyAI-OpenDoorDebug-v0", 0)
    locked = instructions.read("BabyAI-UnlockLocal-v0", 0)
    assert "pick up" in locked.world.space.world.action_names
