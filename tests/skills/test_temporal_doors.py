"""Careless calls of agents for formulas over time: a clear sentence, or what was meant."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taskalgebra as ta


@pytest.fixture(scope="module")
def skills():
    world = ta.from_text("A.#..B\n..#...\nC....D")
    return ta.solve(ta.TaskSpace(world, r_universal=9), {"top": ["A", "B"], "left": ["A", "C"]})


@pytest.fixture(params=["F(A & X F B) & G !C", "X X A"])
def agent(skills, request):
    return skills[request.param]


@pytest.mark.parametrize("wrong", [[], [[0]], "a", None, -1, 999, 0.5, math.nan])
def test_observations(skills, agent, wrong):
    counted = skills.fewest_violations("A").violations
    for call in (agent.act, agent.v, counted, agent.why_not):
        with pytest.raises(ValueError, match=r"observation|state"):
            call(wrong)


def test_one_observation_or_many(skills, agent):
    assert agent.v(3) == agent.v([3])[0]
    sparing = skills.fewest_violations("A")
    assert sparing.violations(3) == sparing.violations([3])[0]
    with pytest.raises(ValueError, match="one observation"):
        agent.why_not([0, 1])


@pytest.mark.parametrize("wrong", [[0, 1], "A", {"goal": "A"}, True, {"goal": [0, 1]}, None, 1.0])
def test_observed_goals(agent, wrong):
    with pytest.raises(ValueError, match="goal"):
        agent.observe(wrong)


@pytest.mark.parametrize("wrong", [None, [], "a", [[True]], 3, [0.5], [None]])
def test_begins(agent, wrong):
    with pytest.raises(ValueError, match="one truth value"):
        agent.reset(wrong)


@pytest.mark.parametrize("wrong", [[0], "a", -1, 999, 1.5, True])
def test_states_of_the_automaton(agent, wrong):
    for call in (agent.table, agent.picture, agent.signs):
        with pytest.raises(ValueError, match="state is"):
            call(wrong)


@pytest.mark.parametrize("wrong", [[0], "a", None, -1, 999, 1.5, True])
def test_where_a_walk_begins(agent, wrong):
    with pytest.raises(ValueError, match="start is"):
        agent.walk(wrong)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "a"])
def test_limits(skills, agent, wrong):
    for call in (
        agent.evaluate,
        skills.fewest_violations("A").evaluate,
        lambda **k: agent.walk(0, **k),
    ):
        with pytest.raises(ValueError, match="max_steps is"):
            call(max_steps=wrong)


def test_a_batch_keeps_its_size(agent):
    agent.reset([True] * 3)
    with pytest.raises(ValueError, match="3 episodes under way"):
        agent.act([0, 1])
    with pytest.raises(ValueError, match="each of 3 episodes"):
        agent.observe([0, 1])


@pytest.mark.parametrize("wrong", [None, 3, ["A"], b"A"])
def test_what_is_avoided(skills, wrong):
    with pytest.raises(TypeError, match="Boolean expression"):
        skills.avoiding("A", wrong)
    with pytest.raises(TypeError, match="Boolean expression"):
        skills.fewest_violations(wrong)


def test_letters_of_automata():
    found = ta.automaton("F a")
    for wrong in (None, 3, [3], [["a"]]):
        with pytest.raises(TypeError, match="a letter is a collection of names"):
            found.letter(wrong)
    with pytest.raises(TypeError, match="a trace is a list"):
        found.accepts(3)
    with pytest.raises(ValueError, match="letter is"):
        found.step(0, "a")
    with pytest.raises(TypeError, match="letters is 3"):
        ta.automaton("F a", 3)


def test_typed_doors(skills):
    assert isinstance(skills.for_task("top"), ta.Agent)
    assert isinstance(skills.for_task(skills.tasks["top"]), ta.Agent)
    assert isinstance(skills.for_formula("F top"), ta.TemporalAgent)
    with pytest.raises(ValueError, match="formula over time"):
        skills.for_task("F top")
    with pytest.raises(ValueError, match="no formula over time"):
        skills.for_formula("top")


def test_skills_without_an_environment_play_their_finite_world(skills, tmp_path):
    skills.save(tmp_path / "s")
    again = ta.load(tmp_path / "s")
    assert again.fewest_violations("A", "B").evaluate(20).success_rate == 1.0


def test_learned_tables_know_no_way_out_of_a_state_that_was_never_met():
    office = ta.Office(trap=True)
    formula = "F(coffee & X F office) & G !decoration"
    cells = np.flatnonzero(~office.space.mdp.is_goal)
    best = ta.solve(office)[formula].v(cells)
    for learner in (ta.FewSteps(), ta.QLearning(steps=200_000)):
        agent = ta.learn(office, learner=learner)[formula]
        assert agent.v(cells) == pytest.approx(best, abs=1e-6)
        (trap,) = cells[best == -math.inf]
        assert agent.why_not(trap) == "from cell (9, 11) no way to any goal was learned"


def test_advice_about_strict_next_fits_the_world():
    with pytest.raises(ValueError, match="in an open world") as told:
        ta.solve(ta.FlatWorld())["X red"]
    assert "solve(" not in str(told.value)
    learned = ta.learn(ta.FourRooms(), learner=ta.FewSteps())
    with pytest.raises(ValueError, match=r"solve\(world\)"):
        learned["X top"]
