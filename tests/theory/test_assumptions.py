"""The assumption report: each finding fails on its own, and names the right offender."""

import json

import gymnasium as gym
import numpy as np
import pytest

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text
from taskalgebra.worlds.gym_table import from_gymnasium

NAMES = {
    "shared dynamics",
    "deterministic",
    "rewards differ on goals",
    "r(g, a) = r(g)",
    "two terminal rewards",
    "no positive cycle",
    "endless stay loses",
    "goals reachable",
    "rewards can be told apart",
    "wanted goals are worth the way",
}
# 0 ⇄ 1; from 0 action 2 ends in goal 2, from 1 in goal 3.
DYNAMICS = np.array([[1, 0, 2], [0, 1, 3], [2, 2, 2], [3, 3, 3]])
WORLD = {"goal_names": ["p", "q"], "action_names": ["cross", "wait", "end"]}


def space(dynamics=DYNAMICS, step_reward=-1.0, **options):
    return TaskSpace(from_arrays(dynamics, step_reward, [2, 3], **(WORLD | options)))


def stochastic():
    dense = np.eye(4)[DYNAMICS]
    dense[1, 0] = [0.5, 0.5, 0.0, 0.0]
    return dense


def rewards(**changes):
    table = np.full((4, 3), -1.0)
    for place, value in changes.items():
        table[int(place[1]), int(place[3])] = value
    return table


def failing(report):
    return {name for name in report if not report[name].holds}


@pytest.mark.parametrize("n_goals", [4, 40])
def test_everything_holds_for_four_rooms(n_goals):
    world = FourRooms(n_goals)
    report = world.space.check(world.tasks)
    assert set(report) == NAMES
    assert failing(report) == set()
    assert report.holds
    assert report.boolean_algebra
    assert report.zero_shot_optimal
    assert "FAILS" not in str(report)
    assert "Theorems 1 to 3 apply" in str(report)


def other_dynamics():
    dynamics = DYNAMICS.copy()
    dynamics[1, 1] = 0
    return from_arrays(dynamics, -1.0, [2, 3], goal_reward=[2.0, -0.1], **WORLD)


FAILURES = {
    "another transition": (
        lambda: space().check({"good": [2.0, -0.1], "odd": other_dynamics()}),
        {"shared dynamics"},
        {"task": "odd", "state": 1, "action": 1},
        ["'odd'", "state 1", "wait"],
    ),
    "another size": (
        lambda: space().check({"odd": TaskSpace(from_text("A.B")).task("A")}),
        {"shared dynamics"},
        {"task": "odd"},
        ["'odd'", "5 states and 5 actions", "4 and 3"],
    ),
    "other goals": (
        lambda: space().check(
            {
                "odd": from_arrays(
                    DYNAMICS,
                    -1.0,
                    [3],
                    starts=[1],
                    goal_reward=[2.0],
                    **(WORLD | {"goal_names": ["q"]}),
                )
            }
        ),
        {"shared dynamics"},
        {"task": "odd"},
        ["'odd'", "ends in other states"],
    ),
    "random outcomes": (
        lambda: space(stochastic()).check({"good": [2.0, -0.1]}),
        {"deterministic"},
        {"state": 1, "action": 0},
        ["cross", "state 1", "2 outcomes"],
    ),
    "step rewards of its own": (
        lambda: space().check(
            {"good": [2.0, 2.0], "odd": np.vstack((rewards(s1a2=-0.5)[:2], np.full((2, 3), 2.0)))}
        ),
        {"rewards differ on goals"},
        {"task": "odd", "state": 1, "action": 2},
        ["'odd'", "-0.5", "end", "state 1", "-1"],
    ),
    "terminal rewards by action": (
        lambda: space().check({"odd": [[2.0, 2.0, 2.0], [2.0, -0.1, 2.0]]}),
        {"r(g, a) = r(g)"},
        {"task": "odd", "goal": "q", "action": 1},
        ["'odd'", "2 or -0.1", "'q'", "action"],
    ),
    "a third terminal reward": (
        lambda: space().check({"good": [2.0, -0.1], "odd": [2.0, 1.5]}),
        {"two terminal rewards"},
        {"task": "odd", "goal": "q"},
        ["'odd'", "1.5", "'q'", "r_∅ = -0.1", "r_U = 2"],
    ),
    "bounds that differ from goal to goal": (
        lambda: TaskSpace(space().mdp, r_universal=[2.0, 3.0]).check(),
        {"two terminal rewards"},
        {},
        ["differ from goal to goal"],
    ),
    "staying for nothing": (
        lambda: space(step_reward=rewards(s1a1=0.0)).check([[2.0, -0.1]]),
        {"endless stay loses"},
        {"state": 1},
        ["state 1", "forever", "let every step cost something"],
    ),
    "a free walk to and fro": (
        lambda: space(step_reward=rewards(s0a0=0.5, s1a0=-0.5)).check([[2.0, -0.1]]),
        {"endless stay loses"},
        {"state": 0},
        ["state 0", "forever"],
    ),
    "a goal out of reach": (
        lambda: space(np.array([[0, 0, 2], [0, 1, 3], [2, 2, 2], [3, 3, 3]])).check([[2.0, -0.1]]),
        {"goals reachable"},
        {"goal": "q", "state": 0},
        ["'q'", "state 0"],
    ),
}


@pytest.mark.parametrize(
    ("make", "names", "offender", "words"), FAILURES.values(), ids=FAILURES.keys()
)
def test_one_finding_fails_alone_and_names_its_offender(make, names, offender, words):
    report = make()
    assert failing(report) == names
    (name,) = names
    finding = report[name]
    assert dict(finding.offender) == offender
    for word in words:
        assert word in finding.detail
    assert str(finding).startswith(f"FAILS  {name}")
    assert not report.holds


@pytest.mark.parametrize("make", [f[0] for f in FAILURES.values()], ids=FAILURES.keys())
def test_reports_are_plain_data(make):
    report = make()
    data = json.loads(json.dumps(report.as_dict()))
    assert data["holds"] is False
    assert {f["name"] for f in data["findings"]} == NAMES
    for found in data["findings"]:
        assert found["holds"] == report[found["name"]].holds
        assert found["offender"] == dict(report[found["name"]].offender)
        assert found["detail"] == report[found["name"]].detail


def test_a_cycle_that_earns_is_named_and_nothing_can_be_said_of_staying():
    report = space(step_reward=rewards(s0a0=1.5)).check([[2.0, -0.1]])
    assert failing(report) == {"no positive cycle", "endless stay loses"}
    assert set(report["no positive cycle"].offender["states"]) == {0, 1}
    assert "state 0" in report["no positive cycle"].detail
    assert report["endless stay loses"].offender == {}
    assert not report.zero_shot_optimal
    json.dumps(report.as_dict())


def test_steps_that_pay_do_no_harm_where_no_cycle_earns():
    report = space(step_reward=rewards(s0a0=0.5)).check([[2.0, -0.1]])
    assert report.holds


def test_steps_that_pay_are_refused_where_outcomes_are_random():
    report = space(stochastic(), rewards(s1a2=0.5)).check([[2.0, -0.1]])
    finding = report["no positive cycle"]
    assert not finding.holds
    assert finding.offender == {"state": 1, "action": 2}
    assert "0.5" in finding.detail
    assert "random outcomes" in finding.detail


def test_a_zero_reward_that_leads_away_is_not_a_free_stay():
    assert space(step_reward=rewards(s0a0=0.0)).check().holds


def test_a_free_stay_that_random_outcomes_allow_is_found():
    # Action 0 of both states leads to either of them, for nothing.
    dense = np.eye(4)[DYNAMICS]
    dense[:2, 0] = [0.5, 0.5, 0.0, 0.0]
    report = space(dense, rewards(s0a0=0.0, s1a0=0.0)).check()
    assert report["endless stay loses"].offender == {"state": 0}
    dense[1, 0] = [0.25, 0.25, 0.5, 0.0]  # now one of them sooner or later ends
    assert space(dense, rewards(s0a0=0.0, s1a0=0.0)).check()["endless stay loses"].holds


@pytest.mark.parametrize(
    ("task", "algebra", "optimal", "verdict"),
    [
        ([2.0, -0.1], True, True, "Theorems 1 to 3 apply"),
        ([2.0, 1.0], False, True, "Theorem 3 applies"),
        ([[2.0, 1.0, 2.0], [2.0, 2.0, 2.0]], False, False, "Theorem 3 does not apply"),
    ],
)
def test_the_verdict_says_which_theorems_apply(task, algebra, optimal, verdict):
    report = space().check([task])
    assert report.boolean_algebra is algebra
    assert report.zero_shot_optimal is optimal
    lines = str(report).splitlines()
    assert len(lines) == len(report) + 1 == len(NAMES) + 1
    assert lines[-1].startswith(verdict)


def test_slips_spoil_policies_and_not_values():
    dense = np.eye(4)[DYNAMICS]
    dense[0, 0] = [0.5, 0.5, 0.0, 0.0]
    report = space(dense).check([[2.0, -0.1]])
    assert not report.zero_shot_optimal
    assert report.verdict.startswith("Values compose exactly (Theorem 3), but Lemma 1 needs")
    report = space(dense).check([[2.0, 1.0]])  # ¬ of three values is not exact with slips
    assert report.verdict.startswith("Theorem 3 does not apply")


def test_a_goal_out_of_reach_does_not_spoil_the_theorems():
    dynamics = np.array([[0, 0, 2], [0, 1, 3], [2, 2, 2], [3, 3, 3]])
    assert space(dynamics).check().boolean_algebra


def test_tasks_without_names_are_numbered():
    report = space().check([[2.0, -0.1], [2.0, 0.5]])
    assert report["two terminal rewards"].offender["task"] == "task 1"


def test_outcomes_that_lead_to_one_state_are_not_called_random():
    report = TaskSpace(from_text("A", slip_probability=0.5)).check()
    assert report["deterministic"].holds


def test_a_task_of_the_same_world_in_another_space_shares_its_dynamics():
    mine = space()
    theirs = TaskSpace(from_arrays(DYNAMICS, -1.0, [2, 3], **WORLD))
    assert mine.check({"theirs": theirs.task("p")}).holds


def test_the_same_goals_in_another_order_are_not_called_other_states():
    turned = from_arrays(DYNAMICS, -1.0, [3, 2], goal_names=["q", "p"], action_names=list("abc"))
    report = space().check({"turned": TaskSpace(turned).task("p")})
    assert "other states" not in report["shared dynamics"].detail


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ([[1.0, 2.0, 3.0]], ["task 0", "(3, 3)", "(2, 3)"]),
        ({"odd": [np.nan, 2.0]}, ["odd", "nan", "finite"]),
        ({"bare": from_arrays(DYNAMICS, -1.0, [2, 3])}, ["'bare'", "without terminal rewards"]),
    ],
)
def test_tasks_that_are_none_are_refused_in_words(tasks, words):
    with pytest.raises(ValueError) as caught:
        space().check(tasks)
    for word in words:
        assert word in str(caught.value)


def test_unknown_findings_are_not_in_the_report():
    report = space().check()
    assert "telepathy" not in report
    with pytest.raises(KeyError):
        report["telepathy"]


def test_gymnasium_worlds_are_examined_too():
    lake = TaskSpace(from_gymnasium(gym.make("FrozenLake-v1", is_slippery=False)))
    assert failing(lake.check([lake.original])) == {"endless stay loses"}
    wet = TaskSpace(from_gymnasium(gym.make("FrozenLake-v1", is_slippery=True)))
    assert failing(wet.check([wet.original])) == {"deterministic", "endless stay loses"}
