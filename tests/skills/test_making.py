"""How skills come to be: which environment is meant, who learns it, and what is refused."""

import json
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

import taskalgebra as ta
from deep_worlds import corridor_world, short_learner
from taskalgebra.envs.boxman.recipes import FAST
from taskalgebra.folder import digest_of
from taskalgebra.learning.learner import Learner
from taskalgebra.progress import Event, Meter
from taskalgebra.skills.making import default_learner, environment
from taskalgebra.theory.family import ReachFamily, TableFamily
from taskalgebra.theory.reach import Reach

FOUR_ROOMS = "taskalgebra.envs:TaskAlgebra/FourRooms-v0"

# Which environment is meant


def test_what_gymnasium_wraps_is_unwrapped():
    env = gym.make(FOUR_ROOMS)
    assert not isinstance(env, ta.FourRooms)
    skills = ta.solve(env)
    assert skills.env is env.unwrapped
    assert list(skills) == ["top", "left"]
    plain = ta.solve(ta.FourRooms())
    for text in ("top", "top ^ left"):
        assert np.array_equal(skills[text].actions, plain[text].actions)


def test_arguments_of_gymnasium_reach_the_world():
    skills = ta.solve(gym.make(FOUR_ROOMS, n_goals=40, step_reward=-0.125))
    assert skills.space.n_goals == 40
    assert skills.space.mdp.step_reward[0, 0] == -0.125


def test_what_gymnasium_wraps_is_learned_and_loaded_into(tmp_path):
    env = gym.make(FOUR_ROOMS)
    skills = ta.learn(env, ["top"], learner=ta.FewSteps())
    assert skills.env is env.unwrapped
    skills.save(tmp_path / "skills")
    again = gym.make(FOUR_ROOMS)
    assert ta.load(tmp_path / "skills", again).env is again.unwrapped


def test_finite_worlds_are_played_in_an_environment_of_their_own():
    mdp = ta.from_text("A.B")
    for world in (mdp, ta.TaskSpace(mdp)):
        skills = ta.solve(world, {"a": ["A"]})
        assert isinstance(skills.env, ta.FiniteEnv)
        assert skills.env.space is skills.space
        assert skills["~a"].evaluate(5).success_rate == 1.0
    space = ta.TaskSpace(mdp)
    assert environment(space, "solve").space is space


def test_the_environment_of_saved_skills_is_made_again(tmp_path):
    world = ta.FourRooms(goals={"here": (1, 1), "there": (11, 11)}, slip_probability=0.25)
    ta.solve(world).save(tmp_path / "skills")
    loaded = ta.load(tmp_path / "skills")
    assert isinstance(loaded.env, ta.FourRooms)
    assert loaded.env.space is loaded.space
    assert loaded.env.spec.kwargs == world.spec.kwargs
    assert loaded["x1"].evaluate(50) == ta.solve(world)["x1"].evaluate(50)
    bare = ta.solve(ta.from_text("A.B"), {"a": ["A"]})
    bare.save(tmp_path / "bare")
    assert ta.load(tmp_path / "bare").env is None
    assert ta.load(tmp_path / "bare")["a"].evaluate(5).success_rate == 1.0


def test_skills_of_another_world_are_refused(tmp_path):
    ta.solve(ta.FourRooms()).save(tmp_path / "skills")
    for other, words in (
        (ta.FourRooms(40), "to a world with the goals"),
        (ta.FourRooms(step_reward=-0.2, r_empty=-0.1), "other transitions or rewards"),
        (ta.FourRooms(r_universal=3.0), "other rewards"),
    ):
        with pytest.raises(ta.StoreError, match=words):
            ta.load(tmp_path / "skills", other)


class Waiting(Reach):
    """Every goal is here."""

    def returns(self, observations):
        return np.zeros((len(observations), 4, 5))


REFUSED = {
    "an environment without goals": (
        lambda: ta.learn(gym.make("CartPole-v1")),
        TypeError,
        r"cannot learn <.*CartPoleEnv.*>: it names no goals; name them .* OpenEnv\(lambda n: .*"
        r'info\["goal"\].*from_gymnasium',
    ),
    "such an environment to solve": (
        lambda: ta.solve(gym.make("FrozenLake-v1")),
        TypeError,
        r"cannot solve .*OpenEnv.*take its table with from_gymnasium",
    ),
    "a world in words": (lambda: ta.learn("four-rooms"), TypeError, "cannot learn 'four-rooms'"),
    "a class": (lambda: ta.solve(ta.FourRooms), TypeError, "expected an environment such as"),
    "an open world to plan": (lambda: ta.solve(ta.Boxman()), TypeError, "open world.*use learn"),
    "an open space": (
        lambda: ta.learn(ta.Boxman().space, {"a": [0]}),
        TypeError,
        r"open world, known only by playing it; give the environment itself, such as OpenEnv",
    ),
    "tasks that end apart, to plan": (
        lambda: ta.solve(ta.FourRooms(shared_absorbing=False)),
        ValueError,
        r"shared_absorbing=False\), which breaks Assumption 1; solve plans one world",
    ),
    "tasks that end apart, to learn": (
        lambda: ta.learn(ta.FourRooms(shared_absorbing=False)),
        ValueError,
        r"shared_absorbing=False\), which breaks Assumption 1: goals that a task does not desire",
    ),
    "tasks that end apart, in few steps": (
        lambda: ta.learn(ta.FourRooms(shared_absorbing=False), learner=ta.FewSteps()),
        ValueError,
        r"shared_absorbing=False",
    ),
    "networks of what is seen as a number": (
        lambda: ta.learn(ta.FourRooms(), learner=short_learner()),
        ValueError,
        r"observations are Discrete\(108\), numbers of states: learn tables, learner=QLearning\(\)",
    ),
    "few steps in an open world": (
        lambda: ta.learn(corridor_world(), learner=ta.FewSteps()),
        ValueError,
        "open world.*QLearning if observations are numbered, else with DeepQ",
    ),
    "a class of learners": (
        lambda: ta.learn(ta.FourRooms(), learner=5),
        TypeError,
        r"learner must be an object with a method learn.* got 5",
    ),
    "a task of another space": (
        lambda: ta.from_reach(
            Waiting(), ta.FourRooms(), {"top": ta.FourRooms(r_universal=3.0).tasks["top"]}
        ),
        ValueError,
        "task 'top' belongs to another space",
    ),
    "a seed": (lambda: ta.learn(ta.FourRooms(), seed=1.5), ValueError, "seed is 1.5"),
}


@pytest.mark.parametrize(("ask", "kind", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_it_is_refused_in_words(ask, kind, words):
    with pytest.raises(kind, match=words):
        ask()


# Dense rewards


EXPRESSIONS = ("top", "left", "top ^ left", "~top", "top & ~left", "true", "false")


def test_the_task_of_a_dense_expression_is_the_dense_task_of_its_goals(tmp_path):
    env = ta.FourRooms(dense=True)
    skills = ta.solve(env)
    skills.save(tmp_path / "skills")
    loaded = ta.load(tmp_path / "skills")
    for text in EXPRESSIONS:
        assert skills[text].task == env.find_task(text), text
        assert loaded[text].task == loaded.env.find_task(text), text
        assert np.array_equal(loaded[text].task.steps, skills[text].task.steps), text
        assert np.array_equal(loaded[text].actions, skills[text].actions), text
        assert loaded[text].evaluate(30, seed=1) == skills[text].evaluate(30, seed=1), text
    plain = skills["top"].task & ~skills["left"].task
    assert skills["top & ~left"].task != plain  # not the minimum of dense rewards


def test_operators_on_agents_of_dense_tasks_are_those_of_expressions():
    skills = ta.solve(ta.FourRooms(dense=True))
    built, asked = skills["top"] ^ skills["left"], skills["top ^ left"]
    assert np.array_equal(built.actions, asked.actions)
    assert built.task == asked.task


# Who learns


def test_the_learner_is_the_environments_own_or_fits_what_is_seen():
    assert ta.Boxman().learner is FAST
    assert isinstance(default_learner(ta.FourRooms()), ta.QLearning)
    assert isinstance(default_learner(corridor_world()), ta.DeepQ)
    for learner in (ta.QLearning(), ta.FewSteps(), ta.DeepQ()):
        assert isinstance(learner, Learner)


def test_a_discrete_environment_is_learned_as_tables():
    class Coin(gym.Env):
        observation_space, action_space = gym.spaces.Discrete(2), gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return 0, {}

        def step(self, action):
            return 1, -0.1, True, False, {"goal": int(action)}

    world = ta.OpenEnv(lambda n: SyncVectorEnv([Coin] * n), ["heads", "tails"], {"h": ["heads"]})
    assert isinstance(default_learner(world), ta.QLearning)
    skills = ta.learn(world, learner=ta.QLearning(steps=200))
    assert isinstance(skills.family, TableFamily)
    assert [skills[text].act(0) for text in ("h", "~h")] == [0, 1]


class Planner:
    """A learner of one's own: it has read the map."""

    def __init__(self):
        self.asked = []

    def learn(self, env, tasks, *, seed, folder, listener):
        self.asked.append((env, list(tasks), seed, folder))
        listener(Event("all", 1.0))
        found = ta.plan(env.space, tasks)
        tables = [found.bounds.tables.universal, found.bounds.tables.empty]
        tables += [values.table for values in found.values]
        return TableFamily.of(env.space, tasks, tables, r_bar_min=None, error_bound=None)


def test_a_learner_of_ones_own_is_asked_and_its_skills_are_saved(tmp_path):
    env, learner, told = ta.FourRooms(), Planner(), []
    skills = ta.learn(
        env,
        ["left", "top"],
        learner=learner,
        seed=7,
        folder=str(tmp_path / "runs"),
        listener=told.append,
    )
    assert learner.asked == [(env, ["left", "top"], 7, Path(tmp_path / "runs"))]
    assert told == [Event("all", 1.0)]
    assert skills.env is env
    assert skills["top ^ left"].evaluate(50).score == pytest.approx(1.0)
    skills.save(tmp_path / "skills")
    loaded = ta.load(tmp_path / "skills")
    assert loaded.family.r_bar_min is None
    assert np.array_equal(loaded["~top"].actions, skills["~top"].actions)


def test_an_environment_may_choose_its_learner():
    class Easy(ta.FourRooms):
        learner = Planner()

    env = Easy()
    ta.learn(env)
    assert Easy.learner.asked == [(env, ["top", "left"], 0, None)]
    ta.learn(env, ["top"], learner=ta.FewSteps())
    assert len(Easy.learner.asked) == 1


def test_a_learner_that_returns_no_family_is_refused():
    class Forgetful:
        def learn(self, env, tasks, *, seed, folder, listener):
            return None

    with pytest.raises(TypeError, match="returned None, expected a Family of values of top, left"):
        ta.learn(ta.FourRooms(), learner=Forgetful())


def test_the_line_on_the_terminal_is_wiped_away_when_learning_fails(monkeypatch):
    closed, close = [], Meter.close
    monkeypatch.setattr(Meter, "close", lambda self: closed.append(self) or close(self))

    class Failing:
        def learn(self, env, tasks, *, seed, folder, listener):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ta.learn(ta.FourRooms(), learner=Failing())
    assert len(closed) == 1


# Agents that already know the ways


def test_skills_are_made_from_an_agent_of_ones_own():
    env = ta.FourRooms()
    planned = ta.solve(env)

    class Critic(Reach):
        def returns(self, observations):
            return planned["true"].q_bar(observations) - 2.0

    skills = ta.from_reach(Critic(), env)
    assert isinstance(skills.family, ReachFamily) and list(skills) == ["top", "left"]
    for text in EXPRESSIONS:
        assert skills[text].evaluate(50, seed=2) == planned[text].evaluate(50, seed=2)
    wrapped = ta.from_reach(Critic(), gym.make(FOUR_ROOMS), {"corner": ["top_left"]})
    assert wrapped["corner"].evaluate(20).success_rate == 1.0
    with pytest.raises(TypeError, match="cannot act in 5"):
        ta.from_reach(Critic(), 5)


def test_a_subclass_is_not_saved_as_its_parent(tmp_path):
    class Mine(ta.FourRooms):
        def compose(self, expression, tasks):
            return self.space.universal

    skills = ta.solve(Mine())
    skills.save(tmp_path / "mine")
    assert ta.load(tmp_path / "mine").env is None
    assert ta.load(tmp_path / "mine", Mine())["top"].task.desired.all()


@pytest.mark.parametrize("extra", ["render_mode", "task", "max_episode_steps"])
def test_a_manifest_names_no_arguments_that_are_never_saved(tmp_path, extra):
    ta.solve(ta.FourRooms()).save(tmp_path / "rooms")
    path = tmp_path / "rooms" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["world"]["arguments"][extra] = None
    path.write_text(json.dumps({**manifest, "digest": digest_of(manifest)}))
    with pytest.raises(ta.StoreError, match="arguments that are never saved"):
        ta.load(tmp_path / "rooms")


def test_a_reach_needs_tasks_that_share_their_ways():
    class Nowhere(ta.Reach):
        def returns(self, observations):
            return np.zeros((len(observations), 4, 5))

    with pytest.raises(ValueError, match="is dense"):
        ta.from_reach(Nowhere(), ta.FourRooms(dense=True))
    with pytest.raises(ValueError, match="breaks Assumption 1"):
        ta.from_reach(Nowhere(), ta.FourRooms(shared_absorbing=False))


def test_a_learner_that_mixes_up_the_tasks_is_refused():
    class Mixed:
        def learn(self, env, tasks, *, seed, folder, listener):
            first, second = tasks
            return ta.plan(env.space, {first: tasks[second], second: tasks[first]})

    with pytest.raises(TypeError, match="expected a Family of values of top, left"):
        ta.learn(ta.FourRooms(), learner=Mixed())


def test_tables_of_a_learner_are_checked():
    space, tasks = ta.FourRooms().space, ta.FourRooms().tasks
    table = np.zeros((space.mdp.n_states, 4, 5))
    for tables, words in (
        ([table, table], "2 tables for 2 tasks, expected 4: those of M_U and M_∅ first"),
        ([table[1:]] * 4, "a table has shape"),
        ([table * np.nan] * 4, "holds NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            ta.TableFamily.of(space, tasks, tables, r_bar_min=-1.0, error_bound=None)


def test_a_run_that_learned_longer_than_asked_is_refused(tmp_path):
    ta.learn(ta.FourRooms(), learner=ta.QLearning(steps=60_000), folder=tmp_path)
    with pytest.raises(ValueError, match="60,000 steps, more than the 77 asked for"):
        ta.learn(ta.FourRooms(), learner=ta.QLearning(steps=77), folder=tmp_path)


@pytest.mark.parametrize(
    "learn", [lambda self, env, tasks: None, lambda self: None, lambda self, e, t, seed: None]
)
def test_a_learner_with_another_signature_is_refused_in_words(learn):
    odd = type("Odd", (), {"learn": learn})()
    with pytest.raises(TypeError, match=r"Odd.learn must take \(env, tasks, \*, seed, folder, lis"):
        ta.learn(ta.FourRooms(), learner=odd)


@pytest.mark.parametrize("action", [-1, 99])
def test_actions_that_a_reach_makes_up_are_refused(action):
    class Lost(ta.DirectedReach):
        def values(self, observations):
            return np.zeros((len(observations), 4))

        def act(self, observations, goal):
            return np.full(len(observations), action)

    skills = ta.from_reach(Lost(), ta.FourRooms())
    with pytest.raises(ValueError, match=f"action {action} does not exist; actions are up, right"):
        skills["top"].act(3)


@pytest.mark.parametrize("name", ["true", "False"])
def test_a_base_task_whose_name_means_another_is_refused(name):
    """`skills["true"]` is the universal task, whatever base task is called so."""
    row = ta.from_text("A.B")
    for make in (ta.solve, ta.learn):
        with pytest.raises(ValueError, match=f"cannot be named '{name}': .* give it another name"):
            make(row, {name: ["A"]})
    space = ta.TaskSpace(row)
    named = ta.FiniteEnv(space, {name: space.task(["A"])})
    for tasks in (None, [name]):
        with pytest.raises(ValueError, match=f"cannot be named '{name}'"):
            ta.solve(named, tasks)


@pytest.mark.parametrize("name", ["not", "and", "a & b", "~", "U", "1", "true north"])
def test_any_other_name_is_taken_and_is_written_in_quotes(name):
    skills = ta.solve(ta.from_text("A.B"), {name: ["A"], "other": ["B"]})
    assert skills[f"'{name}' & ~other"].task == skills.family.space.task(["A"])
