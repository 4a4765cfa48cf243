"""Whether desired goals are worth the way: against agents that are followed to their goals."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taskalgebra as ta
from oracles import plain_q
from strategies import costly, spaces, two_valued
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text

WORTH = "wanted goals are worth the way"
APART = "rewards can be told apart"
CORRIDOR = from_text("A" + "." * 38 + "B")


def returns_to(mdp, goal):
    """G(s:g) by value iteration, from the definition; −∞ where g is not reached."""
    terminal = {int(s): [0.0 if s == goal else -np.inf] * mdp.n_actions for s in mdp.goals}
    return plain_q(mdp.next_state.tolist(), mdp.step_reward.tolist(), terminal).max(axis=1)


def end_of(mdp, actions, start):
    """The goal in which one action per state ends, by walking."""
    s = int(start)
    for _ in range(mdp.n_states + 1):
        if mdp.is_goal[s]:
            return int(mdp.goal_of_state[s])
        s = int(mdp.next_state[s, actions[s]])
    return None


def test_a_corridor_of_forty_cells_is_too_long_for_the_usual_rewards():
    space = TaskSpace(CORRIDOR)
    finding = space.check({"A": space.task("A"), "B": space.task("B")})[WORTH]
    assert not finding.holds
    assert finding.offender["task"] == "A"
    assert finding.offender["goal"] == "A"
    assert finding.offender["instead"] == "B"
    # From cell 39, 40 steps to A or 1 to B: 2 − 4.0 is less than −0.1 − 0.1 up to r_U = 3.8.
    assert finding.offender["above"] == pytest.approx(3.8)
    # A tie at cell 30, and nine cells beyond it.
    assert finding.offender["state"] == 30
    assert "10 of 40 starts" in finding.detail
    assert "3.8" in finding.detail
    agent = ta.solve(space, {"A": ["A"]})["A"]
    ends = [end_of(CORRIDOR, agent.actions, s) for s in range(40)]
    assert ends[:30] == [0] * 30
    assert ends[31:] == [1] * 9


def test_the_theorems_do_not_mind_but_the_words_say_it():
    report = TaskSpace(CORRIDOR).check()
    assert report.boolean_algebra
    assert report.zero_shot_optimal
    assert not report.holds
    assert report.verdict.startswith("Theorems 1 to 3 apply")
    assert "does not always go to a desired goal" in report.verdict


@settings(max_examples=150, deadline=None)
@given(spaces(step_rewards=costly), st.data())
def test_an_agent_ends_in_a_desired_goal_where_the_finding_holds_and_not_where_it_fails(
    space, data
):
    mdp, task = space.mdp, data.draw(two_valued(space))
    finding = space.check({"it": task})[WORTH]
    ways = np.array([returns_to(mdp, g) for g in mdp.goals])
    actions = ta.solve(space, {"it": task})["it"].actions
    best = ways[task.desired].max(axis=0, initial=-np.inf)
    first = None
    for s in mdp.starts:
        if best[s] == -np.inf:
            continue
        end = end_of(mdp, actions, s)
        other = (ways + space.r_empty[:, None])[~task.desired].max(axis=0, initial=-np.inf)[s]
        if best[s] + space.r_universal[0] <= other and first is None:
            first = int(s)
        if finding.holds:
            assert task.desired[end]
    assert finding.holds == (first is None)
    if first is not None:
        assert finding.offender["state"] == first


@settings(max_examples=150, deadline=None)
@given(spaces(step_rewards=costly), st.data())
def test_the_reward_that_is_named_mends_it_and_a_smaller_one_does_not(space, data):
    desired = data.draw(st.none() | two_valued(space).map(lambda task: task.desired))

    def found(r_universal):
        other = TaskSpace(space.mdp, r_universal=r_universal, r_empty=space.r_empty)
        tasks = () if desired is None else {"it": other.from_desired(desired)}
        return other.check(tasks)[WORTH]

    finding = found(space.r_universal)
    if finding.holds:
        return
    above = finding.offender["above"]
    assert above >= space.r_universal[0]
    assert found(finding.offender["r_universal"]).holds
    assert found(above + 1e-9).holds
    if above - 1e-9 > space.r_empty[0]:
        assert not found(above - 1e-9).holds


@settings(max_examples=100, deadline=None)
@given(spaces(step_rewards=costly))
def test_auto_is_worth_the_way_for_every_task_from_every_start(space):
    mdp = space.mdp
    auto = TaskSpace(mdp, r_universal="auto", r_empty=space.r_empty)
    assert auto.check()[WORTH].holds
    assert auto.r_universal[0] >= 2.0
    if mdp.n_goals > 3:
        return
    skills = ta.solve(auto, {name: [name] for name in mdp.goal_names})
    ways = np.array([returns_to(mdp, g) for g in mdp.goals])
    for task in auto.two_valued_tasks():
        actions = skills[task].actions
        for s in mdp.starts:
            if np.isfinite(ways[task.desired, s]).any():
                assert task.desired[end_of(mdp, actions, s)]


def test_auto_keeps_the_usual_reward_where_it_is_enough():
    assert ta.FourRooms(r_universal="auto").space.r_universal.tolist() == [2.0] * 4
    assert TaskSpace(CORRIDOR, r_universal="auto").r_universal.tolist() == [3.9, 3.9]
    long = ta.FourRooms(text="A" + "." * 38 + "B", r_universal="auto")
    assert long.space.r_universal.tolist() == [3.9, 3.9]
    assert long.spec.kwargs["r_universal"] == 3.9
    assert TaskSpace(CORRIDOR, r_universal="auto", r_empty=5.0).r_universal[0] > 5.0
    assert TaskSpace(from_text("A."), r_universal="auto", r_empty=3.0).r_universal[0] > 3.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TaskSpace(CORRIDOR, r_universal="much"), ["'much'", "auto"]),
        (lambda: ta.FourRooms(slip_probability=0.1, r_universal="auto"), ["stochastic"]),
        (
            lambda: TaskSpace(
                from_arrays([[1, 2], [0, 2], [2, 2]], [[1.0, 0], [1.0, 0], [0, 0]], [2]),
                r_universal="auto",
            ),
            ["earns more", "give a number"],
        ),
    ],
)
def test_auto_is_refused_in_words_where_there_is_no_answer(make, words):
    with pytest.raises(ValueError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "space",
    [
        TaskSpace(from_text("A...B", slip_probability=0.1)),
        TaskSpace(from_arrays([[1, 2], [0, 2], [2, 2]], [[1.0, 0], [1.0, 0], [0, 0]], [2])),
    ],
)
def test_what_is_not_examined_says_so(space):
    finding = space.check()[WORTH]
    assert not finding.examined
    assert finding.holds
    assert str(finding).startswith("open")
    assert "not examined" in finding.detail


def test_goals_that_pay_differently_are_compared_by_what_they_pay():
    space = TaskSpace(CORRIDOR, r_universal=[2.0, 3.0])
    finding = space.check({"A": space.task("A")})[WORTH]
    assert finding.offender["above"] == pytest.approx(1.8)
    higher = TaskSpace(CORRIDOR, r_universal=[2.0 + 1.81, 3.0 + 1.81])
    assert higher.check({"A": higher.task("A")})[WORTH].holds


def test_an_evaluation_says_it_in_its_line():
    agent = ta.solve(TaskSpace(CORRIDOR), {"A": ["A"]})["A"]
    found = agent.evaluate(100)
    assert "does not desire from 10 of 40 starts, first from cell (0, 30), in 'B'" in found.note
    assert found.note in str(found)
    assert "\n" not in str(found)
    enough = ta.solve(TaskSpace(CORRIDOR, r_universal="auto"), {"A": ["A"]})["A"].evaluate(100)
    assert enough.note == ""
    assert enough.success_rate == 1.0
    optimum = policy_return(agent.task, agent.actions)
    np.testing.assert_allclose(optimum, ta.optimal_v(agent.task), atol=1e-12)


def test_reports_and_findings_can_be_pickled():
    report = TaskSpace(CORRIDOR).check()
    assert pickle.loads(pickle.dumps(report)) == report
    for finding in report.findings:
        assert pickle.loads(pickle.dumps(finding)) == finding


def ends_in(space, task):
    """Where an optimal agent ends from every start, by following it."""
    agent = ta.solve(space, {"it": task})["it"]
    mdp, ends = space.mdp, []
    for start in mdp.starts:
        s = int(start)
        while not mdp.is_goal[s]:
            s = int(mdp.next_state[s, agent.act(s)])
        ends.append(mdp.goal_names[int(np.flatnonzero(mdp.goals == s)[0])])
    return ends


def test_the_starts_that_are_counted_are_those_of_the_goal_that_is_named():
    """Without ties, so that following one optimal policy is enough."""
    space = TaskSpace(from_text("A" + "." * 28 + "B" + "." * 28 + "C"), r_universal=2.05)
    for finding in (space.check()[WORTH], space.check({"C": space.task("C")})[WORTH]):
        goal = finding.offender["goal"]
        missed = sum(end != goal for end in ends_in(space, space.task(goal)))
        assert f"from {missed} of {space.mdp.starts.size} starts" in finding.detail


@pytest.mark.parametrize("step", [1e-21, 1e-15, 1.0, 1e6, 1e5 / 3])
def test_the_number_in_the_sentence_mends_it_in_any_unit(step):
    world = from_text("A" + "." * 38 + "B", step_reward=-step)
    low = TaskSpace(world, r_universal=step / 10, r_empty=-step)
    told = low.check()[WORTH].detail
    named = float(re.search(r"r_universal=([^,]+),", told)[1])
    for enough in (named, "auto"):
        space = TaskSpace(world, r_universal=enough, r_empty=-step)
        assert space.check().holds, (enough, str(space.check()))
        assert set(ends_in(space, space.task("A"))) == {"A"}


def test_what_keeps_an_agent_from_desired_goals_is_told():
    cut = TaskSpace(from_text(["#A.#.B#"]))
    agent = ta.solve(cut, {"A": ["A"]})["A"]
    assert (
        "from 2 of 4 starts no desired goal can be reached, first from" in agent.task.remarks()[0]
    )
    assert agent.evaluate(50).note == agent.task.remarks()[0]
    rounded = TaskSpace(CORRIDOR, r_universal=1e15)
    assert "costs 0.1" in ta.solve(rounded, {"A": ["A"]})["A"].evaluate(5).note
    slippery = ta.solve(ta.FourRooms(slip_probability=0.3, r_universal=0.5))["top & left"]
    found = slippery.evaluate(200)
    assert found.success_rate < 1 and "through no fault of the agent" in found.note


def test_remarks_say_what_check_finds_in_large_worlds_too():
    """Ties are measured by the returns, not by the number of states."""
    rng = np.random.default_rng(0)
    walls = rng.random((300, 300)) < 0.1
    rows = ["".join("#" if wall else "." for wall in row) for row in walls]
    rows[0], rows[-1] = "A" + "." * 299, "." * 299 + "B"
    space = TaskSpace(from_text(rows), r_universal=1e9)
    report = space.check({"A": space.task("A")})
    assert report[APART].holds and report[WORTH].holds
    assert not any("rounding" in one for one in space.task("A").remarks())
