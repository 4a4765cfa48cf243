"""Families: what planning, learning and loading all return."""

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.planning import exact
from taskalgebra.planning.exact import PlannedFamily, plan, unpack
from taskalgebra.theory.family import Family, ReachFamily, TableFamily, pack_tasks, unpack_tasks
from taskalgebra.theory.policy import DirectedPolicy, GreedyPolicy
from taskalgebra.theory.reach import DirectedReach, Reach

ROOMS = ta.FourRooms()
SPACE, TASKS = ROOMS.space, ROOMS.tasks
FAMILY = plan(SPACE, TASKS)


class Here(Reach):
    """Every goal is here."""

    def returns(self, observations):
        return np.zeros((len(observations), 4, 5))


class There(DirectedReach):
    """Every goal is here, and reached by waiting."""

    def values(self, observations):
        return np.zeros((len(observations), 4))

    def act(self, observations, goal):
        return np.full(len(observations), 4)


def test_values_are_had_by_name_and_share_their_bounds():
    assert list(FAMILY.named) == ["top", "left"]
    assert FAMILY["top"] is FAMILY.values[0] is FAMILY.named["top"]
    assert all(values.bounds is FAMILY.bounds for values in FAMILY.values)
    assert FAMILY.space is FAMILY.bounds.space is SPACE
    with pytest.raises(KeyError):
        FAMILY["tpo"]


def test_tables_of_a_family_are_those_of_the_bounds_first():
    tables = [np.full((108, 4, 5), float(i)) for i in range(4)]
    family = TableFamily.of(SPACE, TASKS, tables, r_bar_min=None, error_bound=None)
    assert (family.bounds.tables.universal == 0).all() and (family.bounds.tables.empty == 1).all()
    assert (family["top"].table == 2).all() and (family["left"].table == 3).all()
    assert (family.r_bar_min, family.error_bound, family.can_negate) == (None, None, True)
    assert isinstance(family.policy(family["top"]), GreedyPolicy)


def test_what_was_planned_says_how_good_it_is():
    assert isinstance(FAMILY, TableFamily)
    assert (FAMILY.error_bound, FAMILY.r_bar_min) == (0.0, ta.solve(ROOMS).family.r_bar_min)


def test_a_reach_decides_how_to_act():
    one, two = (ReachFamily.of(SPACE, TASKS, reach) for reach in (Here(), There()))
    assert isinstance(one.policy(one["top"]), GreedyPolicy)
    assert isinstance(two.policy(two["top"]), DirectedPolicy)
    assert (one.r_bar_min, one.error_bound, one.can_negate) == (None, None, True)
    assert two.policy(two["top"] & ~two["left"]).act([3, 4]).tolist() == [4, 4]


def test_a_family_is_packed_and_unpacked_to_an_equal_one():
    words, arrays = FAMILY.pack()
    shared, world = pack_tasks(SPACE, TASKS)
    space, tasks = unpack_tasks({**words, **shared}, world)
    again = unpack(words, arrays, space, tasks)
    assert isinstance(again, TableFamily)
    for one, two in zip(FAMILY.values, again.values, strict=True):
        assert np.array_equal(one.table, two.table)
    assert np.array_equal(FAMILY.bounds.tables.empty, again.bounds.tables.empty)
    assert (again.r_bar_min, again.error_bound) == (FAMILY.r_bar_min, FAMILY.error_bound)
    assert again.space is space is not SPACE


def test_a_family_too_large_for_tables_is_packed_without_and_planned_again(monkeypatch):
    monkeypatch.setattr(exact, "LARGEST_TABLE", 10)
    large = plan(SPACE, TASKS, r_bar_min=-50.0)
    assert isinstance(large, PlannedFamily)
    words, arrays = large.pack()
    assert arrays == {} and words["tables"] is False
    again = unpack(words, arrays, SPACE, TASKS)
    assert again.r_bar_min == -50.0
    states = np.arange(108)
    assert np.array_equal(again["top"].q_bar(states), large["top"].q_bar(states))


def test_tasks_of_an_open_world_are_packed_by_name():
    space = ta.TaskSpace(ta.OpenWorld(("a", "b"), ("go",)), r_universal=3.0)
    tasks = {"first": space.task("a")}
    words, arrays = pack_tasks(space, tasks)
    again, unpacked = unpack_tasks(words, arrays)
    assert again.world == space.world and np.array_equal(again.r_universal, space.r_universal)
    assert np.array_equal(unpacked["first"].goal_reward, tasks["first"].goal_reward)
    assert unpack_tasks(words, arrays, space)[1] == tasks


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (ta.FourRooms(40), "the skills belong to a world with the goals top_left"),
        (ta.FourRooms(r_universal=3.0), "other rewards r_U and r_∅"),
        (ta.FourRooms(step_reward=-0.2, r_empty=-0.1), "other transitions or rewards"),
        (ta.FourRooms(slip_probability=0.1), "other transitions or rewards"),
    ],
    ids=["goals", "rewards of goals", "rewards of steps", "transitions"],
)
def test_another_space_is_refused(world, words):
    packed = pack_tasks(SPACE, TASKS)
    with pytest.raises(ValueError, match=words):
        unpack_tasks(*packed, world.space)


def test_skills_are_made_of_a_family_of_the_space_of_their_environment():
    with pytest.raises(TypeError, match=r"made from a Family of values, got \{'top'"):
        ta.Skills(FAMILY.named)
    with pytest.raises(ValueError, match="another task space than the environment"):
        ta.Skills(FAMILY, ta.FourRooms(r_universal=3.0))
    assert ta.Skills(FAMILY, ROOMS)["top"].evaluate(10).success_rate == 1.0
    with pytest.raises(TypeError, match="abstract"):
        Family(SPACE, TASKS, (), FAMILY.bounds, None, None)


class Partly(Here):
    """It has met some goals only."""

    def __init__(self, met):
        self.met = met


def test_goals_that_were_never_met_are_known_to_the_family():
    assert FAMILY.met.all() and FAMILY.met.shape == (2, 4)
    assert ReachFamily.of(SPACE, TASKS, Here()).met.all()
    met = np.array([True, True, False, True])
    assert (ReachFamily.of(SPACE, TASKS, Partly(met)).met == met).all()
    for wrong in ([True, False], [1, 1, 0, 1], "all"):
        with pytest.raises(ValueError, match=r"Partly.met is .*, expected 4 truth values"):
            ReachFamily.of(SPACE, TASKS, Partly(wrong)).met  # noqa: B018


def test_tasks_that_desire_only_goals_never_met_are_refused():
    """Independently: of the 16 sets of four goals, those that are not empty and all unmet."""
    met = np.array([True, False, False, True])
    skills = ta.from_reach(Partly(met), ROOMS)
    refused = 0
    for expression in ta.all_functions(["top", "left"]):
        desired = ROOMS.find_task(expression).desired
        unsolvable = desired.any() and not (desired & met).any()
        refused += unsolvable
        assert (expression in skills) is (not unsolvable)
    assert refused == 3 and skills.n_expressible == 13
    only = r"top & ~left desires only top_right, which no base task met .* top_left, bottom_right"
    with pytest.raises(ValueError, match=only):
        skills["top & ~left"]
    with pytest.raises(ValueError, match="no base task met"):
        skills["top"] & ~skills["left"]
    with pytest.raises(ValueError, match="no base task met"):
        skills.by_goal_set("top & ~left")
    assert skills["top ^ left | top"].task.desired.sum() == 3  # acts on the one that was met
    assert "false" in skills and "true" in skills
