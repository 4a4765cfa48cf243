"""Vectors in place of tables: the same values, composed, acted on, saved and loaded."""

import pickle

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.planning import exact, stochastic
from taskalgebra.planning.exact import plan, q_bar_star, unpack
from taskalgebra.planning.vectors import VectorFamily, VectorReach
from taskalgebra.theory.reach import ReachQ

MAP = ["A...#..B", "..#.....", ".##.#.#.", "C......D"]
TASKS = {"p": ["A", "B"], "q": ["B", "C"]}


@pytest.fixture
def large(monkeypatch):
    """Vectors from the first entry on."""
    monkeypatch.setattr(exact, "LARGEST_TABLES", 0)


def world_of():
    return ta.from_text(MAP, slip_probability=0.2, step_reward=-0.125)


def families(**settings):
    space = ta.TaskSpace(world_of())
    tasks = {name: space.task(goals) for name, goals in TASKS.items()}
    tasks["odd"] = space.from_rewards(np.array([2.0, -0.1, 0.5, 1.25]))
    tables = q_bar_star(space, tasks, **settings)
    vectors = plan(space, tasks, **settings)
    assert isinstance(vectors, VectorFamily)
    return tables, vectors


@pytest.mark.parametrize("r_bar_min", [None, -20.0])
def test_rows_are_those_of_tables(large, r_bar_min):
    tables, vectors = families(r_bar_min=r_bar_min)
    states = np.arange(tables.space.mdp.n_states)
    assert vectors.error_bound == tables.error_bound
    for name in tables.tasks:
        assert np.array_equal(vectors[name].q_bar(states), tables[name].q_bar(states))
    few = np.array([[3, 1], [2, 3]])
    assert np.array_equal(vectors["p"].q_bar(few), tables["p"].q_bar(few))
    for bound in ("universal", "empty"):
        one, other = getattr(vectors.bounds, bound), getattr(tables.bounds, bound)
        assert np.array_equal(one.q_bar(states), other.q_bar(states))


@pytest.mark.parametrize("text", ["p & q", "p | ~q", "p ^ q", "~(odd & p) | q"])
def test_composition_on_rows_is_composition_on_tables(large, text):
    tables, vectors = families()
    states = np.arange(tables.space.mdp.n_states)
    one, other = (ta.Skills(family)[text] for family in (tables, vectors))
    assert np.array_equal(one.q_bar(states), other.q_bar(states))
    assert np.array_equal(one.actions, other.actions)


def test_returns_to_goals_are_those_of_tables(large):
    tables, vectors = families(r_bar_min=-50.0)
    states = np.arange(tables.space.mdp.n_states)
    one, other = tables.to_goals().returns(states), vectors.to_goals().returns(states)
    assert np.array_equal(one, other)
    assert np.isneginf(one).any()


def test_a_vector_for_each_goal_and_one_for_all_that_pay_the_penalty(large):
    skills = ta.solve(world_of(), TASKS)
    assert len(skills.family.reach.vectors) == 5  # r_U of four goals; r_∅ = r̄_MIN of all
    strict = plan(skills.space, skills.family.tasks, r_bar_min=-9.0)
    assert len(strict.reach.vectors) == 8


def test_other_rewards_are_planned_on_demand_and_kept(large):
    skills = ta.solve(world_of(), TASKS)
    space, reach = skills.space, skills.family.reach
    paid = np.array([0.25, -0.1, 2.0, 1.0])
    values = ReachQ(reach, paid, skills.family.bounds)
    states = np.arange(space.mdp.n_states)
    expected = q_bar_star(space, {"t": space.from_rewards(paid)})["t"]
    assert np.array_equal(values.q_bar(states), expected.q_bar(states))
    assert len(reach.vectors) == 7  # B pays r_∅ and C pays r_U, which were known
    values.q_bar(states)
    assert len(reach.vectors) == 7


def test_large_worlds_act_earn_and_improve_like_small_ones(large, monkeypatch):
    vectors = ta.solve(world_of(), TASKS)["p ^ q"]
    earned = ta.policy_return(vectors.task, vectors.actions)
    monkeypatch.setattr(exact, "LARGEST_TABLES", 2**25)
    tables = ta.solve(world_of(), TASKS)["p ^ q"]
    assert np.array_equal(vectors.actions, tables.actions)
    assert np.array_equal(earned, ta.policy_return(tables.task, tables.actions))
    assert vectors.evaluate(50, seed=1) == tables.evaluate(50, seed=1)
    assert vectors.certificate().line == tables.certificate().line
    assert vectors.improve().improvement.optimal


def test_tasks_with_time_are_planned_on_vectors(large, monkeypatch):
    vectors = ta.solve(world_of(), TASKS)["F(p & F q)"].evaluate(50, seed=2)
    monkeypatch.setattr(exact, "LARGEST_TABLES", 2**25)
    assert vectors == ta.solve(world_of(), TASKS)["F(p & F q)"].evaluate(50, seed=2)


def test_skills_on_vectors_are_saved_and_loaded_without_planning(large, monkeypatch, tmp_path):
    skills = ta.solve(world_of(), TASKS, tolerance=1e-6)
    skills.save(tmp_path / "skills")
    monkeypatch.setattr(stochastic.ShortestPaths, "solve", None)
    again = ta.load(tmp_path / "skills")
    assert isinstance(again.family, VectorFamily)
    assert again.family.error_bound == skills.family.error_bound
    states = np.arange(skills.space.mdp.n_states)
    assert np.array_equal(again["p ^ q"].q_bar(states), skills["p ^ q"].q_bar(states))
    pickled = pickle.loads(pickle.dumps(skills.family))
    assert np.array_equal(pickled["p"].q_bar(states), skills.family["p"].q_bar(states))


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("v_bar", lambda a: a[:, 1:], "shape"),
        ("v_bar", lambda a: a.astype(np.float32), "float64"),
        ("v_bar", lambda a: np.full_like(a, np.nan), "NaN"),
        ("v_goal", lambda a: a + 50, "no goal"),
        ("v_reward", lambda a: a[1:], "shape"),
    ],
)
def test_damaged_vectors_are_refused(large, name, change, words):
    family = ta.solve(world_of(), TASKS).family
    said, arrays = family.pack()
    with pytest.raises(ValueError, match=words):
        unpack(said, {**arrays, name: change(arrays[name])}, family.space, family.tasks)


def test_dense_tasks_still_get_tables(large):
    space = ta.TaskSpace(world_of())
    dense = space.from_rewards(np.zeros(4), np.full(space.mdp.step_reward.shape, -0.5))
    family = plan(space, {"dense": dense})
    assert not isinstance(family, VectorFamily)


def test_a_tolerance_that_rounding_hides_is_told(large, caplog):
    space = ta.TaskSpace(world_of())
    family = plan(space, {"p": space.task(["A"])}, tolerance=1e-300)
    assert family.error_bound > 1e-300
    assert "values are known to" in caplog.text


def test_vectors_are_read_only(large):
    reach = ta.solve(world_of(), TASKS).family.reach
    assert isinstance(reach, VectorReach)
    with pytest.raises(ValueError, match="read-only"):
        reach.vectors[0, 0] = 1.0
