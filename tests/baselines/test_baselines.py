"""Other methods on the 16 tasks, against optima that are worked out here, path by path."""

from collections import deque
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from taskalgebra.baselines.catalogue import ALL
from taskalgebra.baselines.extended import ExtendedValues
from taskalgebra.baselines.features import (
    FeaturesOfGoals,
    FeaturesOfTasks,
    exact_features,
    features,
    weights,
)
from taskalgebra.baselines.hindsight import HindsightGoals
from taskalgebra.baselines.interface import Baseline, NotExpressible
from taskalgebra.baselines.linear import SumOfGoals
from taskalgebra.baselines.plain import AverageOfTasks, FromScratch, MaxOfGoals, MaxOfTasks
from taskalgebra.baselines.soft import CorrectedAverage, SoftMaxOfTasks
from taskalgebra.envs.four_rooms import MAP, FourRooms
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.learning.q_learning import Settings, Stop
from taskalgebra.logic.formulas import all_functions, parse
from taskalgebra.logic.text import ExpressionError
from taskalgebra.paper.experiments import baselines as experiment
from taskalgebra.paper.experiments import baselines_forty
from taskalgebra.paper.experiments.judging import outcome
from taskalgebra.paper.results.record import load
from taskalgebra.planning.exact import optimal_q
from taskalgebra.sweeps.processes import Processes
from taskalgebra.sweeps.running import Sweep
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.grid import from_text

WORLD = FourRooms()
SPACE, TASKS = WORLD.space, WORLD.tasks
MDP = SPACE.mdp
SIXTEEN = list(all_functions(["top", "left"]))
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1), (0, 0))
STAY = 4
CELLS = {tuple(cell): s for s, cell in enumerate(MDP.cells.tolist()) if s < 104}
CENTRES = ((3, 3), (3, 9), (9, 3), (9, 9))


def walk(cell, action):
    """The next cell, read off the map of the paper."""
    row, column = cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]
    return cell if MAP.split()[row][column] == "#" else (row, column)


def distances(goal):
    """Moves from every cell to a goal's cell, by a search of our own."""
    found = {goal: 0}
    queue = deque([goal])
    while queue:
        cell = queue.popleft()
        for action in range(4):
            neighbour = walk(cell, action)
            if neighbour not in found:
                found[neighbour] = found[cell] + 1
                queue.append(neighbour)
    return found


DISTANCE = [distances(goal) for goal in CENTRES]


def optimum(desired):
    """[104], V* of a set of goals: the best of −0.1 (d + 1) + r(g)."""
    rewards = [2.0 if g in desired else -0.1 for g in range(4)]
    return np.array(
        [
            max(r - 0.1 * (d[cell] + 1) for r, d in zip(rewards, DISTANCE, strict=True))
            for cell in CELLS
        ]
    )


def follow(actions, start, limit=500):
    """The goal in which a policy ends, played on the map, or None."""
    cell = start
    for _ in range(limit):
        action = int(actions[CELLS[cell]])
        if action == STAY and cell in CENTRES:
            return CENTRES.index(cell)
        cell = walk(cell, action)
    return None


def desired_of(expression):
    """The goals of an expression: 0 and 1 are at the top, 0 and 2 at the left."""
    held = expression.evaluate({"top": 0b0011, "left": 0b0101}, universal=0b1111, empty=0) & 0b1111
    return {g for g in range(4) if held >> g & 1}


@pytest.fixture(scope="module")
def learned():
    return {method: method().learn(SPACE, TASKS, seed=0) for method in ALL}


def expressible(run):
    """The expressions that a method has an agent for, with the agents' actions."""
    agents = []
    for expression in SIXTEEN:
        try:
            agents.append((expression, run.actions(expression)))
        except NotExpressible:
            continue
    return agents


@pytest.mark.parametrize(
    ("method", "count"),
    [
        (ExtendedValues, 16),
        (MaxOfTasks, 3),
        (MaxOfGoals, 15),
        (AverageOfTasks, 4),
        (FromScratch, 16),
        (FeaturesOfTasks, 16),
        (FeaturesOfGoals, 16),
        (SumOfGoals, 16),
        (SoftMaxOfTasks, 3),
        (CorrectedAverage, 4),
        (HindsightGoals, 15),
    ],
)
def test_each_method_says_what_it_can_express(learned, method, count):
    assert len(expressible(learned[method])) == count


def test_only_positive_formulas_are_expressible_by_plain_values(learned):
    assert [str(e) for e, _ in expressible(learned[MaxOfTasks])] == ["top", "left", "top | left"]
    named = [desired_of(e) for e, _ in expressible(learned[AverageOfTasks])]
    assert named == [{0}, {0, 1}, {0, 2}, {0, 1, 2}]


@pytest.mark.parametrize(
    "method",
    [
        ExtendedValues,
        MaxOfTasks,
        MaxOfGoals,
        FromScratch,
        FeaturesOfGoals,
        SumOfGoals,  # these three at a temperature that is low enough
        SoftMaxOfTasks,
        CorrectedAverage,
        HindsightGoals,
    ],
)
def test_exact_methods_are_optimal_from_every_start(learned, method):
    for expression, actions in expressible(learned[method]):
        task = WORLD.find_task(expression)
        achieved = policy_return(task, actions)[:104]
        np.testing.assert_allclose(achieved, optimum(desired_of(expression)), atol=1e-9)


def test_hindsight_learns_the_table_that_is_planned_where_agents_slip():
    world = FourRooms(slip_probability=0.1)
    task = world.space.universal
    method = HindsightGoals(settings=Settings(learning_rate=0.1))
    known = method.solve(world.space, world.tasks)
    one = method.learn_table(task, Stop(steps=200_000), 0, known).values
    other = method.exact_table(task, known)
    goals = world.space.mdp.goals
    np.testing.assert_allclose(
        one[goals], other[goals], atol=0.1
    )  # that of Definition 2 is far lower
    assert np.abs(one - other).mean() < 0.1


def test_the_maximum_of_plain_values_is_the_value_of_any_union_of_goals():
    for n in range(1, 5):
        for goals in combinations(range(4), n):
            whole = optimal_q(SPACE.task(goals))
            parts = [optimal_q(SPACE.task([g])) for g in goals]
            np.testing.assert_allclose(np.max(parts, axis=0), whole, atol=1e-12)
            np.testing.assert_allclose(whole[:104].max(axis=1), optimum(set(goals)), atol=1e-12)


def test_the_average_is_no_conjunction(learned):
    actions = learned[AverageOfTasks].actions("top & left")
    ends = {cell: follow(actions, cell) for cell in CELLS}
    assert ends[3, 3] == 0
    assert ends[3, 9] is None  # in the top right it goes round for ever
    lost = [cell for cell in CELLS if ends[cell] is None]
    returns = policy_return(TASKS["top"] & TASKS["left"], actions)[:104]
    assert [CELLS[cell] for cell in lost] == np.flatnonzero(np.isneginf(returns)).tolist()
    assert len(lost) == 67


def test_the_average_is_flat_between_goals_that_pull_apart():
    """At (3, 8) top wants right, left wants left; their average wants neither."""
    average = (optimal_q(TASKS["top"]) + optimal_q(TASKS["left"])) / 2
    right, left, stay = average[CELLS[3, 8], [1, 3, STAY]]
    assert right == pytest.approx(left) == pytest.approx(stay)


def corridor(n_between):
    """Task x wants both ends, y only C; so x & y wants C."""
    space = TaskSpace(from_text("A" + "." * n_between + "C"))
    return space, {"x": space.task(["A", "C"]), "y": space.task(["C"])}


def test_the_average_stands_still_where_two_tasks_pull_apart():
    space, tasks = corridor(9)
    run = AverageOfTasks().learn(space, tasks, seed=1)
    q = run.values("x & y")[0, 0]  # on the cell of A, up, right, down, left, stay
    bump = ((2 - 0.2) + (2 - 1.2)) / 2
    go = ((2 - 0.3) + (2 - 1.1)) / 2
    end = ((2 - 0.1) + (-0.1 - 0.1)) / 2
    np.testing.assert_allclose(q, [bump, go, bump, bump, end])
    assert bump == pytest.approx(go)
    assert policy_return(tasks["x"] & tasks["y"], run.actions("x & y"))[0] == -np.inf


def test_the_average_ends_in_a_wrong_goal_where_the_right_one_is_far():
    space, tasks = corridor(19)
    both = tasks["x"] & tasks["y"]
    average = AverageOfTasks().learn(space, tasks, seed=1).actions("x & y")
    assert average[0] == STAY  # in A: (1.9 − 0.2)/2 against (1.7 − 0.1)/2 for going to C
    assert policy_return(both, average)[0] == pytest.approx(-0.2)
    exact = ExtendedValues().learn(space, tasks, seed=1).actions("x & y")
    assert policy_return(both, exact)[0] == pytest.approx(2 - 0.1 * 21)


def policies_of_tasks():
    return [greedy(optimal_q(task)[:, None]) for task in TASKS.values()]


def test_generalised_policy_improvement_is_between_its_policies_and_the_optimum(learned):
    somewhere_worse = False
    for expression, actions in expressible(learned[FeaturesOfTasks]):
        task = WORLD.find_task(expression)
        achieved = policy_return(task, actions)
        for policy in policies_of_tasks():
            assert (achieved >= policy_return(task, policy) - 1e-9).all()
        best = optimum(desired_of(expression))
        assert (achieved[:104] <= best + 1e-9).all()
        somewhere_worse |= bool((achieved[:104] < best - 0.05).any())
    assert somewhere_worse


def test_base_policies_do_not_reach_a_goal_that_no_base_task_wants(learned):
    actions = learned[FeaturesOfTasks].actions("~top & ~left")
    right = [cell for cell in CELLS if follow(actions, cell) == 3]
    assert right == [(9, 9)]


def test_successor_features_count_the_goal_and_the_steps(learned):
    psi = learned[FeaturesOfTasks].table(TASKS["top"])
    start = CELLS[9, 3]
    to_top_left = DISTANCE[0][9, 3]
    assert to_top_left < DISTANCE[1][9, 3]
    steps = -0.1 * (to_top_left + 1)
    best = int((psi[start] @ weights(TASKS["top"])).argmax())
    np.testing.assert_allclose(psi[start, best], [1, 0, 0, 0, steps], atol=1e-9)
    np.testing.assert_allclose(psi[start, STAY], [0, 0, 1, 0, -0.1], atol=1e-9)
    np.testing.assert_array_equal(psi[MDP.goals[3]], np.tile([0.0, 0, 0, 1, 0], (5, 1)))


def test_features_and_weights_make_the_reward():
    for task in SPACE.two_valued_tasks():
        reward = features(MDP) @ weights(task)
        np.testing.assert_array_equal(reward[:104], task.steps[:104])
        np.testing.assert_array_equal(reward[104:], np.repeat(task.goal_reward[:, None], 5, 1))


def test_exact_features_with_slips_give_the_return_of_the_policy():
    slippery = FourRooms(slip_probability=0.2)
    task = slippery.tasks["top"]
    policy = greedy(optimal_q(task)[:, None])
    psi = exact_features(task)
    for other in (task, slippery.tasks["left"]):
        values = (psi @ weights(other))[np.arange(108), policy]
        np.testing.assert_allclose(values, policy_return(other, policy), atol=1e-8)


def test_what_was_learned_is_counted(learned):
    counts = {method: (run.n_tables, run.n_entries) for method, run in learned.items()}
    plain = 108 * 5
    assert counts == {
        ExtendedValues: (4, 4 * plain * 4),
        MaxOfTasks: (2, 2 * plain),
        MaxOfGoals: (4, 4 * plain),
        AverageOfTasks: (2, 2 * plain),
        FromScratch: (16, 16 * plain),
        FeaturesOfTasks: (2, 2 * plain * 5),
        FeaturesOfGoals: (4, 4 * plain * 5),
        SumOfGoals: (4, 4 * plain),
        SoftMaxOfTasks: (2, 2 * plain),
        CorrectedAverage: (3, 3 * plain),
        HindsightGoals: (1, 4 * plain),
    }
    for run in learned.values():
        assert run.converged
        assert run.n_samples == sum(table.n_steps for table in run.tables.values())
        assert all(table.n_steps >= plain for table in run.tables.values())


def test_equal_seeds_agree_and_different_seeds_differ(learned):
    for method, run in learned.items():
        again, other = (method().learn(SPACE, TASKS, seed=seed) for seed in (0, 1))
        assert again.n_samples == run.n_samples != other.n_samples
        for one, same in zip(run.tables.values(), again.tables.values(), strict=True):
            np.testing.assert_array_equal(one.values, same.values)


def test_methods_with_the_same_tables_learn_them_from_the_same_steps(learned):
    for task in TASKS.values():
        np.testing.assert_array_equal(
            learned[MaxOfTasks].table(task), learned[AverageOfTasks].table(task)
        )


def test_learning_with_a_limit_stops_there_and_says_so():
    for method in ALL:
        run = method(max_steps=200).learn(SPACE, TASKS)
        assert not run.converged
        assert all(table.n_steps == 200 for table in run.tables.values())


def test_features_are_learned_greedily_and_with_slips_too():
    eager = FeaturesOfTasks(settings=Settings(epsilon=0.5)).learn(SPACE, TASKS)
    assert eager.converged
    slippery = FourRooms(slip_probability=0.1)
    method = FeaturesOfTasks(settings=Settings(learning_rate=0.02), max_steps=2_000_000)
    run = method.learn(slippery.space, slippery.tasks)
    task = slippery.tasks["top"]
    achieved = policy_return(task, run.actions("top"))[slippery.space.mdp.starts].mean()
    exact = policy_return(task, greedy(optimal_q(task)[:, None]))[slippery.space.mdp.starts].mean()
    assert achieved == pytest.approx(exact, abs=0.05)


def test_forty_goals_need_fewer_tables_by_the_algebra_and_too_many_from_scratch():
    forty = FourRooms(40)
    assert len(ExtendedValues().to_learn(forty.space, forty.tasks)) == 8
    assert len(MaxOfGoals().to_learn(forty.space, forty.tasks)) == 40
    with pytest.raises(ValueError, match=r"2\^40 tasks"):
        FromScratch().learn(forty.space, forty.tasks)


def test_equivalent_formulas_have_the_same_agent(learned):
    for run in learned.values():
        np.testing.assert_array_equal(
            run.actions("top | left"), run.actions(parse("~(~top & ~left)"))
        )


@pytest.mark.parametrize(
    ("method", "text", "reason"),
    [
        (MaxOfTasks, "top & left", "no conjunction"),
        (MaxOfTasks, "~top", "no negation"),
        (AverageOfTasks, "top ^ left", "no negation"),
        (AverageOfTasks, "true", "every goal"),
        (MaxOfTasks, "top & ~top", "no goal"),
        (MaxOfGoals, "false", "desires no goal"),
        (HindsightGoals, "false", "desires no goal"),
        (SoftMaxOfTasks, "top & left", "no conjunction"),
        (CorrectedAverage, "~top", "no negation"),
    ],
)
def test_what_is_not_defined_is_refused(learned, method, text, reason):
    with pytest.raises(NotExpressible, match=reason):
        learned[method].actions(text)


def test_bad_input_is_refused_in_plain_words(learned):
    method, run = MaxOfTasks(), learned[MaxOfTasks]
    with pytest.raises(ExpressionError, match="Did you mean 'top'"):
        run.actions("tpo")
    with pytest.raises(ExpressionError, match="right"):
        run.actions(parse("top | right"))
    with pytest.raises(TypeError, match="expected an expression"):
        run.actions(3)
    with pytest.raises(ValueError, match="seed is -1"):
        method.learn(SPACE, TASKS, seed=-1)
    with pytest.raises(ValueError, match="no tasks"):
        method.learn(SPACE, {})
    with pytest.raises(TypeError, match="must be a TaskSpace"):
        method.learn(WORLD, TASKS)
    with pytest.raises(ValueError, match="another space"):
        method.learn(FourRooms(slip_probability=0.1).space, TASKS)
    with pytest.raises(ValueError, match="more than two terminal rewards"):
        method.learn(SPACE, {"odd": SPACE.from_rewards([2.0, 1.0, -0.1, -0.1])})
    with pytest.raises(ValueError, match="dense"):
        dense = SPACE.from_rewards(TASKS["top"].goal_reward, np.full((108, 5), -0.2))
        method.learn(SPACE, {"top": dense})
    with pytest.raises(ValueError, match="max_steps is 0"):
        MaxOfTasks(max_steps=0)
    with pytest.raises(TypeError, match="abstract"):
        Baseline()
    with pytest.raises(ValueError, match="never ends"):
        free = TaskSpace(from_text("A..B", step_reward=0.0))
        exact_features(free.task(["A"]))


def test_an_outcome_is_the_return_cut_off_and_where_it_ends(learned):
    task = WORLD.find_task("top & left")
    actions = learned[AverageOfTasks].actions("top & left")
    result = outcome(task, np.eye(5)[actions], 100)
    exact = policy_return(task, actions)[:104]
    expected = np.where(np.isneginf(exact), -0.1 * 100, exact)
    np.testing.assert_allclose(result.expected_return[:104], expected, atol=1e-9)
    ends = [follow(actions, cell) for cell in CELLS]
    np.testing.assert_allclose(result.right[:104], [end == 0 for end in ends])
    np.testing.assert_allclose(result.wrong[:104], 0.0)


def test_an_outcome_with_random_ties_is_that_of_played_episodes(learned):
    task = WORLD.find_task("top & left")
    choices = learned[AverageOfTasks].choices("top & left")
    policy = choices / choices.sum(axis=1, keepdims=True)
    result = outcome(task, policy, 100)
    rng = np.random.default_rng(0)
    total = 0.0
    for _ in range(400):
        cell = (9, 9)
        for step in range(99):
            action = rng.choice(5, p=policy[CELLS[cell]])
            if action == STAY and cell in CENTRES:
                total += -0.1 * (step + 1) + (2.0 if cell == (3, 3) else -0.1)
                break
            cell = walk(cell, action)
        else:
            total -= 10.0
    assert result.expected_return[CELLS[9, 9]] == pytest.approx(total / 400, abs=0.6)


def test_the_experiment_compares_all_methods_on_all_tasks(tmp_path):
    result = experiment.run(experiment.QUICK)
    table = result.table
    assert table.n_rows == len(ALL) * 16
    with Processes(2) as engine:
        others = experiment.run(experiment.QUICK, Sweep(engine)).table
    assert others.to_csv() == table.to_csv()
    for method in ALL:
        rows = table.where(method=method.title)
        told = rows.where(expressible=1)
        assert np.isnan(rows.where(expressible=0)["mean"]).all()
        assert (told["mean"] <= told["optimum"] + 1e-9).all()
        np.testing.assert_allclose(told["mean"] + told["gap"], told["optimum"])
        if method not in (AverageOfTasks, FeaturesOfTasks):
            assert (told["optimal_runs"] == told["runs"]).all()
            assert not told["failure_rate"].any() and not told["random_ties_failure_rate"].any()
    average = table.where(method=AverageOfTasks.title, task="top & left").rows()[0]
    assert average["failure_rate"] == pytest.approx(67 / 104)
    assert 0.01 < average["random_ties_failure_rate"] < 0.2
    result.save(tmp_path)
    assert load("baselines", tmp_path).table.to_csv() == table.to_csv()
    text = experiment.summary(result)
    assert all(method.title in text for method in ALL)


def test_a_config_is_checked():
    with pytest.raises(ValueError, match="runs is 0"):
        experiment.Config(runs=0)
    with pytest.raises(ValueError, match="max_steps is 0"):
        experiment.Config(max_steps=0)


def test_exact_tables_need_no_step_and_lose_what_learned_ones_lose(learned):
    for method, run in learned.items():
        solved = method().solve(SPACE, TASKS)
        assert (solved.n_samples, solved.n_entries) == (0, run.n_entries) and solved.converged
        for expression, actions in expressible(run):
            task = WORLD.find_task(expression)
            one, other = (
                policy_return(task, actions),
                policy_return(task, solved.actions(expression)),
            )
            np.testing.assert_allclose(one, other, atol=1e-9)


def test_the_temperature_costs_tasks():
    result = experiment.run(experiment.Config(runs=1, temperatures=(0.3, 0.01)))
    rows = result.tables["baselines_temperature"]
    warm, cold = rows.where(temperature=0.3), rows.where(temperature=0.01)
    assert (warm["optimal"] < warm["tasks"]).all() and (warm["worst_gap"] > 1).all()
    assert (cold["optimal"] == cold["tasks"]).all() and (cold["worst_gap"] < 1e-9).all()


def test_forty_goals_are_compared_on_three_kinds_of_tasks():
    forty = FourRooms(40)
    asked = baselines_forty.kinds(forty, 7, 0)
    assert {kind: len(tasks) for kind, tasks in asked.items()} == {"random": 7, "or": 63, "and": 33}
    names = list(forty.tasks)
    meanings = {tuple(forty.find_task(e).desired) for e in asked["or"]}
    assert len(meanings) == 63
    shared = forty.tasks[names[-1]] & forty.tasks[names[-2]]
    assert any(forty.find_task(e) == shared for e in asked["and"])
    config = baselines_forty.Config(runs=1, tasks=2, learning_steps=2000, max_steps=10)
    one = baselines_forty.run(config)
    with Processes(2) as engine:
        assert baselines_forty.run(config, Sweep(engine)) == one
    table = one.table
    assert table.n_rows == 3 * (len(ALL) - 1) and not table["converged"].any()
    able = table.where(method=MaxOfTasks.title)
    assert able["expressible"].tolist() == [0, 63, 0] and np.isnan(able["gap"][0])
    assert (table["gap"][table["expressible"] > 0] > 0).all()  # little is learned in 2,000 steps
    assert all(method.title in baselines_forty.summary(one) for method in baselines_forty.METHODS)
    with pytest.raises(ValueError, match="tasks is 0"):
        baselines_forty.Config(tasks=0)


def lost(able, optimal, worst):
    if able == optimal:
        return "none"
    return f"{able - optimal} task{'s' if able - optimal > 1 else ''}, up to {worst:.2f}"


def test_the_page_has_the_numbers_of_the_results():
    """docs/baselines.md, cell by cell, and all methods in it."""
    root = Path(__file__).parents[2]
    page = (root / "docs" / "baselines.md").read_text()
    sixteen, forty = (
        load(name, root / "results" / "tabular") for name in ("baselines", "baselines_forty")
    )
    assert sixteen.table.distinct("method") == [method.title for method in ALL]
    for method in ALL:
        rows = sixteen.table.where(method=method.title)
        able = rows.where(expressible=1)
        optimal = int((able["optimal_runs"] == able["runs"]).sum())
        cost = f"{rows['samples'][0]:,.0f} | {rows['n_entries'][0]:,}"
        loss = lost(able.n_rows, optimal, able["worst_gap"].max())
        assert f"| `{method.__name__}` | {cost} | {able.n_rows} | {loss} |\n" in page
        rows = forty.table.where(method=method.title)
        if method is FromScratch:
            assert not rows.n_rows
            continue
        cells = [f"{rows['samples'][0]:,.0f}", f"{rows['n_entries'][0]:,}"]
        for row in rows.rows():
            n = row["expressible"]
            cells += [str(n), lost(n, row["optimal"], row["worst_gap"]) if n else "–"]
        assert f"| `{method.__name__}` | {' | '.join(cells)} |\n" in page
    warmth = sixteen.tables["baselines_temperature"]
    for tau in sixteen.config["temperatures"]:
        cells = [
            lost(row["tasks"], row["optimal"], row["worst_gap"])
            for row in warmth.where(temperature=tau).rows()
        ]
        assert f"| {tau:g} | {' | '.join(cells)} |\n" in page
    assert (forty.table["converged"] == forty.table["runs"]).all()
