"""Agents for tasks with time: optimal, with a memory, and clear about what cannot be done."""

from __future__ import annotations

import itertools
import math

import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta
import temporal_oracle as oracle
from taskalgebra.planning.temporal import TolledReach
from taskalgebra.theory.reach import ReachBounds, ReachQ

MAP = """
    A..#..B
    .#...#.
    C..#..D
"""
DYADIC = {"step_reward": -0.125}


@pytest.fixture(scope="module")
def skills():
    space = ta.TaskSpace(ta.from_text(MAP, **DYADIC), r_universal=4.0, r_empty=-0.125)
    tasks = {"top": ["A", "B"], "left": ["A", "C"]}
    return ta.solve(space, tasks)


def best_of(skills, agent):
    mdp = skills.space.mdp
    return oracle.optimum(
        mdp.next_state,
        mdp.step_reward,
        mdp.goals,
        mdp.resumes,
        agent.plan.labelled.letter,
        agent.automaton,
        agent.plan.success,
    )


MISSIONS = [
    "F A",
    "F (A & X F B)",
    "F (A & F D) & G !B",
    "!B U A",
    "F A & F B & F C & F D",
    "!A U (B & (!C U D))",
    "F (top & X F (left & X F D))",
    "A then B then A",
    "eventually D & avoid left",
    "(A | B) => F C",
    "X F A",
    "X A",
    "G !A",
    "F (A & X A)",
]


@pytest.mark.parametrize("text", MISSIONS)
def test_values_and_episodes_are_those_of_the_product(skills, text):
    agent, mdp = skills[text], skills.space.mdp
    best = best_of(skills, agent)
    cells = np.flatnonzero(~mdp.is_goal)
    for s, value in zip(cells, agent.v(cells), strict=True):
        assert value == best[s, agent.automaton.start]
        if value > -np.inf:
            got = oracle.played(
                agent, mdp.next_state, mdp.step_reward, mdp.goals, mdp.resumes, s, 4.0
            )
            assert got == value


@pytest.mark.parametrize(
    ("text", "composed"),
    [("F (A & F B)", True), ("F (A & X F B)", True), ("X A", False), ("G !A", False)],
)
def test_the_certificate_says_by_which_construction(skills, text, composed):
    certificate = skills[text].certificate()
    assert certificate.optimal
    assert ("composed" in certificate.method) is composed
    assert ("product" in certificate.method) is not composed
    assert str(certificate).startswith("optimal: ")


def test_a_certificate_is_not_optimal_where_an_assumption_fails():
    slippery = ta.FourRooms(slip_probability=0.2)
    learned = ta.learn(slippery, learner=ta.QLearning(steps=20_000))
    certificate = learned["F top & F left"].certificate()
    assert not certificate.optimal
    assert not certificate["deterministic"].holds
    assert not certificate["exact values"].examined
    blamed = [finding.name for finding in certificate.blame]
    assert blamed == ["deterministic", "exact values", "low penalty"]
    assert certificate.bound > 0


def test_evaluation_compares_with_the_optimum(skills):
    found = skills["F (A & X F B) & G !C"].evaluate(300, seed=1)
    assert found.success_rate == 1.0
    assert found.mean_return == pytest.approx(found.optimal_return, abs=1e-12)
    assert found.mean_return == pytest.approx(4.0 - 0.125 * found.mean_steps)


def test_playing_the_environment_gives_what_the_product_does(skills):
    from taskalgebra.evaluation.temporal import play_formula

    agent = skills["F (A & X F B) & G !C"]
    env = skills.env.continuing(64)
    played = play_formula(env, agent.plan.policy(), 4.0, episodes=500, max_steps=200, seed=3)
    assert played.success_rate == 1.0
    assert played.mean_return == pytest.approx(4.0 - 0.125 * played.mean_steps)
    exact = agent.evaluate(500)
    assert abs(played.mean_return - exact.mean_return) < 4 * played.standard_error


def test_starts_from_which_it_cannot_be_done_are_left_out_and_counted():
    one_way = ta.from_arrays(
        [[1, 2], [1, 3], [2, 2], [3, 3]],
        -1.0,
        goals=[2, 3],
        goal_names=["west", "east"],
        resumes=[0, 1],
        starts=[0, 1],
    )
    agent = ta.solve(ta.TaskSpace(one_way, r_universal=9), {"w": ["west"], "e": ["east"]})["F w"]
    found = agent.evaluate(50)
    assert found.success_rate == 1.0
    assert "1 of 2 starts are left out" in found.note
    assert agent.v([0, 1]).tolist() == [8.0, -math.inf]
    assert agent.why_not(0) == ""
    assert "state 1" in agent.why_not(1) and "west" in agent.why_not(1)


def test_why_not_says_where_steps_are_counted(skills):
    assert skills["X D"].why_not(0) == (
        "from cell (0, 0) no way satisfies it: steps that enter no goal are read as well"
    )


def test_why_not_names_nothing_in_the_way_where_there_is_no_way_at_all():
    world = ta.from_text("A.B#C", touch=True)
    agent = ta.solve(ta.TaskSpace(world), {"a": ["A"]})["F C & G !B"]
    assert agent.why_not(0) == "from cell (0, 0) there is no way to C"


def test_why_not_names_what_is_wanted_and_what_is_in_the_way():
    corridor = ta.from_arrays(
        # cells 0 … 2, where 1 is a gate: entering it is a goal; goals 3 (gate), 4 (end)
        [[0, 3], [0, 4], [3, 4], [3, 3], [4, 4]],
        -1.0,
        goals=[3, 4],
        goal_names=["gate", "end"],
        resumes=[1, 2],
        starts=[0],
    )
    agent = ta.solve(ta.TaskSpace(corridor, r_universal=9), {"g": ["gate"], "e": ["end"]})
    assert agent["F e"].v([0])[0] == 7.0
    blocked = agent["F e & G !g"]
    assert blocked.v([0])[0] == -math.inf
    assert blocked.why_not(0) == "from state 0 there is no way to end without entering gate"
    with pytest.raises(ValueError, match="cannot be satisfied from any start: from state 0"):
        blocked.evaluate(10)


def test_formulas_that_can_never_be_satisfied_are_refused_with_the_reason(skills):
    with pytest.raises(ValueError, match="a goal that is A & B"):
        skills["F (A & B)"]
    with pytest.raises(ValueError, match="contradicts itself"):
        skills["F A & G !A"]
    assert "F (A & B)" not in skills
    assert "F (A & F B)" in skills


def test_unknown_names_are_told_with_a_caret(skills):
    with pytest.raises(ta.ExpressionError, match="unknown task 'E'") as told:
        skills["F (A & F E)"]
    assert told.value.position == 9
    with pytest.raises(ta.ExpressionError, match="unknown task 'tpo'"):
        skills["tpo & left"]


@pytest.mark.parametrize(
    ("text", "at"), [("A", 0), ("A & top", 0), ("top | 'A'", 6), ("A & tpo", 0)]
)
def test_a_goal_in_a_boolean_expression_is_told_how_it_is_written(skills, text, at):
    with pytest.raises(ta.ExpressionError, match="unknown task 'A'; known: left, top") as told:
        skills[text]
    assert told.value.position == at
    assert told.value.reason.endswith(f". This is a goal: write F {text[at:].split()[0]}.")
    assert "Did you mean" not in told.value.reason


def test_a_goal_that_is_spelt_like_a_task_is_told_to_be_a_goal():
    skills = ta.solve(ta.FourRooms(), ["left"])
    with pytest.raises(ta.ExpressionError, match=r"known: left\. This is a goal: write F top_left"):
        skills["top_left"]
    with pytest.raises(ta.ExpressionError, match=r"unknown task 'top'; known: left\.") as told:
        skills["top"]  # a task of the environment, not one of these skills
    assert "a goal" not in str(told.value)


def test_a_plain_expression_keeps_its_meaning(skills):
    assert isinstance(skills["top & left"], ta.Agent)
    assert isinstance(skills["F (top & left)"], ta.TemporalAgent)


def test_operators_on_agents_are_operators_on_formulas(skills):
    a, b = skills["F A"], skills["F B"]
    cells = np.flatnonzero(~skills.space.mdp.is_goal)
    for one, text in ((a & b, "F A & F B"), (a | b, "F A | F B"), (a ^ b, "F A ^ F B")):
        assert np.array_equal(one.v(cells), skills[text].v(cells))
    assert (~a).expression == skills["~F A"].expression
    with pytest.raises(TypeError, match="write one formula"):
        a & skills["top"]


def test_agents_of_one_formula_do_not_share_their_memory(skills):
    one, two = skills["F (A & X F B)"], skills["F (A & X F B)"]
    assert one.plan is two.plan
    one.observe(skills.space.world.goal_index("A"))
    assert one.states[0] != two.states[0]
    one.reset()
    assert one.states[0] == two.states[0]


def test_a_batch_of_episodes_is_stepped_at_once(skills):
    mdp, agent, single = skills.space.mdp, skills["F (A & X F B)"], skills["F (A & X F B)"]
    cells = np.flatnonzero(~mdp.is_goal)
    agent.reset(np.ones(cells.size))
    with pytest.raises(ValueError, match="episodes under way"):
        agent.act(cells[:2])
    states = cells.copy()
    paths = [[] for _ in cells]
    for _ in range(40):
        actions = agent.act(states)
        after = mdp.next_state[states, actions]
        goals = mdp.goal_of_state[after]
        states = np.where(goals >= 0, mdp.resumes[goals], after)
        agent.observe(goals)
        for path, action in zip(paths, actions, strict=True):
            path.append(int(action))
    for cell, path in zip(cells, paths, strict=True):
        single.reset()
        s = int(cell)
        for expected in path:
            if single.automaton.accepting[single.states[0]]:
                break
            assert single.act(s) == expected
            after = int(mdp.next_state[s, expected])
            g = int(mdp.goal_of_state[after])
            s = int(mdp.resumes[g]) if g >= 0 else after
            single.observe({"goal": g})


@pytest.mark.parametrize("wrong", [7, -2, {"goal": np.array([4])}])
def test_goals_that_do_not_exist_are_refused(skills, wrong):
    with pytest.raises(ValueError, match="expected the number of the goal"):
        skills["F A"].observe(wrong)


def test_returns_on_demand_compose_to_the_same_values(skills, monkeypatch):
    import taskalgebra.planning.exact as exact

    monkeypatch.setattr(exact, "LARGEST_TABLE", 0)
    large = ta.solve(skills.space, skills.tasks)
    assert type(large.family).__name__ == "PlannedFamily"
    cells = np.flatnonzero(~skills.space.mdp.is_goal)
    for text in MISSIONS[:9]:
        assert np.array_equal(large[text].v(cells), skills[text].v(cells))


def test_saved_skills_compose_formulas_as_before(skills, tmp_path):
    skills.save(tmp_path / "s")
    again = ta.load(tmp_path / "s")
    cells = np.flatnonzero(~skills.space.mdp.is_goal)
    assert np.array_equal(again["F (A & F D)"].v(cells), skills["F (A & F D)"].v(cells))


def test_learned_tables_compose_to_the_optimum(skills):
    learned = ta.learn(skills.env, skills.tasks, learner=ta.FewSteps())
    cells = np.flatnonzero(~skills.space.mdp.is_goal)
    for text in ("F (A & X F B) & G !C", "!B U A", "F A & F B & F D"):
        assert learned[text].v(cells) == pytest.approx(skills[text].v(cells), abs=1e-9)
        found = learned[text].evaluate(100)
        assert found.success_rate == 1.0
        assert found.mean_return == pytest.approx(found.optimal_return)
    with pytest.raises(ValueError, match="counts steps that enter no goal"):
        learned["X A"]


def test_worlds_that_do_not_say_where_to_go_on_are_refused():
    world = ta.from_arrays([[1, 2], [1, 1], [2, 2]], -1.0, goals=[1, 2])
    skills = ta.solve(world, {"one": ["g0"]})
    with pytest.raises(ValueError, match="resumes="):
        skills["F one"]


def test_a_penalty_that_looks_like_a_long_way_is_refused(skills):
    space = ta.TaskSpace(skills.space.mdp, r_universal=0.5, r_empty=-0.125)
    tasks = {"top": ["A", "B"]}
    assert ta.solve(space, tasks)["F A"].evaluate(20).success_rate == 1.0
    mild = ta.solve(space, tasks, r_bar_min=-0.125)
    with pytest.raises(ValueError, match="r_bar_min"):
        mild["F A"]


# Safety


def lexicographic(skills, wanted, avoided):
    """{state: (violations, steps)}, by relaxation over states, apart from the library."""
    mdp = skills.space.mdp
    cells = np.flatnonzero(~mdp.is_goal).tolist()
    best = dict.fromkeys(cells, (math.inf, math.inf))
    changed = True
    while changed:
        changed = False
        for s, a in itertools.product(cells, range(mdp.n_actions)):
            t = int(mdp.next_state[s, a])
            g = int(mdp.goal_of_state[t])
            if g >= 0 and wanted[g]:
                found = (int(avoided[g]), 1)
            else:
                more = best[int(mdp.resumes[g])] if g >= 0 else best[t]
                found = (more[0] + (g >= 0 and int(avoided[g])), more[1] + 1)
            if found < best[s]:
                best[s] = found
                changed = True
    return best


def touch_world(rng):
    """A random corridor world in which goals are entered by walking, with ways through them."""
    while True:
        next_state, _, goals, resumes = oracle.random_world(rng)
        if len(goals) > 1:
            break
    names = [f"g{i}" for i in range(len(goals))]
    world = ta.from_arrays(next_state, -0.125, goals, goal_names=names, resumes=resumes)
    space = ta.TaskSpace(world, r_universal=64.0, r_empty=-0.125)
    tasks = {"one": [0], "some": list(range(0, len(goals), 2)), "rest": [len(goals) - 1]}
    return ta.solve(space, tasks)


@pytest.mark.parametrize("seed", range(60))
def test_fewest_violations_then_fewest_steps(seed):
    skills = touch_world(np.random.default_rng(seed))
    cells = np.flatnonzero(~skills.space.mdp.is_goal)
    for task, avoid in (("one", None), ("some & ~one", None), ("rest", "some"), ("one", "rest")):
        wanted = skills[task].task.desired
        if not wanted.any():
            continue
        avoided = ~wanted if avoid is None else skills[avoid].task.desired
        agent = skills.fewest_violations(task, avoid)
        best = lexicographic(skills, wanted, avoided)
        toll = -agent.plan.toll.min() if agent.plan.toll.any() else 0.0
        for s, value, count in zip(cells, agent.v(cells), agent.violations(cells), strict=True):
            violations, steps = best[int(s)]
            if math.isinf(violations):
                assert value == -math.inf and count == -1
            else:
                assert count == violations
                assert value == pytest.approx(64.0 - toll * violations - 0.125 * steps)


@pytest.mark.parametrize("seed", range(20))
def test_values_with_tolls_compose_by_min_and_max(seed):
    skills = touch_world(np.random.default_rng(seed))
    space, ways = skills.space, skills._between
    toll = np.full(space.n_goals, -1024.0)
    reach = TolledReach(ways.reach, ways.between, toll)
    bounds = ReachBounds(space, reach)
    q = {name: ReachQ(reach, task.goal_reward, bounds) for name, task in skills.tasks.items()}
    cells = np.flatnonzero(~space.mdp.is_goal)
    for text in ("one | rest", "some & ~one", "some ^ rest", "~some"):
        expression = ta.parse(text)
        composed = expression.evaluate(q, universal=bounds.universal, empty=bounds.empty)
        task = expression.evaluate(skills.tasks, universal=space.universal, empty=space.empty)
        direct = ReachQ(reach, task.goal_reward, bounds)
        assert np.allclose(composed.q_bar(cells), direct.q_bar(cells))
        agent = skills.fewest_violations(text) if task.desired.any() else None
        if agent is not None:
            values = direct.q_bar(cells)[:, task.desired].max(axis=(1, 2))
            lost = agent.violations(cells)
            best = lexicographic(skills, task.desired, ~task.desired)
            for s, value, count in zip(cells, values, lost, strict=True):
                if count >= 0:
                    assert value == 64.0 - 1024.0 * count - 0.125 * best[int(s)][1]


def test_never_is_never(skills):
    agent = skills.avoiding("D", "A")
    assert agent.evaluate(200).success_rate == 1.0
    assert str(agent.expression) == "~A U (D & ~A)"
    with pytest.raises(ValueError, match="formula over time"):
        skills.avoiding("F D", "A")


def test_violations_are_counted_in_episodes():
    skills = touch_world(np.random.default_rng(3))
    agent = skills.fewest_violations("one")
    mdp = skills.space.mdp
    able = mdp.starts[agent.violations(mdp.starts) >= 0]
    found = agent.evaluate(400, max_steps=50)
    if able.size == mdp.starts.size:
        assert found.violations == pytest.approx(agent.violations(mdp.starts).mean(), abs=0.3)


# Chance


def expected_values(mdp, labelled, success, failure, sweeps=4000):
    """V over (s, u) by value iteration on dense arrays, apart from the library."""
    automaton = labelled.automaton
    n_states, n_actions = mdp.n_states, mdp.n_actions
    chance = np.zeros((n_states, n_actions, n_states))
    for row in range(n_states * n_actions):
        for k in range(mdp.offset[row], mdp.offset[row + 1]):
            chance[row // n_actions, row % n_actions, mdp.successor[k]] += mdp.probability[k]
    v = np.zeros((n_states, automaton.n_states))
    cells = np.flatnonzero(~mdp.is_goal)
    for _ in range(sweeps):
        new = v.copy()
        for u in range(automaton.n_states):
            ahead = np.zeros(n_states)
            for t in range(n_states):
                g = int(mdp.goal_of_state[t])
                w = automaton.step(u, 0 if g < 0 else int(labelled.letter[g]))
                at = t if g < 0 else int(mdp.resumes[g])
                ahead[t] = (
                    success
                    if automaton.accepting[w]
                    else failure
                    if automaton.dead[w]
                    else v[at, w]
                )
            q = mdp.step_reward + chance @ ahead
            new[cells, u] = q[cells].max(axis=1)
        if np.abs(new - v).max() < 1e-12:
            break
        v = new
    return v


@pytest.mark.parametrize("text", ["F (A & X F D) & G !B", "!B U A", "X X A", "F top & F D"])
def test_slippery_worlds_are_planned_on_the_product(text):
    world = ta.from_text(MAP, slip_probability=0.2)
    space = ta.TaskSpace(world, r_universal=4.0)
    skills = ta.solve(space, {"top": ["A", "B"], "left": ["A", "C"]})
    agent = skills[text]
    assert agent.certificate().optimal
    v = expected_values(world, agent.plan.labelled, 4.0, -0.1)
    cells = np.flatnonzero(~world.is_goal)
    assert agent.v(cells) == pytest.approx(v[cells, agent.automaton.start], abs=1e-8)
    found = agent.evaluate(4000, seed=2)
    assert abs(found.mean_return - found.optimal_return) < 5 * found.standard_error


def test_accidents_from_which_nothing_leads_on_are_violations():
    """One step in ten ends in a pit; nine times of ten the formula is satisfied all the same."""
    dynamics = np.zeros((5, 2, 5))
    dynamics[0, 0, [2, 4]] = dynamics[0, 1, [3, 4]] = 0.9, 0.1
    dynamics[1, :, 1] = 1.0  # the pit, from where there is no way
    names = ["A", "B", "pit"]
    world = ta.from_arrays(
        dynamics, -0.125, [2, 3, 4], goal_names=names, starts=[0], resumes=[0, 0, 1]
    )
    skills = ta.solve(ta.TaskSpace(world, r_universal=2.0, r_empty=-0.5), {"a": ["A"]})
    once = -0.125 + 0.9 * 2.0 - 0.1 * 0.5
    twice = -0.125 + 0.9 * once - 0.1 * 0.5
    for text, value in (("F A", once), ("F A & G !pit", once), ("F(A & X F B)", twice)):
        agent = skills[text]
        assert agent.v([0, 1]).tolist() == pytest.approx([value, -np.inf], abs=1e-12)
        assert "no way to" in agent.why_not(1)
        found = agent.evaluate(4000)
        assert found.optimal_return == pytest.approx(value)
        assert abs(found.mean_return - value) < 5 * found.standard_error
        assert found.violations == pytest.approx(1.0 - found.success_rate)
        assert agent.improve().v([0, 1]).tolist() == pytest.approx([value, -np.inf], abs=1e-9)


# Agents of others, in open worlds


class Line(ta.DirectedReach):
    """A walker on a line who knows how far its places are, a little too far or too near."""

    observation_ndim = 1

    def __init__(self, error):
        self.error = error

    def values(self, observations):
        there = np.array([-1.0, 0.0, 1.0])
        return -np.abs(np.asarray(observations) - there) * (1 + self.error)

    def act(self, observations, goal):
        return np.sign(np.array([-1.0, 0.0, 1.0])[goal] - np.asarray(observations)) * 0.05


class Track(gym.Env):
    """A point on a line."""

    observation_space = gym.spaces.Box(-2, 2, (1,), np.float64)
    action_space = gym.spaces.Box(-0.05, 0.05, (1,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.np_random.uniform(-1.5, 1.5, 1)
        return self.at.copy(), {}

    def step(self, action):
        self.at = np.clip(self.at + action, -2, 2)
        return self.at.copy(), 0.0, False, False, {}


def station(observation, info, env):
    near = np.abs(np.array([-1.0, 0.0, 1.0]) - observation) < 0.12
    return ("left", "middle", "right")[near.argmax()] if near.any() else None


@pytest.mark.parametrize("error", [-0.3, 0.0, 0.3])
def test_agents_of_others_keep_an_order_in_an_open_world(error):
    names = ["left", "middle", "right"]
    track = ta.wrap(Track, station, among=names, r_universal=50, max_episode_steps=400)
    skills = ta.from_reach(Line(error), track)
    for text in ("F (left & X F right)", "right then left then middle", "F left & F right"):
        agent = skills[text]
        assert agent.evaluate(40, max_steps=400).success_rate == 1.0, text
        assert agent.play(Track(), episodes=3).success_rate == 1.0
        assert not agent.certificate().optimal
    with pytest.raises(ValueError, match="counts steps"):
        skills["X left"]


def test_a_goal_out_of_reach_is_said_where_the_very_next_step_counts():
    world = ta.from_text(["A#.", "..B", "###", "..C"], starts=[(1, 0), (3, 0)])
    walker = ta.solve(world, {"A": ["A"]})
    below = int(world.starts[1])
    assert walker["F(A & X A)"].why_not(below) == "from cell (3, 0) there is no way to A"
    assert walker["F C & F(B & X true)"].why_not(below).endswith("there is no way to B")
    assert walker["F(A & X A)"].why_not(int(world.starts[0])) == ""


def test_messages_about_names_begin_with_all_base_tasks():
    office = ta.solve(ta.Office())
    tasks = "A, B, C, D, coffee, decoration, mail, office"
    with pytest.raises(ta.ExpressionError, match=f"known: {tasks}, 'coffee 1'"):
        office["F cofee2"]
    with pytest.raises(ValueError, match=f"this world has none; known: {tasks}, 'coffee 1'"):
        office["F(coffee & mail)"]


def test_a_world_without_tasks_says_how_to_name_one():
    world = ta.from_text("A..B")
    with pytest.raises(ValueError, match=r"such as \{'A': \['A'\]\}: formulas over time"):
        ta.solve(world)
    assert ta.solve(world, {"A": ["A"]})["B then A"].evaluate(5).success_rate == 1


def test_a_letter_drawn_twice_is_told_what_to_write():
    with pytest.raises(ValueError, match=r"goals=\{'D': \[\(0, 0\), \(0, 2\)\]\}"):
        ta.from_text("D.D")
    assert ta.from_text("...", goals={"D": [(0, 0), (0, 2)]}).goal_names == ("D 1", "D 2")


def test_a_world_that_is_planned_is_suggested_where_no_skills_are():
    for name, world in (("flat-world", "FlatWorld"), ("office", "Office")):
        with pytest.raises(ta.StoreError, match=rf"Did you mean solve\({world}\(\)\)"):
            ta.load(name)
    with pytest.raises(ta.StoreError, match="Did you mean 'boxman'"):
        ta.load("boxmann")
