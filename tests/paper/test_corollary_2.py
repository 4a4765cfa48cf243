"""Corollary 2: 𝓕, which plans a task, is a homomorphism: any expression, evaluated either way."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import taskalgebra as ta
from oracles import plain_q_of_task
from strategies import spaces, two_valued
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.formulas import all_functions, parse
from taskalgebra.planning.exact import q_bar_star


def test_corollary_2_for_all_16_functions_of_four_rooms(four_rooms, space):
    tasks = four_rooms.tasks
    plan = q_bar_star(space, list(tasks.values()))
    values = dict(zip(tasks, plan.values, strict=True))
    bounds = {"universal": plan.bounds.universal, "empty": plan.bounds.empty}
    for expression in all_functions(list(tasks)):
        task = expression.evaluate(tasks, universal=space.universal, empty=space.empty)
        planned = q_bar_star(space, [task]).values[0]
        assert np.array_equal(planned.table, expression.evaluate(values, **bounds).table)


formulas = st.recursive(
    st.sampled_from(["a", "b", "c", "true", "false"]),
    lambda inner: st.one_of(
        inner.map(lambda x: f"~({x})"),
        st.tuples(inner, st.sampled_from("&|^"), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
    ),
    max_leaves=12,
)


@given(st.data(), formulas)
def test_corollary_2_for_random_expressions_on_random_worlds(data, text):
    space = data.draw(spaces())
    expression = parse(text)
    tasks = {name: data.draw(two_valued(space)) for name in "abc"}
    task = expression.evaluate(tasks, universal=space.universal, empty=space.empty)
    plan = q_bar_star(space, [*tasks.values(), task])
    values = dict(zip("abc", plan.values, strict=False))
    composed = expression.evaluate(values, universal=plan.bounds.universal, empty=plan.bounds.empty)
    assert composed == plan.values[3]


def test_corollary_2_all_16_composed_policies_are_optimal_from_every_start():
    """The optimum by plain value iteration; the policy by following it, step by step."""
    for step_reward, tolerance in ((-0.125, 0.0), (-0.1, 1e-12)):
        world = FourRooms(step_reward=step_reward)
        mdp = world.space.mdp
        skills = ta.solve(world, ["top", "left"])
        for expression in all_functions(["top", "left"]):
            agent = skills[expression]
            optimum = plain_q_of_task(agent.task).max(axis=1)
            for start in mdp.starts:
                state, total = int(start), 0.0
                for _ in range(100):
                    if state in mdp.goals:
                        break
                    action = agent.act(state)
                    total += step_reward
                    state = int(mdp.next_state[state, action])
                goal = mdp.goals.tolist().index(state)
                total += agent.task.goal_reward[goal]
                assert abs(total - optimum[start]) <= tolerance


def test_corollary_2_random_goal_sets_of_the_40_goal_world():
    world = FourRooms(40, step_reward=-0.125)
    skills = ta.solve(world)
    rng = np.random.default_rng(0)
    for _ in range(20):
        task = world.space.from_desired(rng.random(40) < 0.5)
        agent = skills[task]
        assert agent.task == task
        assert np.array_equal(agent.v, plain_q_of_task(task).max(axis=1))
