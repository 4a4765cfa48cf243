"""Theorem 3: values compose as tasks do, with no further planning or learning."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import extended_q, extended_q_of_task
from strategies import eighths, real_valued, spaces, two_valued
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.planning.exact import optimal_v, q_bar_star


def test_theorem_3_bit_for_bit_in_four_rooms_terminal_states_included(plan_of_all, all_tasks):
    values = dict(zip(all_tasks, plan_of_all.values, strict=True))
    for one, two in product(all_tasks, repeat=2):
        assert ~values[one] == values[~one]
        assert values[one] | values[two] == values[one | two]
        assert values[one] & values[two] == values[one & two]
        assert values[one] ^ values[two] == values[one ^ two]


def test_theorem_3_against_value_iteration_in_four_rooms(space, plan_of_all, all_tasks):
    """The right-hand side by an oracle that shares no code with the planner."""
    top, left = space.task(["top_left", "top_right"]), space.task(["top_left", "bottom_left"])
    values = dict(zip(all_tasks, plan_of_all.values, strict=True))
    r_bar_min = plan_of_all.r_bar_min
    for composed, task in (
        (~values[top], ~top),
        (values[top] | values[left], top | left),
        (values[top] & values[left], top & left),
        (~(values[top] | values[left]), ~(top | left)),
    ):
        assert np.array_equal(composed.table, extended_q_of_task(task, r_bar_min))


def test_theorem_3_with_the_rewards_of_the_paper_within_1e_12():
    space = FourRooms().space
    tasks = list(space.two_valued_tasks())
    plan = q_bar_star(space, tasks)
    values = dict(zip(tasks, plan.values, strict=True))
    worst = 0.0
    for one, two in product(tasks, repeat=2):
        for composed, task in (
            (~values[one], ~one),
            (values[one] | values[two], one | two),
            (values[one] & values[two], one & two),
            (values[one] ^ values[two], one ^ two),
        ):
            worst = max(worst, np.abs(composed.table - values[task].table).max())
    assert worst <= 1e-12


@given(st.data())
def test_theorem_3_on_random_worlds_for_any_penalty_under_assumption_2(data):
    space = data.draw(spaces())
    one, two = data.draw(two_valued(space)), data.draw(two_valued(space))
    tasks = [one, two, ~one, one | two, one & two]
    q = q_bar_star(space, tasks, r_bar_min=data.draw(eighths)).values
    assert [~q[0] == q[2], q[0] | q[1] == q[3], q[0] & q[1] == q[4]] == [True] * 3


@given(st.data())
def test_theorem_3_on_random_worlds_with_real_valued_rewards(data):
    space = data.draw(spaces())
    one, two = data.draw(real_valued(space)), data.draw(real_valued(space))
    q = q_bar_star(space, [one, two, ~one, one | two, one & two]).values
    assert [~q[0] == q[2], q[0] | q[1] == q[3], q[0] & q[1] == q[4]] == [True] * 3


def test_theorem_3_negation_of_real_values_needs_a_low_penalty():
    """Two goals side by side, three terminal rewards, a penalty milder than the worst of them."""
    from taskalgebra.theory.tasks import TaskSpace
    from taskalgebra.worlds.grid import from_text

    space = TaskSpace(from_text("AB", step_reward=-0.125), r_universal=2, r_empty=-2)
    task = space.from_rewards([1, 1])
    mild = q_bar_star(space, [task, ~task], r_bar_min=0.0).values
    assert ~mild[0] != mild[1]
    low = q_bar_star(space, [task, ~task]).values
    assert ~low[0] == low[1]


def test_theorem_3_with_mild_penalties_negation_of_real_values_gives_too_much_where_moves_slip():
    """Either half a chance of A for 1/8, else B, or A for sure for 1.

    With the mild penalty 0, where A pays r, that is worth max{r/2 − 1/8, r − 1}, which is convex:
    −1/8, 3/8 and 1 for 0, 1 and 2.  So 1 + (−1/8) − 3/8 = 1/2 is above the 3/8 that ¬M is worth.
    """
    from taskalgebra.theory.tasks import TaskSpace
    from taskalgebra.worlds.outcomes import from_outcomes

    outcomes = [(0, 0, 1, 1.0), (0, 1, 1, 1.0), (1, 0, 2, 0.5), (1, 0, 3, 0.5), (1, 1, 2, 1.0)]
    steps = [[0, 0], [-0.125, -1], [0, 0], [0, 0]]
    world = from_outcomes(outcomes, {"A": 2, "B": 3}, step_reward=steps)
    space = TaskSpace(world, r_universal=2, r_empty=0)
    task = space.from_rewards([1, 0])
    mild = q_bar_star(space, [task, ~task], r_bar_min=0.0).values
    assert [float((~mild[0]).table[0, 0, 0]), float(mild[1].table[0, 0, 0])] == [0.5, 0.375]
    assert ((~mild[0]).table >= mild[1].table).all()
    low = q_bar_star(space, [task, ~task], r_bar_min=-8.0).values
    assert np.array_equal((~low[0]).table, low[1].table)


def test_theorem_3_is_false_for_terminal_rewards_that_depend_on_the_action():
    """One step to the goal, two actions in it.  M₁ pays (1, 0) there, M₂ pays (0, 1).

    The rewards keep Assumptions 1 and 2 as printed.  M₁ ∧ M₂ pays 0 whatever the action, so its
    optimum is below the minimum of the two; ¬M₁ pays (0, 1), whose optimum is not (U + ∅) − Q̄₁.
    """
    next_state, step = [[1, 1], [1, 1]], [[-0.125, -0.125], [0, 0]]

    def q_bar(paid):
        return extended_q(next_state, step, [1], np.array([paid]), -9.0)[0, 0, 0]

    one, two = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    universal, empty = np.maximum(one, two), np.minimum(one, two)
    assert q_bar(np.minimum(one, two)) == -0.125
    assert min(q_bar(one), q_bar(two)) == 0.875
    assert q_bar(universal + empty - one) == 0.875
    assert q_bar(universal) + q_bar(empty) - q_bar(one) == -0.125
    assert q_bar(np.maximum(one, two)) == max(q_bar(one), q_bar(two))


def test_action_dependent_terminal_rewards_are_refused_with_their_place(space):
    paid = np.full((4, 5), -0.125)
    paid[2, 1] = 2.0
    with pytest.raises(ValueError, match=r"'bottom_left' pays -0.125 for up, 2 for right"):
        space.from_rewards(paid)
    finding = space.check({"odd": paid})["r(g, a) = r(g)"]
    assert not finding.holds
    assert finding.offender == {"task": "odd", "goal": "bottom_left", "action": 1}


def test_theorem_3_holds_with_slips_and_lemma_1_does_not():
    """Values still compose; what fails is that a task is worth what its best goal is worth."""
    space = FourRooms(slip_probability=0.3).space
    mdp, tasks = space.mdp, list(space.two_valued_tasks())
    plan = q_bar_star(space, tasks)
    values = dict(zip(tasks, plan.values, strict=True))
    pairs = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offset))
    chance = np.zeros((mdp.n_states * mdp.n_actions, mdp.n_states))
    np.add.at(chance, (pairs, mdp.successor), mdp.probability)

    def iterated(task):
        """Q̄* by plain value iteration, `[S, G, A]`."""
        pays = np.where(np.eye(4), task.goal_reward, plan.r_bar_min)
        v = np.zeros((mdp.n_states, mdp.n_goals))
        for _ in range(600):
            v[mdp.goals] = pays
            q = task.steps[:, :, None] + (chance @ v).reshape(mdp.n_states, mdp.n_actions, -1)
            v = q.max(axis=1)
        q[mdp.goals] = pays[:, None]
        return q.transpose(0, 2, 1)

    expected = {task: iterated(task) for task in tasks}
    for one, two in product(tasks[3:6], tasks):
        for composed, task in (
            (~values[two], ~two),
            (values[one] | values[two], one | two),
            (values[one] & values[two], one & two),
        ):
            assert np.abs(composed.table - expected[task]).max() < 1e-8
    lost = optimal_v(space.universal) - expected[space.universal].max(axis=(1, 2))
    assert lost.min() > -1e-8 and lost.max() > 0.01  # Lemma 1: 0
