"""Tables as a learner: in finite worlds, by playing others, and what is kept on disk."""

from functools import cache

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import taskalgebra as ta
from row_worlds import EXACT, GOALS, TASKS, Row, SlipperyRow, planned, row_world
from taskalgebra.learning import q_learning, tabular
from taskalgebra.learning.checkpoint import CheckpointError
from taskalgebra.learning.q_learning import Settings
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.worlds.open_world import OpenWorld

# A world that is known only by playing it


@pytest.mark.parametrize("seed", [0, 1])
def test_a_discrete_environment_without_a_table_is_learned_exactly_by_playing(seed):
    skills = ta.learn(row_world(), learner=EXACT, seed=seed)
    optimum = planned(skills.family.r_bar_min)
    for text in ("edge", "early", "true", "false", "edge ^ early", "~(edge | early)"):
        assert np.array_equal(skills[text].values.table, optimum[text].values.table), text
    assert skills["edge & ~early"].evaluate(100).success_rate == 1.0
    assert skills.family.error_bound is None


def test_by_default_it_is_tables_which_are_exact_where_nothing_is_random():
    skills = ta.learn(row_world())  # 24,000 steps a table
    optimum = planned(skills.family.r_bar_min)
    assert np.array_equal(skills["edge"].values.table, optimum["edge"].values.table)


def test_the_penalty_is_that_of_definition_2_with_the_limit_for_the_diameter():
    world = row_world(max_episode_steps=30)
    skills = ta.learn(world, learner=ta.QLearning(steps=1_000))
    assert skills.family.r_bar_min == (-0.125 - 2.0) * 31
    given = ta.learn(world, learner=ta.QLearning(steps=1_000, r_bar_min=-5.0))
    assert given.family.r_bar_min == -5.0


def test_where_outcomes_differ_the_penalty_is_the_mildest():
    """As in the tables of stochastic worlds: else agents go nowhere for fear of accidents."""
    world = row_world(SlipperyRow)
    skills = ta.learn(world, learner=ta.QLearning(steps=4_000))
    assert skills.family.r_bar_min == -0.125
    (said,) = (f for f in skills["edge"].certificate(episodes=2).findings if "mild" in f.name)
    assert (said.holds, said.detail) == (True, "r̄_MIN = -0.125 = r_∅, the mildest")
    given = ta.learn(world, learner=ta.QLearning(steps=4_000, r_bar_min=-5.0))
    (said,) = (f for f in given["edge"].certificate(episodes=2).findings if "mild" in f.name)
    assert not said.examined and "learner=QLearning(r_bar_min=-0.125)" in said.detail


@pytest.mark.parametrize("mode", AutoresetMode)
def test_it_does_not_matter_how_the_copies_reset_themselves(mode):
    """Nor that a limit cuts most episodes off."""
    bare = ta.TaskSpace(OpenWorld(GOALS, ("left", "right", "take")), r_empty=-0.125)

    class Bare(GoalEnv):
        """Copies as Gymnasium makes them: no goal in the infos before some episode ends."""

        space, tasks = bare, {name: bare.task(goals) for name, goals in TASKS.items()}
        observation_space, action_space = Row.observation_space, Row.action_space
        max_episode_steps = 4

        def vector(self, num_envs, *, task, max_episode_steps=None):
            class Paid(Row):
                def step(self, action):
                    state, reward, terminated, truncated, info = super().step(action)
                    if terminated:
                        reward = float(task.goal_reward[info["goal"]])
                    return state, reward, terminated, truncated, info

            def limited():
                limit = max_episode_steps or 4
                return gym.wrappers.TimeLimit(Paid(), limit)

            return SyncVectorEnv([limited] * num_envs, autoreset_mode=mode)

    skills = ta.learn(Bare(), learner=EXACT)
    optimum = planned(skills.family.r_bar_min)
    for text in ("edge", "early", "false"):
        assert np.array_equal(skills[text].values.table, optimum[text].values.table), text


def test_equal_seeds_learn_equal_tables_by_playing():
    learner = ta.QLearning(steps=600)
    one, two, other = (ta.learn(row_world(), learner=learner, seed=s) for s in (3, 3, 4))
    tables = [s["edge"].values.table for s in (one, two, other)]
    assert np.array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])


def test_goals_that_were_never_met_are_named():
    class Short(Row):
        GOALS = (0, 2)

    with pytest.raises(ValueError, match=r"in 600 steps and \d+ episodes these.*: east; ") as error:
        ta.learn(row_world(Short), learner=ta.QLearning(steps=600))
    said = str(error.value)
    assert "learner=QLearning(steps=...)" in said
    assert "leave those in which none can out of the goals" in said


def test_what_has_no_numbers_is_refused():
    class Seen(Row):
        observation_space = gym.spaces.Dict(a=gym.spaces.Discrete(3))

    with pytest.raises(
        ValueError, match=r"tables need observations that are numbers .*Dict.*ta\.wrap"
    ):
        ta.learn(row_world(Seen), learner=ta.QLearning())


# Checkpoints


class Stopped(Exception):
    """Learning was killed."""


def often(monkeypatch):
    """Tell listeners often, and keep a checkpoint each time."""
    monkeypatch.setattr(tabular, "SAVED_EVERY", -1.0)
    monkeypatch.setattr(q_learning, "CHUNK", 30_000)


def stopping(what, n):
    """A listener that stops at its n-th event of a table."""
    count = 0

    def listen(event):
        nonlocal count
        count += event.what == what
        if count == n:
            raise Stopped

    return listen


WORLDS = {
    "tables": (lambda: ta.FourRooms(), ta.QLearning(steps=200_000)),
    "random tables": (lambda: ta.FourRooms(slip_probability=0.1), ta.QLearning(steps=200_000)),
    "by playing": (row_world, ta.QLearning(steps=2_000)),
    "random, by playing": (lambda: row_world(SlipperyRow), ta.QLearning(steps=2_000)),
}
EACH = pytest.mark.parametrize("kind", WORLDS)


@cache
def learned_at_once(kind):
    """Skills that were learned without a stop, and without a checkpoint."""
    make, learner = WORLDS[kind]
    return ta.learn(make(), learner=learner, seed=5)


def tables_of(skills):
    bounds = skills.family.bounds.tables
    return [bounds.universal, bounds.empty, *(q.table for q in skills.family.values)]


@EACH
@pytest.mark.parametrize("what", ["M_U", "last"])
def test_learning_that_is_killed_resumes_to_the_same_bits(kind, what, tmp_path, monkeypatch):
    make, learner = WORLDS[kind]
    world, whole = make(), learned_at_once(kind)
    last = list(world.tasks)[-1]
    often(monkeypatch)
    listener = stopping(last if what == "last" else what, 2)
    with pytest.raises(Stopped):
        ta.learn(world, learner=learner, seed=5, folder=tmp_path, listener=listener)
    kept = {file.name for file in tmp_path.iterdir()}
    assert (f"3 {last}.npz" in kept) == (what == "last")
    if what == "M_U":  # else nearly all would be learned with a checkpoint for every episode
        monkeypatch.undo()
    told = []
    resumed = ta.learn(make(), learner=learner, seed=5, folder=tmp_path, listener=told.append)
    for one, two in zip(tables_of(whole), tables_of(resumed), strict=True):
        assert np.array_equal(one, two)
    if what == "last":
        assert {event.what for event in told} == {last}


@EACH
def test_learning_that_is_interrupted_resumes_to_the_same_bits(kind, tmp_path, monkeypatch):
    """By Ctrl-C, which learners note, rather than by an error."""
    make, learner = WORLDS[kind]
    world, whole = make(), learned_at_once(kind)
    often(monkeypatch)
    n_heard = 0

    def interrupt(event):
        nonlocal n_heard
        n_heard += 1
        if n_heard == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ta.learn(world, learner=learner, seed=5, folder=tmp_path, listener=interrupt)
    monkeypatch.undo()
    resumed = ta.learn(make(), learner=learner, seed=5, folder=tmp_path)
    for one, two in zip(tables_of(whole), tables_of(resumed), strict=True):
        assert np.array_equal(one, two)


def test_what_is_finished_is_not_learned_again_and_may_go_on(tmp_path):
    world, told = ta.FourRooms(), []
    short, long = ta.QLearning(steps=100_000), ta.QLearning(steps=150_000)
    first = ta.learn(world, learner=short, folder=tmp_path / "new")
    again = ta.learn(world, learner=short, folder=tmp_path / "new", listener=told.append)
    assert all(
        np.array_equal(a, b) for a, b in zip(tables_of(first), tables_of(again), strict=True)
    )
    longer = ta.learn(world, learner=long, folder=tmp_path / "new")
    whole = ta.learn(world, learner=long)
    assert all(
        np.array_equal(a, b) for a, b in zip(tables_of(longer), tables_of(whole), strict=True)
    )


OTHERS = {
    "another seed": {"seed": 1},
    "another world": {"world": ta.FourRooms(step_reward=-0.2)},
    "a world that slips": {"world": ta.FourRooms(slip_probability=0.1)},
    "other settings": {"learner": ta.QLearning(steps=9_000, settings=Settings(epsilon=0.5))},
    "another penalty": {"learner": ta.QLearning(steps=9_000, r_bar_min=-9.0)},
    "another task of the name": {"tasks": {"top": ["top_left"]}},
}


@pytest.mark.parametrize("changes", OTHERS.values(), ids=OTHERS.keys())
def test_a_folder_of_something_else_is_refused(changes, tmp_path):
    given = {
        "world": ta.FourRooms(),
        "tasks": ["top"],
        "learner": ta.QLearning(steps=9_000),
        "seed": 0,
    }
    ta.learn(**given, folder=tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(CheckpointError, match="another world or for another task"):
        ta.learn(**{**given, **changes}, folder=tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_folder_of_another_world_is_refused_by_playing(tmp_path):
    class Dearer(Row):
        COST = 0.25

    ta.learn(row_world(), learner=ta.QLearning(steps=600), folder=tmp_path)
    for world, learner in (
        (row_world(Dearer), ta.QLearning(steps=600)),
        (row_world(), ta.QLearning(steps=600, settings=Settings(epsilon=0.25))),
        (row_world(), ta.QLearning(steps=600, r_bar_min=-4.0)),
    ):
        with pytest.raises(CheckpointError, match="another world or for another task"):
            ta.learn(world, learner=learner, folder=tmp_path)


def test_names_of_tasks_may_hold_what_names_of_files_may_not(tmp_path):
    world = ta.FourRooms()
    tasks = {"a/b": ["top_left"], "..": ["top_right"]}
    ta.learn(world, tasks, learner=ta.QLearning(steps=9_000), folder=tmp_path / "t")
    assert len(list((tmp_path / "t").iterdir())) == 4
    assert [file.name for file in tmp_path.iterdir()] == ["t"]
