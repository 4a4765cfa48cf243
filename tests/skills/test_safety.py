"""Three semantics of safety: what each promises, against searches that are written apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taskalgebra as ta
import temporal_oracle as oracle
from boxman_oracle import SlowBoxman
from safety_oracle import cheapest
from taskalgebra.envs.boxman.board import PAPER_MAP
from taskalgebra.envs.four_rooms import CENTRES, MAP
from taskalgebra.planning.temporal import TolledReach, violations_in
from taskalgebra.theory.reach import ReachBounds, ReachQ

DOOR = (2, 6)  # between the upper rooms; with it closed, the way is through the lower ones
GOALS = {**CENTRES, "upper door": DOOR, "lower door": (10, 6), "left door": (6, 2)}
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


def rooms_by_touch():
    """Four Rooms, where centres and three of the doors are taken by walking onto them."""
    world = ta.from_text(MAP, goals=GOALS, touch=True, step_reward=-0.125)
    tasks = {
        "top": ["top_left", "top_right"],
        "left": ["top_left", "bottom_left"],
        "door": ["upper door", "lower door", "left door"],
    }
    return ta.TaskSpace(world, r_universal=16.0, r_empty=-0.125), tasks


def walked(start, wanted, avoided):
    """(violations, steps) on the map, by relaxation over its cells; None for no way."""
    rows = MAP.split()
    free = [(r, c) for r, row in enumerate(rows) for c, sign in enumerate(row) if sign == "."]
    at = {cell: name for name, cell in GOALS.items()}
    best = dict.fromkeys(free, (math.inf, math.inf))
    changed = True
    while changed:
        changed = False
        for r, c in free:
            for down, right in MOVES:
                there = (r + down, c + right)
                there = there if there in best else (r, c)
                name = at.get(there) if there != (r, c) else at.get((r, c))
                onward = (0, 0) if name in wanted else best[there]
                found = (onward[0] + (name in avoided), onward[1] + 1)
                if found < best[r, c]:
                    best[r, c] = found
                    changed = True
    return best[start]


@pytest.fixture(scope="module", params=["planned", "learned"])
def rooms(request):
    space, tasks = rooms_by_touch()
    if request.param == "planned":
        return ta.solve(space, tasks)
    return ta.learn(ta.FiniteEnv(space), tasks, learner=ta.FewSteps())


CASES = [
    ("top_right", {"top_right"}, "door", {"upper door", "lower door", "left door"}),
    ("top_right", {"top_right"}, "'upper door'", {"upper door"}),
    ("~top & left", {"bottom_left"}, "~(~top & left)", set(GOALS) - {"bottom_left"}),
    ("~left & ~door", {"top_right", "bottom_right"}, "left", {"top_left", "bottom_left"}),
]


@pytest.mark.parametrize(("task", "wanted", "avoid", "avoided"), CASES)
def test_four_rooms_never_and_fewest(rooms, task, wanted, avoid, avoided):
    mdp = rooms.space.mdp
    never, fewest = rooms.avoiding(task, avoid), rooms.fewest_violations(task, avoid)
    cells = [s for s in range(mdp.n_states) if not mdp.is_goal[s]]
    told = zip(cells, never.v(cells), fewest.violations(cells), strict=True)
    for s, value, violations in told:
        count, steps = walked(tuple(mdp.cells[s].tolist()), wanted, avoided)
        assert violations == count
        if count:
            assert value == -math.inf
            assert "without entering" in never.why_not(s)
        else:
            assert value == pytest.approx(16.0 - 0.125 * steps)
            walk = never.walk(s)
            assert walk.satisfied and len(walk.actions) == steps
        walk = fewest.walk(s)
        entered = [mdp.goal_names[g] for g in walk.goals if g >= 0]
        assert walk.satisfied and len(walk.actions) == steps
        assert sum(name in avoided for name in entered) == count


def test_four_rooms_of_the_paper_never_need_a_violation():
    """Goals are taken by staying, so that their cells may be crossed."""
    for skills in (ta.solve(ta.FourRooms()), ta.learn(ta.FourRooms(), learner=ta.FewSteps())):
        starts = skills.space.mdp.starts
        for task in ("top", "top & ~left", "~top"):
            assert not skills.fewest_violations(task).violations(starts).any()
            assert skills.avoiding(task, f"~({task})").evaluate(50).success_rate == 1.0


def random_skills(seed):
    rng = np.random.default_rng(seed)
    while True:
        next_state, _, goals, resumes = oracle.random_world(rng)
        if len(goals) > 1:
            break
    names = [f"g{i}" for i in range(len(goals))]
    world = ta.from_arrays(next_state, -0.125, goals, goal_names=names, resumes=resumes)
    space = ta.TaskSpace(world, r_universal=64.0, r_empty=-0.125)
    tasks = {"a": range(0, len(goals), 2), "b": range((len(goals) + 1) // 2)}
    return ta.solve(space, {name: list(which) for name, which in tasks.items()})


def lexicographic(mdp, goal):
    """{s: (violations, steps)} to one goal, where every other goal is a violation."""
    cells = np.flatnonzero(~mdp.is_goal).tolist()
    best = dict.fromkeys(cells, (math.inf, math.inf))
    changed = True
    while changed:
        changed = False
        for s in cells:
            for t in mdp.next_state[s].tolist():
                g = int(mdp.goal_of_state[t])
                onward = (0, 0) if g == goal else best[t if g < 0 else int(mdp.resumes[g])]
                found = (onward[0] + (0 <= g != goal), onward[1] + 1)
                if found < best[s]:
                    best[s] = found
                    changed = True
    return best


@pytest.mark.parametrize("seed", range(40))
def test_fewest_violations_compose_by_min_and_max(seed):
    skills, toll = random_skills(seed), 1024.0
    space, ways = skills.space, skills._between
    mdp = space.mdp
    reach = TolledReach(ways.reach, ways.between, np.full(space.n_goals, -toll))
    bounds = ReachBounds(space, reach)
    leaves = {name: ReachQ(reach, task.goal_reward, bounds) for name, task in skills.tasks.items()}
    cells = np.flatnonzero(~mdp.is_goal)
    cost = np.empty((cells.size, space.n_goals))
    for g in range(space.n_goals):
        best = lexicographic(mdp, g)
        cost[:, g] = [toll * best[s][0] + 0.125 * best[s][1] for s in cells.tolist()]
    for text in ("a & b", "a | b", "~a", "a & ~b", "a ^ b"):
        expression = ta.parse(text)
        composed = expression.evaluate(leaves, universal=bounds.universal, empty=bounds.empty)
        task = skills[text].task
        found = composed.q_bar(cells).max(axis=2)
        assert np.array_equal(found, task.goal_reward - cost), text


@pytest.mark.parametrize("seed", range(30))
def test_never_is_the_optimum_of_the_product(seed):
    skills = random_skills(seed)
    mdp = skills.space.mdp
    for task, avoid in (("a", "b"), ("b", "~b"), ("~a", "g0"), ("g1", "~g1")):
        try:
            agent = skills.avoiding(task, avoid)
        except ValueError as told:
            assert "never be satisfied" in str(told) or "none of the goals" in str(told)
            continue
        best = oracle.optimum(
            mdp.next_state,
            mdp.step_reward,
            mdp.goals,
            mdp.resumes,
            agent.plan.labelled.letter,
            agent.automaton,
            64.0,
        )
        for s in np.flatnonzero(~mdp.is_goal).tolist():
            value = agent.v(s)
            assert value == best[s, agent.automaton.start]
            assert (agent.why_not(s) == "") == (value > -math.inf)


def test_a_negation_speaks_of_goals_not_of_steps():
    skills = ta.solve(
        ta.TaskSpace(ta.from_text("A..B..C", touch=True), r_universal=9.0), {"a": [0]}
    )
    assert skills.fewest_violations("~a").walk(1).goals[-1] == 1
    assert skills.avoiding("~a", "a").walk(1).goals[-1] == 1
    assert skills.avoiding("a", "~a").walk(1).goals[-1] == 0
    with pytest.raises(ValueError, match="none of the goals"):
        skills.avoiding("a", "B & C")


def test_violations_are_told_where_steps_cost_nothing():
    assert violations_in(np.array([0.0, 5.9, 6.0, 6.1, math.inf]), 6.0, 4).tolist() == [
        0,
        1,
        1,
        1,
        -1,
    ]
    assert violations_in(np.array([-1e-9, 3.0]), 0.0, 4).tolist() == [0, 0]


def test_violations_of_learned_agents_are_counted():
    corridor = ta.TaskSpace(ta.from_text("A..B..C", touch=True), r_universal=9.0)
    skills = ta.solve(corridor, {"ends": ["A", "C"]})
    sparing = skills.fewest_violations("C", "B").evaluate(50, max_steps=30)
    assert 0.0 < sparing.violations <= 1.0 and sparing.success_rate == 1.0
    with pytest.raises(ValueError, match="compose by their tasks"):
        skills.fewest_violations("A") & skills.fewest_violations("C")


# Boxman


def play(skills, agent, wanted, avoided, n, seed):
    """Success, violations and steps of n episodes, and what the search says of each."""
    world = skills.env
    game, names = SlowBoxman(PAPER_MAP, world.board.objects), world.board.objects
    copies = world.continuing(n)
    seen, _ = copies.reset(seed=seed)
    best = [cheapest(game, code, wanted, avoided, world.by_touch) for code in copies.codes]
    told = agent.violations(seen)
    agent.reset([True] * n)
    on, steps, violations = np.ones(n, bool), np.zeros(n, int), np.zeros(n, int)
    for _ in range(40):
        seen, _, _, _, infos = copies.step(agent.act(seen))
        agent.observe(infos)
        steps += on
        violations += on & np.array([g >= 0 and names[g] in avoided for g in infos["goal"]])
        automaton, states = agent.automaton, agent.states
        on &= ~(automaton.accepting[states] | automaton.dead[states])
        if not on.any():
            break
    return agent.automaton.accepting[agent.states], violations, steps, told, best


def test_boxman_by_touch_goes_around_what_it_avoids():
    pytest.importorskip("torch")
    skills = ta.load("boxman-touch")
    objects = skills.env.board.objects
    purple, blue = ({name for name in objects if c in name} for c in ("purple", "blue"))
    n = 12
    for agent, avoided in (
        (skills.avoiding("purple", "blue"), blue),
        (skills.fewest_violations("purple"), set(objects) - purple - {"beige circle"}),
    ):
        done, violations, steps, told, best = play(skills, agent, purple, avoided, n, 3)
        assert done.all()
        assert [(v, s) for v, s in zip(violations, steps, strict=True)] == best
        assert told.tolist() == [v for v, _ in best]


def test_boxman_by_touch_knows_no_way_to_what_no_base_task_wants():
    pytest.importorskip("torch")
    skills = ta.load("boxman-touch")
    screen, _ = skills.env.reset(seed=0)
    agent = skills["F (beige & circle)"]
    assert agent.v(screen) == -math.inf
    assert agent.why_not(screen) == "from this observation there is no way to beige circle"


def test_boxman_by_pick_up_needs_no_violation():
    pytest.importorskip("torch")
    skills = ta.load("boxman-random")
    seen, _ = skills.env.continuing(10).reset(seed=1)
    agent = skills.fewest_violations("purple")
    assert not agent.violations(seen).any()
    assert agent.evaluate(10).success_rate == 1.0
    assert skills["purple then blue then beige"].evaluate(10, max_steps=60).success_rate == 1.0


def test_a_screen_is_read_back():
    world = ta.Boxman(layout="random")
    copies = world.continuing(30)
    seen, _ = copies.reset(seed=0)
    standing = world.standing_in(seen)
    codes = np.repeat(copies.codes, 6, axis=0)
    codes[:, 0] = copies.codes[:, 2:].ravel()
    assert np.array_equal(standing.reshape(-1, *standing.shape[2:]), copies.frames_of(codes))
    with pytest.raises(ValueError, match="shows no board"):
        world.standing_in(np.zeros_like(seen[:1]))
