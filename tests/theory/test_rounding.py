"""What float64 cannot tell apart is found, and the unit of rewards changes no action."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taskalgebra as ta
from strategies import costly, free_or_costly, spaces, two_valued
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text

APART = "rewards can be told apart"
MAP = "A....B\n......"


def scaled(space, factor):
    mdp = space.mdp
    world = from_arrays(mdp.next_state, mdp.step_reward * factor, mdp.goals)
    return TaskSpace(world, r_universal=space.r_universal * factor, r_empty=space.r_empty * factor)


@pytest.mark.parametrize(
    ("step", "high", "low"), [(-0.1, 1e15, -0.1), (-1e-15, 2.0, -0.1), (-0.1, -0.1 + 1e-15, -0.1)]
)
def test_rewards_that_rounding_makes_meaningless_are_found(step, high, low):
    report = TaskSpace(from_text(MAP, step_reward=step), r_universal=high, r_empty=low).check()
    finding = report[APART]
    assert not finding.holds
    assert not report.zero_shot_optimal
    assert "rounding" in report.verdict
    if high - low > 1:
        assert finding.offender == {"state": 0, "action": 0}
        assert "stand still" in finding.detail


@pytest.mark.parametrize("unit", [1e-20, 1e20, 1e-200, 1e200])
def test_another_unit_changes_nothing(unit):
    space = TaskSpace(from_text(MAP), r_universal=2.0, r_empty=-0.1)
    other = TaskSpace(
        from_text(MAP, step_reward=-0.1 * unit), r_universal=2.0 * unit, r_empty=-0.1 * unit
    )
    assert other.check().holds
    for task in ("A", "A & ~B", "~A", "A | B"):
        agents = [ta.solve(s, {"A": ["A"], "B": ["B"]})[task] for s in (space, other)]
        assert agents[0].actions.tolist() == agents[1].actions.tolist()


@pytest.mark.parametrize("unit", [1e-308, 1e307])
def test_numbers_at_the_ends_of_float64_are_found(unit):
    world = from_text(MAP, step_reward=-0.1 * unit)
    report = TaskSpace(world, r_universal=2.0 * unit, r_empty=-0.1 * unit).check()
    assert not report[APART].holds
    assert "unit" in report[APART].detail


@settings(max_examples=100, deadline=None)
@given(spaces(step_rewards=free_or_costly), st.integers(-80, 80), st.data())
def test_a_power_of_two_changes_no_action(space, k, data):
    other = scaled(space, 2.0**k)
    desired = [data.draw(two_valued(space)).desired for _ in range(2)]
    expression = data.draw(st.sampled_from(["a", "~a", "a & b", "a | ~b", "a ^ b", "~(a | b)"]))
    one, two = (
        ta.solve(s, {"a": s.from_desired(desired[0]), "b": s.from_desired(desired[1])})[expression]
        for s in (space, other)
    )
    assert one.actions.tolist() == two.actions.tolist()
    np.testing.assert_array_equal(one.v * 2.0**k, two.v)


@pytest.mark.parametrize("k", [-80, -33, 7, 80])
def test_a_power_of_two_changes_no_action_where_outcomes_are_random(k):
    def agent(factor):
        world = from_text("A...B\n.#...", slip_probability=0.2, step_reward=-0.1 * factor)
        space = TaskSpace(world, r_universal=2.0 * factor, r_empty=-0.1 * factor)
        return ta.solve(space, {"A": ["A"]})["~A"]

    one, two = agent(1.0), agent(2.0**k)
    assert one.actions.tolist() == two.actions.tolist()
    np.testing.assert_array_equal(one.v * 2.0**k, two.v)


@settings(max_examples=200, deadline=None)
@given(
    spaces(step_rewards=costly),
    st.integers(0, 20),
    st.integers(0, 20),
    st.data(),
)
def test_no_agent_stands_still_where_all_is_said_to_hold(space, steps, goals, data):
    mdp = space.mdp
    world = from_arrays(mdp.next_state, mdp.step_reward * 10.0**-steps / 3, mdp.goals)
    space = TaskSpace(
        world,
        r_universal=space.r_universal * 10.0**-goals / 7,
        r_empty=space.r_empty * 10.0**-goals / 7,
    )
    report = space.check()
    if not report[APART].holds:
        return
    task = data.draw(two_valued(space))
    actions = ta.solve(space, {"it": task})["~it"].actions
    for s in np.flatnonzero(world.ending):
        seen = set()
        while not world.is_goal[s]:
            assert s not in seen
            seen.add(s)
            s = int(world.next_state[s, actions[s]])
