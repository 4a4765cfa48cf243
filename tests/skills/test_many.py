"""Many tasks at once, and agents of big worlds: the actions and episodes of the plain way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taskalgebra as ta
from maze import maze_world
from strategies import spaces, two_valued, worlds
from taskalgebra.evaluation.exact import rollouts, rollouts_on_the_way
from taskalgebra.logic.formulas import all_functions
from taskalgebra.planning import exact as planning
from taskalgebra.planning.exact import PlannedFamily, optimal_v
from taskalgebra.skills import walks
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.policy import GreedyPolicy
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays

FUNCTIONS = list(all_functions(["one", "two"]))


def planned(space, tasks):
    """Skills that hold returns, however small the world is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "LARGEST_TABLE", 0)
        family = planning.plan(space, tasks)
    assert isinstance(family, PlannedFamily)
    return Skills(family)


def by_definition_4(skills, expression):
    """[S], greedy on Q̄ composed entry by entry."""
    states = np.arange(skills.space.mdp.n_states)
    return GreedyPolicy(skills[expression].values).actions(states)


@given(st.data())
def test_actions_of_all_expressions_are_those_of_composed_values(data):
    one_reward = st.shared(st.sampled_from([-0.125, -0.5]), key="reward")
    space = data.draw(spaces(step_rewards=one_reward) | spaces())
    tasks = {name: data.draw(two_valued(space)) for name in ("one", "two")}
    skills = planned(space, tasks)
    states = np.arange(space.mdp.n_states)
    found = skills.act_many(FUNCTIONS, states)
    for expression, actions in zip(FUNCTIONS, found, strict=True):
        expected = by_definition_4(skills, expression)
        assert actions.tolist() == expected.tolist()
        assert skills[expression].policy.actions(states).tolist() == expected.tolist()
        assert skills.by_goal_set(expression).policy.actions(states).tolist() == expected.tolist()


@given(st.data())
def test_goals_may_pay_different_rewards(data):
    mdp = data.draw(worlds())
    some = st.lists(st.integers(1, 9), min_size=mdp.n_goals, max_size=mdp.n_goals)
    space = TaskSpace(mdp, r_empty=-np.array(data.draw(some)) / 4, r_universal=data.draw(some))
    skills = planned(space, {name: data.draw(two_valued(space)) for name in ("one", "two")})
    states = np.arange(mdp.n_states)
    for expression, actions in zip(FUNCTIONS, skills.act_many(FUNCTIONS, states), strict=True):
        assert actions.tolist() == by_definition_4(skills, expression).tolist()


def test_tasks_that_pay_in_between_are_composed_entry_by_entry():
    space = ta.FourRooms().space
    half = space.from_rewards(space.r_empty + 0.5 * (space.r_universal - space.r_empty))
    skills = planned(space, {"one": half, "two": space.task([0, 1])})
    found = skills.act_many(["one | two", "~two"], np.arange(20))
    for text, actions in zip(["one | two", "~two"], found, strict=True):
        assert actions.tolist() == by_definition_4(skills, text)[:20].tolist()


def test_every_task_may_have_states_of_its_own():
    world = maze_world(31, 31, 40)
    rng = np.random.default_rng(0)
    tasks = {f"b{k}": np.flatnonzero(rng.random(40) < 0.5) for k in range(6)}
    space = TaskSpace(world)
    skills = planned(space, {name: space.task(goals) for name, goals in tasks.items()})
    texts = [f"b{i} {op} b{j}" for i in range(6) for j in range(6) for op in "&|^"]
    states = rng.integers(0, world.n_states, (len(texts), 5))
    found = skills.act_many(texts, states)
    assert found.shape == states.shape and found.dtype == np.int64
    for text, own, actions in zip(texts, states, found, strict=True):
        assert actions.tolist() == skills[text].act(own).tolist()
    same = skills.act_many([texts[7], ta.parse(texts[7]), skills[texts[7]].task], states[7])
    assert (same == found[7]).all()
    assert skills.act_many([], [1, 2]).shape == (0, 2)
    assert skills.act_many(["b0"], []).shape == (1, 0)


def test_tables_and_learned_values_act_for_many_tasks_too():
    world = ta.FourRooms()
    skills = ta.solve(world)
    states = np.arange(world.space.mdp.n_states)
    texts = ["top", "top & left", "left & top", "~top"]
    found = skills.act_many(texts, states)
    for text, actions in zip(texts, found, strict=True):
        assert actions.tolist() == skills[text].actions.tolist()


@pytest.mark.parametrize(
    ("tasks", "states", "error", "words"),
    [
        ("top", [0], TypeError, "expected a list of expressions"),
        (["top"], [[0], [1]], ValueError, r"shape \(2, 1\)"),
        (["top"], 3, ValueError, r"shape \(\)"),
        (["tpo"], [0], ValueError, "unknown"),
        (["F top"], [0], ValueError, "formula over time"),
        (["top"], [108], ValueError, "108"),
    ],
)
@pytest.mark.parametrize("held", [True, False])
def test_what_cannot_be_acted_on_is_refused(tasks, states, error, words, held):
    world = ta.FourRooms()
    skills = planned(world.space, world.tasks) if held else ta.solve(world)
    with pytest.raises(error, match=words):
        skills.act_many(tasks, states)


@given(st.data())
def test_episodes_are_the_same_where_only_met_states_are_asked(data):
    space = data.draw(spaces())
    task = data.draw(two_valued(space))
    mdp = space.mdp
    seed = data.draw(st.integers(0, 99))
    actions = np.random.default_rng(seed).integers(0, mdp.n_actions, mdp.n_states)
    asked = []

    def act(states):
        asked.extend(states.tolist())
        return actions[states]

    best = optimal_v(task)
    limit = data.draw(st.none() | st.integers(1, 5))
    options = {"episodes": 5, "max_steps": limit}
    plain = rollouts(task, actions, best, rng=np.random.default_rng(seed), **options)
    found = rollouts_on_the_way(
        task, act, lambda states: best[states], rng=np.random.default_rng(seed), **options
    )
    assert str(found) == str(plain) and found == plain
    assert len(set(asked)) == len(asked)


def test_evaluation_of_a_big_world_is_the_one_of_all_states(monkeypatch):
    world = maze_world(41, 41, 12)
    space = TaskSpace(world, r_universal="auto")
    skills = planned(space, {"one": space.task([0, 3, 7]), "two": space.task([3, 5])})
    for text in ("one & ~two", "two", "~one"):
        plain = skills[text].evaluate(50, seed=3)
        with monkeypatch.context() as patch:
            patch.setattr(walks, "LARGEST_LINE", 0)
            agent = skills[text]
            found = agent.evaluate(50, seed=3)
            assert "actions" not in vars(agent)
        assert found.mean_return == plain.mean_return == pytest.approx(found.optimal_return)
        assert found.optimal_return == plain.optimal_return
        assert (found.success_rate, found.mean_steps) == (plain.success_rate, plain.mean_steps)
        assert found.note == plain.note


def test_an_action_that_does_not_exist_is_refused_where_it_is_met():
    space = TaskSpace(from_arrays([[1, 0], [1, 1]], -1.0, goals=[1]))
    with pytest.raises(ValueError, match="action 2 in state 0 does not exist"):
        rollouts_on_the_way(
            space.universal,
            lambda states: np.full(states.size, 2),
            lambda states: np.zeros(states.size),
            episodes=1,
            rng=np.random.default_rng(0),
        )
