"""Open worlds: tasks without states, and agents that are known by what they do.

The open world of these tests is a grid behind a curtain: observations are one-hot vectors, and
only the tests, not the library, know the table behind them.  So the optimum is known exactly.
"""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import taskalgebra as ta
from laws import broken_laws
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.formulas import all_functions
from taskalgebra.planning.exact import optimal_v, q_bar_star
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.base_tasks import expression_of, minimal_base_tasks, n_expressible
from taskalgebra.theory.family import Family
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.policy import GreedyPolicy
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.theory.values import Composed, ExtendedQ, GoalSetQ, ValueBounds
from taskalgebra.worlds.grid import from_text
from taskalgebra.worlds.open_world import CONTINUOUS, OpenWorld

GRID = from_text("A..#B\n.....\nC.#.D", step_reward=-0.125)
OPEN = OpenWorld(GRID.goal_names, GRID.action_names)
HIDDEN, SPACE = TaskSpace(GRID, r_empty=-0.125), TaskSpace(OPEN, r_empty=-0.125)
LABELS = {"top": [1, 1, 0, 0], "left": [1, 0, 1, 0]}
EXPRESSIONS = [str(e) for e in all_functions(list(LABELS))]


class Curtain(gym.Env):
    """A grid whose states are seen as one-hot vectors of float32."""

    def __init__(self, task):
        self.world = FiniteEnv(HIDDEN, task=HIDDEN.from_rewards(task.goal_reward))
        self.observation_space = gym.spaces.Box(0, 1, (GRID.n_states,), np.float32)
        self.action_space = self.world.action_space
        self.best = optimal_v(self.world.task)

    def reset(self, *, seed=None, options=None):
        state, info = self.world.reset(seed=seed)
        return self.seen(state), {**info, "optimal_return": float(self.best[state])}

    def step(self, action):
        state, *rest = self.world.step(action)
        return self.seen(state), *rest

    def seen(self, state):
        return np.eye(GRID.n_states, dtype=np.float32)[state]


class Curtains(GoalEnv):
    """What agents are evaluated in; it remembers the environments it made."""

    space, tasks = SPACE, SPACE.from_labels(LABELS)

    def __init__(self, mode=AutoresetMode.NEXT_STEP):
        self.mode, self.made = mode, []

    def vector(self, num_envs, *, task, max_episode_steps=None):
        env = SyncVectorEnv([lambda: Curtain(task)] * num_envs, autoreset_mode=self.mode)
        self.made.append(env)
        return env


class Lookup(ExtendedQ):
    """A leaf that maps one-hot vectors back to rows of a table, as a perfect network would."""

    def __init__(self, table, bounds):
        self.table, self.bounds = table, bounds

    def q_bar(self, observations):
        assert observations.dtype == np.float32
        assert observations.shape[1:] == (GRID.n_states,)
        return self.table[observations.argmax(axis=-1)]


class LookupBounds(ValueBounds):
    """Q̄_U and Q̄_∅ of one-hot vectors."""

    observation_ndim = 1

    def __init__(self, tables):
        self.space, self.tables = SPACE, tables

    def at(self, observations):
        rows = observations.argmax(axis=-1)
        return Bounds(self.tables.universal[rows], self.tables.empty[rows])


class Known(Family):
    """Values that no store knows how to keep."""

    FORMAT = "a format of one's own"

    def pack(self):
        return {}, {}


def perfect_skills(env=None):
    """Skills of the open world whose leaves hold the exact values of the grid behind it."""
    tasks = SPACE.from_labels(LABELS)
    exact = q_bar_star(HIDDEN, list(HIDDEN.from_labels(LABELS).values()))
    bounds = LookupBounds(exact.bounds.tables)
    values = tuple(Lookup(q.table, bounds) for q in exact.values)
    return Skills(Known(SPACE, tasks, values, bounds, exact.r_bar_min, None), env)


# The world


def test_an_open_world_is_its_names():
    world = OpenWorld(("square", "circle"), ("up", "down", "stay"))
    assert (world.n_goals, world.n_actions) == (2, 3)
    assert repr(world) == "<open world: 2 goals, 3 actions>"
    assert repr(OpenWorld(["home"], ["wait"])) == "<open world: 1 goal, 1 action>"
    assert repr(OpenWorld(["home"], CONTINUOUS)) == "<open world: 1 goal, continuous actions>"
    assert world == OpenWorld(["square", "circle"], ["up", "down", "stay"])
    assert hash(world) == hash(OpenWorld(["square", "circle"], ["up", "down", "stay"]))
    assert world != OpenWorld(("circle", "square"), ("up", "down", "stay"))
    assert [world.goal_index(goal) for goal in ("circle", 1, np.int64(0))] == [1, 1, 0]
    assert ta.OpenWorld is OpenWorld


@pytest.mark.parametrize("goal", ["C ", "E", -1, 4, 1.5, True, np.True_], ids=repr)
def test_a_goal_that_does_not_exist_is_refused_as_in_a_finite_world(goal):
    with pytest.raises(ValueError) as finite:
        GRID.goal_index(goal)
    with pytest.raises(ValueError) as open_:
        OPEN.goal_index(goal)
    assert str(open_.value) == str(finite.value)


@pytest.mark.parametrize(
    ("names", "kind", "words"),
    [
        ((("a", "a"), ("up",)), ValueError, "two goals are named 'a'"),
        ((("a",), ("up", "up")), ValueError, "two actions are named 'up'"),
        ((("a", ""), ("up",)), ValueError, "a goal name must be a non-empty string, got ''"),
        ((("a",), (3,)), ValueError, "an? action name must be a non-empty string, got 3"),
        (((), ("up",)), ValueError, "goal_names is empty; .*at least one goal"),
        ((("a",), ()), ValueError, "action_names is empty; .*at least one action"),
        (("abc", ("up",)), TypeError, "goal_names must be a tuple of names, got 'abc'"),
        ((("a",), 4), TypeError, "action_names must be a tuple of names, got 4"),
    ],
)
def test_bad_names_are_refused_in_words(names, kind, words):
    with pytest.raises(kind, match=words):
        OpenWorld(*names)


# Tasks


def test_a_space_of_an_open_world_has_goals_actions_and_the_rewards_of_the_paper():
    space = TaskSpace(OPEN)
    assert space.world is OPEN
    assert (space.n_goals, space.n_actions) == (4, 5)
    assert (space.goal_names, space.action_names) == (OPEN.goal_names, OPEN.action_names)
    assert space.r_universal.tolist() == [2.0] * 4
    assert space.r_empty.tolist() == [-0.1] * 4
    assert repr(space) == "TaskSpace(<open world: 4 goals, 5 actions>, r_U = 2, r_∅ = -0.1)"
    assert space.goals[1] == (1, "B", None, None)


def test_a_space_of_a_finite_world_has_the_same_and_its_table():
    assert HIDDEN.world is HIDDEN.mdp is GRID
    assert (HIDDEN.n_goals, HIDDEN.n_actions, HIDDEN.goal_names) == (4, 5, ("A", "B", "C", "D"))


def test_tasks_of_an_open_world_are_made_in_every_way():
    wanted = SPACE.task(["A", 1])
    assert wanted == SPACE.task(lambda goal: goal.name in "AB" and goal.cell is None)
    assert wanted == SPACE.from_desired([1, 1, 0, 0])
    assert wanted == SPACE.from_rewards([2.0, 2.0, -0.125, -0.125])
    assert wanted == SPACE.from_labels(LABELS)["top"]
    assert wanted != SPACE.from_labels(LABELS)["left"]
    assert hash(wanted) == hash(SPACE.task(["B", "A"]))
    assert repr(wanted) == "Task{A, B}"
    assert repr(SPACE.from_rewards([2.0, 1.0, 0.0, 0.0])) == "Task{A: 2, B: 1, C: 0, D: 0}"


def test_all_boolean_laws_hold_for_tasks_of_an_open_world():
    space = TaskSpace(OpenWorld(("a", "b", "c"), ("go",)))
    tasks = list(space.two_valued_tasks())
    assert len(set(tasks)) == 8
    for a in tasks:
        for b in tasks:
            for c in tasks:
                assert not broken_laws(a, b, c, space.empty, space.universal)


def test_operators_on_tasks_are_those_of_the_finite_world():
    for one in HIDDEN.two_valued_tasks():
        for two in HIDDEN.two_valued_tasks():
            x, y = (SPACE.from_rewards(task.goal_reward) for task in (one, two))
            for ours, theirs in ((x & y, one & two), (x | y, one | two), (x ^ y, one ^ two)):
                assert np.array_equal(ours.goal_reward, theirs.goal_reward)
            assert np.array_equal((~x).goal_reward, (~one).goal_reward)


def test_every_task_has_an_expression_over_a_smallest_base():
    base = minimal_base_tasks(SPACE)
    assert (len(base), n_expressible(base)) == (2, 16)
    for task in SPACE.two_valued_tasks():
        found = expression_of(task, base)
        assert found.evaluate(base, universal=SPACE.universal, empty=SPACE.empty) == task
    with pytest.raises(ValueError, match=r"desires goal 'A' but not 'B'.*tells them apart"):
        expression_of(SPACE.task("A"), {"top": SPACE.from_labels(LABELS)["top"]})


REFUSED = {
    "an unknown goal": (lambda: SPACE.task("E"), ValueError, "unknown goal 'E'; .* A, B, C, D"),
    "no goal": (lambda: SPACE.task([]), ValueError, "selects no goal.*space.empty"),
    "rewards of actions": (
        lambda: SPACE.from_rewards(np.eye(4, 5)),
        ValueError,
        "goal 'A' pays 1 for up, 0 for right",
    ),
    "a reward out of bounds": (lambda: SPACE.from_rewards([3.0] * 4), ValueError, "goal 'A' pays"),
    "rewards the wrong way round": (
        lambda: TaskSpace(OPEN, r_universal=-1),
        ValueError,
        "for goal 'A'; a desired goal must pay more",
    ),
    "a task of its own": (lambda: SPACE.original, ValueError, "no task of its own"),
    "step rewards": (
        lambda: SPACE.from_rewards([2.0] * 4, np.zeros((3, 5))),
        TypeError,
        "an open world has no list of states; give goal_reward alone",
    ),
    "the table": (lambda: SPACE.mdp, TypeError, "open world, known only by playing it; planning"),
    "steps of a task": (lambda: SPACE.universal.steps, TypeError, "open world"),
    "the smallest reward": (lambda: SPACE.r_min, TypeError, "open world"),
    "a check": (lambda: SPACE.check(), TypeError, "open world"),
    "a plan": (lambda: ta.plan(SPACE, [SPACE.task("A")]), TypeError, "open world"),
    "an optimum": (lambda: ta.optimal_v(SPACE.task("A")), TypeError, "open world"),
    "a solution": (lambda: ta.solve(SPACE, {"a": ["A"]}), TypeError, "open world"),
    "a solution of the bare world": (
        lambda: ta.solve(OPEN, {"a": "A"}),
        TypeError,
        "cannot solve <open world",
    ),
    "a solution of the environment": (lambda: ta.solve(Curtains()), TypeError, "use learn"),
    "tabular learning": (lambda: ta.learn(SPACE, {"a": ["A"]}), TypeError, "open world"),
    "a tabular environment": (lambda: FiniteEnv(SPACE), TypeError, "open world"),
    "a space of names": (lambda: TaskSpace(("A",)), TypeError, "FiniteMDP or an OpenWorld"),
}


@pytest.mark.parametrize(("question", "kind", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_an_open_world_has_not_is_refused_in_words(question, kind, words):
    with pytest.raises(kind, match=words):
        question()


# Agents


SKILLS = perfect_skills(Curtains())


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_composed_agents_reach_the_exact_optimum(text):
    by_expression, by_goals = SKILLS[text], SKILLS.by_goal_set(text)
    assert by_goals.task == by_expression.task == SKILLS[by_expression.task].task
    for agent in (by_expression, by_goals):
        result = agent.evaluate(episodes=60, seed=3)
        assert result.success_rate == agent.task.wanted.any()
        assert result.unfinished == 0
        assert result.mean_return == result.optimal_return  # sums of eighths are exact
        assert result.score == 1.0


def test_values_are_composed_when_asked_and_those_of_the_task_itself():
    exact = q_bar_star(HIDDEN, list(HIDDEN.two_valued_tasks()))
    seen = np.eye(GRID.n_states, dtype=np.float32)
    wanted = [tuple(task.desired) for task in HIDDEN.two_valued_tasks()]
    by_goals = dict(zip(wanted, exact.values, strict=True))
    for text in EXPRESSIONS:
        agent = SKILLS[text]
        assert isinstance(agent.values, Composed | Lookup | GoalSetQ)
        table = by_goals[tuple(agent.task.desired)].table
        assert np.array_equal(agent.q_bar(seen), table)
        assert np.array_equal(SKILLS.by_goal_set(text).q_bar(seen), table)


def test_agents_compose_with_operators():
    top, left = SKILLS["top"], SKILLS["left"]
    agent = (top ^ left) | ~top
    asked = SKILLS["(top ^ left) | ~top"]
    assert agent.task == asked.task
    assert agent.evaluate(100).score == asked.evaluate(100).score == 1.0


def test_an_agent_acts_on_one_observation_as_on_many():
    agent = SKILLS["top & ~left"]
    seen = np.eye(GRID.n_states, dtype=np.float32)
    actions = agent.policy.actions(seen)
    assert [agent.act(one) for one in seen] == actions.tolist()
    planned = ta.solve(HIDDEN, HIDDEN.from_labels(LABELS))["top & ~left"]
    assert np.array_equal(actions, planned.actions)


def test_a_policy_acts_on_images_and_takes_the_first_of_tied_actions():
    class Screens(ValueBounds):
        """Bounds that are not asked for."""

        observation_ndim = 3
        space = HIDDEN

        def at(self, observations):
            raise NotImplementedError

    class Bright(ExtendedQ):
        """Two goals, three actions; the brightness of the image decides between the last two."""

        bounds = Screens()

        def q_bar(self, observations):
            assert observations.dtype == np.uint8
            assert observations.shape[1:] == (84, 84, 3)
            light = observations.mean(axis=(1, 2, 3)) / 255
            low = np.full_like(light, -1.0)
            return np.stack(
                [np.stack([low, light, low], -1), np.stack([low, low, 1 - light], -1)], axis=1
            )

    policy = GreedyPolicy(Bright())
    images = np.stack([np.full((84, 84, 3), c, np.uint8) for c in (0, 255)])
    assert policy.actions(images).tolist() == [2, 1]
    assert [policy.act(image) for image in images] == [2, 1]
    half = np.zeros((84, 84, 3), np.uint8)
    half[:42] = 255
    assert policy.act(half) == 1


def test_an_evaluation_is_repeatable_and_seeds_differ():
    agent = SKILLS["top ^ left"]
    assert agent.evaluate(50, seed=1) == agent.evaluate(50, seed=1)
    assert agent.evaluate(50, seed=1) != agent.evaluate(50, seed=2)


def test_an_evaluation_uses_at_most_256_copies_and_closes_them():
    world = Curtains()
    agent = perfect_skills(world)["top"]
    assert agent.evaluate(7).episodes == 7
    assert agent.evaluate(300).episodes == 300
    assert [env.num_envs for env in world.made] == [7, 256]
    assert all(env.closed for env in world.made)


def test_episodes_are_cut_off_at_the_limit_of_the_caller_the_world_or_the_library():
    far = SKILLS.space.task(["A"])

    class Wanderer(ExtendedQ):
        """Always up: no goal is ever taken."""

        bounds = SKILLS.family.bounds

        def q_bar(self, observations):
            return np.tile(np.eye(5)[0], (len(observations), 4, 1))

    world = Curtains()
    agent = ta.Agent(perfect_skills(world), SKILLS["top"].expression, far, Wanderer())
    given = agent.evaluate(10, max_steps=3)
    assert (given.unfinished, given.mean_steps, given.mean_return) == (10, 3.0, -0.375)
    assert agent.evaluate(10).mean_steps == 1000.0
    world.max_episode_steps = 7
    assert agent.evaluate(10).mean_steps == 7.0
    assert agent.evaluate(10).n_success == 0


def test_agents_of_an_open_world_say_what_to_use_instead_of_states():
    agent = SKILLS["top"]
    asked = {
        "actions": lambda: agent.actions,
        "v": lambda: agent.v,
        r"picture\(\)": agent.picture,
        r"show\(\)": agent.show,
    }
    for name, question in asked.items():
        with pytest.raises(TypeError, match=rf"agent\.{name} needs.*agent\.act\(observation\)"):
            question()


def test_without_a_world_nothing_is_played():
    agent = perfect_skills()["top"]
    assert agent.act(np.eye(GRID.n_states, dtype=np.float32)[0]) in range(5)
    with pytest.raises(ValueError, match=r"no environment to play in; give one: load\(path, env="):
        agent.evaluate()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"episodes": 0}, "episodes is 0"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_numbers_are_refused_in_words(options, words):
    with pytest.raises(ValueError, match=words):
        SKILLS["top"].evaluate(**options)


def test_skills_of_an_open_world_are_a_mapping_and_unknown_families_are_not_saved(tmp_path):
    assert repr(SKILLS) == "Skills(top, left) of <open world: 4 goals, 5 actions>"
    assert SKILLS.n_expressible == 16
    assert list(SKILLS) == ["top", "left"]
    with pytest.raises(ta.StoreError, match=r"cannot save a Known: it has no known format"):
        SKILLS.save(tmp_path / "skills")
    assert not (tmp_path / "skills").exists()
