"""The judge of tasks with time, against searches written apart, and against agents that lose."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import flat_oracle
import taskalgebra as ta
from taskalgebra.envs.letters import drawn
from taskalgebra.showcase.temporal import flat, letters, office
from taskalgebra.showcase.temporal.judge import NONE, Board, Episode, Reading, fewest, steps_of
from taskalgebra.showcase.temporal.published import MOD, NOTHING_LEFT, PUBLISHED
from taskalgebra.showcase.temporal.record import PLANNED, Entry, Measured, Published, summaries
from touch_oracle import (
    LETTER_TASKS,
    OFFICE_CELLS,
    OFFICE_LABELS,
    OFFICE_TASKS,
    TRAP,
    coffee_mail,
    letters_of,
    office_letters,
    office_steps,
    one_after_another,
    torus_step,
    used_up,
)
from touch_oracle import fewest_steps as oracle

PAGE = (Path(__file__).parents[2] / "docs" / "temporal-results.md").read_text()


@pytest.fixture(scope="module")
def judges():
    return {(judge.case.world, judge.case.task): judge for judge in office.judges(False)}


@pytest.mark.parametrize("case", office.CASES, ids=lambda case: f"{case.world} {case.task}")
def test_the_fewest_steps_in_the_office_are_those_of_a_search_written_apart(case, judges):
    judge = judges[case.world, case.task]
    task, first = OFFICE_TASKS["Long" if case.task == NOTHING_LEFT else case.task]
    read = used_up if case.task == NOTHING_LEFT else office_letters
    taboo = "o" if case.task == "CoffeeStrict" else "d"
    starts = [cell for cell in OFFICE_CELLS if OFFICE_LABELS.get(cell) != taboo]
    by_cell = {cell: n for (cell, _), n in zip(judge.places, judge.fewest, strict=True)}
    assert sorted(by_cell) == sorted(starts) and len(judge.places) == len(starts)
    step = office_steps(case.trap)
    for cell in starts[:: 5 if case.task.startswith("Long") else 1]:
        found = oracle(cell, task, first, step, read)
        assert by_cell[cell] == (math.inf if found is None else found), cell
    assert math.isinf(by_cell[TRAP]) == case.trap


@pytest.mark.parametrize("seed", range(0, 1000, 50))
def test_the_fewest_steps_among_letters_are_those_of_a_search_written_apart(seed):
    world = ta.LetterWorld(seed)
    text = drawn([0, *world.letters]).replace("@", ".").split("\n")
    judged = letters.board(world.letters.tolist())
    for name, formula in world.formulas.items():
        task, first = LETTER_TASKS[name]
        found = fewest(judged, Reading.of(formula, letters.ALPHABET), letters.CORNER)
        assert found == oracle((0, 0), task, first, torus_step, letters_of(text))


ROW = Board(  # a b c in a row; actions lead left and right
    lambda x: [(y, frozenset("abc"[y])) for y in (max(x - 1, 0), min(x + 1, 2))],
    tuple(frozenset(letter) for letter in "abc"),
)


@pytest.mark.parametrize(
    ("formula", "start", "actions", "steps", "best"),
    [
        ("F c", 0, [1, 1], 2, 2),
        ("F c", 0, [0, 1, 1], 3, 2),
        ("F c", 0, [1], math.inf, 2),  # it did not get there
        ("F c & G !b", 0, [1, 1], math.inf, math.inf),
        ("F(a & X F c)", 1, [0, 1, 1], 3, 3),
        ("F(a & X F c)", 0, [1, 1], math.inf, 3),  # the start is not read
        ("F c", 0, [1, 1, 0, 0], 2, 2),  # what comes after the end does not count
    ],
)
def test_episodes_are_followed_by_the_rules_of_the_board(formula, start, actions, steps, best):
    task = Reading.of(formula, ROW.letters)
    episode = Episode(ROW, task, start)
    for action in actions:
        episode.step(action)
    assert steps_of([episode]).tolist() == [steps]
    assert fewest(ROW, task, start) == best


def test_a_formula_is_read_over_what_the_board_has():
    task = Reading.of("F a", [frozenset("a")])
    assert set(task.after[task.start]) == {NONE, frozenset("a")}
    assert task.well[task.after[task.start][frozenset("a")]] is True


def test_agents_for_another_task_fall_short(judges):
    skills = ta.solve(ta.Office(), ["office"])
    judge = judges["Office", "Patrol"]
    assert judge.measure(skills, values=PLANNED).short == 0
    other = skills.for_formula("F(A & X F(B & X F(C & X F D)))")  # breaks decorations
    found = judge.measure(SimpleNamespace(for_formula=lambda formula: other), values=PLANNED)
    assert found.short > 0 and found.success < 1.0


def test_agents_that_know_no_trap_fall_into_it(judges):
    judge = judges[MOD, "Coffee"]
    found = judge.measure(ta.solve(ta.Office(), ["office"]), values=PLANNED)
    assert found.success < found.best_success == pytest.approx(113 / 114)
    assert found.short == round(114 * (found.best_success - found.success)) > 0


def test_the_sum_of_discounted_rewards():
    assert office.discounted(np.array([1.0, 2.0, math.inf, math.inf])) == pytest.approx(47.5)


def measured(taken, best, **changes):
    about = {"world": "W", "task": "t", "formula": "F a", "values": PLANNED}
    return replace(Measured.of(taken, best, **about), **changes)


@pytest.mark.parametrize(
    ("row", "ok", "verdict"),
    [
        (measured([2, 3], [2, 3]), True, "at the optimum"),
        (measured([2, 4], [2, 3]), False, "short by 20.0 % more steps"),
        (measured([3, 2], [2, 3]), False, "short in 1 of 2 episodes"),  # means hide it
        (measured([2, math.inf], [2, 3]), False, "short by 0.500 of success"),
        (measured([2, math.inf], [2, math.inf]), True, "at the optimum"),
    ],
)
def test_a_bar_can_be_missed(row, ok, verdict):
    entry = Entry("e", "E", PLANNED, lambda quick: [], "the optimum")
    assert entry.reaches(row) is ok
    (found,) = summaries([row])
    assert found.verdict == verdict


def test_a_bar_may_allow_for_something():
    entry = Entry("e", "E", PLANNED, lambda quick: [], "", most_lost=0.1, most_steps=1.05)
    row = measured([10.0] * 20, [10.0] * 20)
    assert entry.reaches(replace(row, success=0.9, steps=10.5, short=20))
    assert not entry.reaches(replace(row, success=0.89, short=20))
    assert not entry.reaches(replace(row, steps=10.6, short=20))
    scored = Entry("e", "E", PLANNED, lambda quick: [], "", least_score=0.8)
    unknown = dict.fromkeys(("success", "best_success", "steps", "best_steps"), math.nan)
    assert scored.reaches(replace(row, **unknown, score=16.0, best_score=20.0, short=-1))
    assert not scored.reaches(replace(row, **unknown, score=15.9, best_score=20.0, short=-1))


def test_where_the_best_is_not_known_others_may_be_the_bar():
    entry = Entry("e", "E", PLANNED, lambda quick: [], "", most_lost=0.02, no_more_steps={"t": 3.0})
    assert entry.reaches(measured([2, 4], None))
    assert not entry.reaches(measured([3, 4], None))
    assert not entry.reaches(measured([2] * 9 + [math.inf], None))
    (found,) = summaries([measured([2, 4], None)])
    assert found.verdict == "the optimum is not known" and found.short == -1


@pytest.mark.parametrize("name", flat.FORMULAS)
def test_paths_among_circles_are_read_as_by_automata_written_apart(name):
    world = ta.FlatWorld()
    points = flat.starts(world, 1)
    apart = [flat_oracle.published_starts(seed, 1) for seed in flat.SEEDS]
    assert np.array_equal(points, np.concatenate(apart))
    formula = flat.FORMULAS[name]
    agent = ta.solve(world)[formula]
    copies = world.continuing(len(points))
    seen, _ = copies.reset(options={"position": points})
    agent.reset([True] * len(points))
    path = [seen]
    for _ in range(120):
        seen, _, _, _, infos = copies.step(agent.act(seen))
        agent.observe(infos)
        path.append(seen)
    step = flat_oracle.TASKS[formula][0]
    found = [flat_oracle.steps_to_success(step, one) for one in np.stack(path, axis=1)]
    assert flat.steps_taken(agent, world, formula, points).tolist() == found


def test_a_path_that_leaves_the_square_or_never_ends_does_not_succeed():
    class Right:
        """Walks to the right for ever."""

        def reset(self, begins):
            pass

        def act(self, seen):
            return np.ones(len(seen), int)

        def observe(self, infos):
            pass

    points = np.array([[1.0, 1.5], [-1.9, -1.2]])  # past all circles; through yellow
    taken = flat.steps_taken(Right(), ta.FlatWorld(), "F yellow", points)
    assert taken[0] == math.inf and taken[1] == 8


def test_the_smallest_budget_from_which_on_all_is_well_is_shown():
    entry = Entry("e", "E", PLANNED, lambda quick: [], "the optimum")
    good, bad = measured([2], [2]), measured([3], [2])
    rows = [replace(row, budget=n) for n, row in ((1, good), (2, bad), (3, good), (4, good))]
    assert {row.budget for row in entry.shown(rows)} == {3}
    assert {row.budget for row in entry.shown(rows[:2])} == {2}


def test_verdicts_of_scores_and_of_what_is_not_known():
    row = measured([2], [2])
    (found,) = summaries([replace(row, score=15.0, best_score=20.0, short=-1)])
    assert found.verdict == "short by 25.0 % of the score"
    unknown = dict.fromkeys(("best_success", "best_steps", "best_score"), math.nan)
    (found,) = summaries([replace(row, **unknown, short=-1)])
    assert found.verdict == "the optimum is not known"


def test_published_figures_are_named_once_with_their_source():
    keys = [(one.world, one.task, one.method) for one in PUBLISHED]
    assert len(set(keys)) == len(keys)
    assert all(isinstance(one, Published) and one.source for one in PUBLISHED)
    tasks = {(case.world, case.task) for case in office.CASES} | {
        (letters.LETTERS, name) for name in letters.FORMULAS
    }
    assert tasks >= {key[:2] for key in keys if key[0] in ("Office", MOD, letters.LETTERS)}


def sum_over(starts, automaton, first=0):
    steps = [oracle(cell, automaton, first, office_steps(), office_letters) for cell in starts]
    return office.discounted(np.array(steps, float))


def test_what_the_page_says_of_one_order_for_all_and_of_chance(judges):
    starts = [cell for cell in OFFICE_CELLS if OFFICE_LABELS.get(cell) != "d"]
    mail, coffee = (sum_over(starts, one_after_another(*order)) for order in ("mco", "cmo"))
    best = sum_over(starts, coffee_mail, (0, 0))
    said = re.findall(r"at most (\S+) with the mail first, and (\S+) with", PAGE)
    assert said == [(f"{mail:.2f}", f"{coffee:.2f}")]
    assert f"where {best:.2f} is possible" in PAGE
    sums = [
        10 * np.std(0.9 ** (judges["Office", task].fewest - 1)) for task in ("Coffee", "CoffeeMail")
    ]
    assert f"is {sums[0]:.1f} in Coffee and {sums[1]:.2f} in CoffeeMail" in PAGE
